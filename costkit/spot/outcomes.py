"""What came of many simulated runs? Every draw as an array, and what is read off them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from costkit.spot.expected import Expected, Moments
from costkit.spot.jobs import Job, Market
from costkit.spot.trace import Flags, Floats
from costkit.units import HOUR, Range

LOW, MID, HIGH = 5.0, 50.0, 95.0


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One value for each trial: arrays of shape (n_trials,).

    Args:
        job: What was run.
        market: Where.
        billed_s: Paid time, counted as time of all machines together.
        losses: How often machines were lost, by preemption or hardware failure.
        hardware_failures: How many of the losses were no preemptions.
        lost_s: Paid time that had to be done again.
        restart_s: Paid time of restarts, those that were lost on the way among them.
        notice_s: Paid time between a notice and the end.
        waiting_s: Time without machines, or with some of them only.
        machine_usd: What the paid time costs at the price of its moments, before credits.
        credit_usd: What the provider takes off for machines that it took back early.
        finished: False for a trial that was given up; its dollars are those spent until then.
        n_blocks: Of how many simulated blocks each value is made up; 1: runs were simulated from end to end.
    """

    job: Job
    market: Market
    billed_s: Floats
    losses: Floats
    hardware_failures: Floats
    lost_s: Floats
    restart_s: Floats
    notice_s: Floats
    waiting_s: Floats
    machine_usd: Floats
    credit_usd: Floats
    finished: Flags
    n_blocks: float = 1.0

    @property
    def n_trials(self) -> int:
        """How many runs were simulated."""
        return len(self.finished)

    @property
    def elapsed_s(self) -> Floats:
        """From the first machine to the last step, or to where a trial was given up."""
        return self.billed_s + self.waiting_s

    @cached_property
    def wall_s(self) -> Floats:
        """From the first machine to the last step; inf for a trial that was given up."""
        return np.where(self.finished, self.elapsed_s, math.inf)

    @cached_property
    def usd(self) -> Floats:
        """The whole bill: machines less credits, nodes kept while waiting, storage and moves."""
        standing = self.market.billing.usd_per_hour / HOUR
        moves = self.market.billing.usd_per_restart
        kept = self._kept_usd_per_s * self.waiting_s
        return self.machine_usd - self.credit_usd + kept + standing * self.elapsed_s + moves * self.losses

    @property
    def _kept_usd_per_s(self) -> float:
        """What the nodes that are kept cost while the job waits for the rest."""
        return self.market.fleet.kept_fraction * self.market.spot_usd_per_hour / HOUR

    @property
    def preemptions(self) -> Floats:
        """How often the provider took machines away."""
        return self.losses - self.hardware_failures

    @property
    def unfinished_fraction(self) -> float:
        """The share of trials that were given up."""
        return float(1 - self.finished.mean())

    @property
    def usd_range(self) -> Range:
        """Dollars: the 5th, 50th and 95th percentile; inf where so many were given up."""
        return percentiles(self.whole_usd)

    @property
    def whole_usd(self) -> Floats:
        """The bill of each run that is done; inf for a trial that was given up, which has none."""
        return np.where(self.finished, self.usd, math.inf)

    @property
    def wall_range_s(self) -> Range:
        """Time to the finish: the 5th, 50th and 95th percentile; inf where so many were given up."""
        return percentiles(self.wall_s)

    def late_fraction(self, deadline_s: float) -> float:
        """The probability of missing a deadline."""
        return float(np.mean(self.wall_s > deadline_s))

    def losing_fraction(self, other: Outcomes) -> float:
        """The probability of paying more than the other way of buying would, or of never finishing."""
        n = min(self.n_trials, other.n_trials)
        dearer = (self.usd[:n] > other.usd[:n]) | ~self.finished[:n]
        return float(np.mean(dearer))

    def parts_usd(self) -> Mapping[str, float]:
        """Where the mean bill of the trials that finished goes; the parts sum to it.

        Raises `ValueError` where none finished.
        """
        done = self.finished
        if not done.any():
            raise ValueError("no trial finished, so there is no bill to take apart")
        rate = (self.machine_usd / self.billed_s)[done]
        written_s = self.job.n_checkpoints * self.job.checkpoint_write_s
        market, losses = self.market, self.losses[done]
        return {
            "useful work": float(self.job.work_s * rate.mean()),
            "work done again": float((self.lost_s[done] * rate).mean()),
            "writing checkpoints": float(written_s * rate.mean()),
            "restarts": float((self.restart_s[done] * rate).mean()),
            "notices": float((self.notice_s[done] * rate).mean()),
            "waiting": float(self._kept_usd_per_s * self.waiting_s[done].mean()),
            "storage and moves": float(
                market.billing.usd_per_hour / HOUR * self.wall_s[done].mean()
                + market.billing.usd_per_restart * losses.mean()
            ),
            "first-hour credit": -float(self.credit_usd[done].mean()),
        }

    def against(self, theory: Expected) -> list[Comparison]:
        """The simulated means beside their closed forms; with credits the dollars have none, and are left out."""
        pairs: list[tuple[str, Floats, Moments]] = [
            ("wall_s", self.wall_s, theory.wall_s),
            ("billed_s", self.billed_s, theory.billed_s),
            ("losses", self.losses, theory.losses),
            ("preemptions", self.preemptions, theory.preemptions),
        ]
        if not self.market.billing.first_hour_free:
            pairs.append(("usd", self.usd, theory.usd))
        return [_compared(name, drawn, exact, self.n_blocks) for name, drawn, exact in pairs]


@dataclass(frozen=True)
class Comparison:
    """A simulated mean and its closed form, and how many standard errors lie between them."""

    name: str
    simulated: float
    standard_error: float
    exact: float
    z_score: float
    simulated_sd: float
    exact_sd: float


def _compared(name: str, drawn: Floats, exact: Moments, n_blocks: float) -> Comparison:
    mean, sd = float(drawn.mean()), float(drawn.std(ddof=1)) if len(drawn) > 1 else math.nan
    error = sd * math.sqrt(n_blocks / len(drawn))
    apart = mean - exact.mean
    rounding = 1e-9 * abs(exact.mean)
    z_score = apart / error if error > rounding else 0.0 if abs(apart) <= rounding else math.copysign(math.inf, apart)
    return Comparison(name, mean, error, exact.mean, z_score, sd, exact.sd)


def percentiles(drawn: Floats) -> Range:
    """The 5th, 50th and 95th percentile: the smallest draw that at least that share of draws does not exceed.

    >>> percentiles(np.arange(1.0, 101.0))
    Range(low=5.0, mid=50.0, high=95.0)
    """
    low, mid, high = np.percentile(drawn, (LOW, MID, HIGH), method="inverted_cdf").tolist()
    return Range(low, mid, high)


def without_rounding(rest_s: Floats, whole_s: Floats) -> Floats:
    """What is left of a whole, where that is more than rounding."""
    return np.where(rest_s > 1e-9 * whole_s, rest_s, 0.0)


def joined(parts: list[dict[str, Any]], job: Job, market: Market) -> Outcomes:
    """The outcomes of chunks of trials as one."""
    names = [one.name for one in fields(Outcomes) if one.name not in ("job", "market", "n_blocks")]
    whole: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return Outcomes(job=job, market=market, **whole)
