"""How is the answer told? Its headline, key numbers, warnings and sentences; every number in them is computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from costkit import spot
from costkit.units import GB, Range, duration, duration_range, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.buying.answer import Savings

PURCHASES = {
    "on_demand": "on demand",
    "spot": "on demand",
    "commit_1y": "reserved for a year",
    "commit_3y": "reserved for three years",
}
_MOST_TOLD, _MOSTLY, _NEARLY = 100, 0.5, 0.995
FLAT, LEAST_SHARE = 0.01, 0.001
MEMORYLESS = "For memoryless lives and a run that stops at each interruption"


def otherwise(answer: Savings) -> str:
    """How else the machines would be bought, in words."""
    return PURCHASES[answer.plan.market.purchase]


def headline(answer: Savings) -> str:
    """What spot saves here, how sure that is, and when it finishes."""
    if not answer.finishes:
        return _never(answer)
    bill, saving = answer.usd, answer.saving_fraction.mid
    what = f"Spot saves {percent(saving)} here" if saving >= 0 else f"Spot costs {percent(-saving)} more here"
    return (
        f"{what}: {usd(bill.mid)} on average ({_dollar_span(bill)}) instead of {usd(answer.on_demand_usd)}"
        f" {otherwise(answer)}, done after {duration(answer.wall_s.mid)} ({duration_range(answer.wall_s)}) instead of"
        f" {duration(answer.on_demand.wall_range_s.mid)}; {_risks(answer)}."
    )


def _risks(answer: Savings) -> str:
    """How many of the simulated runs are late or cost more than the other way."""
    late, deadline_s, n_trials = answer.late_fraction, answer.deadline_s, f"{answer.n_trials:,}"
    dearer = f"{_some(answer.losing_fraction, 'is', 'are', of=f' of {n_trials} simulated runs')} dearer"
    if late is None or deadline_s is None:
        return dearer
    if answer.on_demand.late_fraction(deadline_s) >= _MOSTLY:
        return f"{otherwise(answer)} too it misses the deadline of {duration(deadline_s)}; {dearer}"
    missed = f"{_some(late, 'misses', 'miss')} the deadline of {duration(deadline_s)}"
    return f"of {n_trials} simulated runs {missed}, {_some(answer.losing_fraction, 'is', 'are')} dearer"


def _dollar_span(bill: Range) -> str:
    """The ends of the bill; no end where so many runs are never done."""
    return f"{usd(bill.low)} to {'no end' if math.isinf(bill.high) else usd(bill.high)}"


def _some(share: float, one: str, many: str, *, of: str = "") -> str:
    """Who does something, of all simulated runs: none does, all do, nearly all, or a share of them."""
    if share == 0:
        return f"none{of} {one}"
    if share >= _NEARLY:
        return f"{'all' if share == 1 else 'nearly all'}{of} {many}"
    return f"{percent(share)}{of} {many}"


def _never(answer: Savings) -> str:
    life, segment = answer.market.loss_life_s, answer.job.segment_s
    if not answer.job.has_checkpoints:
        clean = answer.market.law.survival(segment / answer.market.mean_life_s)
        chance = f"the chance of that is {_percent_small(clean)}"
        return (
            f"Without checkpoints this run practically never finishes on spot: it needs {duration(segment)} without an"
            f" interruption, one comes every {duration(life)}, and {chance}."
        )
    if answer.market.fleet.is_elastic:
        return (
            f"On this market the run practically never finishes: nodes are lost every {duration(life)} and come back as"
            f" often, and each time it regroups for {duration(answer.restart_s)}."
        )
    return (
        f"On this market the run practically never finishes: it is interrupted every {duration(life)}, and to save work"
        f" {duration(answer.restart_s)} of restart and {duration(segment)} of work and writing must pass without one."
    )


def _percent_small(share: float) -> str:
    return "below 1 in a billion" if share < 1e-9 else f"{number(100 * share)}%"


def facts(answer: Savings) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text)."""
    market, late = answer.market, answer.late_fraction
    found = [
        ("Spot, mean (5% to 95%)", _dollars(answer)),
        ("Not on spot", f"{usd(answer.on_demand_usd)} {otherwise(answer)}"),
        ("Done after (5% to 95%)", _finish(answer)),
        ("Interruptions", _interruptions(answer)),
        ("Price an hour", f"{usd(market.spot_usd_per_hour)} on spot, {usd(market.on_demand_usd_per_hour)} if not"),
        ("Best interval", _best(answer)),
        ("Checkpoint", f"{number(answer.n_bytes / GB)} GB, {duration(answer.job.checkpoint_write_s)} to write"),
        ("Late", "" if late is None else f"in {percent(late)} of the runs"),
    ]
    return tuple((label, text) for label, text in found if text)


def _interruptions(answer: Savings) -> str:
    """How often a run loses its machines; nothing where no run was simulated."""
    life = answer.market.loss_life_s
    if answer.outcomes is None:
        return f"one every {duration(life)}"
    count = float(answer.outcomes.losses.mean())
    return "none" if math.isinf(life) else f"{number(count)}, one every {duration(life)}"


def _dollars(answer: Savings) -> str:
    return f"{usd(answer.usd.mid)} ({_dollar_span(answer.usd)})" if answer.finishes else "never done"


def _finish(answer: Savings) -> str:
    if not answer.finishes:
        return "practically never"
    return f"{duration(answer.wall_s.mid)} ({duration_range(answer.wall_s)})"


def _best(answer: Savings) -> str:
    best = answer.best_interval_s
    if math.isinf(best):
        return "none needed"
    if not answer.market.has_best_interval:
        return f"unknown here, {duration(best)} for memoryless lives and a run that stops; now {interval(answer)}"
    return f"{duration(best)}, now {interval(answer)}"


def interval(answer: Savings) -> str:
    """The plan's own checkpoint interval."""
    return duration(answer.job.checkpoint_every_s) if answer.job.has_checkpoints else "never saved"


def share(part: float) -> str:
    """A share of the bill, none too small to be read."""
    return percent(part) if abs(part) >= LEAST_SHARE else f"below {percent(LEAST_SHARE)}"


def where_it_goes(answer: Savings) -> str:
    """The shares of the mean bill, the largest first."""
    parts = answer.parts_usd()
    if not parts:
        return "No simulated run got to the end, so there is no bill to take apart."
    whole = sum(parts.values())
    rest = sorted(parts.items(), key=lambda one: -abs(one[1]))
    others = [f"{name} {share(amount / whole)}" for name, amount in rest if name != "useful work"]
    told = [text for text in others if not text.endswith(f"below {percent(LEAST_SHARE)}")][:3]
    useful = f"Of a dollar on spot {percent(parts['useful work'] / whole)} buys useful work"
    return f"{useful}; most of the rest: {', '.join(told)}." if told else f"{useful}."


def how_often_to_save(answer: Savings) -> str:
    """The best interval, its flat zone, and what the plan's own costs on top."""
    best, own = answer.best_interval_s, answer.job
    if math.isinf(best):
        return "Every interruption saves its state on notice, or none comes: periodic checkpoints buy nothing."
    if best == 0:
        return "Writing takes no time at all: the more often, the better."
    if best >= own.work_s:
        told = (
            f"The run of {duration(own.work_s)} is shorter than the best interval, {duration(best)}: saving its end is"
            " enough"
        )
    else:
        told = f"Saving every {duration(best)} is best; {_flat(answer)} costs at most {percent(FLAT)} more time"
    if not answer.market.has_best_interval:
        return f"{MEMORYLESS}: {told[0].lower()}{told[1:]}. {_swept(answer)}"
    if not own.has_checkpoints:
        return f"{told}; this plan never saves."
    loss = interval_loss(answer, own.checkpoint_every_s)
    return f"{told}. This plan saves every {duration(own.checkpoint_every_s)}, which costs {_loss(loss)}."


def _flat(answer: Savings) -> str:
    """The intervals within 1% of the least time, in words."""
    zone = answer.flat_zone
    if math.isinf(zone.high_s):
        return f"anything from {duration(zone.low_s)} on"
    return f"from {duration(zone.low_s)} to {duration(zone.high_s)}"


def _swept(answer: Savings) -> str:
    """Which of the intervals that were simulated on the plan's own market cost about the least."""
    if not answer.swept:
        return "On this market none of the intervals that were simulated lets every run finish."
    least = min(cost for _, cost in answer.swept)
    return (
        f"On this market, of {len(answer.swept)} simulated intervals, {cheapest_swept(answer)} cost the least, within"
        f" {percent(FLAT)} of {usd(least)}."
    )


def cheapest_swept(answer: Savings) -> str:
    """Between which of the simulated intervals the bill is about the least."""
    least = min(cost for _, cost in answer.swept)
    flat = [every for every, cost in answer.swept if cost <= (1 + FLAT) * least]
    return f"{duration(flat[0])} to {duration(flat[-1])}" if len(flat) > 1 else duration(flat[0])


def _loss(loss: float) -> str:
    if loss < 1e-4:
        return "nothing more"
    return f"{percent(loss)} more time" if loss < _MOST_TOLD else "many times as long"


def interval_loss(answer: Savings, interval_s: float) -> float:
    """How much more time an interval takes than the best one, as a share."""
    return max(answer.expected_s(interval_s) / answer.expected_s(answer.best_interval_s) - 1, 0.0)


def break_even_life_s(answer: Savings) -> float:
    """From which mean life on spot is the cheaper, saved at the best interval."""
    return spot.break_even_life_s(
        price_ratio=answer.market.price_ratio,
        checkpoint_write_s=answer.job.checkpoint_write_s,
        restart_s=answer.restart_s,
        notice_success=answer.kept_notices,
    )


def where_it_pays(answer: Savings) -> str:
    """From which mean life on spot is cheaper at the plan's price, and how far the plan is from there."""
    ratio, life = answer.market.price_ratio, answer.market.loss_life_s
    if ratio >= 1:
        return f"At {percent(ratio)} of the price {otherwise(answer)}, spot is cheaper on no market."
    least = break_even_life_s(answer)
    opening = "Saved at the best interval" if answer.market.has_best_interval else MEMORYLESS
    told = (
        f"{opening} and at {percent(ratio)} of the price {otherwise(answer)}, spot is cheaper from a mean life of"
        f" {duration(least)} on"
    )
    if math.isinf(life):
        return f"{told}; this job is never interrupted."
    times = life / least if least else math.inf
    if times < 1:
        return f"{told}; the job's {duration(life)} is too short."
    there = f"{told}; the job's {duration(life)} is {number(times)} times that"
    if answer.market.has_best_interval and (not answer.finishes or answer.saving_fraction.mid < 0):
        return f"{there}, but saved as in this plan ({interval(answer)}) it is not cheaper."
    return f"{there}. The finish suffers before the bill does."
