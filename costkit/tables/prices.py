"""What does a GPU-hour cost, where and since when? Price quotes, newest first."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from costkit.tables.devices import gpus
from costkit.tables.files import rows
from costkit.tables.names import lookup

PURCHASES = ("on_demand", "spot", "commit_1y", "commit_3y")


@dataclass(frozen=True)
class Quote:
    """One price of one GPU for one hour, as one provider asked for it on one day."""

    provider: str
    gpu: str
    purchase: str
    instance_type: str
    region: str
    usd_per_gpu_hour: float
    as_of: str
    source: str
    zone: str = ""
    url: str = ""
    note: str = ""


def _quote_of(row: Mapping[str, str]) -> Quote:
    texts = {name: text for name, text in row.items() if name != "usd_per_gpu_hour"}
    return Quote(usd_per_gpu_hour=float(row["usd_per_gpu_hour"]), **texts)


@functools.cache
def _all_quotes() -> tuple[Quote, ...]:
    return tuple(sorted(map(_quote_of, rows("quotes.csv")), key=lambda quote: quote.as_of, reverse=True))


def quotes(gpu: str | None = None, purchase: str | None = None, provider: str | None = None) -> list[Quote]:
    """The price quotes that match, newest first.

    >>> latest = quotes(gpu="A100-SXM4-80GB", purchase="on_demand", provider="aws")[0]
    >>> latest.instance_type, latest.usd_per_gpu_hour
    ('p4de.24xlarge', 3.4309)
    """
    if gpu is not None:
        lookup("GPU", gpu, gpus())
    if purchase is not None:
        lookup("purchase", purchase, dict.fromkeys(PURCHASES))
    if provider is not None:
        lookup("provider", provider, {quote.provider: quote for quote in _all_quotes()})
    return [
        quote
        for quote in _all_quotes()
        if gpu in (None, quote.gpu) and purchase in (None, quote.purchase) and provider in (None, quote.provider)
    ]
