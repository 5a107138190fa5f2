import functools
import math
import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from costkit import spot, tables
from costkit.spot import Billing, Fleet, Job, Market, Noticed, OnOff, Outcomes, simulation
from costkit.units import HOUR

TRIALS = 40_000
MOST_ERRORS = 4.0

Array = npt.NDArray[np.float64]


def run(work_h: float = 20, *, every_h: float = 1, write_h: float = 1 / 12, restart_h: float = 0.25) -> Job:
    """A job in hours."""
    return Job(
        work_s=work_h * HOUR,
        checkpoint_every_s=every_h * HOUR,
        checkpoint_write_s=write_h * HOUR,
        restart_s=restart_h * HOUR,
    )


def free_run(work_h: float) -> Job:
    """A job that loses time by waiting only, where every notice saves it."""
    return run(work_h, every_h=math.inf, write_h=0, restart_h=0)


def market(life_h: float = 6, *, wait_h: float = 0, notice_min: float = 0, **given: Any) -> Market:
    """A market in hours, with notices in minutes."""
    return Market(
        mean_life_s=life_h * HOUR,
        spot_usd_per_hour=2.0,
        on_demand_usd_per_hour=6.0,
        capacity_wait_s=wait_h * HOUR,
        notice_s=notice_min * 60,
        **given,
    )


def simulated(job: Job, place: Market, *, n_trials: int = TRIALS, seed: int = 7, **given: Any) -> Outcomes:
    """Trials with chance of their own."""
    return spot.simulate(job, place, n_trials=n_trials, rng=np.random.default_rng(seed), **given)


def errors_apart(one: Array, other: Array | float) -> float:
    """How many standard errors lie between two means, or a mean and a number."""
    variance = one.var() / len(one) + (other.var() / len(other) if isinstance(other, np.ndarray) else 0.0)
    return float(abs(one.mean() - np.mean(other)) / np.sqrt(variance))


def share_apart(share: float, exact: float, n: int = TRIALS) -> float:
    """How many standard errors lie between a share of draws and its probability."""
    return abs(share - exact) / math.sqrt(exact * (1 - exact) / n)


# Closed forms.

CASES: dict[str, tuple[Job, Market]] = {
    "no notices": (run(), market()),
    "half the notices": (run(), market(notice_success=0.5, notice_min=2)),
    "most notices, long segments": (run(every_h=5), market(notice_success=0.9, notice_min=2, wait_h=1)),
    "all notices": (run(every_h=4), market(notice_success=1.0, notice_min=2, wait_h=1.1)),
    "short lives": (run(every_h=0.5), market(1.5, notice_success=0.7, notice_min=0.5, wait_h=0.5)),
    "constant waits": (run(), market(wait_h=2, waits="constant")),
    "exponential waits": (run(), market(wait_h=2)),
    "hardware": (run(), market(hardware_life_s=10 * HOUR, notice_success=0.8, notice_min=5, wait_h=1)),
    "hardware only": (run(), market(math.inf, hardware_life_s=10 * HOUR, wait_h=1)),
    "survivors": (run(), market(wait_h=2, fleet=Fleet(n_nodes=8, burst_nodes=2.0, keeps_survivors=True))),
    "storage and moves": (run(), market(wait_h=1, billing=Billing(usd_per_hour=0.3, usd_per_restart=1.5))),
    "a short last segment": (run(20.7, every_h=2), market(notice_success=0.3)),
    "an interval beyond the end": (run(3, every_h=8), market(notice_success=0.3)),
    "no checkpoints": (run(6, every_h=math.inf), market()),
    "no checkpoints but notices": (run(20, every_h=math.inf), market(notice_success=0.6, wait_h=1)),
    "provisioning": (run(), market(provision_s=900.0)),
    "free restarts and writes": (run(write_h=0, restart_h=0), market(notice_success=0.5)),
}
cases = pytest.mark.parametrize("case", CASES)


@functools.cache
def outcomes(case: str) -> Outcomes:
    """The trials of a case, run once."""
    return simulated(*CASES[case], give_up=1e4)


@cases
def test_means_meet_their_closed_forms(case: str) -> None:
    """Time, paid time, losses, preemptions and dollars are within four standard errors of theory."""
    found = outcomes(case).against(spot.expected(*CASES[case]))
    apart = {one.name: one.z_score for one in found}
    assert {name: z for name, z in apart.items() if abs(z) >= MOST_ERRORS} == {}
    assert list(apart) == ["wall_s", "billed_s", "losses", "preemptions", "usd"]


@cases
def test_spreads_meet_their_closed_forms(case: str) -> None:
    """Standard deviations of time, paid time, losses and dollars are within 3% of theory."""
    found = outcomes(case).against(spot.expected(*CASES[case]))
    ours = [one.simulated_sd for one in found]
    assert ours == pytest.approx([one.exact_sd for one in found], rel=0.03)


@cases
def test_paid_time_is_the_sum_of_its_parts(case: str) -> None:
    """Work, writes, work done again, restarts and notices are all that is paid for; with the waits, all the time."""
    found, job = outcomes(case), CASES[case][0]
    kept_s = job.work_s + job.n_checkpoints * job.checkpoint_write_s
    paid_s = kept_s + found.lost_s + found.restart_s + found.notice_s
    gaps = [np.abs(paid_s - found.billed_s).max(), np.abs(paid_s + found.waiting_s - found.wall_s).max()]
    assert gaps == pytest.approx([0, 0], abs=1e-3)


@cases
def test_the_parts_of_the_bill_sum_to_it(case: str) -> None:
    """Where the money goes adds up to the mean bill."""
    found = outcomes(case)
    assert sum(found.parts_usd().values()) == pytest.approx(found.usd.mean(), rel=1e-9)


def test_failures_have_their_share_of_the_losses() -> None:
    """Of losses every 6 and every 10 hours, six in sixteen are failures."""
    found = outcomes("hardware")
    assert errors_apart(found.hardware_failures - 6 / 16 * found.losses, 0.0) < MOST_ERRORS


def test_preemptions_are_the_losses_that_no_failure_is() -> None:
    """Run by run; and on average ten in sixteen of all, as theory has it, in their mean and in their spread."""
    found, theory = outcomes("hardware"), spot.expected(*CASES["hardware"])
    assert np.array_equal(found.preemptions, found.losses - found.hardware_failures)
    assert theory.preemptions.mean == pytest.approx(10 / 16 * theory.losses.mean, rel=1e-9)
    assert errors_apart(found.preemptions, theory.preemptions.mean) < MOST_ERRORS
    assert errors_apart(found.losses, theory.losses.mean) < MOST_ERRORS
    assert float(found.preemptions.std()) == pytest.approx(theory.preemptions.sd, rel=0.03)


@pytest.mark.parametrize(("case", "share"), [("hardware only", 0.0), ("no notices", 1.0)])
def test_losses_of_one_kind_are_all_preemptions_or_none(case: str, share: float) -> None:
    """Without failures the two are the same; without a provider's losses there are no preemptions."""
    found, theory = outcomes(case), spot.expected(*CASES[case])
    assert np.array_equal(found.preemptions, share * found.losses)
    assert (theory.preemptions.mean, theory.preemptions.sd) == pytest.approx(
        (share * theory.losses.mean, share * theory.losses.sd)
    )


def test_machines_that_are_never_lost_give_the_ideal_time() -> None:
    """Every trial takes work and writes only."""
    found = simulated(run(20.5), market(math.inf), n_trials=5)
    assert found.wall_s == pytest.approx(np.full(5, 20.5 * HOUR + 21 * 300))


def test_nothing_beats_the_ideal_time() -> None:
    """No trial is done before it could be without losses."""
    assert outcomes("no notices").wall_s.min() >= run().ideal_s * (1 - 1e-12)


@pytest.mark.parametrize("time_h", [50.0, 50.25, 50.5, 51.0, 51.75])
def test_quantiles_of_a_job_that_every_notice_saves(time_h: float) -> None:
    """Constant costs of a Poisson number of losses: the shares that are done by then."""
    exact = Noticed(work_s=48 * HOUR, mean_life_s=6 * HOUR, loss_s=900).cdf(time_h * HOUR)
    place = market(notice_success=1.0, wait_h=0.25, waits="constant")
    done = np.mean(simulated(free_run(48), place).wall_s <= time_h * HOUR + 1e-3)
    assert share_apart(float(done), exact) < MOST_ERRORS


@pytest.mark.parametrize("time_h", [48.0, 52.0, 56.0, 60.0, 70.0])
def test_quantiles_of_a_job_that_only_waits(time_h: float) -> None:
    """A compound Poisson sum of exponential waits: the shares that are done by then."""
    exact = OnOff(work_s=48 * HOUR, mean_up_s=6 * HOUR, mean_down_s=1.1 * HOUR).cdf(time_h * HOUR)
    done = np.mean(simulated(free_run(48), market(notice_success=1.0, wait_h=1.1)).wall_s <= time_h * HOUR + 1e-3)
    assert share_apart(float(done), exact) < MOST_ERRORS


# A simulation of one event after the other, written apart.


def one_event_after_the_other(
    job: Job, place: Market, life_s: Callable[[], float], chance: random.Random
) -> tuple[float, float, int]:
    """Time, paid time and losses of one run."""
    ends, at = [], 0.0
    for n, length_s in job.segments():
        for _ in range(n):
            at += length_s
            ends.append(at)
    position = saved = paid = waited = restart = 0.0
    losses = 0
    while True:
        life = life_s()
        worked = max(life - restart, 0.0)
        if position + worked >= ends[-1]:
            paid += restart + ends[-1] - position
            return paid + waited, paid, losses
        position += worked
        saved = max([saved, *(end for end in ends if end <= position)])
        if chance.random() < place.notice_success:
            saved = position
        position = saved
        losses += 1
        paid += life + place.notice_s
        waited += chance.expovariate(1 / place.capacity_wait_s) if place.capacity_wait_s else 0.0
        restart = job.restart_s


@pytest.mark.parametrize("success", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("process", ["exponential", "weibull"])
def test_a_simulation_of_one_event_after_the_other_agrees(process: str, success: float) -> None:
    """Means of time, paid time and losses, for lives with and without a past, with notices and waits."""
    job = run(12.3, every_h=1.5)
    place = market(3, process=process, notice_success=success, notice_min=3, wait_h=0.5)
    chance = random.Random(11)
    shape = {"exponential": 1.0, "weibull": 0.6}[process]
    scale_s = place.mean_life_s / math.gamma(1 + 1 / shape)
    theirs = np.array(
        [
            one_event_after_the_other(job, place, lambda: chance.weibullvariate(scale_s, shape), chance)
            for _ in range(4000)
        ]
    )
    found = simulated(job, place, n_trials=20_000)
    ours = (found.wall_s, found.billed_s, found.preemptions)
    assert max(errors_apart(a, b) for a, b in zip(ours, theirs.T, strict=True)) < MOST_ERRORS


# Laws of life times.


@pytest.mark.parametrize(
    "process",
    ["exponential", "weibull", "bathtub", spot.weibull(1.5), spot.empirical(np.array([1.0, 2.0, 9.0]))],
    ids=["exponential", "weibull", "bathtub", "weibull 1.5", "empirical"],
)
def test_machines_of_every_law_are_lost_once_a_mean_life(process: Any) -> None:
    """Over many lives losses come at the rate 1 / M, whatever the law."""
    found = simulated(free_run(300), market(1, process=process, notice_success=1.0), n_trials=1000)
    assert found.preemptions.mean() == pytest.approx(300, rel=0.01)


def test_heavy_tails_save_a_job_from_losses() -> None:
    """With the same mean, lives of which many are short and few very long lose less of short segments."""
    heavy, plain = (simulated(run(100), market(process=name), n_trials=4000) for name in ("weibull", "exponential"))
    assert heavy.wall_s.mean() < plain.wall_s.mean()


SHORT_OR_LONG = spot.joint(
    np.array([1.0, 3.0]) * HOUR, waits_s=np.array([2.0, 0.0]) * HOUR, usd_per_hour=np.array([3.0, 1.0])
)


def short_or_long(work_h: float) -> Outcomes:
    """A job that loses no work where lives of 1 h cost $3 an hour and end in waits of 2 h, those of 3 h $1 and none."""
    place = Market(
        mean_life_s=2 * HOUR,
        spot_usd_per_hour=1.5,
        on_demand_usd_per_hour=3.0,
        capacity_wait_s=SHORT_OR_LONG.mean_wait_s,
        notice_success=1.0,
        process=SHORT_OR_LONG,
    )
    return simulated(free_run(work_h), place, n_trials=4000)


def test_waits_and_prices_stay_with_their_lives() -> None:
    """An hour and a half ends in a long life, two short ones, or a short and a long one: worked out by hand."""
    found = short_or_long(1.5)
    pairs = {(round(t / HOUR, 6), round(usd, 6)) for t, usd in zip(found.wall_s, found.usd, strict=True)}
    assert pairs == {(1.5, 1.5), (3.5, 4.5), (3.5, 3.5)}


@pytest.mark.parametrize(("usd", "chance"), [(1.5, 0.5), (4.5, 0.25), (3.5, 0.25)])
def test_measured_lives_come_equally_often(usd: float, chance: float) -> None:
    """Each of two measured lives is half of all draws."""
    share = float(np.mean(np.isclose(short_or_long(1.5).usd, usd)))
    assert share_apart(share, chance, 4000) < MOST_ERRORS


def test_a_single_measured_life_leaves_nothing_to_chance() -> None:
    """Lives of 2 hours with waits of one: five hours of work end after seven."""
    once = spot.joint(np.array([7200.0]), waits_s=np.array([3600.0]), usd_per_hour=np.array([5.0]))
    place = market(2, wait_h=1, notice_success=1.0, process=once)
    found = simulated(free_run(5), place, n_trials=3)
    assert (found.wall_s.tolist(), found.usd.tolist()) == ([7 * HOUR] * 3, [10.0] * 3)


# Prices that move.


def test_a_constant_record_gives_the_bill_of_a_constant_price() -> None:
    """A price that never changes costs every trial its paid hours at that price."""
    steps = spot.price_steps(np.array([0.0, 5e3]), usd_per_hour=np.array([4.0, 4.0]), end_s=1e4)
    found = simulated(run(), market(wait_h=1, billing=Billing(prices=steps)), n_trials=2000)
    assert found.usd == pytest.approx(found.billed_s / HOUR * 2.0, rel=1e-9)


def test_the_mean_of_a_moving_price_is_paid_on_average() -> None:
    """From a random start every hour is worth the mean, so the mean bill is that of the mean price."""
    steps = spot.price_steps(np.array([0.0, 5.0, 7.0]) * HOUR, usd_per_hour=np.array([1.0, 9.0, 2.0]), end_s=40 * HOUR)
    found = simulated(run(), market(wait_h=1, notice_min=2, billing=Billing(prices=steps)))
    assert errors_apart(found.usd - found.billed_s / HOUR * 2.0, 0.0) < MOST_ERRORS


def test_a_moving_price_spreads_the_bill() -> None:
    """Two prices that take turns for days make a bill of a day less certain."""
    steps = spot.price_steps(np.array([0.0, 72.0]) * HOUR, usd_per_hour=np.array([1.0, 3.0]), end_s=144 * HOUR)
    moving = simulated(run(), market(billing=Billing(prices=steps)), n_trials=4000)
    assert moving.usd.std() > 3 * simulated(run(), market(), n_trials=4000).usd.std()


def test_a_price_that_moves_costs_nothing_extra_where_nothing_is_lost() -> None:
    """Machines that are never lost pay the price of their own hours: here the mean, over one whole record."""
    steps = spot.price_steps(np.array([0.0, 5.0]) * HOUR, usd_per_hour=np.array([1.0, 3.0]), end_s=10 * HOUR)
    found = simulated(run(10, write_h=0), market(math.inf, billing=Billing(prices=steps)), n_trials=5)
    assert found.usd == pytest.approx(np.full(5, 20.0))


def test_the_price_moves_on_while_a_trial_waits() -> None:
    """Lives of 2 h come back at the same hour of every day: they all miss the 2 cheap hours in 20 of 24 trials."""
    steps = spot.price_steps(np.array([0.0, 2.0]) * HOUR, usd_per_hour=np.array([1.0, 3.0]), end_s=24 * HOUR)
    place = market(
        2,
        wait_h=22,
        waits="constant",
        notice_success=1.0,
        process=spot.empirical(np.array([2.0 * HOUR])),
        billing=Billing(prices=steps),
    )
    usd = simulated(free_run(9), place).usd
    dear = 9 * 2.0 * 3 / ((2 * 1 + 22 * 3) / 24)
    assert usd.max() == pytest.approx(dear)
    assert share_apart(float(np.isclose(usd, dear).mean()), 20 / 24) < MOST_ERRORS


# Credits and survivors.


@pytest.mark.parametrize("life_h", [6.0, 2.0, 0.72])
def test_the_share_of_hours_that_the_first_hour_rule_makes_free(life_h: float) -> None:
    """1 - e^-l (1 + l) of all hours, l losses an hour, where each life starts afresh."""
    place = market(life_h, notice_success=1.0, billing=Billing(first_hour_free=True))
    found = simulated(free_run(1000 * life_h), place, n_trials=1000)
    exact = 1 - math.exp(-1 / life_h) * (1 + 1 / life_h)
    free = found.credit_usd / found.machine_usd
    assert abs(free.mean() - exact) < MOST_ERRORS * free.std() / math.sqrt(len(free)) + exact / 1000


def test_credits_come_off_the_bill() -> None:
    """With the rule the same trials cost less by the credit, and all else stays."""
    with_rule, without = (
        simulated(run(), market(billing=Billing(first_hour_free=rule)), n_trials=500) for rule in (True, False)
    )
    assert with_rule.usd == pytest.approx(without.usd - with_rule.credit_usd)
    assert with_rule.credit_usd.mean() > 0


def test_hardware_failures_earn_no_credit() -> None:
    """Only machines that the provider takes back are free."""
    place = market(math.inf, hardware_life_s=HOUR, billing=Billing(first_hour_free=True))
    assert simulated(run(), place, n_trials=500).credit_usd.max() == 0


@pytest.mark.parametrize("process", ["exponential", SHORT_OR_LONG], ids=["exponential", "joint"])
def test_no_credit_exceeds_what_the_machines_cost(process: Any) -> None:
    """Credits pay back hours that were paid for, at their own price."""
    found = simulated(run(), market(2, process=process, billing=Billing(first_hour_free=True)), n_trials=2000)
    assert np.all((found.credit_usd >= 0) & (found.credit_usd <= found.machine_usd))


@pytest.mark.parametrize(
    "place",
    [
        market(wait_h=1, notice_min=2, billing=Billing(first_hour_free=True, usd_per_hour=0.1, usd_per_restart=1.0)),
        market(wait_h=1, process=SHORT_OR_LONG, billing=Billing(first_hour_free=True)),
        market(
            wait_h=1,
            fleet=Fleet(n_nodes=4, keeps_survivors=True),
            billing=Billing(prices=spot.price_steps(np.zeros(1), usd_per_hour=np.ones(1), end_s=9e3)),
        ),
        market(wait_h=1, notice_min=2, fleet=Fleet(n_nodes=4, is_elastic=True), billing=Billing(usd_per_hour=0.1)),
    ],
    ids=["credits", "joint", "survivors and prices", "elastic"],
)
def test_the_parts_of_every_kind_of_bill_sum_to_it(place: Market) -> None:
    """Credits, moving prices, survivors and elastic jobs: the parts add up to the mean bill."""
    found = simulated(run(), place, n_trials=2000)
    assert sum(found.parts_usd().values()) == pytest.approx(found.usd.mean(), rel=1e-9)


# Elastic jobs.


@pytest.mark.parametrize("success", [0.0, 0.5, 1.0])
def test_an_elastic_job_of_one_node_is_a_plain_job(success: float) -> None:
    """One node has nothing to go on with: time, paid time, losses and dollars meet the closed forms."""
    job = run(every_h=4)
    how: dict[str, Any] = {"notice_success": success, "notice_min": 2, "wait_h": 1, "hardware_life_s": 30 * HOUR}
    found = simulated(job, market(fleet=Fleet(is_elastic=True), **how))
    apart = {one.name: one.z_score for one in found.against(spot.expected(job, market(**how)))}
    assert {name: z for name, z in apart.items() if abs(z) >= MOST_ERRORS} == {}


def test_an_elastic_job_of_one_node_has_the_credit_of_a_plain_job() -> None:
    """With a single node the first-hour rule pays back the same."""
    found = [
        simulated(
            run(), market(3, notice_min=2, fleet=Fleet(is_elastic=elastic), billing=Billing(first_hour_free=True))
        )
        for elastic in (True, False)
    ]
    assert errors_apart(found[0].credit_usd, found[1].credit_usd) < MOST_ERRORS


def elastic_one_event_after_the_other(job: Job, place: Market, chance: random.Random) -> tuple[float, float, int]:
    """Time, paid time and losses of one run that goes on with the nodes that are left, without notices."""
    n, whole_s = place.fleet.n_nodes, job.ideal_s

    def life_s() -> float:
        return chance.expovariate(1 / (place.mean_life_s * n))

    due, up = [life_s() for _ in range(n)], [True] * n
    now = working_from = position = paid = 0.0
    losses = 0
    while True:
        first = min(range(n), key=due.__getitem__)
        share, start = sum(up) / n, max(now, min(working_from, due[first]))
        if share and position + (due[first] - start) * share >= whole_s:
            end = start + (whole_s - position) / share
            return end, paid + (end - now) * share, losses
        position += (due[first] - start) * share
        paid += (due[first] - now) * share
        now = due[first]
        if up[first]:
            losses += 1
            joined = (place.fleet.burst_nodes - 1) / (n - 1)
            others = [node for node in range(n) if up[node] and node != first and chance.random() < joined]
            back = now + chance.expovariate(1 / place.capacity_wait_s)
            for node in (first, *others):
                due[node], up[node] = back, False
            if not any(up):
                position = math.floor(position / job.segment_s) * job.segment_s
        else:
            for node in [node for node in range(n) if due[node] == now]:
                due[node], up[node] = now + life_s(), True
        working_from = now + job.restart_s


@pytest.mark.parametrize("burst", [1.0, 2.0])
def test_an_elastic_simulation_of_one_event_after_the_other_agrees(burst: float) -> None:
    """Means of time, paid time and losses of four nodes that go in bursts and regroup."""
    job = run(20.3, restart_h=0.2)
    place = market(3, wait_h=2, fleet=Fleet(n_nodes=4, burst_nodes=burst, is_elastic=True))
    chance = random.Random(13)
    theirs = np.array([elastic_one_event_after_the_other(job, place, chance) for _ in range(3000)])
    found = simulated(job, place, n_trials=10_000)
    ours = (found.wall_s, found.billed_s, found.preemptions)
    assert max(errors_apart(a, b) for a, b in zip(ours, theirs.T, strict=True)) < MOST_ERRORS


def test_a_burst_of_all_nodes_takes_them_all() -> None:
    """A fleet that is always lost as one lives like a job that stops at each loss."""
    whole, shrinking = (
        simulated(run(), market(wait_h=1, fleet=Fleet(n_nodes=4, burst_nodes=4.0, is_elastic=elastic)))
        for elastic in (False, True)
    )
    assert errors_apart(whole.wall_s, shrinking.wall_s) < MOST_ERRORS


def test_many_independent_nodes_work_the_share_of_time_that_they_are_up() -> None:
    """Nodes up for 10 hours and gone for one work 10/11 of the time, where regrouping is free."""
    place = market(10 / 32, wait_h=1, fleet=Fleet(n_nodes=32, is_elastic=True))
    found = simulated(run(100, write_h=0, restart_h=0), place, n_trials=100)
    assert found.wall_s.mean() / HOUR == pytest.approx(110, rel=0.005)


def test_an_elastic_job_pays_for_nodes_that_are_up() -> None:
    """Without writes, restarts and losses of work the paid time is the work, however long it takes."""
    place = market(10 / 32, wait_h=1, fleet=Fleet(n_nodes=32, is_elastic=True))
    found = simulated(run(30, write_h=0, restart_h=0), place, n_trials=100)
    assert found.billed_s == pytest.approx(np.full(100, 30 * HOUR), rel=1e-9)


def test_going_on_with_fewer_nodes_beats_waiting_for_all() -> None:
    """An elastic job of many nodes is done before one that stands still."""
    elastic, still = (
        simulated(run(50), market(2, wait_h=1, fleet=Fleet(n_nodes=16, is_elastic=goes_on)), n_trials=300)
        for goes_on in (True, False)
    )
    assert elastic.wall_s.mean() < still.wall_s.mean()


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (market(billing=Billing(prices=spot.price_steps(np.zeros(1), usd_per_hour=np.ones(1), end_s=9.0))), "prices"),
        (market(process=SHORT_OR_LONG), "a joint law"),
        (market(fleet=Fleet(n_nodes=2, keeps_survivors=True)), "keeps_survivors"),
    ],
    ids=["prices", "joint", "survivors"],
)
def test_what_an_elastic_job_is_simulated_without(place: Market, named: str) -> None:
    """What the elastic simulation has no words for is refused by name."""
    elastic = {one.name: getattr(place, one.name) for one in fields(place)}
    old = place.fleet
    elastic["fleet"] = Fleet(n_nodes=old.n_nodes, is_elastic=True, keeps_survivors=old.keeps_survivors)
    with pytest.raises(ValueError, match=rf"simulated without {named}.*is_elastic=False"):
        simulated(run(), Market(**elastic), n_trials=2)


def test_bursts_stop_a_job_less_often() -> None:
    """At the same rate of lost nodes, losses of four at once stop a job a quarter as often."""
    lives = [spot.job_life_s(node_life_s=96 * HOUR, n_nodes=16, burst_nodes=b) / HOUR for b in (1.0, 4.0)]
    single, bursts = (simulated(free_run(100), market(life, notice_success=1.0), n_trials=4000) for life in lives)
    assert errors_apart(single.preemptions - 4 * bursts.preemptions, 0.0) < MOST_ERRORS


def test_bursts_leave_an_elastic_job_its_mean_life() -> None:
    """The mean life of a market is that between losses of the whole job, so bursts of nodes come as often."""
    fleets = (Fleet(n_nodes=16, burst_nodes=b, is_elastic=True) for b in (1.0, 4.0))
    found = [simulated(run(20, restart_h=0), market(5, wait_h=1e-6, fleet=f), n_trials=2000) for f in fleets]
    assert errors_apart(found[0].preemptions, found[1].preemptions) < MOST_ERRORS


# Runs that never finish.


@functools.cache
def hopeless() -> Outcomes:
    """A hundred mean lives without a checkpoint."""
    return simulated(run(100, every_h=math.inf), market(1, wait_h=1), n_trials=200)


def test_a_hopeless_run_is_given_up() -> None:
    """No trial finishes, every one takes forever, and what was spent until then is a finite bill."""
    found = hopeless()
    assert (found.unfinished_fraction, found.late_fraction(1e12), found.wall_range_s.low) == (1.0, 1.0, math.inf)
    assert np.all(np.isfinite(found.usd) & (found.usd > 0))


def test_a_hopeless_run_loses_against_any_other() -> None:
    """A run that never finishes is worse than one that does, whatever it costs."""
    other = simulated(run(100), market().on_demand(), n_trials=200)
    assert (hopeless().losing_fraction(other), other.losing_fraction(other)) == (1.0, 0.0)


def test_a_hopeless_run_has_no_bill_to_take_apart() -> None:
    """Without a finished trial there is no mean bill."""
    with pytest.raises(ValueError, match="no trial finished"):
        hopeless().parts_usd()


def test_a_hopeless_run_is_given_up_after_what_was_asked() -> None:
    """Trials pay at least `give_up` times the ideal time, and stop soon after."""
    found = simulated(run(100, every_h=math.inf), market(1), n_trials=50, give_up=3)
    assert np.all((found.billed_s > 300 * HOUR) & (found.billed_s < 400 * HOUR))


def test_an_elastic_job_is_given_up_too() -> None:
    """Nodes that wait ten times as long as they live let no trial finish in time."""
    place = market(1, wait_h=20, fleet=Fleet(n_nodes=2, is_elastic=True))
    found = simulated(run(100, every_h=math.inf), place, n_trials=20, give_up=3)
    assert (found.unfinished_fraction, bool(np.isinf(found.wall_s).all())) == (1.0, True)


# Chance and arrays.


@pytest.mark.parametrize(
    "place",
    [
        CASES["hardware"][1],
        market(process="bathtub"),
        market(process=SHORT_OR_LONG),
        market(fleet=Fleet(n_nodes=4, is_elastic=True), wait_h=1),
    ],
    ids=["hardware", "bathtub", "joint", "elastic"],
)
def test_the_same_chance_gives_the_same_trials(place: Market) -> None:
    """Every array is repeated to the last bit from the same seed."""
    first, second = (simulated(run(), place, n_trials=300, seed=3) for _ in range(2))
    names = [one.name for one in fields(Outcomes) if one.name not in ("job", "market")]
    assert [name for name in names if not np.array_equal(getattr(first, name), getattr(second, name))] == []


def test_other_chance_gives_other_trials() -> None:
    """Nothing is seeded behind the caller's back."""
    first, second = (simulated(run(), market(), n_trials=50, seed=seed) for seed in (1, 2))
    assert not np.array_equal(first.wall_s, second.wall_s)


@pytest.mark.parametrize("n_trials", [1, 7, 999, 1000, 1001, 2500])
@pytest.mark.parametrize("goes_on", [False, True])
def test_every_array_has_a_value_for_each_trial(n_trials: int, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of trials, and however they are cut into chunks."""
    monkeypatch.setattr(simulation, "CHUNK", 1000)
    fleet = Fleet(n_nodes=2, is_elastic=goes_on)
    found = simulated(run(3), market(wait_h=0.5, fleet=fleet), n_trials=n_trials)
    sizes = {np.shape(getattr(found, one.name)) for one in fields(found) if one.type in ("Floats", "Flags")}
    assert sizes == {(n_trials,)}


def test_chunks_are_trials_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials in chunks that do not divide them still meet the closed forms."""
    monkeypatch.setattr(simulation, "CHUNK", 1000)
    found = simulated(run(), market(wait_h=1, notice_success=0.5), n_trials=10_500)
    theory = spot.expected(run(), market(wait_h=1, notice_success=0.5))
    assert max(abs(one.z_score) for one in found.against(theory)) < MOST_ERRORS


def test_trials_need_no_memory_of_their_lives() -> None:
    """A hundred times as many losses need no more memory."""
    import tracemalloc

    def peak(work_h: float) -> int:
        tracemalloc.start()
        simulated(run(work_h), market(2), n_trials=4000)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(200) < 1.2 * peak(2)


def test_on_demand_machines_are_never_taken_away() -> None:
    """The same machines on demand take the ideal time at their own price."""
    found = simulated(run(), market(wait_h=1, notice_success=0.5).on_demand(), n_trials=3)
    assert found.usd == pytest.approx(np.full(3, run().ideal_s / HOUR * 6.0))


def test_on_demand_hardware_fails_too() -> None:
    """Hardware failures are as frequent on demand."""
    place = market(hardware_life_s=10 * HOUR, wait_h=1).on_demand()
    found = simulated(run(), place)
    assert max(abs(one.z_score) for one in found.against(spot.expected(run(), place))) < MOST_ERRORS


# Bad input.


@pytest.mark.parametrize("n_trials", [0, -3, 2.5, math.nan, math.inf, "100", True, None])
def test_a_number_of_trials_is_a_whole_one(n_trials: Any) -> None:
    """Anything else is refused by name."""
    with pytest.raises(ValueError, match="n_trials must be a whole number of trials, 1 or more, not "):
        simulated(run(), market(), n_trials=n_trials)


@pytest.mark.parametrize("give_up", [0.0, -1.0, math.nan, "20", True])
def test_when_to_give_up_is_a_multiple(give_up: Any) -> None:
    """Anything but a positive number is refused by name."""
    with pytest.raises(ValueError, match="give_up must be a positive, finite number of times the failure-free time"):
        simulated(run(), market(), n_trials=2, give_up=give_up)


@pytest.mark.parametrize(
    ("name", "near"), [("weibul", "weibull"), ("Exponential", "exponential"), ("bath-tub", "bathtub")]
)
def test_an_unknown_law_is_met_with_the_nearest(name: str, near: str) -> None:
    """A typing error in a law's name gets the right name."""
    with pytest.raises(tables.UnknownName, match=rf"no law of life times '{name}'\. Did you mean '{near}'"):
        market(process=name)


def test_trials_that_would_take_hours_are_refused() -> None:
    """Millions of losses in each of many trials are refused before the first one."""
    with pytest.raises(ValueError, match=r"would pass through about .* losses each.*fewer trials, or longer lives"):
        simulated(run(), market(1 / 3600), n_trials=1_000_000)


def test_good_notices_make_trials_affordable() -> None:
    """Where every notice saves the state a run of short lives has few losses, and is not refused."""
    job, place = run(400, every_h=math.inf, restart_h=0), market(0.1, notice_success=1.0)
    simulation._require_affordable(job, place, 100_000, simulation.GIVE_UP)
    assert spot.mean_losses(segment_s=400.0, mean_life_s=0.1, notice_success=1.0) == pytest.approx(4000)
