"""What was assumed, in one file? Plans: read, checked, overridden, saved, passed on as a token, and evaluated."""

from costkit.plan import words
from costkit.plan.answer import Frontier, Opinion, Snapped, frontier, law, opinions, snapped
from costkit.plan.bands import Interval
from costkit.plan.files import from_dict, names, parse_overrides, read, replace
from costkit.plan.inputs import Input, inputs
from costkit.plan.kinds import Field, PlanError
from costkit.plan.runs import OwnRuns, Runs, example_runs, fit_runs, own_runs, read_runs
from costkit.plan.schema import Plan, fields
from costkit.plan.ways import Way, ways

__all__ = [
    "Field",
    "Frontier",
    "Input",
    "Interval",
    "Opinion",
    "OwnRuns",
    "Plan",
    "PlanError",
    "Runs",
    "Snapped",
    "Way",
    "example_runs",
    "fields",
    "fit_runs",
    "from_dict",
    "frontier",
    "inputs",
    "law",
    "names",
    "opinions",
    "own_runs",
    "parse_overrides",
    "read",
    "read_runs",
    "replace",
    "snapped",
    "ways",
    "words",
]
