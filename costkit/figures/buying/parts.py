"""Where does a dollar on spot go? The mean bill taken apart, beside the bill on demand."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.plan.buying import Savings
from costkit.plan.buying.words import otherwise, share
from costkit.units import usd

_BOX = (0.03, 0.17, 0.945, 0.68)
_HALF = 0.36
_COLORS = {
    "useful work": style.BLUE,
    "work done again": style.RED,
    "writing checkpoints": style.SKY,
    "restarts": style.ORANGE,
    "notices": style.PURPLE,
    "waiting": style.GREY,
    "storage and moves": style.GREEN,
    "first-hour credit": style.GREEN,
}


def parts(answer: Savings) -> Figure:
    """The parts of the mean bill on spot, one after the other, up to the whole, and the bill on demand as a ghost."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=_alt(answer))
    style.title(figure, answer.where_it_goes.removesuffix(".").split(";")[0])
    ax = style.axes(figure, _BOX)
    ax.spines["left"].set_visible(False)
    found = {name: amount for name, amount in answer.parts_usd().items() if amount}
    steps = [*found.items()]
    whole = sum(found.values())
    top = max(answer.on_demand_usd, whole, *(abs(amount) for amount in found.values()), 1e-9) * 1.16
    ax.set_ylim(0, top)
    ax.set_xlim(-0.6, len(steps) + 1.6)
    at = 0.0
    for i, (name, amount) in enumerate(steps):
        _bar(ax, i, at, amount, _COLORS[name], f"{usd(amount)}\n{share(amount / whole)}")
        at += amount
        ax.plot([i + _HALF, i + 1 - _HALF], [at, at], color=style.PALE, linewidth=1.0)
    if steps:
        _bar(ax, len(steps), 0.0, whole, style.INK, usd(whole), bold=True)
    _ghost(ax, len(steps) + 1, answer)
    spot = "spot,\nmean bill" if steps else "spot,\nnever done"
    names = [*(name.replace(" ", "\n", 1) for name, _ in steps), spot, f"{otherwise(answer)},\nmean bill"]
    style.ticks(ax, "x", list(range(len(names))), names, "")
    ax.tick_params(axis="x", length=0)
    ax.set_yticks([])
    style.heading(ax, "Mean of the simulated runs that finished, in US dollars and as shares of the bill on spot")
    return figure


def _alt(answer: Savings) -> str:
    told = ", ".join(f"{name} {usd(amount)}" for name, amount in answer.parts_usd().items() if amount)
    parts_told = f" The parts: {told}." if told else ""
    return f"{answer.where_it_goes}{parts_told} {otherwise(answer).capitalize()}: {usd(answer.on_demand_usd)}."


def _bar(ax: Axes, x: int, at: float, amount: float, color: str, text: str, *, bold: bool = False) -> None:
    ax.bar(x, amount, 2 * _HALF, bottom=at, color=color, edgecolor="white", linewidth=0.6, zorder=3)
    style.label(
        ax, (x, max(at, at + amount)), text, color=color if bold else style.INK, offset=(0, 12), ha="center", bold=bold
    )


def _ghost(ax: Axes, x: int, answer: Savings) -> None:
    """The bill on demand, hollow: what is compared with."""
    amount = answer.on_demand_usd
    ax.bar(x, amount, 2 * _HALF, facecolor="none", edgecolor=style.GREY, linewidth=1.2, linestyle=(0, (4, 2)))
    style.label(ax, (x, amount), usd(amount), color=style.GREY, offset=(0, 12), ha="center", bold=True)
