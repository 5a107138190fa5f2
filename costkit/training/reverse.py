"""What do published figures imply? The MFU behind GPU-hours, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass

from costkit import tables
from costkit.units import HOUR, TFLOP, number, percent, require_positive

HIGHEST_MFU, HIGH_MFU, LOW_MFU = 0.70, 0.60, 0.15
SPARSE_OVER_DENSE = 2


@dataclass(frozen=True)
class Check:
    """The MFU that published figures imply, and a sentence for each thing that is odd about it."""

    mfu: float
    flags: tuple[str, ...]


def implied_mfu(*, flop: float, gpu: tables.Gpu | str, gpu_hours: float) -> Check:
    """The MFU that a published run implies, and what is odd about it.

    Above 70% no run has been seen, so one of the figures is wrong; 60% to 70% is rare; below 15% the hours
    usually cover more than the training run that the FLOP describe.

    >>> implied_mfu(flop=6 * 6.738e9 * 2e12, gpu="A100-SXM4-80GB", gpu_hours=184_320).flags
    ()
    >>> check = implied_mfu(flop=6 * 21e9 * 8.1e12, gpu="H800-SXM5-80GB", gpu_hours=172_800)
    >>> f"{check.mfu:.2f}", check.flags[0].split(":")[0]
    ('1.66', 'impossible')
    """
    require_positive(flop, "flop", "FLOP")
    require_positive(gpu_hours, "gpu_hours", "GPU-hours")
    device = tables.gpu(gpu) if isinstance(gpu, str) else gpu
    mfu = flop / (gpu_hours * HOUR * device.half_precision_flop_per_s)
    return Check(mfu=mfu, flags=tuple(_flags(mfu, device)))


def _flags(mfu: float, gpu: tables.Gpu) -> list[str]:
    """What is odd about an implied MFU, the gravest first."""
    peak = f"{number(gpu.half_precision_flop_per_s / TFLOP)} TFLOP/s"
    implied = f"{percent(mfu)} of the dense 16-bit peak of {gpu.name}, {peak},"
    if mfu > HIGHEST_MFU:
        return _impossible(mfu, gpu, implied)
    if mfu > HIGH_MFU:
        return [f"check: {implied} is more than nearly all published runs reach; are all the GPU-hours counted?"]
    if mfu < LOW_MFU:
        return [f"low: {implied} is less than most published runs reach; the GPU-hours may cover more than this run"]
    return []


def _impossible(mfu: float, gpu: tables.Gpu, implied: str) -> list[str]:
    why = f"is above {percent(HIGHEST_MFU)}, which no published run exceeds"
    where = "check the GPU-hours, the GPU, and whether the FLOP include another model's"
    sentences = [f"impossible: {implied} {why}; {where}"]
    if mfu / SPARSE_OVER_DENSE <= HIGH_MFU:
        half = percent(mfu / SPARSE_OVER_DENSE)
        sentences.append(
            f"sparse peak: half of it, {half}, would be plausible; FLOP counted from a sparse peak are double"
        )
    if "fp8" in gpu.peak_flop_per_s:
        sentences.append("fp8: a run in FP8 may pass these bounds; its hours follow from the FP8 peak")
    return sentences
