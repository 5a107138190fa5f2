"""How big a model, on how much data? The split of compute, alone or with serving and a limit of data.

- Training costs 6ND FLOP and serving 2N FLOP a token (Kaplan et al. 2020, arXiv:2001.08361, section 2.1; Sardana et
  al. 2024, arXiv:2401.00448, section 2). `inference_tokens` are all tokens ever served; where a serving FLOP costs more
  or less than a training FLOP, pass `equivalent_tokens(...)` instead.
- Everything broadcasts: `flop`, `loss`, `inference_tokens` and a law's sampled coefficients may be arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costkit.scaling.forms import (
    above_floor,
    decayed,
    effective,
    loss,
    lowest_loss,
    optimum_shape,
    predicting,
    require_each,
    require_law,
    require_limit,
    require_reachable,
    scalar,
    size_for_tokens,
    undecayed,
    usable_params,
)
from costkit.scaling.laws import Array, FrontierLaw, Law, Numbers, ScalingLaw
from costkit.scaling.search import argmin, with_search_axis
from costkit.units import require_not_negative

TRAINING_FLOP_PER_PARAM_TOKEN = 6.0
SERVING_FLOP_PER_PARAM_TOKEN = 2.0

_MAX_LOG_FACTOR = 30.0
_N_BISECTIONS = 45


@dataclass(frozen=True)
class Split:
    """A model size and a number of training tokens; `loss` is None where the law predicts none."""

    n_params: Numbers
    n_tokens: Numbers
    loss: Numbers | None = None
    unique_tokens: Numbers = np.inf

    @property
    def flop(self) -> Numbers:
        """Training compute, 6ND."""
        return TRAINING_FLOP_PER_PARAM_TOKEN * self.n_params * self.n_tokens

    @property
    def tokens_per_param(self) -> Numbers:
        """D/N."""
        return self.n_tokens / self.n_params

    @property
    def epochs(self) -> Numbers:
        """How often each unique token is seen; 1 where data is not limited."""
        return scalar(np.maximum(self.n_tokens / self.unique_tokens, 1.0))

    def lifetime_flop(self, inference_tokens: Numbers) -> Numbers:
        """Training and serving compute, 6ND + 2N D_inf."""
        return self.n_params * (
            TRAINING_FLOP_PER_PARAM_TOKEN * self.n_tokens + SERVING_FLOP_PER_PARAM_TOKEN * inference_tokens
        )


def loss_of(split: Split) -> Numbers:
    """The loss of a split; a ValueError where its law predicts none."""
    if split.loss is None:
        raise ValueError("This split comes from a law that gives the best size but no loss.")
    return split.loss


def optimal_split(
    law: Law, *, flop: Numbers, inference_tokens: Numbers = 0.0, unique_tokens: Numbers = np.inf
) -> Split:
    """Model size and data that reach the lowest loss for a compute budget, which also pays for serving.

    Alone, N = G (C/6)^a and D = (C/6)^b / G, with a = beta/(alpha+beta), b = alpha/(alpha+beta).
    Hoffmann et al. 2022 (arXiv:2203.15556), eq. 4. With `inference_tokens` or a limit of `unique_tokens` the loss is
    minimised along 6ND + 2N D_inf = C.

    >>> from costkit.scaling import law
    >>> from costkit.units import count
    >>> split = optimal_split(law("besiroglu-2024"), flop=5.76e23)
    >>> count(split.n_params), count(split.n_tokens)
    ('72.2B', '1.33T')
    >>> limited = optimal_split(law("muennighoff-2023"), flop=1e24, unique_tokens=1e11)
    >>> count(limited.n_params), round(limited.epochs, 1)
    ('61.3B', 27.2)
    """
    require_law(law)
    require_each(flop=flop)
    require_not_negative(inference_tokens, "inference_tokens", "tokens")
    require_limit(unique_tokens)
    if np.any(np.asarray(flop) <= SERVING_FLOP_PER_PARAM_TOKEN * np.asarray(inference_tokens)):
        raise ValueError(
            "The budget is too small: serving this many tokens costs more than all of it, "
            "even with a model of one parameter."
        )
    alone = np.all(np.asarray(inference_tokens) == 0) and np.all(np.isinf(unique_tokens))
    if isinstance(law, FrontierLaw):
        if not alone:
            predicting(law)
        return _frontier_split(law, flop)
    N, D = _closed_split(law, flop) if alone else _searched_split(law, flop, inference_tokens, unique_tokens)
    found = loss(law, n_params=N, n_tokens=D, unique_tokens=unique_tokens)
    return Split(N, D, found, scalar(unique_tokens))


def _closed_split(law: ScalingLaw, C: Numbers) -> tuple[Numbers, Numbers]:
    G, a, b = optimum_shape(law)
    return scalar(G * (C / 6) ** a), scalar((C / 6) ** b / G)


def _frontier_split(law: FrontierLaw, C: Numbers) -> Split:
    found = law.coefficient * (C / law.flop_unit) ** law.exponent
    other = C / TRAINING_FLOP_PER_PARAM_TOKEN / found
    return Split(found, other) if law.of == "n_params" else Split(other, found)


def _searched_split(law: ScalingLaw, flop: Numbers, served: Numbers, unique: Numbers) -> tuple[Numbers, Numbers]:
    law, C, D_inf, U = with_search_axis(law, flop, served, unique)

    def size(log_tokens: Array) -> Array:
        return np.asarray(C / (6 * np.exp(log_tokens) + 2 * D_inf))

    def objective(log_tokens: Array) -> Array:
        N, D = effective(law, size(log_tokens), np.exp(log_tokens), U)
        return np.asarray(law.A / N**law.alpha + law.B / D**law.beta)

    one_param = np.log((C - 2 * D_inf) / 6)
    best = _argmin_beside(np.log(U), objective, low=np.minimum(0.0, one_param - 1.0), high=one_param)
    return scalar(size(best)[..., 0]), scalar(np.exp(best)[..., 0])


def _argmin_beside(edge: Array, objective: Callable[[Array], Array], *, low: Array, high: Array) -> Array:
    """`argmin` on either side of the tokens at which repetition begins, where the objective may jump."""
    if np.all(np.isinf(edge)):
        return argmin(objective, low=low, high=high)
    middle = np.clip(edge, low, high)
    once, again = argmin(objective, low=low, high=middle), argmin(objective, low=middle, high=high)
    return np.where(objective(once) <= objective(again), once, again)


def cheapest_for_loss(
    law: Law, *, loss: Numbers, inference_tokens: Numbers = 0.0, unique_tokens: Numbers = np.inf
) -> Split:
    """The split that reaches a loss with the least compute for training and serving together.

    Minimises 6ND + 2N D_inf subject to L(N, D) = l. Sardana et al. 2024 (arXiv:2401.00448), eq. 4 and 12, here also
    under a limit of unique tokens. A loss that cannot be reached raises a ValueError that names the floor.

    >>> from costkit.scaling import law
    >>> from costkit.units import count
    >>> split = cheapest_for_loss(law("sardana-2024"), loss=1.947, inference_tokens=2e12)
    >>> count(split.n_params), count(split.n_tokens)
    ('24.2B', '2.66T')
    """
    law = predicting(law)
    require_each(loss=loss)
    require_not_negative(inference_tokens, "inference_tokens", "tokens")
    require_limit(unique_tokens)
    require_reachable(law, loss, unique_tokens)
    if np.all(np.asarray(inference_tokens) == 0) and np.all(np.isinf(unique_tokens)):
        N, D = _closed_split(law, flop_for_loss(law, loss=loss))
    else:
        target = above_floor(law, loss, unique_tokens=unique_tokens)
        N, D = _searched_cheapest(law, target, inference_tokens, unique_tokens)
    return Split(N, D, loss, scalar(unique_tokens))


def flop_for_loss(law: Law, *, loss: Numbers) -> Numbers:
    """The least training compute that reaches a loss, without a limit of data: the inverse of the optimal loss.

    L*(C) = E + K (C/6)^(-alpha beta / (alpha + beta)) with K = A G^-alpha + B G^beta.

    >>> from costkit.scaling import law
    >>> "%.3e" % flop_for_loss(law("besiroglu-2024"), loss=1.974441)
    '5.760e+23'
    """
    law = predicting(law)
    require_each(loss=loss)
    require_reachable(law, loss, np.inf)
    G, a, _ = optimum_shape(law)
    K = law.A * G**-law.alpha + law.B * G**law.beta
    return scalar(6 * ((loss - law.E) / K) ** (-1 / (law.alpha * a)))


def _searched_cheapest(law: ScalingLaw, target: Numbers, served: Numbers, unique: Numbers) -> tuple[Numbers, Numbers]:
    law, L, D_inf, U = with_search_axis(law, target, served, unique)

    def objective(log_tokens: Array) -> Array:
        D = np.exp(log_tokens)
        return np.asarray(np.log(_size_for_loss(law, D, L, U)) + np.log(6 * D + 2 * D_inf))

    low = np.log(_least_tokens(law, L, U))
    D = np.exp(_argmin_beside(np.log(U), objective, low=low, high=low + _MAX_LOG_FACTOR))
    return scalar(np.asarray(_size_for_loss(law, D, L, U))[..., 0]), scalar(D[..., 0])


def _least_tokens(law: ScalingLaw, L: Numbers, U: Numbers) -> Numbers:
    """The tokens below which not even an infinite model reaches a loss."""
    enough = (law.B / (L - law.E)) ** (1 / law.beta)
    return enough if np.all(np.isinf(U)) else undecayed(enough, U, law.repeat_decay_tokens)


def _size_for_loss(law: ScalingLaw, D: Numbers, L: Numbers, U: Numbers) -> Numbers:
    """The size that reaches a loss on `D` tokens; infinite where none does."""
    limited = not np.all(np.isinf(U))
    D_eff = decayed(D, np.minimum(U, D), law.repeat_decay_tokens) if limited else D
    room = L - law.E - law.B / D_eff**law.beta
    with np.errstate(divide="ignore", invalid="ignore"):
        N = np.where(room > 0, (law.A / np.maximum(room, 0.0)) ** (1 / law.alpha), np.inf)
        return undecayed(N, usable_params(law, D, U), law.repeat_decay_params) if limited else N


def params_for_loss(law: Law, *, n_tokens: Numbers, loss: Numbers, unique_tokens: Numbers = np.inf) -> Numbers:
    """The size of the model that reaches a loss on this many tokens; infinite where none does.

    >>> from costkit.scaling import law
    >>> "%.4g" % params_for_loss(law("sardana-2024"), n_tokens=1e12, loss=1.9472727897)
    '7e+10'
    """
    law = predicting(law)
    require_each(n_tokens=n_tokens, loss=loss)
    require_limit(unique_tokens)
    return scalar(_size_for_loss(law, n_tokens, loss, unique_tokens))


def split_for_params(law: Law, *, n_params: Numbers) -> Split:
    """The number of tokens for which a model of this size is compute-optimal.

    >>> from costkit.scaling import law
    >>> from costkit.units import count
    >>> count(split_for_params(law("20-tokens-per-parameter"), n_params=70e9).n_tokens)
    '1.40T'
    """
    require_law(law)
    require_each(n_params=n_params)
    if isinstance(law, FrontierLaw):
        return _frontier_split(law, _frontier_inverse(law, n_params, of="n_params"))
    G, a, b = optimum_shape(law)
    D = scalar((n_params / G) ** (b / a) / G)
    return Split(n_params, D, loss(law, n_params=n_params, n_tokens=D))


def split_for_tokens(law: Law, *, n_tokens: Numbers) -> Split:
    """The model size for which this number of tokens is compute-optimal.

    >>> from costkit.scaling import law
    >>> from costkit.units import count
    >>> count(split_for_tokens(law("besiroglu-2024"), n_tokens=1.3287e12).n_params)
    '72.2B'
    """
    require_law(law)
    require_each(n_tokens=n_tokens)
    if isinstance(law, FrontierLaw):
        return _frontier_split(law, _frontier_inverse(law, n_tokens, of="n_tokens"))
    N = scalar(size_for_tokens(law, n_tokens))
    return Split(N, n_tokens, loss(law, n_params=N, n_tokens=n_tokens))


def _frontier_inverse(law: FrontierLaw, amount: Numbers, *, of: str) -> Numbers:
    """The compute at which the law's N or D takes this value."""
    k, c, unit = law.coefficient, law.exponent, law.flop_unit
    if of == law.of:
        return unit * (amount / k) ** (1 / c)
    return scalar((TRAINING_FLOP_PER_PARAM_TOKEN * amount * k / unit**c) ** (1 / (1 - c)))


def tokens_for_loss(law: Law, *, n_params: Numbers, loss: Numbers, unique_tokens: Numbers = np.inf) -> Numbers:
    """The fewest tokens with which a model of this size reaches a loss; infinite where it never does.

    >>> from costkit.scaling import law
    >>> "%.4g" % tokens_for_loss(law("sardana-2024"), n_params=70e9, loss=1.9472727897)
    '1e+12'
    """
    law = predicting(law)
    require_each(n_params=n_params, loss=loss)
    require_limit(unique_tokens)
    room = np.asarray(loss - law.E - law.A / np.asarray(n_params, float) ** law.alpha, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        once = np.where(room > 0, (law.B / np.maximum(room, 0.0)) ** (1 / law.beta), np.inf)
    if np.all(np.isinf(unique_tokens)):
        return scalar(once)
    again = _tokens_by_bisection(law, n_params, loss, unique_tokens)
    limit = np.asarray(unique_tokens, float)  # a hair beyond it, parameters that the data can't use would count less
    return scalar(np.where(once <= limit * (1 + 1e-12), np.minimum(once, limit), again))


def _tokens_by_bisection(law: ScalingLaw, N: Numbers, L: Numbers, U: Numbers) -> Numbers:
    """The tokens, repeated ones, at which `_size_for_loss`, which falls with tokens, meets `N`."""
    floor = np.asarray(lowest_loss(law, unique_tokens=U))
    possible = np.asarray(floor < L)
    L = np.where(possible, L, floor + 1.0)
    low = np.log(np.maximum(_least_tokens(law, L, U), U)) + np.zeros(np.shape(N))
    high = low + _MAX_LOG_FACTOR
    possible = possible & (_size_for_loss(law, np.exp(high), L, U) < N)
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2
        too_few = _size_for_loss(law, np.exp(middle), L, U) > N
        low, high = np.where(too_few, middle, low), np.where(too_few, high, middle)
    return np.where(possible, np.exp(high), np.inf)
