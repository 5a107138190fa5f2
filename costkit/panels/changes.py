"""Which plan do a reader's changes make? The plan they started from, with all that differs from it."""

from __future__ import annotations

from collections.abc import Mapping

from costkit import plan as plans
from costkit.plan import Plan


def changed(base: Plan, current: Plan, changes: Mapping[str, object]) -> Plan:
    """The base with what `current` and the changes make of it: a value that comes back has its source again.

    >>> from costkit import plan
    >>> base = plan.read("case-50k")
    >>> more = changed(base, base, {"hardware.n_gpus": 64})
    >>> more.hardware.n_gpus, changed(base, more, {"hardware.n_gpus": 32}) is base
    (64, True)
    """
    candidate = plans.replace(current, changes) if changes else current
    edits = {key: candidate.value(key) for key in plans.fields() if candidate.value(key) != base.value(key)}
    return plans.replace(base, edits) if edits else base


def preset_name(plan: Plan) -> str:
    """The name under which costkit ships exactly this plan, or nothing."""
    return plan.name if plan.name in plans.names() and plans.read(plan.name) == plan else ""
