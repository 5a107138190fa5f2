"""What was changed? One plan beside another: each value that differs, in the words of the inputs table.

- Values that are read alike at three digits are written out, so that no change looks like none.
- Name, title and note say what a plan is called, not what it assumes: they are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit.plan.inputs import value_text
from costkit.plan.kinds import Field
from costkit.plan.schema import Plan, fields

_UNSET = "not set"


@dataclass(frozen=True)
class Change:
    """One value that differs: its label, what it is, the unit where the label does not have it, and what it was."""

    key: str
    label: str
    now: str
    unit: str
    was: str

    def __str__(self) -> str:
        now = f"{self.now} {self.unit}" if self.unit else self.now
        return f"{self.label} {now} (was {self.was})"

    @property
    def short(self) -> str:
        """The new value alone, as part of a sentence.

        >>> Change("training.budget_usd", "Budget", "$250K", "", "$50,000").short
        'budget $250K'
        >>> Change("training.mfu", "MFU", "10%", "of the dense 16-bit peak", "7%").short
        'MFU 10%'
        """
        first = self.label.split()[0]
        label = f"{self.label[0].lower()}{self.label[1:]}" if first[1:].islower() else self.label
        return f"{label} {self.now}"


def changes(base: Plan, plan: Plan) -> list[Change]:
    """Every value in which the plan differs from the base, in the order of the file.

    >>> from costkit import plan
    >>> base = plan.read("case-50k")
    >>> other = plan.replace(base, {"training.budget_usd": 250e3, "hardware.n_gpus": 64})
    >>> print(*plan.changes(base, other), sep="; ")
    GPUs 64 (was 32); Budget $250K (was $50,000)
    """
    compared = (field for key, field in fields().items() if "." in key and base.value(key) != plan.value(key))
    return [_change(field, base.value(field.key), plan.value(field.key)) for field in compared]


def _change(field: Field, old: object, new: object) -> Change:
    (was, _), (now, unit) = _text(old, field), _text(new, field)
    if was == now:
        was, now = _exact(old), _exact(new)
    known = unit.casefold() in field.label.casefold()
    return Change(field.key, field.label, now, "" if known else unit, was)


def _text(value: object, field: Field) -> tuple[str, str]:
    return (_UNSET, "") if value in (None, "") else value_text(value, field.unit)


def _exact(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)
