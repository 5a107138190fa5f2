"""What if it is served, and what if data runs short? The best split along tokens served and along unique tokens."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import scaling
from costkit.figures import style
from costkit.plan import Frontier
from costkit.units import count, number, percent, short_count, usd

Array = npt.NDArray[np.float64]

_LEFT, _RIGHT = (0.072, 0.13, 0.40, 0.70), (0.575, 0.13, 0.405, 0.70)
_SERVED, _UNIQUE = (9.0, 15.0), (8.0, 13.0)
_NOTICEABLE = 0.05


def serving(answer: Frontier) -> Figure:
    """The size that is cheapest over the model's life, and what it saves, against tokens served."""
    if answer.loss is None:
        return _without_loss(answer, "how serving changes the best size")
    served = np.geomspace(10 ** _SERVED[0], 10 ** _SERVED[1], 97)
    ratio, limit = answer.plan.data.serving_cost_ratio, answer.plan.data.unique_tokens
    alone = scaling.cheapest_for_loss(answer.law, loss=answer.loss, unique_tokens=limit)
    best = scaling.cheapest_for_loss(answer.law, loss=answer.loss, inference_tokens=served * ratio, unique_tokens=limit)
    saved = 1 - np.asarray(best.lifetime_flop(served * ratio)) / np.asarray(alone.lifetime_flop(served * ratio))
    finding = _serving_finding(served, saved)
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{finding}. {_at_plan(answer)}")
    style.title(made, finding)
    left, right = style.axes(made, _LEFT), style.axes(made, _RIGHT)
    _draw_best_size(left, answer, served, np.asarray(best.n_params), float(alone.n_params))
    _draw_lifetime(right, answer, served * ratio, served, best, alone)
    return made


def _serving_finding(served: Array, saved: Array) -> str:
    enough = served[saved >= _NOTICEABLE]
    if not len(enough):
        return "Serving does not change the best size here"
    fewest = count(float(enough[0]))
    return f"From {fewest} tokens served, a smaller model saves {percent(_NOTICEABLE)} or more over its life"


def _at_plan(answer: Frontier) -> str:
    if not answer.serving_tokens:
        return "The plan counts no tokens served."
    served = count(answer.plan.data.inference_tokens)
    return f"The plan serves {served} tokens: {count(float(answer.optimum.n_params))} parameters are cheapest then."


def _draw_best_size(ax: Axes, answer: Frontier, served: Array, sizes: Array, alone: float) -> None:
    x = np.log10(served)
    ax.set_xlim(*_SERVED)
    ax.set_ylim(0, 1.08)
    ax.axhline(1, color=style.PALE, linewidth=1)
    style.label(ax, (_SERVED[1], 1.0), f"best for training alone: {count(alone)}", offset=(-4, 8), ha="right")
    ax.plot(x, sizes / alone, color=style.BLUE, linewidth=1.8)
    style.heading(ax, f"Cheapest size for the same loss of {number(answer.loss or 0)}", color=style.BLUE)
    _served_axis(ax, answer)
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    style.ticks(ax, "y", steps, [count(alone * step) if step else "0" for step in steps], "Parameters")


def _draw_lifetime(
    ax: Axes, answer: Frontier, equivalent: Array, served: Array, best: scaling.Split, alone: scaling.Split
) -> None:
    x, price = np.log10(served), answer.usd_per_flop
    lines = [np.log10(np.asarray(split.lifetime_flop(equivalent)) * price) for split in (alone, best)]
    ax.set_xlim(*_SERVED)
    low, high = float(np.floor(lines[1].min())), float(np.ceil(lines[0].max()))
    ax.set_ylim(low, high)
    ax.plot(x, lines[0], color=style.GREY, linewidth=1.4)
    ax.plot(x, lines[1], color=style.BLUE, linewidth=1.8)
    ax.fill_between(x, lines[1], lines[0], color=style.BLUE, alpha=0.12, linewidth=0)
    style.label(ax, (13.2, float(np.interp(13.2, x, lines[0]))), "best for training alone", offset=(-8, 6), ha="right")
    low_label = (_SERVED[1], float(np.interp(13.3, x, lines[1])))
    style.label(ax, low_label, "best over its life", color=style.BLUE, offset=(-4, 0), ha="right")
    style.heading(ax, "Training and serving together")
    _served_axis(ax, answer)
    powers = np.arange(low, high + 0.5)
    style.ticks(ax, "y", powers.tolist(), [usd(10**power) for power in powers], "Lifetime cost, USD")


def _served_axis(ax: Axes, answer: Frontier) -> None:
    powers = np.arange(_SERVED[0], _SERVED[1] + 0.5)
    names = [short_count(10**power) for power in powers]
    style.ticks(ax, "x", powers.tolist(), names, "Tokens served in the model's life")
    if answer.serving_tokens:
        at = float(np.log10(answer.plan.data.inference_tokens))
        ax.axvline(at, color=style.BLUE, linewidth=0.8)
        style.label(ax, (at, ax.get_ylim()[1]), "the plan", color=style.BLUE, offset=(4, -24))


def data_limit(answer: Frontier) -> Figure:
    """How much of the compute still counts when only so many tokens are different, and how often each is seen."""
    if not isinstance(answer.law, scaling.ScalingLaw):
        return _without_loss(answer, "what a limit of data costs")
    unique = np.geomspace(10 ** _UNIQUE[0], 10 ** _UNIQUE[1], 81)
    split = scaling.optimal_split(answer.law, flop=answer.budget_flop, unique_tokens=unique)
    reached = np.maximum(np.asarray(split.loss), float(np.max(answer.law.E)) * (1 + 1e-12))
    counts = np.asarray(scaling.flop_for_loss(answer.law, loss=reached)) / answer.budget_flop
    epochs = np.maximum(np.asarray(split.n_tokens) / unique, 1.0)
    enough = unique[counts >= 1 - _NOTICEABLE]
    least, wasted = count(float(enough[0] if len(enough) else unique[-1])), percent(_NOTICEABLE)
    finding = f"Below {least} unique tokens, repetition wastes more than {wasted} of this compute"
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=f"{finding}. {_limit_at_plan(answer)}")
    style.title(made, finding)
    _draw_counting(style.axes(made, _LEFT), answer, unique, counts)
    _draw_epochs(style.axes(made, _RIGHT), answer, unique, epochs)
    return made


def _limit_at_plan(answer: Frontier) -> str:
    unique = answer.plan.data.unique_tokens
    if not np.isfinite(unique):
        return "The plan sets no limit of data."
    return f"The plan has {count(unique)} unique tokens and sees each {number(float(answer.choice.epochs))} times."


def _draw_counting(ax: Axes, answer: Frontier, unique: Array, counts: Array) -> None:
    ax.set_xlim(*_UNIQUE)
    ax.set_ylim(0, 1.05)
    ax.axhline(1, color=style.PALE, linewidth=1)
    ax.plot(np.log10(unique), counts, color=style.BLUE, linewidth=1.8)
    style.heading(ax, "Compute that would do as well on unlimited data", color=style.BLUE)
    _unique_axis(ax, answer)
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    style.ticks(ax, "y", steps, [percent(step) for step in steps], "Share of the compute that counts")


def _draw_epochs(ax: Axes, answer: Frontier, unique: Array, epochs: Array) -> None:
    top = 2.3
    ax.set_xlim(*_UNIQUE)
    ax.set_ylim(0, top)
    most = float(np.log10(scaling.MAX_TESTED_EPOCHS))
    ax.axhspan(most, top, facecolor=style.ORANGE, alpha=0.12, linewidth=0)
    style.label(
        ax, (_UNIQUE[1], most), "past 16 epochs: worth little, can do harm", color=style.RED, offset=(-4, 9), ha="right"
    )
    ax.plot(np.log10(unique), np.log10(epochs), color=style.BLUE, linewidth=1.8)
    style.heading(ax, "Epochs of the best split", color=style.BLUE)
    _unique_axis(ax, answer)
    ticks = (1, 2, 4, 8, 16, 40, 100)
    style.ticks(ax, "y", np.log10(ticks).tolist(), [f"{tick:,}" for tick in ticks], "Times that each token is seen")


def _unique_axis(ax: Axes, answer: Frontier) -> None:
    powers = np.arange(_UNIQUE[0], _UNIQUE[1] + 0.5)
    names = [short_count(10**power) for power in powers]
    style.ticks(ax, "x", powers.tolist(), names, "Unique tokens at hand")
    if np.isfinite(answer.plan.data.unique_tokens):
        at = float(np.log10(answer.plan.data.unique_tokens))
        ax.axvline(at, color=style.BLUE, linewidth=0.8)
        style.label(ax, (at, ax.get_ylim()[1]), "the plan", color=style.BLUE, offset=(4, -24))


def _without_loss(answer: Frontier, what: str) -> Figure:
    """A picture that says why there is none."""
    text = f"{answer.law.title} predicts no loss, so it can't say {what}"
    made = Figure((style.WIDTH, 1.0), facecolor="white", label=f"{text}.")
    style.title(made, text)
    return made
