"""How big a model, on how much data, for this plan? Its frontier, what changes it, and its own runs."""

from costkit.plan.sizing.answer import Frontier, Quality, frontier, law
from costkit.plan.sizing.bands import Curve, Interval, Intervals, SizeCost
from costkit.plan.sizing.demand import Demand
from costkit.plan.sizing.runs import OwnRuns, Runs, example_runs, fit_runs, own_runs, read_runs
from costkit.plan.sizing.sweeps import DataLimit, Doubt, Opinion, Serving, Unanswered, data_limit, doubt, serving
from costkit.plan.sizing.ways import Snapped, Way, snapped, ways

__all__ = [
    "Curve",
    "DataLimit",
    "Demand",
    "Doubt",
    "Frontier",
    "Interval",
    "Intervals",
    "Opinion",
    "OwnRuns",
    "Quality",
    "Runs",
    "Serving",
    "SizeCost",
    "Snapped",
    "Unanswered",
    "Way",
    "data_limit",
    "doubt",
    "example_runs",
    "fit_runs",
    "frontier",
    "law",
    "own_runs",
    "read_runs",
    "serving",
    "snapped",
    "ways",
]
