"""Which setting is worth its memory? Checkpointing x micro-batch x sharding, by memory and speed."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import memory
from costkit.figures import style
from costkit.plan.fitting import Compared
from costkit.units import GIB, gib, short_count

_BOX = (0.075, 0.14, 0.70, 0.69)
_LONG = 1e5
_NEAR, _FEW, _MOST_TICKS, _LEAST_APART = 1.55, 12, 10, 0.045
_NAMES = {"none": "no", "selective": "selective", "full": "full"}
_COLORS = {"none": style.RED, "selective": style.ORANGE, "full": style.BLUE}


def settings(compared: Compared) -> Figure:
    """Memory against relative speed of every setting, the frontier joined, what does not fit hollow."""
    answer = compared.answer
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=compared.sentence)
    style.title(figure, _finding(compared))
    ax = style.axes(figure, _BOX)
    usable = answer.gpu.usable_bytes / GIB
    shown = _shown(compared, usable)
    speeds = [compared.speed(one) for one in shown]
    right = max(1.6 * usable, 1.1 * max(one.budget.device_bytes.mid / GIB for one in shown))
    ax.set_xlim(0, right)
    ax.set_ylim(min(0.7, min(speeds) - 0.05), max(1.1, max(speeds) + 0.08))
    ax.axvspan(usable, right, color=style.FAINT, zorder=0)
    style.label(ax, (usable, ax.get_ylim()[0]), f"beyond {gib(answer.gpu.usable_bytes)}", offset=(5, 10))
    _points(ax, compared, shown)
    _frontier(ax, compared, [one for one in shown if one.on_frontier])
    marks = np.arange(0, right, style.tick_step(right, most=_MOST_TICKS)).tolist()
    style.ticks(
        ax,
        "x",
        marks,
        [short_count(value) if right >= _LONG else f"{value:,.10g}" for value in marks],
        "GiB on the device (middle estimate)",
    )
    low, high = ax.get_ylim()
    speeds_at = [value / 10 for value in range(int(low * 10) + 1, int(high * 10) + 1, 1 if high - low < 1 else 2)]
    style.ticks(ax, "y", speeds_at, [f"{value:.0%}" for value in speeds_at], "Tokens per second, to the plan's")
    ax.grid(axis="y", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    _key(figure, compared, shown)
    return figure


def _shown(compared: Compared, usable: float) -> list[memory.Choice]:
    """The settings near the GPU's size; where none is, the few that need least."""
    by_need = sorted(compared.choices, key=lambda one: one.budget.device_bytes.mid)
    near = [one for one in by_need if one.budget.device_bytes.mid / GIB <= _NEAR * usable]
    return near or by_need[:_FEW]


def _finding(compared: Compared) -> str:
    best = compared.best
    if best is None:
        return "None of these settings fits with its band"
    way = {"none": "No", "selective": "Selective", "full": "Full"}[best.budget.request.checkpointing]
    return (
        f"{way} checkpointing with a micro-batch of {best.budget.micro_batch:,} is the fastest that fits with its band"
    )


def _points(ax: Axes, compared: Compared, shown: list[memory.Choice]) -> None:
    for one in shown:
        request, needed, y = one.budget.request, one.budget.device_bytes, compared.speed(one)
        color = _COLORS[request.checkpointing]
        ax.plot([needed.low / GIB, needed.high / GIB], [y, y], color=color, alpha=0.25, linewidth=3)
        marker = "s" if _is_sharded(one) else "o"
        face = color if one.verdict == "fits" else "white"
        ax.plot([needed.mid / GIB], [y], marker, markersize=6.5, zorder=4, color=color, markerfacecolor=face)


def _frontier(ax: Axes, compared: Compared, best: list[memory.Choice]) -> None:
    line = sorted(best, key=lambda one: one.budget.device_bytes.mid)
    points = [(one.budget.device_bytes.mid / GIB, compared.speed(one)) for one in line]
    ax.plot([x for x, _ in points], [y for _, y in points], color=style.GREY, linewidth=1.0, zorder=2)
    labelled = np.full(2, -1.0)
    for at, one in zip(points, line, strict=True):
        place = ax.transAxes.inverted().transform(ax.transData.transform(at))
        if np.hypot(*(place - labelled)) > _LEAST_APART:
            style.label(ax, at, f"x{one.budget.micro_batch:,}", offset=(0, 11), ha="center", size=style.TINY)
            labelled = place


def _key(figure: Figure, compared: Compared, shown: list[memory.Choice]) -> None:
    there = {one.budget.request.checkpointing for one in compared.choices}
    rows = [(color, f"{_NAMES[name]} checkpointing") for name, color in _COLORS.items() if name in there]
    for i, (color, word) in enumerate(rows):
        figure.text(0.80, 0.80 - 0.07 * i, "●", color=color, fontsize=style.NORMAL, va="center")
        figure.text(0.825, 0.80 - 0.07 * i, word, fontsize=style.SMALL, color=style.INK, va="center")
    n_beyond = len(compared.choices) - len(shown)
    notes = [
        "filled: fits with its band",
        *(["square: weights sharded"] if any(map(_is_sharded, shown)) else []),
        "xN: micro-batch",
        "band: low to high",
        "line: nothing else is",
        "as fast with less",
        *([f"{n_beyond} settings need still more"] if n_beyond else []),
    ]
    figure.text(0.80, 0.58, "\n".join(notes), fontsize=style.SMALL, color=style.GREY, va="top", linespacing=1.5)


def _is_sharded(one: memory.Choice) -> bool:
    """Whether weights are sharded although the stack has another way."""
    return one.budget.request.zero == 3 and not one.budget.request.about_stack.always_shards
