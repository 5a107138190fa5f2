"""Who buys what, when? Deadline policies for the plan's run, all on the same paths of its market.

- The paths are drawn from the plan's market, or are its recorded one, from every start whose deadline it holds.
- A changeover costs a restart and half a checkpoint interval of work done again, in whole steps; the first is free.
- Spot alone and on demand alone are those of the simulation, hardware failures included; the replays take as much
  longer as these cost on demand on average.
- The run stops when a node is lost, and pays for none while it waits.
- Regret is what a policy paid above the least that anybody who knew the path could have, on a few of the paths.
- Where the plan names no deadline, one tenth more than the undisturbed time and two changeovers are taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from costkit import spot
from costkit.plan.buying.answer import Savings
from costkit.plan.buying.blocks import SEED
from costkit.plan.buying.words import otherwise
from costkit.units import MINUTE, duration, percent, usd

SLACK_FRACTION = 0.1
N_PATHS, N_REGRET = 300, 5
_MOST_STEPS, _LEAST_STEP_S = 4000, 2 * MINUTE
_FEWEST_CHANGES, _SHORTEST, _MOSTLY, _LONGEST_STEPS = 4, 2, 0.5, 40_000

MIXED = tuple(name for name in spot.POLICIES if name not in ("spot_only", "on_demand"))


@dataclass(frozen=True)
class Policies:
    """How every policy fared; `windows` is how many deadlines the recorded market holds one after the other."""

    answer: Savings
    deadline_s: float
    overhead_s: float
    outcomes: tuple[spot.PolicyOutcome, ...]
    windows: int | None
    why_not: str = ""

    @property
    def on_demand(self) -> spot.PolicyOutcome:
        """Machines on demand from start to end."""
        return next(one for one in self.outcomes if one.policy == "on_demand")

    @property
    def best(self) -> spot.PolicyOutcome | None:
        """The cheapest on average of those that are late no more often than on demand; None where that is late too."""
        if not self.outcomes or self.on_demand.late_fraction >= _MOSTLY:
            return None
        in_time = [one for one in self.outcomes if one.late_fraction <= self.on_demand.late_fraction]
        return min(in_time, key=lambda one: one.mean_usd)

    @property
    def sentence(self) -> str:
        """The cheapest policy that keeps the deadline, and what waiting for spot alone would risk."""
        if not self.outcomes:
            return self.why_not
        when, best = f"the deadline of {duration(self.deadline_s)}", self.best
        if self.answer.deadline_s is None:
            when = f"a deadline of {duration(self.deadline_s)}, as the plan names none"
        other = otherwise(self.answer)
        if best is None:
            takes = duration(self.answer.on_demand.wall_range_s.mid)
            return f"No way of buying keeps {when}: {other} too the run takes {takes}."
        if best is self.on_demand:
            return f"For {when}, nothing that keeps it is cheaper than {other}, {usd(best.mean_usd)}{self._alone}."
        cheapest = f"For {when}, {label(best)} is the cheapest that is late no more often than {other}"
        saved = f"{percent(best.saving_fraction)} less than {other}"
        return f"{cheapest}{self._itself}: {usd(best.mean_usd)} on average, {saved}{self._alone}."

    @property
    def _itself(self) -> str:
        """How often on demand itself is late, where it is."""
        late = self.on_demand.late_fraction
        return f" (in {percent(late)} of the runs)" if late else ""

    @property
    def _alone(self) -> str:
        """How often waiting for spot alone misses the deadline; nothing where that is best."""
        alone = next((one for one in self.outcomes if one.policy == "spot_only"), None)
        if alone is None or self.best is alone:
            return ""
        return f"; spot alone misses it in {percent(alone.late_fraction)} of the simulated runs"


def label(one: spot.PolicyOutcome) -> str:
    """The name of a policy in words."""
    return one.policy.replace("_", " ")


def policies(answer: Savings) -> Policies:
    """Every deadline policy on the plan's market.

    >>> from costkit import plan
    >>> found = policies(plan.savings(plan.read("case-50k", {"market.deadline_days": 21})))
    >>> found.best.policy in spot.POLICIES
    True
    """
    job = answer.job
    overhead_s = answer.restart_s + min(job.checkpoint_every_s, job.work_s) / 2
    deadline_s = answer.deadline_s or (1 + SLACK_FRACTION) * job.ideal_s + 2 * overhead_s
    if job.ideal_s < _FEWEST_CHANGES * overhead_s:
        why = (
            f"The run of {duration(job.ideal_s)} is shorter than {_FEWEST_CHANGES} changeovers of"
            f" {duration(overhead_s)}: there is nothing to decide on the way."
        )
        return Policies(answer, deadline_s, overhead_s, (), None, why)
    if answer.recorded is not None:
        return _on_record(answer, answer.recorded.trace, deadline_s, overhead_s)
    return _on_paths(answer, deadline_s, overhead_s)


def _on_record(answer: Savings, trace: spot.Trace, deadline_s: float, overhead_s: float) -> Policies:
    """On the recorded market, which has to hold the deadline."""
    windows = spot.independent_windows(trace, deadline_s)
    if windows < 1:
        why = (
            f"The record {trace.name} spans {duration(trace.duration_s)}, less than the deadline of"
            f" {duration(deadline_s)}: no policy can be tried on it."
        )
        return Policies(answer, deadline_s, overhead_s, (), windows, why)
    overhead_s = max(1, round(overhead_s / trace.step_s)) * trace.step_s
    return Policies(answer, deadline_s, overhead_s, _compared(answer, trace, deadline_s, overhead_s), windows)


def _on_paths(answer: Savings, deadline_s: float, overhead_s: float) -> Policies:
    """On paths drawn from the plan's market, drawn longer where one ends too soon."""
    up_s, down_s = answer.market.mean_life_s, answer.market.capacity_wait_s
    step_s = max(_LEAST_STEP_S, deadline_s / _MOST_STEPS)
    step_s = overhead_s / math.ceil(overhead_s / step_s) if overhead_s > step_s else step_s
    why = ""
    if math.isinf(up_s):
        why = "Nothing is ever taken away on this market: there is nothing to decide."
    elif up_s < overhead_s / _SHORTEST:
        why = (
            f"Machines are taken away every {duration(up_s)}, and a changeover takes {duration(overhead_s)}: no policy"
            " gains by them."
        )
    elif up_s < _SHORTEST * step_s:
        why = (
            f"A deadline of {duration(deadline_s)} is too long to be replayed in steps shorter than the"
            f" {duration(up_s)} between two preemptions."
        )
    if why:
        return Policies(answer, deadline_s, overhead_s, (), None, why)
    length_s = max(deadline_s, answer.job.ideal_s) * 1.1 + 10 * (overhead_s + down_s)
    if length_s > _LONGEST_STEPS * step_s:
        why = f"A run of {duration(answer.job.ideal_s)} is too long beside the deadline to be replayed step by step."
        return Policies(answer, deadline_s, overhead_s, (), None, why)
    for longer in (1, 2, 4, 8):
        try:
            paths = _paths(answer, step_s, longer * length_s)
            return Policies(answer, deadline_s, overhead_s, _compared(answer, paths, deadline_s, overhead_s), None)
        except spot.PathsTooShort:
            continue
    why = f"Waits of {duration(down_s)} on average are too long for these policies: most would wait past any date."
    return Policies(answer, deadline_s, overhead_s, (), None, why)


def _paths(answer: Savings, step_s: float, length_s: float) -> spot.Paths:
    law = answer.market.law

    def draw(rng: np.random.Generator, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        drawn = np.empty(n)
        law.draw(rng, drawn)
        return drawn

    return spot.random_paths(
        mean_up_s=answer.market.mean_life_s,
        mean_down_s=max(answer.market.capacity_wait_s, step_s),
        step_s=step_s,
        duration_s=length_s,
        n_paths=N_PATHS,
        rng=np.random.default_rng(SEED),
        draw_up=draw,
    )


def _compared(
    answer: Savings, market: spot.Trace | spot.Paths, deadline_s: float, overhead_s: float
) -> tuple[spot.PolicyOutcome, ...]:
    """Every policy; a deadline within a step would call late what is done in that step."""
    mixed = spot.compare(
        market,
        work_s=answer.job.ideal_s * _slowed(answer.on_demand) - overhead_s,
        overhead_s=overhead_s,
        deadline_s=math.floor(deadline_s / market.step_s * (1 + 1e-12)) * market.step_s,
        policies=MIXED,
        spot_usd_per_hour=answer.market.spot_usd_per_hour,
        on_demand_usd_per_hour=answer.market.on_demand_usd_per_hour,
        n_nodes=answer.recorded.watched if answer.recorded is not None else 1,
        n_regret=N_REGRET,
    )
    alone = {"on_demand": answer.on_demand, "spot_only": answer.outcomes}
    simulated = [_simulated(name, found, answer, deadline_s) for name, found in alone.items() if found is not None]
    told = [replace(one, saving_fraction=1 - one.mean_usd / answer.on_demand_usd) for one in mixed]
    return (*simulated, *told)


def _slowed(on_demand: spot.Outcomes) -> float:
    """How much longer hardware failures make a run on demand, on average."""
    return float(on_demand.elapsed_s.mean()) / on_demand.job.ideal_s


def _simulated(name: str, found: spot.Outcomes, answer: Savings, deadline_s: float) -> spot.PolicyOutcome:
    """Spot or on demand from start to end, as simulated."""
    late = found.late_fraction(deadline_s)
    span, mean = found.usd_range, float(found.usd.mean())
    return spot.PolicyOutcome(
        policy=name,
        n_runs=found.n_trials,
        mean_usd=mean,
        p5_usd=span.low,
        p50_usd=span.mid,
        p95_usd=span.high,
        saving_fraction=1 - mean / answer.on_demand_usd,
        mean_finish_s=float(found.wall_s.mean()),
        late_fraction=late,
        clearly_late_fraction=late,
        most_late_s=max(float(found.wall_s.max()) - deadline_s, 0.0),
        mean_preemptions=float(found.preemptions.mean()),
    )
