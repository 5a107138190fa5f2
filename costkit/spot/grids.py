"""How does a market that was seen now and then become steps of equal length? Each count holds until the next.

- A step has the fewest machines that there were at any time within it, so that no loss falls between two steps.
- What was not seen is taken to have stayed as it was; `hole` says for how long that is so.
"""

from __future__ import annotations

import numpy as np

from costkit import units
from costkit.spot.trace import Counts, Floats
from costkit.units import MINUTE

MAX_STEPS = 5_000_000

_CLOSE = 0.01
"""Times within this part of a step count as its beginning."""

_HOLE = 10
"""A time without a row is a hole from this many usual spacings on."""


def spacing_s(times_s: Floats) -> float:
    """The step that rows ask for: their own spacing where it is even (rows may be missing), else a minute at most.

    >>> spacing_s(np.array([0.0, 195.0, 390.0, 780.0])), spacing_s(np.array([0.0, 100.0, 170.0, 600.0]))
    (195.0, 60.0)
    """
    between = np.diff(times_s)
    usual = float(np.median(between))
    multiples = np.round(between / usual)
    if np.all((multiples >= 1) & (np.abs(between / usual - multiples) <= _CLOSE)):
        return float(f"{(times_s[-1] - times_s[0]) / multiples.sum():.9g}")
    return max(1.0, min(MINUTE, usual))


def n_steps(name: str, duration_s: float, step_s: float) -> int:
    """How many whole steps there are in a duration.

    >>> n_steps("mine.csv", 3600.0, 60.0)
    60
    """
    units.require_positive(step_s, "step_s", "seconds")
    amount = duration_s / step_s + _CLOSE
    if amount < 2:
        raise ValueError(
            f"'{name}' covers {units.duration(duration_s)}, less than two steps of {units.duration(step_s)}; "
            "give a longer record or a smaller step_s."
        )
    if amount > MAX_STEPS:
        raise ValueError(
            f"'{name}' covers {units.duration(duration_s)}, more than {MAX_STEPS:,} steps of "
            f"{units.duration(step_s)}; is the time in another unit? If not, give a larger step_s."
        )
    return int(amount)


def least(times_s: Floats, counts: Counts, *, step_s: float, n: int) -> Counts:
    """The fewest machines within each of n steps from the first time on.

    >>> least(np.array([0.0, 60.0, 90.0, 120.0]), np.array([3, 2, 1, 4]), step_s=60.0, n=3).tolist()
    [3, 1, 4]
    """
    fewest = counts[held(times_s, step_s=step_s, n=n)]
    step = np.floor((times_s - times_s[0]) / step_s + _CLOSE)
    last_of_time = np.append(np.diff(times_s) > 0, True)
    inside = (step < n) & last_of_time
    np.minimum.at(fewest, step[inside].astype(int), counts[inside])
    return fewest


def held(times_s: Floats, *, step_s: float, n: int) -> Counts:
    """Which row holds at the beginning of each of n steps from the first time on."""
    starts = times_s[0] + (np.arange(n) + _CLOSE) * step_s
    return np.asarray(np.searchsorted(times_s, starts, side="right") - 1)


def hole(times_s: Floats) -> tuple[float, float] | None:
    """When the longest time without a row began and how long it was, if that is far longer than usual.

    >>> hole(np.array([0.0, 60.0, 120.0, 18_120.0]))
    (120.0, 18000.0)
    """
    between = np.diff(times_s)
    longest = int(np.argmax(between))
    is_hole = between[longest] >= _HOLE * np.median(between[between > 0])
    return (float(times_s[longest]), float(between[longest])) if is_hole else None
