"""Do your own runs carry a law? What the fit leaves unexplained, and what it says of the best size."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costkit import scaling, training
from costkit.figures import style
from costkit.plan.sizing import OwnRuns, Runs
from costkit.plan.sizing.bands import ratio_curve

_LEFT, _RIGHT = (0.072, 0.13, 0.42, 0.70), (0.60, 0.13, 0.385, 0.70)


def own_runs(own: OwnRuns) -> Figure:
    """Residuals of the fit along compute, and tokens per parameter with the band of its bootstrap."""
    title = f"Example (made up): {own.finding}" if own.is_example else own.finding
    alt = " ".join([f"{title}.", *own.fit.warnings])
    made = Figure((style.WIDTH, style.HEIGHT), facecolor="white", label=alt)
    style.title(made, title)
    _draw_residuals(style.axes(made, _LEFT), own.fit, own.runs)
    _draw_ratio(style.axes(made, _RIGHT), own.fit)
    return made


def _draw_residuals(ax: Axes, fit: scaling.Fit, runs: Runs) -> None:
    x, y = np.log10(training.flop(n_params=runs.n_params, n_tokens=runs.n_tokens)), 100 * np.expm1(fit.residuals)
    ax.axhline(0, color=style.PALE, linewidth=1)
    ax.plot(x, y, "o", color=style.BLUE, markersize=4, alpha=0.6, markeredgewidth=0)
    reach = max(float(np.abs(y).max()) * 1.15, 0.1)
    ax.set_ylim(-reach, reach)
    style.heading(ax, "Fitted less observed loss of each run", color=style.BLUE)
    powers = np.arange(np.floor(x.min()), np.ceil(x.max()) + 0.5)
    style.ticks(ax, "x", powers.tolist(), [f"1e{power:.0f}" for power in powers], "Training compute, FLOP")
    ax.yaxis.set_label_text("Per cent", fontsize=style.NORMAL, color=style.GREY)


def _draw_ratio(ax: Axes, fit: scaling.Fit) -> None:
    style.heading(ax, "Best tokens per parameter, middle 80% of refits", color=style.BLUE)
    if not fit.identifiable:
        ax.set_axis_off()
        return
    low, high = np.log10(fit.law.flop_range)
    x = np.linspace(low - 0.5, high + 3, 61)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0, 2.5)
    curve = ratio_curve(fit.law, 10**x)
    if len(curve.low):
        ax.fill_between(x, np.log10(curve.low), np.log10(curve.high), color=style.BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, np.log10(curve.mid), color=style.BLUE, linewidth=1.8)
    style.beyond(ax, "beyond your runs", x=fit.law.flop_range[1])
    powers = np.arange(np.ceil(x[0]), np.floor(x[-1]) + 0.5)
    style.ticks(ax, "x", powers.tolist(), [f"1e{power:.0f}" for power in powers], "Training compute, FLOP")
    ratios = (1, 3, 10, 30, 100, 300)
    style.ticks(ax, "y", np.log10(ratios).tolist(), [str(ratio) for ratio in ratios], "Tokens per parameter")
