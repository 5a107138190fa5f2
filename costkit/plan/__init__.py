"""What was assumed, in one file? Plans: read, checked, overridden, saved, passed on as a token, and evaluated.

Each notebook's evaluation is a room of its own: `sizing` is that of the Chinchilla frontier.
"""

from costkit.plan import buying, costing, fitting, replanning, sizing
from costkit.plan.buying import Savings, savings
from costkit.plan.costing import Page, page
from costkit.plan.differences import Change, changes
from costkit.plan.files import anchored, from_dict, names, parse_overrides, read, replace
from costkit.plan.fitting import Footprint, footprint
from costkit.plan.inputs import Input, inputs
from costkit.plan.kinds import Field, PlanError
from costkit.plan.replanning import Replan, replan
from costkit.plan.schema import Plan, fields
from costkit.plan.sizing import Frontier, frontier

__all__ = [
    "Change",
    "Field",
    "Footprint",
    "Frontier",
    "Input",
    "Page",
    "Plan",
    "PlanError",
    "Replan",
    "Savings",
    "anchored",
    "buying",
    "changes",
    "costing",
    "fields",
    "fitting",
    "footprint",
    "from_dict",
    "frontier",
    "inputs",
    "names",
    "page",
    "parse_overrides",
    "read",
    "replace",
    "replan",
    "replanning",
    "savings",
    "sizing",
]
