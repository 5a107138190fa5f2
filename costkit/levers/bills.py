"""What does the run cost with some of the levers on? One bill for each set of levers and each draw of their effects.

- bill = usd x (f + work x time x ((1 - o - f) x price + o)), with o the overhead and f what is fixed: time is the sum
  of the components' shares, each multiplied by what is left of it in every slot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from costkit.levers.baseline import PRICE, WORK, Baseline, acts_on
from costkit.levers.lever import Lever
from costkit.units import Range

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

Z_OF_ENDS = 1.2815515655446004
"""Standard deviations from the middle to the ends of the middle 80% of a normal distribution."""


def bills(baseline: Baseline, levers: Sequence[Lever], on: Flags, z: Floats | None = None) -> Floats:
    """The bill in US dollars of every set of levers, for every draw.

    Args:
        baseline: The run without any lever.
        levers: The levers, each once.
        on: Which are on, shape (sets, levers).
        z: How well each works, in standard deviations, shape (levers, draws); None: in the middle, one draw.

    Returns:
        Shape (sets, draws).
    """
    drawn = np.zeros((len(levers), 1)) if z is None else z
    shape = (len(on), drawn.shape[1])
    left = list(_left(levers, on, drawn))

    def kept(acts: Callable[[str], bool]) -> Floats:
        return _product([one for one in left if acts(one.target)], shape)

    time, whole = np.zeros(shape), math.fsum(baseline.shares.values())  # 1, but for what the shares were rounded by
    for name, share in baseline.shares.items():
        time += share / whole * kept(lambda target, name=name: acts_on(target, name))  # type: ignore[misc]
    price, work, o, f = kept(PRICE.__eq__), kept(WORK.__eq__), baseline.overhead_fraction, baseline.fixed_fraction
    total: Floats = baseline.usd * (f + work * time * ((1 - o - f) * price + o))
    return total


@dataclass(frozen=True, eq=False)
class _Left:
    """What one lever leaves of one target in every draw, and in which sets it does."""

    target: str
    slot: str
    rank: float
    active: Flags
    keep: Floats


def _left(levers: Sequence[Lever], on: Flags, z: Floats) -> Iterator[_Left]:
    places = {one.name: index for index, one in enumerate(levers)}
    for index, one in enumerate(levers):
        for effect in one.effects:
            slot = effect.slot or f"{one.name} on {effect.target}"
            active = on[:, index].copy()
            for need in effect.needs:
                active &= on[:, places[need]] if need in places else False
            yield _Left(effect.target, slot, effect.rank, active, _kept(effect.keep, z[index]))


def _product(wanted: Sequence[_Left], shape: tuple[int, int]) -> Floats:
    """What is left of one target: over slots the product, in a slot what counts of what is on."""
    kept: dict[str, Floats] = {}
    for _, several in groupby(sorted(wanted, key=_place), key=_place):
        equals = list(several)
        least = np.full(shape, np.inf)
        for one in equals:
            least = np.where(one.active[:, None], np.minimum(least, one.keep), least)
        slot = equals[0].slot
        kept[slot] = np.where(np.isinf(least), kept.get(slot, np.ones(shape)), least)
    product: Floats = np.ones(shape)
    for keep in kept.values():
        product = product * keep
    return product


def _place(one: _Left) -> tuple[str, float]:
    return one.slot, one.rank


def _kept(keep: Range, z: Floats) -> Floats:
    """What is left in each draw: log-normal on either side of the middle, so that it never comes below 0.

    A good draw (z below 0) leaves less.
    """
    below, above = np.log(keep.low / keep.mid), np.log(keep.high / keep.mid)
    spread = np.where(z < 0, -below, above) / Z_OF_ENDS
    found: Floats = keep.mid * np.exp(z * spread)
    return found
