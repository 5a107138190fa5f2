"""Which controls does a panel get? One a key, by the kind of its field; few, alone or side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from costkit import levers, tables
from costkit import plan as plans
from costkit.panels.controls import Changed, Control, ListControl, NumberControl, TextControl
from costkit.panels.order import OrderControl
from costkit.plan import Field, Plan

MOST_CONTROLS = 6

Group = tuple[str, ...]
"""Keys whose controls stand together."""


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


def groups(keys: Sequence[str | Group]) -> tuple[Group, ...]:
    """Every control as a group of keys, most of them of one."""
    return tuple((key,) if isinstance(key, str) else tuple(key) for key in keys)


def controls(plan: Plan, grouped: Sequence[Group], moved: Callable[[Control], None]) -> dict[str, Control]:
    """A control for each key, in the order asked for; a ValueError where they are too many, UnknownName for no key."""
    if len(grouped) > MOST_CONTROLS:
        raise ValueError(
            f"a panel has at most {MOST_CONTROLS} controls, not {len(grouped)}: leave out what matters least"
        )
    fields, keys = plans.fields(), [key for group in grouped for key in group]
    for key in keys:
        if key not in fields:
            raise tables.unknown("key of a plan", key, fields)
    return {key: control(fields[key], plan.value(key), moved) for key in keys}
