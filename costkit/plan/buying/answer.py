"""What does spot cost this plan, how sure is that, and when is it done? The plan's numbers passed through `spot`.

- Simulated, with as many trials as a redraw allows, from the same chance each time: two plans differ by what was
  changed in them, not by luck. Means have their closed form beside them where the market has one.
- On demand is simulated too: hardware fails there as well. It is saved at the interval that is best there.
"""

from __future__ import annotations

import functools
import math
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np

from costkit import spot
from costkit.plan.buying import setup, words
from costkit.plan.buying.blocks import GIVE_UP, simulated
from costkit.plan.buying.warnings import warnings
from costkit.plan.schema import Plan
from costkit.units import Range, duration, finite

LOSSES_IN_SWEEP, FEWEST_SWEPT, N_SWEPT = 200_000, 60, 13
MOST_GIVEN_UP = 0.5


@dataclass(frozen=True, eq=False)
class Savings:
    """The answer: what many runs came to, on spot and on demand.

    `outcomes` is None where the run practically never finishes.
    """

    plan: Plan
    job: spot.Job
    market: spot.Market
    n_bytes: float
    outcomes: spot.Outcomes | None
    on_demand: spot.Outcomes
    recorded: setup.Recorded | None

    @property
    def deadline_s(self) -> float | None:
        """When the run must be done; None where the plan names no deadline."""
        return setup.deadline_s(self.plan)

    @property
    def n_trials(self) -> int:
        """How many runs were simulated on spot."""
        return 0 if self.outcomes is None else self.outcomes.n_trials

    @property
    def give_up(self) -> float:
        """How many times the undisturbed time a simulated run may work before it counts as never done."""
        return GIVE_UP

    @property
    def finishes(self) -> bool:
        """Whether at least half of the trials got to the end."""
        return self.outcomes is not None and self.outcomes.unfinished_fraction < MOST_GIVEN_UP

    @property
    def on_demand_usd(self) -> float:
        """The mean bill on demand."""
        return float(self.on_demand.usd.mean())

    @cached_property
    def usd(self) -> Range:
        """The bill on spot: 5th percentile, mean, 95th percentile; inf where the run never finishes.

        Runs that were given up count in the mean with what they had spent by then, and in no percentile.
        """
        if self.outcomes is None or not self.finishes:
            return Range(math.inf, math.inf, math.inf)
        span = self.outcomes.usd_range
        return Range(span.low, float(self.outcomes.usd.mean()), span.high)

    @cached_property
    def wall_s(self) -> Range:
        """Time to the finish on spot: 5th, 50th, 95th percentile."""
        return Range(math.inf, math.inf, math.inf) if self.outcomes is None else self.outcomes.wall_range_s

    @property
    def saving_fraction(self) -> Range:
        """What spot saves of the mean bill on demand: low at the 95th percentile of its bill, mid at the mean."""
        return Range(*(1 - usd / self.on_demand_usd for usd in (self.usd.high, self.usd.mid, self.usd.low)))

    @property
    def losing_fraction(self) -> float:
        """The probability of paying more than on demand, or of never finishing."""
        return 1.0 if self.outcomes is None else self.outcomes.losing_fraction(self.on_demand)

    @property
    def late_fraction(self) -> float | None:
        """The probability of missing the deadline; None without one."""
        if self.deadline_s is None:
            return None
        return 1.0 if self.outcomes is None else self.outcomes.late_fraction(self.deadline_s)

    @property
    def restart_s(self) -> float:
        """What a restart takes, provisioning included."""
        return self.job.restart_s + self.market.provision_s

    @property
    def kept_notices(self) -> float:
        """The share of all losses before which the state is saved."""
        return self.market.notice_success * self.market.preempted_fraction

    @cached_property
    def best_interval_s(self) -> float:
        """The checkpoint interval with the least expected time, for memoryless lives and a run without an end."""
        return spot.optimal_interval_s(
            mean_life_s=self.market.loss_life_s,
            checkpoint_write_s=self.job.checkpoint_write_s,
            notice_success=self.kept_notices,
        )

    def expected_s(self, interval_s: float) -> float:
        """Expected paid time of the run at an interval, for memoryless lives; one beyond its end is its end."""
        market, job = self.market, replace(self.job, checkpoint_every_s=min(interval_s, self.job.work_s))
        losses = sum(n * float(self._losses(length_s)) for n, length_s in job.segments())
        return losses * (market.loss_life_s + market.notice_s * market.preempted_fraction) if losses else job.ideal_s

    def _losses(self, segment_s: float) -> float:
        return float(
            spot.mean_losses(
                segment_s=segment_s,
                mean_life_s=self.market.loss_life_s,
                restart_s=self.restart_s,
                notice_success=self.kept_notices,
            )
        )

    @cached_property
    def flat_zone(self) -> spot.FlatZone:
        """Between which intervals the expected time is within 1% of the least."""
        return spot.flat_zone(
            mean_life_s=self.market.loss_life_s,
            checkpoint_write_s=self.job.checkpoint_write_s,
            notice_success=self.kept_notices,
            fraction=words.FLAT,
        )

    @cached_property
    def swept(self) -> tuple[tuple[float, float], ...]:
        """(interval, mean bill of the machines) simulated at a few intervals, for a market without a closed form."""
        if self.market.has_best_interval or not 0 < self.best_interval_s < math.inf:
            return ()
        most = self.job.work_s if self.market.fleet.is_elastic else 20 * self.best_interval_s
        every = np.geomspace(self.best_interval_s / 20, max(min(most, self.job.work_s), self.best_interval_s), N_SWEPT)
        found = (
            (float(one), _mean_usd(replace(self.job, checkpoint_every_s=float(one)), self.market)) for one in every
        )
        return tuple((one, usd) for one, usd in found if math.isfinite(usd))

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return words.headline(self)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Key numbers as (label, text)."""
        return words.facts(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before using the answer."""
        return warnings(self)

    @property
    def where_it_goes(self) -> str:
        """What the picture of the parts says, in a sentence."""
        return words.where_it_goes(self)

    @property
    def how_often_to_save(self) -> str:
        """What the picture of the intervals says, in a sentence."""
        return words.how_often_to_save(self)

    @property
    def where_it_pays(self) -> str:
        """What the map of markets says, in a sentence."""
        return words.where_it_pays(self)

    def parts_usd(self) -> dict[str, float]:
        """Where the mean bill goes; empty where no trial finished."""
        if self.outcomes is None or not self.outcomes.finished.any():
            return {}
        return dict(self.outcomes.parts_usd())

    def numbers(self) -> dict[str, object]:
        """The answer as numbers; None for what is infinite."""
        told = {
            "spot_usd": {"p5": self.usd.low, "mean": self.usd.mid, "p95": self.usd.high},
            "wall_s": {"p5": self.wall_s.low, "p50": self.wall_s.mid, "p95": self.wall_s.high},
            "saving_fraction": dict(zip(("at_p95", "mean", "at_p5"), astuple(self.saving_fraction), strict=True)),
            "on_demand": {"usd": self.on_demand_usd, "wall_s": self.on_demand.wall_range_s.mid},
        }
        return {
            **{name: {key: finite(value) for key, value in found.items()} for name, found in told.items()},
            "losing_fraction": self.losing_fraction,
            "late_fraction": self.late_fraction,
            "best_interval_s": finite(self.best_interval_s),
            "losses": None if self.outcomes is None else float(self.outcomes.losses.mean()),
            "mean_life_s": finite(self.market.loss_life_s),
            "parts_usd": self.parts_usd(),
            "n_trials": self.n_trials,
        }

    def rows(self) -> list[dict[str, object]]:
        """Percentiles of the bill and of the finish, on spot and on demand."""
        return [_row(share, self) for share in (1, 5, 10, 25, 50, 75, 90, 95, 99)]

    def checks(self) -> list[spot.Comparison]:
        """The simulated means beside their closed forms, on a market without memory; empty where not all runs finish.

        Where the plan's own market has no closed form, its likeness with memoryless lives is simulated for it.
        """
        alike = memoryless(self.market)
        outcomes = self.outcomes if alike == self.market else simulated(self.job, alike)
        if outcomes is None or not outcomes.finished.all():
            return []
        return outcomes.against(spot.expected(self.job, alike))


def memoryless(market: spot.Market) -> spot.Market:
    """The market with exponential lives, a constant price, and a job that stops when a node is lost."""
    if market.has_closed_form:
        return market
    return replace(
        market,
        process="exponential",
        fleet=replace(market.fleet, is_elastic=False),
        billing=replace(market.billing, prices=None),
    )


def _row(share: int, answer: Savings) -> dict[str, object]:
    row: dict[str, object] = {"percentile": share}
    for name, found in (("spot", answer.outcomes), ("on_demand", answer.on_demand)):
        drawn = {"usd": None, "wall_s": None} if found is None else {"usd": found.whole_usd, "wall_s": found.wall_s}
        for what, values in drawn.items():
            value = math.inf if values is None else float(np.percentile(values, share, method="inverted_cdf"))
            row[f"{name}_{what}"] = finite(value)
    return row


def savings(plan: Plan) -> Savings:
    """What the plan costs on spot and on demand, and when it is done.

    Raises `ValueError` of one sentence for values that can't be together, or files that can't be read.

    >>> from costkit import plan
    >>> answer = savings(plan.read("case-50k"))
    >>> answer.n_trials >= 5000, 0.5 < answer.saving_fraction.mid < 0.6
    (True, True)
    """
    n_bytes = setup.checkpoint_bytes(plan)
    job = setup.job(plan, n_bytes=n_bytes)
    market = setup.market(plan, job, n_bytes=n_bytes)
    return Savings(
        plan=plan,
        job=job,
        market=market,
        n_bytes=n_bytes,
        outcomes=simulated(job, market),
        on_demand=_on_demand(_rarely_saved(job, market), market.on_demand()),
        recorded=setup.recorded(plan),
    )


def _mean_usd(job: spot.Job, market: spot.Market) -> float:
    """The mean bill of the machines over few trials; inf where not all finish."""
    found = simulated(job, market, in_all=LOSSES_IN_SWEEP, fewest=FEWEST_SWEPT)
    if found is None or not found.finished.all():
        return math.inf
    return float((found.machine_usd - found.credit_usd).mean())


def _rarely_saved(job: spot.Job, market: spot.Market) -> spot.Job:
    """The run as it is best saved on demand, where only hardware fails."""
    write_s = job.checkpoint_write_s or 1.0  # a write that takes no time would have no best interval
    best_s = spot.optimal_interval_s(mean_life_s=market.hardware_life_s, checkpoint_write_s=write_s)
    return replace(job, checkpoint_every_s=min(best_s, job.work_s))


@functools.lru_cache(maxsize=32)
def _on_demand(job: spot.Job, market: spot.Market) -> spot.Outcomes:
    found = simulated(job, market)
    if found is None or found.unfinished_fraction >= MOST_GIVEN_UP:
        raise ValueError(
            "on demand too the run would practically never finish: hardware fails every"
            f" {duration(market.hardware_life_s)} of the job, and it must restart and save between two failures: check"
            " market.failures_per_gpu_day, training.restart_min and training.checkpoint_write_min"
        )
    return found
