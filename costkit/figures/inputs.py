"""What was assumed? The inputs of a plan as a table: value, unit, basis, source, date."""

from __future__ import annotations

import dataclasses

from costkit.figures.shown import Table
from costkit.plan import Input, Plan, inputs


def inputs_table(plan: Plan, *sections: str) -> Table:
    """The effective inputs of a plan, or of some of its sections only.

    >>> from costkit import plan
    >>> print(inputs_table(plan.read("case-50k"), "market"))
    Input     Value      Basis      Source                               As of  Note  Key
    Purchase  on_demand  published  Training Cost Optimization (lesson)                market.purchase
    """
    found = [row for row in inputs(plan) if not sections or row.key.partition(".")[0] in sections]
    order = {section: place for place, section in enumerate(sections)}
    found.sort(key=lambda row: order.get(row.key.partition(".")[0], 0))
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


def _row(plan: Plan, row: Input) -> dict[str, object]:
    shown = f"{row.value_text} {row.unit}".strip()
    return {**dataclasses.asdict(row), "value": plan.value(row.key), "shown": shown}
