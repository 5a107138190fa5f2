"""When could the machines be had, in markets that are drawn? Paths on which up and down spells take turns.

- Every path begins up. Spells are exponential unless drawn otherwise, each independent of all others.
- A step is up where the market is up at its beginning, so a spell is off by less than a step, and spells that begin and
  end within one step vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costkit.spot.trace import Flags, Floats, Trace
from costkit.units import require_positive

Draw = Callable[[np.random.Generator, int], Floats]

_MOST_FLAGS = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Paths:
    """Whether the machines of a job could be had: a row for each path, a column for each step."""

    available: Flags
    step_s: float

    def __post_init__(self) -> None:
        require_positive(self.step_s, "step_s", "seconds")
        if np.asarray(self.available).dtype.kind != "b" or np.ndim(self.available) != 2 or not np.size(self.available):
            raise ValueError("available must be a numpy array of true and false, a row for each path, one at least.")

    @property
    def n_paths(self) -> int:
        """How many paths there are."""
        return int(self.available.shape[0])

    @property
    def n_steps(self) -> int:
        """How many steps each path has."""
        return int(self.available.shape[1])

    @property
    def duration_s(self) -> float:
        """How long each path is."""
        return self.n_steps * self.step_s


def random_paths(
    *,
    mean_up_s: float,
    mean_down_s: float,
    step_s: float,
    duration_s: float,
    n_paths: int,
    rng: np.random.Generator,
    draw_up: Draw | None = None,
    draw_down: Draw | None = None,
) -> Paths:
    """Paths on which up and down spells take turns; `draw_up(rng, n)` gives n lengths whose mean is 1.

    >>> hours = 3600.0
    >>> drawn = random_paths(mean_up_s=3 * hours, mean_down_s=1 * hours, step_s=60.0, duration_s=400 * hours,
    ...     n_paths=200, rng=np.random.default_rng(1))
    >>> drawn.n_steps, round(float(drawn.available.mean()), 2)
    (24000, 0.75)
    """
    sizes = {"mean_up_s": mean_up_s, "mean_down_s": mean_down_s, "step_s": step_s, "duration_s": duration_s}
    for name, value in sizes.items():
        require_positive(value, name, "seconds")
    require_positive(n_paths, "n_paths", "paths")
    n_steps = int(np.ceil(duration_s / step_s - 1e-9))
    if n_paths * n_steps > _MOST_FLAGS:
        raise ValueError(f"{n_paths} paths of {n_steps} steps are too many to hold; take longer steps or fewer paths.")
    ups, downs = (_drawer(draw, mean / step_s) for draw, mean in ((draw_up, mean_up_s), (draw_down, mean_down_s)))
    ends, flips = np.zeros(n_paths), np.zeros((n_paths, n_steps), np.uint8)
    while np.any(ends < n_steps):
        for spell in (ups, downs):
            ends += spell(rng, n_paths)
            at = np.flatnonzero(ends <= n_steps - 1)
            flips[at, np.ceil(ends[at]).astype(np.int64)] += 1
    return Paths(np.bitwise_and(np.cumsum(flips, axis=1, dtype=np.uint8), 1) == 0, float(step_s))


def _drawer(draw: Draw | None, mean_steps: float) -> Draw:
    """Spell lengths in steps, checked: a spell of no length for ever would never end the path."""

    def spell(rng: np.random.Generator, n: int) -> Floats:
        lengths = rng.standard_exponential(n) if draw is None else np.asarray(draw(rng, n), float)
        if lengths.shape != (n,) or not np.all(np.isfinite(lengths) & (lengths >= 0)) or not lengths.any():
            raise ValueError("A draw of spells must give one finite length, zero or more, for each that is asked for.")
        return np.asarray(lengths * mean_steps)

    return spell


def independent_windows(trace: Trace | Paths, deadline_s: float) -> int:
    """How many windows of that length a trace holds without overlap: replays from more starts repeat each other.

    >>> independent_windows(Trace("a zone", 3600.0, np.ones(1092, int)), 52 * 3600.0)
    21
    """
    require_positive(deadline_s, "deadline_s", "seconds")
    each = int(trace.duration_s / deadline_s + 1e-9)
    return each * trace.n_paths if isinstance(trace, Paths) else each
