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


Change = tuple[str, str, Mapping[str, object]]


def _changes(answer: Savings) -> Iterator[Change]:
    """What is tried: name, explanation, and the keys of the plan."""
    case, market = answer.plan.case, answer.market
    if case.spot_lost_h:
        every_h = 2 * case.spot_lost_h
        why = f"saved every {number(every_h)} hours: an interruption costs {number(case.spot_lost_h)} on average"
        yield "losing what is told", why, {"training.checkpoint_every_min": every_h * HOUR / MINUTE}
    best = answer.best_interval_s
    if 0 < best < answer.job.work_s:
        yield "best interval", f"saved every {duration(best)}", {"training.checkpoint_every_min": best / MINUTE}
    if answer.recorded is not None or answer.plan.market.measured is not None:
        return
    nodes = market.fleet.n_nodes
    if nodes > 1 and answer.plan.market.burst_nodes == 1:
        burst = min(_measured_burst(), nodes)
        why = f"a preemption takes {number(burst)} nodes, as measured on four V100s"
        yield "in bursts", why, {"market.burst_nodes": burst}
    wait_s = _measured_wait_s()
    why = f"{duration(wait_s)} until new machines come, as measured on V100s"
    yield "a market that waits", why, {"market.capacity_wait_min": wait_s / MINUTE}
    if answer.plan.market.life_law != "weibull":
        yield "early losses", "Weibull lives as measured on V100s", {"market.life_law": "weibull"}
    if answer.plan.market.notice_reliability_fraction == 0:
        yield "notices acted on", "every notice tries to save", {"market.notice_reliability_fraction": 1.0}
    moves = answer.plan.market.price_history
    if nodes > 1 and not answer.plan.market.elastic and not moves:
        yield (
            "fewer nodes go on",
            "the run goes on with the nodes that are left",
            {"market.elastic": True, "market.keeps_survivors": False, "market.price_history": ""},
        )


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
