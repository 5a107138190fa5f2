"""What would make it fit? Changes that need less memory, cheapest first, alone and together.

- A change costs the speed that measured pairs of runs lost with it (`tradeoffs`); the speeds of several are multiplied.
- A smaller micro-batch divides the one before, so that accumulation keeps the batch.
- Not offered: what changes the model or the data, and selective checkpointing in Hugging Face's blocks, which have no
  switch for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from costkit.memory import tradeoffs
from costkit.memory.budgets import FITS, Budget
from costkit.memory.fits import largest_micro_batch
from costkit.memory.requests import CHECKPOINTING, Request
from costkit.memory.sharding import divisor_near
from costkit.tables import Gpu
from costkit.units import Range

_FREE = Range(1.0, 1.0, 1.0)
_GPUS_OF_A_NODE = 8
_MOST_TOGETHER, _LEAST_SAVED_FRACTION = 4, 0.001


@dataclass(frozen=True)
class Way:
    """One way to need less: what is changed, what it then needs, and tokens per second over those before."""

    changes: tuple[str, ...]
    budget: Budget
    verdict: str
    throughput: Range


def savings(found: Budget, gpu: Gpu | str) -> list[Way]:
    """Changes that need less memory, each alone, cheapest first. What does not help is left out."""
    return [way for _, way in _alone(found, gpu)]


def ways_to_fit(found: Budget, gpu: Gpu | str) -> list[Way]:
    """What would make it fit: the cheapest combination of at most four changes, then single changes, cheapest first.

    Empty where it fits already. Where no combination fits, the one that needs least comes first.
    """
    if found.verdict(gpu) == FITS:
        return []
    alone = _alone(found, gpu)
    best = _best_together(found, [change for change, _ in alone], gpu)
    single = [way for _, way in alone]
    return single if best is None else [best, *(way for way in single if way.changes != best.changes)]


@dataclass(frozen=True)
class _Change:
    """A change of a request or of its micro-batch, in words, with what it costs in speed."""

    words: str
    request: dict[str, Any]
    throughput: Range
    micro_batch: int | None = None

    @property
    def touches(self) -> frozenset[str]:
        """What it sets; two changes of the same thing don't go together."""
        return frozenset(self.request) | ({"micro_batch"} if self.micro_batch else frozenset())


def _alone(found: Budget, gpu: Gpu | str) -> list[tuple[_Change, Way]]:
    tried = ((change, _way(found, (change,), gpu)) for change in _changes(found, gpu))
    helping = [(change, way) for change, way in tried if _saved_fraction(way.budget, found) > _LEAST_SAVED_FRACTION]
    return sorted(helping, key=lambda pair: -pair[1].throughput.mid)


def _best_together(found: Budget, changes: list[_Change], gpu: Gpu | str) -> Way | None:
    """The combination that fits at the highest speed, or the one that needs least; None where nothing helps.

    Each is tried with the micro-batch as it is, and with the largest that then fits.
    """
    others = [change for change in changes if change.micro_batch is None]
    combined = []
    for n in range(_MOST_TOGETHER + 1):
        for several in filter(_go_together, itertools.combinations(others, n)):
            way = _way(found, several, gpu)
            if way.verdict != FITS and n < _MOST_TOGETHER and (smaller := _largest_divisor(way.budget, gpu)):
                way = _way(found, (*several, _of_micro_batch(found, smaller)), gpu)
            combined.append(way)
    fitting = [way for way in combined if way.verdict == FITS]
    if fitting:
        return max(fitting, key=lambda way: (way.throughput.mid, -len(way.changes)))
    return min(
        (way for way in combined if _saved_fraction(way.budget, found) > _LEAST_SAVED_FRACTION),
        key=lambda way: (way.budget.device_bytes.mid, len(way.changes)),
        default=None,
    )


def _largest_divisor(found: Budget, gpu: Gpu | str) -> int:
    """The largest divisor of the micro-batch, itself left out, that fits; 1 where none does, 0 where it has none."""
    if found.micro_batch == 1:
        return 0
    request = found.request.with_changes(accumulates=True)
    most = largest_micro_batch(request.architecture, gpu=gpu, seq_len=found.seq_len, **request.details)
    return divisor_near(found.micro_batch, min(max(most, 1), found.micro_batch - 1))


def _go_together(several: tuple[_Change, ...]) -> bool:
    touched = [what for change in several for what in change.touches]
    return len(touched) == len(set(touched))


def _changes(found: Budget, gpu: Gpu | str) -> list[_Change]:
    """Every change that can be made, in no order."""
    return [*_kernels(found), *_of_optimizer(found), *_of_batch(found, gpu), *_of_sharding(found)]


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
    if request.optimizer == "adamw" and request.about_stack.has_eight_bit:
        cost = tradeoffs.throughput_ratio("eight-bit optimizer")
        yield _Change("8-bit AdamW", {"optimizer": "adamw-8bit"}, cost)
    if not request.offload_optimizer:
        cost = tradeoffs.throughput_ratio("optimizer offload")
        yield _Change("optimizer state in the host's memory", {"offload_optimizer": True}, cost)


def _of_micro_batch(found: Budget, fewer: int) -> _Change:
    times = found.micro_batch // fewer
    words = f"micro-batch of {fewer:,} with {'twice' if times == 2 else f'{times:,} times'} the accumulation"
    cost = tradeoffs.of_micro_batch(found.micro_batch, fewer)
    return _Change(words, {"accumulates": True}, cost, fewer)


def _of_batch(found: Budget, gpu: Gpu | str) -> Iterator[_Change]:
    """Fewer sequences at once, or fewer of their activations."""
    if found.micro_batch > 1:
        half = divisor_near(found.micro_batch, found.micro_batch // 2)
        for fewer in sorted({half, _largest_divisor(found, gpu)}, reverse=True):
            yield _of_micro_batch(found, fewer)
    now = found.request.checkpointing
    for way in CHECKPOINTING[CHECKPOINTING.index(now) + 1 :]:
        if way in checkpointing_of(found.request):
            yield _Change(f"{way} checkpointing", {"checkpointing": way}, tradeoffs.of_checkpointing(now, way))


def checkpointing_of(request: Request) -> tuple[str, ...]:
    """The ways of checkpointing that a stack has a switch for, and the request's own."""
    has_switch = request.about_stack.has_selective
    return tuple(way for way in CHECKPOINTING if way != "selective" or has_switch or way == request.checkpointing)


def _of_sharding(found: Budget) -> Iterator[_Change]:
    request, sharding = found.request, found.request.sharding
    if request.about_stack.is_megatron and sharding.tensor > 1 and not sharding.sequence_parallel:
        spread = {"sharding": replace(sharding, sequence_parallel=True)}
        yield _Change("sequence parallelism", spread, tradeoffs.throughput_ratio("sequence parallelism"))
    if sharding.n_shards == 1:
        return
    yield from _of_tensor_parallelism(found)
    if request.about_stack.is_megatron and request.zero == 0:
        yield _Change("distributed optimizer", {"sharding": replace(sharding, zero=1)}, _FREE)
    elif request.zero < request.about_stack.most_zero:
        cost = tradeoffs.throughput_ratio("DDP to sharded weights")
        yield _Change("weights sharded too (ZeRO 3)", {"sharding": replace(sharding, zero=3)}, cost)


def _of_tensor_parallelism(found: Budget) -> Iterator[_Change]:
    """Twice as many GPUs to a matrix, and half as many copies of the model."""
    request, sharding = found.request, found.request.sharding
    twice = 2 * sharding.tensor
    if not request.about_stack.has_tensor or sharding.data % 2 or twice > _GPUS_OF_A_NODE:
        return
    divided = replace(sharding, tensor=twice, data=sharding.data // 2)
    with suppress(ValueError):  # a model whose heads can't be divided so is not offered it
        request.with_changes(sharding=divided)
        cost = tradeoffs.throughput_ratio("twice the tensor parallelism")
        yield _Change(f"tensor parallelism over {twice} GPUs", {"sharding": divided}, cost)


def _way(found: Budget, changes: tuple[_Change, ...], gpu: Gpu | str) -> Way:
    details, micro_batch, throughput = dict[str, Any](), found.micro_batch, _FREE
    for change in changes:
        details |= change.request
        micro_batch = change.micro_batch or micro_batch
        throughput = tradeoffs.product(throughput, change.throughput)
    changed = found.changed(micro_batch=micro_batch, **details)
    return Way(tuple(change.words for change in changes), changed, changed.verdict(gpu), throughput)


def _saved_fraction(changed: Budget, before: Budget) -> float:
    return 1 - changed.device_bytes.high / before.device_bytes.high
