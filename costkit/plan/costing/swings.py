"""What moves the bill? One thing at a time changed to its other plausible values, and the bill again.

- A swing says what it changes, between which values, and which notebook settles it.
- Ranges are the middle 80% of published runs, or the cheapest and the dearest newest quote.
- An alternative is told where it is cheaper; one that costs more moves nobody's bill.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from costkit import scaling, training
from costkit.plan.buying.prices import prices
from costkit.plan.costing.elsewhere import others, verdict_on
from costkit.plan.costing.final_run import final_run
from costkit.plan.costing.ledger import with_final
from costkit.plan.files import replace
from costkit.plan.reached import MEASURED, PUBLISHED, left_out
from costkit.plan.sizing.demand import Demand
from costkit.units import count, percent, usd

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page

NOTEBOOKS = {
    "size": "01_chinchilla_frontier",
    "spot": "02_spot_savings",
    "memory": "03_precision_and_memory",
}
_NOTHING = 0.005
_HALVES = ("bf16-mixed", "fp16-mixed")
_FASTER = {"fp32": _HALVES, "tf32": _HALVES, "bf16-mixed": ("fp8-mixed",), "fp16-mixed": ("fp8-mixed",)}


@dataclass(frozen=True)
class Swing:
    """The bill with one thing changed: `low_usd` at `low_label`, `high_usd` at `high_label`.

    An alternative has its high end at the plan's own bill, and an empty label there.
    """

    what: str
    low_usd: float
    high_usd: float
    low_label: str
    high_label: str
    notebook: str = ""

    @property
    def width_usd(self) -> float:
        """How far it moves the bill, from end to end."""
        return self.high_usd - self.low_usd


def swings(answer: Page) -> list[Swing]:
    """What moves the bill, the most first; what moves it by less than half a per cent is left out."""
    found = [swing for make in _MAKERS if (swing := make(answer)) is not None]
    worth = [one for one in found if one.width_usd > _NOTHING * answer.usd.mid and math.isfinite(one.width_usd)]
    return sorted(worth, key=lambda one: -one.width_usd)


def _mfu(answer: Page) -> Swing | None:
    """The MFU between the ends of what published runs reached; for a measured one nothing is open."""
    final = answer.final
    if final.reached.basis == MEASURED:
        return None
    like = final.reached.published.mfu
    if final.reached.basis == PUBLISHED:
        low, high = final.reached.run_mfu.high, final.reached.run_mfu.low
    else:
        low, high = max(like.high, final.reached.run_mfu.mid), min(like.low, final.reached.run_mfu.mid)
    own = final.reached.run_mfu.mid
    low_usd, high_usd = (with_final(answer, answer.final_usd * own / mfu) for mfu in (low, high))
    return Swing("MFU of the whole run", low_usd, high_usd, percent(low), percent(high))


def _price(answer: Page) -> Swing | None:
    """The cheapest and the dearest newest quote for the same GPU, bought the same way."""
    plan = answer.plan
    quoted = training.quoted(plan.hardware.gpu, purchase=plan.market.purchase)
    if quoted is None:
        return None
    own = answer.final.usd_per_gpu_hour
    low, high = min(quoted.low, own), max(quoted.high, own)
    low_usd, high_usd = (with_final(answer, answer.final_usd * price / own) for price in (low, high))
    return Swing("Price of a GPU-hour", low_usd, high_usd, usd(low), usd(high), NOTEBOOKS["spot"])


def _goodput(answer: Page) -> Swing | None:
    """Goodput between the ends of what published runs kept; inside the MFU of whole runs where that is theirs."""
    final = answer.final
    if final.reached.has_own_goodput or final.is_held_up_by_its_settings or final.reached.basis == PUBLISHED:
        return None
    kept, own = training.published_goodput(), final.reached.goodput.mid
    share = own / kept.mid
    low_usd, high_usd = (with_final(answer, answer.final_usd * own / (end * share)) for end in (kept.high, kept.low))
    return Swing("Goodput", low_usd, high_usd, percent(kept.high * share), percent(kept.low * share))


def _gpu(answer: Page) -> Swing | None:
    """The cheapest other GPU of those that published runs tell of and that may have the memory, at its middle quote."""
    for one in others(answer):
        if one.is_own or not one.on.efficiency.is_of_chip or one.usd.mid >= answer.final_usd:
            continue
        if verdict_on(answer, one.on.gpu) != "does not fit":
            told = f"{one.on.gpu.name} at {usd(one.on.usd_per_gpu_hour.mid)}"
            return _alternative(answer, "Another GPU", with_final(answer, one.usd.mid), told)
    return None


def _spot(answer: Page) -> Swing | None:
    """Bought on spot at the price that notebook 02 pays, interruptions and all; None where its market can't be one."""
    plan = answer.plan
    if plan.market.purchase == "spot":
        return None
    try:
        price = prices(plan).spot_usd_per_hour / plan.hardware.n_gpus
        changed = final_run(replace(plan, {"market.purchase": "spot", "hardware.usd_per_gpu_hour": price}))
    except ValueError:
        return None
    told = f"{usd(changed.usd_per_gpu_hour)}, with its interruptions"
    return _alternative(answer, "Buying on spot", with_final(answer, changed.run.usd.mid), told, NOTEBOOKS["spot"])


def _size(answer: Page) -> Swing | None:
    """The same loss with the size that takes the least compute, serving not counted."""
    plan, law, loss = answer.plan, answer.law, answer.loss
    if plan.model.pretrained or loss is None or not isinstance(law, scaling.ScalingLaw):
        return None
    best = scaling.cheapest_for_loss(law, loss=loss.mid, unique_tokens=Demand.of(plan).unique_tokens)
    changed = with_final(answer, answer.final_usd * float(best.flop) / answer.final.flop)
    larger = ", dearer to serve" if float(best.n_params) > answer.n_active_params else ""
    told = f"{count(float(best.n_params))} on {count(float(best.n_tokens))} tokens{larger}"
    return _alternative(answer, "The best size for its loss", changed, told, NOTEBOOKS["size"])


def _precision(answer: Page) -> Swing | None:
    """Mixed precision in place of FP32 or TF32, FP8 in place of mixed precision: what the matrix products save."""
    plan = answer.plan
    faster = _FASTER.get(plan.memory.precision, ())
    wanted = next((name for name in faster if training.has_format(answer.gpu, name)), None)
    if wanted is None:
        return None
    own = answer.final.reached.published.mfu.mid
    other = training.efficiency(
        gpu=answer.gpu,
        n_params=answer.n_active_params,
        n_gpus=plan.hardware.n_gpus,
        seq_len=plan.training.seq_len,
        precision=wanted,
        left_out=left_out(plan),
    ).mfu.mid
    changed = with_final(answer, answer.final_usd * own / other)
    return _alternative(answer, "Number format", changed, wanted, NOTEBOOKS["memory"])


def _alternative(answer: Page, what: str, changed_usd: float, label: str, notebook: str = "") -> Swing | None:
    own = answer.usd.mid
    return Swing(what, changed_usd, own, label, "", notebook) if changed_usd < own else None


_MAKERS: tuple[Callable[[Page], Swing | None], ...] = (_mfu, _price, _goodput, _gpu, _spot, _size, _precision)
