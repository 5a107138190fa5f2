from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables
from costkit.training.energy import Energy, energy
from costkit.units import THOUSAND, Range

H100, A100 = "H100-SXM5-80GB", "A100-SXM4-80GB"
POWER = {row["gpu"]: float(row["max_watts"]) for row in tables.rows("power.csv")}
FACTORS = {(row["factor"], row["bound"]): float(row["value"]) for row in tables.rows("power_factors.csv")}
hours = st.tuples(*[st.floats(0.0, 1e9)] * 3).map(lambda values: Range(*sorted(values)))


def exactly(gpu_hours: float) -> Range:
    """So many GPU-hours without any doubt."""
    return Range(gpu_hours, gpu_hours, gpu_hours)


def known(gpu_hours: Range, gpu: str = H100) -> Energy:
    """The energy on a GPU whose power is known."""
    found = energy(gpu_hours=gpu_hours, gpu=gpu)
    assert found is not None
    return found


def ends(value: Range) -> tuple[float, float, float]:
    """Low, mid and high."""
    return value.low, value.mid, value.high


def test_the_gpus_of_olmo_3_32b() -> None:
    """1.05 million H100-hours at the higher of the measured powers, its own, are the 681 MWh that were published."""
    assert round(known(exactly(1.05e6)).gpu_kwh.high / THOUSAND) == 681


def test_the_gpus_of_olmo_3_7b() -> None:
    """The 146 MWh that were published are those of the most hours that print as 234,000, at 621 W."""
    found = [round(known(exactly(gpu_hours)).gpu_kwh.low / THOUSAND) for gpu_hours in (234e3, 234.5e3)]
    assert found == [145, 146]


def test_an_h100_was_measured() -> None:
    """Where means over training runs were published, they are the range, and the words say which runs."""
    found = known(exactly(1.0))
    assert ends(found.gpu_watts) == (621, 635, 649)
    assert found.basis == "measured on Olmo 3 32B and Olmo 3 7B"


def test_a_chip_that_was_measured_over_many_applications() -> None:
    """The lowest and the highest of a TPU's applications are the ends, their mean is the middle."""
    assert ends(known(exactly(1.0), "TPU-v4").gpu_watts) == (121, 170, 192)


def test_an_a100_is_estimated_from_its_maximum() -> None:
    """A GPU that nobody measured in training draws a share of its maximum, and the words say so."""
    found = known(exactly(1.0), A100)
    assert ends(found.gpu_watts) == pytest.approx((240, 340, 372))
    assert found.basis == "estimated from its maximum power of 400 W"


def test_a_gpu_without_a_power_has_no_energy() -> None:
    """A GPU that we know, but not its power, is answered with None."""
    assert energy(gpu_hours=exactly(1.0), gpu="TPU-v6e") is None


def test_a_gpu_of_ones_own_has_no_energy() -> None:
    """A GPU that is not from the table may be called otherwise, and then nobody knows its power."""
    assert energy(gpu_hours=exactly(1.0), gpu=replace(tables.gpu(H100), name="mine")) is None


def test_a_gpu_by_name_or_itself() -> None:
    """The name stands for the GPU."""
    assert energy(gpu_hours=exactly(7.0), gpu=tables.gpu(A100)) == energy(gpu_hours=exactly(7.0), gpu=A100)


@pytest.mark.parametrize("gpu", POWER)
def test_no_energy_is_that_of_the_maximum_power(gpu: str) -> None:
    """Training draws less than the maximum on average, and more than a third of it."""
    low, mid, high = ends(known(exactly(1.0), gpu).gpu_watts)
    assert POWER[gpu] / 3 < low < mid < high <= POWER[gpu]


@given(hours)
def test_energy_is_the_product_of_its_factors(gpu_hours: Range) -> None:
    """Low, mid and high are each GPU-hours, watts, hosts and building multiplied."""
    found = known(gpu_hours)
    for end in ("low", "mid", "high"):
        factors = (getattr(part, end) for part in (found.gpu_hours, found.gpu_watts, found.pue))
        kwh = math.prod(factors) * (1 + getattr(found.host_fraction, end)) / THOUSAND
        assert getattr(found.kwh, end) == pytest.approx(kwh, rel=1e-12)


@given(gpu_hours=hours, gpu=st.sampled_from(sorted(POWER)))
def test_the_whole_is_more_than_the_gpus(gpu_hours: Range, gpu: str) -> None:
    """Hosts and cooling come on top, and low, mid and high stay in order."""
    found = known(gpu_hours, gpu)
    assert all(whole >= part for whole, part in zip(ends(found.kwh), ends(found.gpu_kwh), strict=True))
    assert list(ends(found.kwh)) == sorted(ends(found.kwh))


@given(gpu_hours=hours, times=st.floats(0.0, 1e6))
def test_twice_the_hours_take_twice_the_energy(gpu_hours: Range, times: float) -> None:
    """Energy is proportional to GPU-hours."""
    more = Range(*(times * value for value in ends(gpu_hours)))
    assert ends(known(more).kwh) == pytest.approx([times * kwh for kwh in ends(known(gpu_hours).kwh)])


def test_a_run_that_may_never_end() -> None:
    """Hours without an upper end take energy without one."""
    found = known(Range(1.0, 2.0, math.inf))
    assert (found.kwh.high, math.isfinite(found.kwh.mid)) == (math.inf, True)


@pytest.mark.parametrize(
    "wrong", [1e6, "1e6", None, exactly(-1.0), exactly(math.nan), Range(3.0, 2.0, 1.0), Range(*np.ones((3, 2)))]
)
def test_energy_refuses_what_are_no_hours(wrong: Any) -> None:
    """Whatever is no range from 0 up, in order, is refused with one sentence."""
    with pytest.raises(ValueError, match=r"^gpu_hours must be a Range of GPU-hours from 0 up, .* not .*\.$"):
        energy(gpu_hours=wrong, gpu=H100)


def test_unknown_gpu_lists_near_names() -> None:
    """A GPU that no table has is answered with the nearest one."""
    with pytest.raises(tables.UnknownName, match=A100):
        energy(gpu_hours=exactly(1.0), gpu="A100-80")


def test_powers_are_of_known_gpus() -> None:
    """Every power, maximum or measured, is of a GPU of gpus.csv, and the measured ones have a maximum too."""
    measured = {row["gpu"] for row in tables.rows("measured_power.csv")}
    assert measured <= set(POWER) <= set(tables.gpus())


def test_measured_powers_are_in_order_and_below_the_maximum() -> None:
    """A mean lies between the lowest and the highest, and none above what the GPU may draw."""
    for row in tables.rows("measured_power.csv"):
        told = [float(row[name]) for name in ("watts_low", "watts_mean", "watts_high") if row[name]]
        assert told == sorted(told)
        assert 50 < told[0] <= told[-1] <= POWER[row["gpu"]]


def test_every_factor_has_its_three_bounds() -> None:
    """Low, mid and high of each factor stand in the table, in order; no share is above 1 and no PUE below."""
    names = {factor for factor, _ in FACTORS}
    assert names == {"host_fraction", "load_fraction", "pue"}
    assert all(FACTORS[name, "low"] < FACTORS[name, "mid"] < FACTORS[name, "high"] for name in names)
    assert FACTORS["load_fraction", "high"] < 1 < FACTORS["pue", "low"]


@pytest.mark.parametrize(("bound", "node_watts"), [("low", 0.76 * 10_200), ("mid", 8_400), ("high", 10_200)])
def test_the_share_of_a_host_follows_from_the_power_of_its_node(bound: str, node_watts: float) -> None:
    """What nodes with eight H100s drew, or may draw, over eight times the maximum of an H100, is one plus the share."""
    assert FACTORS["host_fraction", bound] == round(node_watts / (8 * POWER[H100]) - 1, 2)


def test_the_highest_load_is_the_highest_that_was_measured() -> None:
    """The upper bound of the load is the mean power of Olmo 3 32B over the maximum of its GPUs."""
    assert FACTORS["load_fraction", "high"] == round(known(exactly(1.0)).gpu_watts.high / POWER[H100], 2)
