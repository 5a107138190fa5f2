import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import units

SUFFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
amounts = st.floats(1e-12, 1e30)


def read_back(text: str) -> float:
    """The value that a printed count or number stands for."""
    suffix = text[-1] if text[-1].isalpha() else ""
    return float(text.removesuffix(suffix).replace(",", "")) * SUFFIXES[suffix]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.36585, "0.366"),
        (20.449, "20.4"),
        (999.5, "1,000"),
        (999.4, "999"),
        (999_499, "999,000"),
        (999_500, "1.00e6"),
        (0.001, "0.00100"),
        (0.000999, "9.99e-4"),
        (-20.449, "-20.4"),
        (-5.76e23, "-5.76e23"),
        (0.0, "0"),
        (math.inf, "unlimited"),
        (-math.inf, "-unlimited"),
        (math.nan, "unknown"),
    ],
)
def test_number_keeps_three_digits(value: float, text: str) -> None:
    """Three digits, commas, an exponent outside 0.001 to a million only, and a word for what is no number."""
    assert units.number(value) == text


@given(value=amounts)
def test_number_reads_back_within_half_its_last_digit(value: float) -> None:
    """A printed number is never further from its value than three significant digits allow."""
    assert read_back(units.number(value)) == pytest.approx(value, rel=5.01e-3)


@given(value=amounts)
def test_number_of_more_digits_is_nearer(value: float) -> None:
    """Six digits are asked for, six are given."""
    assert read_back(units.number(value, digits=6)) == pytest.approx(value, rel=5.01e-6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (240, "240"),
        (999.96e6, "1.00B"),
        (999.4e6, "999M"),
        (1e3, "1.00K"),
        (1.0e14, "100T"),
        (9.99e16, "99,900T"),
        (1e17, "1.00e17"),
        (0.5, "0.5"),
        (-70e9, "-70.0B"),
        (math.inf, "unlimited"),
    ],
)
def test_count_takes_the_nearest_suffix(value: float, text: str) -> None:
    """A count rounds first and chooses its suffix after, so that no count reads 1,000M."""
    assert units.count(value) == text


@given(value=st.floats(1e-3, 1e30))
def test_count_reads_back_within_half_its_last_digit(value: float) -> None:
    """A printed count is never further from its value than three significant digits allow."""
    assert read_back(units.count(value)) == pytest.approx(value, rel=5.01e-3)


@given(value=st.floats(1, 1e17))
def test_short_count_is_the_count_without_zeros(value: float) -> None:
    """An axis label stands for the same value as the count that it shortens."""
    assert read_back(units.short_count(value)) == read_back(units.count(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0004, "$0.0004"),
        (3.06, "$3.06"),
        (9.999, "$10.00"),
        (10.4, "$10"),
        (42_301.44, "$42,301"),
        (99_999.4, "$99,999"),
        (99_999.6, "$100K"),
        (1.2345e6, "$1.23M"),
        (-8_000, "-$8,000"),
        (0, "$0"),
        (math.inf, "unlimited"),
    ],
)
def test_usd_rounds_as_money(value: float, text: str) -> None:
    """Cents below ten dollars, whole dollars up to five digits, three significant digits beyond."""
    assert units.usd(value) == text


@given(value=st.floats(0.01, 1e15))
def test_usd_of_a_loss_is_the_same_with_a_sign(value: float) -> None:
    """The sign stands before the dollar sign and changes nothing else."""
    assert units.usd(-value) == f"-{units.usd(value)}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(5.76e23, "5.76e23 FLOP"), (9.999e20, "1.00e21 FLOP"), (1.0, "1.00e0 FLOP"), (math.inf, "unlimited FLOP")],
)
def test_flop_has_a_mantissa_of_three_digits(value: float, text: str) -> None:
    """An amount of compute is written with a power of ten, whatever its size."""
    assert units.flop(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59, "59.0 seconds"),
        (60, "1.00 minutes"),
        (3600, "1.00 hours"),
        (47 * 3600, "47.0 hours"),
        (2 * units.DAY, "2.00 days"),
        (2 * units.YEAR, "2.00 years"),
        (math.inf, "unlimited"),
    ],
)
def test_duration_takes_the_unit_of_a_person(seconds: float, text: str) -> None:
    """Hours up to two days, days up to two years."""
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.52, "52%"),
        (0.0123, "1.23%"),
        (0.09996, "10%"),
        (0.0994, "9.94%"),
        (12.0, "1,200%"),
        (0, "0%"),
        (-0.05, "-5%"),
    ],
)
def test_percent_of_a_fraction(fraction: float, text: str) -> None:
    """Whole per cents from ten on, three significant digits at most below."""
    assert units.percent(fraction) == text


def test_gib_is_a_power_of_two() -> None:
    """80e9 bytes are 74.5 GiB, not 80."""
    assert units.gib(80 * units.GB) == "74.5 GiB"


@pytest.mark.parametrize(
    "wrong", [0, -1.0, math.nan, math.inf, "15e12", None, np.array([]), np.array([1.0, -1.0]), np.array([math.nan])]
)
def test_require_positive_refuses_what_is_no_amount(wrong: object) -> None:
    """Zero, negative, nan, infinite, text, nothing, and arrays with any of them, each in one sentence with the unit."""
    with pytest.raises(ValueError, match=r"^n_tokens must be a positive, finite number of tokens, not .*\.$"):
        units.require_positive(wrong, "n_tokens", "tokens")


@pytest.mark.parametrize("wrong", [[], [1.0, 2.0], (1.0,)])
def test_require_positive_refuses_what_is_no_array(wrong: object) -> None:
    """A list would fail in the arithmetic behind the door: it is told to be an array."""
    kind = type(wrong).__name__
    with pytest.raises(ValueError, match=rf"^n_tokens must be .*not a {kind} .*numpy array.*\.$"):
        units.require_positive(wrong, "n_tokens", "tokens")


@pytest.mark.parametrize("right", [1, 1e-300, np.array([1.0, 2.0]), np.float64(3)])
def test_require_positive_lets_amounts_pass(right: object) -> None:
    """Any positive number or array of them raises nothing."""
    units.require_positive(right, "n_tokens", "tokens")
