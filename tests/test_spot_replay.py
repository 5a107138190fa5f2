from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costkit.spot.comparison import PolicyOutcome, compare
from costkit.spot.omniscient import omniscient, regret
from costkit.spot.paths import Paths, independent_windows, random_paths
from costkit.spot.policies import POLICIES, Policy, Seen, Task, capped, policy_of, time_sliced
from costkit.spot.replay import Replay, replay
from costkit.spot.trace import Trace
from costkit.tables import UnknownName
from costkit.units import DAY, HOUR, MINUTE

SHARED = Path(__file__).parents[2] / "shared"
FACTS = SHARED / "facts" / "spot_replay_cases.json"
TRACES = SHARED / "thirdparty" / "spot-traces" / "aws-02-15-2023"

# A p3.2xlarge in 2023, as in the published replays.
PRICES: dict[str, Any] = {"spot_usd_per_hour": 0.9731, "on_demand_usd_per_hour": 3.06}
ROUND: dict[str, Any] = {"spot_usd_per_hour": 1.0, "on_demand_usd_per_hour": 3.0}
EVEN: dict[str, Any] = {"spot_usd_per_hour": 2.0, "on_demand_usd_per_hour": 2.0}
BOUND_BY_DEADLINE = ("greedy", "uniform_progress", "time_sliced")

by_policy = pytest.mark.parametrize("policy", POLICIES)


def trace_of(available: list[int] | npt.NDArray[np.int64], *, step_s: float = HOUR, **more: Any) -> Trace:
    """A trace of whole hours unless told otherwise."""
    return Trace("made up", step_s, np.asarray(available), **more)


def zone(name: str) -> Trace:
    """A zone of the published traces, which stay outside the project."""
    file = TRACES / f"{name}_v100_1.json"
    if not file.is_file():
        pytest.skip(f"other people's traces are no part of the project: {file} is absent")
    content = json.loads(file.read_text(encoding="utf-8"))
    return Trace(name, float(content["metadata"]["gap_seconds"]), np.array(content["data"]))


def facts() -> list[dict[str, Any]]:
    """Published replays of zones whose traces are here."""
    if not FACTS.is_file():
        pytest.skip(f"the compiled facts are no part of the project: {FACTS} is absent")
    listed: list[dict[str, Any]] = json.loads(FACTS.read_text(encoding="utf-8"))
    found = [case for case in listed if (TRACES / f"{case['zone']}_v100_1.json").is_file()]
    if not found:
        pytest.skip(f"other people's traces are no part of the project: {TRACES} is absent")
    return found


def replayed(case: dict[str, Any], policy: str) -> Replay:
    """Our replay of a published one."""
    return replay(
        zone(case["zone"]),
        work_s=case["task_h"] * HOUR,
        overhead_s=case["overhead_h"] * HOUR,
        deadline_s=case["deadline_h"] * HOUR,
        start=case["start_tick"],
        policy=policy,
        **PRICES,
    )


def printed(run: Replay) -> tuple[float, float, float]:
    """Cost, hours and preemptions, to the digits of the published replays."""
    return float(run.usd), float(run.finish_s) / HOUR, float(run.preemptions)


@pytest.mark.parametrize("policy", ["spot_only", "greedy", "uniform_progress"])
def test_published_replays_are_met_to_the_last_digit(policy: str) -> None:
    """Cost, finish and preemptions of every published replay, in all zones, deadlines and overheads."""
    ours = [printed(replayed(case, policy)) for case in facts()]
    theirs = [tuple(case[policy].values()) for case in facts()]
    assert np.array(ours) == pytest.approx(np.array(theirs), rel=0, abs=0.50001e-4)


def test_on_demand_is_work_and_one_launch() -> None:
    """48 hours and 0.1 h of launch are 888 steps of 195 s, whole steps billed: $147.186."""
    run = replay(trace_of([0] * 1000, step_s=195), policy="on_demand", work_s=48 * HOUR, overhead_s=360, **PRICES)
    assert run.usd == pytest.approx(147.186, abs=0.0005)


SWEEP = [(52, 25.2, 32.9, 7), (60, 35.3, 40.9, 23), (70, 42.6, 43.0, 15)]


def sweep(policy: str, deadline_h: float) -> tuple[list[float], float]:
    """Savings in each zone of the published sweep that is here, and the fraction that is late by over two steps."""
    zones = sorted({case["zone"] for case in facts()})
    savings, late = [], []
    for name in zones:
        trace = zone(name)
        starts = np.linspace(0, trace.n_steps - 80 * HOUR / trace.step_s, 85).astype(int)
        terms: dict[str, Any] = {
            "work_s": 48 * HOUR,
            "overhead_s": 0.2 * HOUR,
            "deadline_s": deadline_h * HOUR,
            "start": starts,
        }
        run, plain = (replay(trace, policy=each, **terms, **PRICES) for each in (policy, "on_demand"))
        savings.append(100 * float(1 - np.mean(run.usd) / np.mean(plain.usd)))
        late.append(float(np.mean(np.asarray(run.late_s) > 2.001 * trace.step_s)))
    return savings, float(np.mean(late))


@pytest.mark.parametrize(("deadline_h", "greedy", "uniform_progress", "n_late"), SWEEP)
def test_savings_of_the_published_sweep(deadline_h: float, greedy: float, uniform_progress: float, n_late: int) -> None:
    """The mean savings over nine zones are met by the seven that are here within two points.

    The two missing zones are one of the best and one of the middling, and the starts of the sweep are not published.
    """
    del n_late
    ours = [float(np.mean(sweep(policy, deadline_h)[0])) for policy in ("greedy", "uniform_progress")]
    assert ours == pytest.approx([greedy, uniform_progress], abs=2.0)


@pytest.mark.parametrize(("deadline_h", "greedy", "uniform_progress", "n_late"), SWEEP)
def test_late_runs_of_the_published_sweep(
    deadline_h: float, greedy: float, uniform_progress: float, n_late: int
) -> None:
    """As many of greedy's 765 runs are late as published, within the spread of a count over starts not known."""
    del greedy, uniform_progress
    assert 765 * sweep("greedy", deadline_h)[1] == pytest.approx(n_late, abs=3 * math.sqrt(n_late))


def test_uniform_progress_may_cost_more_than_on_demand() -> None:
    """In a zone that is up a sixth of the time each switch pays a launch: $162.15 against $147.19 on-demand."""
    run = replay(
        zone("us-east-1a"), work_s=48 * HOUR, overhead_s=360, deadline_s=70 * HOUR, policy="uniform_progress", **PRICES
    )
    assert run.usd == pytest.approx(162.153, abs=0.0005)


@pytest.mark.parametrize("deadline_h", [52, 70])
@pytest.mark.parametrize("name", ["us-east-1a", "us-east-2a", "us-west-2a"])
def test_nobody_beats_the_optimum_on_real_traces(name: str, deadline_h: float) -> None:
    """Policies that are in time pay at least what somebody pays who knows the trace."""
    trace = zone(name)
    starts = np.linspace(0, trace.n_steps - 80 * HOUR / trace.step_s, 8).astype(int)
    terms: dict[str, Any] = {"work_s": 48 * HOUR, "overhead_s": 720.0, "deadline_s": deadline_h * HOUR, **PRICES}
    least = np.array([omniscient(trace, start=int(start), **terms) for start in starts])
    for policy in POLICIES:
        run = replay(trace, policy=policy, start=starts, **terms)
        assert np.all((np.asarray(run.usd) >= least - 1e-9) | np.asarray(run.late))


def test_the_step_before_a_loss_is_billed_and_counts() -> None:
    """Up for two hours, down for two, up: three hours of work are three billed hours and end with the fifth."""
    run = replay(trace_of([1, 1, 0, 0, 1, 1]), policy="spot_only", work_s=3 * HOUR, overhead_s=0, **ROUND)
    assert (run.usd, run.finish_s, run.preemptions, run.spot_s) == (3.0, 5 * HOUR, 1, 3 * HOUR)


def test_each_launch_pays_the_overhead() -> None:
    """Half an hour at either launch: 1.5 h of work by the second hour, and 0.5 h more takes the fifth hour in whole."""
    run = replay(trace_of([1, 1, 0, 0, 1, 1]), policy="spot_only", work_s=2 * HOUR, overhead_s=HOUR / 2, **ROUND)
    assert (run.usd, run.finish_s) == (3.0, 5 * HOUR)


def test_overheads_do_not_stack() -> None:
    """Lost after one of two hours of launch, the next launch takes two hours, not three."""
    run = replay(trace_of([1, 0, 1, 1, 1, 1]), policy="spot_only", work_s=HOUR, overhead_s=2 * HOUR, **ROUND)
    assert (run.usd, run.finish_s) == (4.0, 5 * HOUR)


def test_greedy_goes_on_demand_when_just_enough_time_is_left() -> None:
    """Three hours of work by the fifth hour with no spot: two hours of waiting, then three on-demand."""
    run = replay(trace_of([0] * 9), policy="greedy", work_s=3 * HOUR, overhead_s=0, deadline_s=5 * HOUR, **ROUND)
    assert (run.usd, run.finish_s, run.late) == (9.0, 5 * HOUR, False)


def test_greedy_keeps_a_running_spot_machine_past_the_last_moment() -> None:
    """A launch on spot eats the slack; lost then, the job needs a second launch and is late."""
    trace = trace_of([1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    run = replay(trace, policy="greedy", work_s=5 * HOUR, overhead_s=HOUR, deadline_s=7 * HOUR, **ROUND)
    assert (run.spot_s, run.on_demand_s, run.late_s) == (3 * HOUR, 4 * HOUR, 0.0)
    tighter = replay(trace, policy="greedy", work_s=5.5 * HOUR, overhead_s=HOUR, deadline_s=7.5 * HOUR, **ROUND)
    assert tighter.late_s == HOUR / 2


def test_uniform_progress_takes_turns_without_spot() -> None:
    """Idle while not behind a line of half speed, on-demand from when it is, until two changeovers ahead."""
    seen: list[int] = []

    def spy(task: Task, at: Seen) -> Any:
        chosen = POLICIES["uniform_progress"].decide(task, at)
        seen.append(int(chosen[0]))
        return chosen

    policy = Policy("spy", "Uniform progress, watched.", spy)
    replay(trace_of([0] * 99), policy=policy, work_s=20 * HOUR, overhead_s=HOUR, deadline_s=40 * HOUR, **ROUND)
    assert seen[:12] == [0, 2, 2, 2, 2, 2, 0, 0, 0, 2, 2, 2]


def test_capped_turns_to_on_demand_after_its_last_preemption() -> None:
    """With a cap of two the second loss ends spot for good."""
    trace = trace_of([1, 0, 1, 0, 1, 1, 1, 1])
    run = replay(trace, policy=capped(2), work_s=5 * HOUR, overhead_s=0, **ROUND)
    assert (run.spot_s, run.on_demand_s, run.preemptions) == (2 * HOUR, 3 * HOUR, 2)


def test_a_slice_wants_its_share_of_the_work() -> None:
    """With two slices and no spot half of the work is done on-demand by half of the deadline."""
    run = replay(
        trace_of([0, 0, 0, 0, 1, 1, 1, 1]), policy=time_sliced(2), work_s=4 * HOUR, overhead_s=0, deadline_s=8 * HOUR,
        **ROUND,
    )  # fmt: skip
    assert (run.on_demand_s, run.spot_s, run.finish_s) == (2 * HOUR, 2 * HOUR, 6 * HOUR)


def test_one_slice_is_greedy() -> None:
    """The deadline as its own only slice changes nothing."""
    trace = trace_of(np.random.default_rng(3).integers(0, 2, 400))
    terms: dict[str, Any] = {"work_s": 40 * HOUR, "overhead_s": 1000.0, "deadline_s": 60 * HOUR, "start": None, **ROUND}
    sliced, whole = (replay(trace, policy=policy, **terms) for policy in (time_sliced(1), "greedy"))
    assert np.array_equal(sliced.usd, whole.usd)


def test_prices_of_the_trace_count_for_each_machine_and_step() -> None:
    """Two machines at 1, 2 and 4 dollars an hour for three hours are 14 dollars."""
    trace = trace_of([2, 2, 2], usd_per_hour=np.array([1.0, 2.0, 4.0]))
    prices: dict[str, Any] = {"spot_usd_per_hour": None, "on_demand_usd_per_hour": 9.0}
    run = replay(trace, policy="spot_only", work_s=3 * HOUR, overhead_s=0, n_nodes=2, **prices)
    assert run.usd == 14.0


def test_a_job_of_two_nodes_needs_both() -> None:
    """One of two machines is none: the job is lost while only one can be had."""
    run = replay(trace_of([2, 1, 2, 2]), policy="spot_only", work_s=2 * HOUR, overhead_s=0, n_nodes=2, **ROUND)
    assert (run.finish_s, run.preemptions) == (3 * HOUR, 1)


def test_a_trace_that_ends_too_soon_leaves_the_work_undone() -> None:
    """The finish is infinite, the bill is what was paid so far, and with a deadline it is late."""
    run = replay(trace_of([1, 1, 0]), policy="spot_only", work_s=3 * HOUR, overhead_s=0, deadline_s=9 * HOUR, **ROUND)
    assert (run.finish_s, run.usd, run.finished, run.late) == (math.inf, 2.0, False, True)


@by_policy
def test_a_deadline_that_nobody_can_meet_is_late_and_no_error(policy: str) -> None:
    """Four hours of work in three: an answer."""
    run = replay(trace_of([1] * 9), policy=policy, work_s=4 * HOUR, overhead_s=0, deadline_s=3 * HOUR, **ROUND)
    assert run.late is True


@by_policy
def test_many_starts_at_once_are_each_start_alone(policy: str) -> None:
    """The arrays of a replay from everywhere hold what replays one by one return."""
    trace = trace_of(np.random.default_rng(5).integers(0, 2, 60))
    terms: dict[str, Any] = {
        "work_s": 10 * HOUR,
        "overhead_s": 2000.0,
        "deadline_s": 18 * HOUR,
        "policy": policy,
        **ROUND,
    }
    at_once = replay(trace, start=None, **terms)
    alone = [replay(trace, start=start, **terms) for start in range(60)]
    for name in ("usd", "finish_s", "preemptions", "spot_s", "on_demand_s", "late", "late_s", "finished"):
        assert np.array_equal(getattr(at_once, name), [getattr(run, name) for run in alone])


spells = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 12)), min_size=1, max_size=12)
overheads = st.sampled_from([0.0, 100.0, 195.0, 360.0, 720.0, 1000.5]) | st.floats(0, 1500)


def spelled(runs: list[tuple[int, int]], *, then: int = 150) -> Trace:
    """A trace of spells of 195 s steps, long enough behind them, without spot, for any work."""
    steps = np.concatenate([np.full(length, state) for state, length in runs] + [np.zeros(then, int)])
    steps[-1] = 1
    return trace_of(steps, step_s=195.0)


def terms_of_a_punctual_run(
    runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> dict[str, Any]:
    """Work and deadline of that many steps, where on-demand meets the deadline from the start."""
    terms: dict[str, Any] = {
        "work_s": work * 195,
        "overhead_s": overhead_s,
        "deadline_s": (work + slack) * 195,
        **ROUND,
    }
    assume(not replay(spelled(runs), policy="on_demand", **terms).late)
    return terms


@settings(max_examples=300, deadline=None)
@given(runs=spells, work=st.floats(1, 60), slack=st.floats(0, 40), overhead_s=overheads)
def test_uniform_progress_is_never_late_where_on_demand_is_not(
    runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> None:
    """Whatever the market does, a deadline that on-demand meets from the start is met."""
    terms = terms_of_a_punctual_run(runs, work, slack, overhead_s)
    assert not replay(spelled(runs), policy="uniform_progress", **terms).late


@settings(max_examples=200, deadline=None)
@given(runs=spells, work=st.floats(1, 60), slack=st.floats(0, 40), overhead_s=overheads)
def test_greedy_is_late_by_one_launch_and_a_step_at_most(
    runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> None:
    """What a spot machine that is kept too long can cost is the launch after it, in whole steps."""
    terms = terms_of_a_punctual_run(runs, work, slack, overhead_s)
    late_s = replay(spelled(runs), policy="greedy", **terms).late_s
    assert late_s <= overhead_s + 2 * 195


@settings(max_examples=100, deadline=None)
@given(runs=spells, work=st.floats(1, 60), overhead_s=overheads)
@pytest.mark.parametrize("policy", BOUND_BY_DEADLINE)
def test_without_a_deadline_there_is_only_spot(
    policy: str, runs: list[tuple[int, int]], work: float, overhead_s: float
) -> None:
    """Nothing ever presses, so policies with a safety net never use it."""
    terms: dict[str, Any] = {"work_s": work * 195, "overhead_s": overhead_s, **ROUND}
    ours, theirs = (replay(spelled(runs), policy=each, start=None, **terms) for each in (policy, "spot_only"))
    assert np.array_equal(ours.usd, theirs.usd)
    assert np.array_equal(ours.finish_s, theirs.finish_s)


@settings(max_examples=100, deadline=None)
@given(runs=spells, work=st.floats(1, 60), slack=st.floats(0, 40), overhead_s=overheads)
@pytest.mark.parametrize("policy", POLICIES)
def test_at_equal_prices_no_policy_beats_on_demand(
    policy: str, runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> None:
    """Spot at the price of on-demand only adds launches."""
    terms: dict[str, Any] = {"work_s": work * 195, "overhead_s": overhead_s, "deadline_s": (work + slack) * 195, **EVEN}
    ours, plain = (replay(spelled(runs), policy=each, start=None, **terms) for each in (policy, "on_demand"))
    is_done = np.asarray(ours.finished) & np.asarray(plain.finished)
    assert np.all(np.asarray(ours.usd)[is_done] >= np.asarray(plain.usd)[is_done] - 1e-9)


@settings(max_examples=100, deadline=None)
@given(runs=spells, work=st.floats(1, 60), slack=st.floats(0, 40), overhead_s=overheads)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_bill_is_the_billed_hours_at_their_prices(
    policy: str, runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> None:
    """Hours on spot and on-demand, each at its price, are what was paid."""
    terms: dict[str, Any] = {
        "work_s": work * 195,
        "overhead_s": overhead_s,
        "deadline_s": (work + slack) * 195,
        "start": None,
        **ROUND,
    }
    run = replay(spelled(runs), policy=policy, **terms)
    assert run.usd == pytest.approx((np.asarray(run.spot_s) + 3 * np.asarray(run.on_demand_s)) / HOUR, abs=1e-9)


def brute_force(is_up: list[int], *, work: float, overhead: float) -> float:
    """The least cost over all sequences of idle, spot (one dollar a step) and on-demand (three) that do the work."""
    least = math.inf
    for modes in itertools.product(range(3), repeat=len(is_up)):
        done, pending, before, usd = 0.0, 0.0, 0, 0.0
        for mode, up in zip(modes, is_up, strict=True):
            if mode == 1 and not up:
                break
            if mode:
                pending = pending if mode == before else overhead
                done += max(1 - pending, 0.0)
                pending = max(pending - 1, 0.0)
                usd += 1 if mode == 1 else 3
            before = mode
            if done >= work - 1e-9:
                least = min(least, usd)
                break
    return least


@settings(max_examples=60, deadline=None)
@given(
    is_up=st.lists(st.integers(0, 1), min_size=6, max_size=7),
    work=st.floats(0.3, 6),
    overhead=st.sampled_from([0.0, 0.25, 1 / 3, 1.0, 24 / 13, 2.5]),
)
def test_the_optimum_is_that_of_all_sequences(is_up: list[int], work: float, overhead: float) -> None:
    """The dynamic programme finds what trying every sequence of modes finds."""
    terms: dict[str, Any] = {"work_s": work * HOUR, "overhead_s": overhead * HOUR, "deadline_s": len(is_up) * HOUR}
    ours = omniscient(trace_of([*is_up, 1]), **terms, **ROUND)
    assert ours == pytest.approx(brute_force(is_up, work=work, overhead=overhead), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(runs=spells, work=st.floats(1, 60), slack=st.floats(0, 40), overhead_s=overheads)
def test_nobody_who_is_in_time_beats_the_optimum(
    runs: list[tuple[int, int]], work: float, slack: float, overhead_s: float
) -> None:
    """Whatever the market and the overhead, also one that is no simple fraction of a step."""
    terms: dict[str, Any] = {
        "work_s": work * 195,
        "overhead_s": overhead_s,
        "deadline_s": (work + slack) * 195,
        **ROUND,
    }
    tried = [replay(spelled(runs), policy=policy, **terms) for policy in POLICIES]
    in_time = [run.usd for run in tried if not run.late]
    assert min(in_time, default=math.inf) >= omniscient(spelled(runs), **terms) - 1e-9


def test_the_optimum_of_an_impossible_deadline_is_infinite() -> None:
    """Four hours of work in three can't be bought."""
    terms: dict[str, Any] = {"work_s": 4 * HOUR, "overhead_s": 0.0, "deadline_s": 3 * HOUR, **ROUND}
    assert omniscient(trace_of([1] * 9), **terms) == math.inf


def test_the_optimum_waits_for_the_cheap_hours() -> None:
    """With prices of its own the trace's two cheapest hours are bought, not its first two."""
    trace = trace_of([1, 1, 1, 1], usd_per_hour=np.array([2.0, 1.5, 0.5, 1.0]))
    terms: dict[str, Any] = {"work_s": 2 * HOUR, "overhead_s": 0.0, "deadline_s": 4 * HOUR}
    assert omniscient(trace, spot_usd_per_hour=None, on_demand_usd_per_hour=3.0, **terms) == 1.5


def test_there_is_no_regret_where_nobody_could_be_in_time() -> None:
    """An infinite optimum is refused in a sentence."""
    with pytest.raises(ValueError, match=r"^There is no regret where the optimum is infinite"):
        regret(10.0, math.inf)


CLOSED_FORM = [(52, 92.207166241), (60, 52.039243790), (70, 46.824560044)]


def on_off(*, n_paths: int, duration_h: float, step_s: float = MINUTE, seed: int = 0) -> Paths:
    """The market of the closed forms: up 6 h and down 1.1 h in the mean."""
    return random_paths(
        mean_up_s=6 * HOUR,
        mean_down_s=1.1 * HOUR,
        step_s=step_s,
        duration_s=duration_h * HOUR,
        n_paths=n_paths,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize(("deadline_h", "theirs"), CLOSED_FORM)
def test_greedy_costs_what_the_closed_form_says(deadline_h: float, theirs: float) -> None:
    """Without launches the mean bill is c_s E[s] + c_o (S - E[s]), E[s] the integral of P(waiting so far < D - S).

    Steps move it by no more than three of them at the price of on-demand: the first spell, which is rounded up, the
    last moment, and the last step of the work.
    """
    paths = on_off(n_paths=4000, duration_h=deadline_h + 1)
    terms: dict[str, Any] = {
        "work_s": 48 * HOUR,
        "overhead_s": 0.0,
        "deadline_s": deadline_h * HOUR,
        "start": None,
        **PRICES,
    }
    usd = np.asarray(replay(paths, policy="greedy", **terms).usd)
    bound = 3 * PRICES["on_demand_usd_per_hour"] * paths.step_s / HOUR
    assert usd.mean() == pytest.approx(theirs, abs=4 * usd.std() / math.sqrt(len(usd)) + bound)


def test_spot_only_finishes_when_the_closed_form_says() -> None:
    """E = S (1 + A/M) = 56.8 h and SD = sqrt(2 A^2 S / M) = 4.4 h, within two steps."""
    paths = on_off(n_paths=4000, duration_h=110)
    run = replay(paths, policy="spot_only", work_s=48 * HOUR, overhead_s=0.0, start=None, **PRICES)
    hours, step_h = np.asarray(run.finish_s) / HOUR, paths.step_s / HOUR
    n = len(hours)
    fourth_moment = float(np.mean((hours - hours.mean()) ** 4))
    sd_error = math.sqrt(fourth_moment - hours.var() ** 2) / (2 * hours.std() * math.sqrt(n))
    assert hours.mean() == pytest.approx(56.8, abs=4 * 4.4 / math.sqrt(n) + 2 * step_h)
    assert hours.std() == pytest.approx(4.4, abs=4 * sd_error + 2 * step_h)


def test_policies_run_on_the_same_paths() -> None:
    """Where no path is ever lost in time all policies that like spot pay the same; the paths are drawn only once."""
    paths = on_off(n_paths=200, duration_h=100, step_s=10 * MINUTE)
    terms: dict[str, Any] = {"work_s": 12 * HOUR, "overhead_s": 0.0, "deadline_s": 99 * HOUR, "start": None, **PRICES}
    greedy, plain = (replay(paths, policy=policy, **terms) for policy in ("greedy", "spot_only"))
    never_pressed = np.asarray(greedy.on_demand_s) == 0
    assert np.array_equal(np.asarray(greedy.usd)[never_pressed], np.asarray(plain.usd)[never_pressed])


def test_a_path_is_a_trace() -> None:
    """One path replays like a trace of the same steps."""
    paths = on_off(n_paths=5, duration_h=60, step_s=10 * MINUTE)
    trace = trace_of(paths.available[3].astype(int), step_s=10 * MINUTE)
    terms: dict[str, Any] = {"work_s": 40 * HOUR, "overhead_s": 300.0, "deadline_s": 52 * HOUR, **PRICES}
    assert replay(paths, start=3, **terms) .usd == replay(trace, **terms).usd  # fmt: skip


def test_paths_begin_up_and_are_up_as_often_as_their_means_say() -> None:
    """The share of up steps tends to M / (M + A); all begin up."""
    paths = on_off(n_paths=300, duration_h=2000, step_s=6 * MINUTE)
    assert paths.available[:, 0].all()
    assert paths.available.mean() == pytest.approx(6 / 7.1, abs=0.005)


def test_spells_may_be_drawn_otherwise() -> None:
    """Spells of constant length, two hours up and one down, make a comb."""
    paths = random_paths(
        mean_up_s=2 * HOUR,
        mean_down_s=HOUR,
        step_s=HOUR,
        duration_s=7 * HOUR,
        n_paths=2,
        rng=np.random.default_rng(0),
        draw_up=lambda _, n: np.ones(n),
        draw_down=lambda _, n: np.ones(n),
    )
    assert paths.available.astype(int).tolist() == [[1, 1, 0, 1, 1, 0, 1]] * 2


def test_the_same_generator_draws_the_same_paths() -> None:
    """Chance comes from the caller alone."""
    once, again = (on_off(n_paths=20, duration_h=50, seed=7) for _ in range(2))
    assert np.array_equal(once.available, again.available)


@pytest.mark.parametrize(("deadline_h", "n"), [(52, 21), (48, 22), (2000, 0)])
def test_windows_that_do_not_overlap(deadline_h: float, n: int) -> None:
    """A trace of 1,092 hours holds 21 windows of 52 hours, whatever the number of starts."""
    assert independent_windows(trace_of([1] * 1092), deadline_h * HOUR) == n


COMB = trace_of(np.tile([1, 1, 1, 0, 0], 60))
SHORT: dict[str, Any] = {"work_s": 10 * HOUR, "overhead_s": 0.0, "deadline_s": 15 * HOUR, **ROUND}


def outcomes(**changes: Any) -> dict[str, PolicyOutcome]:
    """A comparison on a comb of spells, by policy."""
    return {outcome.policy: outcome for outcome in compare(COMB, **(SHORT | changes))}


def test_a_comparison_holds_what_the_replays_say() -> None:
    """Means and quantiles are those of the replays from the same starts."""
    found = outcomes(policies=["greedy"])["greedy"]
    run = replay(COMB, policy="greedy", start=np.arange(found.n_runs), **SHORT)
    theirs = [float(np.mean(run.usd)), float(np.quantile(run.usd, 0.95)), float(np.mean(run.finish_s))]
    assert [found.mean_usd, found.p95_usd, found.mean_finish_s] == theirs


def test_every_start_whose_deadline_the_trace_holds_is_a_run() -> None:
    """Of 300 hours those up to the 285th leave 15."""
    assert outcomes(policies=["greedy"])["greedy"].n_runs == 286


def test_on_demand_saves_nothing_against_itself() -> None:
    """The base of all savings."""
    assert outcomes()["on_demand"].saving_fraction == 0.0


def test_starts_that_some_policy_cannot_finish_count_for_none() -> None:
    """All policies are judged by the same runs, up to the first start that leaves spot_only unfinished."""
    assert len({outcome.n_runs for outcome in outcomes().values()}) == 1


def test_regret_of_a_policy_in_time_is_not_negative() -> None:
    """On the starts that were picked nobody pays less than the optimum."""
    assert min(outcomes(n_regret=4)[policy].regret or 0.0 for policy in ("on_demand", "uniform_progress")) >= 0


def test_regret_is_none_unless_asked_for() -> None:
    """It takes a dynamic programme for each start."""
    assert outcomes()["greedy"].regret is None


def test_an_impossible_deadline_has_no_regret() -> None:
    """There is nothing to compare with, and every policy is late."""
    found = outcomes(deadline_s=5 * HOUR, n_regret=2, policies=["greedy"])["greedy"]
    assert (found.regret, found.late_fraction) == (None, 1.0)


def test_a_comparison_on_paths_takes_them_all() -> None:
    """Each path is a run."""
    paths = on_off(n_paths=50, duration_h=100, step_s=10 * MINUTE)
    assert compare(paths, policies=["greedy"], **SHORT)[0].n_runs == 50


@pytest.mark.parametrize("policy", ["gredy", "", "upside", None, 3])
def test_a_policy_that_is_none_is_unknown(policy: Any) -> None:
    """The usual error for names, with the nearest."""
    with pytest.raises(UnknownName, match="no policy"):
        replay(COMB, policy=policy, **SHORT)


def test_every_policy_says_what_it_does_in_one_sentence() -> None:
    """The table's names are the policies' own, and each meaning is a sentence."""
    assert all(policy.name == name and policy.meaning.endswith(".") for name, policy in POLICIES.items())


@pytest.mark.parametrize("wrong", [0, -1, 2.5, math.nan, "3", True, None])
@pytest.mark.parametrize("policy", [capped, time_sliced])
def test_a_policy_of_no_whole_number_is_refused(policy: Any, wrong: Any) -> None:
    """Preemptions and slices are counted."""
    with pytest.raises(ValueError, match=one_sentence):
        policy(wrong)


def test_a_policy_of_ones_own_is_taken_as_it_is() -> None:
    """Two slices instead of eight."""
    assert policy_of(time_sliced(2)).meaning.startswith("Greedy in 2 slices")


WRONG: dict[str, tuple[Any, ...]] = {
    "work_s": (0.0, -1.0, math.nan, math.inf, "1", None, np.array([1.0, 2.0])),
    "overhead_s": (-1.0, math.nan, math.inf, "1", np.array([1.0, 2.0])),
    "deadline_s": (0.0, -5.0, math.nan, "1", -math.inf, np.array([1.0, 2.0])),
    "spot_usd_per_hour": (0.0, -1.0, math.nan, math.inf, None, "1"),
    "on_demand_usd_per_hour": (0.0, -1.0, math.nan, math.inf, None, "1"),
    "start": (-1, 300, 1.5, math.nan, "0", np.array([0, 300]), np.array([], int), True),
    "n_nodes": (0, 2, -1, 1.5, math.nan, True, "1"),
}
REFUSED = [(name, wrong) for name, listed in WRONG.items() for wrong in listed]
one_sentence = r"^(?:[^.\n]|\.(?! ))+\.$"


@pytest.mark.parametrize(("name", "wrong"), REFUSED)
@pytest.mark.parametrize("door", [replay, omniscient])
def test_what_is_no_number_of_its_kind_is_refused(door: Any, name: str, wrong: Any) -> None:
    """Negative, zero work, not-a-number, text, lists, starts outside the trace, too many nodes: one sentence."""
    with pytest.raises(ValueError, match=one_sentence):
        door(COMB, **(SHORT | {name: wrong}))


@pytest.mark.parametrize("market", [trace_of([1]), Paths(np.ones((3, 1), bool), HOUR), None, [1, 0, 1]])
def test_a_market_of_one_step_or_none_is_refused(market: Any) -> None:
    """Availability has to be seen for two steps at least."""
    with pytest.raises(ValueError, match=one_sentence):
        replay(market, **SHORT)


def test_prices_missing_in_some_steps_are_refused() -> None:
    """A hole in the prices is not filled silently."""
    trace = trace_of([1, 1, 1], usd_per_hour=np.array([1.0, math.nan, 2.0]))
    with pytest.raises(ValueError, match=r"^The trace lacks a price for some of its steps; give spot_usd_per_hour"):
        replay(trace, **(SHORT | {"spot_usd_per_hour": None}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"starts": np.array([5000])},
        {"policies": []},
        {"n_regret": -1},
        {"deadline_s": 13 * DAY},
        {"starts": np.array([299]), "policies": ["greedy"]},
    ],
)
def test_a_comparison_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    """Starts outside the trace, no policies, a deadline longer than the trace, nothing ever finished."""
    with pytest.raises(ValueError, match=one_sentence):
        compare(COMB, **(SHORT | wrong))


def test_paths_too_short_for_a_policy_are_refused() -> None:
    """Leaving the unlucky ones out would flatter it."""
    paths = on_off(n_paths=50, duration_h=50, step_s=10 * MINUTE)
    with pytest.raises(ValueError, match=r"draw longer paths or leave spot_only out\.$"):
        compare(paths, **(SHORT | {"work_s": 48 * HOUR, "deadline_s": 49 * HOUR}))


@pytest.mark.parametrize("draw", [lambda _, n: np.zeros(n), lambda _, n: -np.ones(n), lambda *_: np.ones(1)])
def test_spells_that_never_end_a_path_are_refused(draw: Any) -> None:
    """Lengths of zero for ever, negative ones, and too few."""
    with pytest.raises(ValueError, match=one_sentence):
        random_paths(
            mean_up_s=1.0, mean_down_s=1.0, step_s=1.0, duration_s=9.0, n_paths=3, rng=np.random.default_rng(0),
            draw_up=draw,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["mean_up_s", "mean_down_s", "step_s", "duration_s", "n_paths"])
@pytest.mark.parametrize("wrong", [0, -1.0, math.nan, math.inf, "1"])
def test_paths_of_no_size_are_refused(name: str, wrong: Any) -> None:
    """Every length and the number of paths is positive and finite."""
    sizes: dict[str, Any] = {"mean_up_s": 1.0, "mean_down_s": 1.0, "step_s": 1.0, "duration_s": 9.0, "n_paths": 3}
    with pytest.raises(ValueError, match=one_sentence):
        random_paths(rng=np.random.default_rng(0), **(sizes | {name: wrong}))
