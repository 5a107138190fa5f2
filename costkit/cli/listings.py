"""Which GPUs and laws are there? The tables behind the numbers, as rows that a person can scan."""

from __future__ import annotations

from typing import Any

from costkit import scaling, tables
from costkit.units import GB, GIB, TFLOP, finite


def gpu_rows() -> list[dict[str, Any]]:
    """A row a GPU: memory, dense peaks, bandwidth, the lowest current quote, and the source."""
    return [_gpu_row(gpu) for gpu in tables.gpus().values()]


def _gpu_row(gpu: tables.Gpu) -> dict[str, Any]:
    peaks = {name: gpu.peak_flop_per_s.get(name) for name in ("fp32", "tf32", "bf16", "fp16", "fp8")}
    return {
        "name": gpu.name,
        "memory_gib": gpu.memory_bytes / GIB,
        **{f"{name}_tflop_per_s": None if peak is None else peak / TFLOP for name, peak in peaks.items()},
        "gb_per_s": gpu.bandwidth_bytes_per_s / GB,
        "on_demand_usd_per_hour": _latest_lowest(gpu.name, "on_demand"),
        "spot_usd_per_hour": _latest_lowest(gpu.name, "spot"),
        "as_of": gpu.as_of,
        "source": gpu.source,
    }


def _latest_lowest(gpu: str, purchase: str) -> float | None:
    """The lowest among each provider's newest quotes."""
    newest: dict[str, float] = {}
    for quote in tables.quotes(gpu=gpu, purchase=purchase):
        newest.setdefault(quote.provider, quote.usd_per_gpu_hour)
    return min(newest.values(), default=None)


def law_rows() -> list[dict[str, Any]]:
    """A row a law: its coefficients, or the power of compute that it gives the best size by; its range and source."""
    return [_law_row(scaling.law(name)) for name in scaling.names()]


def _law_row(law: scaling.Law) -> dict[str, Any]:
    symbols = ("E", "A", "B", "alpha", "beta", "coefficient", "exponent", "flop_unit")
    low, high = law.flop_range
    return {
        "name": law.name,
        "form": "loss" if isinstance(law, scaling.ScalingLaw) else f"{law.of} = coefficient x FLOP^exponent",
        **{symbol: getattr(law, symbol, None) for symbol in symbols},
        "flop_min": low or None,
        "flop_max": finite(high),
        "loss_unit": getattr(law, "loss_unit", ""),
        "source": law.source,
        "title": law.title,
    }
