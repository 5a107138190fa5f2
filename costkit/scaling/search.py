"""Where is a smooth cost least? A search along one axis, for every element of a broadcast problem at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from costkit.scaling.laws import COEFFICIENTS, Array, Numbers, ScalingLaw

_N_GRID, _N_ROUNDS = 17, 11


def argmin(objective: Callable[[Array], Array], *, low: Numbers, high: Numbers) -> Array:
    """Where a function with one valley is least, to 1e-8 or better: a grid that closes in on its best point."""
    low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
    steps = np.linspace(0.0, 1.0, _N_GRID)
    for _ in range(_N_ROUNDS):
        grid = low + (high - low) * steps
        best = np.argmin(objective(grid), axis=-1, keepdims=True)
        grid = np.broadcast_to(grid, (*best.shape[:-1], _N_GRID))
        low = np.take_along_axis(grid, np.maximum(best - 1, 0), axis=-1)
        high = np.take_along_axis(grid, np.minimum(best + 1, _N_GRID - 1), axis=-1)
    return np.asarray((low + high) / 2)


def with_search_axis(law: ScalingLaw, *values: Numbers) -> tuple[ScalingLaw, Array, Array, Array]:
    """Law and values with one more axis at the end, over which `argmin` lays its grid."""
    coefficients = [np.asarray(getattr(law, name), float) for name in COEFFICIENTS]
    wide = np.broadcast_arrays(*coefficients, *(np.asarray(value, float) for value in values))
    E, A, B, alpha, beta, first, second, third = (value[..., None] for value in wide)
    return law.with_coefficients(E, A, B, alpha, beta), first, second, third
