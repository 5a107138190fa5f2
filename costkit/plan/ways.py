"""Given one of budget, size, tokens or loss, what is the rest? The questions a plan answers besides its own."""

from __future__ import annotations

from dataclasses import dataclass

from costkit import scaling, training
from costkit.plan.answer import Frontier, run_of


@dataclass(frozen=True)
class Way:
    """One question and its answer: the split, and the hours and dollars of training it."""

    question: str
    split: scaling.Split
    run: training.Run


def ways(answer: Frontier) -> list[Way]:
    """The plan as it is; then its budget, size, tokens and loss, each held while the rest becomes the best for it.

    Size and tokens are held for training alone; the budget and the loss under the plan's serving and limit of data.

    >>> from costkit import plan
    >>> [way.question for way in ways(plan.frontier(plan.read("case-50k")))][:2]
    ['the plan as it is', 'its budget, best split']
    """
    law, model, data = answer.law, answer.plan.model, answer.plan.data
    goal = "its budget" if answer.plan.training.target_loss is None else "its target loss"
    splits = {
        "the plan as it is": answer.planned,
        f"{goal}, best split": answer.optimum,
        "its size, best tokens for it": scaling.split_for_params(law, n_params=model.n_params),
        "its tokens, best size for them": scaling.split_for_tokens(law, n_tokens=data.n_tokens),
    }
    if answer.planned.loss is not None:
        splits["its loss, least cost"] = scaling.cheapest_for_loss(
            law,
            loss=answer.planned.loss,
            inference_tokens=answer.serving_tokens,
            unique_tokens=data.unique_tokens,
        )
    return [Way(question, split, run_of(answer.plan, float(split.flop))) for question, split in splits.items()]
