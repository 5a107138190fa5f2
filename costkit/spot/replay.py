"""What would a job have paid on this market, and when would it have been done? Policies, replayed step by step.

- A decision is made at the beginning of each step. Every step on a machine is paid for in whole, the last one too.
- Each launch, also a move from spot to on-demand or back, takes the changeover overhead, in which nothing is done. It
  starts anew with the next launch; what was left of the one before is forgotten.
- Work is saved all the time: the step before spot disappears is billed and its work counts.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit.spot.paths import Paths
from costkit.spot.policies import IDLE, ON_DEMAND, ROUNDING, SPOT, Modes, Policy, Seen, Task, policy_of
from costkit.spot.trace import Counts, Flags, Floats, Trace
from costkit.spot.windows import Starts, Windows, one_number, windows
from costkit.units import HOUR

_ENDED_FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class Replay:
    """What a run has cost and when it was done: numbers for one start, arrays for many.

    `spot_s` and `on_demand_s` were billed, launches included. `finish_s` counts whole steps from the start; it is
    infinite where the trace ends before the work is done, and the other numbers then say how things stood.
    """

    usd: float | Floats
    finish_s: float | Floats
    preemptions: float | Floats
    spot_s: float | Floats
    on_demand_s: float | Floats
    deadline_s: float

    @property
    def finished(self) -> bool | Flags:
        """Whether the work was done before the trace ended."""
        return _flag(np.isfinite(self.finish_s))

    @property
    def late(self) -> bool | Flags:
        """Whether the deadline passed, or the trace ended, before the work was done; no deadline, never late."""
        return _flag(np.greater(self.finish_s, self.deadline_s * (1 + 1e-12)))

    @property
    def late_s(self) -> float | Floats:
        """By how much; 0 where it was in time."""
        over = np.subtract(self.finish_s, self.deadline_s, where=self.late, out=np.zeros(np.shape(self.finish_s)))
        return over if over.ndim else float(over)


def _flag(value: npt.NDArray[np.bool_] | np.bool_) -> bool | Flags:
    return value if isinstance(value, np.ndarray) and value.ndim else bool(value)


def replay(
    trace: Trace | Paths,
    *,
    work_s: float,
    overhead_s: float,
    deadline_s: float = math.inf,
    policy: str | Policy = "uniform_progress",
    start: Starts = 0,
    on_demand_usd_per_hour: float,
    spot_usd_per_hour: float | None = None,
    n_nodes: int = 1,
) -> Replay:
    """The bill and the finish of a job that follows a policy, from a step of a trace or on a path of a bundle.

    `start` may be an array of steps (of paths), or None for all. Prices are of the whole job; with None for spot, the
    trace's own price of a machine counts, times `n_nodes`. A deadline that nobody could meet is an answer: `late`.

    >>> trace = Trace("a zone", 600.0, np.array([1, 1, 0, 0, 0, 1, 1, 1]))
    >>> terms = {"work_s": 2400.0, "overhead_s": 0.0, "spot_usd_per_hour": 1.0, "on_demand_usd_per_hour": 3.0}
    >>> for policy in ("spot_only", "greedy"):
    ...     run = replay(trace, policy=policy, deadline_s=3000.0, **terms)
    ...     print(policy, round(run.usd, 2), run.finish_s, run.late)
    spot_only 0.67 4200.0 True
    greedy 1.33 3000.0 False
    """
    seen = windows(trace, start=start, spot_usd_per_hour=spot_usd_per_hour, n_nodes=n_nodes)
    on_demand = one_number(on_demand_usd_per_hour, "on_demand_usd_per_hour", "USD")
    task = task_of(work_s, overhead_s, deadline_s, step_s=seen.step_s)
    tally = _run(seen, task, policy_of(policy))
    on_demand_s = tally.on_demand_steps * seen.step_s
    parts = {
        "usd": tally.spot_usd + on_demand_s * on_demand / HOUR,
        "finish_s": tally.finish_steps * seen.step_s,
        "preemptions": tally.preemptions.astype(float),
        "spot_s": tally.spot_steps * seen.step_s,
        "on_demand_s": on_demand_s,
    }
    return Replay(
        **{name: float(each[0]) if seen.is_one else each for name, each in parts.items()}, deadline_s=deadline_s
    )


def task_of(work_s: float, overhead_s: float, deadline_s: float, *, step_s: float) -> Task:
    """A task in steps, each number checked."""
    work = one_number(work_s, "work_s", "seconds")
    overhead = one_number(overhead_s, "overhead_s", "seconds", zero=True)
    deadline = one_number(deadline_s, "deadline_s", "seconds (or inf for no deadline)", infinite=True)
    return Task(work / step_s, overhead / step_s, deadline / step_s)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runs under way, all in the same step after their start; the arrays change in place."""

    which: Counts
    first: Counts
    n_steps: Counts
    mode: Modes
    done: Floats
    overhead: Floats
    spot_usd: Floats
    spot_steps: Counts
    on_demand_steps: Counts
    preemptions: Counts

    def kept(self, which: Flags) -> _Runs:
        """Those runs alone."""
        chosen = np.flatnonzero(which)
        return _Runs(**{field.name: getattr(self, field.name)[chosen] for field in dataclasses.fields(self)})


@dataclass(frozen=True, eq=False)
class _Tally:
    """How each run ended; filled in as they do."""

    finish_steps: Floats
    spot_usd: Floats
    spot_steps: Counts
    on_demand_steps: Counts
    preemptions: Counts

    def note(self, runs: _Runs, ended: Counts, finish_steps: Floats) -> None:
        """Write down the runs that have just ended."""
        where = runs.which[ended]
        self.finish_steps[where] = finish_steps
        for name in ("spot_usd", "spot_steps", "on_demand_steps", "preemptions"):
            getattr(self, name)[where] = getattr(runs, name)[ended]


def _run(seen: Windows, task: Task, policy: Policy) -> _Tally:
    """Every run to its end: a loop over steps, in which all runs take the same one."""
    n = len(seen.first)
    tally = _Tally(np.full(n, math.inf), np.zeros(n), _zeros(n), _zeros(n), _zeros(n))
    runs = _Runs(
        which=np.arange(n),
        first=seen.first,
        n_steps=seen.n_steps.copy(),
        mode=np.zeros(n, np.int8),
        done=np.zeros(n),
        overhead=np.zeros(n),
        spot_usd=np.zeros(n),
        spot_steps=_zeros(n),
        on_demand_steps=_zeros(n),
        preemptions=_zeros(n),
    )
    n_ended, step = 0, 0
    while len(runs.which):
        _advance(runs, seen, task, policy, step)
        step += 1
        is_done = runs.done >= task.work - ROUNDING
        ended = np.flatnonzero(is_done | (runs.n_steps == step))
        if len(ended):
            tally.note(runs, ended, np.where(is_done[ended], float(step), math.inf))
            runs.done[ended], runs.n_steps[ended] = -math.inf, 0
            n_ended += len(ended)
            if n_ended > _ENDED_FRACTION * len(runs.which):
                runs, n_ended = runs.kept(runs.n_steps > 0), 0
    return tally


def _zeros(n: int) -> Counts:
    return np.zeros(n, np.int64)


def _advance(runs: _Runs, seen: Windows, task: Task, policy: Policy, step: int) -> None:
    """One step: what was lost, what is decided, what is done in it and what it costs."""
    where = runs.first + step
    is_up = seen.is_up.take(where, mode="clip")
    is_lost = (runs.mode == SPOT) & ~is_up
    np.add(runs.preemptions, is_lost, out=runs.preemptions)
    runs.mode[is_lost] = IDLE
    wanted = policy.decide(task, Seen(step, is_up, runs.mode, runs.done, runs.preemptions))
    wanted = np.where((wanted == SPOT) & ~is_up, IDLE, wanted)
    on_spot, is_busy = wanted == SPOT, wanted != IDLE
    np.copyto(runs.overhead, task.overhead, where=(wanted != runs.mode) & is_busy)
    np.copyto(runs.mode, wanted)
    runs.done[:] += np.maximum(1.0 - runs.overhead, 0.0) * is_busy
    np.maximum(runs.overhead - 1.0, 0.0, out=runs.overhead)
    np.add(runs.spot_usd, seen.spot_usd(where) * on_spot, out=runs.spot_usd)
    np.add(runs.spot_steps, on_spot, out=runs.spot_steps)
    np.add(runs.on_demand_steps, wanted == ON_DEMAND, out=runs.on_demand_steps)
