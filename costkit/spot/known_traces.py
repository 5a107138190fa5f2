"""Is it read the right way round, and in the right unit? A trace against the published one of its name.

- A published trace is known by the end of its path and its number of steps. Read upside down, or with steps of
  another length, it is refused.
- What nobody has published is judged by what markets do: odd, but possible, is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from costkit import tables, units
from costkit.spot.trace import Trace
from costkit.units import HOUR, MINUTE, percent

POLARITIES = ("available", "unavailable")

_HALF_A_DIGIT = 0.0005 + 1e-9
_STEP_TOLERANCE = 0.005
_RARELY_FRACTION = 0.1
_STEP_LIMITS_S = (1.0, 6 * HOUR)
_SLIPS = {1 / MINUTE: "minutes", 1 / HOUR: "hours", 1e3: "milliseconds"}


def published(trace: Trace) -> Mapping[str, str] | None:
    """The row of the published trace that has this one's name and number of steps."""
    tail = trace.name.rsplit("/", 1)[-1]
    for row in tables.rows("spot_traces.csv"):
        if row["name"].rsplit("/", 1)[-1] == tail and row["n_steps"] == str(trace.n_steps):
            return row
    return None


def warnings_on(trace: Trace, *, ones_mean: str) -> list[str]:
    """What is odd about a trace; a ValueError where it contradicts the published one of its name."""
    row = published(trace)
    if row is None:
        return _implausible(trace, ones_mean)
    _require_unit(trace, row)
    full, none = float(np.mean(trace.is_up(int(row["capacity"])))), float(np.mean(trace.available == 0))
    stated = float(row["available_fraction"])
    if abs(full - stated) <= _HALF_A_DIGIT:
        return []
    said = (
        f"'{trace.name}' is at full capacity {full:.3f} of the time, but {row['name']} as published, of the same name "
        f"and {trace.n_steps:,} steps, {stated:.3f}"
    )
    if abs(none - stated) <= _HALF_A_DIGIT:
        raise ValueError(f'{said}: it is upside down; read it with ones_mean="{_other(ones_mean)}".')
    return [f"{said}: it is another record."]


def _require_unit(trace: Trace, row: Mapping[str, str]) -> None:
    stated = float(row["step_s"])
    ratio = trace.step_s / stated
    if abs(ratio - 1) <= _STEP_TOLERANCE:
        return
    slip = next((unit for factor, unit in _SLIPS.items() if abs(ratio / factor - 1) <= _STEP_TOLERANCE), "another unit")
    raise ValueError(
        f"'{trace.name}' has steps of {trace.step_s:g} s, but {row['name']} as published, of the same name and "
        f"{trace.n_steps:,} steps, has {stated:g} s: the step looks like {slip}; give it in seconds."
    )


def _implausible(trace: Trace, ones_mean: str) -> list[str]:
    told = []
    any_fraction = float(np.mean(trace.is_up()))
    if any_fraction < _RARELY_FRACTION:
        told.append(
            f"'{trace.name}' has a machine only {percent(any_fraction)} of the time; "
            f'if its ones mean the opposite, read it with ones_mean="{_other(ones_mean)}".'
        )
    least, most = _STEP_LIMITS_S
    if not least <= trace.step_s <= most:
        told.append(
            f"'{trace.name}' has steps of {units.duration(trace.step_s)}; markets are watched every "
            f"{units.duration(least)} to {units.duration(most)}: is the step in another unit than seconds?"
        )
    return told


def _other(ones_mean: str) -> str:
    return next(polarity for polarity in POLARITIES if polarity != ones_mean)
