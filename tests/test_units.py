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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        ((50.0, 90.0, 200.0), "0.833 to 3.33 minutes"),
        ((47 * 3600, 2 * units.DAY, 3 * units.DAY), "1.96 to 3.00 days"),
        ((59.0, 59.9, 61.0), "59.0 to 61.0 seconds"),
        ((1.9 * units.YEAR, 2 * units.YEAR, math.inf), "1.90 years to never"),
        ((3600.0, math.inf, math.inf), "1.00 hours to never"),
        ((0.0, 0.0, 0.0), "0 to 0 seconds"),
    ],
)
def test_duration_range_has_the_unit_of_its_middle(seconds: tuple[float, float, float], text: str) -> None:
    """Both ends are told in it; where the middle never comes the low end decides."""
    assert units.duration_range(units.Range(*seconds)) == text


@given(low=st.floats(1, 1e9), longer=st.floats(1, 50), still=st.floats(1, 50))
def test_duration_range_reads_back(low: float, longer: float, still: float) -> None:
    """Its ends times the unit's length are the ends that were given, to three digits."""
    value = units.Range(low, low * longer, low * longer * still)
    first, _, last, name = units.duration_range(value).split()
    lengths = {
        "seconds": 1.0,
        "minutes": units.MINUTE,
        "hours": units.HOUR,
        "days": units.DAY,
        "years": units.YEAR,
    }
    ends = [float(end.replace(",", "")) * lengths[name] for end in (first, last)]
    assert ends == pytest.approx([value.low, value.high], rel=5.01e-3)
    assert units.duration(value.mid).endswith(name)


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


@pytest.mark.parametrize(
    "wrong", [0, -1, 2.5, math.nan, math.inf, "7", None, True, [3], np.array([1, 2]), np.array([3])]
)
def test_require_whole_refuses_what_is_no_count(wrong: object) -> None:
    """None, parts of one, text, truth values and arrays, each in one sentence with the least that there may be."""
    with pytest.raises(ValueError, match=r"^n_trials must be a whole number of trials, 1 or more, not .*\.$"):
        units.require_whole(wrong, "n_trials", "trials")


@pytest.mark.parametrize(("right", "least"), [(1, 1), (1e6, 1), (np.int64(7), 7), (np.float64(3), 2), (0, 0), (-2, -2)])
def test_require_whole_lets_counts_pass(right: object, least: int) -> None:
    """A whole number from the least one on raises nothing, of whatever kind it is."""
    units.require_whole(right, "n_nodes", "nodes", least=least)


def test_require_whole_names_the_least_that_is_asked() -> None:
    """One below it is refused with it."""
    with pytest.raises(ValueError, match=r"^n_nodes must be a whole number of nodes, 2 or more, not 1\.$"):
        units.require_whole(1, "n_nodes", "nodes", least=2)


@pytest.mark.parametrize(
    "wrong", [-0.1, 1.01, math.nan, math.inf, "0.5", None, True, [0.5], np.array([]), np.array([0.5, 1.5])]
)
def test_require_fraction_refuses_what_is_no_share(wrong: object) -> None:
    """Below 0, above 1, text, truth values, lists and arrays with any of them, in one sentence without a hint."""
    with pytest.raises(ValueError, match=r"^share must be a fraction from 0 to 1, not [^:]*\.$"):
        units.require_fraction(wrong, "share")


@pytest.mark.parametrize(("wrong", "hint"), [(2, "0.02"), (45, "0.45"), (99.5, "0.995"), (100, "1")])
def test_require_fraction_knows_a_percentage(wrong: float, hint: str) -> None:
    """From 2 to 100 it is told what to write."""
    told = rf"^share must be a fraction from 0 to 1, not {wrong}: it looks like a percentage, write {hint}\.$"
    with pytest.raises(ValueError, match=told):
        units.require_fraction(wrong, "share")


@pytest.mark.parametrize("right", [0, 1, 0.5, np.float64(0.3), np.array([0.0, 0.5, 1.0])])
def test_require_fraction_lets_shares_pass(right: object) -> None:
    """Anything from 0 to 1, its ends among them, and arrays of such raise nothing."""
    units.require_fraction(right, "share")


@pytest.mark.parametrize(
    ("value", "text"),
    [(24.3, "24.3"), (999_499, "999,000"), (999_500, "1.00M"), (30.84e6, "30.8M"), (math.inf, "unlimited")],
)
def test_gpu_hours_are_in_words_from_a_million_on(value: float, text: str) -> None:
    """Three digits with commas, and millions in words, also where rounding makes them one."""
    assert units.gpu_hours(value) == text


# Ranges.


ranges = st.lists(st.floats(0.01, 1e6), min_size=3, max_size=3).map(lambda ends: units.Range(*sorted(ends)))


def is_ordered(value: units.Range) -> bool:
    """Whether low, middle and high are in that order."""
    return value.low <= value.mid <= value.high


@given(value=ranges, power=st.floats(-2, 2))
def test_a_map_keeps_the_order(value: units.Range, power: float) -> None:
    """The ends of a function that falls change places, those of one that rises do not."""
    found = value.map(lambda end: float(end**power))
    assert is_ordered(found)
    assert found.mid == value.mid**power
    assert {found.low, found.high} == {value.low**power, value.high**power}


@given(whole=ranges, part=ranges)
def test_what_is_left_is_never_below_nothing(whole: units.Range, part: units.Range) -> None:
    """After a part that is larger nothing is left, and what was added can be taken away again."""
    left = whole.left_after(part)
    assert min(left.low, left.mid, left.high) >= 0
    again = whole.plus(part).left_after(part)
    assert [again.low, again.mid, again.high] == pytest.approx([whole.low, whole.mid, whole.high], abs=1e-8)


@given(st.lists(ranges, max_size=5))
def test_a_total_is_the_sum_of_each_end(parts: list[units.Range]) -> None:
    """Low, middle and high are summed apart; of nothing it is 0."""
    whole = units.Range.total(parts)
    for end in ("low", "mid", "high"):
        assert getattr(whole, end) == pytest.approx(sum(getattr(part, end) for part in parts))
