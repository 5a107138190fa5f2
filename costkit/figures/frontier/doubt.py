"""How sure is the size? Tokens per parameter along compute: one law with its band, and every other law beside it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import scaling
from costkit.figures import style
from costkit.plan import Frontier, Opinion, opinions
from costkit.units import flop, number

_BOX, _DOTS_BOX = (0.062, 0.13, 0.43, 0.70), (0.70, 0.13, 0.285, 0.70)
_FLOP, _RATIO = (18.0, 27.0), (-0.3, 2.6)


def doubt(answer: Frontier) -> Figure:
    """Tokens per parameter by law: along compute, and at the plan's own compute with intervals where known."""
    found = opinions(answer)
    at = flop(answer.budget_flop)
    ratios = [float(opinion.split.tokens_per_param) for opinion in found]
    finding = f"At {at} the laws ask for {number(min(ratios))} to {number(max(ratios))} tokens per parameter"
    if not any(opinion.covers for opinion in found):
        finding += "; none was fitted there"
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{finding}. {_own(found[0])}")
    style.title(made, finding)
    _draw_ratios(style.axes(made, _BOX), answer, found)
    _draw_dots(style.axes(made, _DOTS_BOX), answer, found)
    return made


def _own(opinion: Opinion) -> str:
    interval, ratio = opinion.tokens_per_param, number(float(opinion.split.tokens_per_param))
    own = f"The plan's law, {opinion.law.title}, says {ratio}"
    return f"{own}, with a middle 80% of {number(interval.low)} to {number(interval.high)}." if interval else f"{own}."


def _draw_ratios(ax: Axes, answer: Frontier, found: list[Opinion]) -> None:
    ax.set_xlim(*_FLOP)
    ax.set_ylim(*_RATIO)
    compute = np.geomspace(10 ** _FLOP[0], 10 ** _FLOP[1], 91)
    x = np.log10(compute)
    for opinion in found[1:]:
        ax.plot(x, _log_ratio(opinion.law, compute), color=style.PALE, linewidth=1, scaley=False)
    law = answer.law
    if isinstance(law, scaling.ScalingLaw) and len(law.draws):
        drawn = _log_ratio(law.sampled(), compute)
        low, high = np.percentile(drawn, (10, 90), axis=0)
        ax.fill_between(x, low, high, color=style.BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, _log_ratio(law, compute), color=style.BLUE, linewidth=1.8)
    ax.axvline(float(np.log10(answer.budget_flop)), color=style.BLUE, linewidth=0.8)
    style.label(
        ax, (float(np.log10(answer.budget_flop)), _RATIO[1]), "the plan's compute", color=style.BLUE, offset=(4, -8)
    )
    end = float(np.log10(law.flop_range[1])) if np.isfinite(law.flop_range[1]) else _FLOP[1]
    ax.axvspan(end, _FLOP[1], facecolor="none", edgecolor=style.FAINT, hatch="//", linewidth=0, zorder=0)
    style.label(ax, (_FLOP[1], _RATIO[0]), "beyond the runs behind the law", offset=(-4, 9), ha="right", ground=True)
    style.heading(ax, f"{law.title}, its middle 80% of refits, other laws in grey", color=style.BLUE)
    style.ticks(
        ax, "x", np.arange(18, 28).tolist(), [f"1e{power}" for power in range(18, 28)], "Training compute, FLOP"
    )
    ratios = (1, 3, 10, 30, 100, 300)
    style.ticks(ax, "y", np.log10(ratios).tolist(), [str(ratio) for ratio in ratios], "Tokens per parameter")


def _log_ratio(law: scaling.Law, compute: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(np.log10(scaling.optimal_split(law, flop=np.asarray(compute)).tokens_per_param))


def _draw_dots(ax: Axes, answer: Frontier, found: list[Opinion]) -> None:
    ordered = sorted(found, key=lambda opinion: float(opinion.split.tokens_per_param))
    ax.set_ylim(-0.7, len(ordered) - 0.3)
    ax.set_xlim(-0.9, 2.3)
    for row, opinion in enumerate(ordered):
        color = style.BLUE if opinion.law.name == answer.law.name else style.GREY
        if opinion.tokens_per_param:
            ends = np.log10([opinion.tokens_per_param.low, opinion.tokens_per_param.high])
            ax.plot(ends, [row, row], color=color, linewidth=3, alpha=0.35)
        fill = color if opinion.covers else "white"
        x = float(np.log10(opinion.split.tokens_per_param))
        ax.plot([max(x, -0.85)], [row], "o", color=color, markerfacecolor=fill, markersize=6)
    style.heading(ax, "At the plan's compute (hollow: beyond its runs)")
    titles = [opinion.law.title for opinion in ordered]
    style.ticks(ax, "y", list(range(len(ordered))), titles, "")
    ax.tick_params(axis="y", length=0, labelsize=style.TINY)
    ratios = (0.3, 1, 3, 10, 30, 100)
    style.ticks(ax, "x", np.log10(ratios).tolist(), [f"{ratio:g}" for ratio in ratios], "Tokens per parameter")
    ax.grid(axis="x", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
