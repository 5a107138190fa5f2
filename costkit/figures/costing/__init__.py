"""What does the plan on a page look like? Pictures and tables of a `plan.Page`, one function each."""

from costkit.figures.costing.bill import bill
from costkit.figures.costing.listed import (
    bill_table,
    facts_table,
    goodput_table,
    hardware_table,
    programmes_table,
    runs_table,
    scores_table,
    swings_table,
)
from costkit.figures.costing.runs import runs
from costkit.figures.costing.scale import scale
from costkit.figures.costing.tornado import tornado

__all__ = [
    "bill",
    "bill_table",
    "facts_table",
    "goodput_table",
    "hardware_table",
    "programmes_table",
    "runs",
    "runs_table",
    "scale",
    "scores_table",
    "swings_table",
    "tornado",
]
