"""Which policy? Bills, finishes and regret of each, all on the same paths.

- Of a trace, by default, every start counts whose whole deadline it holds. Windows overlap, so that many runs are far
  fewer independent ones: see `independent_windows`.
- The trace may end before a job without a deadline is done. The starts from the first one on that some policy can't
  finish are left out for all, so that no policy is judged by its lucky starts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costkit.spot.omniscient import omniscient, regret
from costkit.spot.outcomes import percentiles
from costkit.spot.paths import Paths
from costkit.spot.policies import POLICIES, ROUNDING, Policy, policy_of
from costkit.spot.replay import Replay, replay
from costkit.spot.trace import Counts, Floats, Trace
from costkit.spot.windows import Starts, one_number
from costkit.units import duration, require_not_negative


class PathsTooShort(ValueError):
    """Paths end before a policy's work is done; the text is one sentence with the way out."""


@dataclass(frozen=True)
class PolicyOutcome:
    """How a policy fared over all runs; `regret`, on a few of them, is None where it was not asked for or is infinite.

    `saving_fraction` is against the mean bill of on-demand from start to end, negative where the policy costs more.
    `clearly_late_fraction` counts the runs that are late by more than a step, the least that a replay can tell apart.
    """

    policy: str
    n_runs: int
    mean_usd: float
    p5_usd: float
    p50_usd: float
    p95_usd: float
    saving_fraction: float
    mean_finish_s: float
    late_fraction: float
    clearly_late_fraction: float
    most_late_s: float
    mean_preemptions: float
    regret: float | None = None


def compare(
    trace: Trace | Paths,
    *,
    work_s: float,
    overhead_s: float,
    deadline_s: float = math.inf,
    policies: Sequence[str | Policy] = tuple(POLICIES),
    starts: Starts = None,
    on_demand_usd_per_hour: float,
    spot_usd_per_hour: float | None = None,
    n_nodes: int = 1,
    n_regret: int = 0,
) -> list[PolicyOutcome]:
    """Every policy on the same runs; with `n_regret` starts, evenly spread, also held against the omniscient optimum.

    The optimum meets the deadline, so a policy that does not may have a regret below zero.

    >>> trace = Trace("a zone", 600.0, np.tile([1, 1, 0, 0, 0, 1, 1, 1], 9))
    >>> for outcome in compare(trace, policies=["spot_only", "greedy"], work_s=2400.0, overhead_s=0.0,
    ...     deadline_s=3600.0, spot_usd_per_hour=1.0, on_demand_usd_per_hour=3.0):
    ...     print(outcome.policy, round(outcome.saving_fraction, 2), round(outcome.late_fraction, 2))
    spot_only 0.67 0.52
    greedy 0.37 0.0
    """
    chosen = [policy_of(policy) for policy in policies]
    if not chosen:
        raise ValueError("There is nothing to compare; name at least one policy.")
    require_not_negative(n_regret, "n_regret", "starts")
    job: dict[str, Any] = {
        "work_s": work_s,
        "overhead_s": overhead_s,
        "deadline_s": deadline_s,
        "spot_usd_per_hour": spot_usd_per_hour,
        "on_demand_usd_per_hour": on_demand_usd_per_hour,
        "n_nodes": n_nodes,
    }
    begins = _starts(trace, starts, deadline_s)
    runs = [replay(trace, policy=policy, start=begins, **job) for policy in [POLICIES["on_demand"], *chosen]]
    n_kept = _n_whole(trace, begins, runs)
    base, *kept = (_cut(run, n_kept) for run in runs)
    shared: dict[str, Any] = {
        "step_s": trace.step_s,
        "on_demand_usd": float(np.mean(base.usd)),
        "best": _optima(trace, begins[:n_kept], n_regret, job),
    }
    return [_outcome(policy.name, run, **shared) for policy, run in zip(chosen, kept, strict=True)]


def _starts(trace: Trace | Paths, starts: Starts, deadline_s: float) -> Counts:
    """The starts in order: those that are asked for, else all whose deadline the trace holds."""
    one_number(deadline_s, "deadline_s", "seconds (or inf for no deadline)", infinite=True)
    if starts is not None:
        return np.sort(np.atleast_1d(np.asarray(starts)))
    if isinstance(trace, Paths):
        return np.arange(trace.n_paths)
    n = trace.n_steps if math.isinf(deadline_s) else trace.n_steps - math.ceil(deadline_s / trace.step_s - ROUNDING) + 1
    if n < 1:
        raise ValueError(
            f"The trace is {duration(trace.duration_s)} long, less than the deadline of {duration(deadline_s)}; "
            "give a longer trace, an earlier deadline or the starts."
        )
    return np.arange(n)


def _n_whole(trace: Trace | Paths, begins: Counts, runs: Sequence[Replay]) -> int:
    """How many starts, in order, come before the first from which some policy does not finish."""
    is_cut = np.any([~np.asarray(run.finished) for run in runs], axis=0)
    n = int(is_cut.argmax()) if is_cut.any() else len(begins)
    if isinstance(trace, Paths) and n < len(begins):
        raise PathsTooShort("Some of the paths end before the work is done; draw longer paths or leave spot_only out.")
    if not n:
        raise ValueError("The trace ends before the work is done; give less work, a longer trace or other policies.")
    return n


def _optima(trace: Trace | Paths, begins: Counts, n_regret: int, job: Mapping[str, Any]) -> tuple[Counts, Floats]:
    """A few of the runs, evenly spread, and their optima."""
    picked = np.unique(np.linspace(0, len(begins) - 1, min(int(n_regret), len(begins))).astype(np.int64))
    return picked, np.array([omniscient(trace, start=int(begins[one]), **job) for one in picked])


def _cut(run: Replay, n: int) -> Replay:
    """The first n runs alone."""
    names = ("usd", "finish_s", "preemptions", "spot_s", "on_demand_s")
    parts = {name: np.asarray(getattr(run, name))[:n] for name in names}
    return Replay(**parts, deadline_s=run.deadline_s)


def _outcome(
    name: str, run: Replay, *, step_s: float, on_demand_usd: float, best: tuple[Counts, Floats]
) -> PolicyOutcome:
    usd, late_s = np.asarray(run.usd), np.asarray(run.late_s)
    span = percentiles(usd)
    picked, least_usd = best
    has_regret = len(picked) > 0 and bool(np.all(np.isfinite(least_usd)))
    return PolicyOutcome(
        policy=name,
        n_runs=len(usd),
        mean_usd=float(usd.mean()),
        p5_usd=span.low,
        p50_usd=span.mid,
        p95_usd=span.high,
        saving_fraction=float(1 - usd.mean() / on_demand_usd),
        mean_finish_s=float(np.mean(run.finish_s)),
        late_fraction=float(np.mean(run.late)),
        clearly_late_fraction=float(np.mean(late_s > step_s * (1 + ROUNDING))),
        most_late_s=float(late_s.max()),
        mean_preemptions=float(np.mean(run.preemptions)),
        regret=float(np.mean(regret(usd[picked], least_usd))) if has_regret else None,
    )
