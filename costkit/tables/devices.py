"""What can a GPU do? Memory, bandwidth and dense peaks, by the GPU's name."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from costkit.tables.files import number, rows
from costkit.tables.names import lookup
from costkit.units import GB, GIB, TFLOP

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4")
GPUS_PER_NODE = 8
"""GPUs of a usual machine, as DGX and HGX boards have them."""


@dataclass(frozen=True)
class Gpu:
    """An accelerator, as one device that a framework sees.

    `architecture` names the chip as its maker does, e.g. "Hopper sm_90".
    `peak_flop_per_s` holds dense peaks by precision, only those the device has and the source states.
    `memory_bytes` is the size on the sheet, `usable_bytes` what a framework sees in logs.
    `interconnect_bytes_per_s` counts both directions together.
    """

    name: str
    vendor: str
    architecture: str
    memory_bytes: float
    usable_bytes: float
    bandwidth_bytes_per_s: float
    peak_flop_per_s: Mapping[str, float] = field(hash=False)
    interconnect_bytes_per_s: float | None
    matmul_flop_per_s: float | None
    verified: str
    source: str
    as_of: str
    note: str = ""

    @property
    def half_precision_flop_per_s(self) -> float:
        """The dense 16-bit peak, against which MFU is counted everywhere: BF16, or FP16 where there is no BF16.

        >>> gpu("V100-SXM2-16GB").half_precision_flop_per_s == 125 * TFLOP
        True
        """
        peaks = self.peak_flop_per_s
        return peaks["bf16"] if "bf16" in peaks else peaks["fp16"]


def _gpu_of(row: Mapping[str, str]) -> Gpu:
    peaks = {name: number(row, f"peak_{name}_dense_tflop_per_s", TFLOP) for name in PRECISIONS}
    return Gpu(
        name=row["name"],
        vendor=row["vendor"],
        architecture=row["architecture"],
        memory_bytes=float(row["memory_gib"]) * GIB,
        usable_bytes=float(row["usable_gib"]) * GIB,
        bandwidth_bytes_per_s=float(row["bandwidth_gb_per_s"]) * GB,
        peak_flop_per_s=MappingProxyType({name: peak for name, peak in peaks.items() if peak is not None}),
        interconnect_bytes_per_s=number(row, "interconnect_bidirectional_gb_per_s", GB),
        matmul_flop_per_s=number(row, "matmul_bf16_measured_tflop_per_s", TFLOP),
        verified=row["verified"],
        source=row["source"],
        as_of=row["as_of"],
        note=row["note"],
    )


@functools.cache
def gpus() -> Mapping[str, Gpu]:
    """Every GPU by its name."""
    return MappingProxyType({row["name"]: _gpu_of(row) for row in rows("gpus.csv")})


def gpu(name: str | Gpu) -> Gpu:
    """The GPU of that exact name; a GPU is itself.

    >>> gpu("A100-SXM4-80GB").peak_flop_per_s["bf16"] == 312 * TFLOP
    True
    >>> gpu("V100-32GB")
    Traceback (most recent call last):
    costkit.tables.UnknownName: no GPU 'V100-32GB'. Did you mean 'V100-SXM2-32GB'? `costkit gpus` lists all.
    """
    return name if isinstance(name, Gpu) else lookup("GPU", name, gpus())
