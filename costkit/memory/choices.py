"""Which settings are worth considering? Checkpointing x micro-batch x sharding, by memory and speed.

- Speed is relative to the first choice, through the measured ratios of `tradeoffs`; dollars are its inverse.
- A choice is on the frontier if no other that fits needs less memory and is as fast.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from costkit.architectures import Architecture
from costkit.memory import tradeoffs
from costkit.memory.budgets import DOES_NOT_FIT, FITS, UNCERTAIN, Budget, budget
from costkit.memory.requests import CHECKPOINTING, request_of
from costkit.memory.sharding import Sharding
from costkit.memory.stacks import BY_NAME
from costkit.memory.ways import checkpointing_of
from costkit.tables import Gpu, lookup
from costkit.units import Range

_RANKS = {FITS: 0, UNCERTAIN: 1, DOES_NOT_FIT: 2}
MICRO_BATCHES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Choice:
    """One way to run: its budget, its verdict, and tokens per second over those of the first choice."""

    budget: Budget
    verdict: str
    throughput: Range
    on_frontier: bool = False


def choices(
    architecture: Architecture | str,
    *,
    gpu: Gpu | str,
    seq_len: int,
    micro_batches: Sequence[int] = MICRO_BATCHES,
    shardings: Sequence[Sharding] | None = None,
    effective_batch: int | None = None,
    **how: Any,
) -> list[Choice]:
    """Every combination, the fastest of those that fit first; `on_frontier` marks those that no other beats.

    Takes the same keywords as `budget`; `checkpointing` among them says what the first choice does. Shardings may
    differ in ZeRO from `sharding`, not in degrees, whose speeds are not known. With an effective batch, micro-batches
    that can't make it up are left out, and the others accumulate where they must.

    >>> from costkit.architectures import named
    >>> found = choices(named("llama-3.2-1b"), gpu="A100-SXM4-80GB", seq_len=2048)
    >>> best = found[0]
    >>> best.verdict, best.budget.request.checkpointing, best.budget.micro_batch
    ('fits', 'none', 4)
    """
    first, sharding = how.pop("checkpointing", "none"), how.pop("sharding", Sharding())
    if effective_batch is not None and (type(effective_batch) is not int or effective_batch < 1):
        raise ValueError(f"effective_batch is {effective_batch!r}; it must be a whole number of at least 1")
    if not len(micro_batches):
        raise ValueError("micro_batches is empty; give at least one")
    lookup("checkpointing", first, dict.fromkeys(CHECKPOINTING))
    found, stack = [], how.get("stack", "huggingface")
    ways = checkpointing_of(request_of(architecture, how | {"checkpointing": first, "sharding": sharding}))
    divisions = _shardings(sharding, stack) if shardings is None else _checked(shardings, sharding)
    for divided, checkpointing, micro_batch in itertools.product(divisions, ways, micro_batches):
        accumulation = _accumulation(effective_batch, micro_batch * divided.data)
        if accumulation == 0:
            continue
        details = how | {"checkpointing": checkpointing, "sharding": divided}
        if accumulation is not None:
            details["accumulates"] = accumulation > 1
        one = budget(architecture, micro_batch=micro_batch, seq_len=seq_len, **details)
        speed = tradeoffs.product(
            tradeoffs.of_checkpointing(first, checkpointing), tradeoffs.of_micro_batch(micro_batches[0], micro_batch)
        )
        if _is_sharded(divided, stack) and not _is_sharded(sharding, stack):
            speed = tradeoffs.product(speed, tradeoffs.throughput_ratio("DDP to sharded weights"))
        found.append(Choice(one, one.verdict(gpu), speed))
    return sorted((replace(one, on_frontier=_is_best(one, found)) for one in found), key=_order)


def _accumulation(effective_batch: int | None, at_once: int) -> int | None:
    """Micro-batches of a step, 0 where no whole number makes up the batch, None where any will do."""
    if effective_batch is None:
        return None
    steps, rest = divmod(effective_batch, at_once)
    return 0 if rest else steps


def _checked(shardings: Sequence[Sharding], sharding: Sharding) -> Sequence[Sharding]:
    for divided in shardings:
        if replace(divided, zero=sharding.zero) != sharding:
            raise ValueError(f"shardings hold {divided}, which differs from {sharding} in more than zero")
    return shardings


def _is_sharded(sharding: Sharding, stack: str) -> bool:
    zero = BY_NAME[stack].zero if sharding.zero is None else sharding.zero
    return zero == 3 and sharding.n_shards > 1


def _shardings(sharding: Sharding, stack: str) -> list[Sharding]:
    """The sharding as it is, and with weights sharded too where that is possible."""
    about = lookup("stack", stack, BY_NAME)
    is_choice = about.most_zero == 3 and not about.always_shards
    can_shard = is_choice and sharding.n_shards > 1 and (sharding.zero or 0) < 3
    return [sharding, replace(sharding, zero=3)] if can_shard else [sharding]


def _is_best(one: Choice, among: list[Choice]) -> bool:
    """Whether no other is as sure to fit, as fast and as small, and better in one of the last two."""
    if one.verdict == DOES_NOT_FIT:
        return False
    needs, speed = one.budget.device_bytes.mid, one.throughput.mid
    return not any(
        other.throughput.mid >= speed
        and other.budget.device_bytes.mid <= needs
        and (other.throughput.mid > speed or other.budget.device_bytes.mid < needs)
        for other in among
        if _RANKS[other.verdict] <= _RANKS[one.verdict]
    )


def _order(one: Choice) -> tuple[int, float, float]:
    return _RANKS[one.verdict], -one.throughput.mid, one.budget.device_bytes.mid
