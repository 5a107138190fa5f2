"""How long do interruptible machines live, and what do they cost? What was measured, and what providers tell.

- No public trace of lives on H100s or newer was found: what was measured is of V100s, A100s, K80s and T4s, from 2021 to
  2023.
- A mean life is hours watched over machines lost. Real lives are no even rate: many end within the hour, and machines
  go in bursts (`burst_nodes` at a time).
- Providers tell rates in units that can't be compared: AWS per month, Azure per hour, GCP without time. An AWS bucket
  ranks zones; V100s of AWS's highest bucket were measured to live hundreds of times shorter than it reads.
"""

from __future__ import annotations

import calendar
import functools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit import tables
from costkit.units import DAY, HOUR, Range, duration, require_positive

_GPU_DEVICES = ("a100", "k80", "v100")
_WATCHED = {"availability": "by probes that start and stop a machine", "preemption": "on machines held until lost"}
_FLOOR_FRACTION = 0.1
_NO_RATE = (
    "gcp tells how many of the machines that stopped were preempted, which holds no time: no life follows from it."
    " Give a mean life, or take a measured market."
)


def _number(row: Mapping[str, str], column: str, unit: float = 1.0) -> float | None:
    return float(row[column]) * unit if row[column] else None


@dataclass(frozen=True)
class MeasuredMarket:
    """Machines of one kind in one zone, as they were watched; None where it is not known.

    `mean_life_s` is of one machine, infinite where none was lost. `mean_up_s` and `mean_wait_s` are how long all
    `nodes` were there at once and how long not, `available_fraction` the share of the time that they were.
    `burst_nodes` is how many are lost at a time, `weibull_shape` the shape of the times up (1: an even rate).
    """

    name: str
    kind: str
    provider: str
    zone: str
    gpu: str
    device: str
    n_gpus_per_node: int
    nodes: int
    mean_life_s: float
    mean_up_s: float | None
    mean_wait_s: float | None
    available_fraction: float | None
    burst_nodes: float
    weibull_shape: float | None
    as_of: str
    source: str
    note: str


def _measured_on(row: Mapping[str, str]) -> str:
    year, month = (*row["as_of"].split("-"), "")[:2]
    when = f"{calendar.month_name[int(month)]} {year}" if month else year
    what = f"{row['device'].upper()}s" if row["device"] in _GPU_DEVICES else f"{row['device']} machines"
    said = f"measured on {what} in {when}, {_WATCHED[row['kind']]}"
    return f"{said}; {row['note']}" if row["note"] else said


def _market_of(row: Mapping[str, str]) -> MeasuredMarket:
    losses_per_hour = float(row["losses_per_node_hour"])
    return MeasuredMarket(
        **{name: row[name] for name in ("name", "kind", "provider", "zone", "gpu", "device", "as_of", "source")},
        n_gpus_per_node=int(row["n_gpus_per_node"]),
        nodes=int(row["capacity"]),
        mean_life_s=HOUR / losses_per_hour if losses_per_hour else math.inf,
        mean_up_s=_number(row, "mean_up_h", HOUR),
        mean_wait_s=_number(row, "mean_down_h", HOUR),
        available_fraction=_number(row, "available_fraction"),
        burst_nodes=float(row["mean_burst_nodes"]),
        weibull_shape=_number(row, "weibull_shape"),
        note=_measured_on(row),
    )


@functools.cache
def measured_markets() -> tuple[MeasuredMarket, ...]:
    """Every market that was watched, by name.

    >>> len(measured_markets()), sum(market.gpu == "V100-SXM2-16GB" for market in measured_markets())
    (38, 25)
    """
    return tuple(map(_market_of, tables.rows("spot_traces.csv")))


def measured_market(name: str) -> MeasuredMarket:
    """The market of that name.

    >>> market = measured_market("aws-02-15-2023/us-east-1a_v100_1")
    >>> duration(market.mean_life_s), duration(market.mean_wait_s), market.note
    ('43.2 minutes', '3.58 hours', 'measured on V100s in February 2023, by probes that start and stop a machine')
    """
    return tables.lookup("measured market", name, {market.name: market for market in measured_markets()})


@dataclass(frozen=True)
class LifeRange:
    """The mean lives that a published bucket of interruption rates leaves open, and a sentence that says so.

    `longest_s` is infinite where the bucket begins at nothing. `shortest_s` is 0 where the bucket has no upper end.
    """

    shortest_s: float
    longest_s: float
    sentence: str
    source: str


def _life_s(interrupted_fraction: float, period_s: float) -> float:
    """1 / lambda, with lambda = -ln(1 - p) / period: the chance p of an interruption within the period."""
    return period_s / -math.log1p(-interrupted_fraction) if interrupted_fraction else math.inf


@functools.cache
def _rates() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    found: dict[str, dict[str, Mapping[str, str]]] = {}
    for row in tables.rows("interruption_rates.csv"):
        found.setdefault(row["provider"], {})[row["bucket"]] = row
    return MappingProxyType(found)


def rate_buckets() -> Mapping[str, tuple[str, str]]:
    """Provider and bucket by a name that tells both and the period.

    >>> rate_buckets()["azure 5-10% per hour"]
    ('azure', '5-10')
    """
    rows = (row for buckets in _rates().values() for row in buckets.values())
    return MappingProxyType({_bucket_name(row): (row["provider"], row["bucket"]) for row in rows})


def _bucket_name(row: Mapping[str, str]) -> str:
    return f"{row['provider']} {row['bucket'].rstrip('%')}% per {row['per']}"


def _refuse_gcp(provider: object) -> None:
    if provider == "gcp":
        raise ValueError(_NO_RATE)


def rate_range(provider: str, bucket: str) -> LifeRange:
    """What a provider's bucket of interruption rates says about the mean life of a machine, at an even rate.

    lambda = -ln(1 - p) / period, with p the bucket's ends, per month of 730 hours at AWS and per hour at Azure.

    >>> print(rate_range("azure", "5-10").sentence)
    azure's 5-10% per hour is a mean life between 9.49 hours and 19.5 hours, at an even rate.
    >>> print(rate_range("aws", ">20%").sentence)
    aws's >20% per month is a mean life of at most 136 days, at an even rate; it has no upper end, so how short is open.
    """
    _refuse_gcp(provider)
    row = tables.lookup(f"bucket of {provider}", bucket, tables.lookup("provider of rates", provider, _rates()))
    period_s = float(row["period_h"]) * HOUR
    high = _number(row, "high_fraction")
    shortest_s = 0.0 if high is None else _life_s(high, period_s)
    longest_s = _life_s(float(row["low_fraction"]), period_s)
    said = f"{provider}'s {bucket.rstrip('%')}% per {row['per']} is a mean life"
    if high is None:
        said += f" of at most {duration(longest_s)}, at an even rate; it has no upper end, so how short is open."
    elif longest_s == math.inf:
        said += f" of {duration(shortest_s)} or more, at an even rate."
    else:
        said += f" between {duration(shortest_s)} and {duration(longest_s)}, at an even rate."
    return LifeRange(shortest_s, longest_s, said, row["source"])


def life_from_rate(interrupted_fraction: float, *, per: str) -> float:
    """The mean life of a machine in seconds, from the chance of losing it within a period, at an even rate.

    `per` is "hour" or "month", or the provider whose figure it is: "azure" tells it per hour, "aws" per month.

    >>> duration(life_from_rate(0.05, per="azure")), duration(life_from_rate(0.05, per="aws"))
    ('19.5 hours', '593 days')
    """
    _refuse_gcp(per)
    require_positive(interrupted_fraction, "interrupted_fraction", "machines lost per machine (5% is 0.05)")
    if interrupted_fraction >= 1:
        raise ValueError(f"interrupted_fraction must be below 1 (5% is 0.05), not {interrupted_fraction!r}.")
    rows = [row for buckets in _rates().values() for row in buckets.values()]
    periods_h = {row[column]: row["period_h"] for row in rows for column in ("per", "provider")}
    return _life_s(interrupted_fraction, float(tables.lookup("period", per, periods_h)) * HOUR)


@dataclass(frozen=True)
class Bucket:
    """How often AWS took a type of machine back in a region in the month before, and what spot saved there.

    A negative `savings_fraction` is a spot price above the on-demand price.
    """

    instance_type: str
    region: str
    bucket: str
    savings_fraction: float
    source: str
    as_of: str
    note: str = ""

    @property
    def life(self) -> LifeRange:
        """The mean lives that the bucket leaves open."""
        return rate_range("aws", self.bucket)


@functools.cache
def _buckets() -> Mapping[str, Mapping[str, Bucket]]:
    found: dict[str, dict[str, Bucket]] = {}
    for row in tables.rows("interruption_buckets.csv"):
        texts = {name: text for name, text in row.items() if name != "savings_fraction"}
        told = Bucket(savings_fraction=float(row["savings_fraction"]), **texts)
        found.setdefault(told.instance_type, {})[told.region] = told
    return MappingProxyType(found)


def aws_bucket(instance_type: str, region: str) -> Bucket:
    """What the AWS Spot Instance advisor said of a type of machine in a region.

    >>> aws_bucket("p5.48xlarge", "us-east-1").bucket, aws_bucket("p5en.48xlarge", "us-east-1").bucket
    ('>20%', '<5%')
    """
    regions = tables.lookup("instance type", instance_type, _buckets())
    return tables.lookup(f"region with {instance_type}", region, regions)


@dataclass(frozen=True)
class HardwareFailures:
    """How often hardware stopped a run that nobody took machines from; None where it is not known."""

    run: str
    gpu: str
    n_gpus: int | None
    days: float | None
    failures_per_gpu_day: float
    basis: str
    source: str
    as_of: str
    note: str = ""

    @property
    def gpu_life_s(self) -> float:
        """Time between two failures for each GPU; a job on n GPUs has an n-th of it."""
        return DAY / self.failures_per_gpu_day


def _failures_of(row: Mapping[str, str]) -> HardwareFailures:
    if row["n_failures"]:
        rate = float(row["n_failures"]) / (float(row["n_gpus"]) * float(row["days"]))
    else:
        rate = float(row["failures_per_gpu_day"])
    return HardwareFailures(
        **{name: row[name] for name in ("run", "gpu", "basis", "source", "as_of", "note")},
        n_gpus=int(row["n_gpus"]) if row["n_gpus"] else None,
        days=_number(row, "days"),
        failures_per_gpu_day=rate,
    )


@functools.cache
def hardware_failures() -> Mapping[str, HardwareFailures]:
    """Failures of hardware by run."""
    return MappingProxyType({row["run"]: _failures_of(row) for row in tables.rows("hardware_failures.csv")})


def failures_per_gpu_day(run: str = "llama-3-405b") -> float:
    """How often hardware fails under a run, per GPU and day: failures / (GPUs * days) where they were counted.

    >>> f"{failures_per_gpu_day('llama-3-405b'):.3e}"
    '4.736e-04'
    """
    return tables.lookup("run with hardware failures", run, hardware_failures()).failures_per_gpu_day


def notice_s(provider: str) -> float:
    """How long before it goes a machine is told, at best.

    >>> notice_s("aws"), notice_s("azure")
    (120.0, 30.0)
    """
    notices = {row["provider"]: float(row["notice_s"]) for row in tables.rows("termination_notices.csv")}
    return tables.lookup("provider with a notice", provider, notices)


@dataclass(frozen=True)
class StoragePrice:
    """What it costs to keep a GB (1e9 bytes) for a month, or to move one; None where the price is of the other."""

    name: str
    provider: str
    region: str
    to_region: str
    usd_per_gb_month: float | None
    usd_per_gb: float | None
    source: str
    as_of: str
    note: str = ""


@functools.cache
def storage_prices() -> Mapping[str, StoragePrice]:
    """Prices of keeping and moving data, by name.

    >>> storage_prices()["s3-standard"].usd_per_gb_month, storage_prices()["egress-us-eu"].usd_per_gb
    (0.023, 0.02)
    """
    numbers = ("usd_per_gb_month", "usd_per_gb")
    listed = (
        StoragePrice(
            **{name: text for name, text in row.items() if name not in numbers},
            usd_per_gb_month=_number(row, "usd_per_gb_month"),
            usd_per_gb=_number(row, "usd_per_gb"),
        )
        for row in tables.rows("storage_prices.csv")
    )
    return MappingProxyType({price.name: price for price in listed})


def storage_price(name: str) -> StoragePrice:
    """The price of that name."""
    return tables.lookup("storage price", name, storage_prices())


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
        return sum(math.isclose(ratio, _FLOOR_FRACTION, rel_tol=5e-4) for ratio in self.ratios)


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
