"""How often should the run be saved? The expected bill against the checkpoint interval."""

from __future__ import annotations

import math
import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import spot
from costkit.figures import style
from costkit.plan.buying import Savings
from costkit.plan.buying.words import cheapest_swept
from costkit.units import HOUR, MINUTE, duration, percent, usd

_BOX = (0.085, 0.15, 0.885, 0.69)
_DECADES, _POINTS = (-1.35, 1.35), 241
_TICKS_MIN = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 960, 1440, 2880, 5760, 10080, 20160, 43200)
_MOST_COST, _MOST_TOLD, _HOPELESS = 1.6, 100.0, 100.0
_LEAST_APART, _LETTER, _WIDE = 0.055, 0.0082, 100


def intervals(answer: Savings) -> Figure:
    """Expected dollars for every interval, the exact optimum with its flat zone, the plan's own and the told one."""
    figure = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=answer.how_often_to_save)
    style.title(figure, _finding(answer))
    ax = style.axes(figure, _BOX)
    best = answer.best_interval_s
    known = 0 < best < answer.job.work_s
    if not known or expected_usd(answer, np.array(best)) > _HOPELESS * answer.on_demand_usd:
        ax.set_axis_off()
        told = "\n".join(textwrap.wrap(answer.how_often_to_save, _WIDE))
        style.label(ax, (0.5, 0.5), told, color=style.INK, ha="center", size=style.NORMAL)
        return figure
    centre = math.log10(best)
    swept = [(math.log10(every), cost) for every, cost in answer.swept]
    right = max(centre + _DECADES[1], *(at for at, _ in swept)) if swept else centre + _DECADES[1]
    log_s = np.linspace(centre + _DECADES[0], right, _POINTS)
    cost = expected_usd(answer, 10**log_s)
    least = float(expected_usd(answer, np.array(best)))
    lowest = min([least, *(usd for _, usd in swept)])
    low, high = lowest - 0.04 * least, _MOST_COST * least
    ax.set_xlim(log_s[0], log_s[-1])
    ax.set_ylim(low, high)
    _zone(ax, answer, least)
    ax.plot(log_s, np.minimum(cost, 1e3 * high), color=style.BLUE, linewidth=2.2, zorder=3)
    shown = [one for one in swept if one[1] <= high]
    ax.plot(*np.array(shown or [(np.nan, np.nan)]).T, "o", color=style.ORANGE, markersize=7, markeredgecolor="white")
    if not answer.swept:
        _rules(ax, answer)
    _own(ax, answer)
    marks = _marks(log_s[0], log_s[-1])
    style.ticks(ax, "x", [math.log10(m * MINUTE) for m in marks], [_time(m) for m in marks], "Time between checkpoints")
    step = style.tick_step(high, most=24)
    dollars = np.arange(math.ceil(low / step) * step, high, step).tolist()
    style.ticks(ax, "y", dollars, [usd(value) for value in dollars], "Expected bill")
    ax.grid(axis="y", color=style.FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    style.heading(ax, _about(answer))
    return figure


def expected_usd(answer: Savings, interval_s: np.ndarray) -> np.ndarray:
    """The expected bill of machines for an interval: paid time of the closed form at the plan's price."""
    market, job = answer.market, answer.job
    M, every_s = market.loss_life_s, np.minimum(interval_s, job.work_s)
    losses = spot.mean_losses(
        segment_s=every_s + job.checkpoint_write_s,
        mean_life_s=M,
        restart_s=answer.restart_s,
        notice_success=answer.kept_notices,
    )
    paid_s = job.work_s / every_s * losses * (M + market.notice_s * market.preempted_fraction)
    return np.asarray(paid_s / HOUR * market.spot_usd_per_hour)


def _finding(answer: Savings) -> str:
    if answer.swept:
        return f"On this market, saving every {cheapest_swept(answer)} costs the least"
    return answer.how_often_to_save.split("; ")[0].split(". ")[0].removesuffix(".")


def _about(answer: Savings) -> str:
    told = (
        f"Interrupted every {duration(answer.market.loss_life_s)}, {duration(answer.job.checkpoint_write_s)} to write"
    )
    if answer.market.has_best_interval:
        rules = ", ".join(f"{name} {duration(at_s)}" for name, at_s in _rules_s(answer).items())
        return f"{told}. Ticks: {rules}"
    return f"{told}. Line: memoryless lives, a run that stops. Dots: simulated on this market"


def _marks(left: float, right: float) -> list[float]:
    """Ticks in minutes that have room beside each other."""
    found: list[float] = []
    for minutes in _TICKS_MIN:
        at = math.log10(minutes * MINUTE)
        apart = math.inf if not found else (at - math.log10(found[-1] * MINUTE)) / (right - left)
        if left <= at <= right and apart > _LEAST_APART:
            found.append(minutes)
    return found


def _time(minutes: float) -> str:
    if minutes < 60:
        return f"{minutes:g} min"
    return f"{minutes / 60:g} h" if minutes < 1440 else f"{minutes / 1440:g} d"


def _zone(ax: Axes, answer: Savings, least: float) -> None:
    zone = answer.flat_zone
    left, right = ax.get_xlim()
    ax.axvspan(
        max(math.log10(zone.low_s), left), min(math.log10(zone.high_s), right), color=style.GREEN, alpha=0.12, zorder=0
    )
    at = math.log10(zone.best_s)
    ax.axvline(at, color=style.GREEN, linewidth=1.2, zorder=2)
    top = ax.get_ylim()[1]
    whose = "best" if answer.market.has_best_interval else "best for memoryless lives:"
    told = f"{whose} {duration(zone.best_s)}, {usd(least)}"
    style.label(ax, (at, top), told, color=style.GREEN, offset=(5, -8), bold=True, ground=True)
    style.label(
        ax,
        (at, top),
        f"shaded: within {percent(answer.flat_zone.fraction)} of the least time",
        color=style.GREEN,
        offset=(5, -22),
        ground=True,
    )


def _rules(ax: Axes, answer: Savings) -> None:
    """Young's and Daly's rules, which know no notices, as ticks on the curve."""
    at_s = np.array(list(_rules_s(answer).values()))
    ax.plot(np.log10(at_s), expected_usd(answer, at_s), "|", color=style.INK, markersize=11, zorder=4)


def _rules_s(answer: Savings) -> dict[str, float]:
    M, delta = answer.market.loss_life_s, answer.job.checkpoint_write_s
    return {
        "Young's rule": spot.young_interval_s(mean_life_s=M, checkpoint_write_s=delta),
        "Daly's": spot.daly_interval_s(mean_life_s=M, checkpoint_write_s=delta),
    }


def _own(ax: Axes, answer: Savings) -> None:
    """The plan's interval, and the one whose interruptions cost what the case tells; what is off the axis in words."""
    places = []
    if answer.job.has_checkpoints:
        places.append(("this plan", answer.job.checkpoint_every_s, style.BLUE))
    lost_h = answer.plan.case.spot_lost_h
    if lost_h and answer.market.has_best_interval:
        places.append((f"an interruption costs the {lost_h:g} h that are told", 2 * lost_h * HOUR, style.RED))
    (left, right), (low, top) = ax.get_xlim(), ax.get_ylim()
    for i, (name, at_s, color) in enumerate(places):
        cost = _cost(answer, at_s)
        told = f"{name}: {duration(at_s)}, {usd(cost) if cost < _MOST_TOLD * top else 'practically never done'}"
        x = math.log10(at_s)
        if not (left <= x <= right and low <= cost <= top):
            ha: style.Side = "right"
            at, offset = (right, top), (-6.0, -40.0 - 15 * i)
        else:
            ax.plot([x], [cost], "o", color=color, markersize=9, markeredgecolor="white", zorder=5)
            share = (x - left) / (right - left)
            ha = "right" if share + _LETTER * len(told) > 1 else "left"
            at, offset = (x, cost), (-9.0 if ha == "right" else 9.0, (-9.0, 10.0)[i])
        style.label(ax, at, told, color=color, offset=offset, ha=ha, bold=True, ground=True)


def _cost(answer: Savings, every_s: float) -> float:
    """The expected bill for one interval: the plan's own is simulated where the market has no closed form."""
    own = every_s == answer.job.checkpoint_every_s and not answer.market.has_best_interval and answer.finishes
    if own and answer.outcomes is not None:
        return float((answer.outcomes.machine_usd - answer.outcomes.credit_usd).mean())
    return float(expected_usd(answer, np.array(every_s)))
