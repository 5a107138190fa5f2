"""Where does a slider stop? The values of one field, in order, each shown differently from the one before.

- On a log scale the stops are round numbers 2% to 5% apart, about seventy to the decade; on a linear one, about 200.
- A field that may be unlimited ends with infinity, one that may be zero on a log scale starts with zero.
- The current value is always a stop, wherever it lies: a slider never changes a plan by being drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from costkit.panels import typed
from costkit.plan import Field

_LINEAR_STOPS = 200
_DECADES_BELOW = 6
# Hundredths: 1 to 2 by 0.05, 2 to 5 by 0.1, 5 to 10 by 0.25.
_MANTISSAS = (*range(100, 200, 5), *range(200, 500, 10), *range(500, 1000, 25))


def stops(field: Field, value: float | None) -> tuple[float, ...]:
    """The field's stops in order, with the value among them."""
    low, high = ends(field, value)
    ladder = {low, high, *(_log_ladder(low, high) if field.scale == "log" else _linear_ladder(low, high))}
    if field.kind == "int":
        ladder = {stop for stop in ladder if stop == int(stop)}
    if value is not None and math.isfinite(value):
        ladder = {stop for stop in ladder if typed.shown(stop, field) != typed.shown(value, field)} | {value}
    zero = (0.0,) if has_zero_stop(field) else ()
    unlimited = (math.inf,) if has_unlimited_stop(field) or value == math.inf else ()
    return (*zero, *sorted(ladder - {0.0} if zero else ladder), *unlimited)


def ends(field: Field, value: float | None) -> tuple[float, float]:
    """The finite ends of the slider: the field's usual range, widened to hold an allowed value."""
    low, high = float(field.low or 0.0), float(field.high if field.high is not None else 1.0)
    if field.scale == "log" and low <= 0:
        low = high / 10.0**_DECADES_BELOW
    if value is None or not math.isfinite(value) or (field.scale == "log" and value <= 0):
        return low, high
    least, most = (low if field.least is None else field.least), (high if field.most is None else field.most)
    return min(low, max(value, least)), max(high, min(value, most))


def nearest(ladder: tuple[float, ...], value: float | None) -> int:
    """The index of the value among the stops; the first one where nothing is set."""
    if value is None:
        return 0
    return min(range(len(ladder)), key=lambda index: _distance(ladder[index], value))


def has_zero_stop(field: Field) -> bool:
    """Whether zero is allowed where the scale itself cannot show it."""
    return field.scale == "log" and field.least == 0


def has_unlimited_stop(field: Field) -> bool:
    """Whether the field may be without limit."""
    return field.unlimited


def _distance(stop: float, value: float) -> float:
    return 0.0 if stop == value else abs(stop - value)


def _log_ladder(low: float, high: float) -> Iterator[float]:
    for decade in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1):
        for hundredths in _MANTISSAS:
            stop = float(f"{hundredths}e{decade - 2}")
            if low < stop < high:
                yield stop


def _linear_ladder(low: float, high: float) -> Iterator[float]:
    exponent = math.floor(math.log10((high - low) / _LINEAR_STOPS))
    step = next(m for m in (1, 2, 5, 10) if m * 10.0**exponent >= (high - low) / _LINEAR_STOPS)
    unit = float(f"{step}e{exponent}")
    for multiple in range(math.ceil(low / unit), math.floor(high / unit) + 1):
        yield float(f"{multiple * step}e{exponent}")
