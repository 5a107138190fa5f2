from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import architectures, memory, tables
from costkit.memory.measured import shape_of
from costkit.units import GB, GIB, HOUR, TFLOP

KEYS = {
    "architectures.csv": ("name",),
    "chinchilla_table_a9.csv": ("n_params_printed",),
    "claims.csv": ("id",),
    "critical_batch.csv": ("name",),
    "gpus.csv": ("name",),
    "hardware_failures.csv": ("run",),
    "interruption_buckets.csv": ("instance_type", "region"),
    "interruption_rates.csv": ("provider", "bucket"),
    "korthikanti_figure_1.csv": ("model", "checkpointing"),
    "kernel_traffic.csv": ("kernels", "bits", "tensor"),
    "lever_chain.csv": ("place",),
    "lever_evidence.csv": ("id",),
    "levers.csv": ("key",),
    "life_laws.csv": ("law", "parameter"),
    "measured_memory.csv": ("id",),
    "measured_phase_peaks.csv": ("id",),
    "measured_power.csv": ("gpu", "run"),
    "measured_throughput.csv": ("id",),
    "power.csv": ("gpu",),
    "power_factors.csv": ("factor", "bound"),
    "published_models.csv": ("name",),
    "programmes.csv": ("programme",),
    "published_runs.csv": ("name",),
    "quotes.csv": ("gpu", "provider", "purchase", "instance_type", "region", "zone", "as_of", "source"),
    "scaling_laws.csv": ("name",),
    "sources.csv": ("key",),
    "spot_traces.csv": ("name",),
    "step_constants.csv": ("name",),
    "storage_prices.csv": ("name",),
    "termination_notices.csv": ("provider",),
    "tracked_memory.csv": (
        "architecture",
        "micro_batch",
        "seq_len",
        "precision",
        "checkpointing",
        "optimizer",
        "optimizer_step",
        "attention",
    ),
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
    assert 45 * TFLOP <= gpu.half_precision_flop_per_s <= 5000 * TFLOP
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


def test_architecture_is_that_of_the_chip() -> None:
    """GPUs of one chip share its name, whatever memory or form they have: H100, H200 and H800 are one, A10s another."""
    chips = {gpu.name: gpu.architecture for gpu in tables.gpus().values()}
    assert {chips[name] for name in ("H100-SXM5-80GB", "H100-PCIe-80GB", "H200-SXM-141GB", "H800-SXM5-80GB")} == {
        "Hopper sm_90"
    }
    assert (chips["A100-SXM4-40GB"], chips["A10"]) == ("Ampere sm_80", "Ampere sm_86")


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


RUNS = tables.published_runs()
RUN_WORDS = {
    "kind": {"decoder", "encoder", "encoder-decoder", "diffusion", "speech"},
    "precision": {"bf16-mixed", "fp16-mixed", "fp8-mixed"},
    "mfu_kind": {"", "steady", "hfu", "circular"},
    "hours_kind": {"", "booked", "ideal", "estimate", "from_dollars"},
    "anomaly": {
        "",
        "conflict",
        "encoder_decoder",
        "ramp",
        "recalled",
        "repeat",
        "stack",
        "teacher",
        "tiny",
        "unexplained",
        "wrong_scope",
    },
    "basis": {"published", "partly recalled", "recalled"},
}
ROUNDED_USD = {
    "llm.c GPT-2 124M": "a headline of $20 for $21",
    "nanochat d20": "a headline of $100 for $96",
    "MosaicBERT-Base": "a headline of $20 for $22.60",
    "SD2-base, MosaicML run": "a bound: less than $50,000 for $45,772",
}
"""Runs whose printed dollars are more than 2% off hours times price, and why."""
OTHER_FLEET = {
    "PaLM 540B": "half the chips for 336 of the hours",
    "JetMoE-8B": "a rounded 30,000 hours for 32,256",
}
"""Runs whose hours are more than 2% off GPUs times days, and why."""


def implied_mfu(run: tables.PublishedRun) -> float:
    """6ND over the hours at the 16-bit peak, nan where hours or tokens are not told."""
    flop = 6 * run.n_active_params * (run.n_tokens or math.nan)
    return flop / ((run.gpu_hours or math.nan) * HOUR * tables.gpu(run.gpu).half_precision_flop_per_s)


def test_published_runs_are_whole() -> None:
    """No run has fallen out: 86, of which 77 have the hours and tokens that a utilisation follows from."""
    assert len(RUNS) == 86
    assert sum(not math.isnan(implied_mfu(run)) for run in RUNS) == 77
    assert Counter(run.basis for run in RUNS) == {"published": 59, "partly recalled": 15, "recalled": 12}


@pytest.mark.parametrize("column", RUN_WORDS)
def test_published_runs_are_of_the_vocabulary(column: str) -> None:
    """A column with a vocabulary holds all of its words and no other."""
    assert {getattr(run, column) for run in RUNS} == RUN_WORDS[column]


def test_published_runs_name_what_other_tables_have() -> None:
    """A run's GPU is one of gpus.csv; its model is one of published_models.csv and as large to 1%, or empty."""
    models = {model.name: model for model in tables.published_models()}
    assert {run.gpu for run in RUNS} <= set(tables.gpus())
    assert {run.model for run in RUNS} - {""} <= set(models)
    for run in RUNS:
        if run.model:
            ours = (models[run.model].n_params, models[run.model].n_active_params)
            assert (run.n_params, run.n_active_params) == pytest.approx(ours, rel=0.01), run.name


def test_a_run_of_a_published_model_saw_its_tokens() -> None:
    """A run has the tokens of its model, but for the one that is told by the trillion."""
    tokens = {model.name: model.n_tokens for model in tables.published_models()}
    other = [run.name for run in RUNS if run.model and run.n_tokens != tokens[run.model]]
    assert other == ["DeepSeek-V2 236B, one trillion tokens"]


def test_runs_of_a_model_are_of_one_family() -> None:
    """Leaving a family out leaves out every account of a model."""
    families = {(run.model, run.family) for run in RUNS if run.model}
    assert len(families) == len({model for model, _ in families})


def test_an_implied_mfu_that_cannot_be_is_an_anomaly() -> None:
    """A run whose hours imply more than 70%, or less than 15%, says why; the others lie between."""
    odd = {run.name for run in RUNS if implied_mfu(run) > 0.70 or implied_mfu(run) < 0.15}
    assert {run.name for run in RUNS if run.name in odd and not run.anomaly} == set()
    assert {run.name for run in RUNS if implied_mfu(run) > 0.70} == {
        "DeepSeek-V2 236B, as Epoch stores it",
        "Refact-1.6B, as Epoch stores it",
    }


def test_anomalies_have_a_note() -> None:
    """A run that is odd says how, in words."""
    assert all(run.note for run in RUNS if run.anomaly)


def test_kinds_stand_beside_their_numbers() -> None:
    """An MFU has a kind and so have hours; a kind has its number."""
    for run in RUNS:
        assert (run.mfu is None) == (run.mfu_kind == ""), run.name
        assert (run.gpu_hours is None) == (run.hours_kind == ""), run.name
        assert run.mfu is None or 0.15 < run.mfu < 0.65


def test_a_circular_mfu_is_that_of_the_hours() -> None:
    """An MFU computed from the hours is the one that they imply, to 1%; a steady one is never below it."""
    for run in RUNS:
        if run.mfu and run.mfu_kind == "circular":
            assert implied_mfu(run) == pytest.approx(run.mfu, rel=0.01), run.name
        if run.mfu and run.mfu_kind == "steady" and run.gpu_hours:
            assert implied_mfu(run) < run.mfu, run.name


def test_dollars_are_hours_times_price() -> None:
    """Published dollars are the hours at the published price to 2%, but for four that are rounded in print."""
    ratios = {
        run.name: run.usd / (run.gpu_hours * run.usd_per_gpu_hour)
        for run in RUNS
        if run.usd and run.usd_per_gpu_hour and run.gpu_hours
    }
    assert len(ratios) == 23
    assert {name for name, ratio in ratios.items() if abs(ratio - 1) > 0.02} == set(ROUNDED_USD)
    assert all(tables.published_run(name).note for name in ROUNDED_USD)


def test_hours_are_gpus_times_days() -> None:
    """Hours are those of all GPUs for all days to 2%, but for a fleet once halved and a rounded figure."""
    ratios = {
        run.name: run.gpu_hours / (run.n_gpus * run.days * 24)
        for run in RUNS
        if run.n_gpus and run.days and run.gpu_hours
    }
    assert len(ratios) > 40
    assert {name for name, ratio in ratios.items() if abs(ratio - 1) > 0.02} == set(OTHER_FLEET)
    assert all(tables.published_run(name).note for name in OTHER_FLEET)


def test_dollar_hours_come_from_the_dollars() -> None:
    """Hours that were computed from a price list are its dollars over the price."""
    listed = [run for run in RUNS if run.hours_kind == "from_dollars"]
    assert len(listed) == 6
    assert all(run.gpu_hours == (run.usd or math.nan) / (run.usd_per_gpu_hour or math.nan) for run in listed)


def test_published_runs_hold_the_anchors() -> None:
    """LLaMA-1 65B took 1,022,362 GPU-hours, Llama 3.1 405B 30.84M, DeepSeek-V3's pre-training 2.664M."""
    named = ("LLaMA-1 65B", "Llama 3.1 405B", "DeepSeek-V3 671B, pre-training")
    assert [tables.published_run(name).gpu_hours for name in named] == [1_022_362, 30_840_000, 2_664_000]
    assert tables.published_run("DeepSeek-V3 671B, pre-training").n_active_params == 37e9


def test_unknown_run_offers_the_nearest() -> None:
    """A run's name that is nearly right is answered with the right one."""
    with pytest.raises(tables.UnknownName, match=r"no published run 'Gopher'\. Did you mean 'Gopher 280B'\?"):
        tables.published_run("Gopher")


PRECISIONS = {"fp32", "tf32", "fp16-mixed", "bf16-mixed", "bf16", "fp8-mixed"}
OPTIMIZERS = {"adamw", "adamw-8bit", "adafactor", "lion", "sgd-momentum", "muon"}
CHECKPOINTING = {"none", "selective", "full"}
YES_NO = {"yes", "no"}
WORDS = {
    "adapters": {"none", "lora", "qlora"},
    "attention": {"flash", "eager"},
    "base_weights": {"bf16", "fp16", "nf4", "nf4-double-quant", "gptq-int4"},
    "basis": {"computed"},
    "checkpointing": CHECKPOINTING,
    "compile": YES_NO,
    "loss": set(memory.LOSSES),
    "metric": {"allocated", "allocated-first-rank", "allocated-last-rank", "reserved", "active", "unstated"},
    "offload": {"cpu", "activations", "optimizer"},
    "optimizer": OPTIMIZERS,
    "optimizer_step": {"foreach", "single-tensor"},
    "peak_unit": {"bytes", "MiB", "GiB", "GB"},
    "precision": PRECISIONS,
    "second_metric": {"allocated", "active", "reserved"},
    "sequence_parallel": YES_NO,
    "stack": {
        "deepspeed",
        "fsdp-qlora",
        "fsdp2",
        "huggingface",
        "litgpt",
        "llm-foundry",
        "megatron",
        "nanotron",
        "simplefsdp",
        "torchtune",
        "unsloth",
    },
    "status": {"ok", "OOM", "fits", "max_fit"},
    "swiglu": YES_NO,
    "tied_embeddings": YES_NO,
    "unit_certain": YES_NO,
    "zero_stage": {"0", "1", "2", "3"},
}
"""The words that the columns of the measured tables choose from; an empty cell is always allowed."""

MEASURED = [
    "korthikanti_figure_1.csv",
    "measured_memory.csv",
    "measured_phase_peaks.csv",
    "measured_throughput.csv",
    "tracked_memory.csv",
]
ARCHITECTURE_COLUMNS = ("n_layers", "hidden", "n_heads", "n_kv_heads", "head_dim", "ffn", "vocab")
MEMORY = tables.rows("measured_memory.csv")
PHASE_PEAKS = tables.rows("measured_phase_peaks.csv")
THROUGHPUT = tables.rows("measured_throughput.csv")
TRACKED = tables.rows("tracked_memory.csv")


def printed_gib(row: Mapping[str, str]) -> float:
    """The peak as printed, in GiB, of one GPU; a GB of unknown size is left as it is."""
    unit_bytes = {"bytes": 1, "MiB": GIB / 1024, "GiB": GIB, "GB": GB if row["unit_certain"] == "yes" else GIB}
    shared_by = int(row["n_gpus"]) if "sum over GPUs" in row["note"] else 1
    return float(row["peak_printed"]) * unit_bytes[row["peak_unit"]] / GIB / shared_by


@pytest.mark.parametrize("name", MEASURED)
def test_measured_words_are_of_the_vocabulary(name: str) -> None:
    """A column with a vocabulary holds its words or nothing."""
    for column in WORDS.keys() & set(header(name)):
        assert {row[column] for row in tables.rows(name)} - WORDS[column] <= {""}, column


@pytest.mark.parametrize("name", MEASURED)
def test_measured_gpus_are_known(name: str) -> None:
    """A GPU is a name of gpus.csv, or empty beside the words of the source."""
    for row in tables.rows(name):
        assert row.get("gpu", "") == "" or row["gpu"] in tables.gpus()


def test_measured_memory_is_whole() -> None:
    """No row has fallen out: 299 peaks, 304 runs that fit, 9 that did not, 16 longest contexts."""
    counted = Counter(row["status"] for row in MEMORY)
    assert counted == {"ok": 299, "fits": 304, "OOM": 9, "max_fit": 16}
    assert [len(PHASE_PEAKS), len(TRACKED), len(THROUGHPUT)] == [34, 48, 129]


def test_architecture_has_the_shape_of_its_row() -> None:
    """Where a row names an architecture, its shape columns and its parameter count are that architecture's."""
    rows = [row for row in MEMORY if row["architecture"]]
    assert len(rows) == 298
    for row in rows:
        named = architectures.named(row["architecture"])
        ours = [getattr(named, column) for column in ARCHITECTURE_COLUMNS]
        assert [int(row[column]) for column in ARCHITECTURE_COLUMNS] == ours, row["id"]
        assert (row["family"], row["tied_embeddings"] == "yes") == (named.family, named.tied_embeddings)
        assert int(row["n_params"]) == named.n_params


def test_family_counts_the_parameters_of_its_row() -> None:
    """Where a row names a family and no architecture, the family's count is that of the row, norms aside."""
    rows = [row for row in MEMORY if row["family"] and not row["architecture"]]
    assert len(rows) == 243
    for row in rows:
        assert shape_of(row).n_params == pytest.approx(int(row["n_params"]), rel=1e-4), row["id"]
    exact = [row for row in rows if row["source"] not in ("nanotron", "korthikanti-2022")]
    assert all(shape_of(row).n_params == int(row["n_params"]) for row in exact)


def test_measured_peaks_are_there_where_they_should_be() -> None:
    """A run with status ok has a peak, its unit and what was measured; a run that merely fits has none."""
    for row in MEMORY:
        told = [row[column] != "" for column in ("peak_gib", "peak_printed", "peak_unit", "unit_certain", "metric")]
        assert all(told) or not any(told)
        assert row["status"] == "OOM" or any(told) == (row["status"] == "ok"), row["id"]
        assert (row["second_metric"] == "") == (row["second_gib"] == "")


def test_measured_peaks_are_the_printed_ones() -> None:
    """A peak is the printed number, in GiB; to 0.005 where the compilation had rounded it."""
    for row in MEMORY:
        if row["peak_gib"]:
            assert float(row["peak_gib"]) == pytest.approx(printed_gib(row), abs=0.0051), row["id"]


def test_a_gpu_is_itself() -> None:
    """A GPU in place of its name is taken as it is, one that no table has too."""
    mine = dataclasses.replace(tables.gpu("T4"), name="mine")
    assert tables.gpu(mine) is mine


def test_measured_peaks_fit_their_gpu() -> None:
    """No peak exceeds what its GPU lets a framework use, but for one in a GB of unknown size."""
    over = [
        row["id"]
        for row in MEMORY
        if row["peak_gib"] and row["gpu"] and float(row["peak_gib"]) * GIB > tables.gpu(row["gpu"]).usable_bytes
    ]
    assert over == ["qwen-readme-qwen-7b-s1024-b1-g2-a100-bf16-mixed-zero3-full"]
    assert all(0.5 <= float(row["peak_gib"]) <= 180 for row in MEMORY if row["peak_gib"])


def test_measured_steady_memory_is_below_the_peak() -> None:
    """What stays allocated between steps is less than the peak; reserved memory is more than allocated or active."""
    for row in MEMORY:
        assert not row["steady_gib"] or 0 < float(row["steady_gib"]) < float(row["peak_gib"])
        if row["second_metric"]:
            pair = {row["metric"]: float(row["peak_gib"]), row["second_metric"]: float(row["second_gib"])}
            assert pair.pop("reserved") >= max(pair.values())


def test_measured_degrees_multiply_to_the_gpus() -> None:
    """Data-, tensor-, pipeline- and context-parallel degrees multiply to the number of GPUs."""
    columns = ("data_parallel", "tensor_parallel", "pipeline_parallel", "context_parallel")
    stated = [row for row in MEMORY if row["n_gpus"] and all(row[column] for column in columns[:3])]
    assert len(stated) > 500
    for row in stated:
        assert math.prod(int(row[column] or 1) for column in columns) == int(row["n_gpus"]), row["id"]


@pytest.mark.parametrize("name", ["measured_memory.csv", "measured_throughput.csv"])
def test_measured_utilisation_is_a_fraction(name: str) -> None:
    """MFU and HFU lie between 1% and 90%; recomputing makes HFU at most a third more than MFU."""
    for row in tables.rows(name):
        utilisations = [float(row[column]) for column in ("mfu", "hfu") if row[column]]
        assert all(0.01 <= utilisation <= 0.9 for utilisation in utilisations)
        if len(utilisations) == 2:
            assert 1 <= utilisations[1] / utilisations[0] <= 1.34


def test_phase_peaks_belong_to_measured_memory() -> None:
    """Each row of phase peaks has its row of measured memory, with the same configuration and the same peaks."""
    rows = {row["id"]: row for row in MEMORY}
    same = ("model", "architecture", "seq_len", "micro_batch", "attention", "base_weights", "adapter_rank", "step_s")
    for row in PHASE_PEAKS:
        whole = rows[row["id"]]
        assert [row[column] for column in same] == [whole[column] for column in same]
        assert row["peak_allocated_mib"] == whole["peak_printed"]
        assert float(row["peak_reserved_mib"]) / 1024 == pytest.approx(float(whole["second_gib"]), rel=1e-5)


def test_phase_peaks_peak_in_the_backward_pass() -> None:
    """The backward pass is the peak of every row; a process holds 140.875 MiB of CUDA context besides."""
    for row in PHASE_PEAKS:
        peaks = [float(row[f"peak_{phase}_mib"]) for phase in ("forward", "backward", "optimizer")]
        assert max(peaks) == float(row["peak_backward_mib"]) == float(row["peak_allocated_mib"])
        assert float(row["process_mib"]) - float(row["peak_reserved_mib"]) == pytest.approx(140.875)
        assert float(row["peak_reserved_mib"]) > float(row["peak_allocated_mib"])
        assert (row["base_weights"] == "nf4") == (row["nf4_mib"] != "")


def test_tracked_models_count_as_ours() -> None:
    """The models that PyTorch tracked have our parameter counts, GPT-2 with its longer table of positions."""
    for row in TRACKED:
        architecture = architectures.named(row["architecture"])
        if row["n_positions"]:
            architecture = dataclasses.replace(architecture, n_positions=int(row["n_positions"]))
        assert int(row["n_params"]) == architecture.n_params
        assert (row["n_positions"] != "") == (architecture.family == "gpt2")


def test_tracked_parts_sum_to_the_peak() -> None:
    """The parts at the backward peak sum to it, less the few bytes of a model's buffers; a step peaks no lower."""
    for row in TRACKED:
        parts = ("parameter", "gradient", "activation", "temporary", "optimizer")
        missing = int(row["backward_peak_bytes"]) - sum(int(row[f"backward_peak_{part}_bytes"]) for part in parts)
        assert 0 <= missing <= 512
        assert int(row["step_peak_bytes"]) >= int(row["backward_peak_bytes"])


def test_tracked_weights_have_their_width() -> None:
    """Parameters take 2 bytes each in bf16, 4 in fp32 and bf16-mixed; AdamW keeps two such, and a count per tensor."""
    for row in TRACKED:
        width = 2 if row["precision"] == "bf16" else 4
        weights_bytes = width * int(row["n_params"])
        n_states = 2 if row["optimizer"] == "adamw" else 1
        assert int(row["backward_peak_parameter_bytes"]) == pytest.approx(weights_bytes, abs=4096)
        assert int(row["backward_peak_optimizer_bytes"]) == pytest.approx(n_states * weights_bytes, abs=4096)


def test_throughput_adds_up() -> None:
    """Batches multiply, tokens/s divide by the GPUs, and recomputing costs a third."""
    for row in THROUGHPUT:
        count = {column: int(row[column]) for column in ("micro_batch", "grad_accumulation", "n_gpus", "global_batch")}
        assert count["global_batch"] == count["micro_batch"] * count["grad_accumulation"] * count["n_gpus"]
        per_gpu = float(row["tokens_per_s"]) / count["n_gpus"]
        assert per_gpu == pytest.approx(float(row["tokens_per_s_per_gpu"]), abs=1)
        repeated = 4 / 3 if row["checkpointing"] == "full" else 1
        assert float(row["hfu"]) == pytest.approx(repeated * float(row["mfu"]), abs=1e-4)


def test_throughput_agrees_with_measured_memory() -> None:
    """A benchmark that stands in both tables has the same speed, MFU and parameters in both."""
    benchmarks = {row["id"]: row for row in THROUGHPUT}
    shared = [(row, benchmarks[row["id"]]) for row in MEMORY if row["id"] in benchmarks]
    assert len(shared) == 121
    same = ("n_params", "tokens_per_s_per_gpu", "mfu", "hfu", "gpu", "zero_stage", "precision", "checkpointing")
    for ours, theirs in shared:
        assert [ours[column] for column in same] == [theirs[column] for column in same]


def test_figure_1_is_the_formula() -> None:
    """Activations of Korthikanti et al., Figure 1, are s b h (10 + 24/t + 5as/(ht)) a layer, or 34 s b h / t."""
    for row in tables.rows("korthikanti_figure_1.csv"):
        columns = ("seq_len", "micro_batch", "hidden", "n_heads", "n_layers", "tensor_parallel")
        s, b, h, a, L, t = (int(row[column]) for column in columns)
        p, v = int(row["pipeline_parallel"]), int(row["virtual_pipeline"])
        per_layer = 34 / t if row["checkpointing"] == "selective" else 10 + 24 / t + 5 * a * s / (h * t)
        in_flight = 1 + (p - 1) / (p * v) if v > 1 else 1
        assert s * b * h * per_layer * L * in_flight / GIB == pytest.approx(float(row["activations_gib"]), rel=1e-9)


TRACES = tables.rows("spot_traces.csv")
RATES = tables.rows("interruption_rates.csv")


def test_traces_are_whole() -> None:
    """No trace has fallen out: 34 of SkyPilot's, of which 7 have a shape, and 4 of Bamboo's."""
    assert Counter(row["source"] for row in TRACES) == {"skypilot-spot-traces": 34, "bamboo": 4}
    assert sum(row["weibull_shape"] != "" for row in TRACES) == 7
    assert {row["kind"] for row in TRACES} == {"availability", "preemption"}
    assert {row["provider"] for row in TRACES} == {"aws", "gcp"}
    assert {row["basis"] for row in TRACES} == {"computed"}


def test_trace_names_tell_their_month_and_zone() -> None:
    """SkyPilot's folders are named by the day that the watch began, its files by the zone and the device."""
    for row in TRACES:
        if row["source"] == "skypilot-spot-traces":
            provider, month, _, year, file = re.split("[-/]", row["name"], maxsplit=4)
            assert (provider, f"{year}-{month}") == (row["provider"], row["as_of"])
            assert file.startswith(f"{row['zone']}_{row['device']}")


def test_trace_gpus_are_known() -> None:
    """A trace's GPU is a name of gpus.csv; it is empty for K80s and where a machine has none."""
    for row in TRACES:
        assert row["gpu"] in tables.gpus() if row["gpu"] else row["device"] in {"k80", "intel_64", "c3-88"}
        assert row["n_gpus_per_node"] in ({"1", "8"} if row["gpu"] or row["device"] == "k80" else {"0"})


def test_trace_losses_add_up() -> None:
    """Losses over node-hours are the rate, and node-hours are at most all machines all the time."""
    for row in TRACES:
        rate = float(row["nodes_lost"]) / float(row["node_hours"])
        assert rate == pytest.approx(float(row["losses_per_node_hour"]), rel=1e-3, abs=1e-9), row["name"]
        assert 0 <= float(row["losses_per_node_hour"]) <= 2
        assert float(row["node_hours"]) <= 1.01 * int(row["capacity"]) * float(row["duration_h"])


def test_trace_times_add_up() -> None:
    """Steps make the duration, times up make its available share, and they end once each, but for the last."""
    for row in TRACES:
        if row["n_steps"]:
            duration_h = float(row["step_s"]) * int(row["n_steps"]) / 3600
            assert duration_h == pytest.approx(float(row["duration_h"]), abs=0.051)
            up_h = int(row["n_up"]) * float(row["mean_up_h"])
            assert up_h == pytest.approx(float(row["available_fraction"]) * duration_h, rel=0.02), row["name"]
            assert int(row["n_up"]) - int(row["n_full_losses"]) in {0, 1}
            assert row["capacity"] != "1" or row["n_full_losses"] == row["nodes_lost"]


def test_trace_bursts_fit_the_machines() -> None:
    """A burst takes at least one machine and at most all; shapes lie where lives of machines do."""
    for row in TRACES:
        assert 1 <= float(row["mean_burst_nodes"]) <= int(row["capacity"])
        assert (row["mean_burst_nodes"] == "1") == (row["capacity"] == "1")
        assert row["weibull_shape"] == "" or 0.4 < float(row["weibull_shape"]) < 1


def test_interruption_buckets_are_whole() -> None:
    """108 pairs of machine and region, each in one of AWS's five buckets; one of them saves less than nothing."""
    buckets = tables.rows("interruption_buckets.csv")
    assert Counter(row["bucket"] for row in buckets) == {"<5%": 26, "5-10%": 11, "10-15%": 11, "15-20%": 5, ">20%": 55}
    assert {row["bucket"] for row in buckets} == {row["bucket"] for row in RATES if row["provider"] == "aws"}
    assert all(-1 < float(row["savings_fraction"]) < 1 for row in buckets)
    assert [row["instance_type"] for row in buckets if float(row["savings_fraction"]) < 0] == ["p5.48xlarge"]


@pytest.mark.parametrize(("provider", "per", "period_h"), [("aws", "month", "730"), ("azure", "hour", "1")])
def test_interruption_rates_leave_no_gap(provider: str, per: str, period_h: str) -> None:
    """Each provider's buckets go from nothing, one from the end of the other, and the last has no upper end."""
    rows = sorted((row for row in RATES if row["provider"] == provider), key=lambda row: float(row["low_fraction"]))
    assert {(row["per"], row["period_h"]) for row in rows} == {(per, period_h)}
    assert [row["low_fraction"] for row in rows] == ["0", "0.05", "0.1", "0.15", "0.2"]
    assert [row["high_fraction"] for row in rows] == ["0.05", "0.1", "0.15", "0.2", ""]


def test_hardware_failures_are_plausible() -> None:
    """A GPU fails once in one to ten years, as counted or as told, and a run says which of the two."""
    for row in tables.rows("hardware_failures.csv"):
        assert row["gpu"] in tables.gpus()
        assert (row["n_failures"] == "") != (row["failures_per_gpu_day"] == "")
        assert row["basis"] == "computed" if row["n_failures"] else row["basis"] in {"published", "recalled"}
        if row["n_failures"]:
            rate = float(row["n_failures"]) / (float(row["n_gpus"]) * float(row["days"]))
        else:
            rate = float(row["failures_per_gpu_day"])
        assert 1 / (10 * 365) < rate < 1 / 365


def test_notices_are_short() -> None:
    """No provider gives more than two minutes."""
    assert {row["notice_s"] for row in tables.rows("termination_notices.csv")} == {"30", "120"}


def test_storage_prices_are_of_one_thing() -> None:
    """A price is of keeping or of moving data, at most 10 cents a GB; what moves has somewhere to go."""
    for row in tables.rows("storage_prices.csv"):
        assert (row["usd_per_gb_month"] == "") != (row["usd_per_gb"] == "") == (row["to_region"] == "")
        assert 0.005 <= float(row["usd_per_gb_month"] or row["usd_per_gb"]) <= 0.1


def test_every_kind_of_claim_is_explained() -> None:
    """data/README.md names every formula of claims.csv, but for those that are named after what they return."""
    text = tables.path("README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`([a-z0-9_]+)`", text))
    used = {
        kind for row in tables.rows("claims.csv") if row["topic"] != "scaling" for kind in row["kind"].split("|")
    } - {"training_flop"}
    assert used - told == set()


def test_spot_checks_name_their_unit() -> None:
    """A claim has a number as printed, and the unit that its kind ends in."""
    for row in (row for row in tables.rows("claims.csv") if row["topic"] == "spot"):
        assert float(row["published"]) > 0
        assert row["what"] != ""
        unit = {"usd": "USD", "percent": "%", "h": "h", "interval": "minutes"}.get(row["kind"].rsplit("_", 1)[-1], "h")
        assert row["unit"] == unit


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
