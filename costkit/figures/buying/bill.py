"""What will it cost, and when is it done? All simulated bills and finishes, on spot and on demand.

- Left: dollars, with the mean bill on demand as the break-even. Right: days, with the deadline where there is one.
- Both axes start at zero, so that distances are savings. Heights are shares of the tallest bar of each way of buying.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.layers import Layered
from costkit.plan.buying import Savings
from costkit.plan.buying.words import otherwise
from costkit.spot import Outcomes
from costkit.units import DAY, HOUR, Range, number, percent, short_count, usd

_USD_BOX, _TIME_BOX = (0.03, 0.15, 0.56, 0.69), (0.64, 0.15, 0.34, 0.69)
_BINS, _MOST_TICKS, _LONG = 240, 7, 1000
_TOP, _ROOM = 1.42, 1.15
_SIDE_SHARE, _FAR = 0.62, 4.0


def bill(answer: Savings, *, reuse: Figure | None = None) -> Figure:
    """The distribution of the bill and of the finish on spot, against on demand.

    `reuse` is a figure that this function made before: it is drawn anew in place where its axes still hold.
    """
    unit_s, unit = (DAY, "days") if answer.job.ideal_s >= 2 * DAY else (HOUR, "hours")
    tops = (_top(_dollars_needed(answer)), _top(_time_needed(answer) / unit_s))
    key = ("buying.bill", *tops, unit)
    made = reuse if isinstance(reuse, Layered) and reuse.key == key else _still(tops, unit, key)
    made.clear_moving()
    made.set_label(_alt(answer))
    made.move(style.title(made, _finding(answer)))
    dollars, time = made.axes
    for artist in (*_dollars(dollars, answer), *_times(time, answer, unit_s)):
        made.move(artist)
    return made


def _finding(answer: Savings) -> str:
    if not answer.finishes:
        return "On this market the run practically never finishes"
    saving = answer.saving_fraction
    if saving.mid < 0:
        return f"Spot costs {percent(-saving.mid)} more than {otherwise(answer)}"
    span = f"{percent(saving.low)} to {percent(saving.high)}"
    told = f"Spot saves {percent(saving.mid)} ({span}) of {usd(answer.on_demand_usd)}"
    late = answer.late_fraction
    if late is None:
        return told
    return f"{told} and is never late" if late == 0 else f"{told} and is late in {percent(late)} of the runs"


def _alt(answer: Savings) -> str:
    return " ".join([answer.headline, answer.where_it_goes, *answer.warnings])


def _dollars_needed(answer: Savings) -> float:
    """What the axis of dollars must hold: both ways of buying, but no spot bill of more than a few times the other."""
    other = answer.on_demand_usd
    return max(_ROOM * other, min(1.05 * answer.usd.high, _FAR * other) if answer.finishes else 0.0)


def _time_needed(answer: Savings) -> float:
    other = answer.on_demand.wall_range_s
    slowest = other.high if math.isfinite(other.high) else other.mid
    ends = [1.4 * answer.job.work_s, slowest, answer.deadline_s or 0.0]
    if answer.finishes and math.isfinite(answer.wall_s.high):
        ends.append(min(answer.wall_s.high, 6 * ends[1]))
    return 1.2 * max(ends)


def _top(value: float) -> float:
    """A round number above the value, so that the axis stands still while a slider moves."""
    step = 10 ** np.floor(np.log10(value)) / 2
    return float(np.ceil(value / step) * step)


# What stands still: the axes.


def _still(tops: tuple[float, float], unit: str, key: object) -> Layered:
    made = Layered((style.WIDTH, style.HEIGHT), key)
    for box, top, name, write, about in (
        (_USD_BOX, tops[0], "What the run costs, USD", _usd_tick, "Every simulated bill: blue on spot, grey otherwise"),
        (_TIME_BOX, tops[1], f"When it is done, {unit}", _tick, "Every finish"),
    ):
        ax = style.axes(made, box)
        ax.spines["left"].set_visible(False)
        ax.set_xlim(0, top)
        ax.set_ylim(0, _TOP)
        positions = np.arange(0, top * (1 + 1e-9), style.tick_step(top, most=_MOST_TICKS)).tolist()
        style.ticks(ax, "x", positions, [write(value) for value in positions], name)
        ax.set_yticks([])
        style.heading(ax, about)
    return made


def _tick(value: float) -> str:
    return short_count(value) if value >= _LONG else f"{value:,g}"


def _usd_tick(value: float) -> str:
    return f"${_tick(value)}"


# What moves: the two ways of buying.


def _dollars(ax: Axes, answer: Savings) -> list[Artist]:
    top, even = ax.get_xlim()[1], answer.on_demand_usd
    beyond = ax.axvspan(even, top, facecolor="none", edgecolor=style.FAINT, hatch="//", linewidth=0, zorder=0)
    line = ax.axvline(even, color=style.INK, linewidth=1.1, zorder=4)
    found: list[Artist] = [beyond, line]
    told = f"{otherwise(answer)} {usd(even)}: break-even"
    ha: style.Side = "right" if even > (1 - _SIDE_SHARE) * top else "left"
    aside = -5 if even > (1 - _SIDE_SHARE) * top else 5
    found.append(style.label(ax, (even, 1.3), told, color=style.INK, offset=(aside, 0), ha=ha, ground=True))
    found.append(style.label(ax, (even, 0.55), "spot is dearer", color=style.GREY, offset=(8, 0), ground=True))
    found += _both(ax, answer, "usd", 1.0)
    if answer.finishes:
        high = "no end" if math.isinf(answer.usd.high) else usd(answer.usd.high)
        text = f"spot {usd(answer.usd.mid)}, {usd(answer.usd.low)} to {high}"
        found += _marked(ax, answer.usd, text, 1.0)
    else:
        found.append(_nothing(ax, "no bill: it never finishes"))
    return found


def _times(ax: Axes, answer: Savings, unit_s: float) -> list[Artist]:
    found = _both(ax, answer, "wall_s", unit_s)
    other = answer.on_demand.wall_range_s.mid / unit_s
    found.append(_above(ax, other, f"{otherwise(answer)} {number(other)}", style.GREY, level=1.28))
    if answer.finishes:
        span = Range(*(value / unit_s for value in (answer.wall_s.low, answer.wall_s.mid, answer.wall_s.high)))
        high = "never" if math.isinf(span.high) else number(span.high)
        found += _marked(ax, answer.wall_s, f"spot {number(span.mid)}, {number(span.low)} to {high}", unit_s)
    if answer.deadline_s is not None:
        at = answer.deadline_s / unit_s
        found.append(ax.axvline(at, color=style.RED, linewidth=1.2, linestyle=(0, (4, 2)), zorder=4, ymax=0.86))
        found.append(_above(ax, at, f"deadline {number(at)}", style.RED, level=1.38))
    return found


def _both(ax: Axes, answer: Savings, what: str, unit: float) -> list[Artist]:
    """Both distributions as bars of one width, each as high as its tallest."""
    edges = np.linspace(0, ax.get_xlim()[1], _BINS + 1)
    ways: list[tuple[Outcomes | None, str]] = [(answer.on_demand, style.PALE), (answer.outcomes, style.BLUE)]
    found: list[Artist] = []
    for outcomes, color in ways:
        if outcomes is None:
            continue
        drawn = getattr(outcomes, what)[outcomes.finished] / unit
        counts, _ = np.histogram(drawn, edges)
        if counts.any():
            found.append(_bars(ax, edges, counts / counts.max(), color))
    return found


def _bars(ax: Axes, edges: np.ndarray, heights: np.ndarray, color: str) -> PolyCollection:
    shown = np.flatnonzero(heights)
    corners = [
        [(edges[i], 0), (edges[i], heights[i]), (edges[i + 1], heights[i]), (edges[i + 1], 0)] for i in shown.tolist()
    ]
    bars = PolyCollection(corners, facecolors=color, edgecolors=color, linewidths=0.5, zorder=3)
    ax.add_collection(bars, autolim=False)
    return bars


def _marked(ax: Axes, value: Range, text: str, unit: float) -> list[Artist]:
    """The middle of spot as a dot over a line from the 5th to the 95th percentile, and in words."""
    top = ax.get_xlim()[1]
    low, mid, high = (min(end / unit, 2 * top) for end in (value.low, value.mid, value.high))
    lines = ax.plot([low, high], [1.07, 1.07], color=style.BLUE, linewidth=3.0, solid_capstyle="butt", zorder=5)
    dots = ax.plot([mid], [1.07], "o", color=style.BLUE, markersize=7, markeredgecolor="white", zorder=6)
    inside = mid <= top
    words = text if inside else f"{text}, off the axis"
    return [*lines, *dots, _above(ax, min(mid, top), words, style.BLUE, level=1.16, bold=True)]


def _above(ax: Axes, x: float, text: str, color: str, *, level: float, bold: bool = False) -> Artist:
    """A word over a place, on whichever side has room."""
    share = x / ax.get_xlim()[1]
    ha: style.Side = "center"
    offset = 0.0
    if share > _SIDE_SHARE:
        ha, offset = "right", 14.0 * min(1.0, max(0.0, (1 - share) * 4))
    elif share < 1 - _SIDE_SHARE:
        ha, offset = "left", -14.0 * min(1.0, share * 4)
    return style.label(ax, (x, level), text, color=color, offset=(offset, 0), ha=ha, bold=bold, ground=True)


def _nothing(ax: Axes, text: str) -> Artist:
    middle = ax.get_xlim()[1] * 0.4
    return style.label(
        ax, (middle, 0.5), text, color=style.RED, offset=(0, 0), ha="center", size=style.LARGE, bold=True
    )
