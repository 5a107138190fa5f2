"""What is asked of a model besides its quality? Tokens to serve, and few different ones to train on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from costkit.plan.schema import Plan
from costkit.units import require_positive


class Limits(TypedDict):
    """The two as `scaling` asks for them."""

    inference_tokens: float
    unique_tokens: float


@dataclass(frozen=True)
class Demand:
    """Tokens served in a model's life, the price of a serving FLOP over a training FLOP, unique training tokens."""

    served_tokens: float = 0.0
    serving_cost_ratio: float = 1.0
    unique_tokens: float = np.inf

    def __post_init__(self) -> None:
        require_positive(self.serving_cost_ratio, "serving_cost_ratio", "times the price")

    @classmethod
    def of(cls, plan: Plan) -> Demand:
        """What a plan asks for."""
        data = plan.data
        return cls(data.inference_tokens, data.serving_cost_ratio, data.unique_tokens)

    @property
    def equivalent_tokens(self) -> float:
        """Served tokens as the number that costs the same at the price of a training FLOP."""
        return self.served_tokens * self.serving_cost_ratio

    @property
    def limits(self) -> Limits:
        """Keyword arguments of `scaling`'s solvers."""
        return Limits(inference_tokens=self.equivalent_tokens, unique_tokens=self.unique_tokens)

    @property
    def is_limited(self) -> bool:
        """Whether different training tokens can run out."""
        return bool(np.isfinite(self.unique_tokens))

    @property
    def is_none(self) -> bool:
        """Whether only training counts, on data without end."""
        return not self.served_tokens and not self.is_limited
