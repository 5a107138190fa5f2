"""What does the ledger of claims look like? A table that says how far off each is, and all of them on one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import claims
from costkit.claims import Checked
from costkit.figures import style
from costkit.figures.shown import Table
from costkit.units import number

COLORS = {"wrong": style.RED, "depends": style.ORANGE, "close": style.SKY, "holds": style.BLUE}
_BOX, _HEIGHT = (0.03, 0.09, 0.94, 0.77), 6.8
_REACH, _EDGE = 3.0, 0.12  # of the axis, in powers of ten
_ROWS: Mapping[str, float] = MappingProxyType({"wrong": 1.0, "depends": 1.0, "close": 0.3, "holds": 0.3})
_LETTER, _GAP = 0.037, 0.06  # a label's letter and distance, in powers of ten
_LINE, _DOT = 1.3, 0.6  # the height of a label and of a mark, in rows


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
    """Ours over theirs on a logarithmic axis: a dot a claim, a line where readings differ, the most wrong on top.

    What lies beyond the axis is an arrow at its edge, with the factor; claims in words have no ratio and no dot.
    """
    figure = Figure((style.WIDTH, _HEIGHT), facecolor="white", label=claims.tally(checks))
    style.title(figure, claims.tally(checks).rstrip("."))
    ax = style.axes(figure, _BOX)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    marks = _marks(claims.by_off(checks))
    ax.set_xlim(-_REACH - _EDGE, _REACH + _EDGE)
    ax.set_ylim(max((mark.at for mark in marks), default=0.0) + 1.5, -1.5)
    powers = range(-3, 4)
    style.ticks(ax, "x", powers, [f"{10.0**power:g}" for power in powers], "Ours over theirs")
    ax.axvline(0, color=style.PALE, linewidth=1.0, zorder=1)
    for mark in marks:
        _draw(ax, mark)
    _name(ax, marks)
    _key(figure, n_left_out=len(checks) - len(marks))
    return figure


@dataclass(frozen=True)
class _Mark:
    """A claim in its row: the ends of its readings in powers of ten, no further than the axis."""

    claim: Checked
    at: float
    low: float
    high: float
    is_beyond: bool

    @property
    def text(self) -> str:
        """Its name, and how far off where the axis does not say it."""
        return f"{self.claim.id}: {_off(self.claim)}" if self.is_beyond else self.claim.id


def _marks(checks: Sequence[Checked]) -> list[_Mark]:
    found, at = list[_Mark](), 0.0
    for one in checks:
        least, greatest = one.ratios
        if not math.isfinite(greatest) or greatest <= 0:
            continue
        low, high = math.log10(max(least, 1e-9)), math.log10(greatest)
        ends = [min(max(end, -_REACH - _EDGE / 2), _REACH + _EDGE / 2) for end in (low, high)]
        found.append(_Mark(one, at, ends[0], ends[1], is_beyond=low > _REACH or high < -_REACH))
        at += _ROWS[one.verdict]
    return found


def _draw(ax: Axes, mark: _Mark) -> None:
    color = COLORS[mark.claim.verdict]
    if mark.high > mark.low:
        ax.plot([mark.low, mark.high], [mark.at] * 2, color=color, linewidth=1.6, zorder=2, solid_capstyle="butt")
    arrow = ">" if mark.low > 0 else "<"
    marker, width = (arrow, 6.0) if mark.is_beyond else ("o", 3.6)
    ax.plot((mark.low + mark.high) / 2, mark.at, marker, color=color, markersize=width, zorder=3)


def _name(ax: Axes, marks: Sequence[_Mark]) -> None:
    """Names beside the marks, on the side away from 1 or the other, wherever one has room."""
    taken = [(mark.low - _GAP / 2, mark.high + _GAP / 2, mark.at, _DOT) for mark in marks]
    for row, mark in enumerate(marks):
        if mark.claim.verdict not in ("wrong", "depends"):
            continue
        width = _LETTER * len(mark.text)
        right = (mark.high + _GAP, mark.high + _GAP + width, mark.at, _LINE)
        left = (mark.low - _GAP - width, mark.low - _GAP, mark.at, _LINE)
        sides: list[tuple[style.Side, tuple[float, float, float, float]]] = [("left", right), ("right", left)]
        for align, box in sides if mark.low + mark.high > 0 else reversed(sides):
            others = taken[:row] + taken[row + 1 :]
            if max(-box[0], box[1]) <= _REACH + _EDGE and not any(_overlap(box, one) for one in others):
                at = (box[0] if align == "left" else box[1], mark.at)
                style.label(ax, at, mark.text, offset=(0, 0), ha=align, size=style.TINY)
                taken.append(box)
                break


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes (left, right, middle, height) share any of the picture."""
    is_beside = one[1] <= other[0] or other[1] <= one[0]
    return not is_beside and abs(one[2] - other[2]) < (one[3] + other[3]) / 2


def _key(figure: Figure, *, n_left_out: int) -> None:
    at = 0.012
    for verdict, color in COLORS.items():
        figure.text(at, 0.905, verdict, color=color, fontsize=style.NORMAL, fontweight="bold", va="center")
        at += 0.0095 * len(verdict) + 0.025
    words = "a line: what the source leaves open"
    if n_left_out:
        words += f"; {n_left_out} in words or of the other sign are left out"
    figure.text(at, 0.905, words, color=style.GREY, fontsize=style.NORMAL, va="center")
