"""What does room in memory bring? A larger micro-batch: fewer steps and exchanges, and, in time, more tokens.

- Several levers make room, and together more than each alone: every set of them is asked of the memory budget.
- Where the plan names its batch, a larger micro-batch only replaces accumulation and saves nothing that is modelled.
- Where it does not, the batch grows with the micro-batch, and past the critical batch a run needs more tokens for the
  same loss. The micro-batch that pays most is taken, not the largest that fits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from costkit import memory, scaling, training
from costkit.levers import WORK, Effect
from costkit.plan.fitting.answer import request
from costkit.plan.reached import batch_tokens, n_active_params
from costkit.plan.replanning.start import Start
from costkit.plan.sizing.answer import law, split_at
from costkit.plan.sizing.demand import Demand
from costkit.units import Range

_SLOT = "micro-batch"

Changes = Mapping[str, Mapping[str, Any]]
"""What each lever changes of the memory request, by its name: keywords of `memory.budget`."""


@dataclass(frozen=True)
class Larger:
    """A larger micro-batch, and tokens over those before for the same loss."""

    micro_batch: int
    tokens_ratio: float


@dataclass(frozen=True)
class Room:
    """The effects of larger micro-batches by lever, and what each lever alone, and all of them, leave room for."""

    effects: Mapping[str, tuple[Effect, ...]]
    alone: Mapping[str, Larger]
    together: Larger | None


def room(at: Start, changes: Changes) -> Room:
    """What every set of these levers leaves room for; an effect stands with the first lever of its set."""
    plan = at.plan
    if plan.memory.effective_batch is not None or plan.training.batch_tokens is not None:
        return Room({}, {}, None)
    critical = _critical_tokens(at)
    found = {several: one for several in _sets(changes) if (one := _best(at, several, changes, critical)) is not None}
    effects: dict[str, tuple[Effect, ...]] = {}
    for several, one in found.items():
        smaller = [other.micro_batch for part, other in found.items() if set(part) < set(several)]
        if one.micro_batch > max(smaller, default=0):
            first, *rest = several
            effects[first] = (*effects.get(first, ()), *_effects(at, one, tuple(rest)))
    alone = {several[0]: one for several, one in found.items() if len(several) == 1}
    return Room(effects, alone, found.get(tuple(changes)))


def _sets(changes: Changes) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(changes) + 1):
        yield from itertools.combinations(changes, size)


def _effects(at: Start, one: Larger, needs: tuple[str, ...]) -> Iterator[Effect]:
    keep, rank = Range.exact(at.plan.memory.micro_batch / one.micro_batch), float(one.micro_batch)
    for name in ("optimizer", "communication"):
        yield Effect(name, keep, _SLOT, rank, needs)
    yield Effect(WORK, Range.exact(one.tokens_ratio), _SLOT, rank, needs)


def _best(at: Start, several: tuple[str, ...], changes: Changes, critical: float | None) -> Larger | None:
    """The micro-batch that pays most of those that fit with these levers; None where none does."""
    asked = {name: value for lever in several for name, value in changes[lever].items()}
    fits, now = largest(at, **asked), at.plan.memory.micro_batch
    tried, micro_batch = [], 2 * now
    while micro_batch <= fits:
        tried.append(Larger(micro_batch, _tokens_ratio(at, micro_batch / now, critical)))
        micro_batch *= 2
    best = min(tried, key=lambda one: _time(at, one), default=None)
    return best if best is not None and _time(at, best) < 1 else None


def largest(at: Start, **changes: Any) -> int:
    """The largest micro-batch that fits after a change of the memory request, 0 where none does."""
    plan = at.plan
    return _largest(request(plan).with_changes(**changes), plan.hardware.gpu, plan.training.seq_len)


@functools.lru_cache(maxsize=256)
def _largest(asked: memory.Request, gpu: str, seq_len: int) -> int:
    """Kept, since prices and bills move while memory stays."""
    return memory.largest_micro_batch(asked.architecture, gpu=gpu, seq_len=seq_len, **asked.details)


def _tokens_ratio(at: Start, times: float, critical: float | None) -> float:
    """Tokens for the same loss at a batch that many times as large, over those now."""
    if critical is None:
        return 1.0
    batch = batch_tokens(at.plan)
    before, after = (
        float(training.tokens_factor(batch_tokens=tokens, critical_batch_tokens=critical))
        for tokens in (batch, times * batch)
    )
    return after / before


def _time(at: Start, one: Larger) -> float:
    """What is left of the whole run's time."""
    of_steps = at.baseline.share("optimizer") + at.baseline.share("communication")
    return one.tokens_ratio * (1 - of_steps * (1 - at.plan.memory.micro_batch / one.micro_batch))


def _critical_tokens(at: Start) -> float | None:
    """The critical batch at the plan's expected loss; None for a fine-tune and under a law that predicts no loss."""
    plan, used = at.plan, law(at.plan)
    if plan.model.pretrained or not isinstance(used, scaling.ScalingLaw):
        return None
    loss = float(scaling.loss_of(split_at(used, n_active_params(plan), plan.data.n_tokens, Demand.of(plan))))
    return float(training.critical_batch_tokens(loss))
