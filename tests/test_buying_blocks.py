from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from costkit import spot
from costkit.plan.buying import blocks
from costkit.spot import Fleet, Job, Market
from costkit.units import HOUR, MINUTE

MANY = 6_000_000
MOST_ERRORS = 4.0


def run(work_h: float, *, every_min: float = 20, write_min: float = 1, restart_min: float = 2) -> Job:
    """A job that is saved every few minutes."""
    return Job(
        work_s=work_h * HOUR,
        checkpoint_every_s=every_min * MINUTE,
        checkpoint_write_s=write_min * MINUTE,
        restart_s=restart_min * MINUTE,
    )


def market(life_h: float = 1, **given: Any) -> Market:
    """A market whose machines live for about an hour."""
    return Market(mean_life_s=life_h * HOUR, spot_usd_per_hour=10.0, on_demand_usd_per_hour=30.0, **given)


def simulated(job: Job, place: Market, **given: Any) -> spot.Outcomes:
    """Trials of a run that ends."""
    found = blocks.simulated(job, place, **given)
    assert found is not None
    return found


LONG = run(3791.1)
PLACES = {
    "plain": market(),
    "failures, notices and waits": market(
        notice_success=0.5, notice_s=120, capacity_wait_s=600, hardware_life_s=50 * HOUR
    ),
    "storage": market(billing=spot.Billing(usd_per_hour=0.5, usd_per_restart=2.0)),
}
places = pytest.mark.parametrize("place", PLACES)


@places
def test_a_run_of_thousands_of_losses_is_simulated_in_blocks(place: str) -> None:
    """Its trials are of a part of it, of no more losses than a block may have, and count for the whole."""
    whole = simulated(LONG, PLACES[place])
    losses = spot.losses_each(LONG, PLACES[place], give_up=blocks.GIVE_UP)
    assert 3 * blocks.IN_A_BLOCK < losses < 4 * blocks.IN_A_BLOCK
    assert (whole.job, whole.market, whole.n_trials) == (
        LONG,
        PLACES[place],
        int(blocks.LOSSES_IN_ALL / (losses / 4 + 1)),
    )


@places
def test_blocks_have_mean_and_spread_of_the_whole_run(place: str) -> None:
    """Time, losses and dollars within four standard errors of a mean of four blocks; their spread within 5%."""
    found = simulated(LONG, PLACES[place], in_all=MANY).against(spot.expected(LONG, PLACES[place]))
    n_blocks, n_trials = 4, simulated(LONG, PLACES[place], in_all=MANY).n_trials
    errors = [math.sqrt(n_blocks / n_trials) * one.exact_sd for one in found]
    apart = {one.name: (one.simulated - one.exact) / error for one, error in zip(found, errors, strict=True)}
    assert {name: z for name, z in apart.items() if abs(z) > MOST_ERRORS} == {}
    assert [one.simulated_sd for one in found] == pytest.approx([one.exact_sd for one in found], rel=0.05)


def test_the_standard_error_of_blocks_is_that_of_their_sum() -> None:
    """A mean of four blocks' sum is twice as uncertain as one of as many whole runs."""
    found = simulated(LONG, market())
    (wall,) = [one for one in found.against(spot.expected(LONG, market())) if one.name == "wall_s"]
    assert wall.standard_error == pytest.approx(math.sqrt(4 / found.n_trials) * wall.simulated_sd, rel=0.01)


@places
def test_the_parts_of_blocks_sum_to_the_bill(place: str) -> None:
    """Where the money goes adds up, also where the last block is shorter than the others."""
    found = simulated(LONG, PLACES[place])
    assert sum(found.parts_usd().values()) == pytest.approx(float(found.usd.mean()), rel=1e-9)
    assert min(float(getattr(found, name).min()) for name in ("lost_s", "restart_s", "notice_s", "waiting_s")) >= 0


def test_percentiles_of_blocks_are_nearly_those_of_whole_runs() -> None:
    """Within one per cent of runs that were seen from end to end."""
    whole = spot.simulate(LONG, market(), n_trials=400, rng=np.random.default_rng(5))
    ours, theirs = (found.usd_range for found in (simulated(LONG, market()), whole))
    assert (ours.low, ours.mid, ours.high) == pytest.approx((theirs.low, theirs.mid, theirs.high), rel=0.01)


def test_a_run_of_few_losses_is_simulated_whole() -> None:
    """Up to a block's losses every trial is a run from end to end."""
    short = run(1000)
    losses = spot.losses_each(short, market(), give_up=blocks.GIVE_UP)
    found, n_trials = simulated(short, market()), int(blocks.LOSSES_IN_ALL / (losses + 1))
    whole = spot.simulate(
        short, market(), n_trials=n_trials, rng=np.random.default_rng(blocks.SEED), give_up=blocks.GIVE_UP
    )
    assert losses < blocks.IN_A_BLOCK
    assert np.array_equal(found.usd, whole.usd)


NEVER: dict[str, tuple[Job, Market]] = {
    "segments that never end": (run(1e4), market(0.02)),
    "segments that take too many losses": (run(1e5, every_min=600), market(0.5)),
    "ten times as long": (run(1e4, every_min=180), market(0.7)),
}


@pytest.mark.parametrize("case", NEVER)
def test_a_long_run_that_never_ends_is_none(case: str) -> None:
    """Where a block is given up, or can't be small enough, there are no outcomes."""
    job, place = NEVER[case]
    assert job.ideal_s / place.mean_life_s > 2 * blocks.IN_A_BLOCK
    assert blocks.simulated(job, place) is None


def test_blocks_of_an_elastic_run_begin_as_it_goes_on() -> None:
    """With as many nodes down as there are in the long run: the mean is that of whole runs, to four standard errors."""
    place = market(3, capacity_wait_s=1800, fleet=Fleet(n_nodes=4, is_elastic=True))
    job = run(900)
    losses = spot.losses_each(job, place, give_up=blocks.GIVE_UP)
    n_blocks = math.ceil(losses / blocks.IN_AN_ELASTIC_BLOCK)
    found = simulated(job, place)
    whole = spot.simulate(job, place, n_trials=300, rng=np.random.default_rng(3))
    assert n_blocks >= 5
    for name in ("usd", "wall_s", "losses"):
        ours, theirs = getattr(found, name), getattr(whole, name)
        error = math.sqrt(n_blocks * ours.var() / found.n_trials + theirs.var() / whole.n_trials)
        assert abs(ours.mean() - theirs.mean()) < MOST_ERRORS * error
        assert float(ours.std()) == pytest.approx(float(theirs.std()), rel=0.2)


@pytest.mark.parametrize("elastic", [False, True])
def test_an_interval_beyond_the_run_with_many_losses_is_answered(elastic: bool) -> None:
    """A run of one short segment that is lost thousands of times has no block to be cut into, and never ends."""
    job, place = run(400, every_min=30_000), market(0.05)
    found = blocks.simulated(job, replace(place, fleet=Fleet(n_nodes=4, is_elastic=elastic)))
    assert found is None


def test_the_lives_of_a_new_fleet_count_where_it_is_simulated_whole() -> None:
    """With many early losses, new nodes are lost more often than old ones: blocks would not do."""
    place = replace(market(1, fleet=Fleet(n_nodes=32, is_elastic=True), capacity_wait_s=600), process=spot.weibull(0.4))
    found, whole = (
        simulated(run(200), place),
        spot.simulate(run(200), place, n_trials=100, rng=np.random.default_rng(1)),
    )
    assert found.n_blocks == 1
    assert float(found.losses.mean()) == pytest.approx(float(whole.losses.mean()), rel=0.05)
