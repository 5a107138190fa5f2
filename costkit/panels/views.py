"""What does each notebook's panel show? One view function a notebook: a plan in, a `View` out."""

from __future__ import annotations

from costkit import figures
from costkit import plan as plans
from costkit.panels.view import View
from costkit.plan import Plan


def frontier_view(plan: Plan) -> View:
    """The best model for the plan's money, on the map of all such models."""
    answer = plans.frontier(plan)
    return View(answer.headline, answer.facts, figures.frontier.map(answer), answer.rows(), answer.warnings)
