"""How does an interrupted run end, if it is run many times? Trials in lockstep, in chunks that fit a processor's cache.

- A trial that works, waits aside, `give_up` times as long as it would without losses is given up: it practically never
  finishes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from costkit.spot import elastic
from costkit.spot.clocked import Clocked
from costkit.spot.expected import mean_losses
from costkit.spot.jobs import Job, Market
from costkit.spot.lockstep import Lockstep
from costkit.spot.outcomes import Outcomes, joined
from costkit.units import duration, number, require_positive, require_whole

CHUNK = 16_384
GIVE_UP = 20.0
MOST_LOSSES = 5e9


def simulate(
    job: Job,
    market: Market,
    *,
    n_trials: int,
    rng: np.random.Generator,
    give_up: float = GIVE_UP,
) -> Outcomes:
    """Run a job many times on a market.

    Args:
        job: What is run.
        market: Where.
        n_trials: How many times.
        rng: Where chance comes from.
        give_up: How many times the failure-free time a trial may work before it counts as one that never finishes.

    Raises:
        ValueError: A number is out of range, or the trials would pass through more than `MOST_LOSSES` losses.

    >>> case = Job(work_s=432 * 3600, checkpoint_every_s=3600, checkpoint_write_s=300, restart_s=900)
    >>> market = Market(mean_life_s=6 * 3600, spot_usd_per_hour=39.0, on_demand_usd_per_hour=98.0)
    >>> found = simulate(case, market, n_trials=2000, rng=np.random.default_rng(0))
    >>> [round(end / 86400, 1) for end in (found.wall_range_s.low, found.wall_range_s.high)]
    [21.7, 22.9]
    """
    require_whole(n_trials, "n_trials", "trials")
    require_positive(give_up, "give_up", "times the failure-free time")
    _require_affordable(job, market, n_trials, give_up)
    run = elastic.run if market.fleet.is_elastic else _run
    chunk = max(CHUNK // (market.fleet.n_nodes if market.fleet.is_elastic else 1), 16)
    sizes = [min(chunk, int(n_trials) - start) for start in range(0, int(n_trials), chunk)]
    return joined([run(job, market, size, rng, give_up) for size in sizes], job, market)


def _require_affordable(job: Job, market: Market, n_trials: int, give_up: float) -> None:
    """Refuse what would take hours: many trials of many losses each."""
    losses = losses_each(job, market, give_up=give_up)
    if losses * n_trials > MOST_LOSSES:
        raise ValueError(
            f"{n_trials:,} trials would pass through about {number(losses)} losses each, one every"
            f" {duration(market.loss_life_s)}: give fewer trials, or longer lives."
        )


def losses_each(job: Job, market: Market, *, give_up: float = GIVE_UP) -> float:
    """About how many losses a trial passes through before it is done, or given up.

    As for exponential lives; of an elastic job, as if its losses took no time.
    """
    if market.loss_life_s == math.inf:
        return 0.0
    undisturbed = job.ideal_s / market.loss_life_s
    if market.fleet.is_elastic:
        return undisturbed
    each = mean_losses(
        segment_s=job.segment_s,
        mean_life_s=market.loss_life_s,
        restart_s=job.restart_s + market.provision_s,
        notice_success=market.notice_success * market.preempted_fraction,
    )
    return min(float(each) * (job.n_full_segments + 1), give_up * undisturbed)


def _run(job: Job, market: Market, n_trials: int, rng: np.random.Generator, give_up: float) -> dict[str, Any]:
    needs_clock = market.billing.prices is not None or market.law.name == "joint"
    return (Clocked if needs_clock else Lockstep)(job, market, n_trials, rng, give_up).run()
