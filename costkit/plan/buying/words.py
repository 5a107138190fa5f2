"""How is the answer told? Its headline, key numbers, warnings and sentences; every number in them is computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from costkit import spot, tables
from costkit.plan.buying import setup
from costkit.plan.buying.nodes import nodes
from costkit.plan.buying.prices import prices
from costkit.units import DAY, GB, HOUR, MINUTE, Range, duration, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.buying.answer import Savings

PURCHASES = {
    "on_demand": "on demand",
    "spot": "on demand",
    "commit_1y": "reserved for a year",
    "commit_3y": "reserved for three years",
}
_RARE = 5e-5
_SURE, _SHORT_S = 0.5, 10 * MINUTE
_MOST_TOLD = 100


def otherwise(answer: Savings) -> str:
    """How else the machines would be bought, in words."""
    return PURCHASES[answer.plan.market.purchase]


def headline(answer: Savings) -> str:
    """What spot saves here, how sure that is, and when it finishes."""
    if not answer.finishes:
        return _never(answer)
    bill, saving = answer.usd, answer.saving_fraction.mid
    what = f"Spot saves {percent(saving)} here" if saving >= 0 else f"Spot costs {percent(-saving)} more here"
    other = answer.on_demand.wall_range_s
    return (
        f"{what}: {usd(bill.mid)} ({usd(bill.low)} to {usd(bill.high)}) instead of {usd(answer.on_demand_usd)}"
        f" {otherwise(answer)}, done after {duration(answer.wall_s.mid)} ({_span(answer.wall_s)}) instead of"
        f" {duration(other.mid)}{_late(answer)}; {_losing(answer)}."
    )


def _late(answer: Savings) -> str:
    late = answer.late_fraction
    if late is None or answer.deadline_s is None:
        return ""
    return f", past the deadline of {duration(answer.deadline_s)} {_chance(late, answer.n_trials)}"


def _losing(answer: Savings) -> str:
    return f"it costs more than {otherwise(answer)} {_chance(answer.losing_fraction, answer.n_trials)}"


def _chance(share: float, n_trials: int) -> str:
    """A probability as a share of the simulated runs, none and all told as such."""
    if share <= _RARE:
        return f"in none of {n_trials:,} simulated runs"
    if share >= 1 - _RARE:
        return f"in all of {n_trials:,} simulated runs"
    return f"in {percent(share)} of {n_trials:,} simulated runs"


def _never(answer: Savings) -> str:
    life, segment = answer.market.loss_life_s, answer.job.segment_s
    if not answer.job.has_checkpoints:
        clean = answer.market.law.survival(segment / answer.market.mean_life_s)
        chance = f"the chance of that is {_percent_small(clean)}"
        return (
            f"Without checkpoints this run practically never finishes on spot: it needs {duration(segment)} without a"
            f" loss, one comes every {duration(life)}, and {chance}."
        )
    return (
        f"On this market the run practically never finishes: losses come every {duration(life)}, and to save any work"
        f" {duration(answer.restart_s)} of restart and {duration(segment)} of work and writing must pass without one."
    )


def _percent_small(share: float) -> str:
    return "below 1 in a billion" if share < 1e-9 else f"{number(100 * share)}%"


def _span(value: Range) -> str:
    """Low to high in the unit of the middle."""
    unit, name = (DAY, "days") if value.mid >= 2 * DAY else (HOUR, "hours")
    high = "never" if math.isinf(value.high) else number(value.high / unit)
    return f"{number(value.low / unit)} to {high} {name}"


def facts(answer: Savings) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text)."""
    market, outcomes = answer.market, answer.outcomes
    found = [
        ("Spot", _dollars(answer)),
        (otherwise(answer).capitalize(), usd(answer.on_demand_usd)),
        ("Finish", _finish(answer)),
        (
            "Losses",
            ""
            if outcomes is None
            else f"{number(float(outcomes.preemptions.mean()))}, one every {duration(market.loss_life_s)}",
        ),
        ("Price an hour", f"{usd(market.spot_usd_per_hour)} of {usd(market.on_demand_usd_per_hour)}"),
        ("Best interval", _best(answer)),
        ("Checkpoint", f"{number(answer.n_bytes / GB)} GB, {duration(answer.job.checkpoint_write_s)} to write"),
        ("Late", "" if answer.late_fraction is None else percent(answer.late_fraction)),
    ]
    return tuple((label, text) for label, text in found if text)


def _dollars(answer: Savings) -> str:
    return (
        f"{usd(answer.usd.mid)} ({usd(answer.usd.low)} to {usd(answer.usd.high)})" if answer.finishes else "never done"
    )


def _finish(answer: Savings) -> str:
    return f"{duration(answer.wall_s.mid)} ({_span(answer.wall_s)})" if answer.finishes else "practically never"


def _best(answer: Savings) -> str:
    best = answer.best_interval_s
    if math.isinf(best):
        return "none needed"
    known = "" if answer.market.is_memoryless else " for lives without a past"
    return f"{duration(best)}{known}, here {interval(answer)}"


def interval(answer: Savings) -> str:
    """The plan's own checkpoint interval."""
    return duration(answer.job.checkpoint_every_s) if answer.job.has_checkpoints else "never saved"


def warnings(answer: Savings) -> tuple[str, ...]:
    """What a reader must know before using the answer."""
    parts = (_about_job, _about_market, _about_files, _unused)
    return tuple(text for part in parts for is_so, text in part(answer) if is_so)


def _about_job(answer: Savings) -> list[tuple[bool, str]]:
    job, market, plan = answer.job, answer.market, answer.plan
    every, write, life = job.checkpoint_every_s, job.checkpoint_write_s, market.loss_life_s
    return [
        (
            not job.has_checkpoints and answer.finishes,
            f"No checkpoint is ever written: each of the losses, one every {duration(life)}, costs all that was done.",
        ),
        (
            job.has_checkpoints and every > job.work_s,
            (
                f"A checkpoint every {duration(every)} is longer than the run of {duration(job.work_s)}: only its end"
                " is saved."
            ),
        ),
        (
            job.has_checkpoints and write > every,
            f"Writing a checkpoint takes {duration(write)}, longer than the {duration(every)} between two of them.",
        ),
        (
            plan.training.goodput_fraction < 1,
            (
                "training.goodput_fraction is not applied here: losses, restarts and writing are counted one by one."
                f" The run would take {duration(job.work_s)} if nothing were lost."
            ),
        ),
        (
            plan.market.notice_reliability_fraction > 0 and market.notice_success == 0,
            (
                f"A checkpoint takes {duration(write)} to write, and the notice is {duration(market.notice_s)}: notices"
                " save nothing."
            ),
        ),
    ]


def _about_market(answer: Savings) -> list[tuple[bool, str]]:
    market, asked = answer.market, answer.plan.market
    unfinished = 0.0 if answer.outcomes is None else answer.outcomes.unfinished_fraction
    return [
        (
            market.price_ratio > 1,
            (
                f"Spot is dearer than {otherwise(answer)} here: {usd(market.spot_usd_per_hour)} an hour against"
                f" {usd(market.on_demand_usd_per_hour)}."
            ),
        ),
        (market.price_ratio == 1, f"Spot costs as much as {otherwise(answer)} here: it can only lose."),
        (
            market.mean_life_s < _SHORT_S,
            (
                f"A mean life of {duration(market.mean_life_s)} for the whole job is shorter than any that was"
                " measured: is the unit right?"
            ),
        ),
        (
            0 < unfinished < _SURE,
            (
                f"{percent(unfinished)} of the simulated runs were given up after {number(answer.give_up)} times the"
                " undisturbed time."
            ),
        ),
        (
            market.fleet.burst_nodes == 1 and market.fleet.n_nodes > 1 and answer.recorded is None,
            (
                f"The {market.fleet.n_nodes:,} nodes are lost one by one here, the worst case: measured losses took"
                " several at once (market.burst_nodes)."
            ),
        ),
        (
            answer.recorded is None and asked.measured is None,
            (
                "Public measurements of spot lives are of 2021 to 2023 and mostly of V100s; nobody has published those"
                " of newer GPUs."
            ),
        ),
    ]


def _unused(answer: Savings) -> list[tuple[bool, str]]:
    """Keys that are set and do nothing in this plan."""
    asked = answer.plan.market
    return [
        (
            asked.weibull_shape is not None and (asked.life_law != "weibull" or answer.recorded is not None),
            "market.weibull_shape is not used: the law of life times is another.",
        ),
        (bool(asked.zone and not asked.price_history), "market.zone is not used: there is no market.price_history."),
        (
            answer.recorded is not None and asked.measured is not None,
            "market.measured is not used: the trace takes its place.",
        ),
        (
            asked.keeps_survivors and answer.market.capacity_wait_s == 0,
            "market.keeps_survivors changes nothing: new machines come at once.",
        ),
    ]


def _about_files(answer: Savings) -> list[tuple[bool, str]]:
    found, about = answer.recorded, nodes(answer.plan, answer.market.fleet.n_nodes).about
    notes = [(True, text) for text in prices(answer.plan).warnings]
    notes += [] if found is None else [(True, text) for text in found.trace.warnings]
    if found is None:
        return [(bool(about), about), *notes]
    count, lives = answer.market.fleet.n_nodes, found.lives
    fewer = (
        f"It watched {found.watched:,} of the {count:,} nodes: the rest is taken to be lost independently."
        if found.watched < count
        else ""
    )
    told = (
        f"Lives and waits are those of {found.trace.name}, on average {duration(lives.mean_s)} and"
        f" {duration(lives.mean_wait_s)}; market.measured, node_life_h, life_law and capacity_wait_min are not used."
        f" {fewer}"
    )
    return [(True, told.strip()), *notes]


def derived(answer: Savings) -> list[tuple[str, str, str]]:
    """(what, value, where from) of what follows from the plan's inputs, and of what tables give where it is silent."""
    job, market, asked = answer.job, answer.market, answer.plan.market
    own, counted = "this plan", "counted from the model"
    rate = setup.failures_per_gpu_day(answer.plan)
    storage, egress = setup.storage_usd_per_gb_month(answer.plan), setup.egress_usd_per_gb(answer.plan)
    failures = spot.hardware_failures()[setup.FAILURES_OF]
    size = counted if answer.plan.training.checkpoint_gb is None else own
    return [
        ("Undisturbed time", duration(job.work_s), "6ND over MFU, peak and GPUs; goodput not applied"),
        ("Nodes", f"{market.fleet.n_nodes:,}", "GPUs over those of a node"),
        ("Mean life of the whole job", duration(market.mean_life_s), "life of a node x nodes lost at once / nodes"),
        (
            "Hardware failures",
            f"{number(1000 * rate)} per 1,000 GPU-days, one every {duration(market.hardware_life_s)} of the job",
            own
            if asked.failures_per_gpu_day is not None
            else f"{failures.run}, {tables.source(failures.source).title}",
        ),
        ("Checkpoint", f"{number(answer.n_bytes / GB)} GB", size),
        ("Writing one", duration(job.checkpoint_write_s), "size over rate, or this plan"),
        ("Restart", duration(answer.restart_s), "provisioning and restart"),
        (
            "Preemptions that are saved on notice",
            percent(market.notice_success),
            "notices acted on in which a write fits",
        ),
        ("Saved on demand", every(answer.on_demand.job), "the best interval for hardware failures"),
        ("Storage", f"${number(storage)} per GB and month", _priced(asked.storage_usd_per_gb_month, setup.STORAGE)),
        ("Moving data", f"${number(egress)} per GB", _priced(asked.egress_usd_per_gb, setup.EGRESS)),
    ]


def _priced(own: float | None, name: str) -> str:
    """Where a price is from: the plan, or a row of the table with its date."""
    row = spot.storage_price(name)
    return "this plan" if own is not None else f"{tables.source(row.source).title}, {row.as_of}"


def every(job: spot.Job) -> str:
    """How often a job is saved."""
    return f"every {duration(job.checkpoint_every_s)}" if job.has_checkpoints else "never"


def where_it_goes(answer: Savings) -> str:
    """The shares of the mean bill, the largest first."""
    parts = answer.parts_usd()
    if not parts:
        return "No simulated run got to the end, so there is no bill to take apart."
    whole = sum(parts.values())
    useful = parts["useful work"] / whole
    rest = sorted(
        ((name, amount) for name, amount in parts.items() if name != "useful work"), key=lambda one: -abs(one[1])
    )
    told = ", ".join(f"{name} {percent(amount / whole)}" for name, amount in rest[:3] if abs(amount) > 5e-4 * whole)
    return f"Of a dollar on spot {percent(useful)} buys useful work" + (f"; the rest: {told}." if told else ".")


def how_often_to_save(answer: Savings) -> str:
    """The best interval, its flat zone, and what the plan's own costs on top."""
    best, zone, own = answer.best_interval_s, answer.flat_zone, answer.job
    if math.isinf(best):
        return "Every loss saves its state on notice, or none comes: periodic checkpoints buy nothing."
    if best == 0:
        return "Writing takes no time at all: the more often, the better."
    flat = f"from {duration(zone.low_s)} to {duration(zone.high_s)} costs at most 1% more time"
    told = f"Saving every {duration(best)} is best; {flat}"
    if not answer.market.is_memoryless:
        return f"For lives that know no past and a run that stops, {told[0].lower()}{told[1:]}. {_swept(answer)}"
    if not own.has_checkpoints:
        return f"{told}; this plan never saves."
    loss = interval_loss(answer, own.checkpoint_every_s)
    return f"{told}. This plan saves every {duration(own.checkpoint_every_s)}, which costs {_loss(loss)}."


def _swept(answer: Savings) -> str:
    """Which of the intervals that were simulated on the plan's own market is the cheapest."""
    if not answer.swept:
        return "On this market none of the intervals that were simulated lets every run finish."
    every, cost = min(answer.swept, key=lambda one: one[1])
    return (
        f"On this market, of {len(answer.swept)} intervals that were simulated, {duration(every)} is the cheapest, with"
        f" {usd(cost)}."
    )


def _loss(loss: float) -> str:
    if loss < 1e-4:
        return "nothing more"
    return f"{percent(loss)} more time" if loss < _MOST_TOLD else "many times as long"


def interval_loss(answer: Savings, interval_s: float) -> float:
    """How much more time an interval takes than the best one, as a share."""
    own, best = (
        float(
            spot.overhead(
                every,
                mean_life_s=answer.market.loss_life_s,
                checkpoint_write_s=answer.job.checkpoint_write_s,
                notice_success=answer.kept_notices,
            )
        )
        for every in (interval_s, answer.best_interval_s)
    )
    return own / best - 1


def where_it_pays(answer: Savings) -> str:
    """From which mean life on spot is cheaper at the plan's price, and how far the plan is from there."""
    ratio, life = answer.market.price_ratio, answer.market.loss_life_s
    if ratio >= 1:
        return f"At {percent(ratio)} of the price {otherwise(answer)}, spot is cheaper on no market."
    least = spot.break_even_life_s(
        price_ratio=ratio, checkpoint_write_s=answer.job.checkpoint_write_s, restart_s=answer.restart_s
    )
    price = f"At {percent(ratio)} of the price {otherwise(answer)}"
    told = f"{price}, spot saves money from a mean life of {duration(least)} on"
    if math.isinf(life):
        return f"{told}; this job is never interrupted."
    times = life / least if least else math.inf
    where = f"{number(times)} times that" if times >= 1 else "too short"
    return f"{told}; the job's {duration(life)} is {where}. What suffers first is the finish, not the bill."
