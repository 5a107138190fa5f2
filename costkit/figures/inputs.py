"""What was assumed? The inputs of a plan as a table: value, unit, basis, source, date."""

from __future__ import annotations

import dataclasses

from costkit.figures.shown import Table
from costkit.plan import Plan, inputs


def inputs_table(plan: Plan, *sections: str) -> Table:
    """The effective inputs of a plan, or of some of its sections only.

    >>> from costkit import plan
    >>> print(inputs_table(plan.read("case-50k"), "market"))
    Input     Value      Unit  Basis      Source                           As of  Key
    Purchase  on_demand        published  Training Cost Optimization (lesson)         market.purchase
    """
    rows = [
        {**dataclasses.asdict(row), "value": plan.value(row.key)}
        for row in inputs(plan)
        if not sections or row.key.partition(".")[0] in sections
    ]
    columns = {
        "label": "Input",
        "value_text": "Value",
        "unit": "Unit",
        "basis": "Basis",
        "source": "Source",
        "as_of": "As of",
        "key": "Key",
    }
    return Table(rows, "inputs", caption="What the answer rests on", columns=columns)
