"""How is one value of a plan set by hand? A label, and a slider with a typed box, a list or a text box.

- A control holds the value it shows; `put` shows another one quietly, `edit` shows it and reports it.
- Text that is no value stays in its box with the sentence in `problem`; the value is then still the last good one.
- The typed box carries the label, as an HTML label of its own, because a slider's handle can carry no name.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import ipywidgets as widgets

from costkit.panels import stops, typed
from costkit.panels.turns import in_turn
from costkit.plan import Field

Changed = Callable[["Control"], None]
_YES_NO = {True: "yes", False: "no"}
_UNSET = "not set"
_LONGEST_QUOTED = 40


class Control(widgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """One field of the plan under the reader's hands; the kinds of it differ in how they show and read a value."""

    def __init__(self, field: Field, value: Any, changed: Changed, parts: list[Any]) -> None:
        super().__init__(parts)
        self.field, self.problem, self._changed, self._quiet = field, "", changed, False
        self.add_class("costkit-control")
        self.put(value)

    @property
    def value(self) -> Any:
        """The value that the control stands for; setting it is an edit."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self.edit(value)

    @in_turn
    def edit(self, value: Any) -> None:
        """Show the value and report it, as if it came from the reader's hand."""
        self.put(value)
        self._changed(self)

    def put(self, value: Any) -> None:
        """Show the value and report nothing."""
        self._value = value
        self.accept()
        with self._quietly():
            self._show(value)

    def accept(self) -> None:
        """Take back a refusal."""
        self.problem = ""
        self.remove_class("costkit-refused")

    def refuse(self, sentence: str = "") -> None:
        """Mark the value as one that cannot be used; a sentence says that the text is no value at all."""
        self.problem = sentence
        self.add_class("costkit-refused")

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before


class NumberControl(Control):
    """A slider over the field's stops, and a box that takes a number as people type it."""

    def __init__(self, field: Field, value: Any, changed: Changed) -> None:
        label = typed.label(field)
        self.stops: tuple[float, ...] = stops.stops(field, value)
        self.slider = widgets.IntSlider(min=0, max=len(self.stops) - 1, readout=False, tooltip=label)
        self.box = widgets.Text(description=label, tooltip=field.help, continuous_update=False, placeholder=_UNSET)
        super().__init__(field, value, changed, [self.slider, self.box])
        self.slider.observe(in_turn(self._slid), "value")
        self.box.observe(in_turn(self._typed), "value")

    @in_turn
    def edit(self, value: Any) -> None:
        """Show the value and report it; text is read as typed, and stays where it is no number."""
        try:
            number = value if value is None else _within(_number(value, self.field), self.field, given=value)
        except ValueError as error:
            with self._quietly():
                self.box.value = str(value)
            self.refuse(str(error))
            self._changed(self)
        else:
            super().edit(number)

    def _show(self, value: Any) -> None:
        self.stops = stops.stops(self.field, value)
        with self.slider.hold_sync(), self.slider.hold_trait_notifications():
            self.slider.max = len(self.stops) - 1
            self.slider.value = stops.nearest(self.stops, value)
        self.box.value = typed.shown(value, self.field)

    def _slid(self, change: dict[str, Any]) -> None:
        if self._quiet:
            return
        stop = min(change["new"], len(self.stops) - 1)  # the stops may be others since it was moved
        self._value = self.stops[stop]
        self.accept()
        with self._quietly():
            self.slider.value = stop
            self.box.value = typed.shown(self._value, self.field)
        self._changed(self)

    def _typed(self, change: dict[str, Any]) -> None:
        if not self._quiet:
            self.edit(change["new"])


class ListControl(Control):
    """A list of names to choose from; yes and no for a flag."""

    def __init__(self, field: Field, value: Any, changed: Changed) -> None:
        self.box = widgets.Dropdown(description=typed.label(field), tooltip=field.help)
        self._known: list[Any] = []
        super().__init__(field, value, changed, [self.box])
        self.box.observe(in_turn(self._chosen), "index")

    def _show(self, value: Any) -> None:
        known = [False, True] if self.field.kind == "bool" else list(self.field.choices)
        known = [None, *known] if self.field.optional else known
        known = known if value in known else [*known, value]
        with self.box.hold_sync():
            if known != self._known:
                self._known = known
                self.box.options = [_named(option) for option in known]
            self.box.index = known.index(value)

    def _chosen(self, change: dict[str, Any]) -> None:
        if not self._quiet and change["new"] is not None:
            self.edit(self._known[change["new"]])


class TextControl(Control):
    """A box for free text, with the usual values as suggestions."""

    def __init__(self, field: Field, value: Any, changed: Changed) -> None:
        about = {"description": typed.label(field), "tooltip": field.help, "continuous_update": False}
        self.box = widgets.Combobox(options=field.choices, **about) if field.choices else widgets.Text(**about)
        super().__init__(field, value, changed, [self.box])
        self.add_class("costkit-wide")
        self.box.observe(in_turn(self._typed), "value")

    def _show(self, value: Any) -> None:
        self.box.value = "" if value is None else str(value)

    def _typed(self, change: dict[str, Any]) -> None:
        if not self._quiet:
            self.edit(change["new"].strip() or (None if self.field.optional else ""))


def _number(value: Any, field: Field) -> float | None:
    """The value as a number: as it is where it is one, read where it is text."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            size = float(value)
            return int(value) if isinstance(value, numbers.Integral) else size
    return typed.parsed(str(value), field)


def _within(number: float | None, field: Field, *, given: Any) -> float | None:
    """The number where a plan may have it, or a ValueError that says in the box's own words what it may have."""
    if number is None or field.least is None or field.most is None or field.least <= number <= field.most:
        return number
    if number == math.inf and stops.has_unlimited_stop(field):
        return number
    words = f"'{given.strip()}'" if isinstance(given, str) and len(given) <= _LONGEST_QUOTED else f"{number:g}"
    limits = f"from {_limit(field.least, field)} to {_limit(field.most, field)}"
    unlimited = " or unlimited" if stops.has_unlimited_stop(field) else ""
    raise ValueError(f"{field.label} must be {limits}{unlimited}, not {words}.")


def _limit(number: float, field: Field) -> str:
    return "0" if number == 0 and field.scale == "log" else typed.shown(number, field)


def in_labels(sentence: str, fields: Mapping[str, Field]) -> str:
    """The sentence with the labels of these fields where it names their keys; what is quoted to be copied stays.

    >>> from costkit import plan
    >>> fields = {"hardware.n_gpus": plan.fields()["hardware.n_gpus"]}
    >>> in_labels('hardware.n_gpus must be whole: {"hardware.n_gpus": 8}', fields)
    'GPUs must be whole: {"hardware.n_gpus": 8}'
    """
    for key, field in fields.items():
        sentence = field.label.join(re.split(rf"(?<![\w.\"'`]){re.escape(key)}(?!\.?\w|[\"'`])", sentence))
    return sentence


def _named(option: Any) -> str:
    return _UNSET if option is None else _YES_NO[option] if isinstance(option, bool) else str(option)
