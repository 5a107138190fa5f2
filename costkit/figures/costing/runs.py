"""What did others reach? Every published run's MFU, with what would have been said of it, and the plan among them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import training
from costkit.figures import style
from costkit.plan import Page
from costkit.units import percent, short_count

_BOXES = {"A100-class": (0.065, 0.15, 0.425, 0.66), "H100-class": (0.545, 0.15, 0.425, 0.66)}
_TOP = 0.75
_SIZES = (1e8, 1e9, 1e10, 1e11)


def runs(answer: Page) -> Figure:
    """MFU of the whole run against active parameters, one panel a chip: what happened, the plan's own band in grey."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=training.scores_sentence())
    style.title(figure, _finding())
    for group, box in _BOXES.items():
        ax = style.axes(figure, box)
        _panel(ax, group, answer)
    return figure


def _finding() -> str:
    flat = [score for score in training.scores() if "MFU" in score.planner]
    under = {score.group: percent(score.under_priced_fraction) for score in flat}
    return f"A flat 40% MFU under-prices {under['H100-class']} of the runs on H100, {under['A100-class']} on A100"


def _panel(ax: Axes, group: str, answer: Page) -> None:
    found = [one for one in training.scored() if one.group == group]
    ax.set_xlim(7.6, 12.0)
    ax.set_ylim(0, _TOP)
    ax.axhline(training.CONSTANT_MFU, color=style.GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    style.label(ax, (12.0, training.CONSTANT_MFU), "40%, as planners assume", offset=(-2, 7), ha="right", ground=True)
    for one in found:
        x, color = float(np.log10(one.run.n_active_params)), style.RED if one.run.anomaly else style.BLUE
        ax.plot([x, x], [one.predicted_mfu.low, one.predicted_mfu.high], color=style.PALE, linewidth=1.2, zorder=2)
        ax.plot(x, min(one.mfu, _TOP * 0.985), "o", color=color, markersize=4.5, zorder=4, alpha=0.9)
    far = [one.run.name for one in found if one.mfu > _TOP]
    if far:
        style.label(
            ax,
            (10.3, _TOP),
            f"{percent(next(o.mfu for o in found if o.mfu > _TOP))}: impossible",
            color=style.RED,
            offset=(6, -6),
        )
    _plan(ax, group, answer)
    style.ticks(
        ax,
        "x",
        np.log10(_SIZES).tolist(),
        [short_count(size) for size in _SIZES],
        "Parameters that a token passes through",
    )
    marks = [0.0, 0.2, 0.4, 0.6]
    style.ticks(
        ax, "y", marks, [percent(mark) for mark in marks], "MFU over all paid hours" if group == "A100-class" else ""
    )
    score = next(score for score in training.scores() if score.group == group)
    style.heading(ax, f"{group}: {score.n_runs} runs, missed by {score.median_factor:.2f} times at the median")


def _plan(ax: Axes, group: str, answer: Page) -> None:
    """The plan's own band, where it is on that chip."""
    if training.group_of(answer.gpu) != group:
        return
    left, right = ax.get_xlim()
    x, mfu = min(max(float(np.log10(answer.n_active_params)), left), right), answer.final.run.mfu
    ax.plot([x, x], [mfu.low, mfu.high], color=style.INK, linewidth=2.4, zorder=5)
    ax.plot(x, mfu.mid, "D", color=style.INK, markersize=7, markeredgecolor="white", zorder=6)
    style.label(ax, (x, mfu.high), "this plan", color=style.INK, offset=(0, 9), ha="center", bold=True, ground=True)
