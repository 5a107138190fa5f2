"""How far from the live bytes is what is reserved, and what nvidia-smi shows? Ranges, from the scores of each stack.

- `reserved` is what PyTorch's allocator holds: live bytes, times a ratio that depends on the stack and on attention,
  because freed blocks can't all be used again. FSDP2's side streams come on top, block by block.
- `device` adds the CUDA context and a communicator's buffers for every kind of parallelism.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit import tables
from costkit.units import MIB, Range

_KINDS_IN_MIB = ("communicator", "context", "workspace")


@functools.cache
def overheads(kind: str) -> Mapping[str, Range]:
    """The rows of one kind of the overheads table, in bytes or as ratios.

    >>> overheads("context")["each"].mid == 300 * MIB
    True
    """
    unit = MIB if kind in _KINDS_IN_MIB else 1.0
    found = {
        row["case"]: Range(*(float(row[bound]) * unit for bound in ("low", "mid", "high")))
        for row in tables.rows("memory_overheads.csv")
        if row["kind"] == kind
    }
    return MappingProxyType(found)


def workspace_bytes(stack: str) -> float:
    """What matrix libraries take once, which PyTorch counts as allocated."""
    return overheads("workspace")["megatron" if stack == "megatron" else "huggingface"].mid


def case_of(stack: str, *, attention: str, compiled: bool, tensor: int) -> str:
    """Which row of the overheads table describes a run.

    >>> case_of("fsdp2", attention="flash", compiled=True, tensor=1)
    'fsdp2 compiled'
    """
    if stack == "fsdp2":
        return "fsdp2 tensor-parallel" if tensor > 1 else "fsdp2 compiled" if compiled else "fsdp2 eager"
    if stack == "huggingface":
        return f"huggingface {attention}"
    return stack


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a run of one's own said: measured over the middle estimate, and the bytes beside PyTorch's allocator.

    Where only one of the two was measured, the other number moves with it and keeps the width of its band.
    """

    allocated: float | None = None
    reserved: float | None = None
    around_bytes: float | None = None

    def factor(self, kind: str) -> float | None:
        """The measured factor of "allocated" or "reserved", or None."""
        return self.allocated if kind == "allocated" else self.reserved


def band(kind: str, *, case: str, calibration: Calibration | None = None) -> Range:
    """Measured over estimated bytes, of what is "allocated" or "reserved".

    A calibration moves the band, and narrows it to what runs of one model differ by.

    >>> band("allocated", case="huggingface flash").mid
    1.0
    """
    calibration = calibration or Calibration()
    found, own = overheads(f"{kind} over estimate")[case], calibration.factor(kind)
    if own is not None:
        left = spread(kind, case=case)
        mid = own * found.mid
        return Range(max(found.low / found.mid, 1 / left) * mid, mid, min(found.high / found.mid, left) * mid)
    moved = calibration.factor("reserved" if kind == "allocated" else "allocated") or 1.0
    return Range(found.low * moved, found.mid * moved, found.high * moved)


def spread(kind: str, *, case: str) -> float:
    """The largest factor between two such ratios of one model on one stack: what a calibration leaves open."""
    return overheads(f"{kind} spread of one model")[case].high


def around_bytes(n_communicators: int, *, calibration: Calibration | None = None) -> Range:
    """What the device holds besides PyTorch's allocator."""
    if calibration is not None and (own := calibration.around_bytes) is not None:
        return Range(own, own, own)
    context, each = overheads("context")["each"], overheads("communicator")["each"]
    return Range(
        low=context.low + n_communicators * each.low,
        mid=context.mid + n_communicators * each.mid,
        high=context.high + n_communicators * each.high,
    )
