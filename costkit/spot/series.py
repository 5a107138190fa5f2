"""How does a mean with its variance follow from a generating function? Power series cut after the square.

- A `Series` is c0 + c1 s + c2 s^2; the logarithm of a moment generating function has mean = c1 and variance = 2 c2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """A function of s near 0, by its first three coefficients."""

    c0: float
    c1: float = 0.0
    c2: float = 0.0

    def __add__(self, other: Series | float) -> Series:
        b = _series(other)
        return Series(self.c0 + b.c0, self.c1 + b.c1, self.c2 + b.c2)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return Series(-self.c0, -self.c1, -self.c2)

    def __sub__(self, other: Series | float) -> Series:
        return self + -_series(other)

    def __rsub__(self, other: float) -> Series:
        return _series(other) - self

    def __mul__(self, other: Series | float) -> Series:
        a, b = self, _series(other)
        return Series(a.c0 * b.c0, a.c0 * b.c1 + a.c1 * b.c0, a.c0 * b.c2 + a.c1 * b.c1 + a.c2 * b.c0)

    __rmul__ = __mul__

    def __truediv__(self, other: Series | float) -> Series:
        a, b = self, _series(other)
        q0 = a.c0 / b.c0
        q1 = (a.c1 - q0 * b.c1) / b.c0
        return Series(q0, q1, (a.c2 - q0 * b.c2 - q1 * b.c1) / b.c0)


def _series(value: Series | float) -> Series:
    return value if isinstance(value, Series) else Series(float(value))


def expm1(x: Series) -> Series:
    """The exponential less 1."""
    e = math.exp(x.c0)
    return Series(math.expm1(x.c0), e * x.c1, e * (x.c2 + x.c1**2 / 2))


def exp(x: Series) -> Series:
    """The exponential."""
    return expm1(x) + 1.0


def log1p(x: Series) -> Series:
    """The logarithm of 1 + x."""
    a, b = x.c1 / (1 + x.c0), x.c2 / (1 + x.c0)
    return Series(math.log1p(x.c0), a, b - a**2 / 2)


def of_moments(mean: float, second_moment: float) -> Series:
    """The moment generating function of a quantity with that mean and second moment.

    >>> of_moments(3.0, 9.0) == exp(Series(0.0, 3.0))
    True
    """
    return Series(1.0, mean, second_moment / 2)
