"""What does another size cost? Regret, the flat zone around the optimum, over-training, and the price of serving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit.scaling.forms import above_floor, loss, predicting, scalar
from costkit.scaling.laws import Law, Numbers
from costkit.scaling.optimum import (
    Split,
    cheapest_for_loss,
    loss_of,
    optimal_split,
    params_for_loss,
)
from costkit.units import require_not_negative, require_positive

_REACH, _STEEP = 10.0, 1e3


@dataclass(frozen=True)
class Regret:
    """What a choice of (N, D) gives away: compute spent, the least for the same loss, and nats at equal compute."""

    flop: Numbers
    least_flop: Numbers
    nats: Numbers

    @property
    def wasted_flop(self) -> Numbers:
        """Compute that a better split would have saved at the same loss."""
        return self.flop - self.least_flop

    @property
    def overhead_fraction(self) -> Numbers:
        """Extra compute as a fraction of the least: 0.01 means one per cent more than needed."""
        return self.flop / self.least_flop - 1.0


@dataclass(frozen=True)
class Overtraining:
    """A model of `size_fraction` of the optimal size, trained to the same loss; infinite where it never gets there."""

    size_fraction: Numbers
    tokens_factor: Numbers
    overhead_fraction: Numbers


def regret(
    law: Law, *, n_params: Numbers, n_tokens: Numbers, inference_tokens: Numbers = 0.0, unique_tokens: Numbers = np.inf
) -> Regret:
    """What training `n_params` on `n_tokens` gives away against the best split.

    In FLOP: compute spent less the least that reaches the same loss. In nats: its loss less the lowest that the same
    compute reaches. Both are zero on the frontier only.

    >>> from costkit.scaling import law
    >>> gpt3 = regret(law("besiroglu-2024"), n_params=175e9, n_tokens=300e9)
    >>> round(gpt3.overhead_fraction, 2), round(gpt3.nats, 3)
    (0.64, 0.016)
    """
    require_not_negative(inference_tokens, "inference_tokens", "tokens")
    reached = loss(law, n_params=n_params, n_tokens=n_tokens, unique_tokens=unique_tokens)
    paid_for = above_floor(law, reached, unique_tokens=unique_tokens)
    spent = Split(n_params, n_tokens).lifetime_flop(inference_tokens)
    limits = {"inference_tokens": inference_tokens, "unique_tokens": unique_tokens}
    least = cheapest_for_loss(law, loss=paid_for, **limits).lifetime_flop(inference_tokens)
    best = optimal_split(law, flop=spent, **limits)
    return Regret(spent, least, reached - loss_of(best))


def flat_zone(
    law: Law, *, loss: float, inference_tokens: float = 0.0, unique_tokens: float = np.inf, tolerance: float = 0.01
) -> tuple[Split, Split]:
    """The smallest and the largest model that reach a loss for at most `tolerance` more compute than the cheapest.

    Found on either side of `cheapest_for_loss` along the splits of equal loss, where 6ND + 2N D_inf has one valley.

    >>> from costkit.scaling import law
    >>> besiroglu = law("besiroglu-2024")
    >>> best = cheapest_for_loss(besiroglu, loss=2.2).n_params
    >>> [round(split.n_params / best, 2) for split in flat_zone(besiroglu, loss=2.2)]
    [0.85, 1.19]
    """
    from scipy.optimize import brentq

    require_positive(tolerance, "tolerance", "times the least compute")
    limits = {"inference_tokens": inference_tokens, "unique_tokens": unique_tokens}
    best = cheapest_for_loss(law, loss=loss, **limits)
    allowed = np.log(float(best.lifetime_flop(inference_tokens)) * (1 + tolerance))

    def at(log_tokens: float) -> Split:
        D = float(np.exp(log_tokens))
        return Split(params_for_loss(law, n_tokens=D, loss=loss, unique_tokens=unique_tokens), D, loss, unique_tokens)

    def excess(log_tokens: float) -> float:
        spent = float(at(log_tokens).lifetime_flop(inference_tokens))
        return float(np.log(spent) - allowed) if np.isfinite(spent) else _STEEP

    centre = float(np.log(best.n_tokens))
    ends = (centre + _REACH, centre - _REACH)
    most, fewest = (brentq(excess, centre, end) if excess(end) > 0 else end for end in ends)
    return at(most), at(fewest)


def overtraining(law: Law, *, size_fraction: Numbers) -> Overtraining:
    """What a smaller (or larger) model than the optimal one costs in tokens and compute for the same loss.

    k_D = (1 - (k_N^-alpha - 1) beta/alpha)^(-1/beta), overhead k_N k_D - 1, whatever the budget; derived from
    Hoffmann et al. 2022, eq. 2 and 4. Below (1 + alpha/beta)^(-1/alpha) no number of tokens is enough: infinite.

    >>> from costkit.scaling import law
    >>> half = overtraining(law("besiroglu-2024"), size_fraction=0.5)
    >>> round(half.tokens_factor, 2), round(half.overhead_fraction, 3)
    (2.52, 0.259)
    """
    law = predicting(law)
    require_positive(size_fraction, "size_fraction", "times the best size")
    k_N, alpha, beta = np.asarray(size_fraction, float), law.alpha, law.beta
    room = 1 - (k_N**-alpha - 1) * beta / alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        k_D = np.where(room > 0, np.maximum(room, 0.0) ** (-1 / beta), np.inf)
    return Overtraining(size_fraction, scalar(k_D), scalar(k_N * k_D - 1))


def equivalent_tokens(
    *,
    input_tokens: float,
    output_tokens: float,
    usd_per_input_flop: float,
    usd_per_output_flop: float,
    usd_per_training_flop: float,
) -> float:
    """Served tokens as the number that would cost the same at the price of a training FLOP.

    D_eff = (D_in c_in + D_out c_out) / c_train, each c in dollars per FLOP of useful work, utilisation included.
    Sardana et al. 2024 (arXiv:2401.00448), section 3.

    >>> "%.3g" % equivalent_tokens(input_tokens=1e12, output_tokens=1e12, usd_per_input_flop=1e-18,
    ...                            usd_per_output_flop=50e-18, usd_per_training_flop=1e-18)
    '5.1e+13'
    """
    require_positive(usd_per_training_flop, "usd_per_training_flop", "USD per FLOP")
    for what, value in (("input_tokens", input_tokens), ("output_tokens", output_tokens)):
        require_not_negative(value, what, "tokens")
    for what, value in (("usd_per_input_flop", usd_per_input_flop), ("usd_per_output_flop", usd_per_output_flop)):
        require_not_negative(value, what, "USD per FLOP")
    return (input_tokens * usd_per_input_flop + output_tokens * usd_per_output_flop) / usd_per_training_flop
