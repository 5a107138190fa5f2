"""Where does each number of a plan come from? The effective inputs: value, unit, source, date, basis.

- A value that the plan states without a source is assumed by the plan; one that it leaves out is costkit's default.
- An MFU or a goodput that it leaves out is that of published runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit import architectures, tables, training, units
from costkit.plan.kinds import Field
from costkit.plan.reached import PUBLISHED, left_out, reached
from costkit.plan.schema import Plan, fields


@dataclass(frozen=True)
class Input:
    """One input of a plan, ready to be read; `basis` is measured, published or assumed."""

    key: str
    label: str
    value_text: str
    unit: str
    source: str
    as_of: str
    basis: str
    note: str = ""


def inputs(plan: Plan) -> list[Input]:
    """Every value that the plan uses, in the order of the file.

    >>> from costkit import plan
    >>> [row.value_text for row in inputs(plan.read("case-50k")) if row.key == "hardware.n_gpus"]
    ['32']
    """
    of_others = _of_others(plan)
    found = []
    for key, field in fields().items():
        if key in of_others:
            found.append(of_others[key])
        elif "." in key and plan.value(key) not in (None, ""):
            found.append(_input(plan, field))
    return found


def _of_others(plan: Plan) -> dict[str, Input]:
    """What published runs fill in where a plan leaves out its MFU or its goodput."""
    if plan.training.mfu is not None and plan.training.goodput_fraction is not None:
        return {}
    about, used, found = fields(), reached(plan), {}
    if used.basis == PUBLISHED:
        like = used.published
        note = f"the whole run {units.percent(like.mfu.low)} to {units.percent(like.mfu.high)}"
        told = f"{like.n_runs} published runs" if like.is_of_chip else "published runs on other chips"
        found["training.mfu"] = _filled(about["training.mfu"], used.mfu.mid, told, note)
    if plan.training.goodput_fraction is None:
        kept = training.published_goodput(left_out=left_out(plan))
        note = f"{units.percent(kept.low)} to {units.percent(kept.high)}"
        told = f"{sum(run.family not in left_out(plan) for run in training.goodput_runs())} published runs"
        found["training.goodput_fraction"] = _filled(about["training.goodput_fraction"], used.goodput.mid, told, note)
    return found


def _filled(field: Field, value: float, told: str, note: str) -> Input:
    text, unit = value_text(value, field.unit)
    return Input(field.key, field.label, text, unit, told, "", "published", note)


def _input(plan: Plan, field: Field) -> Input:
    entry = plan.sources.get(field.key)
    value = plan.value(field.key)
    text, unit = value_text(value, field.unit)
    if entry is not None:
        as_of = entry.as_of or _year(entry.source)
        return Input(field.key, field.label, text, unit, source_text(entry.source), as_of, entry.basis, entry.note)
    if field.key == "model.n_params" and (named := plan.target_architecture) is not None:
        basis = "published" if plan.model.architecture in architectures.names() else "assumed"
        return Input(field.key, field.label, text, unit, f"counted from {named.name}", "", basis)
    origin = "costkit's default" if not field.required and value == field.default else "this plan"
    return Input(field.key, field.label, text, unit, origin, "", "assumed")


def _year(source: str) -> str:
    found = tables.sources().get(source)
    return found.year if found else ""


def source_text(source: str) -> str:
    """A source as a reader sees it: authors, title and year of a key of the sources table, else as it stands."""
    found = tables.sources().get(source)
    if found is None:
        return source
    return ", ".join(part for part in (found.authors, found.title) if part)


def value_text(value: object, unit: str) -> tuple[str, str]:
    """A value and its unit as printed: the sign of a currency or percentage takes the unit's first word.

    >>> value_text(3.06, "USD per GPU-hour"), value_text(0.07, "fraction of the peak"), value_text(True, "")
    (('$3.06', 'per GPU-hour'), ('7%', 'of the peak'), ('yes', ''))
    """
    if isinstance(value, bool):
        return ("yes" if value else "no"), unit
    if isinstance(value, int):
        return f"{value:,}", unit
    if not isinstance(value, float):
        return str(value), unit
    for word, show in (("USD", units.usd), ("fraction", units.percent)):
        if unit == word or unit.startswith(f"{word} "):
            return show(value), unit.removeprefix(word).strip()
    return (units.count(value) if unit in ("parameters", "tokens") else units.number(value)), unit
