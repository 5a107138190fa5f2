"""How sure is a frontier, and what does another size cost? Bands over a law's joint draws, at equal quality.

- Quality is what the same compute reaches under each draw: sizes and costs then compare within one law, not across.
- Bands are the middle 80% of the draws; a law without draws has none, and its arrays `low` and `high` are empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import scaling

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


@dataclass(frozen=True, eq=False)
class Curve:
    """The best size along training compute; `low` and `high` bound the middle 80%, empty without draws."""

    flop: Array
    n_params: Array
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


def drawn(law: scaling.ScalingLaw, flop: float, served: float, unique: float) -> scaling.Split:
    """The best split under each draw, for the quality that the same compute reaches under that draw."""
    sampled = law.sampled(_N_DRAWS if served or np.isfinite(unique) else None)
    best = scaling.optimal_split(sampled, flop=flop, unique_tokens=unique)
    if not served:
        return best
    return scaling.cheapest_for_loss(sampled, loss=scaling.loss_of(best), inference_tokens=served, unique_tokens=unique)


def curve(law: scaling.Law, served: float, unique: float) -> Curve:
    """The frontier over all compute that a picture may show, with its band."""
    limited = bool(served) or bool(np.isfinite(unique))
    flop, sizes = _path(law, np.geomspace(*_CURVE_FLOP, 67), served, unique)
    if not isinstance(law, scaling.ScalingLaw) or not len(law.draws):
        return Curve(flop, sizes, np.empty(0), np.empty(0))
    coarse = np.geomspace(*_CURVE_FLOP, 12)
    x, y = _path(law.sampled(_N_CURVE_DRAWS if limited else None), coarse, served, unique)
    x = np.broadcast_to(x, y.shape)
    along = np.array([np.interp(np.log(flop), np.log(xs), np.log(ys)) for xs, ys in zip(x, y, strict=True)])
    low, high = np.exp(np.percentile(along, PERCENTILES, axis=0))
    return Curve(flop, sizes, low, high)


def _path(law: scaling.Law, flop: Array, served: float, unique: float) -> tuple[Array, Array]:
    """Training compute and size of the best splits for the qualities that these amounts of compute reach."""
    best = scaling.optimal_split(law, flop=flop, unique_tokens=unique)
    if served and best.loss is not None:
        # A budget beyond all use of limited data ends on the floor itself, which no finite run reaches.
        target = np.maximum(scaling.loss_of(best), scaling.lowest_loss(law, unique_tokens=unique) * (1 + 1e-6))
        best = scaling.cheapest_for_loss(law, loss=target, inference_tokens=served, unique_tokens=unique)
    return np.asarray(best.flop), np.asarray(best.n_params)


def size_cost(
    law: scaling.ScalingLaw, flop: float, loss: float, served: float, unique: float, price: float
) -> SizeCost:
    """Cost of the same quality by size, with the middle 80% of what it would cost if another draw were the truth."""
    splits = scaling.equal_loss(law, loss=loss, unique_tokens=unique, n_points=_N_SIZES)
    real = np.isfinite(splits.n_params)
    split = scaling.Split(np.asarray(splits.n_params)[real], np.asarray(splits.n_tokens)[real])
    sizes = np.asarray(split.n_params)
    low, high = _size_cost_band(law, sizes, flop, served, unique)
    lifetime = np.asarray(split.lifetime_flop(served)) * price
    return SizeCost(sizes, np.asarray(split.flop) * price, lifetime, low * price, high * price)


def _size_cost_band(
    law: scaling.ScalingLaw, sizes: Array, flop: float, served: float, unique: float
) -> tuple[Array, Array]:
    if not len(law.draws):
        return np.empty(0), np.empty(0)
    sampled = law.sampled(_N_DRAWS)
    quality = scaling.loss_of(scaling.optimal_split(sampled, flop=flop, unique_tokens=unique))
    splits = scaling.equal_loss(sampled, loss=quality, unique_tokens=unique, n_points=_N_BAND_SIZES)
    sizes_drawn, spent = (np.asarray(values)[:, 0, :] for values in (splits.n_params, splits.lifetime_flop(served)))
    costs = np.array([_on_sizes(sizes, xs, ys) for xs, ys in zip(sizes_drawn, spent, strict=True)])
    low, high = np.percentile(costs, PERCENTILES, axis=0)
    return np.exp(low), np.exp(high)


def _on_sizes(sizes: Array, drawn_sizes: Array, spent: Array) -> Array:
    """Logarithm of the cost of one draw at given sizes; huge where that draw's model never gets there."""
    real = np.isfinite(drawn_sizes)
    xs, ys = np.log(drawn_sizes[real])[::-1], np.log(spent[real])[::-1]
    return np.asarray(np.interp(np.log(sizes), xs, ys, left=ys[0] + 10.0))
