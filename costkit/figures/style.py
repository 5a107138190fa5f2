"""How do all pictures look? Colours, axes in powers of ten, direct labels: words of the picture, not of matplotlib.

- Logarithmic quantities are drawn as their log10 on linear axes with fixed ticks: automatic log ticks cost most of a
  redraw.
- Colours are Okabe and Ito's, which readers with any colour vision can tell apart; grey is context, blue the answer.
- Text is taken as it is: a dollar sign never starts a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE = "#56B4E9", "#CC79A7"
INK, GREY, PALE, FAINT = "#222222", "#6B6B6B", "#BBBBBB", "#ECECEC"
TINY, SMALL, NORMAL, LARGE = 7.5, 8.5, 9.5, 12.5

WIDTH, HEIGHT = 10.4, 4.6
"""Inches; 100 dots each."""

Side = Literal["left", "center", "right"]
Which = Literal["x", "y"]


def title(figure: Figure, text: str) -> Text:
    """The finding, on top of the picture."""
    height = figure.get_size_inches()[1]
    return figure.text(
        0.012, 1 - 0.28 / height, text, fontsize=LARGE, fontweight="bold", color=INK, va="center", parse_math=False
    )


def axes(figure: Figure, box: tuple[float, float, float, float]) -> Axes:
    """Axes in a fixed box (left, bottom, width, height as fractions of the figure) without a frame."""
    ax = figure.add_axes(box)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(length=3, color=PALE, labelcolor=INK, labelsize=SMALL)
    return ax


def heading(ax: Axes, text: str, *, color: str = GREY) -> Text:
    """What one axes shows, above it."""
    return ax.text(0, 1.045, text, transform=ax.transAxes, fontsize=NORMAL, color=color, parse_math=False)


def ticks(ax: Axes, which: Which, positions: Sequence[float], labels: Sequence[str], name: str) -> None:
    """Fixed ticks and the name of the axis, unit included."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(list(positions), [label.replace("$", r"\$") for label in labels])
    axis.set_label_text(name, fontsize=NORMAL, color=GREY)


def label(
    ax: Axes,
    at: tuple[float, float],
    text: str,
    *,
    color: str = GREY,
    offset: tuple[float, float] = (5, 0),
    ha: Side = "left",
    size: float = SMALL,
    bold: bool = False,
    ground: bool = False,
) -> Annotation:
    """A word beside a point, `offset` in points; `ground` puts white behind it."""
    found = ax.annotate(
        text,
        at,
        xytext=offset,
        textcoords="offset points",
        color=color,
        ha=ha,
        va="center",
        fontsize=size,
        fontweight="bold" if bold else "normal",
        parse_math=False,
        annotation_clip=True,
    )
    if ground:
        found.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    return found


def beyond(ax: Axes, text: str, *, x: float, y: float = np.inf) -> None:
    """Hatch and name what lies beyond the values `x` and `y` of two logarithmic axes; infinite ones bound nothing."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    corner, down = (right, low), 9.0
    if left < np.log10(x) < right:
        region = ax.axvspan(float(np.log10(x)), right)
    elif low < np.log10(y) < high:
        region, corner, down = ax.axhspan(float(np.log10(y)), high), (right, high), -9.0
    else:
        return
    region.set(facecolor="none", edgecolor=FAINT, hatch="//", linewidth=0, zorder=0)
    label(ax, corner, text, offset=(-4, down), ha="right", ground=True)


def tick_step(top: float, *, most: int) -> float:
    """The finest of 0.1, 0.2, 0.5, 1 and 2 times a power of ten that leaves an axis up to `top` with `most` steps.

    >>> tick_step(102.8, most=8), tick_step(83.2, most=8), tick_step(9.0, most=10)
    (20.0, 20.0, 1.0)
    """
    power = 10.0 ** np.floor(np.log10(top))
    return float(next(power * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (power * part) <= most))
