"""Spot, on-demand or nothing? Rules that a job with a deadline can follow, one decision a step.

- A decision sees the past only: what was done, what runs, and whether spot can be had now.
- Amounts are counted in steps of the market: work, overhead, deadline. Decisions are made for all runs at once.
- A launch costs the changeover overhead in full, so a job is kept where it is unless something is gained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from costkit.spot.trace import Counts, Flags, Floats
from costkit.tables import lookup

Modes = npt.NDArray[np.int8]

IDLE, SPOT, ON_DEMAND = (np.int8(mode) for mode in range(3))
ROUNDING = 1e-6

_PREEMPTIONS = 3
_SLICES = 8


@dataclass(frozen=True)
class Task:
    """What is to be done, by when, and what each launch costs; all in steps."""

    work: float
    overhead: float
    deadline: float


@dataclass(frozen=True, eq=False)
class Seen:
    """What every run knows when it decides about the step ahead. A run on spot has spot: a lost one is idle."""

    step: int
    is_up: Flags
    mode: Modes
    done: Floats
    preemptions: Counts


@dataclass(frozen=True)
class Policy:
    """A rule by its name and, in a sentence, what it does."""

    name: str
    meaning: str
    decide: Callable[[Task, Seen], Modes]


def _spot_only(task: Task, seen: Seen) -> Modes:
    del task
    return _choose(seen.is_up, SPOT, IDLE)


def _on_demand(task: Task, seen: Seen) -> Modes:
    del task
    return np.full(len(seen.mode), ON_DEMAND)


def _greedy(task: Task, seen: Seen) -> Modes:
    """Spot while it can be had, and on-demand for good once the work left and one changeover fill the whole steps left.

    That is ceil(C + d) >= ceil(R). A spot machine that runs is kept even then, so its loss can make the job late; and
    as R is rounded up, so can a deadline that is no whole number of steps. This is the "strawman" of Wu et al. 2024
    (NSDI, "Can't Be Late"), found from its published replays.
    """
    is_last = seen.done < _least_done(task, seen.step, task.overhead)
    return _choose(is_last & (seen.mode != SPOT), ON_DEMAND, _choose(seen.is_up, SPOT, IDLE))


def _uniform_progress(task: Task, seen: Seen) -> Modes:
    """Work as fast as if the deadline were reached in a straight line, e(t) = t C(0) / R(0).

    Spot whenever it can be had, also in place of on-demand. Without it an idle job goes on-demand where it is behind,
    c(t) < e(t), and one on-demand stops where it is two changeovers ahead, c(t) >= e(t + 2d). Any job not on spot goes
    on-demand for good once ceil(C + 2d) >= ceil(R): one changeover for the spot machine that would be lost, one for the
    launch that follows. Where d is less than a step, the second is a step, as no decision comes sooner. So a deadline
    that on-demand meets from the start is always met. Wu et al. 2024 (NSDI, "Can't Be Late"), the four rules of Uniform
    Progress, with e, c, C, R and d as there.
    """
    d, t, speed = task.overhead, seen.step, task.work / task.deadline
    ahead = np.where(seen.mode == ON_DEMAND, speed * (t + 2 * d), speed * t)
    without = _choose(seen.done < ahead - ROUNDING, ON_DEMAND, IDLE)
    is_last = seen.done < _least_done(task, t, d + max(d, 1.0))
    return _choose(is_last & (seen.mode != SPOT), ON_DEMAND, _choose(seen.is_up, SPOT, without))


def time_sliced(n_slices: int = _SLICES) -> Policy:
    """The deadline in equal slices, each a greedy job that has to end with its share of all the work done.

    Slices bring the safety net forward, so a bad market is noticed early; in each the slack has to hold more than two
    changeovers. On the V100 traces of February 2023 (48 h of work, deadlines of 52 to 70 h, overheads of 0.1 and
    0.2 h) most of what slices save is there with eight of them, the default.
    """
    _require_whole(n_slices, "n_slices")

    def decide(task: Task, seen: Seen) -> Modes:
        part = min(math.floor(seen.step / task.deadline * n_slices + ROUNDING) + 1, n_slices) / n_slices
        share = Task(task.work * part, task.overhead, task.deadline * part)
        chosen = _greedy(share, seen)
        is_enough = seen.done >= share.work - ROUNDING
        return _choose(is_enough, _choose(seen.is_up, SPOT, IDLE), chosen)

    return Policy(
        "time_sliced", f"Greedy in {n_slices} slices of the deadline, each with its share of the work.", decide
    )


def capped(n_preemptions: int = _PREEMPTIONS) -> Policy:
    """Spot only until it was lost that often, on-demand ever after; the deadline plays no part."""
    _require_whole(n_preemptions, "n_preemptions")

    def decide(task: Task, seen: Seen) -> Modes:
        return _choose(seen.preemptions >= n_preemptions, ON_DEMAND, _spot_only(task, seen))

    return Policy("capped", f"Spot until it was lost {n_preemptions} times, then on-demand to the end.", decide)


def _require_whole(value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{what} must be a whole number, one or more, not {value!r}.")


def _choose(condition: Flags, then: Modes | np.int8, otherwise: Modes | np.int8) -> Modes:
    return np.where(condition, then, otherwise)


def _least_done(task: Task, step: int, reserve: float) -> float:
    """The work with less than which ceil(work left + reserve) >= ceil(steps left) holds."""
    return float(task.work + reserve - ROUNDING - (np.ceil(task.deadline - step - ROUNDING) - 1))


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            Policy("on_demand", "On-demand from start to end.", _on_demand),
            Policy("spot_only", "Spot while it can be had, and a wait while it can't.", _spot_only),
            Policy("greedy", "Spot only, until there is just time to finish on-demand.", _greedy),
            Policy("uniform_progress", "Never behind a straight line to the deadline.", _uniform_progress),
            time_sliced(),
            capped(),
        )
    }
)


def policy_of(policy: str | Policy) -> Policy:
    """The policy of that name; a policy is itself.

    >>> policy_of("greedy").meaning
    'Spot only, until there is just time to finish on-demand.'
    """
    return policy if isinstance(policy, Policy) else lookup("policy", policy, POLICIES)
