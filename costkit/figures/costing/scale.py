"""What do more GPUs buy? Dollars against days on the plan's GPUs, from one to very many."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.dollars import usd_tick
from costkit.plan.costing import Fleets
from costkit.training import Scaled
from costkit.units import DAY, HOUR, MINUTE, duration

_BOX = (0.075, 0.15, 0.9, 0.68)
_DEAREST, _EDGE = 8.0, 0.15
_MARKS_S = {
    "1 second": 1.0,
    "1 minute": MINUTE,
    "1 hour": HOUR,
    "1 day": DAY,
    "1 week": 7 * DAY,
    "1 month": 30 * DAY,
    "1 year": 365 * DAY,
    "10 years": 3650 * DAY,
    "100 years": 36500 * DAY,
}
_USD_STEPS = (1.0, 2.0, 5.0)


def scale(found: Fleets) -> Figure:
    """Dollars against time for other numbers of GPUs, with the band; the plan's own filled, the deadline red."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=found.sentence)
    style.title(figure, _finding(found))
    ax = style.axes(figure, _BOX)
    if not math.isfinite(found.own.usd.mid):
        ax.set_axis_off()
        return figure
    shown = _near(found)
    x = np.log10([point.wall_s.mid for point in shown])
    low, mid, high = (np.log10([getattr(point.usd, end) for point in shown]) for end in ("low", "mid", "high"))
    ax.fill_between(x, low, high, color=style.BLUE, alpha=0.12, linewidth=0)
    ax.plot(x, mid, color=style.BLUE, linewidth=1.6, zorder=3)
    pad = 0.06 * (x.max() - x.min() or 1.0)
    ax.set_xlim(x.max() + pad, x.min() - pad)
    ax.set_ylim(low.min() - 0.08, high.max() + 0.12)
    _points(ax, found, shown)
    _deadline(ax, found)
    _ticks(ax)
    return figure


def _near(found: Fleets) -> list[Scaled]:
    """Those that are not many times as dear as the plan."""
    return [point for point in found.points if point.usd.mid <= _DEAREST * found.own.usd.mid]


def _finding(found: Fleets) -> str:
    own, far = found.own, found.furthest
    if not math.isfinite(own.usd.mid):
        return "The run practically never finishes"
    if own.n_gpus == max(point.n_gpus for point in found.points):
        why = "need a larger batch" if found.answer.loss is None else "be interrupted too often to finish"
        return f"More than {own.n_gpus:,} GPUs would {why}"
    if far.n_gpus <= own.n_gpus:
        return f"More than {own.n_gpus:,} GPUs would cost over a quarter more"
    return f"{far.n_gpus:,} GPUs instead of {own.n_gpus:,}: {duration(far.wall_s.mid)}, for at most a quarter more"


def _points(ax: Axes, found: Fleets, shown: list[Scaled]) -> None:
    own = found.own.n_gpus
    for point in shown:
        at = float(np.log10(point.wall_s.mid)), float(np.log10(point.usd.mid))
        is_own = point.n_gpus == own
        is_taxed = point.tokens_ratio > 1.02
        face = style.BLUE if is_own else style.ORANGE if is_taxed else "white"
        ax.plot(*at, "o", markersize=9 if is_own else 5.5, color=style.ORANGE if is_taxed else style.BLUE, zorder=5)
        ax.plot(*at, "o", markersize=7 if is_own else 4, color=face, zorder=6)
        text = f"{point.n_gpus:,} GPUs, the plan" if is_own else f"{point.n_gpus:,}"
        color, below = (style.INK, -14) if is_own else (style.GREY, 12)
        style.label(
            ax, at, text, color=color, offset=(0, below), ha=_side(ax, at[0]) if is_own else "center", bold=is_own
        )
    if any(point.tokens_ratio > 1.02 for point in shown):
        ax.text(
            0.01,
            0.95,
            "orange: the batch is so large that it needs more tokens",
            color=style.ORANGE,
            fontsize=style.SMALL,
            transform=ax.transAxes,
        )


def _side(ax: Axes, x: float) -> style.Side:
    """On which side of a point a long word stays inside."""
    slow, fast = ax.get_xlim()
    share = (x - slow) / (fast - slow)
    return "left" if share < _EDGE else "right" if share > 1 - _EDGE else "center"


def _deadline(ax: Axes, found: Fleets) -> None:
    deadline = found.answer.deadline_s
    if deadline is None:
        return
    at = float(np.log10(deadline))
    right, left = sorted(ax.get_xlim())
    if right < at < left:
        ax.axvline(at, color=style.RED, linewidth=1.2, linestyle=(0, (4, 2)))
        style.label(ax, (at, ax.get_ylim()[0]), f"deadline {duration(deadline)}", color=style.RED, offset=(5, 8))


def _ticks(ax: Axes) -> None:
    right, left = sorted(ax.get_xlim())
    times = {name: float(np.log10(seconds)) for name, seconds in _MARKS_S.items()}
    inside = {name: at for name, at in times.items() if right <= at <= left}
    style.ticks(ax, "x", list(inside.values()), list(inside), "Time, shorter to the right")
    low, high = ax.get_ylim()
    steps = [10.0**power * step for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for step in _USD_STEPS]
    marks = [value for value in steps if low <= np.log10(value) <= high]
    style.ticks(ax, "y", np.log10(marks).tolist(), [usd_tick(value) for value in marks], "The final run, US dollars")
    ax.grid(axis="y", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
