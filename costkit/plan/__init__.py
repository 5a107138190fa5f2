"""What was assumed, in one file? Plans: read, checked, overridden, saved, passed on as a token, and evaluated."""

from costkit.plan.answer import Frontier, Opinion, Snapped, frontier, law, opinions, snapped
from costkit.plan.bands import Interval
from costkit.plan.files import from_dict, names, parse_overrides, read, replace
from costkit.plan.inputs import Input, InputsTable, inputs, inputs_table
from costkit.plan.kinds import Field, PlanError
from costkit.plan.runs import Runs, example_runs, fit_runs, read_runs
from costkit.plan.schema import Plan, fields

__all__ = [
    "Field",
    "Frontier",
    "Input",
    "InputsTable",
    "Interval",
    "Opinion",
    "Plan",
    "PlanError",
    "Runs",
    "Snapped",
    "example_runs",
    "fields",
    "fit_runs",
    "from_dict",
    "frontier",
    "inputs",
    "inputs_table",
    "law",
    "names",
    "opinions",
    "parse_overrides",
    "read",
    "read_runs",
    "replace",
    "snapped",
]
