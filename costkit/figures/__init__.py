"""What does the answer look like? One function per picture: a result in, a matplotlib `Figure` out.

- A figure's `get_label()` is its alternative text: one sentence that says what the picture shows.
- `png(figure)` and `svg(figure)` give the same bytes for the same figure, every time.
- A notebook shows through `show(figure)`, `Table(rows, name)` and `Said(sentence)`; a report reads what these leave.

matplotlib loads with the first name that is used, not with `import costkit`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costkit.figures.inputs import inputs_table as inputs_table
    from costkit.figures.shown import Said as Said
    from costkit.figures.shown import Shown as Shown
    from costkit.figures.shown import Table as Table
    from costkit.figures.shown import png as png
    from costkit.figures.shown import show as show
    from costkit.figures.shown import svg as svg

_SHOWN = ("Said", "Shown", "Table", "png", "show", "svg")
_MODULES = ("buying", "costing", "fitting", "frontier", "layers", "ledger", "replanning", "shown", "style")

__all__ = ["Said", "Shown", "Table", "inputs_table", "png", "show", "svg"]


def __getattr__(name: str) -> Any:
    if name in _SHOWN:
        return getattr(import_module("costkit.figures.shown"), name)
    if name == "inputs_table":
        return import_module("costkit.figures.inputs").inputs_table
    if name in _MODULES:
        return import_module(f"costkit.figures.{name}")
    raise AttributeError(f"module 'costkit.figures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
