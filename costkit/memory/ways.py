"""What would make it fit? Changes that need less memory, cheapest first, alone and together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from costkit.memory import tradeoffs
from costkit.memory.budgets import FITS, Budget, budget
from costkit.memory.requests import CHECKPOINTING
from costkit.tables import Gpu
from costkit.units import Range


@dataclass(frozen=True)
class Way:
    """One way to need less: what is changed, what it then needs, and tokens per second over those before."""

    changes: tuple[str, ...]
    budget: Budget
    verdict: str
    throughput: Range


def savings(found: Budget, gpu: Gpu | str) -> list[Way]:
    """Changes that need less memory, each alone, cheapest first. What does not help is left out."""
    alone = (_way(found, (change,), gpu) for change in _changes(found))
    return sorted((way for way in alone if _needs_less(way.budget, found)), key=lambda way: -way.throughput.mid)


def ways_to_fit(found: Budget, gpu: Gpu | str) -> list[Way]:
    """What would make it fit, cheapest first: single changes, and several together where no single one is enough.

    Empty where it fits already.
    """
    if found.verdict(gpu) == FITS:
        return []
    alone = savings(found, gpu)
    if any(way.verdict == FITS for way in alone):
        return alone
    return [*alone, *_together(found, _changes(found), gpu)]


@dataclass(frozen=True)
class _Change:
    """A change of a request or of its micro-batch, in words, with what it costs in speed."""

    words: str
    request: dict[str, Any]
    throughput: Range
    micro_batch: int | None = None


_GPUS_OF_A_NODE = 8
_FREE = Range(1.0, 1.0, 1.0)


def _changes(found: Budget) -> list[_Change]:
    """Every change that can be made, in no order."""
    return [*_kernels(found), *_of_optimizer(found), *_of_batch(found), *_of_sharding(found)]


def _kernels(found: Budget) -> Iterator[_Change]:
    """The same numbers by other code."""
    request = found.request
    if request.step_name == "foreach" and found.peak_phase == "step":
        yield _Change("fused optimizer step", {"optimizer_step": "fused"}, _FREE)
    if request.attention == "eager":
        faster = tradeoffs.throughput_ratio("eager to flash attention")
        yield _Change("flash attention", {"attention": "flash"}, faster)
    if request.loss_name == "eager":
        yield _Change("loss in chunks", {"loss": "chunked"}, tradeoffs.throughput_ratio("chunked loss"))


def _of_optimizer(found: Budget) -> Iterator[_Change]:
    request = found.request
    if request.adapters is not None:
        return
    if request.optimizer == "adamw" and request.stack != "megatron":
        cost = tradeoffs.throughput_ratio("eight-bit optimizer")
        yield _Change("8-bit AdamW", {"optimizer": "adamw-8bit"}, cost)
    if not request.offload_optimizer:
        cost = tradeoffs.throughput_ratio("optimizer offload")
        yield _Change("optimizer state in the host's memory", {"offload_optimizer": True}, cost)


def _of_batch(found: Budget) -> Iterator[_Change]:
    """Fewer sequences at once, or fewer of their activations."""
    now, half = found.request.checkpointing, found.micro_batch // 2
    if half:
        cost = tradeoffs.of_micro_batch(found.micro_batch, half)
        yield _Change(f"micro-batch of {half} with twice the accumulation", {"accumulates": True}, cost, half)
    for way in CHECKPOINTING[CHECKPOINTING.index(now) + 1 :]:
        yield _Change(f"{way} checkpointing", {"checkpointing": way}, tradeoffs.of_checkpointing(now, way))


def _of_sharding(found: Budget) -> Iterator[_Change]:
    request, sharding = found.request, found.request.sharding
    if sharding.n_shards == 1:
        return
    yield from _of_tensor_parallelism(found)
    if request.stack == "megatron" and request.zero == 0:
        yield _Change("distributed optimizer", {"sharding": replace(sharding, zero=1)}, _FREE)
    elif request.stack != "megatron" and request.zero < 3:
        cost = tradeoffs.throughput_ratio("DDP to sharded weights")
        yield _Change("weights sharded too (ZeRO 3)", {"sharding": replace(sharding, zero=3)}, cost)


def _of_tensor_parallelism(found: Budget) -> Iterator[_Change]:
    """Twice as many GPUs to a matrix, and half as many copies of the model."""
    request, sharding = found.request, found.request.sharding
    twice = 2 * sharding.tensor
    if request.stack not in ("megatron", "fsdp2", "simplefsdp") or sharding.data % 2 or twice > _GPUS_OF_A_NODE:
        return
    divided = replace(sharding, tensor=twice, data=sharding.data // 2)
    with suppress(ValueError):
        request.with_changes(sharding=divided)
        cost = tradeoffs.throughput_ratio("twice the tensor parallelism")
        yield _Change(f"tensor parallelism over {twice} GPUs", {"sharding": divided}, cost)


def _way(found: Budget, changes: tuple[_Change, ...], gpu: Gpu | str) -> Way:
    request, micro_batch, throughput = found.request, found.micro_batch, _FREE
    for change in changes:
        request = request.with_changes(**change.request)
        micro_batch = change.micro_batch or micro_batch
        throughput = tradeoffs.product(throughput, change.throughput)
    changed = budget(request.architecture, micro_batch=micro_batch, seq_len=found.seq_len, **request.details)
    return Way(tuple(change.words for change in changes), changed, changed.verdict(gpu), throughput)


def _together(found: Budget, changes: list[_Change], gpu: Gpu | str) -> Iterator[Way]:
    """Changes piled up, cheapest first, until it fits or nothing is left."""
    piled: tuple[_Change, ...] = ()
    before = found
    for change in sorted(changes, key=lambda one: -one.throughput.mid):
        if change.words.startswith("full") and any(one.words.startswith("selective") for one in piled):
            piled = tuple(one for one in piled if not one.words.startswith("selective"))
        way = _way(found, (*piled, change), gpu)
        if not _needs_less(way.budget, before):
            continue
        piled, before = (*piled, change), way.budget
        if len(piled) > 1:
            yield way
        if way.verdict == FITS:
            return


def _needs_less(changed: Budget, before: Budget) -> bool:
    return changed.device_bytes.mid < before.device_bytes.mid * 0.999
