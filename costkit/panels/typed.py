"""What does a person mean who types into a box, and what does the box show? The grammar of `plan.typed` by field.

- What is shown has three significant digits; whole numbers are shown to the last digit up to 99,999.
- A box of a share shows percent: a plain number that is too large for the fraction is read as that many percent.
- Whether the number is allowed is the plan's to say; here it only has to be one.
"""

from __future__ import annotations

import math
import re

from costkit import units
from costkit.plan import Field, typed

_LONGEST_QUOTED = 40


def label(field: Field) -> str:
    """The field's name with its unit, as it stands above the control."""
    unit = re.sub("^fraction", "%", field.unit)
    return field.label if unit.casefold() in field.label.casefold() else f"{field.label} ({unit})"


def shown(value: float | None, field: Field) -> str:
    """The value as its box shows it; empty where an optional value is not set."""
    if value is None or math.isinf(value):
        return "" if value is None else "unlimited"
    if value == 0 and field.scale == "log":
        return "0" if field.optional else "none"
    if typed.is_money(field.unit):
        return _money(value)
    if typed.is_share(field.unit):
        return f"{_short(units.number(100 * value))}%"
    if field.kind == "int" and abs(value) < 100 * units.THOUSAND:
        return f"{value:,.0f}"
    return units.count(value) if _rounded(value) >= units.MILLION else units.number(value)


def parsed(text: str, field: Field) -> float | None:
    """The number that the text means in this field, or a ValueError with one sentence."""
    if not text.strip() and not field.optional:
        raise ValueError(f"{field.label}: the box is empty; {_examples(field)}.")
    if field.optional and (not text.strip() or typed.is_nothing(text)):
        return None
    try:
        value = typed.amount(text, field.unit)
    except ValueError as error:
        raise ValueError(f"{field.label}: {error}.") from None
    if value is None:
        raise ValueError(f"{field.label}: {_quoted(text)} is not {_noun(field)}; {_examples(field)}.")
    if math.isinf(value) and any(letter.isdigit() for letter in text):
        raise ValueError(f"{field.label}: {_quoted(text)} is too large to compute with; {_examples(field)}.")
    return value if math.isinf(value) else _whole(_in_percent(value, text, field), text, field)


def _in_percent(value: float, text: str, field: Field) -> float:
    """The share that a number without its sign means, where it cannot be the fraction itself: 40 is 40%."""
    least, most = field.least, field.most
    if not typed.is_share(field.unit) or "%" in text or least is None or most is None:
        return value
    return value / 100 if value > most and least <= value / 100 <= most else value


def _rounded(value: float) -> float:
    """The size of the value, to the digits that are shown."""
    return abs(float(f"{value:.2e}"))


def _money(value: float) -> str:
    """Three digits also where prices are printed to the cent."""
    if 1 <= _rounded(value) < 10 or _rounded(value) >= units.THOUSAND:
        return units.usd(value)
    return f"{'-' if value < 0 else ''}${_short(units.number(abs(value)))}"


def _short(number: str) -> str:
    """Without the zeros after the point that percentages do not need."""
    return number.rstrip("0").rstrip(".") if "." in number and "e" not in number else number


def _whole(value: float, text: str, field: Field) -> float:
    """The value as a whole number where the field counts things."""
    if field.kind != "int":
        return value
    if value != int(value):
        raise ValueError(f"{field.label}: {_quoted(text)} is not a whole number; {_examples(field)}.")
    return int(value)


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f"'{words}'" if len(words) <= _LONGEST_QUOTED else f"'{words[:_LONGEST_QUOTED]}...'"


def _noun(field: Field) -> str:
    if typed.is_share(field.unit):
        return "a fraction or a percentage"
    if typed.is_money(field.unit):
        return "an amount of money"
    return f"a number of {field.unit}" if field.unit else "a number"


def _examples(field: Field) -> str:
    if typed.is_share(field.unit):
        return "type it like 0.45 or 45%"
    if typed.is_money(field.unit):
        return "type it like 3.06 or $3.06" if " per " in field.unit else "type it like 50000, $50,000 or 1.2M"
    if field.kind == "int" or field.scale == "linear":
        return "type it like " + shown(field.low if field.low is not None else 1, field)
    return "type it like 3e9, 15T or " + ("unlimited" if field.default == math.inf else "1.4 T")
