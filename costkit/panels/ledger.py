"""Which claims are how far off? The ledger under the reader's hands: sorted, filtered by verdict, searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from costkit import claims, figures
from costkit.claims import Checked
from costkit.panels import boxes, pieces
from costkit.panels.turns import in_turn

_ALL = "all"
ORDERS: Mapping[str, Callable[[Sequence[Checked]], list[Checked]]] = {
    "how far off": claims.by_off,
    "source": lambda found: sorted(found, key=lambda one: (one.source, one.id)),
    "topic": lambda found: sorted(found, key=lambda one: (one.topic, one.id)),
    "name": lambda found: sorted(found, key=lambda one: one.id),
}


class Ledger(widgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A table of claims with an order, a verdict and a word to choose by; `shown` are those in the table."""

    def __init__(self, checks: Sequence[Checked]) -> None:
        super().__init__()
        self._checks = list(checks)
        self.shown: list[Checked] = []
        self.order = widgets.Dropdown(description="Sort by", options=list(ORDERS))
        self.verdict = widgets.Dropdown(description="Verdict", options=[_ALL, *reversed(claims.VERDICTS)])
        self.search = widgets.Text(description="Search", continuous_update=False, placeholder="a word of the claim")
        self.words, self.table = widgets.HTML(), widgets.HTML()
        row = boxes.boxed(widgets.HBox, "row", [self.order, self.verdict, self.search])
        self.words.add_class("costkit-tally")
        self.table.add_class("costkit-ledger")
        style = widgets.HTML(pieces.STYLE, layout=widgets.Layout(display="none"))
        self.children = [style, row, self.words, self.table]
        self.add_class("costkit-panel")
        for control in (self.order, self.verdict, self.search):
            control.observe(in_turn(self._changed), "value")
        self._draw()

    def __repr__(self) -> str:
        return f"Ledger: {claims.tally(self.shown)}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The widget, and for a page without widgets its sentence."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": repr(self)}

    def _changed(self, _: Mapping[str, Any]) -> None:
        self._draw()

    @in_turn
    def _draw(self) -> None:
        word, verdict = self.search.value.strip().casefold(), self.verdict.value
        chosen = [one for one in self._checks if verdict in (_ALL, one.verdict) and word in _text(one)]
        self.shown = ORDERS[self.order.value](chosen)
        told = claims.tally(self.shown) if self.shown else "No claim is like that."
        self.words.value = pieces.answer(told, [])
        self.table.value = figures.ledger.table(self.shown)._repr_html_() if self.shown else ""


def _text(one: Checked) -> str:
    return f"{one.id} {one.what} {one.why} {one.source} {one.topic} {one.unit}".casefold()
