"""What if it is served, and what if data runs short? The best split along tokens served and along unique tokens."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import scaling
from costkit.figures import style
from costkit.plan.sizing import DataLimit, Frontier, Serving, Unanswered
from costkit.units import count, number, percent, short_count, usd

_LEFT, _RIGHT = (0.072, 0.13, 0.40, 0.70), (0.575, 0.13, 0.405, 0.70)
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_EPOCH_TICKS = (1, 2, 4, 8, 16, 40, 100)


def serving(found: Serving | Unanswered) -> Figure:
    """The size that is cheapest over the model's life, and what it saves, against tokens served."""
    if isinstance(found, Unanswered):
        return _unanswered(found)
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{found.finding}. {found.sentence}")
    style.title(made, found.finding)
    _draw_best_size(style.axes(made, _LEFT), found)
    _draw_lifetime(style.axes(made, _RIGHT), found)
    _mark_extrapolation(made, found.answer)
    return made


def _draw_best_size(ax: Axes, found: Serving) -> None:
    alone = float(found.alone.n_params)
    _tokens_axis(ax, found.served_tokens, "Tokens served in the model's life")
    ax.set_ylim(0, 1.08)
    ax.axhline(1, color=style.PALE, linewidth=1)
    style.label(ax, (ax.get_xlim()[1], 1.0), f"best for training alone: {count(alone)}", offset=(-4, 8), ha="right")
    ax.plot(np.log10(found.served_tokens), found.n_params / alone, color=style.BLUE, linewidth=1.8)
    loss = number(float(scaling.loss_of(found.alone)))
    style.heading(ax, f"Cheapest size for the same loss of {loss}", color=style.BLUE)
    _mark_plan(ax, found.answer.demand.served_tokens)
    style.ticks(ax, "y", _QUARTERS, [count(alone * step) if step else "0" for step in _QUARTERS], "Parameters")


def _draw_lifetime(ax: Axes, found: Serving) -> None:
    x, alone, best = (
        np.log10(column) for column in (found.served_tokens, found.alone_lifetime_usd, found.lifetime_usd)
    )
    _tokens_axis(ax, found.served_tokens, "Tokens served in the model's life")
    low, high = float(np.floor(best.min())), float(np.ceil(alone.max()))
    ax.set_ylim(low, high)
    ax.plot(x, alone, color=style.GREY, linewidth=1.4)
    ax.plot(x, best, color=style.BLUE, linewidth=1.8)
    ax.fill_between(x, best, alone, color=style.BLUE, alpha=0.12, linewidth=0)
    right = float(x[-1])
    style.label(ax, (right - 1.8, _at(right - 1.8, x, alone)), "best for training alone", offset=(-8, 6), ha="right")
    below = (right, _at(right - 1.7, x, best))
    style.label(ax, below, "best over its life", color=style.BLUE, offset=(-4, 0), ha="right")
    style.heading(ax, "Training and serving together")
    _mark_plan(ax, found.answer.demand.served_tokens)
    powers = np.arange(low, high + 0.5)
    style.ticks(ax, "y", powers.tolist(), [usd(10**power) for power in powers], "Lifetime cost, USD")


def _at(where: float, x: scaling.Numbers, y: scaling.Numbers) -> float:
    return float(np.interp(where, np.asarray(x), np.asarray(y)))


def data_limit(found: DataLimit | Unanswered) -> Figure:
    """How much of the compute still counts when only so many tokens are different, and how often each is seen."""
    if isinstance(found, Unanswered):
        return _unanswered(found)
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{found.finding}. {found.sentence}")
    style.title(made, found.finding)
    _draw_counting(style.axes(made, _LEFT), found)
    _draw_epochs(style.axes(made, _RIGHT), found)
    _mark_extrapolation(made, found.answer)
    return made


def _draw_counting(ax: Axes, found: DataLimit) -> None:
    _tokens_axis(ax, found.unique_tokens, "Unique tokens at hand")
    ax.set_ylim(0, 1.05)
    ax.axhline(1, color=style.PALE, linewidth=1)
    ax.plot(np.log10(found.unique_tokens), found.useful_fraction, color=style.BLUE, linewidth=1.8)
    style.heading(ax, "Compute that would do as well on unlimited data", color=style.BLUE)
    _mark_plan(ax, found.answer.demand.unique_tokens)
    style.ticks(ax, "y", _QUARTERS, [percent(step) for step in _QUARTERS], "Share of the compute that counts")


def _draw_epochs(ax: Axes, found: DataLimit) -> None:
    _tokens_axis(ax, found.unique_tokens, "Unique tokens at hand")
    most, top = float(np.log10(scaling.MAX_TESTED_EPOCHS)), 2.3
    ax.set_ylim(0, top)
    ax.axhspan(most, top, facecolor=style.ORANGE, alpha=0.12, linewidth=0)
    past = f"past {scaling.MAX_TESTED_EPOCHS:g} epochs: worth little, can do harm"
    style.label(ax, (ax.get_xlim()[1], most), past, color=style.RED, offset=(-4, 9), ha="right")
    ax.plot(np.log10(found.unique_tokens), np.log10(found.epochs), color=style.BLUE, linewidth=1.8)
    style.heading(ax, "Epochs of the best split", color=style.BLUE)
    _mark_plan(ax, found.answer.demand.unique_tokens)
    names = [f"{tick:,}" for tick in _EPOCH_TICKS]
    style.ticks(ax, "y", np.log10(_EPOCH_TICKS).tolist(), names, "Times that each token is seen")


def _unanswered(found: Unanswered) -> Figure:
    """A picture that says why there is none."""
    made = Figure((style.WIDTH, 0.6), facecolor="white", label=f"{found.finding}. {found.sentence}")
    style.title(made, found.finding)
    return made


def _tokens_axis(ax: Axes, tokens: scaling.Numbers, name: str) -> None:
    low, high = (float(np.log10(end)) for end in (np.min(tokens), np.max(tokens)))
    ax.set_xlim(low, high)
    powers = np.arange(np.ceil(low - 1e-9), high + 1e-9)
    style.ticks(ax, "x", powers.tolist(), [short_count(10**power) for power in powers], name)


def _mark_extrapolation(made: Figure, answer: Frontier) -> None:
    """A word in the corner where the plan's compute lies beyond the runs behind its law."""
    if answer.law.outside(flop=answer.budget_flop, n_params=float(answer.optimum.n_params)):
        made.text(0.985, 0.94, "beyond the runs behind the law", fontsize=style.SMALL, color=style.GREY, ha="right")


def _mark_plan(ax: Axes, tokens: float) -> None:
    """Where the plan stands, if it says so."""
    if 0 < tokens < np.inf:
        at = float(np.log10(tokens))
        ax.axvline(at, color=style.BLUE, linewidth=0.8)
        style.label(ax, (at, ax.get_ylim()[1]), "the plan", color=style.BLUE, offset=(4, -24))
