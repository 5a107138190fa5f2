"""When does what live? The parts of a training step in each phase, and what the GPU has to hold for it.

- Left: live tensors by group in the five phases, the peak named. Right: the three numbers that tools show (what the
  device holds is nvidia-smi's), each with its band, and the measured peak where the plan has one. The line through both
  is the GPU's usable memory.
"""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from costkit.figures import style
from costkit.figures.fitting.groups import GROUPS, grouped
from costkit.figures.layers import Layered
from costkit.memory import PHASES
from costkit.plan.fitting import Footprint, words
from costkit.units import GIB, Range, gib, short_count

_BARS_BOX, _RANGES_BOX = (0.062, 0.20, 0.60, 0.64), (0.745, 0.20, 0.235, 0.64)
_NAMES = {phase: "\n".join(name.rsplit(maxsplit=1)) for phase, name in words.SHORT_PHASES.items()}
_RANGES = ("allocated", "reserved", "device")
_HALF_BAR, _LEAST_SHARE = 0.36, 0.045
_SIDE: dict[str, style.Side] = {"allocated": "left", "reserved": "center", "device": "right"}
_ASIDE, _LOW = {"allocated": -16, "reserved": 0, "device": 16}, 0.12
_MOST_TICKS, _LONG, _LONG_TICK = 8, 10_000, 1000
_UNDER_WORDS, _OVER_BARS = 2.5, 2.8
_LEGEND_Y, _LETTER, _GAP = -0.20, 0.0113, 0.03
_VERDICT_COLORS = {"fits": style.GREEN, "uncertain": style.ORANGE, "does not fit": style.RED}
_TITLES = {
    "fits": "It fits",
    "uncertain": "It may or may not fit",
    "does not fit": "It does not fit",
}


def phases(answer: Footprint, *, reuse: Figure | None = None) -> Figure:
    """Live tensors by part and phase against what the GPU offers; allocated, reserved and shown with their bands.

    `reuse` is a figure that this function made before: it is drawn anew in place where its axes still hold.
    """
    top = _top(answer)
    key = ("fitting.phases", top, answer.gpu.name, answer.is_calibrated)
    made = reuse if isinstance(reuse, Layered) and reuse.key == key else _still(answer, top, key)
    made.clear_moving()
    made.set_label(_alt(answer))
    made.move(style.title(made, _finding(answer)))
    for ax, artists in zip(made.axes, (_bars(made.axes[0], answer), _ranges(made.axes[1], answer)), strict=True):
        line = ax.axhline(answer.gpu.usable_bytes / GIB, color=style.INK, linewidth=1.2, zorder=_OVER_BARS)
        for artist in (*artists, line):
            made.move(artist)
    return made


def _finding(answer: Footprint) -> str:
    needed, usable = answer.budget.device_bytes, answer.gpu.usable_bytes
    return (
        f"{_TITLES[answer.verdict]}: {gib(needed.mid)} of {gib(usable)}, the peak at"
        f" {words.PHASES[answer.budget.peak_phase]}"
    )


def _alt(answer: Footprint) -> str:
    phases_of = ", ".join(f"{name} {gib(value)}" for name, value in answer.budget.phases.items())
    return " ".join([answer.headline, answer.reading, f"Live tensors by phase: {phases_of}.", *answer.warnings])


def _top(answer: Footprint) -> float:
    """The top of the axis in GiB: a quarter above the GPU, or a round number above what is needed."""
    usable, needed = answer.gpu.usable_bytes / GIB, answer.budget.device_bytes.high / GIB
    measured = (answer.measured_bytes or 0.0) / GIB
    most = max(needed, measured)
    if most <= 1.25 * usable:
        return 1.3 * usable
    step = 10 ** np.floor(np.log10(most)) / 2
    return float(np.ceil(1.08 * most / step) * step)


# What stands still: the axes.


def _still(answer: Footprint, top: float, key: object) -> Layered:
    made = Layered((style.WIDTH, style.HEIGHT), key)
    bars, ranges = style.axes(made, _BARS_BOX), style.axes(made, _RANGES_BOX)
    bars.set_xlim(-0.5, len(PHASES) - 0.5)
    ranges.set_xlim(-0.5, len(_RANGES) - 0.5)
    step = style.tick_step(top, most=_MOST_TICKS)
    positions = np.arange(0, top + step / 2, step)
    for ax, which in ((bars, "GiB"), (ranges, "")):
        ax.set_ylim(0, top)
        style.ticks(ax, "y", positions.tolist(), [_short(value) for value in positions], which)
        ax.grid(axis="y", color=style.FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
    style.ticks(bars, "x", list(range(len(PHASES))), [_NAMES[phase] for phase in PHASES], "")
    style.ticks(ranges, "x", list(range(len(_RANGES))), list(_RANGES), "")
    live = "Live tensors before your measurement" if answer.is_calibrated else "Live tensors by phase"
    style.heading(bars, f"{live}; the line: {answer.gpu.name} offers {gib(answer.gpu.usable_bytes)}")
    style.heading(ranges, "What it takes, with its band")
    return made


def _gib(n_bytes: float) -> str:
    """Memory in GiB, short enough to stand beside its neighbours."""
    return gib(n_bytes) if n_bytes < _LONG * GIB else f"{_short(n_bytes / GIB)} GiB"


def _short(value: float) -> str:
    """A number of GiB that takes little room: 250, 250k, 2.5M."""
    return short_count(value) if value >= _LONG_TICK else f"{value:,g}"


# What moves: the answer.


def _bars(ax: Axes, answer: Footprint) -> list[Artist]:
    """The groups stacked in each phase, their names in the peak's bar, and totals above."""
    corners, colors, found, top = [], [], list[Artist](), ax.get_ylim()[1]
    for i, phase in enumerate(PHASES):
        if phase not in answer.budget.phases:
            found.append(_absent(ax, i))
            continue
        at, is_peak = 0.0, phase == answer.budget.peak_phase
        left, right = i - _HALF_BAR, i + _HALF_BAR
        for name, amount in grouped(answer.budget.fullest.phase_parts.get(phase, {})).items():
            end = at + amount / GIB
            corners.append([(left, at), (left, end), (right, end), (right, at)])
            colors.append(GROUPS[name][0])
            if is_peak and end - at > _LEAST_SHARE * top:
                found.append(_inside(ax, (i, (at + end) / 2), name))
            at = end
        found.append(_total(ax, (i, at), is_peak=is_peak))
    bars = PolyCollection(corners, facecolors=colors, edgecolors="white", linewidths=0.6, zorder=_UNDER_WORDS)
    ax.add_collection(bars, autolim=False)
    return [bars, *found, *_legend(ax, answer)]


def _total(ax: Axes, at: tuple[float, float], *, is_peak: bool) -> Artist:
    ink = style.INK if is_peak else style.GREY
    return style.label(ax, at, _gib(at[1] * GIB), color=ink, offset=(0, 8), ha="center", bold=is_peak, ground=True)


def _absent(ax: Axes, i: int) -> Artist:
    """In place of the loss of a pipeline stage that has no head."""
    return style.label(ax, (i, 0.0), "not on\nthis stage", offset=(0, 14), ha="center", size=style.TINY)


def _inside(ax: Axes, at: tuple[float, float], name: str) -> Artist:
    return style.label(ax, at, name, color="white", offset=(0, 0), ha="center", size=style.TINY, bold=True)


def _legend(ax: Axes, answer: Footprint) -> list[Artist]:
    """The groups' names in their colours, below the phases."""
    every = [grouped(parts) for parts in answer.budget.fullest.phase_parts.values()]
    found, x = list[Artist](), 0.0
    for name, (color, _) in GROUPS.items():
        if any(groups[name] for groups in every):
            text = ax.text(x, _LEGEND_Y, name, transform=ax.transAxes, color=color, fontsize=style.SMALL, va="top")
            text.set_fontweight("bold")
            found.append(text)
            x += _LETTER * len(name) + _GAP
    return found


def _ranges(ax: Axes, answer: Footprint) -> list[Artist]:
    """Low to high of each number with its middle, and the measured one beside its estimate."""
    budget, color = answer.budget, _VERDICT_COLORS[answer.verdict]
    values = dict(zip(_RANGES, (budget.allocated_bytes, budget.reserved_bytes, budget.device_bytes), strict=True))
    found: list[Artist] = [_band_lines(ax, list(values.values()), color)]
    for i, value in enumerate(values.values()):
        at, text = (i, value.high / GIB), _gib(value.mid)
        found.append(style.label(ax, at, text, color=color, offset=(0, 9), ha="center", bold=True, ground=True))
    if answer.measured_bytes is not None:
        found += _measured(ax, answer.measured_bytes, answer.measured_metric)
    return found


def _measured(ax: Axes, n_bytes: float, metric: str) -> list[Artist]:
    """The measured peak as a diamond on the number that it is one of."""
    at = (_RANGES.index(metric), n_bytes / GIB)
    (diamond,) = ax.plot([at[0]], [at[1]], "D", color=style.INK, markersize=7, markeredgecolor="white", zorder=6)
    text, low = f"measured {_gib(n_bytes)}", at[1] < _LOW * ax.get_ylim()[1]
    label = style.label(
        ax,
        at,
        text,
        color=style.INK,
        offset=(_ASIDE[metric], 24 if low else -14),
        ha=_SIDE[metric],
        ground=True,
    )
    return [diamond, label]


def _band_lines(ax: Axes, values: list[Range], color: str) -> LineCollection:
    bands = [[(i, value.low / GIB), (i, value.high / GIB)] for i, value in enumerate(values)]
    ticks = [[(i - 0.2, value.mid / GIB), (i + 0.2, value.mid / GIB)] for i, value in enumerate(values)]
    widths = [9.0] * len(bands) + [2.2] * len(ticks)
    colors = [f"{color}66"] * len(bands) + [color] * len(ticks)
    lines = LineCollection([*bands, *ticks], colors=colors, linewidths=widths, zorder=5)
    lines.set_capstyle("butt")
    ax.add_collection(lines, autolim=False)
    return lines
