"""What does spot cost of the on-demand price? Quotes of one GPU over zones and providers.

- A ratio of 1 is a zone without a discount, one of exactly 0.1 a floor and no market price: both stay, and are counted.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import tables
from costkit.spot.trace import Flags
from costkit.units import Range

_FLOOR_FRACTION = 0.1


@dataclass(frozen=True)
class SpotQuotes:
    """Spot prices of one GPU over zones and providers, and their ratios to the on-demand price in the same region.

    A ratio of 1 is a zone without a discount, one of exactly 0.1 a floor and no market price: both are real offers and
    stay, and are counted. A price without an on-demand price beside it has no ratio.
    """

    gpu: str
    prices: tuple[float, ...]
    ratios: tuple[float, ...]

    @property
    def usd_per_gpu_hour(self) -> Range:
        """The lowest, the median and the highest price."""
        return _spread(self.gpu, self.prices)

    @property
    def price_ratio(self) -> Range:
        """The lowest, the median and the highest ratio to the on-demand price."""
        return _spread(self.gpu, self.ratios)

    @property
    def n_no_discount(self) -> int:
        """How many cost what on-demand costs, or more."""
        return sum(ratio >= 1 for ratio in self.ratios)

    @property
    def n_at_floor(self) -> int:
        """How many are a tenth of the on-demand price, up to the rounding of the prices."""
        return int(np.count_nonzero(at_floor(self.ratios)))


def at_floor(ratios: npt.ArrayLike) -> Flags:
    """Which ratios to the on-demand price are a tenth, up to the rounding of the prices."""
    return np.isclose(ratios, _FLOOR_FRACTION, rtol=5e-4, atol=0)


def _spread(gpu: str, values: tuple[float, ...]) -> Range:
    if not values:
        raise ValueError(f"No spot price of {gpu} has an on-demand price beside it; give the ratio yourself.")
    return Range(min(values), statistics.median(values), max(values))


def _machine(quote: tables.Quote) -> tuple[str, ...]:
    return quote.provider, quote.instance_type, quote.region, quote.as_of, quote.source


def spot_quotes(gpu: str, *, provider: str | None = None) -> SpotQuotes:
    """The spot prices of a GPU, of all providers or of one.

    >>> h100 = spot_quotes("H100-SXM5-80GB", provider="aws")
    >>> h100.usd_per_gpu_hour, h100.n_no_discount
    (Range(low=1.7808, mid=2.7029, high=6.88), 2)
    """
    on_demand = {
        _machine(quote): quote.usd_per_gpu_hour for quote in tables.quotes(gpu, purchase="on_demand", provider=provider)
    }
    offers = tables.quotes(gpu, purchase="spot", provider=provider)
    if not offers:
        seller = provider or "any provider"
        raise ValueError(f"There is no spot price of {gpu} at {seller}; give one of your own.")
    ratios = (quote.usd_per_gpu_hour / on_demand[_machine(quote)] for quote in offers if _machine(quote) in on_demand)
    return SpotQuotes(gpu, tuple(sorted(quote.usd_per_gpu_hour for quote in offers)), tuple(sorted(ratios)))


def price_ratio_range(gpu: str) -> Range:
    """Spot over on-demand price of a GPU in the same region: the lowest, the median and the highest of all zones.

    >>> ratio = price_ratio_range("H100-SXM5-80GB")
    >>> f"{ratio.low:.2f} {ratio.mid:.2f} {ratio.high:.2f}"
    '0.18 0.39 1.00'
    """
    return spot_quotes(gpu).price_ratio
