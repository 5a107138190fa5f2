"""How is an axis of dollars drawn? A round end, few ticks, short words."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from costkit.figures import style
from costkit.units import short_count

_MOST_TICKS, _LONG = 8, 1000


def round_top(value: float) -> float:
    """A round number above the value, so that the axis stands still while a slider moves.

    >>> round_top(42_000), round_top(0.07)
    (45000.0, 0.07)
    """
    step = 10 ** np.floor(np.log10(value)) / 2
    return float(np.ceil(round(value / step, 9)) * step)


def usd_ticks(ax: Axes, top: float, name: str) -> None:
    """Ticks from 0 to the top in short dollars."""
    positions = np.arange(0, top * (1 + 1e-9), style.tick_step(top, most=_MOST_TICKS)).tolist()
    style.ticks(ax, "x", positions, [usd_tick(value) for value in positions], name)


def usd_tick(value: float) -> str:
    """A dollar amount for an axis."""
    return f"${short_count(value)}" if value >= _LONG else f"${value:,g}"
