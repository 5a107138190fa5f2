"""What `costkit.spot` reads of spot prices, what it warns of and what it refuses."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables
from costkit.spot.price_history import PriceHistory, ZonePrices
from costkit.spot.reading_prices import read_price_history
from costkit.units import HOUR

ZONE, TYPE, PRODUCT = "us-west-2a", "p3.2xlarge", "Linux/UNIX"
HEADER = "zone,instance_type,product,usd_per_hour,timestamp"
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

changes = st.dictionaries(st.integers(0, 1_000_000), st.floats(0.01, 100), min_size=2, max_size=30)


def entry(price: Any, time: Any, **more: Any) -> dict[str, Any]:
    """A price as AWS prints it in JSON."""
    said = {"AvailabilityZone": ZONE, "InstanceType": TYPE, "ProductDescription": PRODUCT}
    return said | {"SpotPrice": price, "Timestamp": time} | more


def day(number: int) -> str:
    """A day of January 2026, as a time stamp."""
    return f"2026-01-{number:02}T00:00:00+00:00"


def saved(folder: Path, content: object, name: str = "prices.json") -> Path:
    """A reader's own file."""
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def printed(folder: Path, *entries: dict[str, Any], token: str = "") -> Path:
    """A file of what the command prints."""
    return saved(folder, {"SpotPriceHistory": list(entries), "NextToken": token})


def table(folder: Path, *rows: str, header: str = HEADER) -> Path:
    """A reader's own CSV."""
    return saved(folder, "\n".join([header, *rows]), "prices.csv")


def zone_prices(points: dict[int, float]) -> ZonePrices:
    """Prices of one zone from changes by second."""
    times = sorted(points)
    return ZonePrices(ZONE, TYPE, PRODUCT, np.array(times, float), np.array([points[time] for time in times]))


def told(history: PriceHistory, words: str) -> bool:
    """Whether a warning has these words."""
    return any(words in warning for warning in history.warnings)


def test_what_aws_prints_is_read_oldest_first(tmp_path: Path) -> None:
    """Rows come newest first with prices as text; they become changes in order of time."""
    file = printed(tmp_path, entry("0.930000", day(3)), entry("0.918000", day(1)))
    prices = read_price_history(file).one(ZONE)
    assert prices.usd_per_hour.tolist() == [0.918, 0.93]
    assert prices.times_s.tolist() == [START, START + 2 * 24 * HOUR]
    assert [prices.instance_type, prices.product] == [TYPE, PRODUCT]


def test_a_clean_history_has_no_warnings(tmp_path: Path) -> None:
    """Nothing is said of prices that look as they should."""
    assert not read_price_history(printed(tmp_path, entry("1.1", day(2)), entry("1", day(1)))).warnings


def test_the_three_forms_agree(tmp_path: Path) -> None:
    """JSON, text between tabs (tagged or not) and CSV say the same."""
    tabs = "\n".join(f"{ZONE}\t{TYPE}\t{PRODUCT}\t{price}\t{day(i)}" for price, i in ((1.2, 2), (1.1, 1)))
    files = [
        printed(tmp_path, entry("1.2", day(2)), entry("1.1", day(1))),
        saved(tmp_path, tabs, "prices.txt"),
        saved(tmp_path, tabs.replace(ZONE, f"SPOTPRICEHISTORY\t{ZONE}\tusw2-az1"), "tagged.txt"),
        table(tmp_path, f"{ZONE},{TYPE},{PRODUCT},1.2,{day(2)}", f"{ZONE},{TYPE},{PRODUCT},1.1,{day(1)}"),
    ]
    found = [read_price_history(file).one(ZONE) for file in files]
    assert len({(*one.times_s.tolist(), *one.usd_per_hour.tolist(), one.instance_type) for one in found}) == 1


@pytest.mark.parametrize("header", ["zone,price,timestamp", "AvailabilityZone,SpotPrice,Timestamp"])
def test_columns_are_found_by_name(tmp_path: Path, header: str) -> None:
    """Price and zone go by several names, and kind and product may be absent."""
    prices = read_price_history(table(tmp_path, f"{ZONE},1,{day(1)}", f"{ZONE},2,{day(2)}", header=header)).one(ZONE)
    assert prices.usd_per_hour.tolist() == [1, 2]


@pytest.mark.parametrize("joined", ["[{0}, {1}]", "{0}\n{1}"])
def test_pages_are_joined(tmp_path: Path, joined: str) -> None:
    """Several pages in one file are one history, and only the last one's NextToken counts."""
    pages = [{"SpotPriceHistory": [entry("1", day(i))], "NextToken": token} for i, token in ((2, "more"), (1, ""))]
    text = joined.replace("{0}", json.dumps(pages[0])).replace("{1}", json.dumps(pages[1]))
    history = read_price_history(saved(tmp_path, text))
    assert len(history.one(ZONE).times_s) == 2
    assert not history.warnings


def test_missing_pages_are_told(tmp_path: Path) -> None:
    """A NextToken at the end says that the file is not whole."""
    file = printed(tmp_path, entry("1", day(2)), entry("1.1", day(1)), token="abc")  # noqa: S106
    assert told(read_price_history(file), "NextToken is not empty; pages are missing")


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00+01:00"])
def test_times_are_read_in_every_zone(tmp_path: Path, time: str) -> None:
    """Z, milliseconds and offsets are all times."""
    assert read_price_history(printed(tmp_path, entry("1", time), entry("1", day(2)))).one(ZONE).start_s == START


def test_naive_times_are_utc_and_told(tmp_path: Path) -> None:
    """A time without a zone is taken as UTC, which is said."""
    history = read_price_history(printed(tmp_path, entry("1", "2026-01-01 00:00:00"), entry("1", day(2))))
    assert history.one(ZONE).start_s == START
    assert told(history, "times without a zone were taken as UTC")


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (("700.0", "1.0", "1.1"), f"{ZONE}: $700 on 2026-01-01 00:00 is more than 20 times the usual 1.1"),
        (("3.06", "1.0"), f"{ZONE}: $3.06 on 2026-01-01 00:00 is the price on demand: spot saves nothing."),
        (("4.10", "1.0"), f"{ZONE}: $4.1 on 2026-01-01 00:00 is above the price on demand, 3.06"),
        (("0.306", "1.0"), f"{ZONE}: $0.306 on 2026-01-01 00:00 is a tenth of the price on demand: a floor"),
        (("1.0",), f"{ZONE}: there is one price only, of 2026-01-01 00:00"),
        (("", "1.0", "1.1"), f"{ZONE}: 1 prices are empty, the first of 2026-01-01 00:00"),
    ],
)
def test_what_is_odd_is_told_by_zone_and_date(tmp_path: Path, prices: Iterable[str], words: str) -> None:
    """A price that is possible but suspicious stays in, with a warning."""
    file = printed(tmp_path, *(entry(price, day(i + 1)) for i, price in enumerate(prices)))
    found = read_price_history(file, on_demand_usd_per_hour=3.06).warnings
    assert any(warning.startswith(words) for warning in found), found


def test_a_stand_in_that_fills_a_zone_shows_beside_the_others(tmp_path: Path) -> None:
    """A zone that holds nothing but the stand-in is held against the other zones."""
    rows = (f"{zone},{TYPE},{PRODUCT},{usd},{day(i)}" for zone, usd in (("a", 1), ("b", 700)) for i in (1, 2))
    assert told(
        read_price_history(table(tmp_path, *rows)), "b: $700 on 2026-01-01 00:00 (and 1 times more) is more than"
    )


def test_repeated_rows_are_told_and_count_once(tmp_path: Path) -> None:
    """The same price at the same time stands there once."""
    history = read_price_history(printed(tmp_path, entry("1", day(1)), entry("1", day(1)), entry("2", day(2))))
    assert len(history.one(ZONE).times_s) == 2
    assert told(history, "1 rows stand there twice, the first of 2026-01-01 00:00")


def test_identifiers_among_names_are_told(tmp_path: Path) -> None:
    """A zone's identifier means the same everywhere, its name does not."""
    rows = (f"{zone},{TYPE},{PRODUCT},1,{day(i)}" for zone in ("use1-az1", "us-east-1a") for i in (1, 2))
    assert told(read_price_history(table(tmp_path, *rows)), "by identifier (use1-az1) and by name (us-east-1a)")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "'prices.json' is empty"),
        ("{", "'prices.json' is not whole JSON"),
        ("[" * 100_000, "not whole JSON|nesting too long"),
        ({"SpotPriceHistory": []}, "has no prices; were the zone, the dates and the type right"),
        ({"SpotPriceHistory": 7}, "SpotPriceHistory is 7; it must be a list of prices"),
        ({"Instances": []}, r"SpotPriceHistory\[0\] has no AvailabilityZone; give what `aws ec2"),
        ([entry("1", day(1)), 3], r"SpotPriceHistory\[1\] has no AvailabilityZone"),
        ([entry("free", day(1))], r"SpotPriceHistory\[0\]: 'free' is not a number"),
        ([entry("0", day(1))], r"SpotPriceHistory\[0\]: '0' is no price; it must be above 0"),
        ([entry(-1, day(1))], r"SpotPriceHistory\[0\]: -1 is no price"),
        ([entry("nan", day(1))], r"SpotPriceHistory\[0\]: 'nan' is not a number"),
        ([entry("", day(1))], "has no price in any of its 1 rows"),
        ([entry("1", "noon")], r"SpotPriceHistory\[0\]: 'noon' is not a time such as"),
        ([entry("1", "0001-01-01T00:00:00Z")], "is no time between 1970 and 2100"),
        ([entry("1", day(1)), entry("2", day(1))], "us-west-2a has two prices at 2026-01-01 00:00, 1 and 2"),
        ([entry("1", day(1), AvailabilityZone="")], r"SpotPriceHistory\[0\]: no zone is named"),
        ("zone,cost,timestamp\na,1,2026-01-01\n", "has no column usd_per_hour; it has zone, cost, timestamp"),
        ("a\tb\tc\td\n", "line 1: has 4 cells; each line must be zone, instance type, product, price and time"),
    ],
)
def test_what_is_no_price_history_gets_one_sentence(tmp_path: Path, content: object, sentence: str) -> None:
    """Each fault is named with its place, what is allowed and the way out."""
    with pytest.raises(ValueError, match=sentence) as caught:
        read_price_history(saved(tmp_path, content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "keyword", "other"),
    [("InstanceType", "instance_type", "p5.48xlarge"), ("ProductDescription", "product", "Windows")],
)
def test_mixed_kinds_must_be_chosen_from(tmp_path: Path, column: str, keyword: str, other: str) -> None:
    """Several types or products are named, and one of them can be asked for."""
    file = printed(tmp_path, entry("1", day(1)), entry("9", day(1), **{column: other}))
    with pytest.raises(ValueError, match=rf'mixes 2 .*{other}.*; choose one with {keyword}="\.\.\."'):
        read_price_history(file)
    wanted: dict[str, Any] = {keyword: other}
    assert read_price_history(file, **wanted).one(ZONE).usd_per_hour.tolist() == [9]


def test_one_zone_can_be_asked_for(tmp_path: Path) -> None:
    """Of several zones only the wanted one is kept."""
    file = printed(tmp_path, entry("1", day(1)), entry("2", day(1), AvailabilityZone="us-west-2b"))
    assert list(read_price_history(file, zone="us-west-2b").zones) == ["us-west-2b"]


def test_an_unknown_zone_gets_the_nearest(tmp_path: Path) -> None:
    """A zone that is not there is answered with one that is, when reading and after."""
    file = printed(tmp_path, entry("1", day(1)))
    with pytest.raises(tables.UnknownName, match="Did you mean 'us-west-2a'"):
        read_price_history(file, zone="us-west-2x")
    with pytest.raises(tables.UnknownName, match="Did you mean 'us-west-2a'"):
        read_price_history(file).one("us-west-2x")


def test_a_price_on_demand_is_positive(tmp_path: Path) -> None:
    """What is no price on demand is refused before the file is read."""
    with pytest.raises(ValueError, match="on_demand_usd_per_hour must be a positive, finite number"):
        read_price_history(tmp_path / "none.json", on_demand_usd_per_hour=0)


def test_a_time_before_the_first_price_is_refused() -> None:
    """Nobody knows what it cost before the record began."""
    with pytest.raises(ValueError, match=r"begin on 1970-01-01 00:00 \(10 s since 1970\); ask for that time or later"):
        zone_prices({10: 1.0, 20: 2.0}).at(9)


def test_an_end_before_the_start_is_refused() -> None:
    """A span has its end after its beginning."""
    with pytest.raises(ValueError, match="end_s is 10, before start_s, 15; give a later end"):
        zone_prices({10: 1.0, 20: 2.0}).mean_usd_per_hour(15, 10)


def test_a_price_holds_until_the_next() -> None:
    """At a change the new price holds; after the last, the last."""
    assert zone_prices({0: 1.0, 60: 2.0}).at([0, 59, 60, 1e9]).tolist() == [1, 1, 2, 2]


@given(points=changes, cuts=st.lists(st.floats(0, 2_000_000), min_size=3, max_size=3, unique=True))
def test_the_integral_is_additive(points: dict[int, float], cuts: list[float]) -> None:
    """What two neighbouring spans cost is what they cost together."""
    prices = zone_prices(points)
    a, b, c = sorted(prices.start_s + cut for cut in cuts)
    spans = [(end - start) * prices.mean_usd_per_hour(start, end) for start, end in ((a, b), (b, c), (a, c))]
    assert spans[0] + spans[1] == pytest.approx(spans[2], rel=1e-6, abs=1e-3)


@given(points=changes)
def test_a_mean_lies_among_the_prices(points: dict[int, float]) -> None:
    """A mean over time is neither below the lowest price nor above the highest."""
    assert (
        min(points.values()) * (1 - 1e-9)
        <= zone_prices(points).mean_usd_per_hour()
        <= max(points.values()) * (1 + 1e-9)
    )


@given(points=changes)
def test_what_was_written_comes_back(tmp_path_factory: pytest.TempPathFactory, points: dict[int, float]) -> None:
    """Changes written newest first are read oldest first."""
    stamps = {time: datetime.fromtimestamp(START + time, tz=UTC).isoformat() for time in points}
    entries = [entry(str(points[time]), stamps[time]) for time in sorted(points, reverse=True)]
    prices = read_price_history(printed(tmp_path_factory.mktemp("prices"), *entries)).one(ZONE)
    assert prices.times_s.tolist() == [START + time for time in sorted(points)]
    assert prices.usd_per_hour.tolist() == [points[time] for time in sorted(points)]


@given(content=st.text(max_size=200) | st.binary(max_size=200))
def test_any_content_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str | bytes) -> None:
    """Nothing that a file can hold ends in anything but prices or a sentence."""
    file = tmp_path_factory.mktemp("prices") / "prices.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("error")
        read_price_history(file)
