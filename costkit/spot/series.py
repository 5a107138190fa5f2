"""How does a mean with its variance follow from a generating function? Series cut after the square, in many digits.

- A `Series` is c0 + c1 s + c2 s^2; the logarithm of a moment generating function has mean = c1 and variance = 2 c2.
- Coefficients are decimals of 100 digits: where losses are rare, or notices nearly never good, most digits cancel.
"""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

DIGITS = 100
_ZERO = Decimal(0)
Number = float | Decimal


@contextmanager
def many_digits() -> Iterator[None]:
    """Compute with 100 digits; what grows beyond all bounds raises `decimal.Overflow`."""
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, 10**9, -(10**9)
        yield


@dataclass(frozen=True, slots=True)
class Series:
    """A function of s near 0, by its first three coefficients."""

    c0: Decimal
    c1: Decimal = _ZERO
    c2: Decimal = _ZERO

    def __add__(self, other: Series | Number) -> Series:
        b = series(other)
        return Series(self.c0 + b.c0, self.c1 + b.c1, self.c2 + b.c2)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series(-self.c0, -self.c1, -self.c2)

    def __sub__(self, other: Series | Number) -> Series:
        return self + -series(other)

    def __rsub__(self, other: Number) -> Series:
        return series(other) - self

    def __mul__(self, other: Series | Number) -> Series:
        a, b = self, series(other)
        return Series(a.c0 * b.c0, a.c0 * b.c1 + a.c1 * b.c0, a.c0 * b.c2 + a.c1 * b.c1 + a.c2 * b.c0)

    __rmul__ = __mul__

    def __truediv__(self, other: Series | Number) -> Series:
        a, b = self, series(other)
        q0 = a.c0 / b.c0
        q1 = (a.c1 - q0 * b.c1) / b.c0
        return Series(q0, q1, (a.c2 - q0 * b.c2 - q1 * b.c1) / b.c0)


def series(value: Series | Number, slope: Number = 0) -> Series:
    """A number, or a number that grows with s at that slope, as a series."""
    return value if isinstance(value, Series) else Series(Decimal(value), Decimal(slope))


def exp(x: Series) -> Series:
    """The exponential."""
    e = x.c0.exp()
    return Series(e, e * x.c1, e * (x.c2 + x.c1**2 / 2))


def log(x: Series) -> Series:
    """The natural logarithm."""
    a, b = x.c1 / x.c0, x.c2 / x.c0
    return Series(x.c0.ln(), a, b - a**2 / 2)


def of_moments(mean: float, second_moment: float) -> Series:
    """The moment generating function of a quantity with that mean and second moment.

    >>> found = exp(series(0.0, 3.0))
    >>> of_moments(3.0, 9.0) == found
    True
    """
    return Series(Decimal(1), Decimal(mean), Decimal(second_moment) / 2)
