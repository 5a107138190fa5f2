"""What does the ledger of claims look like? A table that says how far off each is, and all of them on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import claims
from costkit.claims import Checked
from costkit.figures import style
from costkit.figures.shown import Table
from costkit.units import number

COLORS = {"wrong": style.RED, "depends": style.ORANGE, "close": style.SKY, "holds": style.BLUE}
_WORDS = {"wrong": "wrong", "depends": "depends", "close": "close", "holds": "holds"}
_BOX = (0.03, 0.11, 0.94, 0.74)
_FURTHEST, _ROWS_BETWEEN, _EDGE, _HEIGHT = 2000.0, 3, 0.12, 6.4


def table(checks: Sequence[Checked], name: str = "ledger", caption: str = "") -> Table:
    """The claims as they come: printed, ours, how far off, the verdict, and why."""
    rows = [
        {
            "id": one.id,
            "what": one.what,
            "theirs": one.theirs,
            "ours": one.ours,
            "unit": one.unit,
            "off": _off(one),
            "verdict": f"{one.verdict} (a judgement)" if one.is_judgement else one.verdict,
            "why": one.why,
            "source": one.source,
            "ratio": one.ratio if math.isfinite(one.ratio) else None,
        }
        for one in checks
    ]
    columns = {
        "what": "Claim",
        "theirs": "Printed",
        "ours": "Ours",
        "unit": "Unit",
        "off": "Off by",
        "verdict": "Verdict",
        "why": "Why",
        "source": "Source",
    }
    right = ("theirs", "ours", "off")
    return Table(rows, name, caption=caption or claims.tally(checks), columns=columns, right=right)


def _off(one: Checked) -> str:
    if one.verdict == "holds" or one.is_judgement:
        return ""
    return "all" if math.isinf(one.off) else f"{number(one.off)} times"


def ratios(checks: Sequence[Checked]) -> Figure:
    """Ours over theirs on a logarithmic axis: a dot a claim, a line where readings differ, the most wrong on top."""
    figure = Figure((style.WIDTH, _HEIGHT), facecolor="white", label=claims.tally(checks))
    style.title(figure, claims.tally(checks).rstrip("."))
    ax = style.axes(figure, _BOX)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    shown = [one for one in claims.by_off(checks) if math.isfinite(one.published) and one.published and one.readings]
    ends = [(one, *_ends(one)) for one in shown]
    reach = np.log10(_FURTHEST)
    ax.set_xlim(-reach * 0.62, reach + _EDGE)
    ax.set_ylim(len(ends) + 0.5, -1.5)
    powers = [-2, -1, 0, 1, 2, 3]
    style.ticks(ax, "x", powers, [f"{10.0**power:g}" for power in powers], "Ours over theirs")
    ax.axvline(0, color=style.PALE, linewidth=1.0, zorder=1)
    last = -_ROWS_BETWEEN
    for row, (one, low, high) in enumerate(ends):
        is_named = one.verdict == "wrong" and row - last >= _ROWS_BETWEEN
        last = row if is_named else last
        _claim(ax, row, one, low, high, is_named=is_named)
    _key(figure)
    return figure


def _ends(one: Checked) -> tuple[float, float]:
    """The ratios of the least and the greatest reading, as far as the axis goes."""
    low, high = (min(max(ratio, 1 / _FURTHEST), _FURTHEST) for ratio in one.ratios)
    return low, high


def _claim(ax: Axes, row: int, one: Checked, low: float, high: float, *, is_named: bool) -> None:
    color, ends = COLORS[one.verdict], np.log10([low, high])
    if high > low:
        ax.plot(ends, [row, row], color=color, linewidth=1.6, zorder=2, solid_capstyle="butt")
    ax.plot(ends.mean(), row, "o", color=color, markersize=3.6, zorder=3)
    if is_named:
        is_right = ends[1] > 1.2
        side: style.Side = "right" if is_right else "left"
        where = (float(ends[0] if is_right else ends[1]), row)
        style.label(ax, where, one.id, offset=(-7 if is_right else 7, 0), ha=side, size=style.TINY)


def _key(figure: Figure) -> None:
    at = 0.012
    for verdict, color in COLORS.items():
        figure.text(at, 0.895, _WORDS[verdict], color=color, fontsize=style.NORMAL, fontweight="bold", va="center")
        at += 0.0095 * len(verdict) + 0.025
    figure.text(at, 0.895, "a line: what the source leaves open", color=style.GREY, fontsize=style.NORMAL, va="center")
