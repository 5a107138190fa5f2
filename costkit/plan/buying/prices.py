"""What do all GPUs cost an hour, on spot and otherwise? The plan's price and discount, or a record of spot prices.

- A record tells the price of one machine of `market.gpus_per_node` GPUs; its mean is over time. GPUs are paid one by
  one, on spot and otherwise.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from costkit import spot, tables
from costkit.plan.buying.changed import changed_ns
from costkit.plan.kinds import PlanError
from costkit.plan.schema import Plan
from costkit.units import DAY, duration, percent, usd

_LOWEST = 0.13


@dataclass(frozen=True)
class Prices:
    """Prices of the whole job, how the one on spot moves, and what a reader must know about them."""

    spot_usd_per_hour: float
    on_demand_usd_per_hour: float
    steps: spot.PriceSteps | None = None
    warnings: tuple[str, ...] = ()


def prices(plan: Plan) -> Prices:
    """The plan's prices.

    Raises `ValueError` of one sentence for a record that can't be read, or that has several zones and none is named.
    """
    asked, n_gpus = plan.market, plan.hardware.n_gpus
    price, left = plan.hardware.usd_per_gpu_hour, 1 - asked.spot_discount_fraction
    on_spot, otherwise = (price, price / left) if asked.purchase == "spot" else (price * left, price)
    on_spot = on_spot if asked.spot_usd_per_gpu_hour is None else asked.spot_usd_per_gpu_hour
    path = plan.path_of("market.price_history")
    if path is None:
        return Prices(on_spot * n_gpus, otherwise * n_gpus)
    history = _read(path, changed_ns(path), asked.zone, otherwise * asked.gpus_per_node)
    if len(history.zones) > 1:
        zones = ", ".join(sorted(history.zones))
        raise PlanError(f"market.price_history has the zones {zones}: name one in market.zone")
    found = next(iter(history.zones.values()))
    mean = found.mean_usd_per_hour()
    used = "only gives the price on demand" if asked.purchase == "spot" else "is not used"
    told = (
        f"The spot price is that of {found.instance_type or 'the machines'} in {found.zone}, {usd(mean)} an hour for a"
        f" machine of {asked.gpus_per_node} GPUs on average; market.spot_discount_fraction {used}."
    )
    warnings = (told, *_low(mean, otherwise * asked.gpus_per_node), *_short(found), *history.warnings)
    return Prices(mean / asked.gpus_per_node * n_gpus, otherwise * n_gpus, _steps(found), warnings)


@functools.lru_cache(maxsize=8)
def _read(path: Path, _changed: int, zone: str, machine_usd: float) -> spot.PriceHistory:
    try:
        return spot.read_price_history(path, zone=zone or None, on_demand_usd_per_hour=machine_usd)
    except tables.UnknownName as error:
        raise PlanError(f"market.zone: {error}") from None
    except ValueError as error:
        raise PlanError(f"market.price_history: {error}") from None


def _steps(found: spot.ZonePrices) -> spot.PriceSteps | None:
    """The moves of a record; its last price began at its end and lasted for no known time."""
    if len(found.times_s) < 2:
        return None
    return spot.price_steps(found.times_s[:-1], usd_per_hour=found.usd_per_hour[:-1], end_s=found.end_s)


def _low(mean: float, machine_usd: float) -> list[str]:
    """That a price is too low to be that of a machine."""
    if mean > _LOWEST * machine_usd:
        return []
    return [f"That is {percent(mean / machine_usd)} of the other price of such a machine: is it the price of one GPU?"]


def _short(found: spot.ZonePrices) -> list[str]:
    """That a short record is repeated."""
    span = found.end_s - found.start_s
    return [f"The record of prices spans {duration(span)} and is repeated."] if 0 < span < 30 * DAY else []
