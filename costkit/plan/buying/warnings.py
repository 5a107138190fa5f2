"""What must a reader know before using the answer? What is odd about plan, market and files, and unused keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit import spot
from costkit.plan.buying.nodes import nodes
from costkit.plan.buying.prices import prices
from costkit.plan.buying.words import otherwise
from costkit.plan.reached import reached
from costkit.plan.schema import fields
from costkit.units import HOUR, MINUTE, duration, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.buying.answer import Savings

_SURE, _SHORT_S, _FEW = 0.5, 10 * MINUTE, 20


def warnings(answer: Savings) -> tuple[str, ...]:
    """What a reader must know before using the answer."""
    parts = (_about_files, _about_job, _about_market, _unused)
    return tuple(text for part in parts for is_so, text in part(answer) if is_so)


def _about_job(answer: Savings) -> list[tuple[bool, str]]:
    job, market, plan = answer.job, answer.market, answer.plan
    every, write, life = job.checkpoint_every_s, job.checkpoint_write_s, market.loss_life_s
    return [
        (
            not job.has_checkpoints and answer.finishes,
            f"No checkpoint is ever written: each interruption, one every {duration(life)}, costs all that was done.",
        ),
        (
            job.has_checkpoints and every > job.work_s,
            (
                f"The interval of {duration(every)} is longer than the run of {duration(job.work_s)}: only its end"
                " is saved."
            ),
        ),
        (
            job.has_checkpoints and write > every,
            f"Writing a checkpoint takes {duration(write)}, longer than the {duration(every)} between two of them.",
        ),
        (
            reached(plan).goodput.mid < 1,
            (
                f"The goodput of {percent(reached(plan).goodput.mid)} is not applied here: interruptions, restarts and"
                f" writing are counted one by one. The run would take {duration(job.work_s)} of computing alone."
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
    in_blocks = answer.outcomes is not None and answer.outcomes.n_blocks != 1
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
            answer.on_demand.unfinished_fraction > 0,
            (
                f"{percent(answer.on_demand.unfinished_fraction)} of the runs {otherwise(answer)} were given up too;"
                " what they had spent is in the mean."
            ),
        ),
        (
            asked.purchase.startswith("commit") and not asked.price_history and asked.spot_usd_per_gpu_hour is None,
            (
                f"The discount is taken off the price {otherwise(answer)}: spot costs"
                f" {usd(market.spot_usd_per_hour / answer.plan.hardware.n_gpus)} per GPU-hour here;"
                " market.spot_usd_per_gpu_hour gives it itself."
            ),
        ),
        (
            0 < unfinished < _SURE,
            (
                f"{percent(unfinished)} of the simulated runs were given up after {number(answer.give_up)} times the"
                " undisturbed time; what they had spent is in the mean."
            ),
        ),
        (
            market.fleet.burst_nodes == 1 and market.fleet.n_nodes > 1 and answer.recorded is None,
            (
                f"The {market.fleet.n_nodes:,} nodes are lost one by one here, the worst case: measured preemptions"
                " took several at once (market.burst_nodes)."
            ),
        ),
        (answer.recorded is None and asked.measured is None, _about_lives(answer)),
        (
            asked.purchase == "spot",
            (
                "market.purchase is spot: the plan's price is taken as the one on spot, and"
                f" {usd(market.on_demand_usd_per_hour / answer.plan.hardware.n_gpus)} per GPU-hour as that on demand."
            ),
        ),
        (
            market.fleet.is_elastic and market.law.name != "exponential" and in_blocks,
            "So many nodes together are lost as if each were memoryless, whatever the law of their lives.",
        ),
        (
            market.fleet.is_elastic,
            (
                "The nodes that are left are taken to hold the whole state, as copies of the model do; what is sharded"
                " over all nodes is lost with the first."
            ),
        ),
    ]


def _about_lives(answer: Savings) -> str:
    """How the plan's life of a node compares with what was measured in public."""
    lives = sorted(one.mean_life_s for one in spot.measured_markets() if one.is_of_gpus)
    own = answer.plan.market.node_life_h * HOUR
    span = f"{duration(lives[0])} to {duration(lives[-1])}"
    told = f"GPUs that were watched in public lived {span} a node, V100s mostly and from 2021 to 2023"
    if own > lives[-1]:
        return f"{told}: the plan's {duration(own)} is longer than any."
    return f"{told}; nobody has published those of newer ones."


def _unused(answer: Savings) -> list[tuple[bool, str]]:
    """Keys that are set and do nothing in this plan."""
    asked, training, hardware = answer.plan.market, answer.plan.training, answer.plan.hardware
    defaults = fields()
    default = defaults["training.checkpoint_gb_per_s"].default
    return [
        (
            asked.weibull_shape is not None and (asked.life_law != "weibull" or answer.recorded is not None),
            "market.weibull_shape is not used: the law of life times is another.",
        ),
        (
            asked.notice_reliability_fraction == 0 and asked.notice_s != defaults["market.notice_s"].default,
            "market.notice_s changes nothing: market.notice_reliability_fraction is 0, so nobody acts on notices.",
        ),
        (bool(asked.zone and not asked.price_history), "market.zone is not used: there is no market.price_history."),
        (
            answer.recorded is not None and asked.measured is not None,
            "market.measured is not used: the trace takes its place.",
        ),
        (
            asked.keeps_survivors and (answer.market.capacity_wait_s == 0 or answer.market.fleet.n_nodes == 1),
            "market.keeps_survivors changes nothing: new machines come at once, or there is one node only.",
        ),
        (
            training.checkpoint_write_min is not None and training.checkpoint_gb_per_s != default,
            "training.checkpoint_gb_per_s is not used: training.checkpoint_write_min says how long a write takes.",
        ),
        (
            asked.spot_usd_per_gpu_hour is not None and bool(asked.price_history),
            "market.spot_usd_per_gpu_hour is not used: the price history takes its place.",
        ),
        (
            hardware.n_gpus > asked.gpus_per_node and hardware.n_gpus % asked.gpus_per_node != 0,
            (
                f"{hardware.n_gpus:,} GPUs do not fill {answer.market.fleet.n_nodes:,} nodes of"
                f" {asked.gpus_per_node}: they are paid one by one here, machines are sold whole."
            ),
        ),
        (
            asked.egress_usd_per_gb is not None and asked.moved_fraction == 0,
            "market.egress_usd_per_gb changes nothing: market.moved_fraction is 0.",
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
        f"Lives and waits are those of {found.trace.name}, on average {duration(lives.mean_s or 0.0)} and"
        f" {duration(lives.mean_wait_s)}; market.measured, node_life_h, life_law and capacity_wait_min are not used."
        f" {fewer}"
    )
    few = lives.n_measured < _FEW
    doubt = f"Only {lives.n_measured} whole lives were recorded: the band does not know how little that tells."
    return [(few, doubt), (True, told.strip()), *notes]
