"""How far is a law from these runs? Runs as logarithms, the Huber objective with its gradient, and its best point.

- Sum of Huber_delta(ln L_predicted - ln L), delta 1e-3. Hoffmann et al. 2022 (arXiv:2203.15556), eq. 11. The sum, never
  the mean: an optimiser's absolute tolerances stop a mean early.
- Logarithms of sizes and tokens are centred: ln A and alpha correlate at 0.999 otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit.scaling.laws import Array

HUBER_DELTA = 1e-3
MIN_RUNS = 8
"""Five coefficients and at least three runs to check them."""

_N_POLISHED = 30
_SCALE = 1e4


@dataclass(frozen=True, eq=False)
class Runs:
    """Logarithms of the runs, and the centre of sizes and tokens that the parametrisation is laid around."""

    log_params: Array
    log_tokens: Array
    log_loss: Array
    centre: tuple[float, float]

    @classmethod
    def of(cls, n_params: npt.ArrayLike, n_tokens: npt.ArrayLike, loss: npt.ArrayLike) -> Runs:
        """Runs from their columns, each of shape (n_runs,); a ValueError names the first cell that is no run."""
        columns = [
            _column(values, what) for values, what in ((n_params, "n_params"), (n_tokens, "n_tokens"), (loss, "loss"))
        ]
        if len({len(column) for column in columns}) != 1:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise ValueError(f"n_params, n_tokens and loss must be of equal length, not {lengths}.")
        n_runs, distinct = len(columns[0]), np.unique(np.stack(columns), axis=1).shape[1]
        if distinct < MIN_RUNS:
            raise ValueError(
                f"{n_runs} runs, {distinct} of them different, can't determine five coefficients: at least {MIN_RUNS} "
                f"different ones are needed, over sizes and tokens that vary apart from each other."
            )
        log_params, log_tokens, log_loss = (np.log(column) for column in columns)
        return cls(log_params, log_tokens, log_loss, (float(log_params.mean()), float(log_tokens.mean())))

    def take(self, which: npt.NDArray[np.intp]) -> Runs:
        """A part of the runs, around a centre of its own."""
        x, y, z = self.log_params[which], self.log_tokens[which], self.log_loss[which]
        return Runs(x, y, z, (float(x.mean()), float(y.mean())))

    def centred(self, other: Runs) -> Runs:
        """Other runs around this centre, so that parameters fitted here apply to them."""
        return Runs(other.log_params, other.log_tokens, other.log_loss, self.centre)

    @property
    def x(self) -> Array:
        """Centred logarithm of the model size."""
        return self.log_params - self.centre[0]

    @property
    def y(self) -> Array:
        """Centred logarithm of the tokens."""
        return self.log_tokens - self.centre[1]


def _column(values: npt.ArrayLike, what: str) -> Array:
    try:
        column = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, one a run.") from error
    if column.ndim != 1:
        raise ValueError(f"{what} must be one number a run, not of shape {column.shape}.")
    wrong = ~(np.isfinite(column) & (column > 0))
    if wrong.any():
        raise ValueError(
            f"{what} of run {int(np.argmax(wrong)) + 1} is {column[wrong][0]}; it must be positive and finite."
        )
    return column


# A point is (ln A - alpha <ln N>, ln B - beta <ln D>, ln E, alpha, beta): centred, so that its parts hardly correlate.


def starts(runs: Runs) -> Array:
    """The best points of Hoffmann et al.'s grid of starts (section D.2), shape (n_polished, 5)."""
    exponents, intercepts = np.arange(0.0, 2.01, 0.5), np.arange(0.0, 25.01, 5.0)
    floors = np.arange(-1.0, 1.01, 0.5)
    slopes, logs = (axis.ravel() for axis in np.meshgrid(exponents, intercepts, indexing="ij"))
    by_size = np.exp(logs[:, None] - slopes[:, None] * runs.log_params)
    by_tokens = np.exp(logs[:, None] - slopes[:, None] * runs.log_tokens)
    sums = np.empty((len(floors), len(logs), len(logs)))
    for i, floor in enumerate(floors):
        total = by_size[:, None, :] + by_tokens[None, :, :] + np.exp(floor)
        sums[i] = _huber(np.log(total) - runs.log_loss).sum(axis=-1)
    best = np.argsort(sums, axis=None, kind="stable")[:_N_POLISHED]
    e, n, d = np.unravel_index(best, sums.shape)
    a = logs[n] - slopes[n] * runs.centre[0]
    b = logs[d] - slopes[d] * runs.centre[1]
    return np.stack([a, b, floors[e], slopes[n], slopes[d]], axis=1)


def parts(runs: Runs, point: Array) -> tuple[Array, Array, float]:
    """The three terms of the loss at a point: A / N^alpha and B / D^beta of each run, and E."""
    a, b, e, alpha, beta = point
    return np.exp(a - alpha * runs.x), np.exp(b - beta * runs.y), float(np.exp(e))


def residuals_at(runs: Runs, point: Array) -> Array:
    """ln(predicted) - ln(observed) of each run."""
    by_size, by_tokens, floor = parts(runs, point)
    return np.asarray(np.log(by_size + by_tokens + floor) - runs.log_loss)


def _huber(residuals: Array) -> Array:
    size = np.abs(residuals)
    return np.where(size <= HUBER_DELTA, residuals**2 / 2, HUBER_DELTA * (size - HUBER_DELTA / 2))


def huber_sum(residuals: Array) -> float:
    """The objective of eq. 11."""
    return float(_huber(residuals).sum())


def _objective(point: Array, runs: Runs, weights: Array) -> tuple[float, Array]:
    """The scaled, weighted Huber sum and its gradient; infinite where a line search has gone too far to compute."""
    with np.errstate(all="ignore"):
        by_size, by_tokens, floor = parts(runs, point)
        total = by_size + by_tokens + floor
        residuals = np.log(total) - runs.log_loss
        pull = weights * np.clip(residuals, -HUBER_DELTA, HUBER_DELTA) / total
        value = float(weights @ _huber(residuals))
        on_size, on_tokens = pull * by_size, pull * by_tokens
        slopes = (on_size.sum(), on_tokens.sum(), floor * pull.sum(), -on_size @ runs.x, -on_tokens @ runs.y)
    return (_SCALE * value, _SCALE * np.array(slopes)) if np.isfinite(value) else (np.inf, np.zeros(5))


def polished(runs: Runs, points: Array, weights: Array | None = None) -> Array:
    """The best local optimum from these starts."""
    from scipy.optimize import minimize

    weights = np.ones(len(runs.log_loss)) if weights is None else weights
    found = [
        minimize(
            _objective, start, args=(runs, weights), jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 500}
        )
        for start in points
    ]
    return np.asarray(min(found, key=lambda result: float(result.fun)).x)


def coefficients(runs: Runs, points: Array) -> Array:
    """Columns E, A, B, alpha, beta of centred points."""
    a, b, e, alpha, beta = points.T
    log_A, log_B = a + alpha * runs.centre[0], b + beta * runs.centre[1]
    with np.errstate(over="ignore"):
        return np.stack([np.exp(e), np.exp(log_A), np.exp(log_B), alpha, beta], axis=1)
