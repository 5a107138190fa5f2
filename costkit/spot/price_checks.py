"""Which prices look wrong? What a price history can hold but a market seldom does, by zone and date.

- A price far above all others is a stand-in for "none" (700.0 is one), or a spike of the old auctions: before 2018 a
  price could pass ten times the on-demand one.
- A spot price at exactly a tenth of on-demand is a floor; one at on-demand saves nothing; one above it is mostly that
  of a commitment, or of another machine, in either column.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from costkit.spot import files
from costkit.spot.price_history import ZonePrices
from costkit.spot.quoted import at_floor
from costkit.spot.trace import Flags

_FAR_ABOVE = 20
_SAME = 1e-4
_ZONE_ID = re.compile(r"[a-z]+\d+-az\d+$")


def warnings_on(zones: Collection[ZonePrices], *, on_demand_usd_per_hour: float | None = None) -> list[str]:
    """A sentence for each trap in each zone."""
    told = _names_mixed([prices.zone for prices in zones])
    usual = min(float(np.median(prices.usd_per_hour)) for prices in zones)
    for prices in zones:
        far = prices.usd_per_hour > _FAR_ABOVE * usual
        told += _where(prices, far, f"more than {_FAR_ABOVE} times the usual {usual:g}: is it a stand-in for no price?")
        if on_demand_usd_per_hour is not None:
            told += _against(prices, on_demand_usd_per_hour)
        if len(prices.times_s) < 2:
            told.append(
                f"{prices.zone}: there is one price only, of {files.day(prices.times_s[0])}; it is held for ever."
            )
    return told


def _against(prices: ZonePrices, on_demand: float) -> list[str]:
    """What is odd beside the price on demand."""
    ratio = prices.usd_per_hour / on_demand
    is_same = np.isclose(ratio, 1.0, rtol=_SAME, atol=0)
    return [
        *_where(prices, is_same, "the price on demand: spot saves nothing."),
        *_where(
            prices,
            (ratio > 1) & ~is_same,
            f"above the price on demand, {on_demand:g}: is either of another machine?",
        ),
        *_where(prices, at_floor(ratio), "a tenth of the price on demand: a floor, not a market price."),
    ]


def _where(prices: ZonePrices, is_odd: Flags, what: str) -> list[str]:
    found = np.flatnonzero(is_odd)
    if not found.size:
        return []
    i = int(found[0])
    rest = f" (and {found.size - 1} times more)" if found.size > 1 else ""
    price, since = prices.usd_per_hour[i], files.day(prices.times_s[i])
    return [f"{prices.zone}: ${price:g} on {since}{rest} is {what}"]


def _names_mixed(zones: list[str]) -> list[str]:
    ids = [zone for zone in zones if _ZONE_ID.fullmatch(zone)]
    if not ids or len(ids) == len(zones):
        return []
    name = next(zone for zone in zones if zone not in ids)
    both = f"identifier ({ids[0]}) and by name ({name})"
    return [f"zones are given by {both}: one may stand there twice, and a name means another zone in another account."]
