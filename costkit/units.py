"""What do the numbers mean? Constants to enter and leave by, and the one way each quantity is printed.

- Inside the package: bytes, seconds, FLOP, US dollars, tokens. Multiply by a constant to enter, divide by it to leave.
- GB is 1e9 bytes, GiB is 2**30 bytes.
- Printed numbers carry three significant digits and their unit; money is rounded to three digits too, except where it
  must add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

THOUSAND, MILLION, BILLION, TRILLION = 1e3, 1e6, 1e9, 1e12
KB, MB, GB = 1e3, 1e6, 1e9
KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30
TFLOP, PFLOP = 1e12, 1e15
MICRO = 1e-6
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
YEAR = 365.25 * DAY
MONTH = YEAR / 12


@dataclass(frozen=True, slots=True)
class Range:
    """A quantity with its uncertainty; where nothing is known about that, the three are equal."""

    low: float
    mid: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Range:
        """A value without a width.

        >>> Range.exact(3.0)
        Range(low=3.0, mid=3.0, high=3.0)
        """
        return cls(value, value, value)

    def times(self, factor: Range | float) -> Range:
        """The product end by end, what is low together with what is low.

        >>> Range(1.0, 2.0, 3.0).times(10), Range(1.0, 2.0, 3.0).times(Range(1.0, 1.0, 2.0))
        (Range(low=10.0, mid=20.0, high=30.0), Range(low=1.0, mid=2.0, high=6.0))
        """
        by = factor if isinstance(factor, Range) else Range.exact(factor)
        return Range(self.low * by.low, self.mid * by.mid, self.high * by.high)

    def plus(self, other: Range | float) -> Range:
        """The sum end by end: what moves together.

        >>> Range(1.0, 2.0, 3.0).plus(10)
        Range(low=11.0, mid=12.0, high=13.0)
        """
        more = other if isinstance(other, Range) else Range.exact(other)
        return Range(self.low + more.low, self.mid + more.mid, self.high + more.high)

    def left_after(self, part: Range) -> Range:
        """What is left of it after a part, end by end; never below 0, which a part as large as it is can round to.

        >>> Range(1.0, 2.0, 3.0).left_after(Range(1.5, 1.5, 1.0))
        Range(low=0.0, mid=0.5, high=2.0)
        """
        return Range(max(self.low - part.low, 0.0), max(self.mid - part.mid, 0.0), max(self.high - part.high, 0.0))

    def map(self, function: Callable[[float], float]) -> Range:
        """A function of each end, one that only rises or only falls: where it falls, low and high change places.

        >>> Range(1.0, 2.0, 4.0).map(lambda value: 4 / value)
        Range(low=1.0, mid=2.0, high=4.0)
        """
        low, mid, high = function(self.low), function(self.mid), function(self.high)
        return Range(min(low, high), mid, max(low, high))

    @classmethod
    def total(cls, parts: Iterable[Range]) -> Range:
        """The sum of parts that move together; of none it is 0.

        >>> Range.total([Range(1.0, 2.0, 3.0), Range.exact(10.0)])
        Range(low=11.0, mid=12.0, high=13.0)
        """
        whole = cls.exact(0.0)
        for part in parts:
            whole = whole.plus(part)
        return whole


_SUFFIXES = ((TRILLION, "T"), (BILLION, "B"), (MILLION, "M"), (THOUSAND, "K"))


def number(value: float, *, digits: int = 3) -> str:
    """A plain number to three significant digits, with commas and without an exponent below 1e6.

    >>> number(0.36585), number(20.449), number(12345.6), number(0), number(5.76e23), number(float("inf"))
    ('0.366', '20.4', '12,300', '0', '5.76e23', 'unlimited')
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "unlimited" if value > 0 else "-unlimited"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    exponent = math.floor(math.log10(abs(rounded)))
    if exponent >= 6 or exponent < -3:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(power)}"
    return f"{rounded:,.{max(digits - 1 - exponent, 0)}f}"


def count(value: float) -> str:
    """A number of parameters, tokens or runs, to three significant digits.

    >>> count(72.249e9), count(1.3287e12), count(999.96e6), count(240), count(3.0e18)
    ('72.2B', '1.33T', '1.00B', '240', '3.00e18')
    """
    if not math.isfinite(value):
        return number(value)
    rounded = float(f"{value:.2e}")
    if abs(rounded) >= 1e5 * TRILLION:
        return number(value)
    for size, suffix in _SUFFIXES:
        if abs(rounded) >= size:
            return number(rounded / size) + suffix
    return f"{rounded:g}"


def usd(value: float) -> str:
    """US dollars: cents below ten dollars, whole dollars to five digits, then three significant digits.

    >>> usd(3.06), usd(11_800), usd(42_301.44), usd(1.2345e6), usd(0), usd(-8_000), usd(0.0004)
    ('$3.06', '$11,800', '$42,301', '$1.23M', '$0', '-$8,000', '$0.0004')
    """
    if not math.isfinite(value):
        return number(value)
    sign, size = ("-" if value < 0 else ""), abs(value)
    if size == 0:
        return "$0"
    if size < 0.01:
        return f"{sign}${size:.1g}"
    if size < 10:
        return f"{sign}${size:.2f}"
    if round(size) < 100_000:
        return f"{sign}${size:,.0f}"
    return f"{sign}${count(size)}"


def usd_rate(value: float) -> str:
    """US dollars for an hour, always with the cents, which `usd` leaves out from ten dollars on.

    >>> usd_rate(12.29), usd_rate(1_250)
    ('$12.29', '$1,250.00')
    """
    return f"${value:,.2f}"


def gpu_hours(value: float) -> str:
    """GPU-hours, to three significant digits; millions and more in words.

    >>> gpu_hours(13_815), gpu_hours(1.3e6), gpu_hours(24.3), gpu_hours(999_900)
    ('13,800', '1.30M', '24.3', '1.00M')
    """
    return count(value) if float(f"{value:.2e}") >= MILLION else number(value)


def flop(value: float) -> str:
    """An amount of computation.

    >>> flop(5.76e23), flop(math.inf)
    ('5.76e23 FLOP', 'unlimited FLOP')
    """
    if not math.isfinite(value):
        return f"{number(value)} FLOP"
    mantissa, power = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(power)} FLOP"


def duration(seconds: float) -> str:
    """A time span in the unit a person would use.

    >>> duration(18 * DAY), duration(90), duration(5 * HOUR), duration(3 * YEAR), duration(0.25)
    ('18.0 days', '1.50 minutes', '5.00 hours', '3.00 years', '0.250 seconds')
    """
    if not math.isfinite(seconds):
        return number(seconds)
    unit, name = _time_unit(seconds)
    return f"{number(seconds / unit)} {name}"


def duration_range(value: Range) -> str:
    """The ends of a time span, in the unit of its middle; an end that never comes is called so.

    >>> duration_range(Range(1.9e6, 2e6, 2.1e6)), duration_range(Range(60.0, 90.0, math.inf))
    ('22.0 to 24.3 days', '1.00 minutes to never')
    """
    unit, name = _time_unit(value.mid if math.isfinite(value.mid) else value.low)
    low = number(value.low / unit)
    return f"{low} {name} to never" if math.isinf(value.high) else f"{low} to {number(value.high / unit)} {name}"


def _time_unit(seconds: float) -> tuple[float, str]:
    """The unit that a person would use, in seconds, and its name."""
    least = ((2 * YEAR, YEAR, "years"), (2 * DAY, DAY, "days"), (HOUR, HOUR, "hours"), (MINUTE, MINUTE, "minutes"))
    return next(((unit, name) for size, unit, name in least if abs(seconds) >= size), (1.0, "seconds"))


def gib(n_bytes: float) -> str:
    """A memory size in GiB.

    >>> gib(80 * GIB), gib(512 * MIB)
    ('80.0 GiB', '0.500 GiB')
    """
    return f"{number(n_bytes / GIB)} GiB"


def percent(fraction: float) -> str:
    """A fraction as a percentage: whole from ten per cent on, else at most three significant digits.

    >>> percent(0.52), percent(0.0123), percent(1.5), percent(0.05), percent(0.0004), percent(0)
    ('52%', '1.23%', '150%', '5%', '0.04%', '0%')
    """
    value = 100 * fraction
    if not math.isfinite(value):
        return number(value)
    return f"{value:,.0f}%" if abs(value) >= 9.995 else f"{float(f'{value:.2e}'):g}%"


def short_count(value: float) -> str:
    """A round count for an axis, without the zeros behind the point.

    >>> short_count(1e9), short_count(1e10), short_count(2.5e9)
    ('1B', '10B', '2.5B')
    """
    text = count(value)
    digits, suffix = (text[:-1], text[-1]) if text[-1].isalpha() else (text, "")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + suffix


def finite(value: float) -> float | None:
    """A number as a table or a JSON file can hold it: None where it is infinite or no number.

    >>> finite(2.5), finite(math.inf)
    (2.5, None)
    """
    return value if math.isfinite(value) else None


def require_positive(value: object, what: str, unit: str) -> None:
    """Refuse zero, negative, infinite and not-a-number values (or arrays with any) with one sentence.

    >>> require_positive(-3.0, "n_tokens", "tokens")
    Traceback (most recent call last):
    ...
    ValueError: n_tokens must be a positive, finite number of tokens, not -3.0.
    """
    values = numbers(value)
    if not np.all(np.isfinite(values) & (values > 0)) or not values.size:
        raise ValueError(f"{what} must be a positive, finite number of {unit}, not {_given(value)}.")


def require_not_negative(value: object, what: str, unit: str) -> None:
    """Refuse negative, infinite and not-a-number values (or arrays with any) with one sentence.

    >>> require_not_negative(-3.0, "inference_tokens", "tokens")
    Traceback (most recent call last):
    ...
    ValueError: inference_tokens must be a finite number of tokens, zero or more, not -3.0.
    """
    values = numbers(value)
    if not np.all(np.isfinite(values) & (values >= 0)) or not values.size:
        raise ValueError(f"{what} must be a finite number of {unit}, zero or more, not {_given(value)}.")


def require_whole(value: object, what: str, unit: str, *, least: int = 1) -> None:
    """Refuse what is no whole number of that many or more, with one sentence.

    >>> require_whole(2.5, "n_trials", "trials")
    Traceback (most recent call last):
    ...
    ValueError: n_trials must be a whole number of trials, 1 or more, not 2.5.
    """
    values = numbers(value)
    if values.ndim or not math.isfinite(float(values)) or values < least or values != np.floor(values):
        raise ValueError(f"{what} must be a whole number of {unit}, {least} or more, not {_given(value)}.")


def require_fraction(value: object, what: str) -> None:
    """Refuse what is no share of one, from 0 to 1, with one sentence.

    >>> require_fraction(45, "notice_success")
    Traceback (most recent call last):
    ...
    ValueError: notice_success must be a fraction from 0 to 1, not 45: it looks like a percentage, write 0.45.
    """
    values = numbers(value)
    if np.all((values >= 0) & (values <= 1)) and values.size:
        return
    single = float(values) if values.ndim == 0 else math.nan
    hint = f": it looks like a percentage, write {single / 100:g}" if 2 <= single <= 100 else ""
    raise ValueError(f"{what} must be a fraction from 0 to 1, not {_given(value)}{hint}.")


def numbers(value: object) -> npt.NDArray[np.float64]:
    """Numbers as they are; text, truth values, lists and whatever else is none become not-a-number.

    >>> numbers(3), numbers("15e12"), numbers(True)
    (array(3.), array(nan), array(nan))
    """
    if isinstance(value, list | tuple):
        return np.array(math.nan)
    found = np.asarray(value)
    return found.astype(float) if found.dtype.kind in "iuf" else np.full(found.shape, math.nan)


def _given(value: object) -> str:
    """What was given, in a few words."""
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} (make it a numpy array)"
    text = repr(value)
    return "an array with other values" if np.ndim(numbers(value)) else text if len(text) <= 60 else f"{text[:60]}..."
