"""What would make it fit? Changes that need less memory, cheapest first, alone and together.

- A change costs the speed that its ratio in `tradeoffs` says; the speeds of several are multiplied.
- A smaller micro-batch divides the one before, so that accumulation keeps the batch.
- Not offered: what changes the model or the data, and what a stack has no switch for, such as selective checkpointing
  in Hugging Face's blocks.
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
from costkit.tables import GPUS_PER_NODE, Gpu
from costkit.units import Range

_AS_IT_WAS = Range(1.0, 1.0, 1.0)
_MOST_TOGETHER, _LEAST_SAVED_FRACTION = 4, 0.001


@dataclass(frozen=True)
class Way:
    """One way to need less: what is changed, what it then needs, and tokens per second over those before.

    `basis` says of each change what its speed rests on.
    """

    changes: tuple[str, ...]
    budget: Budget
    verdict: str
    throughput: Range
    basis: tuple[str, ...]


def savings(found: Budget, gpu: Gpu | str) -> list[Way]:
    """Changes that need less memory, each alone, cheapest first. What does not help is left out."""
    return [way for _, way in _alone(found, gpu)]


def ways_to_fit(found: Budget, gpu: Gpu | str) -> list[Way]:
    """What would make it fit: the cheapest combination of at most four changes, then single changes, cheapest first.

    Empty where it fits already. Where no combination fits, the one that needs least comes first.
    """
    if found.verdict(gpu) == FITS:
        return []
    best, single = _best_together(found, gpu), [way for _, way in _alone(found, gpu)]
    return single if best is None else [best, *(way for way in single if way.changes != best.changes)]


@dataclass(frozen=True)
class _Change:
    """A change of a request or of its micro-batch, in words, with what it costs in speed."""

    words: str
    request: dict[str, Any]
    ratio: str
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


def _best_together(found: Budget, gpu: Gpu | str) -> Way | None:
    """The combination that fits at the highest speed, or the one that needs least; None where nothing helps.

    Each is tried with the micro-batch as it is, and with the largest that then fits. A change may help only beside
    another, so that all are combined, not just those that help alone.
    """
    changes, combined = _changes(found, gpu), list[tuple[_Change, ...]]()
    others = [change for change in changes if change.micro_batch is None]
    for n in range(_MOST_TOGETHER + 1):
        for several in filter(_go_together, itertools.combinations(others, n)):
            combined.append(several)
            tried = _budget(found, several)
            if tried.verdict(gpu) != FITS and n < _MOST_TOGETHER and (smaller := _largest_divisor(tried, gpu)):
                combined.append((*several, _of_micro_batch(found, smaller)))
    ways = [(several, _budget(found, several)) for several in combined]
    fitting = [several for several, changed in ways if changed.verdict(gpu) == FITS]
    if fitting:
        return _way(found, max(fitting, key=lambda several: (_speed(several).mid, -len(several))), gpu)
    helping = [pair for pair in ways if _saved_fraction(pair[1], found) > _LEAST_SAVED_FRACTION]
    if not helping:
        return None
    return _way(found, min(helping, key=lambda pair: (pair[1].device_bytes.mid, len(pair[0])))[0], gpu)


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


def _change(words: str, request: dict[str, Any], ratio: str) -> _Change:
    """A change whose speed is the ratio of that name."""
    return _Change(words, request, ratio, tradeoffs.throughput_ratio(ratio))


def _kernels(found: Budget) -> Iterator[_Change]:
    """The same numbers by other code."""
    request = found.request
    if request.step_name == "foreach":
        yield _change("fused optimizer step", {"optimizer_step": "fused"}, "fused optimizer step")
    if request.attention == "eager":
        yield _change("flash attention", {"attention": "flash"}, "eager to flash attention")
    if request.loss_name == "eager" and request.about_stack.is_torchtitan:
        yield _change("loss in chunks", {"loss": "chunked"}, "chunked loss")
    elif request.loss_name == "eager":
        yield _change("fused loss (Liger)", {"loss": "fused-linear"}, "fused loss")


def _of_optimizer(found: Budget) -> Iterator[_Change]:
    request = found.request
    if request.adapters is not None:
        return
    if request.optimizer == "adamw" and request.about_stack.has_eight_bit:
        yield _change("8-bit AdamW", {"optimizer": "adamw-8bit", "optimizer_step": None}, "eight-bit optimizer")
    if not request.offload_optimizer:
        yield _change("optimizer state in the host's memory", {"offload_optimizer": True}, "optimizer offload")


def _of_micro_batch(found: Budget, fewer: int) -> _Change:
    words = f"micro-batch of {fewer:,} with {_times(found.micro_batch // fewer)} the accumulation"
    cost = tradeoffs.of_micro_batch(found.micro_batch, fewer)
    return _Change(words, {"accumulates": True}, "twice the micro-batch", cost, fewer)


def _times(n: int) -> str:
    return {2: "twice"}.get(n, f"{n:,} times")


def _of_batch(found: Budget, gpu: Gpu | str) -> Iterator[_Change]:
    """Fewer sequences at once, or fewer of their activations."""
    if found.micro_batch > 1:
        half = divisor_near(found.micro_batch, found.micro_batch // 2)
        for fewer in sorted({half, _largest_divisor(found, gpu)}, reverse=True):
            yield _of_micro_batch(found, fewer)
    now = found.request.checkpointing
    for way in CHECKPOINTING[CHECKPOINTING.index(now) + 1 :]:
        if way in checkpointing_of(found.request):
            yield _change(f"{way} checkpointing", {"checkpointing": way}, tradeoffs.CHECKPOINTING_STEPS[now, way])


def checkpointing_of(request: Request) -> tuple[str, ...]:
    """The ways of checkpointing that a stack has a switch for, and the request's own."""
    has_switch = request.about_stack.has_selective
    return tuple(way for way in CHECKPOINTING if way != "selective" or has_switch or way == request.checkpointing)


def _of_sharding(found: Budget) -> Iterator[_Change]:
    request, sharding = found.request, found.request.sharding
    if request.about_stack.is_megatron and sharding.tensor > 1 and not sharding.sequence_parallel:
        spread = {"sharding": replace(sharding, sequence_parallel=True)}
        yield _change("sequence parallelism", spread, "sequence parallelism")
    if sharding.n_shards == 1:
        return
    yield from _of_tensor_parallelism(found)
    if request.about_stack.is_megatron and request.zero == 0:
        yield _change("distributed optimizer", {"sharding": replace(sharding, zero=1)}, "distributed optimizer")
    elif request.zero < request.about_stack.most_zero:
        sharded = {"sharding": replace(sharding, zero=3)}
        yield _change("weights sharded too (ZeRO 3)", sharded, "DDP to sharded weights")


def _of_tensor_parallelism(found: Budget) -> Iterator[_Change]:
    """Twice as many GPUs to a matrix, half as many copies of the model, and so twice the accumulation."""
    request, sharding = found.request, found.request.sharding
    twice = 2 * sharding.tensor
    if not request.about_stack.has_tensor or sharding.data % 2 or twice > GPUS_PER_NODE:
        return
    with suppress(ValueError):  # a model whose heads can't be divided so is not offered it
        divided = {"sharding": replace(sharding, tensor=twice, data=sharding.data // 2), "accumulates": True}
        request.with_changes(**divided)
        words = f"tensor parallelism over {twice} GPUs with twice the accumulation"
        yield _change(words, divided, "twice the tensor parallelism")


def _way(found: Budget, changes: tuple[_Change, ...], gpu: Gpu | str) -> Way:
    changed = _budget(found, changes, fullest=False)
    basis = tuple(dict.fromkeys(tradeoffs.basis(change.ratio) for change in changes))
    return Way(tuple(change.words for change in changes), changed, changed.verdict(gpu), _speed(changes), basis)


def _budget(found: Budget, changes: tuple[_Change, ...], *, fullest: bool = True) -> Budget:
    details, micro_batch = dict[str, Any](), found.micro_batch
    for change in changes:
        details |= change.request
        micro_batch = change.micro_batch or micro_batch
    return found.changed(micro_batch=micro_batch, fullest=fullest, **details)


def _speed(changes: tuple[_Change, ...]) -> Range:
    speed = _AS_IT_WAS
    for change in changes:
        speed = tradeoffs.product(speed, change.throughput)
    return speed


def _saved_fraction(changed: Budget, before: Budget) -> float:
    return 1 - changed.device_bytes.high / before.device_bytes.high
