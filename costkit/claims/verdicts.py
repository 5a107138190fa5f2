"""Does a printed figure hold? The rules by which a verdict follows from two figures.

- A printed span is compared end by end with one of ours; one value of ours holds anywhere inside it.
- Where the source left something open, our values are readings of it, and a figure between them depends on that.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from costkit.claims.printed import texts

CLOSE_FRACTION = 0.05
HOLDS, CLOSE, WRONG, DEPENDS = "holds", "close", "wrong", "depends"
VERDICTS = (HOLDS, CLOSE, DEPENDS, WRONG)
_ROUNDING = 1e-9


def verdict(printed: str, recomputed: float) -> str:
    """`holds` to the printed digits, else `close` within 5%, else `wrong`.

    >>> verdict("40e9", 40.36e9), verdict("40e9", 39.2e9), verdict("40e9", 32.2e9)
    ('holds', 'close', 'wrong')
    """
    published = float(printed)
    if abs(recomputed - published) <= _half_last_digit(printed) * (1 + _ROUNDING):
        return HOLDS
    return CLOSE if abs(recomputed - published) <= CLOSE_FRACTION * abs(published) * (1 + _ROUNDING) else WRONG


def _half_last_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return float(Decimal(5).scaleb(int(exponent) - 1))


def verdict_of_readings(printed: str, values: tuple[float, ...], *, is_open: bool) -> str:
    """The verdict on a printed number or span, of one value of ours or several; `is_open` makes them readings.

    >>> verdict_of_readings("40-45", (28.6, 44.4), is_open=False), verdict_of_readings("6-10", (6.67,), is_open=False)
    ('wrong', 'holds')
    >>> verdict_of_readings("3.06", (1.1, 5.12), is_open=True), verdict_of_readings("20", (-113, -7), is_open=True)
    ('depends', 'wrong')
    """
    ends, low, high = texts(printed), min(values), max(values)
    if is_open:
        return _of_open(ends, values)
    if len(ends) == 1:
        return _worst(verdict(ends[0], value) for value in values)
    if low == high and float(ends[0]) <= low <= float(ends[1]):
        return HOLDS
    if low == high:
        return min((verdict(end, low) for end in ends), key=VERDICTS.index)
    return _worst((verdict(ends[0], low), verdict(ends[1], high)))


def _of_open(ends: tuple[str, ...], values: tuple[float, ...]) -> str:
    each = [_of_one(ends, value) for value in values]
    if set(each) <= {HOLDS, CLOSE}:
        return _worst(each)
    is_between = min(values) <= float(ends[-1]) and float(ends[0]) <= max(values)
    return DEPENDS if is_between or WRONG not in each or len(set(each)) > 1 else WRONG


def _of_one(ends: tuple[str, ...], value: float) -> str:
    if len(ends) == 2 and float(ends[0]) <= value <= float(ends[1]):
        return HOLDS
    return min((verdict(end, value) for end in ends), key=VERDICTS.index)


def _worst(found: Iterable[str]) -> str:
    return max(found, key=VERDICTS.index)
