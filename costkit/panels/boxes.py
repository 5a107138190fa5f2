"""How are widgets put together? Boxes with a role for the style, buttons, and parts that take no room while empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets


def boxed(box: Any, role: str, parts: list[Any]) -> Any:
    """The parts in a box of a kind, which the style knows by its role."""
    made = box(parts)
    made.add_class(f"costkit-{role}")
    return made


def button(label: str, method: Callable[[], object]) -> Any:
    """A button that does what one method does."""
    made = widgets.Button(description=label)
    made.on_click(lambda _: method())
    return made


def put(part: Any, text: str) -> None:
    """Show the text; an empty part takes no room."""
    part.value, part.layout.display = text, None if text else "none"
