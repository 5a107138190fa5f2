"""What do these runs say? A scaling law fitted to (N, D, loss), with what it can't tell.

- The objective is the sum of Huber losses of the residuals of ln L (`huber.py`); Hoffmann et al.'s grid of 4,500 starts
  is evaluated whole and the best 30 are polished.
- Draws are joint bootstrap refits of resampled runs; no coefficient is drawn from its own standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from costkit.scaling.huber import MIN_RUNS, Runs, coefficients, huber_sum, parts, polished, residuals_at, starts
from costkit.scaling.laws import Array, ScalingLaw, repeat_decay
from costkit.scaling.optimum import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.units import number, require_not_negative

_MAX_ALLOCATION_ERROR, _ONE_LINE = 0.1, 0.95
_MIN_RANGE_FACTOR = 3.0


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted law, the Huber sum it reaches, joint bootstrap draws, and whether alpha and beta can be told apart.

    `residuals` are ln(predicted) - ln(observed), shape (n_runs,); `draws` has shape (n_bootstrap, 5), columns E, A, B,
    alpha, beta. `allocation_error` is the standard error of a = beta / (alpha + beta): of the draws, else of the
    curvature. Where `identifiable` is False, `warnings` says why, and the law must not choose a size.
    """

    law: ScalingLaw
    huber: float
    residuals: Array = field(repr=False)
    draws: Array = field(repr=False)
    allocation_error: float
    identifiable: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class HoldOut:
    """How well a law fitted to the smaller runs predicts the largest: errors are relative, fitted minus observed."""

    n_fitted: int
    n_held_out: int
    largest_fitted_flop: float
    mean_error_fraction: float
    rms_error_fraction: float


def fit(
    n_params: npt.ArrayLike,
    n_tokens: npt.ArrayLike,
    loss: npt.ArrayLike,
    *,
    n_bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> Fit:
    """Fit L(N, D) = E + A / N^alpha + B / D^beta to runs, each argument of shape (n_runs,).

    Runs that can't determine the law still return a fit, marked not `identifiable`; values that are no runs (empty,
    negative, unequal lengths, fewer than eight) raise a ValueError. Bootstrapping needs an `rng`.

    >>> from costkit import scaling
    >>> truth = scaling.law("besiroglu-2024")
    >>> N, D = (axis.ravel() for axis in np.meshgrid(np.geomspace(1e8, 1e10, 6), np.geomspace(1e9, 1e12, 6)))
    >>> found = scaling.fit(N, D, scaling.loss(truth, n_params=N, n_tokens=D)).law
    >>> round(found.alpha, 3), round(found.beta, 3), round(found.E, 3)
    (0.348, 0.366, 1.817)
    """
    require_not_negative(n_bootstrap, "n_bootstrap", "refits")
    runs = Runs.of(n_params, n_tokens, loss)
    best = polished(runs, starts(runs))
    draws = _bootstrap(runs, best, n_bootstrap, rng)
    error = _allocation_error(runs, best)
    warnings = (*_narrow_ranges(runs), *_undetermined(runs, best, error))
    decay_tokens, decay_params = repeat_decay()
    E, A, B, alpha, beta = coefficients(runs, best[None])[0].tolist()
    fitted = ScalingLaw(
        name="own-runs",
        title=f"Fitted to {len(runs.log_loss)} runs of your own",
        E=E,
        A=A,
        B=B,
        alpha=alpha,
        beta=beta,
        flop_range=_span(_flop(runs)),
        n_params_range=_span(np.exp(runs.log_params)),
        n_runs=len(runs.log_loss),
        basis="measured",
        source="own-runs",
        draws=draws,
        repeat_decay_tokens=decay_tokens,
        repeat_decay_params=decay_params,
    )
    residuals = residuals_at(runs, best)
    spread = _allocation_spread(draws) if len(draws) else error
    return Fit(fitted, huber_sum(residuals), residuals, draws, spread, not warnings, warnings)


def hold_out(
    n_params: npt.ArrayLike, n_tokens: npt.ArrayLike, loss: npt.ArrayLike, *, held_out_fraction: float = 0.2
) -> HoldOut:
    """Fit without the runs of most compute and predict them: the only test of an extrapolation that runs can give.

    >>> from costkit import scaling
    >>> N, D = (axis.ravel() for axis in np.meshgrid(np.geomspace(1e8, 1e10, 6), np.geomspace(1e9, 1e12, 6)))
    >>> exact = scaling.loss(scaling.law("besiroglu-2024"), n_params=N, n_tokens=D)
    >>> score = scaling.hold_out(N, D, exact)
    >>> score.n_held_out, score.rms_error_fraction < 1e-6
    (7, True)
    """
    if not 0 < held_out_fraction < 1:
        raise ValueError(f"held_out_fraction must lie between 0 and 1, not {held_out_fraction!r}.")
    runs = Runs.of(n_params, n_tokens, loss)
    flop = _flop(runs)
    order = np.argsort(flop, kind="stable")
    n_fitted = len(order) - max(round(held_out_fraction * len(order)), 1)
    if n_fitted < MIN_RUNS:
        raise ValueError(
            f"Holding out {number(held_out_fraction)} of {len(order)} runs leaves {n_fitted}; "
            f"at least {MIN_RUNS} are needed to fit."
        )
    fitted, held = runs.take(order[:n_fitted]), runs.take(order[n_fitted:])
    centred = fitted.centred(held)
    errors = np.expm1(residuals_at(centred, polished(fitted, starts(fitted))))
    return HoldOut(
        n_fitted,
        len(errors),
        float(flop[order[n_fitted - 1]]),
        float(errors.mean()),
        float(np.sqrt(np.mean(errors**2))),
    )


def without_highest_losses(loss: npt.ArrayLike, *, n_dropped: int) -> npt.NDArray[np.bool_]:
    """Which runs stay when those of the highest losses are left out: an outlier rule, and a choice that must be seen.

    Besiroglu et al. 2024 (arXiv:2404.10102) leave out five of 245 runs; the optimal tokens per parameter at 5.76e23
    FLOP then read 18 instead of 7. A run tied with the last one dropped stays.

    >>> without_highest_losses([2.0, 3.0, 2.5], n_dropped=1).tolist()
    [True, False, True]
    """
    losses = np.asarray(loss, float)
    if not 0 <= n_dropped < len(losses):
        raise ValueError(
            f"Can't leave out {n_dropped} of {len(losses)} runs: give a number from 0 to {len(losses) - 1}."
        )
    keep = np.ones(len(losses), dtype=bool)
    keep[np.argsort(-losses, kind="stable")[:n_dropped]] = False
    return keep


def _bootstrap(runs: Runs, best: Array, n_bootstrap: int, rng: np.random.Generator | None) -> Array:
    """Refits of resampled runs, each from the optimum; shape (n_bootstrap, 5)."""
    if not n_bootstrap:
        return np.empty((0, 5))
    if rng is None:
        raise ValueError("A bootstrap needs rng=, for instance numpy.random.default_rng(0).")
    n_runs = len(runs.log_loss)
    resampled = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), size=n_bootstrap).astype(float)
    return coefficients(runs, np.array([polished(runs, best[None], weights) for weights in resampled]))


def _allocation_error(runs: Runs, point: Array) -> float:
    """Standard error of a = beta / (alpha + beta), from the curvature of the fit; infinite where there is none."""
    by_size, by_tokens, floor = parts(runs, point)
    total = by_size + by_tokens + floor
    shares = [by_size, by_tokens, np.full_like(total, floor), -by_size * runs.x, -by_tokens * runs.y]
    jacobian = np.stack(shares, axis=1) / total[:, None]
    scales = np.linalg.norm(jacobian, axis=0)
    if not np.all(scales > 0) or np.linalg.cond(jacobian / scales) > 1e6:
        return float("inf")
    residuals = residuals_at(runs, point)
    variance = float(residuals @ residuals) / max(len(residuals) - 5, 1)
    covariance = variance * np.linalg.inv(jacobian.T @ jacobian)[3:, 3:]
    alpha, beta = point[3:]
    slope = np.array([-beta, alpha]) / (alpha + beta) ** 2
    return float(np.sqrt(slope @ covariance @ slope))


def _allocation_spread(draws: Array) -> float:
    """Standard deviation of a over bootstrap draws."""
    alpha, beta = draws[:, 3], draws[:, 4]
    return float(np.std(beta / (alpha + beta)))


def _undetermined(runs: Runs, point: Array, error: float) -> tuple[str, ...]:
    """Why alpha and beta can't be had from these runs, if they can't."""
    alpha, beta = point[3:]
    together = np.corrcoef(runs.log_params, runs.log_tokens)[0, 1] > _ONE_LINE
    mend = "size and tokens grow together, so vary one at a fixed other" if together else "vary size at equal compute"
    if not (alpha > 0 and beta > 0):
        what = f"the best fit has alpha {alpha:.3g} and beta {beta:.3g}, a loss that does not fall with both"
    elif error > _MAX_ALLOCATION_ERROR:
        by = f"by {number(error, digits=2)}" if np.isfinite(error) else "without bound"
        what = f"the exponent of the best size is uncertain {by} (at most {_MAX_ALLOCATION_ERROR} is usable)"
    else:
        return ()
    return (f"alpha and beta can't be told apart: {what}; {mend}.",)


def _narrow_ranges(runs: Runs) -> tuple[str, ...]:
    spans = (("sizes", np.ptp(runs.log_params)), ("tokens", np.ptp(runs.log_tokens)))
    return tuple(
        f"The {what} span a factor of {number(float(np.exp(span)))} only; at least {_MIN_RANGE_FACTOR:g} is needed."
        for what, span in spans
        if span < np.log(_MIN_RANGE_FACTOR)
    )


def _flop(runs: Runs) -> Array:
    return TRAINING_FLOP_PER_PARAM_TOKEN * np.exp(runs.log_params + runs.log_tokens)


def _span(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())
