"""What loss does a law predict? Its form with and without a limit of data, and the checks at the door.

- `unique_tokens` limits the data: what goes beyond is repeated and counts for less each time, and so do parameters that
  the unique data can't use (Muennighoff et al. 2023, arXiv:2305.16264, appendix A). Past 16 epochs it is untested.
- A limit that no token reaches changes nothing: the plain law holds there. The paper's form would let excess parameters
  decay without any repetition, against the law that it extends; where tokens repeat, it is taken as printed.
"""

from __future__ import annotations

import numpy as np

from costkit.scaling.laws import FrontierLaw, Law, Numbers, ScalingLaw
from costkit.units import numbers, require_positive

MAX_TESTED_EPOCHS = 16.0
"""Beyond this many epochs repeated tokens are worth little, and the fit of Muennighoff et al. left out what harmed."""

_RESOLUTION = 1e-9


def loss(law: Law, *, n_params: Numbers, n_tokens: Numbers, unique_tokens: Numbers = np.inf) -> Numbers:
    """Loss of a model of `n_params` after `n_tokens`, of which only `unique_tokens` are different ones.

    L = E + A / N^alpha + B / D^beta with N and D replaced by their effective values when data is limited.
    Hoffmann et al. 2022 (arXiv:2203.15556), eq. 2; Muennighoff et al. 2023 (arXiv:2305.16264), appendix A.

    >>> from costkit.scaling import law
    >>> round(loss(law("besiroglu-2024"), n_params=70e9, n_tokens=1.4e12), 4)
    1.9739
    >>> round(loss(law("muennighoff-2023"), n_params=6.34e9, n_tokens=242e9, unique_tokens=25e9), 10)
    2.225644089
    """
    law = predicting(law)
    require_each(n_params=n_params, n_tokens=n_tokens)
    require_limit(unique_tokens)
    N, D = effective(law, n_params, n_tokens, unique_tokens)
    return scalar(law.E + law.A / N**law.alpha + law.B / D**law.beta)


def effective(law: ScalingLaw, N: Numbers, D: Numbers, U: Numbers) -> tuple[Numbers, Numbers]:
    """N and D as the loss sees them when `U` unique tokens are repeated; equal to N and D where none is."""
    if np.all(np.isinf(U)):
        return N, D
    usable = np.minimum(N, usable_params(law, D, U))
    return decayed(N, usable, law.repeat_decay_params), decayed(D, np.minimum(U, D), law.repeat_decay_tokens)


def usable_params(law: ScalingLaw, D: Numbers, U: Numbers) -> Numbers:
    """The parameters that `U` unique tokens can use, beyond which they decay; no bound where no token is repeated."""
    return np.where(np.asarray(D) > U, size_for_tokens(law, np.minimum(U, D)), np.inf)


def decayed(amount: Numbers, unique: Numbers, decay: float) -> Numbers:
    """What an amount is worth when all beyond `unique` repeats: U + U R* (1 - exp(-R / R*)) with R = amount/U - 1."""
    repeats = np.maximum(amount / unique - 1.0, 0.0)
    return unique * (1.0 - decay * np.expm1(-repeats / decay))


def undecayed(effective: Numbers, unique: Numbers, decay: float) -> Numbers:
    """The amount whose decayed value is `effective`; infinite where repetition never gets there."""
    excess = np.maximum(effective / unique - 1.0, 0.0) / decay
    with np.errstate(divide="ignore"):
        repeats = np.where(excess < 1.0, -decay * np.log1p(-np.minimum(excess, 1.0)), np.inf)
    return np.where(effective <= unique, effective, unique * (1.0 + repeats))


def optimum_shape(law: ScalingLaw) -> tuple[Numbers, Numbers, Numbers]:
    """G, a and b of the closed-form optimum. Hoffmann et al. 2022, eq. 4."""
    A, B, alpha, beta = law.A, law.B, law.alpha, law.beta
    G = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    return G, beta / (alpha + beta), alpha / (alpha + beta)


def size_for_tokens(law: ScalingLaw, n_tokens: Numbers) -> Numbers:
    """The compute-optimal number of parameters for this many tokens: G (D G)^(beta/alpha)."""
    G, _, _ = optimum_shape(law)
    return G * (n_tokens * G) ** (law.beta / law.alpha)


def above_floor(
    law: Law, loss: Numbers, *, unique_tokens: Numbers = np.inf, margin_fraction: float = _RESOLUTION
) -> Numbers:
    """A loss that a split can reach: one computed at the floor itself, which no finite run reaches, moved just above.

    `margin_fraction` is how far above the floor at the least, as a fraction of it.

    >>> from costkit.scaling import law
    >>> above_floor(law("besiroglu-2024"), 1.8172) > lowest_loss(law("besiroglu-2024"))
    True
    """
    require_each(loss=loss)
    return scalar(np.maximum(loss, lowest_loss(law, unique_tokens=unique_tokens) * (1 + margin_fraction)))


def lowest_loss(law: Law, *, unique_tokens: Numbers = np.inf) -> Numbers:
    """The loss that no model falls below: E, or more where data is limited and repetition runs dry.

    >>> from costkit.scaling import law
    >>> lowest_loss(law("besiroglu-2024"))
    1.8172
    """
    law = predicting(law)
    require_limit(unique_tokens)
    if np.all(np.isinf(unique_tokens)):
        return law.E
    U = np.asarray(unique_tokens, float)
    D = U * (1 + law.repeat_decay_tokens)
    N = size_for_tokens(law, U) * (1 + law.repeat_decay_params)
    return scalar(law.E + law.A / N**law.alpha + law.B / D**law.beta)


def require_law(law: Law) -> None:
    """Refuse what is no law, a law's name above all."""
    if isinstance(law, ScalingLaw | FrontierLaw):
        return
    raise ValueError(f"Give the law itself, scaling.law(...), not {law!r:.60}.")


def predicting(law: Law) -> ScalingLaw:
    """The law, if it predicts a loss; else a ValueError with the way out."""
    require_law(law)
    if isinstance(law, ScalingLaw):
        return law
    raise ValueError(
        f"The law '{law.name}' gives the best size but no loss; for a loss, a limit of data or serving "
        f"take one that predicts loss, such as 'besiroglu-2024'."
    )


def require_each(**values: Numbers) -> None:
    """Refuse any value that is not positive and finite."""
    units = {"n_params": "parameters", "n_tokens": "tokens", "flop": "FLOP", "loss": "nats per token"}
    for what, value in values.items():
        require_positive(value, what, units.get(what, what.replace("_", " ")))


def require_limit(unique_tokens: Numbers) -> None:
    """Refuse a limit that is not positive; infinite means none."""
    if not np.all(numbers(unique_tokens) > 0):
        raise ValueError(
            f"unique_tokens must be a positive number of tokens, or infinite for no limit, not {unique_tokens!r}."
        )


def require_reachable(law: ScalingLaw, loss: Numbers, unique_tokens: Numbers) -> None:
    """Refuse a loss at or below the law's floor, and name the floor."""
    floor = lowest_loss(law, unique_tokens=unique_tokens)
    # What limited data can reach at best is computed by others too, so a loss equal to it is no mistake.
    lowest_allowed = floor if np.all(np.isinf(unique_tokens)) else np.asarray(floor) * (1 - 1e-9)
    if np.any(np.asarray(loss) <= lowest_allowed):
        lowest, asked = float(np.max(floor)), float(np.min(loss))
        limit = "" if np.all(np.isinf(unique_tokens)) else " with this much unique data, however often it is repeated"
        raise ValueError(
            f"A loss of {asked:.4g} {law.loss_unit} can't be reached under '{law.name}'{limit}: "
            f"its floor is {lowest:.4f}; ask for more than that."
        )


def scalar(value: Numbers) -> Numbers:
    """A plain float where the input was one, else the array."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
