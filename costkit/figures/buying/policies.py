"""Which way of buying keeps the deadline, and what does it cost? Every policy on the same paths."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.plan.buying.policies import Policies, label
from costkit.plan.buying.words import otherwise
from costkit.spot import PolicyOutcome
from costkit.units import duration, percent, usd

_BOX = (0.235, 0.16, 0.60, 0.68)


def policies(found: Policies) -> Figure:
    """Mean bill of each policy with the 5th to the 95th percentile, and how often it is late."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=found.sentence)
    style.title(figure, _finding(found))
    ax = style.axes(figure, _BOX)
    if not found.outcomes:
        ax.set_axis_off()
        style.label(ax, (0.3, 0.5), found.why_not, color=style.INK, ha="center", size=style.NORMAL)
        return figure
    ordered = sorted(found.outcomes, key=lambda one: -one.mean_usd)
    ends = (one.p95_usd if math.isfinite(one.p95_usd) else one.mean_usd for one in ordered)
    right = 1.12 * max(ends)
    ax.set_xlim(0, right)
    ax.set_ylim(-0.6, len(ordered) - 0.4)
    for y, one in enumerate(ordered):
        late = one.late_fraction > found.on_demand.late_fraction
        is_best = found.best is not None and one.policy == found.best.policy
        color = style.RED if late else style.BLUE if is_best else style.GREY
        ax.plot(
            [one.p5_usd, min(one.p95_usd, right)], [y, y], color=color, linewidth=6, alpha=0.35, solid_capstyle="butt"
        )
        ax.plot([one.mean_usd], [y], "o", color=color, markersize=9, markeredgecolor="white", zorder=4)
        style.label(ax, (one.mean_usd, y), usd(one.mean_usd), color=color, offset=(0, 14), ha="center", bold=is_best)
        told = _lateness(one)
        style.label(ax, (right, y), told, color=color, offset=(8, 0), bold=late)
    marks = np.arange(0, right, style.tick_step(right, most=8)).tolist()
    style.ticks(ax, "x", marks, [usd(value) for value in marks], "Bill, mean with the 5th to the 95th percentile")
    style.ticks(ax, "y", list(range(len(ordered))), [label(one) for one in ordered], "")
    ax.grid(axis="x", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    return figure


def _lateness(one: PolicyOutcome) -> str:
    if one.late_fraction == 0:
        return "never late"
    most = "" if math.isinf(one.most_late_s) else f",\nby up to {duration(one.most_late_s)}"
    return f"late in {percent(one.late_fraction)}{most}"


def _finding(found: Policies) -> str:
    if found.best is None:
        return "No way of buying keeps this deadline" if found.outcomes else "No policy could be tried"
    if found.best is found.on_demand:
        return f"Nothing that keeps the deadline is cheaper than {otherwise(found.answer)}"
    saved = f"saves {percent(found.best.saving_fraction)} of the bill {otherwise(found.answer)}"
    late = found.on_demand.late_fraction
    keeps = f"is late no more often than that ({percent(late)}) and" if late else "keeps the deadline and"
    return f"{label(found.best).capitalize()} {keeps} {saved}"
