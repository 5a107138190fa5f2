"""What was assumed? The inputs of a plan as a table: value, unit, basis, source, date."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from costkit.figures.shown import Table
from costkit.plan import Input, Plan, inputs


def inputs_table(plan: Plan, *parts: str) -> Table:
    """The effective inputs of a plan, or of some of its sections and keys only, in that order.

    >>> from costkit import plan
    >>> print(inputs_table(plan.read("case-50k"), "market.purchase"))
    Input     Value      Basis      Source                               As of  Note  Key
    Purchase  on_demand  published  Training Cost Optimization (lesson)                market.purchase
    """
    places = [(_place(row.key, parts), row) for row in inputs(plan)]
    found = [row for place, row in sorted(places, key=lambda placed: placed[0] or 0) if place is not None]
    columns = {
        "label": "Input",
        "shown": "Value",
        "basis": "Basis",
        "source": "Source",
        "as_of": "As of",
        "note": "Note",
        "key": "Key",
    }
    return Table([_row(plan, row) for row in found], "inputs", caption="What the answer rests on", columns=columns)


def _place(key: str, parts: Sequence[str]) -> int | None:
    """Where the first part stands that is the key or its section; None where none is."""
    if not parts:
        return 0
    return next((place for place, part in enumerate(parts) if part in (key, key.partition(".")[0])), None)


def _row(plan: Plan, row: Input) -> dict[str, object]:
    unit = row.unit.removesuffix("s") if row.value_text == "1" else row.unit
    shown = f"{row.value_text} {unit}".strip()
    return {**dataclasses.asdict(row), "value": plan.value(row.key), "shown": shown}
