"""What `costkit.spot` makes of markets as they were seen: lives, waits, bursts, against what was published of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit.spot.node_logs import log_of, read_node_log
from costkit.spot.reading_traces import read_trace
from costkit.spot.trace import Trace
from costkit.spot.trace_statistics import spells, statistics, weibull_shape
from costkit.units import HOUR

SHARED = Path(__file__).parents[2] / "shared"
ZONES = [
    *(f"aws-02-15-2023/us-{zone}_v100_1" for zone in ("east-1a", "east-1d", "east-1f", "east-2a", "east-2b")),
    *(f"aws-02-15-2023/us-{zone}_v100_1" for zone in ("west-2a", "west-2b")),
]
WIDE = [f"16-node/aws-08-27-2023/us-{zone}_v100_1" for zone in ("east-2b", "west-2a", "west-2c")]

counts = st.lists(st.integers(0, 16), min_size=2, max_size=40)


def shared(name: str) -> Path:
    """A file of other people's data, which stays outside the project; a test that needs it skips where it is absent."""
    file = SHARED / name
    if not file.is_file():
        pytest.skip(f"other people's records are no part of the project: {file} is absent")
    return file


def public(name: str) -> Trace:
    """A trace of the public collection."""
    return read_trace(shared(f"thirdparty/spot-traces/{name}.json"))


def published(name: str) -> Mapping[str, str]:
    """The row of numbers that was computed from the public trace by other means."""
    with shared("facts/trace_statistics.csv").open(encoding="utf-8", newline="") as file:
        return next(row for row in csv.DictReader(file) if row["file"].endswith(f"{name}.json"))


def made(*available: int, step_s: float = 60.0) -> Trace:
    """A trace of those counts."""
    return Trace("made", step_s, np.array(available))


@pytest.mark.parametrize("name", [*ZONES, *WIDE])
def test_public_traces_have_their_published_statistics(name: str) -> None:
    """Share of time, spells, losses and machine-hours are as computed elsewhere, to the printed digits."""
    row, found = published(name), statistics(public(name))
    assert found.available_fraction == pytest.approx(float(row["frac_full"]), abs=0.0005)
    assert found.mean_up_s is not None
    assert found.mean_down_s is not None
    assert found.mean_up_s / HOUR == pytest.approx(float(row["mean_up_h"]), abs=0.005001)
    assert found.mean_down_s / HOUR == pytest.approx(float(row["mean_down_h"]), abs=0.005001)
    assert found.node_hours == pytest.approx(float(row["inst_hours"]), abs=0.05001)
    assert found.losses_per_node_hour == pytest.approx(float(row["lost_per_inst_hour"]), abs=0.00005)
    exact = [int(row[column]) for column in ("up_runs", "losses_of_full", "inst_lost")]
    assert [found.n_up, found.n_losses, found.nodes_lost] == exact


@pytest.mark.parametrize(
    ("name", "burst", "ratio"), list(zip(WIDE, (6.7, 10.2, 11.1), (10.3, 15.7, 16.4), strict=True))
)
def test_machines_go_in_bursts(name: str, burst: float, ratio: float) -> None:
    """Sixteen machines go many at a time, so that sixteen times one machine's rate over-states their loss."""
    found = statistics(public(name))
    assert found.mean_burst == pytest.approx(burst, abs=0.05)
    assert found.independence_ratio == pytest.approx(ratio, abs=0.05001)


@pytest.mark.parametrize("name", ZONES)
def test_times_up_are_not_exponential(name: str) -> None:
    """Their spread is 1.4 to 4.4 times the mean and their shape 0.49 to 0.73, but for one zone."""
    found = statistics(public(name))
    assert found.cv_up is not None
    assert found.weibull_shape is not None
    assert 1.4 <= found.cv_up <= 4.4
    assert 0.495 <= found.weibull_shape + 0.005 <= 0.735 or round(found.weibull_shape, 2) == 0.93


def test_many_lives_end_within_the_hour() -> None:
    """In the calmest zone of February 2023 46% of the times up end within an hour."""
    shares = [statistics(public(name)).under_1h_fraction for name in ZONES]
    assert min(share for share in shares if share is not None) == pytest.approx(0.46, abs=0.005)


@pytest.mark.parametrize(
    ("file", "hours", "most", "removed", "burst", "rate"),
    [
        ("p3-trace.csv", 11.37, 32, 167, 2.11, 0.6115),
        ("g4dn-trace.csv", 10.77, 24, 74, 1.54, 0.5454),
        ("a100x1-east1b.txt", 27.0, 64, 154, 4.28, 0.099),
        ("v100x1-east1c.txt", 24.2, 80, 579, 8.39, 0.314),
    ],
)
def test_public_logs_have_their_published_rates(
    file: str, hours: float, most: int, removed: int, burst: float, rate: float
) -> None:
    """Length, size, losses, bursts and rate are as published, to the printed digits."""
    log = read_node_log(shared(f"thirdparty/bamboo/{file}"))
    assert log.duration_s / HOUR == pytest.approx(hours, abs=0.05)
    assert [int(log.n_up.max()), int(log.n_removed.sum())] == [most, removed]
    assert log.mean_burst == pytest.approx(burst, abs=0.005)
    assert log.removals_per_node_hour == pytest.approx(rate, abs=0.0005)


def test_lives_of_the_p3_log() -> None:
    """344 events, 79 times of loss with 6 at most, and lives of 1.46 h on average and .98 h at the median."""
    log = read_node_log(shared("thirdparty/bamboo/p3-trace.csv"))
    assert [log.n_events, np.count_nonzero(log.n_removed), log.n_removed.max()] == [344, 79, 6]
    assert [log.n_added.sum(), log.n_removed.sum()] == [177, 167]
    assert [len(log.lives_s), len(log.censored_s)] == [167, 10]
    assert np.mean(log.lives_s) / HOUR == pytest.approx(1.46, abs=0.005)
    assert np.median(log.lives_s) / HOUR == pytest.approx(0.98, abs=0.005)


@pytest.mark.parametrize(("file", "removed", "times", "mean"), [("hh_55_65", 19, 9, 27.5), ("ll_10_11", 4, 3, 14.6)])
def test_events_as_json_lines(file: str, removed: int, times: int, mean: float) -> None:
    """An hour of Parcae's events has its published losses and mean number of machines."""
    log = read_node_log(shared(f"thirdparty/parcae/trace_{file}.txt"))
    assert [int(log.n_removed.sum()), np.count_nonzero(log.n_removed)] == [removed, times]
    assert log.node_hours / (log.duration_s / HOUR) == pytest.approx(mean, abs=0.05)


def test_lines_out_of_order_are_put_in_order_and_said_so() -> None:
    """The log that goes back in time 15 times says so, and what its own order would count."""
    log = read_node_log(shared("thirdparty/bamboo/v100x1-east1c.txt"))
    assert "15 of 1,477 lines are earlier" in log.warnings[0]
    assert "counts 579 machines lost (in the order of its lines: 518)" in log.warnings[0]


def test_a_hole_is_told() -> None:
    """Five hours without a line are named, with what was assumed in them."""
    log = read_node_log(shared("thirdparty/bamboo/a100x1-east1b.txt"))
    assert (
        "nothing is written down for 5.02 hours from 2021-12-12 01:47 on; the count before it is held"
        in log.warnings[0]
    )


def test_a_dip_between_two_steps_is_seen() -> None:
    """A machine that is lost and replaced within a step was not there for the whole of it."""
    log = log_of("mine.csv", "0,add,a\n70000,remove,a\n80000,add,b\n240000,remove,b\n")
    assert log.trace().available.tolist() == [1, 0, 1, 1]


@given(lives=st.lists(st.tuples(st.integers(0, 500), st.integers(1, 500)), min_size=1, max_size=20))
def test_machine_hours_are_lives_and_ages(lives: list[tuple[int, int]]) -> None:
    """What the log counts over time is what its machines lived, gone or not."""
    lines = [f"{1000 * start},add,n{i}" for i, (start, _) in enumerate(lives)]
    lines += [f"{1000 * (start + length)},remove,n{i}" for i, (start, length) in enumerate(lives) if i % 2 == 0]
    log = log_of("mine.csv", "\n".join(sorted(lines, key=lambda line: int(line.split(",")[0]))))
    assert log.node_hours * HOUR == pytest.approx(log.lives_s.sum() + log.censored_s.sum())


def test_a_log_on_the_clock_starts_with_its_first_line() -> None:
    """Milliseconds since 1970 don't make a log of half a century."""
    log = log_of("mine.csv", "1700000000000,add,a\n1700000060000,remove,a\n")
    assert log.duration_s == 60


@given(data=counts, n=st.integers(1, 16))
def test_spells_cover_the_trace(data: list[int], n: int) -> None:
    """Times up and waits add up to the whole."""
    found = spells(made(*data), n)
    assert found.first_wait_s + found.up_s.sum() + found.down_s.sum() == 60 * len(data)
    assert len(found.up_s) - len(found.down_s) == (1 if found.ends_up and len(found.up_s) else 0)


def test_spells_have_their_own_prices() -> None:
    """The price of a spell is the mean over it."""
    trace = Trace("made", 60.0, np.array([0, 1, 1, 0, 1]), usd_per_hour=np.array([9.0, 1.0, 2.0, 9.0, 4.0]))
    found = spells(trace).usd_per_hour
    assert found is not None
    assert found.tolist() == [1.5, 4.0]


def test_a_market_that_was_never_up_has_no_times_up() -> None:
    """Nothing is made up for a market without a machine."""
    found = statistics(made(0, 0, 0))
    assert (found.n_up, found.available_fraction, found.mean_up_s, found.weibull_shape) == (0, 0.0, None, None)


def test_a_market_that_was_always_up_has_no_waits() -> None:
    """Nothing is made up for a market without a loss."""
    found = statistics(made(1, 1, 1))
    assert (found.n_losses, found.mean_down_s, found.mean_burst, found.independence_ratio) == (0, None, None, None)


@pytest.mark.parametrize("n_nodes", [0, -1, 1.5, True])
def test_a_number_of_machines_is_whole(n_nodes: Any) -> None:
    """What is no number of machines is refused."""
    with pytest.raises(ValueError, match="it must be a whole number of machines, at least 1"):
        statistics(made(0, 1), n_nodes)


@given(shape=st.floats(0.4, 3.0), seed=st.integers(0, 100))
def test_the_shape_comes_back(shape: float, seed: int) -> None:
    """Lives of a known shape, cut off half the time, give it back."""
    rng = np.random.default_rng(seed)
    lives, cut = rng.weibull(shape, 20_000), rng.weibull(shape, 20_000)
    found = weibull_shape(np.minimum(lives, cut), is_cut=cut < lives)
    assert found == pytest.approx(shape, rel=0.04)


def test_lives_that_are_all_alike_have_no_shape() -> None:
    """Where every life has the same length no finite shape is likeliest."""
    assert weibull_shape(np.full(5, 60.0)) is None
