"""What fits? Micro-batch against sequence length, each combination with the memory it would take."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from costkit.figures import style
from costkit.plan.fitting import Footprint
from costkit.units import GIB, number, short_count

_BOX = (0.075, 0.15, 0.70, 0.69)
_FILLS = ("#BFE3D6", "#FBE3B5", "#F1F1F1")
_INKS = (style.INK, style.INK, style.GREY)
_MOST_SHOWN, _MOST_WRITTEN = 1000, 100_000
_WORDS = ("fits, band included", "may or may not fit", "does not fit")


def map(answer: Footprint) -> Figure:  # noqa: A001 - the picture is a map
    """Micro-batch against sequence length: the memory that each takes, in colours of what fits."""
    found = answer.map
    figure = Figure((style.WIDTH, style.HEIGHT + 0.4), facecolor="white", label=f"{answer.room} {_alt(answer)}")
    style.title(figure, answer.room.removesuffix("."))
    ax = style.axes(figure, _BOX)
    ax.spines[["left", "bottom"]].set_visible(False)
    rows, columns = found.verdicts.shape
    ax.set_xlim(0, columns)
    ax.set_ylim(0, rows)
    cells = [[(x, y), (x, y + 1), (x + 1, y + 1), (x + 1, y)] for y in range(rows) for x in range(columns)]
    fills = [_FILLS[int(code)] for code in found.verdicts.ravel()]
    ax.add_collection(PolyCollection(cells, facecolors=fills, edgecolors="white", linewidths=1.5))
    for (y, x), n_bytes in np.ndenumerate(found.device_bytes):
        ink, needed = _INKS[int(found.verdicts[y, x])], n_bytes / GIB
        text = number(needed) if needed < _MOST_SHOWN else f">{_MOST_SHOWN:,}"
        ax.text(x + 0.5, y + 0.5, text, color=ink, fontsize=style.SMALL, ha="center", va="center")
    _mark(ax, answer)
    lengths = [f"{n // 1024}k" if n % 1024 == 0 else _short(n) for n in found.seq_lens.tolist()]
    style.ticks(ax, "x", (np.arange(columns) + 0.5).tolist(), lengths, "Sequence length, tokens (k = 1,024)")
    style.ticks(
        ax, "y", (np.arange(rows) + 0.5).tolist(), [_short(n) for n in found.micro_batches.tolist()], "Micro-batch"
    )
    ax.tick_params(length=0)
    style.heading(ax, f"GiB that {answer.gpu.name} would have to hold (middle estimate)")
    _key(figure)
    return figure


def _short(n: int) -> str:
    return f"{n:,}" if n < _MOST_WRITTEN else short_count(n)


def _mark(ax: Axes, answer: Footprint) -> None:
    """A frame around the plan's own cell."""
    found = answer.map
    y = int(np.flatnonzero(found.micro_batches == answer.budget.micro_batch)[0])
    x = int(np.flatnonzero(found.seq_lens == answer.budget.seq_len)[0])
    ax.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=style.BLUE, linewidth=2.4, zorder=5, clip_on=False))


def _key(figure: Figure) -> None:
    for i, (fill, word) in enumerate(zip(_FILLS, _WORDS, strict=True)):
        y = 0.80 - 0.075 * i
        figure.text(0.805, y, "      ", backgroundcolor=fill, fontsize=style.SMALL, va="center")
        figure.text(0.845, y, word, fontsize=style.SMALL, color=style.INK, va="center")
    figure.text(0.805, 0.80 - 0.075 * 3, "framed: the plan", fontsize=style.SMALL, color=style.BLUE, va="center")


def _alt(answer: Footprint) -> str:
    found = answer.map
    fitting = int((found.verdicts == 0).sum())
    return f"Of {found.verdicts.size} combinations of micro-batch and sequence length {fitting} fit, band included."
