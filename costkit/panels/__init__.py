"""What if it were different? Controls for a plan, with the answer above the picture that they change.

- `Panel(plan, view, keys)` is generic: its controls come from the plan's schema, its answer from one view function.
- A view function takes a plan and returns a `View`: a sentence, the key numbers, a figure and the rows behind it.
- The panel's first picture is the one that `figures.png(view(plan).figure)` gives, byte for byte.
- Nothing here needs a kernel or a browser: a test sets `panel.controls[key].value` and reads `panel.headline`.
"""

from __future__ import annotations

from costkit.panels.panel import Panel
from costkit.panels.view import View
from costkit.panels.views import FrontierView
from costkit.plan import Plan

__all__ = ["Panel", "View", "frontier"]

FRONTIER_KEYS = (
    "training.budget_usd",
    "training.size_fraction",
    "data.inference_tokens",
    "data.unique_tokens",
    "training.mfu",
    "training.law",
)


def frontier(plan: Plan | str) -> Panel:
    """How big a model, on how much data: budget, size, serving, data limit, MFU and law, on the frontier's map.

    >>> from costkit import plan
    >>> panel = frontier(plan.read("case-50k"))
    >>> panel.set("training.budget_usd", "$500k")
    >>> panel.plan.training.budget_usd, panel.message
    (500000.0, '')
    """
    return Panel(plan, FrontierView(), FRONTIER_KEYS, name="frontier")
