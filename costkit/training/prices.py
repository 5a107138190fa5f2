"""What does a price mean? Dollars for an hour of a GPU, a node or an instance, held against dated quotes.

- A price says what it is for; only `usd_per_gpu_hour` is ever multiplied by GPU-hours.
- Quotes are those of `tables.quotes`: of each provider the newest in each way of buying.
- A doubt is a question, not a verdict: real prices exist outside all quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from costkit import tables
from costkit.units import Range, require_positive, require_whole, usd

_LONGEST = 80
PRICE_UNITS = ("gpu", "node", "instance")
FAR = 3.0
"""So many times the dearest or cheapest quote is a price that nobody was seen to ask."""
_TEXT = re.compile(
    r"\$? ?(?P<usd>(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d+)?)(?<=\d) ?(?:usd)? ?(?:/|per|an?|each) ?"
    r"(?:(?P<gpus>\d+)[ -]?(?:x|gpus?)? ?)?"
    r"(?P<unit>gpu|node|instance)(?:[ -]?(?:of (?P<of>\d+)(?: gpus?)?))?[ /-]*(?:an? |per )?(?:hour|hr|h)?"
)


@dataclass(frozen=True)
class Price:
    """US dollars for an hour of a unit of `n_gpus` GPUs: one GPU, a node, or an instance."""

    usd_per_unit_hour: float
    unit: str
    n_gpus: int

    @property
    def usd_per_gpu_hour(self) -> float:
        """The price of one GPU for one hour."""
        return self.usd_per_unit_hour / self.n_gpus


def price(usd_per_hour: float, *, per: str, n_gpus: int | None = None) -> Price:
    """A price with the unit it is for.

    Args:
        usd_per_hour: Dollars for one hour of the unit.
        per: "gpu", "node" or "instance".
        n_gpus: GPUs of the unit; 1 for a GPU, and never guessed for a node or an instance.

    Raises:
        ValueError: The price is not positive, or a node's number of GPUs is missing.
        UnknownName: No such unit.

    >>> price(98.32, per="node", n_gpus=8).usd_per_gpu_hour
    12.29
    """
    require_positive(usd_per_hour, "usd_per_hour", "USD per hour")
    tables.lookup("unit of a price", per, dict.fromkeys(PRICE_UNITS))
    if per == "gpu" and n_gpus not in (None, 1):
        raise ValueError(f"a price per GPU is for 1 GPU, not for {n_gpus}: give per='node' for a machine's price")
    if per != "gpu" and n_gpus is None:
        raise ValueError(f"a price per {per} needs n_gpus, the GPUs that one {per} has, e.g. 8")
    count = 1 if n_gpus is None else n_gpus
    require_whole(count, "n_gpus", "GPUs")
    return Price(float(usd_per_hour), per, count)


def read_price(text: str) -> Price:
    """A price as people write it: "$98.32 per 8-GPU node", "2.49/gpu", "24 an instance of 8".

    Raises:
        ValueError: It is no price, or does not say what for.

    >>> read_price("$98.32 per 8-GPU node"), read_price("2.49/gpu").usd_per_gpu_hour
    (Price(usd_per_unit_hour=98.32, unit='node', n_gpus=8), 2.49)
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a price is a short text such as '98.32 per 8-GPU node', not {text[:_LONGEST]!r}...")
    # "8-GPU node" names two units: the last one is what the price is for.
    plain = re.sub(r"(\d+)[ -]?(?:x ?)?gpus?[ -](?=node|instance)", r"\1 ", " ".join(text.casefold().split()))
    found = _TEXT.fullmatch(plain)
    if found is None or (found["gpus"] and found["of"]):
        raise ValueError(
            f"{text!r} is no price: write dollars and what for, such as '2.49 per gpu' or '98.32 per 8-GPU node'"
        )
    given = found["gpus"] or found["of"]
    if not float(found["usd"].replace(",", "")):
        raise ValueError(f"{text!r} is no price: it must be above 0")
    if given is None and found["unit"] != "gpu":
        unit = found["unit"]
        raise ValueError(f"{text!r} does not say how many GPUs a {unit} has: write '{found['usd']} per 8-GPU {unit}'")
    return price(float(found["usd"].replace(",", "")), per=found["unit"], n_gpus=int(given) if given else None)


def quoted(gpu: str, *, purchase: str = "on_demand") -> Range | None:
    """The cheapest, the middle and the dearest newest quote of all providers; None where nobody quotes it.

    >>> found = quoted("H100-SXM5-80GB")
    >>> found.low < found.mid < found.high
    True
    """
    newest: dict[str, float] = {}
    for quote in tables.quotes(gpu=gpu, purchase=purchase):
        newest.setdefault(quote.provider, quote.usd_per_gpu_hour)
    found = sorted(newest.values())
    return Range(found[0], median(found), found[-1]) if found else None


@dataclass(frozen=True)
class PriceDoubt:
    """A suspicion about a price: its `kind`, the price it would be, and a sentence."""

    kind: str
    usd_per_gpu_hour: float
    sentence: str


def price_doubts(
    gpu: str, *, usd_per_gpu_hour: float, gpus_per_node: int = tables.GPUS_PER_NODE
) -> Sequence[PriceDoubt]:
    """What quotes make suspicious about a price; empty where it is not far from what providers ask.

    >>> [found.kind for found in price_doubts("H100-SXM5-80GB", usd_per_gpu_hour=98.32)]
    ['node price']
    >>> price_doubts("H100-SXM5-80GB", usd_per_gpu_hour=2.5)
    ()
    """
    require_positive(usd_per_gpu_hour, "usd_per_gpu_hour", "USD per GPU-hour")
    require_whole(gpus_per_node, "gpus_per_node", "GPUs")
    spans = [quoted(gpu, purchase=way) for way in tables.PURCHASES]
    known = [span for span in spans if span is not None]
    if not known:
        return ()
    low, high = min(span.low for span in known), max(span.high for span in known)
    if low / FAR <= usd_per_gpu_hour <= high * FAR:
        return ()
    about = f"{usd(usd_per_gpu_hour)} an hour for one {gpu} is outside all quotes, {usd(low)} to {usd(high)}"
    reading = node_reading(usd_per_gpu_hour, low=low, high=high, gpus_per_node=gpus_per_node)
    if usd_per_gpu_hour < low:
        told = f"{about}: is it a price divided by {gpus_per_node} twice, or one without its host?"
        return (PriceDoubt("low", usd_per_gpu_hour if reading is None else reading, told),)
    if reading is None:
        return (PriceDoubt("high", usd_per_gpu_hour, f"{about}."),)
    told = f"{about}: as the price of a node of {gpus_per_node} it is {usd(reading)} each."
    return (PriceDoubt("node price", reading, told),)


def node_reading(
    usd_per_gpu_hour: float, *, low: float, high: float, gpus_per_node: int, far: float = FAR, near: float = FAR
) -> float | None:
    """The price of a GPU, if one far from its quotes is a node's, or a GPU's divided once more; None where it is none.

    Args:
        usd_per_gpu_hour: The price.
        low: The cheapest quote.
        high: The dearest quote.
        gpus_per_node: GPUs of a node.
        far: So many times the dearest quote is too much, and the cheapest over so many too little.
        near: Within so many times the quotes the other reading must lie.

    >>> [node_reading(price, low=1.25, high=12.29, gpus_per_node=8) for price in (98.32, 2.5, 0.25)]
    [12.29, None, 2.0]
    """
    is_dear, is_cheap = usd_per_gpu_hour > far * high, usd_per_gpu_hour < low / far
    for is_odd, reading in ((is_dear, usd_per_gpu_hour / gpus_per_node), (is_cheap, usd_per_gpu_hour * gpus_per_node)):
        if is_odd and low / near <= reading <= high * near:
            return reading
    return None


def flip_usd_per_gpu_hour(*, usd_of_other: float, gpu_hours: float) -> float:
    """The price of a GPU-hour at which a run costs as much as another way of doing it: above it, the other is cheaper.

    >>> flip_usd_per_gpu_hour(usd_of_other=30_000, gpu_hours=10_000)
    3.0
    """
    require_positive(usd_of_other, "usd_of_other", "USD")
    require_positive(gpu_hours, "gpu_hours", "GPU-hours")
    return usd_of_other / gpu_hours
