"""What if hours have prices of their own? Trials in lockstep that know the time, and what came with each life."""

from __future__ import annotations

from typing import Any

import numpy as np

from costkit.spot.jobs import Job, Market
from costkit.spot.lockstep import Lockstep
from costkit.spot.trace import Flags, Floats
from costkit.units import HOUR


class Clocked(Lockstep):
    """Trials whose hours have prices of their own, or whose waits belong to their lives."""

    def __init__(self, job: Job, market: Market, n: int, rng: np.random.Generator, give_up: float) -> None:
        super().__init__(job, market, n, rng, give_up)
        self.prices = market.billing.prices
        if self.prices is not None:
            self.sums["clock"] = rng.random(n) * self.prices.span_s

    def names(self) -> list[str]:
        """What is added up for each trial: paid time by its price, waits, and the time itself, besides."""
        return [*super().names(), "paid", "waited", "clock"]

    def account(self, life: Floats, failed: Flags | None) -> None:
        """Add the life to what is paid, at the price of its time, and let the wait pass."""
        super().account(life, failed)
        paid = life + self.notice * (1.0 if failed is None else ~failed)
        self.sums["paid"] += self.worth(paid, slice(None))
        waited = self.waits(len(life))
        self.sums["waited"] += waited
        self.sums["clock"] += paid * self.unit_s + waited

    def credited(self, life: Floats) -> Floats:
        """What a life that was taken back in its first hour would have cost, at the price of its time."""
        return self.worth(life + self.notice, slice(None))

    def leave(self, which: Any, rest: Floats | float) -> None:
        """Write the trials down, with what the rest of their last life costs."""
        self.sums["paid"][which] += self.worth(np.broadcast_to(rest, which.shape), which)
        super().leave(which, rest)

    def worth(self, paid: Floats, which: Any) -> Floats:
        """Paid time, weighted by the price of its moments over the mean price."""
        if self.prices is not None:
            start_s = self.sums["clock"][which]
            end_s = start_s + paid * self.unit_s
            return (self.prices.relative_cost_s(end_s) - self.prices.relative_cost_s(start_s)) / self.unit_s
        if self.law.prices is None:
            return paid
        return np.asarray(paid * self.law.prices[self.chosen[which]])

    def waits(self, n: int) -> Floats:
        """A wait for each loss, in seconds."""
        mean_s = self.market.capacity_wait_s
        if self.law.waits is not None:
            return np.asarray(mean_s * self.law.waits[self.chosen])
        return mean_s * (np.ones(n) if self.market.waits == "constant" else self.rng.standard_exponential(n))

    def waited_s(self) -> Floats:
        """The waits that passed."""
        return np.asarray(self.ends["waited"])

    def dollars(self, billed_s: Floats) -> tuple[Floats, Floats]:
        """What the machines cost at the prices of their hours, and what is taken off."""
        price = self.market.spot_usd_per_hour / HOUR
        return self.ends["paid"] * self.unit_s * price, super().dollars(billed_s)[1]
