"""How is a plan's run simulated within the time of a redraw? As many trials as that allows; a very long run in blocks.

- A run that loses its machines more often than `IN_A_BLOCK` is simulated a part at a time: parts are alike, so their
  means add up and their variances too. That holds for the mean and the spread, and nearly for percentiles.
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

MOST_TRIALS, FEWEST_TRIALS = 10_000, 200
LOSSES_IN_ALL, IN_A_BLOCK, MOST_OF_ELASTIC = 600_000, 1_500, 60
GIVE_UP = 10.0
SEED = 20_230_215
_HOPELESS = 4.0
_ONE_BY_ONE = ("job", "market", "finished", "n_blocks")


def simulated(
    job: spot.Job, market: spot.Market, *, in_all: float = LOSSES_IN_ALL, fewest: int = FEWEST_TRIALS
) -> spot.Outcomes | None:
    """As many trials as a redraw allows; None where the run practically never finishes."""
    elastic = market.fleet.is_elastic
    losses, most = spot.losses_each(job, market, give_up=GIVE_UP), MOST_OF_ELASTIC if elastic else IN_A_BLOCK
    n_blocks = 1 if losses <= most else min(math.ceil(losses / most), job.n_full_segments)
    each = losses / n_blocks
    if not elastic and each > _HOPELESS * IN_A_BLOCK:
        return None
    per_loss = 8 + market.fleet.n_nodes if elastic else 1
    n_trials = min(max(int(in_all / (per_loss * (each + 1))), fewest // (3 if elastic else 1)), MOST_TRIALS)
    part = _block(job, n_blocks)
    rng = np.random.default_rng(SEED)
    settled = replace(market, fleet=replace(market.fleet, is_settled=part is not job))
    found = spot.simulate(part, settled, n_trials=n_trials, rng=rng, give_up=GIVE_UP)
    return replace(found, market=market) if part is job else _grown(replace(found, market=market), job)


def _block(job: spot.Job, n_blocks: int) -> spot.Job:
    """About an n-th of the run, in whole segments; the run itself where that is all of it."""
    n_segments = math.ceil(job.n_full_segments / n_blocks)
    return job if n_segments >= job.n_full_segments else replace(job, work_s=n_segments * job.checkpoint_every_s)


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
