"""What happened, where the plan is a run that was published? Its hours beside the estimate made without its family."""

from __future__ import annotations

from dataclasses import dataclass

from costkit import tables
from costkit.plan.costing.final_run import FinalRun
from costkit.plan.fitting.original import original
from costkit.plan.schema import Plan
from costkit.units import DAY, HOUR

_DECISIVE = ("model.architecture", "model.n_params", "data.n_tokens", "hardware.gpu", "training.seq_len")


@dataclass(frozen=True)
class Truth:
    """What the published run took: GPU-hours, the dollars of these at the plan's price, and time and bill, if told.

    `name` is its row of the published runs, or the plan's own title where the case says the hours itself.
    """

    name: str
    gpu_hours: float
    usd: float
    wall_s: float | None
    published_usd: float | None
    hours_ratio: float
    is_inside: bool


def truth(plan: Plan, final: FinalRun) -> Truth | None:
    """The published hours that the plan's case names, or None.

    A case that says only how long the run took has the hours of its GPUs for so long.
    """
    if not _is_as_published(plan):
        return None
    case, hours = plan.case, final.run.gpu_hours
    named = None if case.published_run is None else tables.published_run(case.published_run)
    told = case.published_gpu_hours or (named.gpu_hours if named else None)
    days = case.published_days or (named.days if named else None)
    if told is None and days is not None:
        told = days * DAY / HOUR * plan.hardware.n_gpus
    if told is None:
        return None
    return Truth(
        name=named.name if named else plan.title or plan.name,
        gpu_hours=told,
        usd=told * plan.hardware.usd_per_gpu_hour,
        wall_s=None if days is None else days * DAY,
        published_usd=case.published_usd or (named.usd if named else None),
        hours_ratio=told / hours.mid,
        is_inside=hours.low <= told <= hours.high,
    )


def _is_as_published(plan: Plan) -> bool:
    """Whether what was trained, and on which GPU, is still what the case is about."""
    before = original(plan)
    return before is None or all(plan.value(key) == before.value(key) for key in _DECISIVE)
