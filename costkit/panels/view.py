"""What does a panel show of a plan? A sentence, the key numbers, one picture, and the rows behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from costkit.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class View:
    """The answer to one plan; the figure's label is its alternative text, `notes` are what to know before using it.

    `places` keeps a place for facts that come and go, in order, and says how many of six columns each takes.
    """

    headline: str
    facts: tuple[tuple[str, str], ...]
    figure: Figure
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)


ViewFunction = Callable[[Plan], View]
