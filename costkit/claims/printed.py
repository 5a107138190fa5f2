"""How is a figure written? Printed numbers and spans as numbers, and numbers as this package prints them."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

from costkit.units import number, short_count

_NUMBER = r"[0-9.]+(?:e[+-]?[0-9]+)?"
_SPAN = re.compile(rf"(?P<low>{_NUMBER})-(?P<high>{_NUMBER})", re.IGNORECASE)


def texts(printed: str) -> tuple[str, ...]:
    """The printed number, or both ends of a printed span, as printed; none where it is in words.

    >>> texts("3.06"), texts("100e9-10e12"), texts("uncomfortable")
    (('3.06',), ('100e9', '10e12'), ())
    """
    span = _SPAN.fullmatch(printed.strip())
    ends = (span["low"], span["high"]) if span else (printed.strip(),)
    return ends if all(map(_is_number, ends)) else ()


def numbers(printed: str) -> tuple[float, ...]:
    """The printed number, or both ends of a printed span; none where it is in words."""
    return tuple(map(float, texts(printed)))


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite() and math.isfinite(float(text))
    except InvalidOperation:
        return False


def is_misspelled_number(printed: str) -> bool:
    """Whether what is no number has a digit or a sign of money in it, or is nan or inf: no word."""
    is_like_one = re.search(r"[0-9$€£∞]", printed) or printed.casefold().lstrip("+-") in ("nan", "inf", "infinity")
    return bool(is_like_one) and not texts(printed)


def figure(value: float) -> str:
    """A figure of a claim: counted from millions on, else to four digits, without zeros behind the point.

    >>> figure(42577), figure(1.2e9), figure(0.0123), figure(60.0), figure(4.2e21)
    ('42,577', '1.2B', '0.0123', '60', '4.2e21')
    """
    if 1e6 <= abs(value) < 1e17:
        return short_count(value)
    digits = 6 if 1e5 <= abs(value) < 1e6 else 5 if 1e4 <= abs(value) < 1e5 else 4
    mantissa, power, exponent = number(value, digits=digits).partition("e")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}{power}{exponent}"
