"""What is a lever worth, first and last? One line a lever from its saving when it comes first to when it comes last."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.dollars import usd_tick
from costkit.figures.replanning.waterfall import COLORS
from costkit.levers import Credit
from costkit.plan import Replan
from costkit.units import usd

_LEFT, _RIGHT, _ABOVE, _BELOW, _ROW, _LEAST_ROWS = 0.235, 0.15, 1.05, 0.62, 0.42, 6
_MOST_TICKS, _ROOM = 8, 0.08


def dumbbell(answer: Replan) -> Figure:
    """Each lever's saving when it comes first (hollow), last (filled), and on average over all orders (a stroke)."""
    shown = sorted(answer.credits, key=lambda one: -one.shapley_usd)
    rows = max(len(shown), _LEAST_ROWS)
    height = _ABOVE + _BELOW + _ROW * rows
    figure = Figure((style.WIDTH, height), facecolor="white", label=answer.order_told)
    style.title(figure, _finding(shown, answer))
    ax = style.axes(figure, (_LEFT, _BELOW / height, 1 - _LEFT - _RIGHT, 1 - (_ABOVE + _BELOW) / height))
    ax.spines["left"].set_visible(False)
    if not shown:
        ax.set_axis_off()
        return figure
    _key(figure)
    _axis(ax, shown)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_yticks(range(len(shown)), [answer.label(one.name) for one in shown])
    ax.tick_params(axis="y", length=0)
    for row, one in enumerate(shown):
        _lever(ax, row, one)
    return figure


def _finding(shown: list[Credit], answer: Replan) -> str:
    if not shown:
        return "No lever is pulled: there is no order"
    widest = max(shown, key=lambda one: abs(one.first_usd - one.last_usd))
    if not widest.is_shared:
        return "First or last, each lever saves about the same"
    name = answer.label(widest.name)
    return f"{name}: {_worth(widest.first_usd)} first, {_worth(widest.last_usd)} last"


def _worth(amount: float) -> str:
    return f"saves {usd(amount)}" if amount >= 0 else f"costs {usd(-amount)}"


def _key(figure: Figure) -> None:
    height = figure.get_size_inches()[1]
    text = "hollow: pulled first; filled: pulled last; stroke: on average over all orders, which sums to the whole drop"
    figure.text(0.012, 1 - 0.68 / height, text, color=style.GREY, fontsize=style.NORMAL, va="center")


def _axis(ax: Axes, shown: list[Credit]) -> None:
    amounts = [amount for one in shown for amount in (one.first_usd, one.last_usd, one.shapley_usd)]
    low, high = min(0.0, *amounts), max(0.0, *amounts)
    span = (high - low) or 1.0
    step = style.tick_step(span, most=_MOST_TICKS)
    first = -(-low // step) * step
    ticks = [first + index * step for index in range(int((high - first) / step + 1e-9) + 1)]
    ax.set_xlim(low - _ROOM * span, high + _ROOM * span)
    labels = [usd_tick(tick) if tick >= 0 else f"-{usd_tick(-tick)}" for tick in ticks]
    style.ticks(ax, "x", ticks, labels, "Saved, US dollars")
    ax.axvline(0, color=style.PALE, linewidth=1.0, zorder=1)


def _lever(ax: Axes, row: int, one: Credit) -> None:
    color = COLORS[one.group]
    ax.plot([one.first_usd, one.last_usd], [row, row], color=color, linewidth=2.4, alpha=0.5, zorder=2)
    ax.plot(one.first_usd, row, "o", markersize=9, markerfacecolor="white", markeredgecolor=color, zorder=3)
    ax.plot(one.last_usd, row, "o", markersize=7, color=color, zorder=4)
    ax.plot(one.shapley_usd, row, "|", markersize=16, markeredgewidth=2, color=style.INK, zorder=5)
    right = max(one.first_usd, one.last_usd, one.shapley_usd)
    style.label(ax, (right, row), f"{usd(one.shapley_usd)} on average", color=style.INK, offset=(9, 0), bold=True)
