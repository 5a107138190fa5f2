from __future__ import annotations

import csv
import datetime as dt
import re
import tomllib
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables
from costkit.units import GB, GIB, TFLOP

KEYS = {
    "architectures.csv": ("name",),
    "chinchilla_table_a9.csv": ("n_params_printed",),
    "gpus.csv": ("name",),
    "published_models.csv": ("name",),
    "quotes.csv": ("gpu", "provider", "purchase", "instance_type", "region", "zone", "as_of", "source"),
    "scaling_laws.csv": ("name",),
    "sources.csv": ("key",),
}
OURS = [name for name in KEYS if name != "scaling_laws.csv"]
TODAY = dt.datetime.now(tz=dt.UTC).date().isoformat()


def header(name: str) -> list[str]:
    """The column names of a table."""
    with tables.path(name).open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def data_files(pattern: str) -> list[str]:
    """The names of the data files that match."""
    root = tables.folder("data")
    return sorted(str(file.relative_to(root)) for file in root.rglob(pattern))


def sources_of_plans() -> Iterator[str]:
    """Every source key that a plan names."""
    for name in data_files("*.toml"):
        plan = tomllib.loads(tables.path(name).read_text(encoding="utf-8"))
        yield from (entry["source"] for entry in plan.get("sources", {}).values() if "source" in entry)


def sources_of_tables() -> Iterator[str]:
    """Every source key that a table names."""
    for name in data_files("*.csv"):
        if "source" in header(name):
            yield from (row["source"] for row in tables.rows(name))


@pytest.mark.parametrize("name", data_files("*.csv"))
def test_file_is_plain_text(name: str) -> None:
    """A table is UTF-8 without a byte-order mark, has LF line ends, and ends with one."""
    content = tables.path(name).read_bytes()
    assert b"\r" not in content
    assert not content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8").endswith("\n")


@pytest.mark.parametrize("name", OURS)
def test_header_is_snake_case(name: str) -> None:
    """Column names are distinct and in snake_case."""
    columns = header(name)
    assert len(set(columns)) == len(columns)
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", column) for column in columns)


@pytest.mark.parametrize("name", data_files("*.csv"))
def test_rows_are_as_long_as_the_header(name: str) -> None:
    """Every row has one cell per column, without spaces around it."""
    for row in tables.rows(name):
        assert None not in row
        assert None not in row.values()
        assert all(cell == cell.strip() for cell in row.values())


@pytest.mark.parametrize("name", KEYS)
def test_rows_have_unique_keys(name: str) -> None:
    """No two rows of a table have the same key."""
    keys = [tuple(row[column] for column in KEYS[name]) for row in tables.rows(name)]
    assert [key for key, n in Counter(keys).items() if n > 1] == []


@pytest.mark.parametrize("name", OURS)
def test_rows_are_sorted_by_key(name: str) -> None:
    """Rows stand in the order of their key: of its number where it is one, else of its characters."""
    keys = [tuple(row[column] for column in KEYS[name]) for row in tables.rows(name)]
    order = (lambda key: int(key[0])) if name == "chinchilla_table_a9.csv" else (lambda key: key)
    assert keys == sorted(keys, key=order)


@pytest.mark.parametrize("name", data_files("*.csv"))
def test_dates_are_iso_and_past(name: str) -> None:
    """`as_of` is a day, a month or a year, and not in the future."""
    for row in tables.rows(name):
        if "as_of" in row:
            assert re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", row["as_of"])
            dt.date.fromisoformat((row["as_of"] + "-01-01")[:10])
            assert row["as_of"] <= TODAY


def test_sources_resolve() -> None:
    """Every source that a table or a plan names is in sources.csv."""
    assert {*sources_of_tables(), *sources_of_plans()} - set(tables.sources()) == set()


def test_sources_are_used() -> None:
    """Every row of sources.csv is named by a table or a plan."""
    assert set(tables.sources()) - {*sources_of_tables(), *sources_of_plans()} == set()


def test_source_addresses_are_addresses() -> None:
    """A source has an https address or none, and a four-digit year or none."""
    for entry in tables.sources().values():
        assert entry.url == "" or re.fullmatch(r"https://[^\s/]+\.[^\s]+", entry.url)
        assert re.fullmatch(r"(\d{4})?", entry.year)


def test_every_column_is_explained() -> None:
    """data/README.md names every column of our tables."""
    text = tables.path("README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([a-z0-9_*]+)`", text))
    pattern = "|".join(name.replace("*", "[a-z0-9]+") for name in told)
    shapes = {"hidden", "ffn", "head_dim", "n_heads", "n_layers", "n_params_printed"}
    unexplained = {
        (name, column)
        for name in OURS
        for column in header(name)
        if not re.fullmatch(pattern, column) and column not in shapes | {"note", "provider", "usd_per_gpu_hour"}
    }
    assert unexplained == set()


@pytest.mark.parametrize("gpu", tables.gpus().values(), ids=lambda gpu: gpu.name)
def test_gpu_is_plausible(gpu: tables.Gpu) -> None:
    """Peaks, memory and bandwidth lie where such devices lie; the narrower the numbers, the higher the peak."""
    assert 60 * TFLOP <= gpu.half_precision_flop_per_s <= 5000 * TFLOP
    assert all(1 * TFLOP <= peak <= 20_000 * TFLOP for peak in gpu.peak_flop_per_s.values())
    assert gpu.peak_flop_per_s.get("fp8", 1e99) >= gpu.half_precision_flop_per_s
    assert gpu.half_precision_flop_per_s >= gpu.peak_flop_per_s.get("tf32", 0)
    assert 14 * GIB <= gpu.usable_bytes <= gpu.memory_bytes <= 300 * GIB
    assert gpu.usable_bytes >= 0.9 * gpu.memory_bytes
    assert 300 * GB <= gpu.bandwidth_bytes_per_s <= 10_000 * GB
    assert gpu.matmul_flop_per_s is None or 0.4 < gpu.matmul_flop_per_s / gpu.half_precision_flop_per_s < 1
    assert gpu.verified in {"yes", "partly", "no"}


def test_peaks_are_dense() -> None:
    """The H100's BF16 peak is the dense 989 TFLOP/s, not the sparse 1,979 of the sheet's headline."""
    assert tables.gpu("H100-SXM5-80GB").peak_flop_per_s["bf16"] == 989 * TFLOP


def test_half_precision_is_bf16_where_there_is_one() -> None:
    """The MFU basis is BF16 on an A100 and FP16 on a V100, which has no BF16."""
    assert tables.gpu("A100-SXM4-80GB").half_precision_flop_per_s == 312 * TFLOP
    assert tables.gpu("V100-SXM2-16GB").half_precision_flop_per_s == 125 * TFLOP
    assert "bf16" not in tables.gpu("V100-SXM2-16GB").peak_flop_per_s


def test_unverified_gpus_say_so() -> None:
    """A GPU whose numbers were recalled carries a note."""
    assert all(gpu.note for gpu in tables.gpus().values() if gpu.verified != "yes")


def test_gpus_cannot_be_changed() -> None:
    """The mappings that are handed out are read-only, as they are shared."""
    with pytest.raises(TypeError):
        tables.gpus()["mine"] = tables.gpu("T4")  # type: ignore[index]


def test_rows_cannot_be_changed() -> None:
    """What one caller writes into a row would be read by all: it is refused."""
    with pytest.raises(TypeError, match="does not support item assignment"):
        tables.rows("gpus.csv")[0]["name"] = "mine"  # type: ignore[index]


def test_quotes_are_plausible() -> None:
    """Every quote is for a known GPU, in a known way of buying, between 5 cents and 20 dollars an hour."""
    for quote in tables.quotes():
        assert quote.gpu in tables.gpus()
        assert quote.purchase in tables.PURCHASES
        assert 0.05 <= quote.usd_per_gpu_hour <= 20


def test_spot_is_seldom_dearer_than_on_demand() -> None:
    """No spot price exceeds the on-demand price of the same machine at the same time, and at most 3% equal it."""
    on_demand = {
        (q.provider, q.instance_type, q.as_of): q.usd_per_gpu_hour for q in tables.quotes(purchase="on_demand")
    }
    pairs = [
        (quote.usd_per_gpu_hour, on_demand[quote.provider, quote.instance_type, quote.as_of])
        for quote in tables.quotes(purchase="spot")
        if (quote.provider, quote.instance_type, quote.as_of) in on_demand
    ]
    assert len(pairs) > 80
    assert all(spot <= list_price for spot, list_price in pairs)
    assert sum(spot == list_price for spot, list_price in pairs) <= 0.03 * len(pairs)


def test_the_price_of_the_lesson_is_a_v100() -> None:
    """$3.06 per GPU-hour is AWS's V100 since 2018; its A100 was $4.10 until March 2025."""
    assert {q.usd_per_gpu_hour for q in tables.quotes("V100-SXM2-16GB", "on_demand", "aws")} == {3.06}
    a100 = {q.as_of: q.usd_per_gpu_hour for q in tables.quotes("A100-SXM4-40GB", "on_demand", "aws")}
    assert a100["2021-06-15"] == a100["2025-03-02"] == 4.10


def test_quotes_come_newest_first() -> None:
    """Quotes are ordered by date, the newest first, whatever the filter."""
    dates = [quote.as_of for quote in tables.quotes("A100-SXM4-80GB")]
    assert dates == sorted(dates, reverse=True)


def test_quotes_filter_by_all_three() -> None:
    """GPU, purchase and provider restrict together; a combination that nobody sells is an empty list."""
    found = tables.quotes(gpu="H100-SXM5-80GB", purchase="spot", provider="nebius")
    assert [(q.gpu, q.purchase, q.provider) for q in found] == [("H100-SXM5-80GB", "spot", "nebius")]
    assert tables.quotes(purchase="spot", provider="lambda") == []


def test_published_models_are_plausible() -> None:
    """Published models have 1M to 10T parameters, as many active or fewer, and 0.5 to 100,000 tokens for each."""
    models = tables.published_models()
    assert len(models) >= 40
    for model in models:
        assert 1e6 <= model.n_active_params <= model.n_params <= 1e13
        assert 0.5 <= model.n_tokens / model.n_params <= 1e5
        assert model.basis in {"published", "recalled"}


def test_published_models_hold_the_anchors() -> None:
    """Chinchilla is 70B parameters on 1.4T tokens, GPT-3 175B on 300B, DeepSeek-V3 37B active of 671B."""
    models = {model.name: model for model in tables.published_models()}
    assert (models["Chinchilla 70B"].n_params, models["Chinchilla 70B"].n_tokens) == (70e9, 1.4e12)
    assert (models["GPT-3 175B"].n_params, models["GPT-3 175B"].n_tokens) == (175e9, 300e9)
    assert models["DeepSeek-V3 671B"].n_active_params == 37e9


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ("A100-80", "A100-SXM4-80GB"),
        ("a100-sxm4-80gb", "A100-SXM4-80GB"),
        ("NVIDIA A100", "A100-SXM4-80GB"),
        ("H100", "H100-SXM5-80GB"),
        ("B200", "B200-SXM-180GB"),
        ("RTX 4090", "RTX-4090"),
    ],
)
def test_unknown_gpu_offers_the_nearest(asked: str, offered: str) -> None:
    """A GPU name that is nearly right is answered with the right one and with the command that lists all."""
    with pytest.raises(tables.UnknownName) as caught:
        tables.gpu(asked)
    assert str(caught.value) == f"no GPU {asked!r}. Did you mean {offered!r}? `costkit gpus` lists all."


@pytest.mark.parametrize("name", ["", "Radeon", 5, None, [], float("nan"), "<b>", "\n", "\x00"])
def test_unknown_gpu_that_is_like_none(name: object) -> None:
    """A name like no GPU's is refused without a guess, on one line."""
    with pytest.raises(tables.UnknownName) as caught:
        tables.gpu(name)  # type: ignore[arg-type]
    assert str(caught.value) == f"no GPU {name!r}. `costkit gpus` lists all."


def test_unknown_name_lists_short_tables() -> None:
    """Where nothing is near and no command lists the names, the sentence lists them."""
    with pytest.raises(
        tables.UnknownName, match=r"no purchase 'cash'\. Known: commit_1y, commit_3y, on_demand, spot\."
    ):
        tables.quotes(purchase="cash")


def test_unknown_name_is_short_for_long_names() -> None:
    """A name of a million characters makes a short sentence."""
    assert len(str(tables.unknown("GPU", "x" * 1_000_000, tables.gpus()))) < 200


@given(st.text())
def test_any_text_is_refused_with_one_line(name: str) -> None:
    """Whatever text is asked for, the answer is an UnknownName whose text is one line."""
    with pytest.raises(tables.UnknownName) as caught:
        tables.lookup("GPU", name, {"GPU \x00 that nobody asks for": 1})
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["gpu.csv", "../pyproject.toml", "/etc/hostname", "plans", "", "plans/nothing.toml", "\x00", "x" * 5000]
)
def test_path_stays_in_the_data_folder(name: str) -> None:
    """Only files inside the data folder are found; a folder, another place or an impossible name is an UnknownName."""
    with pytest.raises(tables.UnknownName, match="no data file"):
        tables.path(name)


def test_path_offers_the_nearest_file() -> None:
    """A misspelt data file is answered with the right one."""
    with pytest.raises(tables.UnknownName, match=r"Did you mean 'gpus\.csv'\?"):
        tables.path("gpu.csv")


def test_folder_knows_two_kinds() -> None:
    """There is a folder of data and one of notebooks, and no other."""
    assert tables.folder("data").is_dir()
    with pytest.raises(tables.UnknownName, match="no folder 'tests'"):
        tables.folder("tests")


def test_unknown_source() -> None:
    """A source key that is nearly right is answered with the right one."""
    with pytest.raises(tables.UnknownName, match=r"no source 'hoffman-2022'\. Did you mean 'hoffmann-2022'\?"):
        tables.source("hoffman-2022")
