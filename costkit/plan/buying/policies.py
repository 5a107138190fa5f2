"""Who buys what, when? Deadline policies for the plan's run, all on the same paths of its market.

- The paths are drawn from the plan's market, or are its recorded one, from every start whose deadline it holds.
- A changeover costs a restart and half a checkpoint interval of work done again, to whole steps; the deadline is cut
  to whole steps too. The run stops when a node is lost, and pays for none while it waits.
- Regret is what a policy paid above the least that anybody who knew the path could have, on a few of the paths.
- Where the plan names no deadline, one tenth more than the undisturbed time is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from costkit import spot
from costkit.plan.buying.answer import SEED, Savings
from costkit.units import DAY, MINUTE, duration, percent, usd

SLACK_FRACTION = 0.1
N_PATHS, N_REGRET = 300, 5
_MOST_STEPS, _LEAST_STEP_S = 4000, 2 * MINUTE
_LONGEST = 4.0

NAMES = {
    "spot_only": "spot only",
    "on_demand": "on demand only",
    "greedy": "greedy, with a safety net",
    "uniform_progress": "uniform progress",
    "time_sliced": "greedy in slices",
    "capped": "on demand after a few losses",
}


@dataclass(frozen=True)
class Policies:
    """How every policy fared; `windows` is how many deadlines the recorded market holds one after the other."""

    answer: Savings
    deadline_s: float
    overhead_s: float
    step_s: float
    outcomes: tuple[spot.PolicyOutcome, ...]
    windows: int | None
    why_not: str = ""

    @property
    def best(self) -> spot.PolicyOutcome | None:
        """The cheapest on average of those that are never clearly late; None where all are."""
        in_time = [one for one in self.outcomes if one.clearly_late_fraction == 0]
        return min(in_time, key=lambda one: one.mean_usd, default=None)

    @property
    def sentence(self) -> str:
        """The cheapest policy that keeps the deadline, and what waiting for spot alone would risk."""
        if not self.outcomes:
            return self.why_not
        asked = "the deadline" if self.answer.deadline_s is not None else "a deadline"
        when = f"{asked} of {duration(self.deadline_s)}"
        if self.best is None:
            return f"No policy keeps {when}, not even machines on demand: it is shorter than the run."
        return (
            f"For {when}, {NAMES[self.best.policy]} is the cheapest that is never late: {usd(self.best.mean_usd)} on"
            f" average, {percent(self.best.saving_fraction)} less than on demand{self._alone}."
        )

    @property
    def _alone(self) -> str:
        """How often waiting for spot alone misses the deadline; nothing where that is best, or was not tried."""
        alone = next((one for one in self.outcomes if one.policy == "spot_only"), None)
        if alone is None or self.best is alone:
            return ""
        return f"; spot alone misses it in {percent(alone.late_fraction)} of the runs"


def policies(answer: Savings) -> Policies:
    """Every deadline policy on the plan's market.

    >>> from costkit import plan
    >>> found = policies(plan.savings(plan.read("case-50k", {"market.deadline_days": 21})))
    >>> found.best.policy in NAMES
    True
    """
    job = answer.job
    overhead_s = answer.restart_s + (min(job.checkpoint_every_s, job.work_s) / 2)
    deadline_s = answer.deadline_s or (1 + SLACK_FRACTION) * job.ideal_s + 2 * overhead_s
    if answer.recorded is not None:
        return _on_record(answer, answer.recorded.trace, deadline_s, overhead_s)
    return _on_paths(answer, deadline_s, overhead_s)


def _on_record(answer: Savings, trace: spot.Trace, deadline_s: float, overhead_s: float) -> Policies:
    """On the recorded market, which has to hold the deadline."""
    windows = spot.independent_windows(trace, deadline_s)
    if windows < 1:
        why = (
            f"{trace.name} was watched for {duration(trace.duration_s)}, less than the deadline of"
            f" {duration(deadline_s)}: no policy can be tried on it."
        )
        return Policies(answer, deadline_s, overhead_s, trace.step_s, (), windows, why)
    names = [name for name in NAMES if name != "spot_only"]
    steps = max(1, round(overhead_s / trace.step_s))
    found = _compared(answer, trace, deadline_s, steps * trace.step_s, names)
    return Policies(answer, deadline_s, steps * trace.step_s, trace.step_s, found, windows)


def _on_paths(answer: Savings, deadline_s: float, overhead_s: float) -> Policies:
    """On paths drawn from the plan's market, long enough for spot alone to finish on nearly all."""
    market = answer.market
    up_s, down_s = market.mean_life_s, market.capacity_wait_s
    slowest = answer.job.ideal_s * (1 + (down_s + overhead_s) / up_s) if up_s > overhead_s else math.inf
    length_s = max(deadline_s, 1.5 * slowest) * 1.2 + 10 * (down_s + overhead_s)
    step_s = max(_LEAST_STEP_S, deadline_s / _MOST_STEPS)
    step_s = overhead_s / math.ceil(overhead_s / step_s) if overhead_s > step_s else step_s
    if math.isinf(up_s):
        why = "Nothing is ever taken away on this market: there is nothing to decide."
        return Policies(answer, deadline_s, overhead_s, step_s, (), None, why)
    if not answer.finishes or length_s > _LONGEST * deadline_s + 100 * DAY or up_s < 2 * step_s:
        why = f"Losses come every {duration(up_s)}: no policy but on demand gets anywhere."
        return Policies(answer, deadline_s, overhead_s, step_s, (), None, why)
    law, names = market.law, list(NAMES)

    def draw(rng: np.random.Generator, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        drawn = np.empty(n)
        law.draw(rng, drawn)
        return drawn

    paths = spot.random_paths(
        mean_up_s=up_s,
        mean_down_s=max(down_s, step_s),
        step_s=step_s,
        duration_s=length_s,
        n_paths=N_PATHS,
        rng=np.random.default_rng(SEED),
        draw_up=draw,
    )
    found = _compared(answer, paths, deadline_s, overhead_s, names)
    return Policies(answer, deadline_s, overhead_s, step_s, found, None)


def _compared(
    answer: Savings, market: spot.Trace | spot.Paths, deadline_s: float, overhead_s: float, names: list[str]
) -> tuple[spot.PolicyOutcome, ...]:
    """Every policy on the same paths; a deadline within a step would call late what is done in that step."""
    nodes = answer.recorded.watched if answer.recorded is not None else 1
    return tuple(
        spot.compare(
            market,
            work_s=answer.job.ideal_s,
            overhead_s=overhead_s,
            deadline_s=math.floor(deadline_s / market.step_s * (1 + 1e-12)) * market.step_s,
            policies=names,
            spot_usd_per_hour=answer.market.spot_usd_per_hour,
            on_demand_usd_per_hour=answer.market.on_demand_usd_per_hour,
            n_nodes=nodes,
            n_regret=N_REGRET,
        )
    )
