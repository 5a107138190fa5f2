"""How long do interruptible machines live? What was measured, and what providers tell.

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
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit import tables
from costkit.units import HOUR, duration, require_positive

_GPU_DEVICES = ("a100", "k80", "v100")
_WATCHED = {"availability": "by probes that start and stop a machine", "preemption": "on machines held until lost"}
_NO_RATE = (
    "gcp tells how many of the machines that stopped were preempted, which holds no time: no life follows from it."
    " Give a mean life, or take a measured market."
)


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

    @property
    def is_of_gpus(self) -> bool:
        """Whether its machines have GPUs."""
        return self.n_gpus_per_node > 0


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
        mean_up_s=tables.number(row, "mean_up_h", HOUR),
        mean_wait_s=tables.number(row, "mean_down_h", HOUR),
        available_fraction=tables.number(row, "available_fraction"),
        burst_nodes=float(row["mean_burst_nodes"]),
        weibull_shape=tables.number(row, "weibull_shape"),
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
    high = tables.number(row, "high_fraction")
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
