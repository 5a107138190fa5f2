"""What if the market were another? The case as it was told, recomputed, and with one thing at a time changed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from costkit import spot
from costkit.plan.buying.answer import Savings, savings
from costkit.plan.files import replace
from costkit.units import HOUR, MINUTE, Range, duration, number


@dataclass(frozen=True)
class Scenario:
    """One way to see the run on spot: what is different, its bill, its finish, and how often it loses its machines."""

    name: str
    about: str
    usd: Range
    wall_s: Range
    losses: float
    saving_fraction: float


def scenarios(answer: Savings) -> list[Scenario]:
    """The case as it was told, the plan as it stands, and the plan on other markets; each changes the plan alone."""
    told = _told(answer)
    own = _seen("this plan", f"saved every {duration(answer.job.checkpoint_every_s)}", answer)
    return [*([] if told is None else [told]), own, *(_changed(answer, *one) for one in _changes(answer))]


def _told(answer: Savings) -> Scenario | None:
    """The arithmetic of the case: so many restarts, each of which costs so many hours of the whole run."""
    case, job = answer.plan.case, answer.job
    if case.spot_restarts is None or case.spot_lost_h is None:
        return None
    lost_s = case.spot_restarts * case.spot_lost_h * HOUR
    usd = (job.work_s + lost_s) / HOUR * answer.market.spot_usd_per_hour
    plain = job.work_s / HOUR * answer.market.on_demand_usd_per_hour
    about = f"{case.spot_restarts} restarts that lose {number(case.spot_lost_h)} hours each, nothing else"
    time_s = job.work_s + lost_s
    return Scenario("as it is told", about, _exactly(usd), _exactly(time_s), case.spot_restarts, 1 - usd / plain)


def _exactly(value: float) -> Range:
    return Range(value, value, value)


_SHORTEST_S = 1.0
Change = tuple[str, str, Mapping[str, object]]


def _changes(answer: Savings) -> Iterator[Change]:
    """What is tried: name, explanation, and the keys of the plan."""
    yield from _intervals(answer)
    if answer.recorded is None and answer.plan.market.measured is None:
        yield from _markets(answer)


def _intervals(answer: Savings) -> Iterator[Change]:
    """Other ways to save: what the case tells, and the best one."""
    lost_h, best = answer.plan.case.spot_lost_h, answer.best_interval_s
    if lost_h:
        why = f"saved every {number(2 * lost_h)} hours: an interruption costs {number(lost_h)} on average"
        yield "losing what is told", why, {"training.checkpoint_every_min": 2 * lost_h * HOUR / MINUTE}
    if _SHORTEST_S <= best < answer.job.work_s:
        yield "best interval", f"saved every {duration(best)}", {"training.checkpoint_every_min": best / MINUTE}


def _markets(answer: Savings) -> Iterator[Change]:
    """Markets as they were measured, one thing at a time, and what a run can do about them."""
    asked, nodes = answer.plan.market, answer.market.fleet.n_nodes
    for which, life_s in _measured_lives_s():
        why = f"nodes live {duration(life_s)}, the {which} of what was measured on V100s"
        yield f"{which} lives", why, {"market.node_life_h": life_s / HOUR}
    wait_s, burst = _measured_wait_s(), min(_measured_burst(), float(nodes))
    why = f"{duration(wait_s)} until new machines come, as measured on V100s"
    yield "a market that waits", why, {"market.capacity_wait_min": wait_s / MINUTE}
    if nodes > 1 and asked.burst_nodes == 1:
        why = f"a preemption takes {number(burst)} nodes, as measured on four V100s"
        yield "in bursts", why, {"market.burst_nodes": burst}
    if asked.life_law != "weibull":
        yield "early losses", "Weibull lives as measured on V100s", {"market.life_law": "weibull"}
    if asked.notice_reliability_fraction == 0:
        yield "notices acted on", "every notice tries to save", {"market.notice_reliability_fraction": 1.0}
    if nodes > 1 and not asked.elastic and not asked.price_history:
        shrinking = {"market.elastic": True, "market.keeps_survivors": False}
        yield "fewer nodes go on", "the run goes on with the nodes that are left", shrinking


def _measured_lives_s() -> list[tuple[str, float]]:
    """The shortest, the middle and the longest mean life of a node in zones of V100s that were watched."""
    lives = sorted(one.mean_life_s for one in spot.measured_markets() if one.gpu.startswith("V100"))
    return [("longest", lives[-1]), ("middle", statistics.median(lives)), ("shortest", lives[0])]


def _measured_burst() -> float:
    """How many of four nodes a preemption took, the middle of what was measured."""
    return statistics.median(one.burst_nodes for one in spot.measured_markets() if one.nodes == 4)


def _measured_wait_s() -> float:
    """How long V100s were gone, the middle of the zones."""
    waits = (one.mean_wait_s for one in spot.measured_markets() if one.gpu.startswith("V100"))
    return statistics.median(wait for wait in waits if wait)


def _changed(answer: Savings, name: str, about: str, keys: Mapping[str, object]) -> Scenario:
    return _seen(name, about, savings(replace(answer.plan, dict(keys))))


def _seen(name: str, about: str, answer: Savings) -> Scenario:
    losses = 0.0 if answer.outcomes is None else float(answer.outcomes.losses.mean())
    return Scenario(name, about, answer.usd, answer.wall_s, losses, answer.saving_fraction.mid)
