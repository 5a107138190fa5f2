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
_N_DRAWS, _N_CURVE_DRAWS = 200, 60
_N_SIZES, _N_BAND_SIZES = 241, 61
_CURVE_FLOP = (1e17, 1e28)


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
    """What the same quality costs with another size, in US dollars: training alone, and with serving."""

    n_params: Array
    training_usd: Array
    lifetime_usd: Array
    low: Array
    high: Array

    def lifetime_usd_of(self, n_params: scaling.Numbers) -> Array:
        """The lifetime cost of other sizes, between the computed ones; infinite outside them."""
        order = np.argsort(self.n_params)
        sizes, costs = np.log(self.n_params[order]), self.lifetime_usd[order]
        return np.asarray(np.interp(np.log(n_params), sizes, costs, left=np.inf, right=np.inf))


def has_draws(law: scaling.Law) -> bool:
    """Whether bands can be drawn for a law."""
    return isinstance(law, scaling.ScalingLaw) and len(law.draws) > 0


def intervals(law: scaling.Law, *, flop: float, demand: Demand) -> Intervals | None:
    """Size, tokens and loss of the best split for this much compute; None for a law without draws."""
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return None
    sampled = law.sampled(None if demand.is_none else _N_DRAWS)
    best = scaling.optimal_split(sampled, flop=flop, unique_tokens=demand.unique_tokens)
    if demand.served_tokens:
        best = scaling.cheapest_for_loss(sampled, loss=scaling.loss_of(best), **demand.limits)
    return Intervals(Interval.of(best.n_params), Interval.of(best.n_tokens), Interval.of(scaling.loss_of(best)))


def size_curve(law: scaling.Law, demand: Demand) -> Curve:
    """The frontier over all compute that a picture may show, with its band."""
    flop, sizes = _path(law, np.geomspace(*_CURVE_FLOP, 67), demand)
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return Curve(flop, sizes, np.empty(0), np.empty(0))
    x, y = _path(law.sampled(None if demand.is_none else _N_CURVE_DRAWS), np.geomspace(*_CURVE_FLOP, 12), demand)
    x = np.broadcast_to(x, y.shape)
    along = np.array([np.interp(np.log(flop), np.log(xs), np.log(ys)) for xs, ys in zip(x, y, strict=True)])
    low, high = np.exp(np.percentile(along, PERCENTILES, axis=0))
    return Curve(flop, sizes, low, high)


def _path(law: scaling.Law, flop: Array, demand: Demand) -> tuple[Array, Array]:
    """Training compute and size of the best splits for the qualities that these amounts of compute reach."""
    best = scaling.optimal_split(law, flop=flop, unique_tokens=demand.unique_tokens)
    if demand.served_tokens:
        # A budget beyond all use of limited data ends on the floor itself, which no finite run reaches.
        floor = scaling.lowest_loss(law, unique_tokens=demand.unique_tokens)
        target = np.maximum(scaling.loss_of(best), floor * (1 + 1e-6))
        best = scaling.cheapest_for_loss(law, loss=target, **demand.limits)
    return np.asarray(best.flop), np.asarray(best.n_params)


def ratio_curve(law: scaling.Law, flop: Array) -> Curve:
    """Tokens per parameter along compute, for training alone."""
    mid = np.asarray(scaling.optimal_split(law, flop=flop).tokens_per_param)
    if not isinstance(law, scaling.ScalingLaw) or not has_draws(law):
        return Curve(flop, mid, np.empty(0), np.empty(0))
    drawn = scaling.optimal_split(law.sampled(), flop=flop).tokens_per_param
    low, high = np.percentile(np.asarray(drawn), PERCENTILES, axis=0)
    return Curve(flop, mid, low, high)


def size_cost(law: scaling.ScalingLaw, *, flop: float, loss: float, demand: Demand, usd_per_flop: float) -> SizeCost:
    """Cost of the same quality by size, with the middle 80% of what it would cost if another draw were the truth."""
    splits = scaling.equal_loss(law, loss=loss, unique_tokens=demand.unique_tokens, n_points=_N_SIZES)
    real = np.isfinite(splits.n_params)
    split = scaling.Split(np.asarray(splits.n_params)[real], np.asarray(splits.n_tokens)[real])
    low, high = _size_cost_band(law, np.asarray(split.n_params), flop, demand)
    return SizeCost(
        np.asarray(split.n_params),
        np.asarray(split.flop) * usd_per_flop,
        np.asarray(split.lifetime_flop(demand.equivalent_tokens)) * usd_per_flop,
        low * usd_per_flop,
        high * usd_per_flop,
    )


def _size_cost_band(law: scaling.ScalingLaw, sizes: Array, flop: float, demand: Demand) -> tuple[Array, Array]:
    if not has_draws(law):
        return np.empty(0), np.empty(0)
    sampled, unique = law.sampled(_N_DRAWS), demand.unique_tokens
    quality = scaling.loss_of(scaling.optimal_split(sampled, flop=flop, unique_tokens=unique))
    splits = scaling.equal_loss(sampled, loss=quality, unique_tokens=unique, n_points=_N_BAND_SIZES)
    spent = splits.lifetime_flop(demand.equivalent_tokens)
    drawn = zip(np.asarray(splits.n_params)[:, 0, :], np.asarray(spent)[:, 0, :], strict=True)
    low, high = np.percentile([_on_sizes(sizes, xs, ys) for xs, ys in drawn], PERCENTILES, axis=0)
    return np.exp(low), np.exp(high)


def _on_sizes(sizes: Array, drawn_sizes: Array, spent: Array) -> Array:
    """Logarithm of the cost of one draw at given sizes; huge where that draw's model never gets there."""
    real = np.isfinite(drawn_sizes)
    xs, ys = np.log(drawn_sizes[real])[::-1], np.log(spent[real])[::-1]
    return np.asarray(np.interp(np.log(sizes), xs, ys, left=ys[0] + 10.0))
