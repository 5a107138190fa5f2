"""How often does hardware fail, how long is a notice, and what does storage cost? Tables of what was told.

- Failures stop runs on demand too. Where they were counted, the rate is failures over GPUs and days.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit import tables
from costkit.units import DAY


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
        days=tables.number(row, "days"),
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
            usd_per_gb_month=tables.number(row, "usd_per_gb_month"),
            usd_per_gb=tables.number(row, "usd_per_gb"),
        )
        for row in tables.rows("storage_prices.csv")
    )
    return MappingProxyType({price.name: price for price in listed})


def storage_price(name: str) -> StoragePrice:
    """The price of that name."""
    return tables.lookup("storage price", name, storage_prices())
