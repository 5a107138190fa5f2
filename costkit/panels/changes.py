"""Which plan do a reader's changes make? The plan they started from, with all that differs from it.

- A plan is saved under a title of its own: one whose numbers are no longer those of the plan it came from says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from costkit import plan as plans
from costkit.plan import Plan

_LONGEST_NAME, _LONGEST_TITLE = 80, 200  # what a plan's own name and title may hold
_MARK = " (changed: "


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


def source_of(plan: Plan) -> Plan:
    """The plan as the file says it that it came from; itself where there is none, or none that can be read."""
    if plan.origin is None:
        return plan
    try:
        return plans.read(plan.origin)
    except ValueError:
        return plan


def named(plan: Plan, source: Plan, name: str) -> Plan:
    """The plan as it is saved under a name: called so, and titled by what it changes, where it changes anything.

    >>> from costkit import plan
    >>> source = plan.read("llama-2-7b")
    >>> saved = named(plan.replace(source, {"hardware.n_gpus": 64}), source, "mine")
    >>> saved.name, saved.title
    ('mine', 'Llama 2 7B on 2T tokens, 184,320 A100 hours (changed: GPUs 64)')
    """
    made = plans.changes(source, plan)
    edits = {}
    if made and plan.name == source.name:
        edits["name"] = name[:_LONGEST_NAME]
    if made and plan.title == source.title:
        edits["title"] = _marked(source.title or source.name, [change.short for change in made])
    return plans.replace(plan, edits) if edits else plan


def _marked(title: str, made: list[str]) -> str:
    """The title with what was changed in brackets; what was changed before stays, what is too long is counted."""
    former, mark, before = title.removesuffix(")").rpartition(_MARK) if title.endswith(")") else ("", "", "")
    opening = f"{former}{mark}{before}; then " if mark else f"{title}{_MARK}"
    for told in (", ".join(made), f"{len(made)} inputs"):
        if len(opening) + len(told) < _LONGEST_TITLE:
            return f"{opening}{told})"
    mark = f"...{_MARK}{len(made)} inputs)"
    return f"{title[: _LONGEST_TITLE - len(mark)]}{mark}"
