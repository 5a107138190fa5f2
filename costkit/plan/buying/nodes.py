"""How do the plan's nodes live? Its own numbers, a market that was measured, or a bucket that a provider publishes.

- Names of measured markets are those of `spot_traces.csv`; buckets are in their provider's unit, per month or hour.
- A bucket stands for its worst end. One without an upper end stands for no life at all, and is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from costkit import spot, tables
from costkit.plan.schema import Plan
from costkit.units import HOUR, MINUTE, duration, number


@dataclass(frozen=True)
class Nodes:
    """Mean life of one node, how many a preemption takes, the wait for new ones, and the shape of a Weibull law.

    `about` says whose numbers these are; empty: the plan's own. `weibull_shape` is None where nothing is known.
    """

    life_s: float
    burst_nodes: float
    wait_s: float
    weibull_shape: float | None
    about: str = ""


def nodes(plan: Plan, n_nodes: int) -> Nodes:
    """The nodes' lives as the plan has them.

    Raises `ValueError` of one sentence for a burst of more nodes than there are, or a bucket that tells no life.
    """
    name = plan.market.measured
    if name is None:
        return _own(plan, n_nodes)
    if name in spot.rate_buckets():
        return _of_bucket(plan, name, n_nodes)
    return _of_market(plan, spot.measured_market(name), n_nodes)


def _own(plan: Plan, n_nodes: int) -> Nodes:
    asked = plan.market
    if asked.burst_nodes > n_nodes:
        raise ValueError(
            f"market.burst_nodes is {asked.burst_nodes:g}, but {plan.hardware.n_gpus:,} GPUs with {asked.gpus_per_node}"
            f" to a node take {n_nodes:,}: write {n_nodes:,} or less"
        )
    return Nodes(asked.node_life_h * HOUR, asked.burst_nodes, asked.capacity_wait_min * MINUTE, asked.weibull_shape)


def _of_market(plan: Plan, market: spot.MeasuredMarket, n_nodes: int) -> Nodes:
    asked = plan.market
    burst = min(market.burst_nodes, float(n_nodes))
    wait_s = asked.capacity_wait_min * MINUTE if market.mean_wait_s is None else market.mean_wait_s
    used = (
        "node_life_h and burst_nodes"
        if market.mean_wait_s is None
        else "node_life_h, burst_nodes and capacity_wait_min"
    )
    life = "none was lost" if math.isinf(market.mean_life_s) else f"{duration(market.mean_life_s)} each"
    about = (
        f"Nodes live as in {market.name}, {market.note}: {life}, {number(burst)} lost at a time,"
        f" {duration(wait_s)} until new ones come; market.{used} are not used."
    )
    shape = market.weibull_shape if asked.weibull_shape is None else asked.weibull_shape
    return Nodes(market.mean_life_s, burst, wait_s, shape, about)


def _of_bucket(plan: Plan, name: str, n_nodes: int) -> Nodes:
    bucket = spot.rate_buckets()[name]
    life = spot.rate_range(*bucket)
    if life.shortest_s == 0:
        raise ValueError(
            f"market.measured is {name!r}, which has no upper end, so that no mean life follows from it: name a"
            " measured market, or give market.node_life_h and leave market.measured out"
        )
    own = _own(plan, n_nodes)
    doubt = " Zones that were measured lived hundreds of times shorter than AWS's buckets read."
    about = (
        f"{life.sentence} Its worst end is taken, from {tables.source(life.source).title}; market.node_life_h is not"
        f" used.{doubt if bucket[0] == 'aws' else ''}"
    )
    return Nodes(life.shortest_s, own.burst_nodes, own.wait_s, own.weibull_shape, about[0].upper() + about[1:])
