"""How sure is the size? Tokens per parameter along compute: one law with its band, and every other law beside it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.plan.sizing import Doubt

_BOX, _DOTS_BOX = (0.062, 0.13, 0.43, 0.70), (0.70, 0.13, 0.285, 0.70)
_FLOP, _RATIO, _DOTS = (18.0, 27.0), (-0.3, 2.6), (-0.9, 2.3)


def doubt(found: Doubt) -> Figure:
    """Tokens per parameter by law: along compute, and at the plan's own compute with intervals where known."""
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{found.finding}. {found.sentence}")
    style.title(made, found.finding)
    _draw_ratios(style.axes(made, _BOX), found)
    _draw_dots(style.axes(made, _DOTS_BOX), found)
    return made


def _draw_ratios(ax: Axes, found: Doubt) -> None:
    ax.set_xlim(*_FLOP)
    ax.set_ylim(*_RATIO)
    x, law = np.log10(found.own.flop), found.opinions[0].law
    for curve in found.others:
        ax.plot(x, np.log10(curve.mid), color=style.PALE, linewidth=1, scaley=False)
    if len(found.own.low):
        low, high = np.log10(found.own.low), np.log10(found.own.high)
        ax.fill_between(x, low, high, color=style.BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, np.log10(found.own.mid), color=style.BLUE, linewidth=1.8)
    at = float(np.log10(found.budget_flop))
    ax.axvline(at, color=style.BLUE, linewidth=0.8)
    style.label(ax, (at, _RATIO[1]), "the plan's compute", color=style.BLUE, offset=(4, -8))
    style.beyond(ax, "beyond the runs behind the law", x=law.flop_range[1])
    refits = ", its middle 80% of refits" if len(found.own.low) else ""
    style.heading(ax, f"{law.title}{refits}, other laws in grey", color=style.BLUE)
    style.ticks(
        ax, "x", np.arange(18, 28).tolist(), [f"1e{power}" for power in range(18, 28)], "Training compute, FLOP"
    )
    _ratio_ticks(ax, "y", (1, 3, 10, 30, 100, 300))


def _ratio_ticks(ax: Axes, which: style.Which, ratios: tuple[float, ...]) -> None:
    style.ticks(ax, which, np.log10(ratios).tolist(), [f"{ratio:g}" for ratio in ratios], "Tokens per parameter")


def _draw_dots(ax: Axes, found: Doubt) -> None:
    ordered = sorted(found.opinions, key=lambda opinion: float(opinion.split.tokens_per_param))
    ax.set_ylim(-0.7, len(ordered) - 0.3)
    ax.set_xlim(*_DOTS)
    for row, opinion in enumerate(ordered):
        color = style.BLUE if opinion is found.opinions[0] else style.GREY
        if opinion.tokens_per_param:
            ends = np.log10([opinion.tokens_per_param.low, opinion.tokens_per_param.high])
            ax.plot(ends, [row, row], color=color, linewidth=3, alpha=0.35)
        x = max(float(np.log10(opinion.split.tokens_per_param)), _DOTS[0])
        ax.plot([x], [row], "o", color=color, markerfacecolor="white" if opinion.outside else color, markersize=6)
    style.heading(ax, "At the plan's compute (hollow: beyond its runs)")
    style.ticks(ax, "y", list(range(len(ordered))), [opinion.law.title for opinion in ordered], "")
    ax.tick_params(axis="y", length=0, labelsize=style.TINY)
    _ratio_ticks(ax, "x", (0.3, 1, 3, 10, 30, 100))
    ax.grid(axis="x", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
