"""What is on the bill besides hours times price? Credits, prices that move, storage, and moving checkpoints."""

from __future__ import annotations

from dataclasses import dataclass

from costkit.spot.price_steps import PriceSteps
from costkit.units import DAY, GB, HOUR, MONTH, require_fraction, require_not_negative, require_positive


@dataclass(frozen=True, kw_only=True)
class Billing:
    """How hours become dollars.

    Args:
        first_hour_free: AWS's rule: machines that it takes back within their first hour cost nothing.
        usd_per_hour: What is paid for as long as the run exists, waiting or not: storage of checkpoints, a controller.
        usd_per_restart: What each restart costs besides time: moving a checkpoint to another region.
        prices: A price that moves (`spot.price_steps`); each trial starts at a random moment of it.
    """

    first_hour_free: bool = False
    usd_per_hour: float = 0.0
    usd_per_restart: float = 0.0
    prices: PriceSteps | None = None

    def __post_init__(self) -> None:
        require_not_negative(self.usd_per_hour, "usd_per_hour", "USD an hour")
        require_not_negative(self.usd_per_restart, "usd_per_restart", "USD a restart")


def storage_usd_per_hour(*, checkpoint_bytes: float, n_kept: int, usd_per_gb_month: float) -> float:
    """What kept checkpoints cost an hour.

    >>> round(storage_usd_per_hour(checkpoint_bytes=42e9, n_kept=3, usd_per_gb_month=0.023), 5)
    0.00397
    """
    require_not_negative(checkpoint_bytes, "checkpoint_bytes", "bytes")
    require_not_negative(n_kept, "n_kept", "checkpoints")
    require_not_negative(usd_per_gb_month, "usd_per_gb_month", "USD per GB and month")
    return checkpoint_bytes / GB * n_kept * usd_per_gb_month / (MONTH / HOUR)


def move_usd(*, checkpoint_bytes: float, usd_per_gb: float, moved_fraction: float) -> float:
    """What a restart costs on average where that share of them goes to another region and takes a checkpoint along.

    >>> round(move_usd(checkpoint_bytes=42e9, usd_per_gb=0.02, moved_fraction=0.5), 2)
    0.42
    """
    require_not_negative(checkpoint_bytes, "checkpoint_bytes", "bytes")
    require_not_negative(usd_per_gb, "usd_per_gb", "USD per GB")
    require_fraction(moved_fraction, "moved_fraction")
    return checkpoint_bytes / GB * usd_per_gb * moved_fraction


def hardware_life_s(*, failures_per_gpu_day: float, n_gpus: float) -> float:
    """Mean time between two hardware failures of a job on that many GPUs.

    >>> round(hardware_life_s(failures_per_gpu_day=4.736e-4, n_gpus=16384) / 3600, 2)
    3.09
    """
    require_not_negative(failures_per_gpu_day, "failures_per_gpu_day", "failures per GPU and day")
    require_positive(n_gpus, "n_gpus", "GPUs")
    rate = failures_per_gpu_day * n_gpus / DAY
    return 1 / rate if rate else float("inf")


def notice_success(
    *, notice_s: float, write_s: float, latency_s: float = 0.0, step_s: float = 0.0, reliability: float = 1.0
) -> float:
    """The share of notices within which the state can be saved.

    The signal takes `latency_s` to be seen and the running step must end, at a moment that is uniform within `step_s`;
    then `write_s` must still fit. `reliability` is the share of signals that arrive at all.

    >>> notice_success(notice_s=120, write_s=60, latency_s=5, step_s=10), notice_success(notice_s=30, write_s=60)
    (1.0, 0.0)
    >>> notice_success(notice_s=120, write_s=60, latency_s=50, step_s=20, reliability=0.9)
    0.45
    """
    for name, value in (("notice_s", notice_s), ("write_s", write_s), ("latency_s", latency_s), ("step_s", step_s)):
        require_not_negative(value, name, "seconds")
    require_fraction(reliability, "reliability")
    room_s = notice_s - latency_s - write_s
    if room_s < 0:
        return 0.0
    return reliability * (min(room_s / step_s, 1.0) if step_s else 1.0)
