"""What does the frontier look like? Pictures of a `plan.Frontier`, one function each."""

from costkit.figures.frontier.chart import map
from costkit.figures.frontier.demand import data_limit, serving
from costkit.figures.frontier.doubt import doubt
from costkit.figures.frontier.own import own_runs

__all__ = ["data_limit", "doubt", "map", "own_runs", "serving"]
