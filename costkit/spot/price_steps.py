"""What does an hour cost while the price moves? A price that stands still between changes, its record repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit.spot.trace import Floats
from costkit.units import require_positive


@dataclass(frozen=True, eq=False)
class PriceSteps:
    """A price from its first change to the end of its record.

    `time_s` holds the changes from 0 on and then the end, shape (n + 1,); `relative_s` the integral of the price over
    its mean until each.
    """

    time_s: Floats
    relative_s: Floats
    mean_usd_per_hour: float

    @property
    def span_s(self) -> float:
        """How long it was recorded."""
        return float(self.time_s[-1])

    def relative_cost_s(self, time_s: Floats) -> Floats:
        """The integral of the price from 0, over its mean, in seconds; the record repeats itself.

        >>> steps = price_steps(np.array([0.0, 10.0]), usd_per_hour=np.array([1.0, 3.0]), end_s=20.0)
        >>> steps.relative_cost_s(np.array([10.0, 20.0, 30.0]))
        array([ 5., 20., 25.])
        """
        rounds, rest = np.divmod(time_s, self.span_s)
        return np.asarray(rounds * self.span_s + np.interp(rest, self.time_s, self.relative_s))


def price_steps(time_s: Floats, *, usd_per_hour: Floats, end_s: float) -> PriceSteps:
    """A record of price changes: at each of `time_s` (ascending, in seconds) the price becomes that of `usd_per_hour`.

    >>> price_steps(np.array([0.0, 10.0]), usd_per_hour=np.array([1.0, 3.0]), end_s=20.0).mean_usd_per_hour
    2.0
    """
    times, prices = np.asarray(time_s, float), np.asarray(usd_per_hour, float)
    if times.ndim != 1 or times.shape != prices.shape or not times.size:
        raise ValueError("time_s and usd_per_hour must be two lists of the same length, one change of the price each.")
    require_positive(prices, "usd_per_hour", "USD an hour")
    edges = np.append(times, end_s) - times[0]
    lengths = np.diff(edges)
    if not np.all(np.isfinite(edges)) or np.any(lengths <= 0):
        raise ValueError("time_s must rise from each change to the next, and end_s must come after the last.")
    paid = np.concatenate([[0.0], np.cumsum(lengths * prices)])
    mean = float(paid[-1] / edges[-1])
    return PriceSteps(edges, paid / mean, mean)
