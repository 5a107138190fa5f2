"""Which levers does this plan have, and what would each do to it? Effects from the model of a step, with their band.

- A modelled effect is as wide as measured gains are around predicted ones (`training.gain_band`), all effects of a
  lever together: a lever that works well works well everywhere.
- What is on already, what the GPU does not have and what has nothing to act on is not offered, and says why.
- Effects that assume something stand in `levers.csv`, marked so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from costkit import levers, scaling, tables, training
from costkit.levers import PRICE, WORK, Effect, Lever
from costkit.plan import files
from costkit.plan.costing.final_run import final_run
from costkit.plan.fitting.answer import request
from costkit.plan.reached import n_active_params
from costkit.plan.replanning.batches import Larger, Room, largest, room
from costkit.plan.replanning.start import Settings, Start, step_s, update_s
from costkit.plan.sizing.answer import law, split_at
from costkit.plan.sizing.bands import has_draws
from costkit.plan.sizing.demand import Demand, Limits
from costkit.units import Range, count, percent, usd

MODELLED, QUOTED, ASSUMED, COMPUTED = "modelled", "quotes", "assumed", "computed"
_FORMAT, _SCORES, _FUSION, _AGAIN, _STEP, _BUYING = (
    "number format",
    "scores",
    "fusion",
    "recomputation",
    "optimizer step",
    "way of buying",
)
_RANKS = {"tf32": 1.0, "bf16": 2.0, "fp8": 3.0}
_PRECISIONS = {"tf32": "tf32", "bf16": "bf16-mixed", "fp8": "fp8-mixed"}
_LIVES = (4.0, 0.25)


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


class _NotOffered(Exception):
    """Why a lever is not there."""


@dataclass(frozen=True)
class _Found:
    """What a lever does to the plan; `request` is what it changes of its memory, which may take more at once."""

    effects: list[Effect]
    basis: str
    told: str
    request: Mapping[str, Any] = field(default_factory=dict)
    price: str = ""


def offers(at: Start) -> list[Offer]:
    """Every known lever, cheapest effort first, those that are not there too."""
    found: dict[str, _Found] = {}
    why_not: dict[str, str] = {}
    for name, offered in _OFFERED.items():
        try:
            found[name] = offered(at)
        except _NotOffered as why:
            why_not[name] = str(why)
    freed = room(at, {name: one.request for name, one in found.items() if one.request})
    return [
        _offer(at, about, found[name], freed) if name in found else Offer(about, None, "", why_not[name])
        for name, about in levers.known().items()
    ]


def _offer(at: Start, about: levers.Named, found: _Found, freed: Room) -> Offer:
    effects = [*found.effects, *freed.effects.get(about.name, ())]
    has = tuple(one for one in effects if one.target in (PRICE, WORK) or at.baseline.share(one.target))
    if not has:
        return Offer(about, None, "", "nothing of the run is there to act on")
    told = found.told + _and_room(found, freed, about.name)
    return Offer(about, Lever(about.name, has, about.group), found.basis, told, found.price)


def _and_room(found: _Found, freed: Room, name: str) -> str:
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


_NOTHING, _NOTHING_MUCH = 1e-9, 5e-4
_PRODUCTS, _STORED, _MOVED, _MATMUL = "attention.products", "attention.scores", "memory_bound", "matmul"


def _format(name: str) -> Callable[[Start], _Found]:
    def offered(at: Start) -> _Found:
        own = at.settings.precision
        if _rank(own) >= _RANKS[name]:
            raise _NotOffered(f"the plan computes in {own} already")
        if not training.has_format(at.gpu, _PRECISIONS[name]):
            raise _NotOffered(f"{at.gpu.name} has no {name.upper()}")
        if name == "tf32" and at.plan.memory.precision != "fp32":
            raise _NotOffered(f"the plan computes in {own} already")
        after = replace(at.settings, precision=_PRECISIONS[name])
        slots = dict.fromkeys((_MATMUL, _PRODUCTS, _STORED, _MOVED), _FORMAT)
        effects = _ratios(at, at.settings, after, slots, _RANKS[name])
        told = f"from {own}: products at {_times(at, own, _PRECISIONS[name])} the rate"
        return _Found(effects, MODELLED, told, {"precision": _PRECISIONS[name]} if name == "bf16" else {})

    return offered


def _rank(precision: str) -> float:
    """How far down the way to fewer digits a precision is."""
    format_ = training.number_format(precision)
    return {"fp32": 0.0, "tf32": 1.0, "bf16": 2.0, "fp16": 2.0}.get(format_, 3.0)


def _times(at: Start, before: str, after: str) -> str:
    ratio = training.format_limit(at.gpu, after) / training.format_limit(at.gpu, before)
    return f"{ratio:.3g} times"


def _flash(at: Start) -> _Found:
    if at.settings.attention == "flash" and at.settings.is_half:
        raise _NotOffered("the plan has it already")
    half = at.settings if at.settings.is_half else replace(at.settings, precision=_PRECISIONS["bf16"])
    before, after = replace(half, attention="eager"), replace(half, attention="flash")
    effects = _ratios(at, before, after, {_PRODUCTS: "flash products", _STORED: _SCORES})
    needs = () if at.settings.is_half else ("bf16",)
    effects = [replace(one, rank=1.0, needs=needs) for one in effects]
    told = "scores are never stored" + ("" if at.settings.is_half else ", in 16 bits only")
    return _Found(effects, MODELLED, told, {"attention": "flash"} if at.plan.memory.attention == "eager" else {})


def _compile(at: Start) -> _Found:
    if at.settings.kernels == "compiled":
        raise _NotOffered("the plan has it already")
    after = replace(at.settings, kernels="compiled")
    effects = _ratios(at, at.settings, after, {_STORED: _SCORES, _MOVED: _FUSION})
    if not effects:
        raise _NotOffered("its kernels are fused already")
    return _Found(effects, MODELLED, "what only moves data is fused")


def _checkpointing(at: Start) -> _Found:
    if at.settings.checkpointing == "full":
        raise _NotOffered("the plan has it already")
    return _Found(_recomputed(at, "full"), MODELLED, "a second forward pass", {"checkpointing": "full"})


def _selective(at: Start) -> _Found:
    if at.settings.checkpointing != "full":
        raise _NotOffered("the plan does not recompute everything")
    if not request(at.plan).about_stack.has_selective:
        raise _NotOffered(f"{at.plan.memory.stack} has no switch for it")
    if largest(at, checkpointing="selective") < at.plan.memory.micro_batch:
        raise _NotOffered("the micro-batch would no longer fit")
    return _Found(_recomputed(at, "selective"), MODELLED, "only scores are made again")


def _recomputed(at: Start, checkpointing: str) -> list[Effect]:
    after = replace(at.settings, checkpointing=checkpointing)
    return _ratios(at, at.settings, after, dict.fromkeys((_MATMUL, _PRODUCTS, _STORED, _MOVED), _AGAIN))


def _optimizer(step: str, rank: float) -> Callable[[Start], _Found]:
    def offered(at: Start) -> _Found:
        asked = at.plan.memory
        if asked.optimizer != "adamw":
            raise _NotOffered(f"the plan's optimizer is {asked.optimizer}")
        if step == at.settings.optimizer_step:
            raise _NotOffered("the plan has it already")
        keep = update_s(at.plan, step) / update_s(at.plan, at.settings.optimizer_step)
        effects = [Effect("optimizer", _band(keep), _STEP, rank)]
        told = f"{percent(1 - keep)} less data moved"
        if step == "fused-adamw":
            return _Found(effects, MODELLED, told)
        if not request(at.plan).about_stack.has_eight_bit or asked.adapter_rank is not None:
            raise _NotOffered(f"{asked.stack} has none" if asked.adapter_rank is None else "adapters have few states")
        return _Found(effects, MODELLED, told, {"optimizer": "adamw-8bit", "optimizer_step": None})

    return offered


def _compute_optimal(at: Start) -> _Found:
    plan, used = at.plan, law(at.plan)
    if plan.model.pretrained:
        raise _NotOffered("a fine-tune has the size of the model that it starts from")
    if not isinstance(used, scaling.ScalingLaw):
        raise _NotOffered("the plan's law predicts no loss")
    N, D, limits = n_active_params(plan), plan.data.n_tokens, Demand.of(plan).limits
    over = float(scaling.regret(used, n_params=N, n_tokens=D, **limits).overhead_fraction)
    if 1 / (1 + over) > 1 - _LEAST_SAVED:
        raise _NotOffered("the plan's split is the best one already, within a thousandth")
    own = split_at(used, N, D, Demand.of(plan))
    best, keep = _cheapest(used, own, limits), _trained(used, own, limits)
    of_what = "its loss and its serving" if limits["inference_tokens"] else "its loss"
    told = (
        f"{count(N)} on {count(D)} tokens is {percent(over)} over the least for {of_what}:"
        f" {count(float(best.n_params))} on {count(float(best.n_tokens))}"
    )
    more = f", {percent(keep.mid - 1)} more to train" if keep.mid > 1 else ""
    price = "a larger model, dearer to serve" if float(best.n_params) > N else ""
    return _Found([Effect(WORK, keep)], COMPUTED, f"{told}{more}{price and f', {price}'}", price=price)


def _cheapest(used: scaling.Law, own: scaling.Split, limits: Limits) -> scaling.Split:
    """The split that reaches a plan's loss for the least, training and serving together; of each draw of a law."""
    unique = limits["unique_tokens"]
    reached = scaling.loss(used, n_params=own.n_params, n_tokens=own.n_tokens, unique_tokens=unique)
    return scaling.cheapest_for_loss(used, loss=scaling.above_floor(used, reached, unique_tokens=unique), **limits)


def _trained(used: scaling.ScalingLaw, own: scaling.Split, limits: Limits) -> Range:
    """What the best split leaves of the training alone: more than all of it where serving wants a smaller model."""
    middle = float(_cheapest(used, own, limits).flop) / float(own.flop)
    if not has_draws(used):
        return Range.exact(middle)
    drawn = np.asarray(_cheapest(used.sampled(_DRAWS), own, limits).flop) / float(own.flop)
    low, high = (float(end) for end in np.quantile(drawn, (0.1, 0.9)))
    return Range(min(low, middle), middle, max(high, middle))


_DRAWS, _LEAST_SAVED = 200, 0.001


def _spot(at: Start) -> _Found:
    plan = at.plan
    if plan.market.purchase != "on_demand":
        raise _NotOffered("the plan is bought so already" if plan.market.purchase == "spot" else "the plan is reserved")
    keeps = [_spot_keep(at, times) for times in (1.0, *_LIVES)]
    if keeps[0] is None:
        raise _NotOffered("it practically never finishes on spot with these checkpoints")
    middle = keeps[0]
    low, high = min(middle, keeps[1] or middle), max(middle, keeps[2] or middle)
    told = (
        f"a discount of {percent(plan.market.spot_discount_fraction)}, less what interruptions cost; the band is a"
        " quarter of the nodes' life and four times it"
    )
    return _Found([Effect(PRICE, Range(low, middle, high), _BUYING, 1 - middle)], COMPUTED, told)


def _spot_keep(at: Start, lives: float) -> float | None:
    """Dollars on spot over those on demand, for a multiple of the plan's life of a node."""
    plan = at.plan
    changes = {"market.purchase": "spot", "hardware.usd_per_gpu_hour": _spot_price(at)}
    if lives != 1:
        changes["market.node_life_h"] = plan.market.node_life_h * lives
    run = final_run(files.replace(plan, changes))
    return None if run.is_endless else run.run.usd.mid / at.final.run.usd.mid


def _spot_price(at: Start) -> float:
    asked = at.plan.market
    own = asked.spot_usd_per_gpu_hour
    return at.plan.hardware.usd_per_gpu_hour * (1 - asked.spot_discount_fraction) if own is None else own


def _provider(at: Start) -> _Found:
    quoted = training.quoted(at.plan.hardware.gpu, purchase="on_demand")
    paid = at.final.usd_per_gpu_hour
    if at.plan.market.purchase != "on_demand":
        raise _NotOffered("the plan does not buy on demand")
    if quoted is None:
        raise _NotOffered(f"nobody quotes {at.gpu.name}")
    if quoted.mid >= paid:
        raise _NotOffered(f"{usd(paid)} is no more than the middle of its quotes, {usd(quoted.mid)}")
    keep = Range(quoted.low / paid, quoted.mid / paid, max(min(quoted.high / paid, 1.0), quoted.mid / paid))
    told = f"quotes of {usd(quoted.low)} to {usd(quoted.high)}, in the middle {usd(quoted.mid)}"
    return _Found([Effect(PRICE, keep, _BUYING, 1 - keep.mid)], QUOTED, told)


def _assumed(name: str, *targets: str) -> Callable[[Start], _Found]:
    def offered(_: Start) -> _Found:
        row = next(row for row in tables.rows("levers.csv") if row["key"] == name)
        keep = Range(*(float(row[f"keep_{end}"]) for end in ("low", "mid", "high")))
        told = f"{percent(1 - keep.mid)} of it gone is an assumption"
        return _Found([Effect(target, keep) for target in targets], ASSUMED, told)

    return offered


_OFFERED: Mapping[str, Callable[[Start], _Found]] = {
    "tf32": _format("tf32"),
    "bf16": _format("bf16"),
    "fp8": _format("fp8"),
    "flash": _flash,
    "compile": _compile,
    "checkpointing": _checkpointing,
    "selective": _selective,
    "fused-adamw": _optimizer("fused-adamw", 1.0),
    "adamw-8bit": _optimizer("adamw-8bit", 2.0),
    "compute-optimal": _compute_optimal,
    "spot": _spot,
    "provider": _provider,
    "restarts": _assumed("restarts", "checkpoint_restart"),
    "busy": _assumed("busy", "input_wait", "idle"),
}
