"""What was published of the run that a plan is? The case's own figures, and from its row what the case leaves out.

- A case may name a row of the published runs, say figures itself, or both: its own come first, one by one.
- Whether the plan is still that run is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from costkit import tables
from costkit.plan.schema import Plan

T = TypeVar("T")


@dataclass(frozen=True)
class Published:
    """Hours, days, dollars and MFU as published, each None where nobody says it; `run` is the row, None without one."""

    run: tables.PublishedRun | None
    gpu_hours: float | None
    days: float | None
    usd: float | None
    mfu: float | None


def published(plan: Plan) -> Published:
    """What the plan's case says, and the row of the published run that it names.

    >>> from costkit import plan
    >>> found = published(plan.read("mpt-7b"))
    >>> found.run.name, found.days, found.usd
    ('MPT-7B', 9.5, 200000.0)
    """
    case = plan.case
    if case.published_run is None:
        return Published(None, case.published_gpu_hours, case.published_days, case.published_usd, case.published_mfu)
    run = tables.published_run(case.published_run)
    return Published(
        run=run,
        gpu_hours=_first(case.published_gpu_hours, run.gpu_hours),
        days=_first(case.published_days, run.days),
        usd=_first(case.published_usd, run.usd),
        mfu=_first(case.published_mfu, run.mfu),
    )


def _first(own: T | None, of_row: T | None) -> T | None:
    return of_row if own is None else own
