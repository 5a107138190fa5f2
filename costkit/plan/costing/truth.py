"""What happened, where the plan is a run that was published? Its hours beside the estimate made without its family."""

from __future__ import annotations

from dataclasses import dataclass

from costkit.plan.costing.final_run import FinalRun
from costkit.plan.fitting.original import original
from costkit.plan.published import published
from costkit.plan.schema import Plan
from costkit.units import DAY, HOUR

_DECISIVE = (
    "model.architecture",
    "model.n_params",
    "data.n_tokens",
    "hardware.gpu",
    "training.seq_len",
    "memory.precision",
    "memory.adapter_rank",
)
_NEAR = 0.02


@dataclass(frozen=True)
class Truth:
    """What the published run took: GPU-hours, and the dollars of these at the plan's price, beside the estimate.

    `published_usd` is the bill as published, None where nobody says it.
    """

    gpu_hours: float
    usd: float
    published_usd: float | None
    hours_ratio: float
    is_inside: bool


def truth(plan: Plan, final: FinalRun) -> Truth | None:
    """The published hours that the plan's case names, or None.

    A case that says only how long the run took has the hours of its GPUs for so long.
    """
    if not _is_as_published(plan):
        return None
    known, hours = published(plan), final.run.gpu_hours
    told = known.gpu_hours
    if told is None and known.days is not None:
        told = known.days * DAY / HOUR * (original(plan) or plan).hardware.n_gpus
    if told is None:
        return None
    return Truth(
        gpu_hours=told,
        usd=told * final.usd_per_gpu_hour,
        published_usd=known.usd,
        hours_ratio=told / hours.mid,
        is_inside=hours.low <= told <= hours.high,
    )


def _is_as_published(plan: Plan) -> bool:
    """Whether what was trained, and on which GPU, is still what the case, and the row that it names, are about."""
    before, run = original(plan), published(plan).run
    same = before is None or all(plan.value(key) == before.value(key) for key in _DECISIVE)
    if run is None:
        return same
    told = (run.n_params, run.n_tokens or plan.data.n_tokens)
    near = (abs(own / of_row - 1) <= _NEAR for own, of_row in zip(_trained(plan), told, strict=True))
    return same and plan.hardware.gpu == run.gpu and all(near)


def _trained(plan: Plan) -> tuple[float, float]:
    return plan.model.n_params, plan.data.n_tokens
