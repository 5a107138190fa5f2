from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import spot
from costkit.training.goodput import Goodput, goodput
from costkit.units import DAY, HOUR, MINUTE

PER_25_000_HOURS, PER_12_300_HOURS = 24 / 25_000, 24 / 12_300
USUAL: dict[str, Any] = {
    "n_gpus": 512,
    "failures_per_gpu_day": PER_25_000_HOURS,
    "checkpoint_write_s": 3 * MINUTE,
    "restart_s": 15 * MINUTE,
}
n_gpus = st.integers(1, 100_000)
rates = st.floats(1e-6, 10.0)
write_s = st.just(0.0) | st.floats(1e-9, 3600.0)
restart_s = st.floats(0.0, 7200.0)
intervals_s = st.none() | st.just(math.inf) | st.floats(1.0, 1e6)
shares = st.floats(0.0, 1.0)
SETTINGS = st.fixed_dictionaries(
    {
        "n_gpus": n_gpus,
        "failures_per_gpu_day": st.just(0.0) | rates,
        "checkpoint_every_s": intervals_s,
        "checkpoint_write_s": write_s,
        "restart_s": restart_s,
        "evaluation_fraction": shares,
        "ramp_fraction": shares,
        "spare_fraction": shares,
    }
)


def usual(**changed: Any) -> Goodput:
    """The goodput of a usual run with something changed."""
    return goodput(**{**USUAL, **changed})


@pytest.mark.parametrize(
    ("n_gpus", "rate", "printed_percent"),
    [
        (8, PER_25_000_HOURS, "0.6"),
        (64, PER_25_000_HOURS, "1.7"),
        (512, PER_25_000_HOURS, "5"),
        (1024, PER_12_300_HOURS, "11"),
    ],
)
def test_losses_at_measured_failure_rates(n_gpus: int, rate: float, printed_percent: str) -> None:
    """At the failure rates of MPT-7B and OPT, and the best interval, as much is lost as Young's rule makes."""
    lost = 100 * (1 - usual(n_gpus=n_gpus, failures_per_gpu_day=rate).fraction)
    digits = len(printed_percent.partition(".")[2])
    assert f"{lost:.{digits}f}" == printed_percent


def test_the_spare_nodes_of_opt() -> None:
    """12 spare nodes on 128 are 9.4% more to pay for, and 8.6% of what is paid."""
    found = usual(spare_fraction=12 / 128)
    more = 1 / (1 - found.parts["spares"]) - 1
    assert (round(100 * more, 1), round(100 * found.spares_fraction, 1)) == (9.4, 8.6)


def test_the_ramp_of_nemotron() -> None:
    """3,072 GPUs for 13 days of which 688,000 hours were worked turn an MFU of 29.4% into 21%."""
    paid_hours, worked_hours = 3072 * 13 * DAY / HOUR, 688e3
    found = usual(failures_per_gpu_day=0, ramp_fraction=1 - worked_hours / paid_hours)
    assert round(0.294 * found.fraction, 2) == 0.21


@given(SETTINGS)
def test_parts_sum_to_one(settings: dict[str, Any]) -> None:
    """The paid time goes somewhere: the parts are fractions that sum to 1, whatever happens."""
    found = goodput(**settings)
    assert math.fsum(found.parts.values()) == pytest.approx(1, abs=1e-14)
    assert all(0 <= part <= 1 for part in found.parts.values())
    assert found.fraction == found.parts["computing"]


@given(settings=SETTINGS, times=st.floats(1.0, 1e6))
def test_more_failures_never_help(settings: dict[str, Any], times: float) -> None:
    """A higher failure rate leaves less of the time for computing, or as little."""
    more = {**settings, "failures_per_gpu_day": settings["failures_per_gpu_day"] * times}
    assert goodput(**more).fraction <= goodput(**settings).fraction * (1 + 1e-12)


@given(settings=SETTINGS, times=st.integers(1, 1000))
def test_only_the_failures_of_all_gpus_count(settings: dict[str, Any], times: int) -> None:
    """More GPUs that fail more seldom are the same job."""
    same = {
        **settings,
        "n_gpus": settings["n_gpus"] * times,
        "failures_per_gpu_day": settings["failures_per_gpu_day"] / times,
    }
    assert goodput(**same).fraction == pytest.approx(goodput(**settings).fraction, rel=1e-9, abs=1e-300)


@given(SETTINGS)
def test_spares_only_dilute(settings: dict[str, Any]) -> None:
    """Spares take s / (1 + s) of what is paid, and leave the other parts in the proportions that they had."""
    without, s = goodput(**{**settings, "spare_fraction": 0.0}), settings["spare_fraction"]
    diluted = {name: part / (1 + s) for name, part in without.parts.items()} | {"spares": s / (1 + s)}
    assert goodput(**settings).parts == pytest.approx(diluted, rel=1e-12, abs=1e-15)


@given(n_gpus=n_gpus, every_s=st.none() | st.floats(1.0, 1e9))
def test_nothing_that_costs_time_computes_all_the_time(n_gpus: int, every_s: float | None) -> None:
    """Without failures, writes, evaluation, ramp and spares all that is paid computes."""
    found = goodput(
        n_gpus=n_gpus, failures_per_gpu_day=0, checkpoint_every_s=every_s, checkpoint_write_s=0, restart_s=0
    )
    assert list(found.parts.values()) == [1, 0, 0, 0, 0, 0, 0]


@given(
    n_gpus=n_gpus,
    rate=rates,
    every_s=st.floats(60.0, 1e5),
    write_s=write_s,
    restart_s=restart_s,
)
def test_computing_is_what_spot_says(
    n_gpus: int, rate: float, every_s: float, write_s: float, restart_s: float
) -> None:
    """Without anything else, the fraction is one over the overhead of a job that is preempted as often as it fails."""
    found = goodput(
        n_gpus=n_gpus,
        failures_per_gpu_day=rate,
        checkpoint_every_s=every_s,
        checkpoint_write_s=write_s,
        restart_s=restart_s,
    )
    overhead = spot.overhead(every_s, mean_life_s=found.mean_life_s, checkpoint_write_s=write_s, restart_s=restart_s)
    assert found.fraction == pytest.approx(1 / float(overhead), rel=1e-9, abs=1e-300)


def test_a_run_of_many_segments_takes_its_work_over_the_fraction() -> None:
    """The closed form of whole runs, which is computed in another way, expects the same time."""
    found = usual(n_gpus=4096, checkpoint_every_s=HOUR)
    job = spot.Job(work_s=1000 * HOUR, checkpoint_every_s=HOUR, checkpoint_write_s=180, restart_s=900)
    market = spot.Market(mean_life_s=found.mean_life_s, spot_usd_per_hour=1, on_demand_usd_per_hour=1)
    assert found.fraction == pytest.approx(job.work_s / spot.expected(job, market).wall_s.mean, rel=1e-9)


def test_parts_are_those_of_a_simulated_run() -> None:
    """Time lost and time in restarts come out of failures drawn one by one, within 4 standard errors."""
    rng, n_runs, n_segments = np.random.default_rng(0), 400, 20
    found = usual(n_gpus=20_000, checkpoint_every_s=HOUR)
    runs = np.array(
        [_run(rng, found, n_segments=n_segments, segment_s=HOUR + 180, restart_s=900) for _ in range(n_runs)]
    )
    for name, column in (("lost", 0), ("restarts", 1)):
        expected_s = n_segments * HOUR * found.parts[name] / found.fraction
        error = runs[:, column].std(ddof=1) / math.sqrt(n_runs)
        assert abs(runs[:, column].mean() - expected_s) < 4 * error


def _run(
    rng: np.random.Generator, found: Goodput, *, n_segments: int, segment_s: float, restart_s: float
) -> tuple[float, float]:
    """Seconds lost and seconds in restarts until that many segments are saved; lives have no memory."""
    lost_s = restarts_s = 0.0
    for _ in range(n_segments):
        while (life_s := rng.exponential(found.mean_life_s)) < segment_s:
            lost_s += life_s
            while (life_s := rng.exponential(found.mean_life_s)) < restart_s:
                restarts_s += life_s
            restarts_s += restart_s
    return lost_s, restarts_s


@given(n_gpus=n_gpus, write=st.floats(1e-6, 1e-2), restart=st.floats(0.0, 1e-2))
def test_youngs_approximation_holds_to_its_order(n_gpus: int, write: float, restart: float) -> None:
    """Short writes and restarts lose sqrt(2 delta / M) + R / M, up to the square of that."""
    life_s = DAY / (1e-3 * n_gpus)
    found = goodput(
        n_gpus=n_gpus, failures_per_gpu_day=1e-3, checkpoint_write_s=write * life_s, restart_s=restart * life_s
    )
    first_order = math.sqrt(2 * write) + restart
    assert abs(1 - found.fraction - first_order) < first_order**2


@given(settings=SETTINGS, every_s=st.floats(1.0, 1e6))
def test_no_interval_is_better_than_the_best(settings: dict[str, Any], every_s: float) -> None:
    """The interval that is taken where none is given computes at least as much as any other."""
    best, other = ({**settings, "checkpoint_every_s": interval} for interval in (None, every_s))
    assert goodput(**best).fraction >= goodput(**other).fraction * (1 - 1e-9)


def test_without_failures_the_best_is_to_write_no_checkpoints() -> None:
    """A run that nothing stops needs no checkpoints, and computes all the time."""
    found = usual(failures_per_gpu_day=0)
    assert (found.fraction, found.checkpoint_every_s, found.mean_life_s) == (1, math.inf, math.inf)


def test_checkpoints_cost_time_without_failures_too() -> None:
    """Who writes for 3 minutes after each 57 spends a twentieth of the time on that, failures or not."""
    found = usual(failures_per_gpu_day=0, checkpoint_every_s=57 * MINUTE)
    assert (found.fraction, found.parts["checkpoints"]) == pytest.approx((0.95, 0.05))


def test_without_checkpoints_a_run_that_fails_never_ends() -> None:
    """Where none is written, whatever is computed is lost some day."""
    found = usual(checkpoint_every_s=math.inf)
    assert (found.fraction, found.checkpoints_fraction) == (0, 0)
    assert found.lost_fraction == pytest.approx(1 - found.restarts_fraction)


def test_a_restart_is_a_share_of_the_time_that_depends_on_nothing_else() -> None:
    """1 - e^(-R/M) of the time goes into restarts, however often the run is saved."""
    often, seldom = (usual(checkpoint_every_s=every_s) for every_s in (60.0, DAY))
    assert often.restarts_fraction == seldom.restarts_fraction == pytest.approx(900 / often.mean_life_s, rel=0.01)


@pytest.mark.parametrize(
    "changed",
    [
        {"failures_per_gpu_day": 1e6},
        {"failures_per_gpu_day": 1e300, "n_gpus": 1e300},
        {"failures_per_gpu_day": 1e300, "restart_s": 0},
        {"restart_s": 1e12},
        {"checkpoint_write_s": 1e300},
        {"checkpoint_every_s": 1e300},
    ],
)
def test_a_run_that_never_gets_on_is_answered(changed: dict[str, Any]) -> None:
    """Where failures come much faster than anything is saved, the fraction is practically 0 and the parts say why."""
    found = usual(**changed)
    assert 0 <= found.fraction < 1e-6
    assert found.lost_fraction + found.restarts_fraction == pytest.approx(1)


def test_evaluation_is_a_share_of_what_runs() -> None:
    """Of 100 GPU-hours, 20 idle at first; a tenth of the other 80 evaluates, and what is left computes."""
    found = usual(failures_per_gpu_day=0, ramp_fraction=0.2, evaluation_fraction=0.1)
    assert (found.ramp_fraction, found.evaluation_fraction, found.fraction) == pytest.approx((0.2, 0.08, 0.72))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"n_gpus": 0}, "n_gpus must be a positive, finite number of GPUs, not 0."),
        ({"n_gpus": "8"}, "n_gpus must be a positive, finite number of GPUs, not '8'."),
        ({"failures_per_gpu_day": -1}, "failures_per_gpu_day must be a finite number of failures per GPU and day"),
        ({"checkpoint_every_s": 0}, "checkpoint_every_s must be a positive, finite number of seconds, or inf"),
        ({"checkpoint_every_s": math.nan}, "checkpoint_every_s must be a positive, finite number of seconds, or inf"),
        ({"checkpoint_write_s": -1}, "checkpoint_write_s must be a finite number of seconds, zero or more, not -1."),
        ({"restart_s": math.inf}, "restart_s must be a finite number of seconds, zero or more, not inf."),
        ({"evaluation_fraction": 5}, "evaluation_fraction must be a fraction from 0 to 1, not 5: it looks like a perc"),
        ({"ramp_fraction": 45}, "it looks like a percentage, write 0.45."),
        ({"spare_fraction": 9.4}, "it looks like a percentage, write 0.094."),
        ({"spare_fraction": None}, "spare_fraction must be a fraction from 0 to 1, not None."),
        ({"n_gpus": np.array([8, 16])}, "n_gpus must be a single number, not a list or an array."),
        ({"checkpoint_every_s": [60, 600]}, "checkpoint_every_s must be a single number, not a list or an array."),
        ({"restart_s": np.array([1.0])}, "restart_s must be a single number, not a list or an array."),
    ],
)
def test_goodput_refuses_nonsense(changed: dict[str, Any], sentence: str) -> None:
    """Each wrong argument is named in one sentence, with what is allowed."""
    with pytest.raises(ValueError, match=r"^\w+ must be ") as caught:
        usual(**changed)
    assert sentence in str(caught.value)
