"""What do the same GPUs cost, bought in another way? On spot, or of another provider: of the two, one counts."""

from __future__ import annotations

import functools
import math

from costkit import training
from costkit.levers import PRICE, Effect
from costkit.plan.buying.blocks import GIVE_UP
from costkit.plan.buying.changed import files_changed_ns
from costkit.plan.costing.final_run import FinalRun, final_run
from costkit.plan.levers_section import LeversSection
from costkit.plan.replanning.found import COMPUTED, QUOTED, Found, NotOffered
from costkit.plan.replanning.start import Start
from costkit.plan.schema import Plan, fields
from costkit.plan.sections import CaseSection
from costkit.units import Range, percent, usd

_BUYING = "way of buying"
_LIVES = (4.0, 0.25)


def spot(at: Start) -> Found:
    """The price of spot, and what interruptions cost; the band is that of nodes that live longer and shorter.

    A run that practically never finishes with the shorter lives counts as one that pays until it is given up.
    """
    plan = at.plan
    if plan.market.purchase != "on_demand":
        raise NotOffered("the plan is bought so already" if plan.market.purchase == "spot" else "the plan is reserved")
    run = _on_spot(at, 1.0)
    if run.is_endless:
        raise NotOffered("it practically never finishes on spot with these checkpoints")
    others = [_on_spot(at, times) for times in _LIVES]
    middle, price = _kept(at, run), run.usd_per_gpu_hour / at.final.usd_per_gpu_hour
    keeps = [GIVE_UP * price if one.is_endless else _kept(at, one) for one in others]
    low, high = min(middle, *keeps), max(middle, *keeps)
    less = f"a discount of {percent(1 - price)}, less" if price < 1 else f"{percent(price - 1)} dearer, and"
    told = f"{less} what interruptions cost{_band(low, high, others[-1])}"
    return Found([Effect(PRICE, Range(low, middle, high), _BUYING, 1 - middle)], COMPUTED, told)


def _band(low: float, high: float, shorter: FinalRun) -> str:
    if low == high:
        return ""
    never = ", with which it practically never finishes," if shorter.is_endless else ""
    return f"; the band is a quarter of the nodes' life{never} and four times it"


def _on_spot(at: Start, lives: float) -> FinalRun:
    """The run on spot, for a multiple of the plan's life of a node."""
    case = CaseSection(published_run=at.plan.case.published_run)
    plan = at.plan.model_copy(update={"case": case, "levers": LeversSection()})
    return _bought(plan, lives, files_changed_ns(plan))


@functools.lru_cache(maxsize=64)
def _bought(plan: Plan, lives: float, _changed_ns: tuple[int, ...]) -> FinalRun:
    """Kept, since what is told of a case, and its levers, move while the market stays.

    The plan is not checked again: its price is that of spot now, and one that no quote is near stops no answer.
    """
    price = plan.hardware.usd_per_gpu_hour * (1 - plan.market.spot_discount_fraction)
    hardware = {"usd_per_gpu_hour": _allowed("hardware.usd_per_gpu_hour", price)}
    market: dict[str, object] = {"purchase": "spot"}
    if lives != 1:
        market["node_life_h"] = _allowed("market.node_life_h", plan.market.node_life_h * lives)
    bought = {"hardware": plan.hardware.model_copy(update=hardware), "market": plan.market.model_copy(update=market)}
    return final_run(plan.model_copy(update=bought))


def _allowed(key: str, value: float) -> float:
    """The value, or the nearest that a plan may have: no lever stops an answer."""
    field = fields()[key]
    return min(max(value, field.least or 0.0), math.inf if field.most is None else field.most)


def _kept(at: Start, run: FinalRun) -> float:
    """Dollars on spot over those on demand."""
    return run.run.usd.mid / at.final.run.usd.mid


def provider(at: Start) -> Found:
    """The middle of what others ask for the same GPU on demand."""
    quoted = training.quoted(at.plan.hardware.gpu, purchase="on_demand")
    paid = at.final.usd_per_gpu_hour
    if at.plan.market.purchase != "on_demand":
        raise NotOffered("the plan does not buy on demand")
    if quoted is None:
        raise NotOffered(f"nobody quotes {at.gpu.name}")
    if quoted.mid >= paid:
        raise NotOffered(f"{usd(paid)} is no more than the middle of its quotes, {usd(quoted.mid)}")
    keep = Range(quoted.low / paid, quoted.mid / paid, max(min(quoted.high / paid, 1.0), quoted.mid / paid))
    told = f"quotes of {usd(quoted.low)} to {usd(quoted.high)}, in the middle {usd(quoted.mid)}"
    return Found([Effect(PRICE, keep, _BUYING, 1 - keep.mid)], QUOTED, told)
