"""Given one of budget, size, tokens or loss, what is the rest? And which real architecture is that?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit import architectures, scaling, training
from costkit.plan.reached import run_of
from costkit.plan.sizing.answer import TOLERANCE, Frontier, split_at
from costkit.units import count

_STEPS_UP = (1.0, 1.02, 1.05, 1.1)


@dataclass(frozen=True)
class Way:
    """One question and its answer: the split, and the hours and dollars of training it."""

    question: str
    split: scaling.Split
    run: training.Run


def ways(answer: Frontier) -> list[Way]:
    """The plan as it is; then its budget, size, tokens and loss, each held while the rest becomes the best for it.

    Size and tokens are held for training alone, and meet the plan's limit of data like all the others.

    >>> from costkit import plan
    >>> [way.question for way in ways(plan.frontier(plan.read("case-50k")))][:2]
    ['the plan as it is', 'its budget, best split']
    """
    law, N, D = answer.law, float(answer.planned.n_params), answer.plan.data.n_tokens
    if answer.plan.model.pretrained:
        return [Way("the plan as it is", answer.planned, answer.planned_run)]
    goal = "its budget" if answer.plan.training.target_loss is None else "its target loss"
    for_size, for_tokens = scaling.split_for_params(law, n_params=N), scaling.split_for_tokens(law, n_tokens=D)
    splits = {
        "the plan as it is": answer.planned,
        f"{goal}, best split": answer.optimum,
        "its size, best tokens for it": split_at(law, N, for_size.n_tokens, answer.demand),
        "its tokens, best size for them": split_at(law, for_tokens.n_params, D, answer.demand),
    }
    if answer.planned.loss is not None:
        splits["its loss, least cost"] = scaling.cheapest_for_loss(
            law, loss=answer.planned.loss, **answer.demand.limits
        )
    return [Way(question, split, run_of(answer.plan, float(split.flop))) for question, split in splits.items()]


@dataclass(frozen=True)
class Snapped:
    """A real architecture of about the chosen size, and the tokens that give it the same quality."""

    architecture: architectures.Architecture
    split: scaling.Split
    flop_per_token: float

    @property
    def sentence(self) -> str:
        """The shape in words, and the tokens that it takes."""
        shape, tokens = self.architecture, count(float(self.split.n_tokens))
        built = f"{shape.n_layers} layers of width {shape.hidden:,} with {shape.n_heads} heads of {shape.head_dim}"
        return f"{shape.name}, {built}, has {shape.n_params:,} parameters and takes {tokens} tokens."

    @property
    def attention_overhead_fraction(self) -> float:
        """What the architecture's own count of FLOP a token has over 6N."""
        return self.flop_per_token / scaling.TRAINING_FLOP_PER_PARAM_TOKEN / float(self.split.n_params) - 1


def snapped(answer: Frontier) -> Snapped:
    """A real architecture of the chosen size: integer layers, width and heads, and the tokens for the same quality.

    Where the nearest shape is too small ever to reach the loss, the next larger ones are tried.

    >>> from costkit import plan
    >>> found = plan.sizing.snapped(plan.frontier(plan.read("case-50k")))
    >>> found.architecture.n_params == found.split.n_params
    True
    """
    wanted = float(answer.choice.n_params)
    own = answer.plan.target_architecture if _is_planned_size(answer) else None
    shapes = [own] if own else [architectures.of_size(wanted * step) for step in _STEPS_UP]
    splits = [_of_shape(answer, shape) for shape in shapes]
    shape, split = next(
        (pair for pair in zip(shapes, splits, strict=True) if np.isfinite(pair[1].n_tokens)), (shapes[-1], splits[-1])
    )
    return Snapped(shape, split, float(shape.flop_per_token(answer.plan.training.seq_len)))


def _of_shape(answer: Frontier, shape: architectures.Architecture) -> scaling.Split:
    N, unique = float(shape.n_params), answer.demand.unique_tokens
    if answer.quality is None:
        return scaling.Split(N, float(answer.choice.flop) / scaling.TRAINING_FLOP_PER_PARAM_TOKEN / N)
    D = scaling.tokens_for_loss(answer.law, n_params=N, loss=answer.quality.loss, unique_tokens=unique)
    return scaling.Split(N, D, answer.quality.loss, unique)


def _is_planned_size(answer: Frontier) -> bool:
    return abs(float(answer.choice.n_params) / float(answer.planned.n_params) - 1) < TOLERANCE
