"""How large may a batch be? The trade between steps and tokens around the critical batch.

- For one loss: (S / S_min - 1) (E / E_min - 1) = 1, with S optimizer steps and E examples, here tokens. At the critical
  batch both are twice their least (McCandlish et al. 2018, arXiv:1812.06162, section 2.3; Kaplan et al. 2020, eq. 5.1).
- The critical batch is an order of magnitude: it differs between data sets and optimizers, and rises during a run.
"""

from __future__ import annotations

from costkit import tables
from costkit.training.runs import Numbers
from costkit.units import require_positive

_DEFAULT_LAW = "kaplan-2020"


def tokens_factor(*, batch_tokens: Numbers, critical_batch_tokens: Numbers) -> Numbers:
    """Tokens that a run needs at a batch, over the fewest that reach its loss: 1 + B / B_c.

    McCandlish et al. 2018 (arXiv:1812.06162), section 2.3.

    >>> tokens_factor(batch_tokens=5e5, critical_batch_tokens=1e6)
    1.5
    """
    _check(batch_tokens, critical_batch_tokens)
    return 1 + batch_tokens / critical_batch_tokens


def steps_factor(*, batch_tokens: Numbers, critical_batch_tokens: Numbers) -> Numbers:
    """Optimizer steps that a run needs at a batch, over the fewest that reach its loss: 1 + B_c / B.

    McCandlish et al. 2018 (arXiv:1812.06162), section 2.3: it and `tokens_factor`, each less 1, multiply to 1.

    >>> steps_factor(batch_tokens=5e5, critical_batch_tokens=1e6)
    3.0
    """
    _check(batch_tokens, critical_batch_tokens)
    return 1 + critical_batch_tokens / batch_tokens


def critical_batch_tokens(loss: Numbers, *, law: str = _DEFAULT_LAW) -> Numbers:
    """The batch at which a run that stands at a loss needs twice its fewest tokens and twice its fewest steps.

    B_c = B* / L^(1 / alpha_B), L in nats a token; Kaplan et al. 2020 (arXiv:2001.08361), eq. 5.3. The coefficients are
    those of the paper's data and vocabulary of 50,257.

    Args:
        loss: Cross-entropy in nats a token, now or at the end.
        law: A name of critical_batch.csv.

    Raises:
        ValueError: The loss is not positive.
        UnknownName: No such law.

    >>> f"{critical_batch_tokens(3.0):.3g}"
    '1.07e+06'
    """
    require_positive(loss, "loss", "nats a token")
    row = tables.lookup("critical-batch law", law, {row["name"]: row for row in tables.rows("critical_batch.csv")})
    critical: Numbers = float(row["coefficient_tokens"]) * loss ** -float(row["exponent"])
    return critical


def _check(batch: Numbers, critical: Numbers) -> None:
    require_positive(batch, "batch_tokens", "tokens")
    require_positive(critical, "critical_batch_tokens", "tokens")
