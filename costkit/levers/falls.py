"""How does a bill fall, lever by lever? The waterfall in an order, with its band, and what each step really kept.

- The end does not depend on the order; what each lever gets the credit for does.
- The band is the middle 80% of draws in which every lever works better or worse on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from costkit.levers.baseline import Baseline
from costkit.levers.bills import Floats, bills
from costkit.levers.lever import Lever, check_levers, in_order
from costkit.units import Range

N_DRAWS = 4000
_BAND = (0.1, 0.9)


@dataclass(frozen=True)
class Step:
    """A lever in its place: the bill after it, and what it left of the bill before it, in the middle."""

    name: str
    group: str
    usd: Range
    saved_usd: Range
    keep: float


@dataclass(frozen=True, eq=False)
class Waterfall:
    """The steps in order, and the bill of each draw at the end."""

    baseline: Baseline
    levers: tuple[Lever, ...]
    steps: tuple[Step, ...]
    end_draws_usd: Floats

    @property
    def end_usd(self) -> Range:
        """The bill with all levers on."""
        return self.steps[-1].usd if self.steps else Range.exact(self.baseline.usd)

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the levers in their order."""
        return tuple(step.name for step in self.steps)

    def chance_at_or_below(self, usd: float) -> float:
        """The share of draws that end at or below a bill."""
        return float(np.mean(self.end_draws_usd <= usd))


def waterfall(
    baseline: Baseline,
    levers: Iterable[Lever],
    order: Iterable[str] | None = None,
    *,
    rng: np.random.Generator | None = None,
    n_draws: int = N_DRAWS,
) -> Waterfall:
    """The bill after each lever, in an order of names or as they come; a lever that stands there twice counts once.

    Without `rng` the same draws come every time, so that two plans differ by what was changed in them.

    Raises:
        ValueError: An order names a lever twice, a lever acts on a component that the baseline does not have, two
            differ under one name, there is not one draw.
        UnknownName: The order names a lever that there is not.

    >>> from costkit.levers import lever
    >>> found = waterfall(Baseline(50_000), [lever("twice as fast", {"time": 0.5}), lever("spot", {"price": 0.4})])
    >>> [round(step.usd.mid) for step in found.steps], found.end_usd.mid
    ([25000, 10000], 10000.0)
    """
    if n_draws < 1:
        raise ValueError(f"n_draws is {n_draws!r}; a band needs 1 draw or more")
    chosen = in_order(check_levers(baseline, levers), order)
    z = draws(chosen, rng or np.random.default_rng(0), n_draws)
    on = np.tri(len(chosen) + 1, len(chosen), -1, dtype=bool)
    drawn, middle = bills(baseline, chosen, on, z), bills(baseline, chosen, on)[:, 0]
    ranges = _ranges(drawn, middle)
    saved = _ranges(drawn[:-1] - drawn[1:], middle[:-1] - middle[1:])
    steps = tuple(
        Step(one.name, one.group, ranges[place + 1], saved[place], float(middle[place + 1] / middle[place]))
        for place, one in enumerate(chosen)
    )
    return Waterfall(baseline, tuple(chosen), steps, drawn[-1])


def draws(levers: Sequence[Lever], rng: np.random.Generator, n_draws: int) -> Floats:
    """How well each lever works in each draw, in standard deviations, shape (levers, draws).

    A lever's draws follow from its name and the `rng` alone: not from its place, nor from which others there are.
    """
    seed = int(rng.integers(2**63))
    rows = [np.random.default_rng([seed, *one.name.encode()]).standard_normal(n_draws) for one in levers]
    return np.array(rows).reshape(len(levers), n_draws)


def _ranges(drawn: Floats, middle: Floats) -> list[Range]:
    """The middle 80% of every row, around what comes of the middle of every lever."""
    low, high = np.quantile(drawn, _BAND, axis=1)
    return [
        Range(float(min(least, mid)), float(mid), float(max(most, mid)))
        for least, mid, most in zip(low, middle, high, strict=True)
    ]
