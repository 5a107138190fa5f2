"""How sure is a frontier, and what does another size cost? Bands over a law's joint draws, at equal quality.

- Quality is what the same compute reaches under each draw: sizes and costs then compare within one law, not across.
- Bands are the middle 80% of the draws; a law without draws has none, and its arrays `low` and `high` are empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import scaling
from costkit.plan.sizing.demand import Demand

Array = npt.NDArray[np.float64]

PERCENTILES = (10.0, 90.0)
USED_UP_FRACTION = 1e-5
"""So near to the floor of limited data, more compute buys nothing that could be measured."""
_N_DRAWS, _N_CURVE_DRAWS, _N_COARSE = 120, 40, 10
_N_SIZES, _SIZE_FACTOR = 81, 12.0
_CURVE_FLOP = (1e12, 1e32)


@dataclass(frozen=True)
class Interval:
    """The middle 80% of a quantity."""

    low: float
    high: float

    @classmethod
    def of(cls, draws: scaling.Numbers) -> Interval:
        """From draws, over all axes."""
        low, high = np.percentile(np.asarray(draws), PERCENTILES)
        return cls(float(low), float(high))


@dataclass(frozen=True)
class Intervals:
    """The middle 80% of the best size, its tokens and its loss."""

    n_params: Interval
    n_tokens: Interval
    loss: Interval


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity of the best split along training compute; `low` and `high` are empty for a law without draws."""

    flop: Array
    mid: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class SizeCost:
    """What the same quality costs with another size, in US dollars: training alone, and with serving.

    Costs are infinite where a size never gets there; `low` and `high` are empty for a law without draws.
    """

    n_params: Array
    training_usd: Array
    lifetime_usd: Array
    low: Array
    high: Array

    def lifetime_usd_of(self, n_params: scaling.Numbers) -> Array:
        """The lifetime cost of other sizes, between the computed ones; infinite outside them."""
        real = np.isfinite(self.lifetime_usd)
        sizes, costs = np.log(self.n_params[real]), np.log(self.lifetime_usd[real])
        return np.exp(np.interp(np.log(n_params), sizes, costs, left=np.inf, right=np.inf))


def _reachable(law: scaling.Law, split: scaling.Split, demand: Demand) -> scaling.Numbers:
    unique, margin = demand.unique_tokens, USED_UP_FRACTION
    return scaling.above_floor(law, scaling.loss_of(split), unique_tokens=unique, margin_fraction=margin)


def has_draws(law: scaling.Law) -> bool:
    """Whether bands can be drawn for a law."""
    return isinstance(law, scaling.ScalingLaw) and len(law.draws) > 0


def intervals(law: scaling.Law, *, flop: float, demand: Demand) -> Intervals | None:
    """Size, tokens and loss of the best split for this much compute; None for a law without draws."""
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return None
    sampled = law.sampled(None if demand.is_none else _N_DRAWS)
    best = scaling.optimal_split(sampled, flop=flop, unique_tokens=demand.unique_tokens)
    if not demand.is_none:
        best = scaling.cheapest_for_loss(sampled, loss=_reachable(sampled, best, demand), **demand.limits)
    return Intervals(Interval.of(best.n_params), Interval.of(best.n_tokens), Interval.of(scaling.loss_of(best)))


def size_curve(law: scaling.Law, demand: Demand) -> Curve:
    """The frontier over all compute that a picture may show, with its band; it ends where limited data is used up."""
    flop, sizes = _path(law, np.geomspace(*_CURVE_FLOP, 101), demand)
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return Curve(flop, sizes, np.empty(0), np.empty(0))
    sampled = law.sampled(None if demand.is_none else _N_CURVE_DRAWS)
    x, y = _path(sampled, np.geomspace(flop[0], flop[-1], _N_COARSE), demand)
    along = np.array([np.interp(np.log(flop), np.log(xs), np.log(ys)) for xs, ys in zip(x, y, strict=True)])
    low, high = np.exp(np.percentile(along, PERCENTILES, axis=0))
    return Curve(flop, sizes, low, high)


def _path(law: scaling.Law, flop: Array, demand: Demand) -> tuple[Array, Array]:
    """Training compute and size of the best splits for the qualities that these amounts of compute reach.

    One law's path leaves out compute beyond all use of limited data.
    """
    best = scaling.optimal_split(law, flop=flop, unique_tokens=demand.unique_tokens)
    useful = np.ones(len(flop), dtype=bool)
    if demand.is_limited and np.ndim(scaling.loss_of(best)) == 1:
        useful = np.asarray(scaling.loss_of(best)) >= np.asarray(_reachable(law, best, demand))
    if demand.served_tokens:
        best = scaling.cheapest_for_loss(law, loss=_reachable(law, best, demand), **demand.limits)
    x, y = np.broadcast_arrays(np.asarray(best.flop), np.asarray(best.n_params))
    return x[..., useful], y[..., useful]


def ratio_curve(law: scaling.Law, flop: Array) -> Curve:
    """Tokens per parameter along compute, for training alone."""
    mid = np.asarray(scaling.optimal_split(law, flop=flop).tokens_per_param)
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return Curve(flop, mid, np.empty(0), np.empty(0))
    drawn = scaling.optimal_split(law.sampled(), flop=flop).tokens_per_param
    low, high = np.percentile(np.asarray(drawn), PERCENTILES, axis=0)
    return Curve(flop, mid, low, high)


def size_cost(
    law: scaling.ScalingLaw, best: scaling.Split, *, flop: float, loss: float, demand: Demand, usd_per_flop: float
) -> SizeCost:
    """Cost of the same quality by size, with the middle 80% of what it would cost if another draw were the truth."""
    sizes = float(best.n_params) * np.geomspace(1 / _SIZE_FACTOR, _SIZE_FACTOR, _N_SIZES)
    training, lifetime = _costs(law, sizes, loss, demand)
    low, high = _size_cost_band(law, sizes, flop, demand)
    return SizeCost(sizes, training * usd_per_flop, lifetime * usd_per_flop, low * usd_per_flop, high * usd_per_flop)


def _costs(law: scaling.ScalingLaw, sizes: Array, loss: scaling.Numbers, demand: Demand) -> tuple[Array, Array]:
    """Compute of training, and of training and serving, for each size; infinite where it never reaches the loss."""
    tokens = scaling.tokens_for_loss(law, n_params=sizes, loss=loss, unique_tokens=demand.unique_tokens)
    split = scaling.Split(sizes, tokens)
    return np.asarray(split.flop), np.asarray(split.lifetime_flop(demand.equivalent_tokens))


def _size_cost_band(law: scaling.ScalingLaw, sizes: Array, flop: float, demand: Demand) -> tuple[Array, Array]:
    if not has_draws(law):
        return np.empty(0), np.empty(0)
    sampled = law.sampled(_N_CURVE_DRAWS if demand.is_limited else _N_DRAWS)
    quality = _reachable(sampled, scaling.optimal_split(sampled, flop=flop, unique_tokens=demand.unique_tokens), demand)
    _, lifetime = _costs(sampled, sizes, quality, demand)
    low, high = np.percentile(lifetime, PERCENTILES, axis=0, method="nearest")
    return low, high
