"""On which markets does spot pay? Mean life against price: what is saved, the break-even, and real markets."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import spot, tables
from costkit.figures import style
from costkit.plan.buying import Savings
from costkit.plan.buying.words import break_even_life_s
from costkit.units import DAY, HOUR, MINUTE, duration, percent

_BOX = (0.075, 0.15, 0.70, 0.69)
_LIVES_H = (0.05, 2000.0)
_COLUMNS, _ROWS = 220, 160
_LOW = 0.15
_LEVELS = (-np.inf, 0.0, 0.25, 0.5, 0.75, 1.0)
_FILLS = ("#F6DDD3", "#E7EFF6", "#C7DCED", "#9CC3E0", "#6FA8D2")
_NAMES = ("spot is dearer", "0 to 25%", "25 to 50%", "50 to 75%", "more than 75%")
_TICKS = ((10 * MINUTE, "10 min"), (HOUR, "1 h"), (6 * HOUR, "6 h"), (DAY, "1 d"), (7 * DAY, "7 d"), (60 * DAY, "60 d"))


def map(answer: Savings) -> Figure:  # noqa: A001 - the picture is a map
    """What spot saves at every mean life of the job and price, saved at the best interval; measured zones marked."""
    figure = Figure((style.WIDTH, style.HEIGHT + 0.4), facecolor="white", label=_alt(answer))
    style.title(figure, _finding(answer))
    ax = style.axes(figure, _BOX)
    lives_s = np.geomspace(_LIVES_H[0] * HOUR, _LIVES_H[1] * HOUR, _COLUMNS)
    ratios = np.linspace(0, 1.1, _ROWS)
    times = overheads(answer, lives_s)
    saved = 1 - ratios[:, None] * times[None, :]
    logs = np.log10(lives_s)
    ax.contourf(logs, ratios, np.maximum(saved, -1e9), levels=[-1e10, *_LEVELS[1:]], colors=_FILLS, zorder=0)
    even = 1 / times
    ax.plot(logs, even, color=style.INK, linewidth=1.8, zorder=3)
    ax.set_xlim(logs[0], logs[-1])
    ax.set_ylim(0, 1.1)
    _quoted(ax, answer)
    _measured(ax, answer)
    _own(ax, answer)
    style.ticks(
        ax,
        "x",
        [math.log10(at) for at, _ in _TICKS],
        [name for _, name in _TICKS],
        "Mean time between interruptions of the whole job",
    )
    marks = [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    style.ticks(ax, "y", marks, [percent(value) for value in marks], "Spot price over the on-demand price")
    style.heading(ax, "What spot saves, at the best interval")
    _key(figure)
    return figure


def overheads(answer: Savings, lives_s: np.ndarray) -> np.ndarray:
    """Paid time on spot over undisturbed time on demand, at the best interval for each mean life."""
    delta, p = max(answer.job.checkpoint_write_s, 1e-3), answer.kept_notices
    saved: dict[str, float] = {"checkpoint_write_s": delta, "notice_success": p}
    best = [spot.optimal_interval_s(mean_life_s=M, **saved) for M in lives_s.tolist()]
    found = spot.overhead(
        np.minimum(best, answer.job.work_s),
        mean_life_s=lives_s,
        checkpoint_write_s=delta,
        restart_s=answer.restart_s,
        notice_success=p,
    )
    return np.asarray(np.minimum(found, 1e12))


def _finding(answer: Savings) -> str:
    if answer.market.price_ratio >= 1:
        return answer.where_it_pays.removesuffix(".")
    ratio, life = percent(answer.market.price_ratio), duration(break_even_life_s(answer))
    return f"At {ratio} of the price, spot is cheaper from a mean life of {life} on"


def _alt(answer: Savings) -> str:
    shortest, longest = (f(_job_lives_s(answer).values()) for f in (min, max))
    return (
        f"{answer.where_it_pays} For this job, V100 zones measured in 2022 and 2023 would have had mean lives of"
        f" {duration(shortest)} to {duration(longest)}."
    )


def _job_lives_s(answer: Savings) -> dict[str, float]:
    """Mean life of a job of the plan's nodes in each zone with measured V100s, bursts included."""
    nodes, found = answer.market.fleet.n_nodes, {}
    for zone in spot.measured_markets():
        if zone.gpu.startswith("V100") and math.isfinite(zone.mean_life_s):
            burst = min(zone.burst_nodes, nodes)
            found[zone.name] = spot.job_life_s(node_life_s=zone.mean_life_s, n_nodes=nodes, burst_nodes=burst)
    return found


def _measured(ax: Axes, answer: Savings) -> None:
    """A tick on top for each measured zone, the shortest and the longest named."""
    lives = sorted(_job_lives_s(answer).values())
    left, right = ax.get_xlim()
    shown = [math.log10(one) for one in lives if left <= math.log10(one) <= right]
    if not shown:
        return
    ax.plot(shown, [1.06] * len(shown), "|", color=style.PURPLE, markersize=13, markeredgewidth=1.6, zorder=4)
    told = "Ticks: V100 zones of 2022-23, for this job"
    ax.text(1, 1.045, told, transform=ax.transAxes, fontsize=style.NORMAL, color=style.PURPLE, ha="right")


def _quoted(ax: Axes, answer: Savings) -> None:
    """Between which price ratios quotes for the plan's GPU lie."""
    gpu = answer.plan.hardware.gpu
    try:
        ratio = spot.price_ratio_range(gpu)
    except (ValueError, tables.UnknownName):
        return
    right = ax.get_xlim()[1]
    ax.plot(
        [right, right],
        [ratio.low, ratio.high],
        color=style.ORANGE,
        linewidth=7,
        solid_capstyle="butt",
        clip_on=False,
        zorder=4,
    )
    style.label(
        ax,
        (right, ratio.high),
        f"quotes for {gpu}",
        color=style.ORANGE,
        offset=(-8, 6),
        ha="right",
        bold=True,
        ground=True,
    )


def _own(ax: Axes, answer: Savings) -> None:
    """The plan as a filled marker."""
    (left, right), life, ratio = ax.get_xlim(), answer.market.loss_life_s, answer.market.price_ratio
    x = right if math.isinf(life) else min(max(math.log10(life), left), right)
    y = min(ratio, 1.1)
    ax.plot([x], [y], "o", color=style.BLUE, markersize=10, markeredgecolor="white", zorder=6, clip_on=False)
    ha: style.Side = "right" if x > (left + right) / 2 else "left"
    told = f"this plan: {duration(life)}, {percent(ratio)}"
    aside, down = -10.0 if ha == "right" else 10.0, 11.0 if ratio < _LOW else -11.0
    style.label(ax, (x, y), told, color=style.BLUE, offset=(aside, down), ha=ha, bold=True, ground=True)


def _key(figure: Figure) -> None:
    for i, (fill, word) in enumerate(zip(reversed(_FILLS), reversed(_NAMES), strict=True)):
        y = 0.80 - 0.075 * i
        figure.text(0.805, y, "      ", backgroundcolor=fill, fontsize=style.SMALL, va="center")
        figure.text(0.845, y, word, fontsize=style.SMALL, color=style.INK, va="center")
    figure.text(
        0.805, 0.80 - 0.075 * len(_FILLS), "line: break-even", fontsize=style.SMALL, color=style.INK, va="center"
    )
