"""Where may the bill end? The draws as a histogram, the published end as a line."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.dollars import round_top, usd_ticks
from costkit.plan import Replan
from costkit.units import percent, usd

_BOX = (0.03, 0.14, 0.94, 0.66)
_N_BINS, _ROOM, _TALL = 60, 1.05, 1.3


def chances(answer: Replan) -> Figure:
    """The bills of all draws; those at or below the published end are filled."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=answer.odds)
    style.title(figure, _finding(answer))
    ax = style.axes(figure, _BOX)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    found = answer.waterfall
    if found is None or found.end_usd.low == found.end_usd.high:
        ax.set_axis_off()
        return figure
    draws, target = found.end_draws_usd, answer.final_usd
    most = float(np.quantile(draws, 0.995))
    top = round_top(_ROOM * max(most, target or 0.0))
    counts, edges = np.histogram(draws, bins=_N_BINS, range=(0.0, top))
    for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        color = style.BLUE if target is not None and right <= target * (1 + 1e-9) else style.PALE
        ax.bar(left, count, right - left, align="edge", color=color, edgecolor="white", linewidth=0.4, zorder=2)
    ax.set_xlim(0, top)
    ax.set_ylim(0, _TALL * counts.max())
    usd_ticks(ax, top, "The bill with all levers, US dollars")
    _marks(answer, ax, float(counts.max()))
    return figure


def _finding(answer: Replan) -> str:
    found, chance = answer.waterfall, answer.chance
    if found is None:
        return "The run practically never finishes: there is no bill"
    if found.end_usd.low == found.end_usd.high:
        return f"{usd(found.end_usd.mid)}: nothing about it is uncertain here"
    if chance is None or answer.final_usd is None:
        return f"Eight of ten draws end between {usd(found.end_usd.low)} and {usd(found.end_usd.high)}"
    n_draws = len(found.end_draws_usd)
    told = f"none of {n_draws:,} draws" if chance == 0 else f"{percent(chance)} of the draws"
    return f"At {usd(answer.final_usd)} or below: {told}"


def _marks(answer: Replan, ax: Axes, highest: float) -> None:
    found = answer.waterfall
    if found is None:
        return
    end, y = found.end_usd, 1.1 * highest
    ax.plot([end.low, end.high], [y, y], color=style.INK, linewidth=2.0, zorder=3)
    ax.plot(end.mid, y, "o", color=style.INK, markersize=6, zorder=4)
    text = f"{usd(end.mid)}; eight of ten draws from {usd(end.low)} to {usd(end.high)}"
    is_far = end.low > 0.5 * ax.get_xlim()[1]
    at, side = (end.high, "right") if is_far else (end.low, "left")
    anchor: style.Side = "right" if side == "right" else "left"
    style.label(ax, (at, y), text, color=style.INK, offset=(0, 12), ha=anchor, bold=True, ground=True)
    if answer.final_usd is not None:
        ax.axvline(answer.final_usd, color=style.RED, linewidth=1.4, linestyle=(0, (4, 2)), zorder=2.5, ymax=0.78)
        far = answer.final_usd > 0.7 * ax.get_xlim()[1]
        ha: style.Side = "right" if far else "left"
        where = (answer.final_usd, 0.62 * highest)
        text = f"{usd(answer.final_usd)}, as published"
        style.label(ax, where, text, color=style.RED, offset=(-6 if far else 6, 0), ha=ha, bold=True, ground=True)
