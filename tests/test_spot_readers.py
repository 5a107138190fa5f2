"""What `costkit.spot` reads as a trace of a market, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import reading, tables
from costkit.spot.node_logs import read_node_log
from costkit.spot.reading_traces import read_trace
from costkit.units import HOUR

SHARED = Path(__file__).parents[2] / "shared"
KNOWN = "aws-02-15-2023/us-east-1a_v100_1"

counts = st.lists(st.integers(0, 16), min_size=2, max_size=40)


def shared(name: str) -> Path:
    """A file of other people's data, which stays outside the project; a test that needs it skips where it is absent."""
    file = SHARED / name
    if not file.is_file():
        pytest.skip(f"other people's records are no part of the project: {file} is absent")
    return file


def saved(folder: Path, content: str | dict[str, Any], name: str = "mine.json") -> Path:
    """A reader's own file."""
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def form(*data: Any, gap: Any = 300, **more: Any) -> dict[str, Any]:
    """The public form of a trace."""
    return {"metadata": {"gap_seconds": gap}, "data": list(data), **more}


def test_two_forms_of_one_log_agree() -> None:
    """The same log as machines by name and as counts gives the same trace."""
    by_name, by_count = (read_trace(shared(f"thirdparty/{file}")) for file in ("bamboo/p3-trace.csv", "parcae/p3.csv"))
    assert by_name.available.tolist() == by_count.available.tolist()


def test_a_public_trace_upside_down_is_refused() -> None:
    """A known file read with ones as unavailable contradicts its published share, and the sentence says the way out."""
    file = shared(f"thirdparty/spot-traces/{KNOWN}.json")
    with pytest.raises(ValueError, match=r"0\.833 .* 0\.167: it is upside down; read it with ones_mean=.available"):
        read_trace(file, ones_mean="unavailable")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with one published trace: ten steps of 195 s, up in seven of them."""
    row = {"name": "aws/zone_v100_1", "step_s": "195", "n_steps": "10", "capacity": "1", "available_fraction": "0.700"}
    monkeypatch.setattr(tables, "rows", lambda _: (row,))


UP = (1, 1, 0, 1, 1, 0, 1, 1, 0, 1)


@pytest.mark.usefixtures("known")
def test_a_known_file_takes_its_published_name(tmp_path: Path) -> None:
    """A file that is what was published is named after it, without a warning."""
    trace = read_trace(saved(tmp_path, form(*UP, gap=195), "zone_v100_1.json"))
    assert (trace.name, trace.warnings) == ("aws/zone_v100_1", ())


@pytest.mark.usefixtures("known")
def test_an_inverted_file_is_refused_and_can_be_read(tmp_path: Path) -> None:
    """The older copies with 1 for unavailable are refused, and right once the reader says so."""
    file = saved(tmp_path, form(*(1 - one for one in UP), gap=195), "zone_v100_1.json")
    with pytest.raises(ValueError, match='read it with ones_mean="unavailable"'):
        read_trace(file)
    assert read_trace(file, ones_mean="unavailable").available.tolist() == list(UP)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("gap", "unit"), [(3.25, "minutes"), (195_000, "milliseconds"), (300, "another unit")])
def test_a_known_file_with_another_step_is_refused(tmp_path: Path, gap: float, unit: str) -> None:
    """Minutes or milliseconds for seconds show against the published step."""
    file = saved(tmp_path, form(*UP, gap=gap), "zone_v100_1.json")
    with pytest.raises(ValueError, match=f"has 195 s: the step looks like {unit}; give it in seconds"):
        read_trace(file)


@pytest.mark.usefixtures("known")
def test_another_record_of_a_known_name_is_told(tmp_path: Path) -> None:
    """The same name and length with another share is read, with a warning."""
    trace = read_trace(saved(tmp_path, form(*[1] * 9, 0, gap=195), "zone_v100_1.json"))
    assert "it is another record" in trace.warnings[0]


def test_a_market_that_is_seldom_up_is_told(tmp_path: Path) -> None:
    """Below a tenth of the time the sentence asks whether ones mean the opposite."""
    assert 'ones_mean="unavailable"' in read_trace(saved(tmp_path, form(*[0] * 19, 1))).warnings[0]


@pytest.mark.parametrize("gap", [0.195, 50_000])
def test_an_odd_step_is_told(tmp_path: Path, gap: float) -> None:
    """A step below a second or above six hours is most likely in another unit."""
    assert "in another unit than seconds?" in read_trace(saved(tmp_path, form(1, 0, 1, gap=gap))).warnings[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "'mine.json' is empty"),
        ("{", "'mine.json' is not whole JSON"),
        ("[" * 100_000, "'mine.json' is not whole JSON|nesting too long"),
        ("[0, 1, 1]", "JSON of another kind; a trace is"),
        ({"data": [0, 1]}, "JSON of another kind; a trace is"),
        ({"metadata": {"gap_seconds": 300}}, "JSON of another kind; a trace is"),
        (form(), "has 0 steps in data; a trace needs at least two"),
        (form(1), "has 1 steps in data; a trace needs at least two"),
        (form(0, 1, -1), r"data\[2\]: -1 is not a number of machines; it must be a whole number from 0"),
        (form(0, 0.5), r"data\[1\]: 0.5 is not a number of machines"),
        (form(0, 1, None, 1), r"data\[2\]: None is not a number of machines"),
        (form(0, float("nan")), r"data\[1\]: nan is not a number of machines"),
        (form(0, True), r"data\[1\]: True is not a number of machines"),
        (form(0, 10**400), r"data\[1\]: .* is not a number of machines"),
        (form(0, "1"), r"data\[1\]: '1' is text; write a number, without quotes"),
        (form(0, 1, gap=0), "gap_seconds: 0 is no step; it must be a positive number of seconds"),
        (form(0, 1, gap=-300), "gap_seconds: -300 is no step"),
        (form(0, 1, gap="300"), "gap_seconds: '300' is no step"),
        (form(0, 1, gap=None), "gap_seconds: None is not a number"),
        (form(0, 1, prices=[0.9]), "has 1 prices for 2 steps; give one for each, or none"),
        (form(0, 1, prices=[0.9, 0]), r"prices\[1\]: 0 is no price"),
        ({**form(), "data": 7}, "data: 7 is no list"),
        ("one, two\n1, 2\n", r"no column for a time \(time_s, time_h or timestamp\); it has one, two"),
        ("time_s,up\n0,1\n60,1\n", "no column for available; it has time_s, up"),
        ("time_s,available\n0,1\n", "has 1 rows below its header; a trace needs at least two"),
        ("time_s,available\n0,1\n60,\n", "line 3, column available: '' is not a number of machines"),
        ("time_s,available\n0,1\nnoon,1\n", "line 3, column time_s: 'noon' is not a number"),
        ("time_s,available\n0,1\n1.7e12,1\n", "beyond 3,000 years; is the time in another unit"),
        ("time_s,available\n0,1\n0,1\n", "rows of one time only"),
        ("time_s,available\n0,1\n60,1\n60,2\n", "lines 3 and 4 differ for one and the same time; keep one"),
        ("timestamp,available\nyesterday,1\ntoday,1\n", "line 2, column timestamp: 'yesterday' is not a time such as"),
        ("0,add,a\n60000,remove,b\n", "line 2: removes 'b', which is not there; add it first"),
        ("0,add,a\n60000,add,a\n", "line 2: adds 'a', which is there already"),
        ("0,add,a\n60000,stop,a\n", "line 2: 'stop' is no change; it must be one of add, remove"),
        ("0,add,a\n60000,remove\n", "line 2: has 2 cells; each line must be time_ms,add|remove,node"),
        ("0,add,a\n0,remove,a\n", "has only one time|never has a machine"),
        ("0,5\n60000,-2\n", "line 2: '-2' is not a number of machines"),
        ('[0, "add", {"nodes": "a"}]\n', "line 1: nodes is 'a'; it must be a list of names"),
    ],
)
def test_what_is_no_trace_gets_one_sentence(tmp_path: Path, content: str | dict[str, Any], sentence: str) -> None:
    """Each fault is named with its place, what is allowed and the way out."""
    with pytest.raises(ValueError, match=sentence) as caught:
        read_trace(saved(tmp_path, content))
    assert "\n" not in str(caught.value)


def test_a_path_to_no_file_gets_one_sentence(tmp_path: Path) -> None:
    """A missing file and a directory are told apart."""
    with pytest.raises(ValueError, match=r"There is no file '.*none\.json'; give the file of a trace"):
        read_trace(tmp_path / "none.json")
    with pytest.raises(ValueError, match="is a directory; give the file of a trace"):
        read_trace(tmp_path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """A file beyond the limit is refused by its size."""
    file = tmp_path / "huge.json"
    with file.open("wb") as opened:
        opened.truncate(int(reading.MAX_BYTES) + 1)
    with pytest.raises(ValueError, match="has 10 MiB; a file has 10 at most"):
        read_trace(file)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A picture is no trace."""
    file = tmp_path / "mine.json"
    file.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ValueError, match="is not text in UTF-8; save a trace as a file in UTF-8"):
        read_trace(file)


def test_more_steps_than_can_be_held_are_refused(tmp_path: Path) -> None:
    """A step far too short for the record is told before anything is made of it."""
    file = saved(tmp_path, "time_s,available\n0,1\n70,1\n1e9,0\n")
    with pytest.raises(ValueError, match="more than 5,000,000 steps"):
        read_trace(file)
    assert read_trace(file, step_s=HOUR).n_steps == 277_778


@given(data=counts, gap=st.integers(1, 20_000))
def test_the_public_form_comes_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, data: list[int], gap: int
) -> None:
    """Counts and step of a file are the trace's."""
    trace = read_trace(saved(tmp_path_factory.mktemp("trace"), form(*data, gap=gap)))
    assert (trace.available.tolist(), trace.step_s) == (data, gap)


@given(data=counts, step=st.integers(1, 20_000), clock=st.sampled_from(["time_s", "time_h"]))
def test_an_even_table_comes_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, data: list[int], step: int, clock: str
) -> None:
    """Rows at even times become one step each."""
    unit = 1.0 if clock == "time_s" else HOUR
    rows = [f"{i * step / unit},{count}" for i, count in enumerate(data)]
    trace = read_trace(saved(tmp_path_factory.mktemp("trace"), "\n".join([f"{clock},available", *rows])))
    assert trace.available.tolist() == data
    assert trace.step_s == pytest.approx(step)


@given(text=st.text(max_size=200) | st.binary(max_size=200))
def test_any_content_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str | bytes) -> None:
    """Nothing that a file can hold ends in anything but a trace or a sentence."""
    file = tmp_path_factory.mktemp("trace") / "mine.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read in (read_trace, read_node_log):
            with contextlib.suppress(ValueError):
                read(file)


def test_missing_rows_hold_the_count_before(tmp_path: Path) -> None:
    """A row that is left out of an even table changes nothing."""
    file = saved(tmp_path, "time_s,available\n0,3\n300,3\n900,1\n1200,1\n")
    assert read_trace(file).available.tolist() == [3, 3, 3, 1, 1]


def test_times_without_a_zone_are_utc_and_told(tmp_path: Path) -> None:
    """A clock without a zone is taken as UTC, which is said."""
    rows = "timestamp,available\n2026-01-01 00:00:00,1\n2026-01-01 00:05:00,0\n"
    trace = read_trace(saved(tmp_path, rows, "mine.csv"))
    assert trace.step_s == 300
    assert trace.warnings == ("'mine.csv': times without a zone were taken as UTC.",)


def test_newest_first_is_put_in_order(tmp_path: Path) -> None:
    """A table that runs backwards is turned round, and said so."""
    trace = read_trace(saved(tmp_path, "time_s,available,usd_per_hour\n120,0,3\n60,1,2\n0,2,1\n"))
    assert trace.available.tolist() == [2, 1, 0]
    assert trace.usd_per_hour is not None
    assert trace.usd_per_hour.tolist() == [1, 2, 3]
    assert "2 rows are earlier than the row before; they were put in order of time" in trace.warnings[0]


def test_rows_that_stand_there_twice_count_once(tmp_path: Path) -> None:
    """A repeated row is left out, and said so."""
    trace = read_trace(saved(tmp_path, "time_s,available\n0,2\n60,1\n60,1\n120,1\n"))
    assert trace.available.tolist() == [2, 1, 1]
    assert "1 rows stand there twice and count once" in trace.warnings[0]


def test_a_log_has_no_polarity(tmp_path: Path) -> None:
    """Machines that were there can't be read as missing."""
    with pytest.raises(ValueError, match='read it with ones_mean="available"'):
        read_trace(saved(tmp_path, "0,add,a\n180000,remove,a\n"), ones_mean="unavailable")


def test_an_unknown_polarity_gets_the_nearest() -> None:
    """A slip of the pen is answered with what was meant."""
    with pytest.raises(tables.UnknownName, match="Did you mean 'available'"):
        read_trace("mine.json", ones_mean="availble")


def test_seconds_read_as_milliseconds_are_told(tmp_path: Path) -> None:
    """A table without a header is a log in milliseconds; lines less than a second apart are asked about."""
    rows = "\n".join(f"{300 * i},{i % 2}" for i in range(2000))
    assert "if they are seconds, give it a header: time_s,available" in read_trace(saved(tmp_path, rows)).warnings[0]


def test_nothing_unavailable_is_always_available(tmp_path: Path) -> None:
    """A record of zeros that count what is missing is of a market that was always up."""
    assert read_trace(saved(tmp_path, form(0, 0, 0)), ones_mean="unavailable").available.tolist() == [1, 1, 1]
