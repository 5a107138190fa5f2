"""What is found of a lever in a plan? Its effects and what they rest on, or why it is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from costkit.levers import Effect

MODELLED, QUOTED, ASSUMED, COMPUTED = "modelled", "quotes", "assumed", "computed"


class NotOffered(Exception):
    """Why a lever is not there."""


@dataclass(frozen=True)
class Found:
    """What a lever does to the plan; `request` is what it changes of its memory, which may take more at once."""

    effects: list[Effect]
    basis: str
    told: str
    request: Mapping[str, Any] = field(default_factory=dict)
    price: str = ""
