"""What does a plan ask of a market? Its job, its machines and its bill in the terms of `spot`.

- The job's work is the run at its MFU with nothing lost: losses come from the simulation, so the plan's goodput is not
  applied to it.
- A checkpoint holds weights, master weights and optimizer state of the whole model; of adapters, what is trained.
- A recorded market stands in for the law of life times, and for the waits.
- Notices cost nothing where nobody acts on them: the run works on until it is lost.
- The law of life times is that of the whole job where it stops at each loss, and of each node where it is elastic.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
from dataclasses import dataclass
from pathlib import Path

from costkit import memory, spot, training
from costkit.memory import parts
from costkit.plan.buying.changed import changed_ns
from costkit.plan.buying.nodes import Nodes, nodes
from costkit.plan.buying.prices import Prices, prices
from costkit.plan.fitting import request
from costkit.plan.kinds import PlanError
from costkit.plan.reached import n_active_params, reached, training_share
from costkit.plan.schema import Plan
from costkit.units import DAY, GB, MINUTE

FAILURES_OF, STORAGE, EGRESS = "llama-3-405b", "s3-standard", "egress-us-eu"
_KEPT = (parts.WEIGHTS, parts.MASTER, parts.STATE)
_KEPT_OF_ADAPTERS = (parts.GRADIENTS, parts.STATE)  # trained weights have no part of their own, and are as large


@dataclass(frozen=True)
class Recorded:
    """A recorded market as a job of `n_nodes` sees it; `watched` machines of it were told apart."""

    trace: spot.Trace
    watched: int
    lives: spot.Law


def n_nodes(plan: Plan) -> int:
    """Machines that the plan's GPUs fill, the last one perhaps in part."""
    return math.ceil(plan.hardware.n_gpus / plan.market.gpus_per_node)


def work_s(plan: Plan) -> float:
    """How long the run takes if nothing is lost."""
    run = training.run(
        flop=training_share(plan) * training.flop(n_params=n_active_params(plan), n_tokens=plan.data.n_tokens),
        gpu=plan.hardware.gpu,
        n_gpus=plan.hardware.n_gpus,
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        mfu=reached(plan).mfu.mid,
    )
    return run.wall_s.mid


def checkpoint_bytes(plan: Plan) -> float:
    """What is written to resume from, as the plan says or as its memory budget counts it.

    >>> from costkit import plan
    >>> round(checkpoint_bytes(plan.read("llama-2-7b")) / 1e9)
    81
    """
    if plan.training.checkpoint_gb is not None:
        return plan.training.checkpoint_gb * GB
    return _counted_bytes(request(plan))


@functools.lru_cache(maxsize=64)
def _counted_bytes(asked: memory.Request) -> float:
    alone = asked.with_changes(sharding=memory.Sharding()).details
    step = memory.budget(asked.architecture, micro_batch=1, seq_len=1, **alone).fullest.phase_parts["step"]
    return sum(step.get(part, 0.0) for part in (_KEPT if asked.adapters is None else _KEPT_OF_ADAPTERS))


def job(plan: Plan, *, n_bytes: float | None = None) -> spot.Job:
    """The plan's run and how it saves its state."""
    asked = plan.training
    size = checkpoint_bytes(plan) if n_bytes is None else n_bytes
    write_s = size / (asked.checkpoint_gb_per_s * GB)
    if asked.checkpoint_write_min is not None:
        write_s = asked.checkpoint_write_min * MINUTE
    return spot.Job(
        work_s=work_s(plan),
        checkpoint_every_s=asked.checkpoint_every_min * MINUTE,
        checkpoint_write_s=write_s,
        restart_s=asked.restart_min * MINUTE,
    )


def recorded(plan: Plan) -> Recorded | None:
    """The market that the plan's trace recorded, or None where it names none."""
    path = plan.path_of("market.trace")
    return None if path is None else _recorded(path, changed_ns(path), n_nodes(plan))


@functools.lru_cache(maxsize=8)
def _recorded(path: Path, _changed: int, nodes: int) -> Recorded:
    trace = spot.read_trace(path)
    if trace.capacity == 0:
        raise PlanError(
            f"market.trace: {trace.name} never has a machine: if 1 means that none could be had, turn its counts around"
        )
    watched = min(nodes, trace.capacity)
    found = spot.spells(trace, watched)
    whole = ~found.is_cut
    if not whole.any():
        raise PlanError(
            f"market.trace: {trace.name} holds no whole life of {watched:,} machines, from when they came to when they"
            " went: a longer record is needed"
        )
    prices = None if found.usd_per_hour is None else found.usd_per_hour[whole]
    return Recorded(
        trace,
        watched,
        spot.joint(found.up_s[whole], waits_s=found.down_s[whole[: len(found.down_s)]], usd_per_hour=prices),
    )


def market(plan: Plan, job: spot.Job, *, n_bytes: float) -> spot.Market:
    """The machines, as the whole job sees them.

    Raises `ValueError` of one sentence for values that can't be together.
    """
    asked, count, record = plan.market, n_nodes(plan), recorded(plan)
    found, priced = nodes(plan, count), prices(plan)
    life_s, process = _lives(plan, found, count, record)
    return spot.Market(
        mean_life_s=life_s,
        spot_usd_per_hour=priced.spot_usd_per_hour,
        on_demand_usd_per_hour=priced.on_demand_usd_per_hour,
        capacity_wait_s=found.wait_s if record is None else record.lives.mean_wait_s,
        notice_success=notice_success(plan, job),
        notice_s=asked.notice_s if asked.notice_reliability_fraction else 0.0,
        process=process,
        hardware_life_s=spot.hardware_life_s(
            failures_per_gpu_day=failures_per_gpu_day(plan), n_gpus=plan.hardware.n_gpus
        ),
        provision_s=asked.provision_min * MINUTE,
        fleet=spot.Fleet(
            n_nodes=count,
            burst_nodes=found.burst_nodes,
            is_elastic=asked.elastic,
            keeps_survivors=asked.keeps_survivors,
        ),
        billing=_billing(plan, n_bytes, priced),
    )


def _lives(plan: Plan, found: Nodes, count: int, record: Recorded | None) -> tuple[float, str | spot.Law]:
    """The job's mean life, and the law around it."""
    asked = plan.market
    if record is not None:
        others = count / record.watched
        burst = min(max(1.0, found.burst_nodes / record.watched), others)
        return spot.job_life_s(node_life_s=record.lives.mean_s or 0.0, n_nodes=others, burst_nodes=burst), record.lives
    process: str | spot.Law = asked.life_law
    if asked.life_law == "weibull" and found.weibull_shape is not None:
        process = spot.weibull(found.weibull_shape)
    if math.isinf(found.life_s):
        return math.inf, process
    return spot.job_life_s(node_life_s=found.life_s, n_nodes=count, burst_nodes=found.burst_nodes), process


def notice_success(plan: Plan, job: spot.Job) -> float:
    """The share of preemptions before which the state is saved: none where writing takes longer than the notice."""
    asked = plan.market
    return spot.notice_success(
        notice_s=asked.notice_s,
        write_s=job.checkpoint_write_s,
        latency_s=asked.notice_latency_s,
        reliability=asked.notice_reliability_fraction,
    )


def failures_per_gpu_day(plan: Plan) -> float:
    """The plan's rate of hardware failures, or that of Llama 3's run."""
    own = plan.market.failures_per_gpu_day
    return spot.failures_per_gpu_day(FAILURES_OF) if own is None else own


def storage_usd_per_gb_month(plan: Plan) -> float:
    """The plan's price of storage, or that of AWS."""
    own = plan.market.storage_usd_per_gb_month
    return (spot.storage_price(STORAGE).usd_per_gb_month or 0.0) if own is None else own


def egress_usd_per_gb(plan: Plan) -> float:
    """The plan's price of moving data to another region, or that of AWS."""
    own = plan.market.egress_usd_per_gb
    return (spot.storage_price(EGRESS).usd_per_gb or 0.0) if own is None else own


def _billing(plan: Plan, n_bytes: float, priced: Prices) -> spot.Billing:
    asked = plan.market
    return spot.Billing(
        first_hour_free=asked.first_hour_free,
        usd_per_hour=spot.storage_usd_per_hour(
            checkpoint_bytes=n_bytes,
            n_kept=asked.kept_checkpoints,
            usd_per_gb_month=storage_usd_per_gb_month(plan),
        ),
        usd_per_restart=spot.move_usd(
            checkpoint_bytes=n_bytes,
            usd_per_gb=egress_usd_per_gb(plan),
            moved_fraction=asked.moved_fraction,
        ),
        prices=priced.steps,
    )


def deadline_s(plan: Plan) -> float | None:
    """When the run must be done, from its start; None where nobody asks.

    >>> from costkit import plan
    >>> dated = plan.read("case-50k", {"market.starts_on": "2027-01-30", "market.ends_by": "2027-02-20"})
    >>> deadline_s(dated) == 21 * DAY
    True
    """
    asked = plan.market
    if asked.ends_by:
        return (dt.date.fromisoformat(asked.ends_by) - dt.date.fromisoformat(asked.starts_on)).days * DAY
    return None if asked.deadline_days is None else asked.deadline_days * DAY
