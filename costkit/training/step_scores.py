"""How well does the model of a step foretell what a change brings? Every measured speed-up that is described, scored.

- The optimizer, the exchange of gradients and launches are left out of both steps: few sources say what they were.
- How wide a predicted gain is comes from all changes together: no lever has enough rows of its own.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from costkit import levers
from costkit.architectures import Architecture
from costkit.training.steps import step_times
from costkit.units import Range

_CHANGES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "fp32 to tf32": {"precision": "tf32"},
        "fp32 to bf16": {"precision": "fp16-mixed"},
        "tf32 to bf16": {"precision": "fp16-mixed"},
        "bf16 to fp8": {"precision": "fp8-mixed"},
        "eager to flash": {"attention": "flash"},
        "eager to flash in fp32": {"attention": "flash"},
        "eager to compiled": {"kernels": "compiled"},
        "none to full recompute": {"checkpointing": "full"},
        "none to selective recompute": {"checkpointing": "selective"},
        "full to selective recompute": {"checkpointing": "selective"},
    }
)
_LEAST_FACTOR = 1.1
_PRECISIONS = {"fp32": "fp32", "tf32": "tf32", "bf16": "fp16-mixed"}


@dataclass(frozen=True)
class StepScore:
    """A measured speed-up and ours, or the reason why there is none."""

    evidence: levers.Evidence
    predicted: float | None
    why_not: str = ""

    @property
    def ratio(self) -> float | None:
        """Measured over predicted."""
        return None if self.predicted is None else self.evidence.factor.mid / self.predicted


@functools.cache
def step_scores() -> tuple[StepScore, ...]:
    """Every row of the evidence, the described ones recomputed.

    >>> scored = [one for one in step_scores() if one.predicted]
    >>> len(scored) > 20
    True
    """
    return tuple(_score(one) for one in levers.evidence())


def _score(one: levers.Evidence) -> StepScore:
    about = one.context
    if one.change not in _CHANGES:
        return StepScore(one, None, "not a change of one token's step")
    if not one.gpu:
        return StepScore(one, None, about["note"])
    if not about["n_layers"]:
        return StepScore(one, None, "its model or its sequences are not described")
    before = {
        "gpu": one.gpu,
        "seq_len": int(about["seq_len"]),
        "precision": _PRECISIONS[about["precision"]],
        "attention": about["attention"],
        "kernels": about["kernels"],
        "checkpointing": one.change.split(" ")[0] if one.change.endswith("recompute") else "none",
    }
    shape = _shape(about)
    return StepScore(one, _total(shape, before) / _total(shape, {**before, **_CHANGES[one.change]}))


def _total(shape: Architecture, how: Mapping[str, object]) -> float:
    return step_times(shape, **how).total_s  # type: ignore[arg-type]


def _shape(about: Mapping[str, str]) -> Architecture:
    n_layers, hidden, n_heads, ffn, vocab, seq_len = (
        int(about[name]) for name in ("n_layers", "hidden", "n_heads", "ffn", "vocab", "seq_len")
    )
    return Architecture(
        name=about["workload"],
        family="gpt2",
        n_layers=n_layers,
        hidden=hidden,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=hidden // n_heads,
        ffn=ffn,
        vocab=vocab,
        tied_embeddings=True,
        n_positions=seq_len,
    )


@functools.cache
def gain_band() -> Range:
    """Measured gain as a power of the predicted one, ln measured / ln predicted: 10th percentile, 1, 90th.

    Over all changes that were predicted to change a step by a tenth or more; the middle is the prediction itself.

    >>> gain_band().low < gain_band().mid < gain_band().high
    True
    """
    pairs = [(math.log(measured), math.log(predicted)) for measured, predicted in _predicted()]
    powers = [measured / predicted for measured, predicted in pairs if abs(predicted) >= math.log(_LEAST_FACTOR)]
    low, high = np.quantile(powers, [0.1, 0.9]).tolist()
    return Range(low, 1.0, high)


def step_scores_sentence() -> str:
    """How far off the model of a step is, in a sentence."""
    ratios = [measured / predicted for measured, predicted in _predicted()]
    factor = statistics.median(max(ratio, 1 / ratio) for ratio in ratios)
    band = gain_band()
    return (
        f"Of {len(step_scores())} measured speed-ups {len(ratios)} are described well enough to be predicted. At the"
        f" median the model of a step is off by a factor of {factor:.2f}; what was gained is, in eight of ten, the"
        f" predicted speed-up to the power of {band.low:.2f} to {band.high:.2f}."
    )


def _predicted() -> list[tuple[float, float]]:
    """What was measured and what we say, of every row that is described."""
    return [(one.evidence.factor.mid, one.predicted) for one in step_scores() if one.predicted is not None]
