"""Does spot save what they say? Printed prices, lost hours, intervals and failure rates, recomputed."""

from __future__ import annotations

import math
from collections.abc import Callable

from costkit import spot
from costkit.claims.inputs import Inputs, Kinds, kinds
from costkit.claims.judging import checked
from costkit.claims.result import Checked
from costkit.claims.rows import rows_of
from costkit.units import DAY, HOUR, MINUTE

_HOURS_A_DAY = DAY / HOUR


def spot_checks() -> list[Checked]:
    """Printed figures about interruptible machines, recomputed by this package.

    >>> [check.id for check in spot_checks() if check.verdict == "wrong"]
    ['llama-3-share-gpu', 'spot-share']
    """
    return [checked(row, KINDS) for row in rows_of("spot")]


def _run_usd(given: Inputs, price: float) -> float:
    """GPUs times hours times the price of one for an hour."""
    return given.number("n_gpus") * given.number("days") * _HOURS_A_DAY * price


def _saving_usd(given: Inputs) -> float:
    return _run_usd(given, given.number("on_demand_usd_per_gpu_hour")) - _run_usd(
        given, given.number("usd_per_gpu_hour")
    )


def _saved_fraction(given: Inputs) -> float:
    return 1 - given.number("usd_per_gpu_hour") / given.number("on_demand_usd_per_gpu_hour")


def _restart_usd(given: Inputs) -> float:
    lost_h = given.number("n_restarts") * given.number("restart_h")
    return given.number("n_gpus") * lost_h * given.number("usd_per_gpu_hour")


def _without_checkpoint_h(given: Inputs) -> float:
    """A run of one segment: M (e^(S / M) - 1), times a factor of the source's own."""
    rate, work_h, factor = _rate(given), given.number("work_h"), given.number("time_factor", 1.0)
    if rate == 0:
        return factor * work_h
    losses = spot.mean_losses(segment_s=work_h * HOUR, mean_life_s=HOUR / rate)
    return factor * float(losses) / rate


def _rate(given: Inputs) -> float:
    """Interruptions an hour, none or more."""
    rate = given.number("interruptions_per_hour")
    if rate < 0:
        raise ValueError(f"Claim '{given.word('id')}' needs interruptions_per_hour of 0 or more, not {rate:g}.")
    return rate


def _clean_run_percent(given: Inputs) -> float:
    return 100 * math.exp(-_rate(given) * given.number("work_h"))


def _fallback_usd(given: Inputs) -> float:
    """All hours on spot, and the lost ones once more on demand."""
    on_spot = given.number("work_h") * given.number("usd_per_gpu_hour")
    return on_spot + given.number("lost_h") * given.number("on_demand_usd_per_gpu_hour")


def _fallback_saving_percent(given: Inputs) -> float:
    on_demand = given.number("work_h") * given.number("on_demand_usd_per_gpu_hour")
    return 100 * (1 - _fallback_usd(given) / on_demand)


def _daly_minutes(given: Inputs) -> float:
    interval_s = spot.daly_interval_s(
        mean_life_s=given.number("mean_life_h") * HOUR, checkpoint_write_s=given.number("checkpoint_write_s")
    )
    return interval_s / MINUTE


def _gpu_life_h(given: Inputs) -> float:
    return _HOURS_A_DAY * given.number("days") * given.number("n_gpus") / given.number("n_failures")


def _job_life_h(given: Inputs) -> float:
    """1,000 node-days over the failures in them, shared by the nodes of the job."""
    node_life_s = 1000 * DAY / given.number("failures_per_1000_node_days")
    n_nodes = given.number("n_gpus") / given.number("n_gpus_per_node")
    return spot.job_life_s(node_life_s=node_life_s, n_nodes=n_nodes) / HOUR


_FORMULAS: dict[str, Callable[[Inputs], float]] = {
    "run_usd": lambda given: _run_usd(given, given.number("usd_per_gpu_hour")) * (1 + given.number("overhead", 0.0)),
    "saving_usd": _saving_usd,
    "saving_percent": lambda given: 100 * _saved_fraction(given),
    "restart_usd": _restart_usd,
    "share_percent": lambda given: 100 * given.number("saving_usd") / given.number("baseline_usd"),
    "hours_without_checkpoint": _without_checkpoint_h,
    "clean_run_percent": _clean_run_percent,
    "fallback_usd": _fallback_usd,
    "fallback_saving_percent": _fallback_saving_percent,
    "break_even_lost_h": lambda given: given.number("work_h") * _saved_fraction(given),
    "checkpoint_percent": lambda given: (
        100 * given.number("checkpoint_write_s") / (given.number("checkpoint_every_h") * HOUR)
    ),
    "checkpoint_h": lambda given: given.number("n_checkpoints") * given.number("checkpoint_write_s") / HOUR,
    "hours_between_failures": lambda given: _HOURS_A_DAY * given.number("days") / given.number("n_failures"),
    "gpu_life_h": _gpu_life_h,
    "job_life_h": _job_life_h,
    "share_of_failures_percent": lambda given: 100 * given.number("n_failures") / given.number("n_all_failures"),
    "daly_interval": _daly_minutes,
}


KINDS: Kinds = kinds(_FORMULAS)
