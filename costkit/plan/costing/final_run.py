"""What does the final run take? Its hours and dollars, what of them computes, and what spot adds.

- Goodput is what the plan says or what published runs kept; where failures and checkpoints alone, as the plan sets
  them, leave less, it is that.
- On spot, interruptions, failures and writes are counted one by one in place of a goodput, as notebook 02 counts them:
  by the closed form of memoryless lives, whatever the plan's law is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from costkit import spot, training
from costkit.plan.buying import setup
from costkit.plan.buying.answer import memoryless
from costkit.plan.buying.blocks import GIVE_UP
from costkit.plan.reached import Reached, n_active_params, reached, training_share
from costkit.plan.schema import Plan
from costkit.units import MINUTE, Range


@dataclass(frozen=True)
class FinalRun:
    """The final run: what it takes, what it reaches, and the parts of goodput by mechanism.

    `undisturbed` is the run without interruptions. `interrupted_ratio` is what spot multiplies its paid hours by, 1
    without spot and inf where it practically never finishes; it, and the waits, are inside `run`.
    """

    flop: float
    reached: Reached
    run: training.Run
    undisturbed: training.Run
    mechanism: training.Goodput
    interrupted_ratio: float

    @property
    def is_held_up_by_its_settings(self) -> bool:
        """Whether failures and checkpoints, as the plan sets them, leave less than published runs or the plan say."""
        return self.mechanism.fraction <= self.reached.goodput.mid


def final_run(plan: Plan) -> FinalRun:
    """The final run of a plan."""
    kept = mechanism(plan)
    paid, waited = _on_spot(plan) if plan.market.purchase == "spot" else (1.0, 1.0)
    found = _one_by_one(reached(plan)) if paid > 1 else _held_up(reached(plan), kept.fraction)
    flop = training_share(plan) * training.flop(n_params=n_active_params(plan), n_tokens=plan.data.n_tokens)
    run = training.run(
        flop=flop,
        gpu=plan.hardware.gpu,
        n_gpus=plan.hardware.n_gpus,
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        mfu=found.whole,
    )
    longer = replace(
        run,
        gpu_hours=run.gpu_hours.times(paid),
        usd=run.usd.times(paid),
        wall_s=run.wall_s.times(waited),
        mfu=run.mfu.times(1 / paid),
    )
    return FinalRun(flop, found, longer, run, kept, paid)


def mechanism(plan: Plan) -> training.Goodput:
    """What failures, checkpoints, restarts, evaluation, ramp and spares take, as the plan sets them."""
    asked, job = plan.training, setup.job(plan)
    return training.goodput(
        n_gpus=plan.hardware.n_gpus,
        failures_per_gpu_day=setup.failures_per_gpu_day(plan),
        checkpoint_every_s=asked.checkpoint_every_min * MINUTE,
        checkpoint_write_s=job.checkpoint_write_s,
        restart_s=job.restart_s,
        evaluation_fraction=asked.evaluation_fraction,
        ramp_fraction=asked.ramp_fraction,
        spare_fraction=asked.spare_fraction,
    )


_LEAST_GOODPUT = 1e-6


def _one_by_one(found: Reached) -> Reached:
    """On spot interruptions, failures and writes are counted one by one, as notebook 02 does, in place of a goodput."""
    return replace(found, goodput=Range.exact(1.0), whole=found.mfu)


def _held_up(found: Reached, most: float) -> Reached:
    """The goodput brought down to what the plan's own settings leave; never 0, which no run could be told of."""
    factor = max(most, _LEAST_GOODPUT) / found.goodput.mid
    if found.has_own_goodput or factor >= 1:
        return found
    return replace(found, goodput=found.goodput.times(factor), whole=found.whole.times(factor))


def _on_spot(plan: Plan) -> tuple[float, float]:
    """What interruptions multiply paid hours and time by; inf where it works so long that notebook 02 gives it up."""
    job = setup.job(plan)
    market = memoryless(setup.market(plan, job, n_bytes=setup.checkpoint_bytes(plan)))
    found = spot.expected(job, market)
    paid, waited = found.billed_s.mean / job.work_s, found.wall_s.mean / job.work_s
    return (paid, waited) if paid < GIVE_UP else (math.inf, math.inf)
