"""Do the published figures agree with each other? Days, price, savings and bills, each recomputed, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit import tables
from costkit.levers import Listed
from costkit.units import DAY, HOUR, number, usd

if TYPE_CHECKING:
    from costkit.plan.replanning.answer import Replan


def told(answer: Replan) -> str:
    """Whether the published figures agree with each other."""
    case, at, listed = answer.plan.case, answer.at, answer.listed
    if at is None or case.published_usd is None:
        return "The plan tells of no published bill that could be checked."
    hardware, found = answer.plan.hardware, []
    price = usd(hardware.usd_per_gpu_hour)
    if case.published_days is not None:
        found.append(_days_told(answer, case.published_days, case.published_usd))
    if elsewhere := _price_of_another(hardware.gpu, hardware.usd_per_gpu_hour):
        found.append(f"{price} is a list price of {elsewhere}, and of no {hardware.gpu}")
    if case.published_final_usd is not None:
        days = case.published_final_usd / hardware.n_gpus / hardware.usd_per_gpu_hour * HOUR / DAY
        one, named = hardware.n_gpus == 1, case.published_days is not None
        they, at_price = ("it" if one else "they", "that price") if named else (_gpus(hardware.n_gpus), price)
        how = ", on demand" if answer.plan.market.purchase == "on_demand" else ""
        end = usd(case.published_final_usd)
        found.append(f"{end} is what {they} {'costs' if one else 'cost'} for {number(days)} days at {at_price}{how}")
    if listed is not None:
        found.append(_listed_told(listed, case.published_final_usd))
    return "; ".join(found) + "." if found else "Nothing was published that could be checked against the bill."


def _days_told(answer: Replan, days: float, published_usd: float) -> str:
    """What the days come to at the plan's price, and whether that is the bill."""
    hardware = answer.plan.hardware
    ours = usd(hardware.n_gpus * days * DAY / HOUR * hardware.usd_per_gpu_hour)
    beside = "as published" if ours == usd(published_usd) else f"not {usd(published_usd)}"
    price = usd(hardware.usd_per_gpu_hour)
    are = "is" if hardware.n_gpus == 1 else "are"
    return f"{_gpus(hardware.n_gpus)} for {number(days)} days at {price} {are} {ours}, {beside}"


def _gpus(n_gpus: int) -> str:
    return "1 GPU" if n_gpus == 1 else f"{n_gpus:,} GPUs"


def _listed_told(listed: Listed, final_usd: float | None) -> str:
    """What the listed savings come to, added and multiplied."""
    fell = 0.0 if final_usd is None else listed.baseline_usd - final_usd
    bills = f", where the bills differ by {usd(fell)}," if fell > 0 else ""
    return (
        f"the listed savings sum to {usd(listed.sum_usd)}{bills} and would leave {usd(listed.added_usd)}; as shares of"
        f" what is left, multiplied, they leave {usd(listed.multiplied_usd)}"
    )


def _price_of_another(gpu: str, usd_per_gpu_hour: float) -> str:
    """The GPU of the same maker that is quoted at exactly this price on demand, where the plan's own never is."""
    own = [quote.usd_per_gpu_hour for quote in tables.quotes(gpu=gpu, purchase="on_demand")]
    if not own or usd_per_gpu_hour in own:
        return ""
    gpus = tables.gpus()
    others = (quote for quote in tables.quotes(purchase="on_demand") if quote.usd_per_gpu_hour == usd_per_gpu_hour)
    return next((one.gpu for one in others if gpus[one.gpu].vendor == gpus[gpu].vendor), "")
