"""What does the final run take? Its hours and dollars, what of them computes, and what stops it.

- Goodput is what the plan says or what published runs kept; where failures and checkpoints alone, as the plan sets
  them, leave less, it is that. Spares are paid for and do not lengthen the run.
- On spot, interruptions, failures and writes are counted one by one, by the closed form of memoryless lives, whatever
  the plan's law is; what a run loses besides stays: the goodput over what failures and writes leave on demand.
- A run that would work `GIVE_UP` times as long as it computes practically never finishes: it has no end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from costkit import spot, training
from costkit.plan.buying import setup
from costkit.plan.buying.answer import memoryless
from costkit.plan.buying.blocks import GIVE_UP
from costkit.plan.buying.prices import prices
from costkit.plan.reached import Reached, n_active_params, reached, training_share
from costkit.plan.schema import Plan
from costkit.units import HOUR, MINUTE, Range


@dataclass(frozen=True)
class FinalRun:
    """The final run: what it takes, the part of it that computes, what it reaches, and goodput by mechanism.

    `interrupted_ratio` is what spot multiplies the paid hours by, 1 without spot. `usd_per_gpu_hour` is the price
    that is paid: the plan's, or that of its spot market. `has_closed_form`: whether that market has one of its own.
    """

    flop: float
    reached: Reached
    run: training.Run
    computing: training.Run
    mechanism: training.Goodput
    interrupted_ratio: float
    has_closed_form: bool
    usd_per_gpu_hour: float

    @property
    def is_endless(self) -> bool:
        """Whether it practically never finishes."""
        return math.isinf(self.run.usd.mid)

    @property
    def is_on_spot(self) -> bool:
        """Whether its machines can be taken away."""
        return self.interrupted_ratio > 1

    @property
    def kept_fraction(self) -> float:
        """The share of the paid hours that computes, in the middle."""
        return self.computing.gpu_hours.mid / self.run.gpu_hours.mid

    @property
    def is_held_up_by_its_settings(self) -> bool:
        """Whether failures and checkpoints, as the plan sets them, leave less than published runs or the plan say."""
        return not self.is_on_spot and self.mechanism.fraction <= self.reached.goodput.mid


def final_run(plan: Plan) -> FinalRun:
    """The final run of a plan."""
    found, kept = reached(plan), mechanism(plan)
    flop = training_share(plan) * training.flop(n_params=n_active_params(plan), n_tokens=plan.data.n_tokens)
    computing = training.run(
        flop=flop,
        gpu=plan.hardware.gpu,
        n_gpus=plan.hardware.n_gpus,
        usd_per_gpu_hour=_usd_per_gpu_hour(plan),
        mfu=found.mfu,
    )
    if plan.market.purchase == "spot":
        bought = _on_spot(plan)
        return _stopped(plan, flop, _besides(found, kept), computing, kept, bought)
    endless = kept.fraction * GIVE_UP < 1
    bought = _Bought(math.inf, math.inf, closed=True) if endless else _Bought(1.0, 1.0, closed=True)
    return _stopped(plan, flop, _held_up(found, kept.fraction), computing, kept, bought)


@dataclass(frozen=True)
class _Bought:
    """What the way of buying multiplies paid hours and time by; `closed`: whether by the market's own closed form."""

    paid: float
    waited: float
    closed: bool


def _stopped(
    plan: Plan, flop: float, found: Reached, computing: training.Run, kept: training.Goodput, bought: _Bought
) -> FinalRun:
    """The run with its stops: of goodput, and of how it is bought."""
    pairs = zip(_ends(computing.gpu_hours), _backwards(found), strict=True)
    hours = Range(*(flop_hours / share for flop_hours, share in pairs)).times(bought.paid)
    price, spares = _usd_per_gpu_hour(plan), 1 + plan.training.spare_fraction
    waits = bought.waited / bought.paid if math.isfinite(bought.paid) else 1.0
    wall_s = hours.times(waits * HOUR / plan.hardware.n_gpus / spares)
    mfu = found.run_mfu.times(1 / bought.paid)
    run = training.Run(hours, wall_s, hours.times(price), mfu)
    ratio = bought.paid if plan.market.purchase == "spot" else 1.0
    return FinalRun(flop, found, run, computing, kept, ratio, bought.closed, price)


def _ends(value: Range) -> tuple[float, float, float]:
    return value.low, value.mid, value.high


def _backwards(found: Reached) -> tuple[float, float, float]:
    """Goodput by what it does to hours: the longest run is the one that kept least."""
    return found.goodput.high, found.goodput.mid, found.goodput.low


def _usd_per_gpu_hour(plan: Plan) -> float:
    """The price that is paid: the plan's own, on spot the one that notebook 02 pays."""
    if plan.market.purchase != "spot":
        return plan.hardware.usd_per_gpu_hour
    return prices(plan).spot_usd_per_hour / plan.hardware.n_gpus


def mechanism(plan: Plan) -> training.Goodput:
    """What failures, checkpoints, restarts, evaluation, ramp and spares take, as the plan sets them.

    Nothing is saved later than at the end of the run.
    """
    asked, job = plan.training, setup.job(plan)
    return training.goodput(
        n_gpus=plan.hardware.n_gpus,
        failures_per_gpu_day=setup.failures_per_gpu_day(plan),
        checkpoint_every_s=min(asked.checkpoint_every_min * MINUTE, job.work_s),
        checkpoint_write_s=job.checkpoint_write_s,
        restart_s=job.restart_s,
        evaluation_fraction=asked.evaluation_fraction,
        ramp_fraction=asked.ramp_fraction,
        spare_fraction=asked.spare_fraction,
    )


def _besides(found: Reached, kept: training.Goodput) -> Reached:
    """What of a goodput is left for losses besides failures, restarts and writes, which are counted themselves."""
    running = kept.computing_fraction + kept.checkpoints_fraction + kept.lost_fraction + kept.restarts_fraction
    machines = kept.computing_fraction / running if running else 1.0
    return _scaled(found, min(1 / machines, 1 / found.goodput.high)) if machines else found


def _held_up(found: Reached, most: float) -> Reached:
    """The goodput brought down to what the plan's own settings leave."""
    factor = most / found.goodput.mid
    return found if found.has_own_goodput or factor >= 1 or not most else _scaled(found, factor)


def _scaled(found: Reached, factor: float) -> Reached:
    return replace(found, goodput=found.goodput.times(factor), run_mfu=found.run_mfu.times(factor))


def _on_spot(plan: Plan) -> _Bought:
    """What interruptions multiply paid hours and time by; inf where it works so long that notebook 02 gives it up."""
    job = setup.job(plan)
    market = setup.market(plan, job, n_bytes=setup.checkpoint_bytes(plan))
    found = spot.expected(job, memoryless(market))
    paid, waited = found.billed_s.mean / job.work_s, found.wall_s.mean / job.work_s
    closed = market.has_closed_form
    return _Bought(paid, waited, closed) if paid < GIVE_UP else _Bought(math.inf, math.inf, closed)
