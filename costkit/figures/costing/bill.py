"""What does the bill consist of, and how wide is it? Low, middle and high, each taken apart; what happened, a line."""

from __future__ import annotations

import math

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.dollars import round_top, usd_ticks
from costkit.figures.layers import Layered
from costkit.plan import Page
from costkit.units import Range, percent, usd

_BOX = (0.2, 0.15, 0.77, 0.62)
_HEIGHT, _ROOM, _SMALL = 0.62, 1.22, 0.06
_ENDS = {
    "low": "if it goes as well as\none run in ten",
    "mid": "in the middle",
    "high": "if it goes as badly as\none run in ten",
}
_LOWER, _FAR, _MOST_USD, _LEAST_USD = 0.18, 4.0, 1e15, 1e-6
_GROUPS = {
    "compute": ("computing", style.BLUE),
    "goodput": ("stops and restarts", style.ORANGE),
    "scope": ("around the run", style.GREEN),
    "storage": ("storage and network", style.GREY),
}


def bill(answer: Page, *, reuse: Figure | None = None) -> Figure:
    """The bill at the low, the middle and the high end of its range, by what it is paid for.

    A bill without a range has one bar. Where the plan gives its own MFU, what published runs like it would make of it
    stands below, hollow. `reuse` is a figure that this function made before: it is drawn anew in place where its axes
    still hold.
    """
    names = _names(answer)
    top = 1.0 if math.isinf(answer.usd.mid) else round_top(_ROOM * _needed(answer))
    key = ("costing.bill", top, *names)
    made = reuse if isinstance(reuse, Layered) and reuse.key == key else _still(top, names, key)
    made.clear_moving()
    made.set_label(_alt(answer))
    made.move(style.title(made, _finding(answer)))
    (ax,) = made.axes
    for artist in (*_bars(ax, answer), *_others(ax, answer), *_key(made, answer), *_truth(ax, answer)):
        made.move(artist)
    return made


def _names(answer: Page) -> list[str]:
    """The rows from the top."""
    if math.isinf(answer.usd.mid):
        return [""]
    ends = ["as the plan has it"] if answer.has_no_range else [*_ENDS.values()]
    return [*ends, "at the MFU of\npublished runs like it"] if answer.others_usd else ends


def _needed(answer: Page) -> float:
    told = answer.truth.usd if answer.truth else 0.0
    others = min(answer.others_usd.high, _FAR * answer.usd.mid) if answer.others_usd else 0.0
    return max(min(answer.usd.high, _MOST_USD), told, others, _LEAST_USD)


def _finding(answer: Page) -> str:
    total = answer.usd
    if math.isinf(total.mid):
        return "The run practically never finishes: there is no bill"
    if answer.has_no_range:
        return f"{usd(total.mid)}, if MFU and goodput are what the plan says"
    return f"{usd(total.mid)}, in eight of ten cases between {usd(total.low)} and {usd(total.high)}"


def _alt(answer: Page) -> str:
    parts = ", ".join(f"{name} {usd(amount.mid)}" for name, (amount, _) in _parts(answer).items())
    middle = [f"In the middle: {parts}."] if math.isfinite(answer.usd.mid) else []
    return " ".join([answer.headline, *middle, *answer.warnings])


def _parts(answer: Page) -> dict[str, tuple[Range, str]]:
    """Dollars and colour of each group that has any, by its name."""
    found = {}
    for group, (name, color) in _GROUPS.items():
        total = Range.total(line.usd for line in answer.lines if line.group == group)
        if 0 < total.high < math.inf:
            found[name] = (total, color)
    return found


def _still(top: float, names: list[str], key: object) -> Layered:
    made = Layered((style.WIDTH, style.HEIGHT), key)
    ax = style.axes(made, _BOX)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0, top)
    ax.set_ylim(len(names) - 0.4, -0.75)
    if names == [""]:
        ax.set_axis_off()
        return made
    usd_ticks(ax, top, "US dollars")
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    return made


def _bars(ax: Axes, answer: Page) -> list[Artist]:
    found: list[Artist] = []
    if math.isinf(answer.usd.mid):
        where = (ax.get_xlim()[1] * 0.3, 0)
        return [style.label(ax, where, "no bill: it never finishes", color=style.RED, size=style.LARGE, bold=True)]
    parts = _parts(answer)
    for row, end in enumerate(["mid"] if answer.has_no_range else _ENDS):
        at = 0.0
        for amount, color in parts.values():
            width = getattr(amount, end)
            bars = ax.barh(row, width, _HEIGHT, left=at, color=color, edgecolor="white", linewidth=0.6, zorder=3)
            found += list(bars)
            at += width
        found.append(_sum(ax, at, row, bold=end == "mid"))
    return found


def _sum(ax: Axes, at: float, row: int, *, bold: bool) -> Artist:
    return style.label(ax, (at, row), usd(at), color=style.INK, offset=(6, 0), bold=bold, ground=True)


def _others(ax: Axes, answer: Page) -> list[Artist]:
    """The bill at the MFU of published runs, hollow, with its range as a line."""
    others = answer.others_usd
    if others is None:
        return []
    row, top = len(_names(answer)) - 1, ax.get_xlim()[1]
    bars = ax.barh(row, others.mid, _HEIGHT, facecolor="none", edgecolor=style.GREY, linewidth=1.2, zorder=3)
    y = row + _LOWER
    line = ax.plot([others.low, min(others.high, top)], [y, y], color=style.GREY, linewidth=2.0, zorder=4)
    text = f"{usd(others.mid)}, {usd(others.low)} to {usd(others.high)}"
    return [*bars, *line, style.label(ax, (0, row - _LOWER / 2), text, color=style.GREY, offset=(6, 0))]


def _key(figure: Figure, answer: Page) -> list[Artist]:
    """The groups in words in their colours, with their share of the middle, along a line under the title."""
    found: list[Artist] = []
    at, y = 0.03, 0.835
    for name, (amount, color) in _parts(answer).items():
        share = amount.mid / answer.usd.mid if math.isfinite(answer.usd.mid) else 0.0
        text = f"{name} {usd(amount.mid)}" + (f", {percent(share)}" if share >= _SMALL else "")
        found.append(
            figure.text(
                at, y, text, color=color, fontsize=style.NORMAL, fontweight="bold", parse_math=False, va="center"
            )
        )
        at += 0.0084 * len(text) + 0.02
    return found


def _truth(ax: Axes, answer: Page) -> list[Artist]:
    """What the published run took, at the plan's price, as a line across."""
    truth = answer.truth
    if truth is None or answer.final.is_endless:
        return []
    line = ax.axvline(truth.usd, color=style.RED, linewidth=1.6, linestyle=(0, (4, 2)), zorder=4, ymax=0.93)
    ha: style.Side = "right" if truth.usd > 0.7 * ax.get_xlim()[1] else "left"
    aside = -5 if ha == "right" else 5
    text = f"the run took {usd(truth.usd)} at this price"
    return [
        line,
        style.label(ax, (truth.usd, -0.6), text, color=style.RED, offset=(aside, 0), ha=ha, bold=True, ground=True),
    ]
