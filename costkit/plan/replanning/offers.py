"""Which levers does this plan have, and what would each do to it? Effects from the model of a step, with their band.

- A modelled effect is as wide as measured gains are around predicted ones (`training.gain_band`), all effects of a
  lever together: a lever that works well works well everywhere.
- What is on already, what the GPU does not have and what has nothing to act on is not offered, and says why.
- Effects that assume something stand in `levers.csv`, marked so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from costkit import levers, tables, training
from costkit.levers import PRICE, TIME, WORK, Effect, Lever
from costkit.plan.fitting.answer import request
from costkit.plan.replanning.batches import Larger, Room, largest, room
from costkit.plan.replanning.found import ASSUMED, MODELLED, Found, NotOffered
from costkit.plan.replanning.purchases import provider, spot
from costkit.plan.replanning.sizes import compute_optimal
from costkit.plan.replanning.start import Settings, Start, step_s, update_s
from costkit.units import Range, percent

_FORMAT, _SCORES, _FUSION, _AGAIN, _STEP = "number format", "scores", "fusion", "recomputation", "optimizer step"
_PRODUCTS, _STORED, _MOVED, _MATMUL = "attention.products", "attention.scores", "memory_bound", "matmul"
_NOTHING, _NOTHING_MUCH = 1e-9, 5e-4
_RANKS = {"tf32": 1.0, "bf16": 2.0, "fp8": 3.0}
_PRECISIONS = {"tf32": "tf32", "bf16": "bf16-mixed", "fp8": "fp8-mixed"}


@dataclass(frozen=True)
class Offer:
    """A lever as this plan has it; `lever` is None where there is nothing to pull, and `told` then says why.

    `price` is what it costs elsewhere, in words: a lever that has one is pulled only where the plan names it.
    """

    about: levers.Named
    lever: Lever | None
    basis: str
    told: str
    price: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return self.about.name


def offers(at: Start) -> list[Offer]:
    """Every known lever, cheapest effort first, those that are not there too."""
    found: dict[str, Found] = {}
    why_not: dict[str, str] = {}
    for name, offered in _OFFERED.items():
        try:
            found[name] = offered(at)
        except NotOffered as why:
            why_not[name] = str(why)
    freed = room(at, {name: one.request for name, one in found.items() if one.request})
    return [
        _offer(at, about, found[name], freed) if name in found else Offer(about, None, "", why_not[name])
        for name, about in levers.known().items()
    ]


def _offer(at: Start, about: levers.Named, found: Found, freed: Room) -> Offer:
    effects = [*found.effects, *freed.effects.get(about.name, ())]
    has = tuple(one for one in effects if one.target in (PRICE, TIME, WORK) or at.baseline.share(one.target))
    if not has:
        return Offer(about, None, "", "nothing of the run is there to act on")
    told = found.told + _and_room(found, freed, about.name)
    return Offer(about, Lever(about.name, has, about.group), found.basis, told, found.price)


def _and_room(found: Found, freed: Room, name: str) -> str:
    """What micro-batch the freed memory takes, alone or with the others."""
    if not found.request:
        return ""
    alone, together = freed.alone.get(name), freed.together
    if alone is not None:
        return f"; room for a micro-batch of {alone.micro_batch}{_more_tokens(alone)}"
    if together is not None:
        return f"; alone no room for a larger micro-batch, with the others for {together.micro_batch}"
    return "; no room for a larger micro-batch that pays"


def _more_tokens(one: Larger) -> str:
    more = one.tokens_ratio - 1
    return f", which needs {percent(more)} more tokens" if more > _NOTHING_MUCH else ""


def _band(keep: float) -> Range:
    """What is left, to the powers that measured gains are of predicted ones."""
    band = training.gain_band()
    return Range(*sorted((keep**band.low, keep, keep**band.high)))


def _ratios(at: Start, before: Settings, after: Settings, slots: Mapping[str, str], rank: float = 0.0) -> list[Effect]:
    """Effects of other settings: what the model of a step leaves of each component, in the slots given."""
    was, becomes = step_s(at.plan, before), step_s(at.plan, after)
    found = []
    for name, slot in slots.items():
        keep = becomes[name] / was[name]
        if abs(keep - 1) > _NOTHING:
            found.append(Effect(name, _band(keep), slot, rank))
    return found


def _format(name: str) -> Callable[[Start], Found]:
    def offered(at: Start) -> Found:
        own = at.settings.precision
        if _rank(own) >= _RANKS[name]:
            raise NotOffered(f"the plan computes in {own} already")
        if not training.has_format(at.gpu, _PRECISIONS[name]):
            raise NotOffered(f"{at.gpu.name} has no {name.upper()}")
        if name == "tf32" and at.plan.memory.precision != "fp32":
            raise NotOffered(f"the plan computes in {own} already")
        after = replace(at.settings, precision=_PRECISIONS[name])
        slots = dict.fromkeys((_MATMUL, _PRODUCTS, _STORED, _MOVED), _FORMAT)
        effects = _ratios(at, at.settings, after, slots, _RANKS[name])
        told = f"from {own}: products at {_times(at, own, _PRECISIONS[name])} the rate"
        return Found(effects, MODELLED, told, {"precision": _PRECISIONS[name]} if name == "bf16" else {})

    return offered


def _rank(precision: str) -> float:
    """How far down the way to fewer digits a precision is."""
    format_ = training.number_format(precision)
    return {"fp32": 0.0, "tf32": 1.0, "bf16": 2.0, "fp16": 2.0}.get(format_, 3.0)


def _times(at: Start, before: str, after: str) -> str:
    ratio = training.format_limit(at.gpu, after) / training.format_limit(at.gpu, before)
    return f"{ratio:.3g} times"


def _flash(at: Start) -> Found:
    if at.settings.attention == "flash" and at.settings.is_half:
        raise NotOffered("the plan has it already")
    half = at.settings if at.settings.is_half else replace(at.settings, precision=_PRECISIONS["bf16"])
    before, after = replace(half, attention="eager"), replace(half, attention="flash")
    effects = _ratios(at, before, after, {_PRODUCTS: "flash products", _STORED: _SCORES})
    formats = [name for name in ("bf16", "fp8") if training.has_format(at.gpu, _PRECISIONS[name])]
    beside = [()] if at.settings.is_half else [(name,) for name in formats]
    if not beside:
        raise NotOffered(f"it needs 16 bits, and {at.gpu.name} has no BF16")
    effects = [replace(one, rank=1.0, needs=needs) for needs in beside for one in effects]
    told = "scores are never stored" + ("" if at.settings.is_half else ", in 16 bits only")
    return Found(effects, MODELLED, told, {"attention": "flash"} if at.plan.memory.attention == "eager" else {})


def _compile(at: Start) -> Found:
    if at.settings.kernels == "compiled":
        raise NotOffered("the plan has it already")
    if at.settings.kernels == "fused":
        raise NotOffered("its kernels are fused already")
    after = replace(at.settings, kernels="compiled")
    effects = _ratios(at, at.settings, after, {_STORED: _SCORES, _MOVED: _FUSION})
    return Found(effects, MODELLED, "what only moves data is fused")


def _checkpointing(at: Start) -> Found:
    if at.settings.checkpointing == "full":
        raise NotOffered("the plan has it already")
    return Found(_recomputed(at, "full"), MODELLED, "a second forward pass", {"checkpointing": "full"})


def _selective(at: Start) -> Found:
    if at.settings.checkpointing != "full":
        raise NotOffered("the plan does not recompute everything")
    if not request(at.plan).about_stack.has_selective:
        raise NotOffered(f"{at.plan.memory.stack} has no switch for it")
    if largest(at, checkpointing="selective") < at.plan.memory.micro_batch:
        raise NotOffered("the micro-batch would no longer fit")
    return Found(_recomputed(at, "selective"), MODELLED, "only scores are made again")


def _recomputed(at: Start, checkpointing: str) -> list[Effect]:
    after = replace(at.settings, checkpointing=checkpointing)
    return _ratios(at, at.settings, after, dict.fromkeys((_MATMUL, _PRODUCTS, _STORED, _MOVED), _AGAIN))


def _optimizer(step: str, rank: float) -> Callable[[Start], Found]:
    def offered(at: Start) -> Found:
        asked = at.plan.memory
        if asked.optimizer != "adamw":
            raise NotOffered(f"the plan's optimizer is {asked.optimizer}")
        if step == at.settings.optimizer_step:
            raise NotOffered("the plan has it already")
        keep = update_s(at.plan, step) / update_s(at.plan, at.settings.optimizer_step)
        effects = [Effect("optimizer", _band(keep), _STEP, rank)]
        told = f"{percent(1 - keep)} less data moved"
        if step == "fused-adamw":
            return Found(effects, MODELLED, told)
        if not request(at.plan).about_stack.has_eight_bit or asked.adapter_rank is not None:
            raise NotOffered(f"{asked.stack} has none" if asked.adapter_rank is None else "adapters have few states")
        return Found(effects, MODELLED, told, {"optimizer": "adamw-8bit", "optimizer_step": None})

    return offered


def _busy(_: Start) -> Found:
    keep = _assumed_keep("busy")
    told = f"{percent(1 - keep.mid)} of it gone is an assumption"
    return Found([Effect(target, keep) for target in ("input_wait", "idle")], ASSUMED, told)


def _restarts(at: Start) -> Found:
    """A share of whatever time is left: a shorter run has fewer restarts."""
    share, keep = at.baseline.share("checkpoint_restart"), _assumed_keep("restarts")
    if not share:
        raise NotOffered("nothing of the run is there to act on")
    told = f"{percent(1 - keep.mid)} of it gone is an assumption"
    return Found([Effect(TIME, keep.map(lambda kept: 1 - share * (1 - kept)))], ASSUMED, told)


def _assumed_keep(name: str) -> Range:
    """What a lever leaves that nobody measured, as we assume it."""
    row = next(row for row in tables.rows("levers.csv") if row["key"] == name)
    return Range(*(float(row[f"keep_{end}"]) for end in ("low", "mid", "high")))


_OFFERED: Mapping[str, Callable[[Start], Found]] = {
    "tf32": _format("tf32"),
    "bf16": _format("bf16"),
    "fp8": _format("fp8"),
    "flash": _flash,
    "compile": _compile,
    "checkpointing": _checkpointing,
    "selective": _selective,
    "fused-adamw": _optimizer("fused-adamw", 1.0),
    "adamw-8bit": _optimizer("adamw-8bit", 2.0),
    "compute-optimal": compute_optimal,
    "spot": spot,
    "provider": provider,
    "restarts": _restarts,
    "busy": _busy,
}
