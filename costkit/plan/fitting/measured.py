"""What did a run of one's own use? Its peak, as ratios in the plan."""

from __future__ import annotations

from collections.abc import Mapping

from costkit import memory
from costkit.plan import files
from costkit.plan.fitting.answer import footprint
from costkit.plan.schema import Plan
from costkit.units import GIB


def measured(
    plan: Plan,
    *,
    stats: Mapping[str, float] | None = None,
    allocated_gib: float | None = None,
    reserved_gib: float | None = None,
) -> Plan:
    """The plan with what a run of it says of the estimate, `memory.allocated_ratio` and `memory.reserved_ratio`.

    Ratios, not peaks, stand in the plan: they hold for other micro-batches, lengths and settings of the same model on
    the same stack.

    Args:
        plan: The plan as it was run.
        stats: What `torch.cuda.memory_stats()` returned after some steps.
        allocated_gib: `torch.cuda.max_memory_allocated()`, in GiB.
        reserved_gib: `torch.cuda.max_memory_reserved()`, in GiB.

    Raises:
        ValueError: Nothing was measured, or a peak can't be one of this plan.

    >>> from costkit.plan.files import read
    >>> mine = measured(read("finetune-7b"), reserved_gib=18.0)
    >>> mine.memory.reserved_ratio, mine.memory.allocated_ratio
    (1.037, None)
    """
    plain = files.replace(plan, {"memory.allocated_ratio": None, "memory.reserved_ratio": None})
    answer = footprint(plain)
    for name, gib in (("allocated_gib", allocated_gib), ("reserved_gib", reserved_gib)):
        if gib is None:
            continue
        if isinstance(gib, bool) or not isinstance(gib, int | float):
            raise ValueError(f"{name} is {repr(gib)[:40]}; it must be a number of GiB")
        if gib * GIB > answer.gpu.usable_bytes:
            offered = answer.gpu.usable_bytes / GIB
            raise ValueError(f"{name} is {gib:g}, more than the {offered:.1f} GiB that {answer.gpu.name} offers")
    found = memory.calibrate(
        answer.budget,
        stats=stats,
        allocated_bytes=None if allocated_gib is None else allocated_gib * GIB,
        reserved_bytes=None if reserved_gib is None else reserved_gib * GIB,
    )
    ratios = {"memory.allocated_ratio": found.allocated, "memory.reserved_ratio": found.reserved}
    return files.replace(plain, {key: round(ratio, 3) for key, ratio in ratios.items() if ratio is not None})
