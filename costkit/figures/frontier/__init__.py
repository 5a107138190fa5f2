"""What does the frontier look like? Pictures and tables of a `plan.Frontier`, one function each."""

from costkit.figures.frontier.chart import map  # noqa: A004 - the picture is a map
from costkit.figures.frontier.demand import data_limit, serving
from costkit.figures.frontier.doubt import doubt
from costkit.figures.frontier.listed import architecture_table, checks_table, fits_table, laws_table, ways_table
from costkit.figures.frontier.own import own_runs

__all__ = [
    "architecture_table",
    "checks_table",
    "data_limit",
    "doubt",
    "fits_table",
    "laws_table",
    "map",
    "own_runs",
    "serving",
    "ways_table",
]
