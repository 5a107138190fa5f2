"""What does each notebook's panel show? One view a notebook: a plan in, a `View` out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit import figures
from costkit import plan as plans
from costkit.panels.view import View
from costkit.plan import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRONTIER_PLACES = {
    "Compute": 1,
    "Model size": 1,
    "Training data": 1,
    "Tokens per parameter": 1,
    "Loss": 1,
    "Time": 1,
    "Serving": 2,
    "Epochs": 1,
    "The plan's own split": 3,
}


MEMORY_PLACES = {
    "Allocated": 2,
    "Reserved": 2,
    "On the device": 2,
    "Usable": 1,
    "Largest micro-batch": 1,
    "Batch": 2,
    "Divided by": 2,
    "Measured": 2,
}


SPOT_PLACES = {
    "Spot, mean (5% to 95%)": 2,
    "Not on spot": 2,
    "Done after (5% to 95%)": 2,
    "Interruptions": 2,
    "Price an hour": 2,
    "Best interval": 2,
    "Checkpoint": 2,
    "Late": 1,
}


PAGE_PLACES = {
    "Bill": 2,
    "Time": 2,
    "GPU-hours": 2,
    "MFU of the whole run": 3,
    "Goodput": 3,
    "Memory": 2,
    "Loss": 2,
    "Deadline": 2,
    "Energy": 3,
    "What it took": 3,
}


REPLAN_PLACES = {
    "Bill as it is": 1,
    "Bill after the levers": 2,
    "Of it left": 1,
    "Published afterwards": 1,
    "Chance of that or less": 1,
    "Saved by price": 1,
    "Saved by engineering": 1,
    "Saved by a better size": 1,
    "Idle": 1,
    "Next, with the least effort": 2,
}


class PageView:
    """The plan's bill with its range, by what it is paid for; what stands still in the picture is drawn once."""

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __call__(self, plan: Plan) -> View:
        """The answer for one plan. Its figure is the one of the call before, drawn anew."""
        answer = plans.page(plan)
        told = (answer.headline, answer.facts)
        self._figure = figures.costing.bill(answer, reuse=self._figure)
        return View(*told, self._figure, answer.rows(), answer.warnings, PAGE_PLACES)


class SpotView:
    """The plan's bill and finish on spot, against on demand; what stands still in the picture is drawn once."""

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __call__(self, plan: Plan) -> View:
        """The answer for one plan. Its figure is the one of the call before, drawn anew."""
        answer = plans.savings(plan)
        told = (answer.headline, answer.facts)
        self._figure = figures.buying.bill(answer, reuse=self._figure)
        return View(*told, self._figure, answer.rows(), answer.warnings, SPOT_PLACES)


class MemoryView:
    """The plan's memory, phase by phase, against its GPU; what stands still in the picture is drawn once."""

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __call__(self, plan: Plan) -> View:
        """The answer for one plan. Its figure is the one of the call before, drawn anew."""
        answer = plans.footprint(plan)
        told = (answer.headline, answer.facts)
        self._figure = figures.fitting.phases(answer, reuse=self._figure)
        return View(*told, self._figure, answer.rows(), answer.warnings, MEMORY_PLACES)


class FrontierView:
    """The best model for the plan's money, on the map of all such models; what stands still in it is drawn once."""

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __call__(self, plan: Plan) -> View:
        """The answer for one plan. Its figure is the one of the call before, drawn anew."""
        answer = plans.frontier(plan)
        told = (answer.headline, answer.facts)
        rows, notes = answer.rows(), answer.warnings
        self._figure = figures.frontier.map(answer, reuse=self._figure)
        return View(*told, self._figure, rows, notes, FRONTIER_PLACES)


class ReplanView:
    """The plan's bill, lever by lever; what stands still in the picture is drawn once."""

    def __init__(self) -> None:
        self._figure: Figure | None = None

    def __call__(self, plan: Plan) -> View:
        """The answer for one plan. Its figure is the one of the call before, drawn anew."""
        answer = plans.replan(plan)
        told = (answer.headline, answer.facts)
        self._figure = figures.replanning.waterfall(answer, reuse=self._figure)
        return View(*told, self._figure, answer.rows(), answer.warnings, REPLAN_PLACES)
