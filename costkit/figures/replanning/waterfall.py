"""How does the bill fall? One bar a lever in the plan's order, its band as a line, what was published as a ghost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from costkit.figures import style
from costkit.figures.dollars import round_top, usd_ticks
from costkit.figures.layers import Layered
from costkit.levers import Step
from costkit.plan import Replan
from costkit.units import Range, usd

COLORS = {"price": style.BLUE, "engineering": style.ORANGE, "work": style.GREEN}
WORDS = {"price": "price", "engineering": "engineering", "work": "a better size"}
_LEFT, _RIGHT, _ABOVE, _BELOW = 0.235, 0.025, 1.05, 0.62
_ROW, _LEAST_ROWS = 0.42, 7
_OURS, _GHOST, _ASIDE = 0.42, 0.2, 0.14
_ROOM, _LETTER, _BOLD, _ROUNDING = 1.16, 0.0078, 1.15, 1e-9

Told = tuple[tuple[int, float, float], ...]
"""Of each lever whose saving was published: its row, the saving, and the bill after it."""


def waterfall(answer: Replan, *, reuse: Figure | None = None) -> Figure:
    """The bill lever by lever, from the run as it is to what is left, each with its range.

    Where savings were published, they fall below ours, hollow, from the published bill. `reuse` is a figure that this
    function made before: it is drawn anew in place where its axes still hold.
    """
    names, top, told = _names(answer), round_top(_ROOM * _most(answer)), _told(answer)
    key = ("replanning.waterfall", top, *names, told)
    made = reuse if isinstance(reuse, Layered) and reuse.key == key else _still(top, names, told, key)
    made.clear_moving()
    made.set_label(" ".join([answer.headline, *answer.warnings]))
    made.move(style.title(made, _finding(answer)))
    (ax,) = made.axes
    for artist in (
        *_bars(ax, answer),
        *_target(ax, answer),
        *_key(made, answer),
    ):
        made.move(artist)
    return made


def _names(answer: Replan) -> list[str]:
    if answer.waterfall is None:
        return [""]
    return ["As it is", *(answer.label(step.name) for step in answer.waterfall.steps), "With all of them"]


def _most(answer: Replan) -> float:
    if answer.waterfall is None:
        return 1.0
    return max(answer.waterfall.baseline.usd, *(step.usd.high for step in answer.waterfall.steps), 0.0)


def _told(answer: Replan) -> Told:
    """The listed savings of levers that are pulled."""
    if answer.listed is None or answer.waterfall is None:
        return ()
    rows = enumerate((answer.listed.saved_usd.get(step.name) for step in answer.waterfall.steps), start=1)
    usd_before, found = answer.listed.baseline_usd, []
    for row, saved in rows:
        if saved is not None:
            usd_before -= saved
            found.append((row, saved, usd_before))
    return tuple(found)


def _finding(answer: Replan) -> str:
    found = answer.waterfall
    if found is None:
        return "The run practically never finishes: there is no bill to lower"
    end = found.end_usd
    told = f"{usd(found.baseline.usd)} becomes {usd(end.mid)}"
    return f"{told}, in eight of ten draws {usd(end.low)} to {usd(end.high)}" if usd(end.low) != usd(end.high) else told


def _still(top: float, names: list[str], told: Told, key: object) -> Layered:
    height = _ABOVE + _BELOW + _ROW * max(len(names), _LEAST_ROWS)
    made = Layered((style.WIDTH, height), key)
    ax = style.axes(made, (_LEFT, _BELOW / height, 1 - _LEFT - _RIGHT, 1 - (_ABOVE + _BELOW) / height))
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0, top)
    ax.set_ylim(len(names) - 0.5, -0.6)
    if names == [""]:
        ax.set_axis_off()
        return made
    usd_ticks(ax, top, "The bill, US dollars")
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    for row in (0, len(names) - 1):
        ax.get_yticklabels()[row].set_fontweight("bold")
    _ghosts(ax, told)
    return made


def _bars(ax: Axes, answer: Replan) -> Iterator[Artist]:
    """Our bars with their bands and labels; few artists for many rows, as each costs a part of a redraw."""
    found = answer.waterfall
    if found is None:
        yield style.label(ax, (0.3, 0), "no bill: it never finishes", color=style.RED, size=style.LARGE, bold=True)
        return
    usd_before = [found.baseline.usd, *(step.usd.mid for step in found.steps)]
    up, last = (-_ASIDE if answer.listed else 0.0), len(usd_before)
    starts, ends = np.array([0.0, *usd_before[:-1], 0.0]), np.array([usd_before[0], *usd_before[1:], usd_before[-1]])
    colors = [style.INK, *map(_color, found.steps), style.INK]
    rows = np.arange(last + 1) + up
    yield _rectangles(ax, rows - _OURS / 2, np.minimum(starts, ends), np.abs(ends - starts), _OURS, facecolors=colors)
    yield ax.vlines(usd_before, rows[:-1], rows[1:], color=style.PALE, linewidth=0.8, zorder=2)
    yield from _bands(ax, [step.usd for step in found.steps], found.end_usd, up)
    yield from _totals(ax, found.baseline.usd, found.end_usd, up, last + up)
    for row, (step, before) in enumerate(zip(found.steps, usd_before, strict=False), start=1):
        yield _step_label(ax, row + up, step, before)


def _color(step: Step) -> str:
    """The colour of its group; red for one that costs."""
    return style.RED if step.keep > 1 + _ROUNDING else COLORS[step.group]


def _rectangles(
    ax: Axes, bottoms: Iterable[float], lefts: Iterable[float], widths: Iterable[float], height: float, **look: Any
) -> Artist:
    """Bars in one artist."""
    bars = [
        Rectangle((left, bottom), width, height) for left, bottom, width in zip(lefts, bottoms, widths, strict=True)
    ]
    return ax.add_collection(PatchCollection(bars, zorder=3, **look), autolim=False)


def _bands(ax: Axes, steps: list[Range], end: Range, up: float) -> Iterator[Artist]:
    """The middle 80% of the bill after every step; over the last bar in white."""
    ys, last = np.arange(len(steps) + 1) + 1 + up, len(steps) + 1 + up
    lows, highs = [*(one.low for one in steps), end.mid], [*(one.high for one in steps), end.high]
    yield ax.hlines(ys, lows, highs, color=style.INK, linewidth=1.3, zorder=5)
    yield ax.hlines(last, end.low, end.mid, color="white", linewidth=1.3, zorder=5)


def _totals(ax: Axes, before: float, end: Range, first: float, last: float) -> Iterator[Artist]:
    span = f" ({usd(end.low)} to {usd(end.high)})" if end.low < end.high else ""
    for at, y, text in ((before, first, usd(before)), (end.high, last, f"{usd(end.mid)}{span}")):
        is_far = at + _LETTER * _BOLD * len(text) * ax.get_xlim()[1] > ax.get_xlim()[1]
        side: style.Side = "right" if is_far else "left"
        color, aside = ("white", -6) if is_far else (style.INK, 6)
        where = (before if at == before else end.low, y) if is_far else (at, y)
        yield style.label(ax, where, text, color=color, offset=(aside, 0), ha=side, bold=True, ground=not is_far)


def _step_label(ax: Axes, y: float, step: Step, before: float) -> Artist:
    """What it saves there, in the middle; the line tells the band of the bill."""
    text = _change(step.saved_usd.mid) if step.saved_usd.mid else "nothing"
    least, most = min(before, step.usd.mid, step.usd.low), max(before, step.usd.mid, step.usd.high)
    at, side = _beside(ax, least, most, text)
    aside = -7 if side == "right" else 7
    return style.label(ax, (at, y), text, color=style.INK, offset=(aside, 0), ha=side, ground=True)


def _beside(ax: Axes, left: float, right: float, text: str) -> tuple[float, style.Side]:
    """Where a text stands beside what spans from left to right: behind it, or before it where only there is room."""
    top = ax.get_xlim()[1]
    width = _LETTER * len(text) * top
    return (left, "right") if right + width > top and left > width else (right, "left")


def _change(saved: float) -> str:
    return f"-{usd(saved)}" if saved > 0 else f"+{usd(-saved)}"


def _ghosts(ax: Axes, told: Told) -> None:
    """The listed savings, hollow, falling from the published bill as they were told."""
    if not told:
        return
    rows, savings, ends = zip(*told, strict=True)
    look = {"facecolors": "white", "edgecolors": style.GREY, "linewidths": 0.9}
    _rectangles(ax, [row + _ASIDE for row in rows], ends, savings, _GHOST, **look)
    for row, saved, end in told:
        at, side = _beside(ax, end, end + saved, text := f"told: -{usd(saved)}")
        where = (at, row + _ASIDE + _GHOST / 2)
        style.label(ax, where, text, offset=(-5 if side == "right" else 5, 0), ha=side, size=style.TINY)


def _target(ax: Axes, answer: Replan) -> Iterator[Artist]:
    """The published end as a line across."""
    if answer.final_usd is None or answer.waterfall is None or answer.final_usd > ax.get_xlim()[1]:
        return
    at = answer.final_usd
    yield ax.axvline(at, color=style.RED, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)


def _key(figure: Figure, answer: Replan) -> Iterator[Artist]:
    """The groups in words in their colours, with what they save over all orders, along a line under the title."""
    height, at = figure.get_size_inches()[1], 0.012
    told = [
        (f"{WORDS[group]} {_change(answer.group_usd(group))}", color)
        for group, color in COLORS.items()
        if any(one.group == group and one.shapley_usd for one in answer.credits)
    ]
    if answer.listed:
        told.append(("hollow: as it was told", style.GREY))
    if answer.final_usd is not None:
        told.append((f"dashed: {usd(answer.final_usd)}, as published", style.RED))
    for text, color in told:
        yield figure.text(
            at,
            1 - 0.68 / height,
            text,
            color=color,
            fontsize=style.NORMAL,
            fontweight="bold",
            parse_math=False,
            va="center",
        )
        at += 0.0082 * len(text) + 0.02
