"""What do a hundred thousand simulated runs cost, beside the random numbers they need and beside a plain loop?

The case: 432 hours of work, a mean life of 6 hours, a checkpoint every hour that takes 5 minutes to write, restarts of
15 minutes. Some 90 lives end in every trial, so drawing as many exponential numbers, into an array that is used again,
is the least that any simulation must spend; it takes turns with ours. The plain loop goes through one run after the
other with Python's own `random`, one event at a time, and knows nothing of our code: its mean must agree.
"""

from __future__ import annotations

import math
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from benchmarks.row import row
from costkit import spot
from costkit.spot import Job, Law, Market, Outcomes
from costkit.units import DAY, HOUR, MB, MILLION, MINUTE

Array = npt.NDArray[np.float64]

CASE = Job(work_s=432 * HOUR, checkpoint_every_s=HOUR, checkpoint_write_s=5 * MINUTE, restart_s=15 * MINUTE)
LIFE_S, SHAPE = 6 * HOUR, 0.6
TRIALS, TURNS = 100_000, 5
SIZES = (10_000, 100_000, 1_000_000)
LOOP_TRIALS = 20_000
BLOCK = 16_384
STEP_S = 195.0


@dataclass(frozen=True)
class Timed:
    """Median seconds of two ways of spending time that took turns."""

    ours_s: float
    theirs_s: float


def main() -> None:
    """What each law costs, whether time grows with trials only, and what a plain loop does instead."""
    measured = np.random.default_rng(1).lognormal(sigma=1.5, size=300)
    laws: dict[str, str | Law] = {
        "exponential": "exponential",
        f"weibull({SHAPE:g})": spot.weibull(SHAPE),
        "bathtub": "bathtub",
        "empirical (300 lives)": spot.empirical(measured),
    }
    for name, law in laws.items():
        _print_law(name, law)
    _print_growth()
    _print_loop("exponential", 1.0)
    _print_loop(f"weibull({SHAPE:g})", SHAPE)
    _print_replays()


def _print_law(name: str, law: str | Law) -> None:
    """Seconds, memory, and time over that of as many exponential numbers."""
    found = _simulated(law, TRIALS)
    n_losses = int(found.preemptions.sum())
    timed = _in_turns(lambda: _simulated(law, TRIALS), lambda: _drawn(n_losses))
    row(f"{name}: {TRIALS:,} trials, {n_losses / MILLION:.1f}M losses", f"{timed.ours_s:.3f} s", "")
    row(f"{name}: over drawing as many exponential numbers", f"{timed.ours_s / timed.theirs_s:.2f} x", "<= 3 x")
    kept = sum(np.asarray(getattr(found, one.name)).nbytes for one in fields(found) if one.type in ("Floats", "Flags"))
    row(f"{name}: peak memory, {kept / MB:.1f} MB of it the results", f"{_peak(law) / MB:.1f} MB", "")


def _print_growth() -> None:
    """Microseconds a trial for few and many trials."""
    each = {n: _median_s("exponential", n) / n for n in SIZES}
    for n, seconds in each.items():
        wanted = "" if n == SIZES[0] else "<= 1.3 x"
        said = f"{MILLION * seconds:.2f} us" + ("" if n == SIZES[0] else f", {seconds / each[SIZES[0]]:.2f} x")
        row(f"time per trial, {n:,} trials", said, wanted)


def _print_replays() -> None:
    """Seconds to replay a trace of fifty days, from every start, under each policy."""
    rng = np.random.default_rng(2)
    paths = spot.random_paths(
        mean_up_s=5 * HOUR, mean_down_s=HOUR, step_s=STEP_S, duration_s=50 * DAY, n_paths=1, rng=rng
    )
    trace = spot.Trace("drawn", STEP_S, paths.available[0].astype(np.int64))
    for policy in spot.POLICIES:
        start = time.perf_counter()
        found = spot.replay(
            trace,
            work_s=48 * HOUR,
            overhead_s=0.2 * HOUR,
            deadline_s=60 * HOUR,
            policy=policy,
            start=None,
            spot_usd_per_hour=1.0,
            on_demand_usd_per_hour=3.0,
        )
        n_starts = np.size(found.usd)
        row(f"replay of 50 days from {n_starts:,} starts, {policy}", f"{time.perf_counter() - start:.2f} s", "<= 2 s")


def _print_loop(name: str, shape: float) -> None:
    """Trials a second of both, and how far apart their means are."""
    chance = random.Random(0)
    scale_s = LIFE_S / math.gamma(1 + 1 / shape)
    theirs: list[float] = []

    def loop() -> None:
        theirs.extend(one_run(CASE, scale_s, shape, chance) for _ in range(LOOP_TRIALS))

    loop_s = _seconds(loop)
    law = spot.weibull(shape) if shape != 1 else "exponential"
    rates = (TRIALS / _median_s(law, TRIALS), LOOP_TRIALS / loop_s)
    row(f"{name}: trials a second, plain Python loop", f"{rates[1]:,.0f}", "")
    row(f"{name}: trials a second, ours", f"{rates[0]:,.0f}", "")
    row(f"{name}: ours over the loop", f"{rates[0] / rates[1]:.0f} x", ">= 20 x")
    ours, other = _simulated(law, TRIALS).wall_s, np.array(theirs)
    error = math.sqrt(ours.var() / len(ours) + other.var() / len(other))
    means = f"{ours.mean() / HOUR:.2f}, {other.mean() / HOUR:.2f} h"
    row(f"{name}: mean time of ours and of the loop", means, "")
    row(f"{name}: apart, in standard errors", f"{(ours.mean() - other.mean()) / error:+.2f}", "within 4")
    if shape == 1:
        exact = spot.expected(CASE, _market(law)).wall_s.mean
        row(f"{name}: ours from the closed form, in standard errors", f"{_z(ours, exact):+.2f}", "within 4")


def one_run(job: Job, scale_s: float, shape: float, chance: random.Random) -> float:
    """The time of one run, one life after the other."""
    left, segment_s, restart, elapsed = round(job.work_s / job.checkpoint_every_s), job.segment_s, 0.0, 0.0
    while True:
        life = chance.weibullvariate(scale_s, shape)
        ended = int(max(life - restart, 0.0) / segment_s)
        if ended >= left:
            return elapsed + restart + left * segment_s
        left -= ended
        elapsed += life
        restart = job.restart_s


def _z(drawn: Array, exact: float) -> float:
    return float((drawn.mean() - exact) / (drawn.std() / math.sqrt(len(drawn))))


def _market(law: str | Law) -> Market:
    return Market(mean_life_s=LIFE_S, spot_usd_per_hour=39.0, on_demand_usd_per_hour=98.0, process=law)


def _simulated(law: str | Law, n_trials: int) -> Outcomes:
    return spot.simulate(CASE, _market(law), n_trials=n_trials, rng=np.random.default_rng(0))


def _drawn(n: int) -> None:
    """As many exponential numbers, block by block."""
    rng, block = np.random.default_rng(0), np.empty(BLOCK)
    for _ in range(n // BLOCK):
        rng.standard_exponential(out=block)
    rng.standard_exponential(out=block[: n % BLOCK])


def _in_turns(ours: Callable[[], object], theirs: Callable[[], object]) -> Timed:
    pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(TURNS)]
    return Timed(*(statistics.median(column) for column in zip(*pairs, strict=True)))


def _median_s(law: str | Law, n_trials: int) -> float:
    return statistics.median(_seconds(lambda: _simulated(law, n_trials)) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _peak(law: str | Law) -> int:
    tracemalloc.start()
    _simulated(law, TRIALS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    main()
