from __future__ import annotations

import math
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables, training
from costkit.training import Price, prices
from costkit.units import usd

H100, H800 = "H100-SXM5-80GB", "H800-SXM5-80GB"
dollars = st.floats(0.01, 1000)
per_node = st.integers(2, 16)


def span(gpu: str) -> tuple[float, float]:
    """The cheapest and the dearest newest quote of a GPU, however it is bought."""
    known = [found for way in tables.PURCHASES if (found := training.quoted(gpu, purchase=way))]
    return min(one.low for one in known), max(one.high for one in known)


QUOTED = sorted({quote.gpu for quote in tables.quotes()})


# A price and what it is for.


def test_a_nodes_price_is_divided_by_its_gpus() -> None:
    """$98.32 for a node of 8 is $12.29 for a GPU."""
    assert training.price(98.32, per="node", n_gpus=8).usd_per_gpu_hour == pytest.approx(12.29)


@given(price=dollars, n_gpus=per_node, unit=st.sampled_from(["node", "instance"]))
def test_gpus_together_cost_what_the_unit_does(price: float, n_gpus: int, unit: str) -> None:
    """The price of a GPU times the GPUs of the unit is the price of the unit."""
    assert training.price(price, per=unit, n_gpus=n_gpus).usd_per_gpu_hour * n_gpus == pytest.approx(price)


@pytest.mark.parametrize("n_gpus", [None, 1])
def test_a_price_of_a_gpu_is_of_one(n_gpus: int | None) -> None:
    """What is for a GPU is for one, told or not."""
    assert training.price(2.49, per="gpu", n_gpus=n_gpus) == Price(2.49, "gpu", 1)


@pytest.mark.parametrize(
    ("given_price", "sentence"),
    [
        ({"per": "node"}, r"^a price per node needs n_gpus, the GPUs that one node has, e\.g\. 8$"),
        ({"per": "instance"}, "^a price per instance needs n_gpus, the GPUs that one instance has"),
        (
            {"per": "gpu", "n_gpus": 8},
            "^a price per GPU is for 1 GPU, not for 8: give per='node' for a machine's price",
        ),
        ({"per": "node", "n_gpus": 0}, "^n_gpus must be a whole number of GPUs, 1 or more, not 0"),
        ({"per": "node", "n_gpus": 2.5}, "^n_gpus must be a whole number of GPUs, 1 or more, not 2.5"),
        ({"usd_per_hour": 0}, "^usd_per_hour must be a positive, finite number of USD per hour, not 0"),
        ({"usd_per_hour": -2.49}, "^usd_per_hour must be a positive, finite number of USD per hour, not -2.49"),
        ({"usd_per_hour": math.inf}, "^usd_per_hour must be a positive, finite number of USD per hour, not inf"),
    ],
)
def test_what_is_no_price_gets_one_sentence(given_price: dict[str, Any], sentence: str) -> None:
    """The GPUs of a machine are never guessed, and no amount is taken that nobody can pay."""
    with pytest.raises(ValueError, match=sentence):
        training.price(**{"usd_per_hour": 2.49, "per": "gpu", **given_price})


def test_an_unknown_unit_offers_the_nearest() -> None:
    """A unit that is none is answered with the nearest."""
    with pytest.raises(tables.UnknownName, match=r"no unit of a price 'gpus'\. Did you mean 'gpu'"):
        training.price(2.49, per="gpus")


# As people write it.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.49/gpu", Price(2.49, "gpu", 1)),
        ("$2.49/GPU/hr", Price(2.49, "gpu", 1)),
        ("$2.49/GPU-h", Price(2.49, "gpu", 1)),
        ("$2.49 per GPU-hour", Price(2.49, "gpu", 1)),
        ("$2.49 per GPU per hour", Price(2.49, "gpu", 1)),
        ("$ 2.49 a GPU an hour", Price(2.49, "gpu", 1)),
        ("2.49 USD per gpu", Price(2.49, "gpu", 1)),
        ("  2.49\teach   GPU ", Price(2.49, "gpu", 1)),
        (".5 / gpu / h", Price(0.5, "gpu", 1)),
        ("3 per GPU", Price(3.0, "gpu", 1)),
        ("2.49 per 1 GPU", Price(2.49, "gpu", 1)),
        ("$98.32 per 8-GPU node", Price(98.32, "node", 8)),
        ("$98.32 per 8-GPU-node", Price(98.32, "node", 8)),
        ("$98.32 per 8x GPU node per hour", Price(98.32, "node", 8)),
        ("$98.32/8-GPU node/hour", Price(98.32, "node", 8)),
        ("98.32 per node of 8", Price(98.32, "node", 8)),
        ("98.32 a node of 8 GPUs an hour", Price(98.32, "node", 8)),
        ("24 an instance of 8", Price(24.0, "instance", 8)),
        ("$12 per 4-gpu instance", Price(12.0, "instance", 4)),
        ("$1,234.50 per node of 72", Price(1234.5, "node", 72)),
    ],
)
def test_a_price_is_read_as_people_write_it(text: str, expected: Price) -> None:
    """Dollars, what for, and the GPUs of a machine are read in the spellings that pages and people use."""
    assert training.read_price(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "free", "2.49", "$2.49 an hour", "per gpu", "2.49 per H100", "2.49 € per gpu", "-2 per gpu", "1.2.3 per gpu",
     "1e2 per gpu", "2.49 per gpu or so", "98.32 per 2 node of 8"],
)  # fmt: skip
def test_what_does_not_say_what_for_is_no_price(text: str) -> None:
    """A number without its unit, another currency, or two numbers of GPUs are refused with examples of what is read."""
    with pytest.raises(ValueError, match=r"is no price: write dollars and what for, such as '2\.49 per gpu' or"):
        training.read_price(text)


@pytest.mark.parametrize("text", ["2,49 per gpu", "12,5 per gpu", "1,2345 per gpu"])
def test_a_decimal_comma_is_not_taken_for_thousands(text: str) -> None:
    """A comma that does not separate thousands is refused: 2,49 is not 249."""
    with pytest.raises(ValueError, match="is no price"):
        training.read_price(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 per node of " + "8" * 5_000, "a price is a short text"),
        ("98.32 per node", "'98.32 per node' does not say how many GPUs a node has"),
        ("2.49 per gpu of 8", "a price per GPU is for 1 GPU, not for 8"),
        ("98 per 0-gpu node", "n_gpus must be a whole number of GPUs, 1 or more, not 0"),
        ("0 per gpu", "'0 per gpu' is no price: it must be above 0"),
    ],
)
def test_a_price_that_is_read_is_checked(text: str, sentence: str) -> None:
    """What is read obeys what is allowed of a price."""
    with pytest.raises(ValueError, match=f"^{sentence}"):
        training.read_price(text)


@given(price=dollars.map(lambda value: round(value, 2)), n_gpus=per_node, unit=st.sampled_from(["node", "instance"]))
def test_reading_undoes_writing(price: float, n_gpus: int, unit: str) -> None:
    """A price that is written with its unit and GPUs is read as it was."""
    expected = training.price(price, per=unit, n_gpus=n_gpus)
    assert training.read_price(f"${price:,.2f} per {n_gpus}-GPU {unit}") == expected
    assert training.read_price(f"{price} per {unit} of {n_gpus}") == expected


# Quotes.


@pytest.mark.parametrize("gpu", QUOTED)
def test_quotes_span_the_newest_of_each_provider(gpu: str) -> None:
    """The ends are the cheapest and the dearest of the newest quotes, one per provider, and mid is their median."""
    found = training.quoted(gpu)
    newest = [
        next(quote.usd_per_gpu_hour for quote in tables.quotes(gpu, "on_demand", provider))
        for provider in {quote.provider for quote in tables.quotes(gpu, "on_demand")}
    ]
    assert (found is None) == (not newest)
    if found is not None:
        assert (found.low, found.mid, found.high) == (min(newest), median(newest), max(newest))


def test_an_older_quote_does_not_count() -> None:
    """A dearer quote of 2024 that the same provider has lowered since is not in the span."""
    old = max(quote.usd_per_gpu_hour for quote in tables.quotes(H100, "on_demand", "runpod"))
    newest = tables.quotes(H100, "on_demand", "runpod")[0]
    assert newest.usd_per_gpu_hour < old
    assert old not in {training.quoted(H100).low, training.quoted(H100).high}  # type: ignore[union-attr]


def test_a_gpu_that_nobody_quotes_has_no_span() -> None:
    """An H800 is in no price list, which is an answer."""
    assert training.quoted(H800) is None


def test_each_way_of_buying_has_its_own_quotes() -> None:
    """Spot is asked for apart from on demand, and cheaper in the middle."""
    spot, on_demand = (training.quoted(H100, purchase=way) for way in ("spot", "on_demand"))
    assert spot is not None
    assert on_demand is not None
    assert spot.mid < on_demand.mid


def test_an_unknown_way_of_buying_offers_the_nearest() -> None:
    """A purchase that nobody has is answered with the nearest."""
    with pytest.raises(tables.UnknownName, match="on_demand"):
        training.quoted(H100, purchase="ondemand")


# Doubts.


def doubt(price: float, gpu: str = H100, gpus_per_node: int = 8) -> training.PriceDoubt | None:
    """The one doubt about a price, None where there is none."""
    found = training.price_doubts(gpu, usd_per_gpu_hour=price, gpus_per_node=gpus_per_node)
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("gpu", QUOTED)
def test_no_quote_is_doubted(gpu: str) -> None:
    """What providers ask now, however it is bought, is nobody's mistake."""
    newest = [training.quoted(gpu, purchase=way) for way in tables.PURCHASES]
    asked = [price for one in newest if one is not None for price in (one.low, one.mid, one.high)]
    assert [price for price in asked if doubt(price, gpu)] == []


@pytest.mark.parametrize("gpu", QUOTED)
def test_a_node_of_eight_at_the_dearest_quote_is_recognized(gpu: str) -> None:
    """Eight times the dearest quote is told to be a node's price, with the price of a GPU."""
    _, high = span(gpu)
    found = doubt(8 * high, gpu)
    assert found is not None
    assert found.kind == "node price"
    assert found.usd_per_gpu_hour == pytest.approx(high)
    assert found.sentence.endswith(f"as the price of a node of 8 it is {usd(high)} each.")


def test_a_price_that_no_node_has_is_high() -> None:
    """What is too much for a node of 8 too is called high, and stays as it is."""
    price = 8 * prices.FAR * span(H100)[1] * 1.01
    found = doubt(price)
    assert found is not None
    assert (found.kind, found.usd_per_gpu_hour) == ("high", price)


def test_on_machines_with_one_gpu_no_price_is_a_nodes() -> None:
    """Where a machine has one GPU, a price that is too high is just that."""
    found = doubt(98.32, gpus_per_node=1)
    assert found is not None
    assert found.kind == "high"


def test_a_price_that_was_divided_once_more_is_low() -> None:
    """An eighth of the cheapest quote of a B200 is far below all, and what it was before it was divided is told."""
    low, high = span("B200-SXM-180GB")
    found = doubt(low / 8, "B200-SXM-180GB")
    assert found is not None
    assert found.kind == "low"
    assert found.usd_per_gpu_hour == pytest.approx(low)
    assert f"{usd(low)} to {usd(high)}" in found.sentence


def test_a_price_next_to_nothing_has_no_other_reading() -> None:
    """A price that eight times over is still far too low stays as it is."""
    found = doubt(0.001)
    assert found is not None
    assert (found.kind, found.usd_per_gpu_hour) == ("low", 0.001)


@pytest.mark.parametrize(("side", "factor", "kind"), [(1, 0.99, None), (1, 1.01, "node price"), (0, 0.99, "low")])
def test_doubts_begin_at_three_times_the_quotes(side: int, factor: float, kind: str | None) -> None:
    """Up to three times the dearest quote, and down to a third of the cheapest, a price is believed."""
    price = span(H100)[side] * (prices.FAR if side else 1 / prices.FAR) * factor
    found = doubt(price)
    assert (found.kind if found else None) == kind


@given(price=st.floats(1e-4, 1e5), gpu=st.sampled_from(QUOTED), gpus_per_node=st.integers(1, 16))
def test_every_doubt_has_another_reading_or_none(price: float, gpu: str, gpus_per_node: int) -> None:
    """A doubt is one sentence with the quotes in it, and its reading is the price itself or lies near them."""
    low, high = span(gpu)
    found = doubt(price, gpu, gpus_per_node)
    assert (found is None) == (low / prices.FAR <= price <= high * prices.FAR)
    if found is not None:
        assert f"outside all quotes, {usd(low)} to {usd(high)}" in found.sentence
        reading = found.usd_per_gpu_hour
        assert reading == price or low / prices.FAR <= reading <= high * prices.FAR


def test_a_gpu_without_quotes_raises_no_doubt() -> None:
    """Nobody can say what an H800 should cost."""
    assert doubt(98.32, H800) is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"usd_per_gpu_hour": 0}, "^usd_per_gpu_hour must be a positive, finite number of USD per GPU-hour, not 0"),
        ({"gpus_per_node": 0}, "^gpus_per_node must be a whole number of GPUs, 1 or more, not 0"),
    ],
)
def test_doubts_refuse_nonsense(changed: dict[str, Any], sentence: str) -> None:
    """A price of nothing and a node of no GPUs are refused with one sentence."""
    with pytest.raises(ValueError, match=sentence):
        training.price_doubts(H100, **{"usd_per_gpu_hour": 2.5, **changed})


@given(price=dollars, low=dollars, more=st.floats(1, 10), gpus_per_node=st.integers(1, 16), near=st.floats(1, 3))
def test_another_reading_lies_near_the_quotes(
    price: float, low: float, more: float, gpus_per_node: int, near: float
) -> None:
    """A price has another reading only where it lies far from the quotes, and that is off by the GPUs of a node."""
    high = low * more
    found = prices.node_reading(price, low=low, high=high, gpus_per_node=gpus_per_node, near=near)
    if found is not None:
        assert price > high * prices.FAR or price < low / prices.FAR
        assert low / near <= found <= high * near
        assert max(found / price, price / found) == pytest.approx(gpus_per_node)


# The price at which another way is cheaper.


def test_the_price_at_which_it_flips() -> None:
    """10,000 GPU-hours cost as much as $30,000 elsewhere at $3."""
    assert training.flip_usd_per_gpu_hour(usd_of_other=30_000, gpu_hours=10_000) == 3


@given(usd_of_other=st.floats(1, 1e9), gpu_hours=st.floats(1, 1e9), times=st.floats(1.01, 10))
def test_above_the_flip_the_other_is_cheaper(usd_of_other: float, gpu_hours: float, times: float) -> None:
    """Above that price the hours cost more than the other way, below it less."""
    flip = training.flip_usd_per_gpu_hour(usd_of_other=usd_of_other, gpu_hours=gpu_hours)
    assert flip / times * gpu_hours < usd_of_other < flip * times * gpu_hours


@pytest.mark.parametrize("name", ["usd_of_other", "gpu_hours"])
def test_a_flip_needs_hours_and_a_bill(name: str) -> None:
    """Nothing flips at no hours or no dollars."""
    with pytest.raises(ValueError, match=f"^{name} must be a positive, finite number"):
        training.flip_usd_per_gpu_hour(**{"usd_of_other": 30_000, "gpu_hours": 10_000, name: 0})
