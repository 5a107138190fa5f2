"""What moves the bill? One bar a thing, from its better to its worse end, around the plan's own bill."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.dollars import round_top, usd_ticks
from costkit.plan import Page
from costkit.plan.costing import Swing
from costkit.units import usd

_BOX = (0.2, 0.14, 0.77, 0.7)
_HEIGHT, _MOST, _ROOM, _NEAR = 0.56, 7, 1.3, 0.07


def tornado(answer: Page) -> Figure:
    """The bill with one thing changed at a time, the widest on top; orange is dearer than the plan, blue cheaper."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{answer.drivers} {answer.rules_of_thumb}")
    shown = answer.swings[:_MOST]
    style.title(figure, answer.drivers.rstrip(".") if math.isinf(answer.usd.mid) else _finding(shown))
    ax = style.axes(figure, _BOX)
    ax.spines["left"].set_visible(False)
    own = answer.usd.mid
    if math.isinf(own):
        ax.set_axis_off()
        return figure
    top = round_top(_ROOM * max([own, *(one.high_usd for one in shown)]))
    ax.set_xlim(0, top)
    ax.set_ylim(len(shown) - 0.4, -0.75)
    usd_ticks(ax, top, "The whole bill, US dollars")
    ax.set_yticks(range(len(shown)), [one.what for one in shown])
    ax.tick_params(axis="y", length=0)
    ax.axvline(own, color=style.INK, linewidth=1.1, zorder=4)
    style.label(ax, (own, -0.62), f"the plan {usd(own)}", color=style.INK, offset=(5, 0), bold=True, ground=True)
    for row, one in enumerate(shown):
        _bar(ax, row, one, own)
    return figure


def _finding(shown: list[Swing]) -> str:
    if not shown:
        return "Nothing that is looked at here moves the bill"
    first = shown[0]
    what = first.what if first.what.startswith("MFU") else first.what[0].lower() + first.what[1:]
    return f"The {what} moves the bill most: {usd(first.low_usd)} to {usd(first.high_usd)}"


def _bar(ax: Axes, row: int, one: Swing, own: float) -> None:
    for start, end, color in ((one.low_usd, own, style.BLUE), (own, one.high_usd, style.ORANGE)):
        if end > start:
            ax.barh(row, end - start, _HEIGHT, left=start, color=color, zorder=3)
    right = one.high_usd if one.high_label else own
    if one.high_label:
        style.label(ax, (one.high_usd, row), one.high_label, offset=(5, 0), ground=True)
        inside = one.low_usd < _NEAR * ax.get_xlim()[1]
        ha: style.Side = "left" if inside else "right"
        color, aside = ("white", 5) if inside else (style.GREY, -5)
        style.label(ax, (one.low_usd, row), one.low_label, color=color, offset=(aside, 0), ha=ha, ground=not inside)
    else:
        style.label(ax, (right, row), f"{one.low_label}: {usd(one.low_usd)}", offset=(7, 0), ground=True)
