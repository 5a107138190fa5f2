"""Which control does a field get? One by its kind."""

from __future__ import annotations

from typing import Any

from costkit import levers
from costkit.panels.controls import Changed, Control, ListControl, NumberControl, TextControl
from costkit.panels.order import OrderControl
from costkit.plan import Field


def control(field: Field, value: Any, changed: Changed) -> Control:
    """The control for a field, by its kind."""
    if field.kind == "names":
        return OrderControl(field, value, changed, {name: one.label for name, one in levers.known().items()})
    kinds: dict[str, type[NumberControl | ListControl | TextControl]] = {
        "float": NumberControl,
        "int": NumberControl,
        "choice": ListControl,
        "bool": ListControl,
        "text": TextControl,
    }
    return kinds[field.kind](field, value, changed)
