"""What does a person mean who types into a box? Text to number and back, by the field's own unit.

- `15T`, `1.4 T`, `3e9`, `50,000`, `$50,000`, `7%`, `unlimited` and `none` are all numbers.
- What is shown has three significant digits; whole numbers are shown to the last digit up to 99,999.
- Whether the number is allowed is the plan's to say; here it only has to be one.
"""

from __future__ import annotations

import math
import re

from costkit import units
from costkit.plan import Field

_LONGEST_QUOTED = 40
_POWERS = {
    "": 0,
    **dict.fromkeys(("k", "thousand"), 3),
    **dict.fromkeys(("m", "mn", "million"), 6),
    **dict.fromkeys(("b", "bn", "billion"), 9),
    **dict.fromkeys(("t", "tn", "trillion"), 12),
    "%": -2,
}
_UNLIMITED = ("inf", "infinity", "infinite", "unlimited", "no limit", "∞")
_NOTHING = ("none", "nothing", "no", "zero")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<dollar>\$?)"
    r"(?P<digits>(?:\d{1,3}(?:[,_ ]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?P<power>e[+-]?\d{1,6})? ?(?P<multiple>[a-z]*|%)"
)


def is_money(field: Field) -> bool:
    """Whether the field is an amount of US dollars."""
    return field.unit.startswith("USD")


def is_share(field: Field) -> bool:
    """Whether the field is a fraction of something, shown in percent."""
    return field.unit.startswith("fraction")


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
    if is_money(field):
        return _money(value)
    if is_share(field):
        return f"{_short(units.number(100 * value))}%"
    if field.kind == "int" and abs(value) < 100 * units.THOUSAND:
        return f"{value:,.0f}"
    return units.count(value) if _rounded(value) >= units.MILLION else units.number(value)


def parsed(text: str, field: Field) -> float | None:
    """The number that the text means in this field, or a ValueError with one sentence."""
    words = _plain(text, field)
    if not words or words in _NOTHING:
        if not words and not field.optional:
            raise ValueError(f"{field.label}: the box is empty; {_examples(field)}.")
        return None if field.optional else 0.0
    if words in _UNLIMITED:
        return math.inf
    match = _NUMBER.fullmatch(words)
    if not match or not _belongs(match, field):
        raise ValueError(f"{field.label}: {_quoted(text)} is not {_noun(field)}; {_examples(field)}.")
    digits = re.sub("[,_ ]", "", match["digits"])
    power = int((match["power"] or "e0")[1:]) + _POWERS[match["multiple"]]
    value = float(f"{match['sign']}{digits}e{power}")
    if math.isinf(value):
        raise ValueError(f"{field.label}: {_quoted(text)} is too large to compute with; {_examples(field)}.")
    return _whole(value, text, field)


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


def _plain(text: str, field: Field) -> str:
    """The text in lower case, with single spaces and without the field's own unit at its end."""
    words = " ".join(text.replace("−", "-").casefold().split())
    unit = field.unit.casefold()
    rates = ("/gpu-hour", "/hour", "/h") if " per " in unit else ()
    for ending in (unit, unit.split(" ")[0], "params" if unit == "parameters" else "", *rates):
        if ending and words.endswith(ending) and words != ending:
            words = words.removesuffix(ending).rstrip()
    return re.sub(r"^us ?\$ ?|^\$ ", "$", words)


def _belongs(match: re.Match[str], field: Field) -> bool:
    """Whether the signs around the number are ones that this field's unit can have."""
    multiple = match["multiple"]
    if multiple not in _POWERS or (multiple == "%" and not is_share(field)) or (multiple.isalpha() and match["power"]):
        return False
    return not match["dollar"] or is_money(field)


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
    if is_share(field):
        return "a fraction or a percentage"
    if is_money(field):
        return "an amount of money"
    return f"a number of {field.unit}" if field.unit else "a number"


def _examples(field: Field) -> str:
    if is_share(field):
        return "type it like 0.45 or 45%"
    if is_money(field):
        return "type it like 3.06 or $3.06" if " per " in field.unit else "type it like 50000, $50,000 or 1.2M"
    if field.kind == "int" or field.scale == "linear":
        return "type it like " + shown(field.low if field.low is not None else 1, field)
    return "type it like 3e9, 15T or " + ("unlimited" if field.default == math.inf else "1.4 T")
