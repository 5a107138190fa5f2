"""Where does each number of a plan come from? The effective inputs as a table: value, unit, source, date, basis.

- A value that the plan states without a source is assumed by the plan; one that it leaves out is costkit's default.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from costkit import tables, units
from costkit.plan.kinds import Field
from costkit.plan.schema import Plan, fields

HEADINGS = ("Input", "Value", "Unit", "Source", "As of", "Basis", "Key")


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


@dataclass(frozen=True)
class InputsTable:
    """The inputs as a table: aligned text in a terminal, escaped HTML in a notebook."""

    rows: tuple[Input, ...]

    def cells(self) -> list[tuple[str, ...]]:
        """The table's rows as text, in the order of `HEADINGS`."""
        found = ((row.label, row.value_text, row.unit, row.source, row.as_of, row.basis, row.key) for row in self.rows)
        return [tuple(" ".join(cell.split()) for cell in cells) for cells in found]

    def __repr__(self) -> str:
        lines = [HEADINGS, *self.cells()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in HEADINGS)
        body = "\n".join(f"<tr>{_html_row(cells)}</tr>" for cells in self.cells())
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _html_row(cells: tuple[str, ...]) -> str:
    first, *others = (html.escape(cell) for cell in cells)
    *middle, key = others
    return f'<th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in middle)}<td><code>{key}</code></td>'


def inputs(plan: Plan) -> list[Input]:
    """Every value that the plan uses, in the order of the file.

    >>> from costkit import plan
    >>> [row.value_text for row in inputs(plan.read("case-50k")) if row.key == "hardware.n_gpus"]
    ['32']
    """
    shown = (field for key, field in fields().items() if "." in key and plan.value(key) not in (None, ""))
    return [_input(plan, field) for field in shown]


def inputs_table(plan: Plan) -> InputsTable:
    """The inputs of a plan as a table for a notebook or a terminal."""
    return InputsTable(tuple(inputs(plan)))


def _input(plan: Plan, field: Field) -> Input:
    entry = plan.sources.get(field.key)
    value = plan.value(field.key)
    text, unit = value_text(value, field.unit)
    if entry is not None:
        return Input(
            field.key, field.label, text, unit, source_text(entry.source), entry.as_of, entry.basis, entry.note
        )
    if field.key == "model.n_params" and (named := plan.target_architecture) is not None:
        return Input(field.key, field.label, text, unit, f"counted from {named.name}", "", "published")
    origin = "costkit's default" if not field.required and value == field.default else "this plan"
    return Input(field.key, field.label, text, unit, origin, "", "assumed")


def source_text(source: str) -> str:
    """A source as a reader sees it: authors, title and year of a key of the sources table, else as it stands."""
    found = tables.sources().get(source)
    if found is None:
        return source
    return ", ".join(part for part in (found.authors, found.title, found.year) if part)


def value_text(value: object, unit: str) -> tuple[str, str]:
    """A value and its unit as printed: the sign of a currency or percentage takes the unit's first word.

    >>> value_text(3.06, "USD per GPU-hour"), value_text(0.07, "fraction of the peak"), value_text(True, "")
    (('$3.06', 'per GPU-hour'), ('7.0%', 'of the peak'), ('yes', ''))
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
