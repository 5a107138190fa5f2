"""How are several things chosen and put in order by hand? A box to type in, tags to drag, a tick box for each.

- The value is the names with commas between them; `none` where nothing is ticked.
- Names are typed in the box alone: that of the tags has no label, and in JupyterLab nothing follows from its Enter.
- An empty value is the plan's own choice, of which the box tells; it ticks nothing, and the first tick takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import ipywidgets as widgets

from costkit.panels import typed
from costkit.panels.boxes import boxed
from costkit.panels.controls import Changed, Control
from costkit.panels.turns import in_turn
from costkit.plan import Field
from costkit.plan.lists import NONE, names


class OrderControl(Control):
    """A typed line of names, the same as tags, and tick boxes; `labels` are what a tick box is called, by name."""

    def __init__(self, field: Field, value: Any, changed: Changed, labels: Mapping[str, str]) -> None:
        known = list(field.choices)
        self.box = widgets.Text(description=typed.label(field), tooltip=field.help, continuous_update=False)
        self.tags = widgets.TagsInput(allowed_tags=known, allow_duplicates=False, tooltip="Drag into order")
        self.boxes = {
            name: widgets.Checkbox(description=labels.get(name, name), indent=False, tooltip=name) for name in known
        }
        ticks = boxed(widgets.Box, "ticks", list(self.boxes.values()))
        super().__init__(field, value, changed, [self.box, self.tags, ticks])
        self.add_class("costkit-order")
        self.box.observe(in_turn(self._typed), "value")
        self.tags.observe(in_turn(self._dragged), "value")
        for name, box in self.boxes.items():
            box.observe(in_turn(partial(self._ticked, name)), "value")

    def _show(self, value: Any) -> None:
        chosen = self._chosen(str(value or ""))
        self.box.value = str(value or "")
        self.box.placeholder = "all that pays, the least effort first"
        self.tags.value = chosen
        for name, box in self.boxes.items():
            box.value = name in chosen

    def _chosen(self, text: str) -> list[str]:
        """The names that a value stands for, those that there are not left out."""
        return [name for name in dict.fromkeys(names(text)) if name in self.boxes]

    def _typed(self, change: Mapping[str, Any]) -> None:
        if not self._quiet:
            self.edit(change["new"].strip())

    def _dragged(self, change: Mapping[str, Any]) -> None:
        if not self._quiet:
            self.edit(", ".join(change["new"]) or NONE)

    def _ticked(self, name: str, change: Mapping[str, Any]) -> None:
        """Put a name at the end, or take it out."""
        if self._quiet:
            return
        others = [one for one in self.tags.value if one != name]
        self.edit(", ".join([*others, name] if change["new"] else others) or NONE)
