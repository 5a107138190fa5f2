"""How is a plan's run simulated within the time of a redraw? As many trials as that allows; a very long run in blocks.

- A run that loses its machines more often than `IN_A_BLOCK` times is simulated a part at a time: parts are alike, so
  their means add up and their variances too. That holds for the mean and the spread, and nearly for percentiles.
- Where the price moves, blocks are as long as a redraw allows: what a run pays in its parts is not independent.
- A block can't be smaller than what lies between two saved states. Where even that takes too many losses, or the whole
  run would take `GIVE_UP` times as long as undisturbed, it practically never finishes.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from costkit import spot
from costkit.spot.trace import Floats

MOST_TRIALS, FEWEST_TRIALS, FEWEST_OF_MANY_NODES = 10_000, 200, 24
LOSSES_IN_ALL = 600_000
IN_A_BLOCK, IN_A_MOVING_BLOCK, IN_AN_ELASTIC_BLOCK, IN_AN_ELASTIC_RUN = 1_500, 8_000, 60, 600
GIVE_UP = 10.0
SEED = 20_230_215
_HOPELESS = 4.0
_MANY_NODES = 16
_ONE_BY_ONE = ("job", "market", "finished", "n_blocks")


def simulated(
    job: spot.Job, market: spot.Market, *, in_all: float = LOSSES_IN_ALL, fewest: int = FEWEST_TRIALS
) -> spot.Outcomes | None:
    """As many trials as a redraw allows; None where the run practically never finishes."""
    losses = spot.losses_each(job, market, give_up=GIVE_UP)
    if market.fleet.is_elastic:
        return None if _never_works(job, market) else _elastic(job, market, losses, in_all, fewest)
    most = IN_A_BLOCK if market.billing.prices is None else IN_A_MOVING_BLOCK
    part = _segments(job, max(1, math.ceil(losses / most)))
    each = losses * part.ideal_s / job.ideal_s
    if each > _HOPELESS * most:
        return None
    n_trials = min(max(int(in_all / (each + 1)), fewest), MOST_TRIALS)
    return _of(part, job, market, market, n_trials)


def _elastic(job: spot.Job, market: spot.Market, losses: float, in_all: float, fewest: int) -> spot.Outcomes | None:
    """A run that goes on with fewer nodes: from end to end, or in blocks once it is in its long-run state.

    There, many nodes together are lost like memoryless ones, whatever the law of each.
    """
    settled, part, n_nodes = market, job, market.fleet.n_nodes
    whole = IN_AN_ELASTIC_BLOCK if market.law.name == "exponential" else IN_AN_ELASTIC_RUN
    if losses > whole:
        n_blocks = math.ceil(losses / IN_AN_ELASTIC_BLOCK)
        part = _share(job, n_blocks) if _seldom_falls_back(market) else _segments(job, n_blocks)
        settled = replace(market, process="exponential", fleet=replace(market.fleet, is_settled=True))
    each = losses * part.ideal_s / job.ideal_s
    if each > _HOPELESS * IN_AN_ELASTIC_RUN:
        return None
    least = min(fewest // 3, FEWEST_OF_MANY_NODES if n_nodes > _MANY_NODES else fewest)
    n_trials = min(max(int(in_all / ((8 + n_nodes) * (each + 1))), least), MOST_TRIALS)
    return _of(part, job, settled, market, n_trials)


def _seldom_falls_back(market: spot.Market) -> bool:
    """Whether there are so many nodes that all of them are hardly ever gone at once."""
    return market.fleet.n_nodes >= _MANY_NODES and market.fleet.burst_nodes <= market.fleet.n_nodes / 2


def _never_works(job: spot.Job, market: spot.Market) -> bool:
    """Whether an elastic run regroups nearly all the time: after each loss, and after each return of nodes."""
    regrouping = 2 * (job.restart_s + market.provision_s) / market.loss_life_s
    return math.exp(-regrouping) < 1 / GIVE_UP


def _of(
    part: spot.Job, job: spot.Job, settled: spot.Market, market: spot.Market, n_trials: int
) -> spot.Outcomes | None:
    """The trials of a part, and the whole run made of them."""
    rng = np.random.default_rng(SEED)
    found = spot.simulate(part, settled, n_trials=n_trials, rng=rng, give_up=GIVE_UP)
    found = replace(found, market=market)
    return found if part is job else _grown(found, job)


def _segments(job: spot.Job, n_blocks: int) -> spot.Job:
    """About an n-th of the run, in whole segments; the run itself where that is all of it."""
    n_segments = math.ceil(job.n_full_segments / n_blocks)
    return job if n_segments >= job.n_full_segments else replace(job, work_s=n_segments * job.checkpoint_every_s)


def _share(job: spot.Job, n_blocks: int) -> spot.Job:
    """An n-th of the run with its share of the writes, be it less than a segment."""
    work_s = job.work_s / n_blocks
    if not job.has_checkpoints or work_s >= job.checkpoint_every_s:
        return replace(job, work_s=work_s)
    write_s = job.checkpoint_write_s * work_s / job.checkpoint_every_s
    return replace(job, work_s=work_s, checkpoint_every_s=work_s, checkpoint_write_s=write_s)


def _grown(part: spot.Outcomes, job: spot.Job) -> spot.Outcomes | None:
    """The whole run, from trials of one of its blocks; None where blocks are given up.

    What comes out are no runs that were seen from end to end, but has the mean and the spread of such runs.
    """
    if not part.finished.all():
        return None
    n_blocks = job.ideal_s / part.job.ideal_s

    def grown(drawn: Floats) -> Floats:
        mean = drawn.mean()
        return np.asarray(n_blocks * mean + math.sqrt(n_blocks) * (drawn - mean))

    names = [one.name for one in fields(spot.Outcomes) if one.name not in _ONE_BY_ONE]
    whole: dict[str, Any] = {name: grown(getattr(part, name)) for name in names}
    return replace(part, job=job, n_blocks=n_blocks, **whole)
