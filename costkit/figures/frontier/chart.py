"""Where does the plan stand? Compute against size with the frontier and its band, and the cost of another size.

- What stands still (axes, published models, the region beyond the law's runs) is drawn once; the answer is drawn anew.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from costkit import scaling, tables, training
from costkit.figures import style
from costkit.figures.layers import Layered
from costkit.plan.sizing import Frontier, Quality, words
from costkit.units import count, number, percent, short_count, usd

Array = npt.NDArray[np.float64]

_MAP_BOX, _SIZE_BOX = (0.062, 0.13, 0.545, 0.70), (0.68, 0.13, 0.305, 0.70)
_FLOP, _PARAMS = (18.0, 27.0), (7.0, 13.0)
_LOSSES = (3.4, 3.0, 2.7, 2.5, 2.35, 2.2, 2.1, 2.02, 1.96)
_SIZES, _EXTRA, _OFF_SCALE = (-1.0, 1.0), (-0.07, 1.5), 99.0
_NAMED: dict[str, tuple[float, float, style.Side]] = {
    "GPT-3 175B": (-6, 3, "right"),
    "Chinchilla 70B": (-8, 8, "right"),
    "Llama 3.1 405B": (6, -5, "left"),
    "Llama 3 8B": (6, -5, "left"),
    "PaLM 540B": (-6, 4, "right"),
    "Pythia 1B": (-3, -8, "left"),
    "TinyLlama 1.1B": (4, -7, "left"),
    "SmolLM2 135M": (6, -4, "left"),
}


def map(answer: Frontier, *, reuse: Figure | None = None) -> Figure:  # noqa: A001 - the picture is a map
    """Compute against size with the frontier and its band; beside it, what the same loss costs with another size.

    `reuse` is a figure that this function made before: it is drawn anew in place where its axes still hold.
    """
    limits = _limits(answer)
    key = ("frontier.map", limits, answer.law.flop_range[1], answer.law.n_params_range[1])
    made = reuse if isinstance(reuse, Layered) and reuse.key == key else _still(answer, limits, key)
    made.clear_moving()
    made.set_label(_alt(answer))
    made.move(style.title(made, _finding(answer)))
    for artist in (*_map_artists(made.axes[0], answer), *_size_artists(made.axes[1], answer)):
        made.move(artist)
    return made


def _finding(answer: Frontier) -> str:
    if answer.plan.model.pretrained:
        return "A fine-tune: no law says which size is best; the curves are of training from scratch"
    best, training = words.model(answer.choice), answer.plan.training
    if answer.quality is None:
        return f"{answer.law.title}: {best} for {words.budget(answer.plan)}"
    if training.size_fraction != 1:
        more = f"{percent(answer.overhead_fraction)} more than" if answer.overhead_fraction > 5e-4 else "as little as"
        return f"{best} reach the same loss for {more} the best size"
    if answer.demand.served_tokens:
        return f"{best} are cheapest with {count(answer.demand.served_tokens)} tokens to serve"
    if training.target_loss is not None:
        return f"{best} reach a loss of {number(training.target_loss)} for {usd(answer.usd(answer.choice))}"
    budget = words.budget(answer.plan)
    used_up = f"{count(float(answer.choice.n_params))} parameters use the data up; the rest of {budget} buys nothing"
    return used_up if answer.is_used_up else f"{best} are the best use of {budget}"


def _alt(answer: Frontier) -> str:
    return " ".join([answer.headline, f"The plan's own split: {words.planned(answer)}.", *answer.warnings])


def _limits(answer: Frontier) -> tuple[float, float, float, float]:
    """The same axes for every plan, widened by whole decades for one that lies outside."""
    splits = (answer.choice, answer.planned)
    x = [float(np.log10(split.flop)) for split in splits]
    y = [float(np.log10(split.n_params)) for split in splits]
    return (
        min(_FLOP[0], float(np.floor(min(x)))),
        max(_FLOP[1], float(np.ceil(max(x)))),
        min(_PARAMS[0], float(np.floor(min(y)))),
        max(_PARAMS[1], float(np.ceil(max(y)))),
    )


# What stands still: axes, published models, and where the law was not fitted.


def _still(answer: Frontier, limits: tuple[float, float, float, float], key: object) -> Layered:
    made = Layered((style.WIDTH, style.HEIGHT), key)
    _still_map(style.axes(made, _MAP_BOX), limits, answer.law)
    _still_sizes(style.axes(made, _SIZE_BOX))
    return made


def _still_map(ax: Axes, limits: tuple[float, float, float, float], law: scaling.Law) -> None:
    left, right, low, high = limits
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    powers, sizes = np.arange(left, right + 1), np.arange(low, high + 1)
    style.ticks(ax, "x", powers.tolist(), [f"1e{power:.0f}" for power in powers], "Training compute, FLOP")
    style.ticks(ax, "y", sizes.tolist(), [short_count(10**size) for size in sizes], "Parameters")
    style.beyond(ax, "beyond the runs behind the law", x=law.flop_range[1], y=law.n_params_range[1])
    _still_published(ax)


def _still_published(ax: Axes) -> None:
    models = tables.published_models()
    x = np.log10([training.flop(n_params=model.n_active_params, n_tokens=model.n_tokens) for model in models])
    y = np.log10([model.n_active_params for model in models])
    ax.plot(x, y, "o", markersize=3.5, color=style.GREY, markeredgewidth=0, zorder=2)
    for model, at_x, at_y in zip(models, x, y, strict=True):
        if model.name in _NAMED:
            dx, dy, side = _NAMED[model.name]
            style.label(ax, (at_x, at_y), model.name, offset=(dx, dy), ha=side, size=style.TINY)


def _still_sizes(ax: Axes) -> None:
    ax.set_xlim(*_SIZES)
    ax.set_ylim(*_EXTRA)
    fractions = {"1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0}
    style.ticks(
        ax, "x", np.log10(list(fractions.values())).tolist(), list(fractions), "Size, as a multiple of the best"
    )
    extra = {"least": 0.0, "+25%": 0.25, "+50%": 0.5, "+100%": 1.0, "+150%": 1.5}
    style.ticks(ax, "y", list(extra.values()), list(extra), "")
    ax.grid(axis="y", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)


# What moves: the answer.


def _map_artists(ax: Axes, answer: Frontier) -> list[Artist]:
    band = "band: middle 80% of refits" if len(answer.curve.low) else "no refits of this law are known"
    heading = style.heading(ax, f"Best size for every amount of compute ({band})", color=style.BLUE)
    return [
        heading,
        *_equal_losses(ax, answer),
        *_over_epochs(ax, answer),
        *_curve(ax, answer),
        *_choices(ax, answer),
    ]


def _equal_losses(ax: Axes, answer: Frontier) -> list[Artist]:
    """Curves of equal loss: the compute that each size takes to reach it."""
    if not isinstance(answer.law, scaling.ScalingLaw):
        return []
    unique = answer.demand.unique_tokens
    floor = float(scaling.lowest_loss(answer.law, unique_tokens=unique))
    losses = [loss for loss in _LOSSES if loss > floor * 1.002]
    if not losses:
        return []
    sizes = np.logspace(*ax.get_ylim(), 61 if answer.demand.is_limited else 301)
    at = np.array(losses)[:, None]
    tokens = np.asarray(scaling.tokens_for_loss(answer.law, n_params=sizes, loss=at, unique_tokens=unique))
    x, y = np.log10(scaling.Split(sizes, tokens).flop), np.log10(sizes)
    lines = [np.column_stack([xs, y])[np.isfinite(row)][::-1] for xs, row in zip(x, tokens, strict=True)]
    parts = [
        np.column_stack([xs, y])[part]
        for xs, row in zip(x, tokens, strict=True)
        for part in (np.isfinite(row) & (row > unique), row <= unique)  # repetition begins with a jump
    ]
    drawn = LineCollection(parts, colors=style.PALE, linewidths=0.7, zorder=3)
    ax.add_collection(drawn, autolim=False)
    return [drawn, *_loss_labels(ax, lines, losses)]


def _loss_labels(ax: Axes, lines: list[Array], losses: list[float]) -> list[Artist]:
    """The loss at the lower branch of each curve, a little to the right of its cheapest point."""
    (left, right), bottom = ax.get_xlim(), ax.get_ylim()[0]
    found: list[Artist] = []
    for line, loss in zip(lines, losses, strict=True):
        cheapest = line[np.argmin(line[:, 0])] if len(line) else np.zeros(2)
        x, y = line.T
        near = line[(y < cheapest[1]) & (y > bottom + 0.15) & (x < min(cheapest[0] + 2.4, right - 0.7)) & (x > left)]
        if len(near):
            text = f"loss {loss:g}" if not found else f"{loss:g}"
            found.append(
                style.label(ax, (near[-1, 0], near[-1, 1]), text, offset=(2, -1), size=style.TINY, ground=True)
            )
    return found


def _over_epochs(ax: Axes, answer: Frontier) -> list[Artist]:
    """The region where limited data would be repeated more often than anyone tested."""
    unique = answer.demand.unique_tokens
    if not np.isfinite(unique):
        return []
    shift = float(np.log10(training.flop(n_params=scaling.MAX_TESTED_EPOCHS, n_tokens=unique)))
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    corners = [
        (bottom + shift, bottom),
        (top + shift, top),
        (max(right, top + shift), top),
        (max(right, bottom + shift), bottom),
    ]
    region = Polygon(corners, facecolor=style.ORANGE, alpha=0.12, linewidth=0, zorder=2.5)
    ax.add_artist(region)
    found: list[Artist] = [region]
    if left < bottom + 0.5 + shift < right - 2.5:
        name = f"more than {scaling.MAX_TESTED_EPOCHS:g} epochs of {short_count(unique)} tokens"
        at = (bottom + 0.5 + shift, bottom + 0.5)
        found.append(style.label(ax, at, name, color=style.RED, offset=(8, 0), ground=True))
    return found


def _curve(ax: Axes, answer: Frontier) -> list[Artist]:
    curve = answer.curve
    x, found = np.log10(curve.flop), list[Artist]()
    if len(curve.low):
        band = np.concatenate(
            [np.column_stack([x, np.log10(curve.low)]), np.column_stack([x, np.log10(curve.high)])[::-1]]
        )
        found.append(ax.add_artist(Polygon(band, facecolor=style.BLUE, alpha=0.2, linewidth=0, zorder=3.5)))
    found += ax.plot(x, np.log10(curve.mid), color=style.BLUE, linewidth=1.8, zorder=4, scalex=False, scaley=False)
    return found


def _choices(ax: Axes, answer: Frontier) -> list[Artist]:
    """The chosen split with its price, and the plan's own."""
    x, y = float(np.log10(answer.choice.flop)), float(np.log10(answer.choice.n_params))
    plan_x, plan_y = float(np.log10(answer.planned.flop)), float(np.log10(answer.planned.n_params))
    bottom, top = ax.get_ylim()
    (line,) = ax.plot([x, x], [bottom, top], color=style.BLUE, linewidth=0.8, zorder=4.2)
    (plan,) = ax.plot([plan_x], [plan_y], "D", color=style.RED, markersize=7, zorder=6, markeredgecolor="white")
    (best,) = ax.plot([x], [y], "o", color=style.BLUE, markersize=9, zorder=5, markeredgecolor="white")
    near_right = x > ax.get_xlim()[1] - 1.2
    price = style.label(
        ax,
        (x, top),
        usd(answer.usd(answer.choice)),
        color=style.BLUE,
        offset=(-4 if near_right else 4, -8),
        ha="right" if near_right else "left",
        bold=True,
        ground=True,
    )
    size = style.label(ax, (x, y), count(float(answer.choice.n_params)), color=style.BLUE, offset=(8, -9), bold=True)
    name = f"the plan: {count(float(answer.planned.n_params))}"
    side: tuple[tuple[float, float], style.Side] = (
        ((8, 11), "left") if plan_x < ax.get_xlim()[0] + 2 else ((-8, 10), "right")
    )
    own = style.label(ax, (plan_x, plan_y), name, color=style.RED, offset=side[0], ha=side[1], ground=True)
    return [line, best, plan, price, size, own]


def _size_artists(ax: Axes, answer: Frontier) -> list[Artist]:
    quality, least, best = answer.quality, answer.least_usd, float(answer.optimum.n_params)
    if quality is None:
        reason = f"{answer.law.title}\npredicts no loss, so it can't\nprice another size."
        nothing = style.label(ax, (0, 0.7), reason, ha="center", ground=True)
        return [style.heading(ax, "What another size costs"), nothing]
    cost, what = quality.size_cost, "lifetime cost" if answer.demand.served_tokens else "training cost"
    heading = style.heading(ax, f"Another size, the same loss of {number(quality.loss)}: {what}")
    x, found = np.log10(cost.n_params / best), list[Artist]([heading])
    if len(cost.low):
        low, high = (np.minimum(bound / least - 1, _OFF_SCALE) for bound in (cost.low, cost.high))
        band = np.concatenate([np.column_stack([x, low]), np.column_stack([x, high])[::-1]])
        found.append(ax.add_artist(Polygon(band, facecolor=style.BLUE, alpha=0.2, linewidth=0, zorder=2)))
    if answer.demand.served_tokens:
        found += _training_alone(ax, x, np.minimum(cost.training_usd / least - 1, _OFF_SCALE))
    extra = np.minimum(cost.lifetime_usd / least - 1, _OFF_SCALE)
    found += ax.plot(x, extra, color=style.BLUE, linewidth=1.8, zorder=3, scalex=False, scaley=False)
    return [*found, *_flat_zone(ax, answer, quality), *_marked_sizes(ax, answer, quality)]


def _training_alone(ax: Axes, x: Array, extra: Array) -> list[Artist]:
    (line,) = ax.plot(x, extra, color=style.GREY, linewidth=1.2, zorder=2.5, scalex=False, scaley=False)
    near = int(np.argmin(np.abs(extra - 0.7) + (x > 0)))
    word = style.label(ax, (x[near], extra[near]), "training\nalone", offset=(-14, 0), ha="right")
    return [line, word]


def _flat_zone(ax: Axes, answer: Frontier, quality: Quality) -> list[Artist]:
    best = float(answer.optimum.n_params)
    small, large = (float(np.log10(float(split.n_params) / best)) for split in quality.flat_zone)
    corners = [(small, _EXTRA[0]), (small, _EXTRA[1]), (large, _EXTRA[1]), (large, _EXTRA[0])]
    zone = ax.add_artist(Polygon(corners, facecolor=style.GREEN, alpha=0.18, linewidth=0, zorder=1))
    at, text = ((small + large) / 2, _EXTRA[1]), f"within 1% of {usd(answer.least_usd)}:\n{words.flat_zone(quality)}"
    return [zone, style.label(ax, at, text, color=style.GREEN, offset=(0, -15), ha="center", ground=True)]


def _marked_sizes(ax: Axes, answer: Frontier, quality: Quality) -> list[Artist]:
    """The chosen and the plan's size on the curve, or a word where the plan's lies outside."""
    chosen = _mark(ax, answer, quality, float(answer.choice.n_params), "o", style.BLUE)
    planned = _mark(ax, answer, quality, float(answer.planned.n_params), "D", style.RED)
    if planned:
        return [*chosen, *planned]
    text = f"the plan's {count(float(answer.planned.n_params))}\nis off this scale"
    if float(answer.planned.n_params) < float(answer.optimum.n_params):
        aside = style.label(ax, (_SIZES[0], 0.12), text, color=style.RED, offset=(4, 0), ground=True)
    else:
        aside = style.label(ax, (_SIZES[1], 0.12), text, color=style.RED, offset=(-4, 0), ha="right", ground=True)
    return [*chosen, aside]


def _mark(ax: Axes, answer: Frontier, quality: Quality, n_params: float, marker: str, color: str) -> list[Artist]:
    at = float(np.log10(n_params / float(answer.optimum.n_params)))
    height = float(quality.size_cost.lifetime_usd_of(n_params)) / answer.least_usd - 1
    if abs(at) > _SIZES[1] or height > _EXTRA[1]:
        return []
    return list[Artist](ax.plot([at], [height], marker, color=color, markersize=8, markeredgecolor="white", zorder=5))
