"""Does the bill add up? Prices, hours and dollars of runs, machines and tokens, recomputed.

- `product` multiplies all of its inputs, whatever they are called; `quotient` is `of` over `by`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from costkit import tables, training
from costkit.claims.inputs import Inputs, Kinds, kinds
from costkit.units import GB, HOUR, TFLOP, THOUSAND


def _quoted_usd(given: Inputs) -> float:
    """The lowest or the highest quote of one GPU, of all dates and providers."""
    quotes = tables.quotes(gpu=given.word("gpu"), purchase=given.word("purchase", "on_demand"))
    if not quotes:
        raise ValueError(f"Claim '{given.word('id')}': nobody quotes {given.word('gpu')} that way.")
    pick = tables.lookup("quote", given.word("quote", "lowest"), {"lowest": min, "highest": max})
    return float(pick(quote.usd_per_gpu_hour for quote in quotes))


def compute_run(given: Inputs) -> training.Run:
    """The run of an amount of compute on a number of GPUs at an MFU."""
    return training.run(
        flop=given.number("flop"),
        gpu=given.word("gpu"),
        n_gpus=given.whole("n_gpus", 1.0),
        usd_per_gpu_hour=given.number("usd_per_gpu_hour", 1.0),
        mfu=given.number("mfu"),
    )


def peak_flop_per_s(given: Inputs, precision: str) -> float:
    """The dense peak of a GPU in a number format, from the table of GPUs."""
    return training.format_limit(tables.gpu(given.word("gpu")), precision)


def _peak_per_usd(given: Inputs) -> float:
    return peak_flop_per_s(given, given.word("precision")) / TFLOP / given.number("usd_per_hour")


def _published_flop(given: Inputs) -> float:
    """Compute of the smallest or the largest published run, 6ND."""
    sizes = [
        float(training.flop(n_params=run.n_active_params, n_tokens=run.n_tokens))
        for run in tables.published_runs()
        if run.n_tokens is not None
    ]
    return float(tables.lookup("run", given.word("which"), {"smallest": min, "largest": max})(sizes))


def _published_gpu_hours(given: Inputs) -> float:
    hours = tables.published_run(given.word("run")).gpu_hours
    if hours is None:
        raise ValueError(f"Claim '{given.word('id')}': {given.word('run')} did not publish its GPU-hours.")
    return hours


def _steps_h(given: Inputs) -> float:
    return given.number("n_steps") * given.number("step_s") / HOUR


def _usd_per_point(given: Inputs) -> float:
    gained = given.number("after") - given.number("before")
    return given.number("usd") / gained * given.number("point")


def _checkpoint_rate(given: Inputs) -> float:
    return given.number("checkpoint_gb") * 24 * HOUR / (given.number("every_steps") * given.number("step_s"))


def _checkpoint_overhead(given: Inputs) -> float:
    write_s = given.number("checkpoint_gb") / given.number("gb_per_s")
    return 100 * write_s / (given.number("every_steps") * given.number("step_s"))


def _is_saved_in_time(given: Inputs) -> bool:
    n_bytes = given.number("n_params") * given.number("bytes_per_param")
    return n_bytes / (given.number("gb_per_s") * GB) <= given.number("notice_s")


def _owned_usd(given: Inputs) -> float:
    return given.number("usd") + given.number("months") * given.number("usd_per_month")


def _break_even_tokens(given: Inputs) -> float:
    """Tokens a month whose price is the purchase, spread over its months, and the upkeep."""
    monthly = given.number("usd") / given.number("months") + given.number("usd_per_month")
    return monthly / (given.number("usd_per_1k_tokens") / THOUSAND)


def _run_and_extras(given: Inputs) -> float:
    hours = given.number("n_gpus") * given.number("hours")
    return hours * given.number("usd_per_gpu_hour") + given.number("extras")


_FORMULAS: dict[str, Callable[[Inputs], float]] = {
    "product": lambda given: math.prod(given.all_numbers().values()),
    "quotient": lambda given: given.number("of") / given.number("by"),
    "is_whole": lambda given: (given.number("of") / given.number("by")).is_integer(),
    "saved_percent": lambda given: 100 * (1 - given.number("after") / given.number("before")),
    "share_of_all_percent": lambda given: 100 * given.number("part") / (given.number("part") + given.number("rest")),
    "idle_fraction": lambda given: 1 - given.number("busy_fraction"),
    "quoted_usd": _quoted_usd,
    "compute_usd": lambda given: compute_run(given).usd.mid,
    "compute_hours": lambda given: compute_run(given).wall_s.mid / HOUR,
    "run_and_extras_usd": _run_and_extras,
    "steps_h": _steps_h,
    "steps_usd": lambda given: _steps_h(given) * given.number("usd_per_hour"),
    "usd_per_point": _usd_per_point,
    "peak_tflop_per_s": lambda given: peak_flop_per_s(given, given.word("precision")) / TFLOP,
    "peak_ratio": lambda given: (
        peak_flop_per_s(given, given.word("precision")) / peak_flop_per_s(given, given.word("over"))
    ),
    "peak_per_usd": _peak_per_usd,
    "published_flop": _published_flop,
    "published_gpu_hours": _published_gpu_hours,
    "checkpoint_gb_per_day": _checkpoint_rate,
    "checkpoint_overhead_percent": _checkpoint_overhead,
    "is_saved_in_time": _is_saved_in_time,
    "owned_usd": _owned_usd,
    "break_even_tokens": _break_even_tokens,
    "generation_usd": lambda given: given.number("n_tokens") / given.number("tokens_per_s") * given.number("usd_per_s"),
    "request_usd_ratio": lambda given: (
        given.number("usd_per_hour")
        / given.number("requests_per_hour")
        / (given.number("usd_per_hour") / given.number("other_requests_per_hour"))
    ),
}

KINDS: Kinds = kinds(_FORMULAS)
