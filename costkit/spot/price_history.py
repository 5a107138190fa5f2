"""What did an hour of a machine cost, and when? Prices that hold until they change.

- A price is what one machine costs for one hour, in US dollars. It holds from its time until the zone's next one, the
  last for ever. A mean is over time, never over rows: a price that holds for a minute counts for a minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import tables
from costkit.spot import files
from costkit.spot.trace import Floats
from costkit.units import HOUR


@dataclass(frozen=True, eq=False)
class ZonePrices:
    """The prices of one kind of machine in one zone: each holds from its time (seconds since 1970) until the next."""

    zone: str
    instance_type: str
    product: str
    times_s: Floats
    usd_per_hour: Floats

    @property
    def start_s(self) -> float:
        """When the first price began to hold."""
        return float(self.times_s[0])

    @property
    def end_s(self) -> float:
        """When the last price began to hold."""
        return float(self.times_s[-1])

    def at(self, time_s: npt.ArrayLike) -> Floats:
        """The price at a time, or at each of many."""
        return np.asarray(self.usd_per_hour[self._row(time_s)])

    def cumulative_usd(self, time_s: npt.ArrayLike) -> Floats:
        """What a machine has cost from the start until a time, had it run all along: the integral of the price.

        >>> prices = ZonePrices("us-east-1a", "", "", np.array([0.0, 3600.0]), np.array([2.0, 3.0]))
        >>> prices.cumulative_usd(np.array([1800.0, 3600.0, 7200.0])).tolist()
        [1.0, 2.0, 5.0]
        """
        row, times = self._row(time_s), np.asarray(time_s, float)
        until = np.concatenate([[0.0], np.cumsum(self.usd_per_hour[:-1] * np.diff(self.times_s))])
        return np.asarray((until[row] + self.usd_per_hour[row] * (times - self.times_s[row])) / HOUR)

    def mean_usd_per_hour(self, start_s: float | None = None, end_s: float | None = None) -> float:
        """The mean price over time, from the first price to the last unless told otherwise.

        >>> prices = ZonePrices("us-east-1a", "", "", np.array([0.0, 3600.0, 4000.0]), np.array([1.0, 10.0, 1.0]))
        >>> prices.mean_usd_per_hour()
        1.9
        """
        start = self.start_s if start_s is None else start_s
        end = max(self.end_s, start) if end_s is None else end_s
        if end < start:
            raise ValueError(f"end_s is {end:g}, before start_s, {start:g}; give a later end.")
        if end == start:
            return float(self.at(start))
        spent = self.cumulative_usd([start, end])
        return float((spent[1] - spent[0]) * HOUR / (end - start))

    def _row(self, time_s: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Which price holds at a time."""
        times = np.asarray(time_s, float)
        if not np.all(np.isfinite(times) & (times >= self.start_s)):
            raise ValueError(
                f"the prices of {self.zone} begin on {files.day(self.start_s)} ({self.start_s:.0f} s since 1970); "
                "ask for that time or later."
            )
        return np.asarray(np.searchsorted(self.times_s, times, side="right") - 1)


@dataclass(frozen=True, eq=False)
class PriceHistory:
    """The prices of one kind of machine by zone; `warnings` are sentences on what is odd about them."""

    name: str
    zones: Mapping[str, ZonePrices]
    warnings: tuple[str, ...] = ()

    def one(self, zone: str) -> ZonePrices:
        """The prices of that zone; `UnknownName` with the nearest where there is none of that name."""
        return tables.lookup("zone", zone, self.zones)
