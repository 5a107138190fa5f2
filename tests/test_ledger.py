import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import claims, cli, figures, panels, tables
from costkit.claims import Checked, verdicts
from costkit.claims.readings import readings_of
from costkit.claims.verdicts import verdict_of_readings
from tests.commands import told

LEDGER = {check.id: check for check in claims.ledger()}
A100, A100_FP32, L40S = 312.0, 19.5, 362.0
FIVE_DAYS = 32 * 5 * 86400 * 312e12 * 0.45

# By hand: one value, or the least and the greatest.
BY_HAND: dict[str, float | tuple[float, float]] = {
    "ondemand-18-days": 32 * 18 * 24 * 3.06,
    "baseline-bill": (32 * 18 * 24 * 3.06, 32 * 18 * 24 * 3.06 * 1.2),
    "idle-share": 1 - 0.52,
    "checkpoint-restarts": 54 * 3.06,
    "a100-fp32-peak": A100_FP32,
    "a100-bf16-peak": A100,
    "bf16-over-fp32-peak": A100 / A100_FP32,
    "amp-speedup": (334 / 312, 173 / 42),
    "amp-cost": (100 * (1 - 1 / 1.4), 100 * (1 - 1 / 1.8)),
    "chinchilla-formula": 20.0,
    "budget-5-days": FIVE_DAYS,
    "budget-5-days-price": 32 * 5 * 24 * 3.06,
    "optimum-5-days": math.sqrt(FIVE_DAYS / 120),
    "optimum-5-days-tokens": 20 * math.sqrt(FIVE_DAYS / 120),
    "budget-1e23-price": 1e23 / (312e12 * 0.45) / 3600 * 3.06,
    "example-3b-60b": 60 / 3,
    "gpt3-optimum": math.sqrt(3.14e23 / 120),
    "chinchilla-vs-gpt3": 70 * 1400 / (175 * 300),
    "run-7b-flop": 6 * 7e9 * 100e9,
    "run-7b-hours": 4.2e21 / (8 * 312e12 * 0.4) / 3600,
    "run-7b-usd": 4.2e21 / (312e12 * 0.4) / 3600 * 3,
    "checkpoint-rate": (28 * 86400 / (100 * 100), 28 * 86400 / 100),
    "checkpoint-overhead": (100 * 28 / 10 / (500 * 100), 100 * 98 / 1 / 500),
    "savings-sum": 25_000 + 8_000 + 3_000 + 2_000 + 8_000,
    "savings-chain": 50_000 - 25_000 - 8_000 - 3_000 - 2_000 - 8_000,
    "spot-share": 50.0,
    "steps-20-percent": (100 * (1 - 0.8 * 2 * 1.3333), 100 * (1 - 0.8 * 1.3333)),
    "tokens-1b-10b": 0.1,
    "search-gpu-hours": 140 * 12 * 4,
    "search-cpu-hours": 140 * 20,
    "production-share": 100 * 192 / 6912,
    "dead-checkpoints": 140 * 12,
    "four-workers": 2.0,
    "run-cost-50k-steps": 50_000 * 0.8 / 3600 * 2.5,
    "run-hours-50k-steps": 50_000 * 0.8 / 3600,
    "usd-per-point": (125 / 3, 125 / 0.03),
    "v100-per-usd": 125 / 2.5,
    "a100-per-usd": A100 / 3.5,
    "h100-per-usd": 989 / 6,
    "l40s-per-usd": L40S / 4,
    "llama7b-a100": 8 * 50 * 3.5 + 150,
    "llama7b-hours": 82_432,
    "llama7b-h100": 8 * 20 * 6 + 150,
    "h100-speedup": 50 / 20,
    "h100-cheaper": 100 * (1 - 1110 / 1550),
    "dp-16": 0.95,
    "pp-16": 0.75,
    "fsdp-16": (0.8, 0.9),
    "flash-cost": 100 / 3,
    "techniques-combined": (2 * 1.3 * 1.5 * 1.2, 3 * 1.3 * 1.5 * 1.2),
    "chain-amp": 10_000 / 2.5,
    "chain-flash": 5_000 / 1.5,
    "chain-fsdp": (3_300 / 0.9, 3_300 / 0.8),
    "chain-total": (2.5 * 1.5 * 0.8, 2.5 * 1.5 * 0.9),
    "gpu-second": (2.5 / 3600, 6 / 3600),
    "query-100-tokens": (0.003, 0.01),
    "small-plus-int4": 0.01 / 0.0015,
    "utilisation-100x": 100.0,
    "lora-5-tasks": 100 * (1 - 100_500 / 500_000),
    "lora-existing": 99.9,
    "buy-3-years": (136_000, 280_000),
    "cloud-1b-tokens": (3e6, 1e7),
    "spot-1b-tokens": (1e6, 3e6),
    "buy-threshold": ((100_000 / 36 + 1_000) / 0.01 * 1000, (100_000 / 36 + 5_000) / 0.003 * 1000),
    "roadmap-total": 80.0,
}
HOLDS = """a100-bf16-peak a100-per-usd adam8bit-7b adam8bit-cut adamw-bf16-7b adamw-fp32-7b bf16-over-fp32-peak
checkpointing-compute dead-checkpoints example-3b-60b four-workers h100-cheaper h100-per-usd idle-share llama7b-a100
llama7b-h100 lora-5-tasks lora-existing query-100-tokens run-7b-flop run-cost-50k-steps run-hours-50k-steps
search-cpu-hours search-gpu-hours small-plus-int4 spot-saving-fraction tokens-1b-10b utilisation-100x v100-per-usd
weights-7b"""
CLOSE = "chain-flash ondemand-18-days restart-loss run-7b-hours run-7b-usd spot-18-days spot-saving"
DEPENDS = """a100-list-price activations-7b-with activations-7b-without amp-activation-memory amp-speedup baseline-bill
checkpoint-overhead checkpoint-rate checkpoint-restarts checkpointing-memory notice-65b techniques-combined
usd-per-point"""


# What the ledger says.


def test_all_92_claims_have_a_verdict() -> None:
    """Every claim of the four lessons is judged, and says why."""
    assert len(LEDGER) == 92
    assert all(one.verdict in claims.VERDICTS and one.why for one in LEDGER.values())


@pytest.mark.parametrize("name", BY_HAND)
def test_a_claim_is_recomputed_as_by_hand(name: str) -> None:
    """The value, or the ends of its span, are those that a reader would write down."""
    by_hand, one = BY_HAND[name], LEDGER[name]
    ends = by_hand if isinstance(by_hand, tuple) else (by_hand, by_hand)
    assert (min(one.readings), max(one.readings)) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize(("verdict", "names"), [("holds", HOLDS), ("close", CLOSE), ("depends", DEPENDS)])
def test_the_claims_of_a_verdict_are_these(verdict: str, names: str) -> None:
    """Which hold, which are close and which depend; all others are wrong."""
    assert sorted(one.id for one in LEDGER.values() if one.verdict == verdict) == sorted(names.split())


def test_the_rest_is_wrong() -> None:
    """Forty-two claims do not follow from their own inputs, or from the source that they cite."""
    named = {*HOLDS.split(), *CLOSE.split(), *DEPENDS.split()}
    assert {one.verdict for name, one in LEDGER.items() if name not in named} == {"wrong"}
    assert len(LEDGER) - len(named) == 42


@pytest.mark.parametrize(
    ("name", "ours"),
    [("resume-order", "no"), ("loader-timer", "no"), ("autoscale-rule", "no"), ("grid-times-seeds", "no")],
)
def test_what_code_does_is_answered_yes_or_no(name: str, ours: str) -> None:
    """Orders of names and events, units and whole numbers are settled, and no figure is made up."""
    one = LEDGER[name]
    assert (one.ours, one.verdict, math.isnan(one.recomputed)) == (ours, "wrong", True)


def test_a_notice_is_enough_where_the_storage_is_fast() -> None:
    """910 GB in two minutes: at 1 GB/s not, at 100 GB/s in time."""
    assert (LEDGER["notice-65b"].ours, LEDGER["notice-65b"].verdict) == ("no or yes", "depends")


def test_only_one_verdict_is_a_judgement_and_says_so() -> None:
    """No formula decides what is uncomfortable."""
    (one,) = [one for one in LEDGER.values() if one.is_judgement]
    assert (one.id, one.verdict, "judgement" in one.why) == ("checkpoint-restarts", "depends", True)


def test_what_depends_names_on_what() -> None:
    """The assumption that was left open is in the sentence."""
    for one in LEDGER.values():
        if one.verdict == "depends" and one.assumption:
            assert one.why.startswith(f"depends on {one.assumption}")


def test_a_list_price_lies_among_the_quotes() -> None:
    """The ends are the cheapest and the dearest quote of an A100 of either size."""
    quotes = [
        quote.usd_per_gpu_hour
        for gpu in ("A100-SXM4-40GB", "A100-SXM4-80GB")
        for quote in tables.quotes(gpu=gpu, purchase="on_demand")
    ]
    one = LEDGER["a100-list-price"]
    assert (min(one.readings), max(one.readings)) == (min(quotes), max(quotes))


def test_the_smallest_and_the_largest_published_run_are_far_above() -> None:
    """Training is measured in exaFLOP and more."""
    low, high = min(LEDGER["small-training"].readings), max(LEDGER["small-training"].readings)
    assert (low > 1e18, high > 1e25, LEDGER["small-training"].off > 1e7) == (True, True, True)


# Rules of a verdict.


@pytest.mark.parametrize(
    ("printed", "values", "is_open", "verdict"),
    [
        ("40-45", (40.0, 45.0), False, "holds"),
        ("40-45", (40.0, 44.0), False, "close"),
        ("40-45", (28.6, 44.4), False, "wrong"),
        ("6-10", (6.67,), False, "holds"),
        ("60-100", (58.0,), False, "close"),
        ("6-10", (11.0,), False, "wrong"),
        ("10", (10.0, 10.2), False, "holds"),
        ("10", (10.0, 20.0), False, "wrong"),
        ("10", (9.6, 10.4), True, "holds"),
        ("10.0", (9.6, 10.4), True, "close"),
        ("10", (1.0, 100.0), True, "depends"),
        ("10", (11.0, 100.0), True, "wrong"),
        ("10", (10.0, 100.0), True, "depends"),
        ("1.5-2", (1.07, 4.1), True, "depends"),
        ("1.5-2", (3.0, 4.1), True, "wrong"),
        ("100e9-10e12", (7e18, 4e25), False, "wrong"),
        ("20", (-113.0, -7.0), True, "wrong"),
    ],
)
def test_a_span_is_judged_end_by_end_and_what_is_open_by_its_readings(
    printed: str, values: tuple[float, ...], is_open: bool, verdict: str
) -> None:
    """A printed span needs both ends; a figure between readings depends on which is meant."""
    assert verdict_of_readings(printed, values, is_open=is_open) == verdict


@given(low=st.floats(0.1, 1e6), spread=st.floats(1.0, 100.0), at=st.floats(0.0, 1.0), beyond=st.floats(1.2, 50.0))
def test_what_lies_between_readings_is_never_wrong_and_what_lies_far_outside_always(
    low: float, spread: float, at: float, beyond: float
) -> None:
    """Between the least and the greatest reading the source may be right; far outside it is not."""
    high = low * spread
    inside, outside = f"{low + at * (high - low):.12g}", f"{high * beyond:.12g}"
    assert verdict_of_readings(inside, (low, high), is_open=True) != "wrong"
    assert verdict_of_readings(outside, (low, high), is_open=True) == "wrong"


@pytest.mark.parametrize("printed", ["$312", "about 312", "<312", "300 to 320", "∞"])
def test_what_is_nearly_a_number_is_no_judgement(printed: str, tmp_path: Path) -> None:
    """It is refused with what is wrong; a judgement has no figure in it."""
    file = tmp_path / "claims.csv"
    file.write_text(f"{HEADER}a,quotient,of=1; by=1,{printed}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="needs a number in column published, not"):
        claims.check(file)


def test_a_file_without_a_header_is_refused(tmp_path: Path) -> None:
    """And not taken for one without claims."""
    file = tmp_path / "claims.csv"
    file.write_text("mine,quotient,of=1; by=1,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no column id; it needs id, kind, published, with commas between"):
        claims.check(file)


def test_alternatives_leave_a_figure_open_also_where_no_assumption_is_named(tmp_path: Path) -> None:
    """A figure between its readings depends on which is meant."""
    file = tmp_path / "claims.csv"
    file.write_text("id,kind,inputs,published\na,quotient,of=10|40; by=10,3\n", encoding="utf-8")
    (found,) = claims.check(file)
    assert (found.verdict, found.why) == ("depends", "depends on which of its readings is meant")


def test_how_far_off_is_a_factor_either_way() -> None:
    """Twice and half are as far off; what holds is off by nothing, a wrong word by everything."""
    twice, half = (Checked("a", "b", "c", 10.0, ours, "", "wrong", "d") for ours in (20.0, 5.0))
    assert (twice.off, half.off, LEDGER["weights-7b"].off, LEDGER["resume-order"].off) == (2.0, 2.0, 1.0, math.inf)


def test_every_claim_has_ratios(tmp_path: Path) -> None:
    """Of words there is none, of a printed 0 none that is finite, of a span one for each end."""
    file = tmp_path / "claims.csv"
    file.write_text("id,kind,published,x\na,product,0,5\n", encoding="utf-8")
    (nought,) = claims.check(file)
    for one in LEDGER.values():
        low, high = one.ratios
        assert low <= high or (math.isnan(low) and math.isnan(one.published))
    assert (nought.ratios, LEDGER["chain-amp"].ratios) == ((math.inf, math.inf), (0.8, 0.8))
    assert LEDGER["buy-3-years"].ratios == pytest.approx((136 / 130, 280 / 180))


def test_the_most_wrong_come_first() -> None:
    """Wrong ones by how far off they are, then the rest."""
    found = claims.by_off(LEDGER.values())
    wrong = [one.off for one in found if one.verdict == "wrong"]
    assert [one.verdict for one in found][: len(wrong)] == ["wrong"] * len(wrong)
    assert wrong == sorted(wrong, reverse=True)


# How inputs are written.


ABOUT = ("id", "kind", "inputs")


@given(values=st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.integers(0, 10**9), max_size=6))
def test_inputs_are_read_as_they_are_written(values: dict[str, int]) -> None:
    """Whatever pairs stand in the cell come out again, whatever the spaces."""
    values.pop("id", None), values.pop("kind", None), values.pop("inputs", None)
    text = " ;".join(f"{name} = {value}" for name, value in values.items())
    (found,) = readings_of({"id": "a", "kind": "k", "inputs": text}, about=ABOUT)
    assert {name: found[name] for name in values} == {name: str(value) for name, value in values.items()}


def test_spans_and_alternatives_combine() -> None:
    """Two ends and three words are six readings."""
    row = {"id": "a", "kind": "k", "inputs": "x=1..2; stack=a|b|c"}
    assert len(readings_of(row, about=ABOUT)) == 6


HEADER = "id,kind,inputs,published\n"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("a,product,runs 140,6720", "has 'runs 140' among its inputs; they are written name=value with semicolons"),
        ("a,product,runs=140; runs=141,6720", "gives runs twice; give it once"),
        ("a,product,runs=,6720", "has 'runs=' among its inputs"),
        ("a,product,runs=2..1,6720", "has the span 2..1 in runs; its first end must be the smaller one"),
        ("a,product,runs=2..x,6720", "needs a span of two numbers in runs, such as 0.4..0.8, not '2..x'"),
        ("a,product,runs=2|,6720", "has an empty alternative in runs: '2|'"),
        ("a,product,runs=many,6720", "needs a number in column runs, not 'many'"),
        ("a,prodct,runs=1,6720", "no kind of claim 'prodct'. Did you mean 'product'?"),
        ("a,quotient,of=1; bye=2; by=1,5", "gives bye, which quotient does not use; did you mean by?"),
        ("a,quotient,of=1; by=1; colour=red,5", "gives colour, which quotient does not use; it uses by, of."),
        ("a,quotient,of=1; by=0,5", "has no value: an input of quotient is 0, or too large"),
        ("a,quotient,of=1; by=1,12x", "needs a number in column published, not '12x'"),
        ("a,quotient,of=1; by=1,nan", "needs a number in column published, not 'nan'"),
        ("a,product,x=1..2;y=1..2;z=1..2;p=1..2;q=1..2;r=1..2;s=1..2,5", "leaves 128 readings; at most 64"),
        ("a,quotient,of=1; by=1,5\na,quotient,of=1; by=1,5", "stands there twice; give each an id of its own"),
        ("a,is_measured,events=start; what_is_measured=fetch,yes", "has no 'stop' among its events: start"),
        ("a,is_measured,what_is_measured=fetch,yes", "needs names with commas between them in events"),
        ("a,quoted_usd,gpu=MI250X,5", "nobody quotes MI250X that way"),
        ("a,listed_end_usd,baseline=10; one=6; other=5,5", "the listed savings come to $11, 110% of the bill"),
        ("a,published_gpu_hours,run=LLaMA-1 8B,5", "no published run 'LLaMA-1 8B'. Did you mean"),
        ("a,product,,5", "needs inputs, such as n_gpus=32; days=18"),
        ("a,listed_sum_usd,baseline=10,5", "needs inputs besides baseline"),
        ("a,product,id=7; x=5,5", "gives id among its inputs; it is a column of its own"),
        ("a,product,x=1e200; y=1e200,5", "has no value: an input of product is 0, or too large"),
        ("a,product,x=5,1e999", "needs a number in column published, not '1e999'"),
        ("a,product,x=5,10-5", "was published as 10-5; a span's first end must be the smaller one"),
        ("a,product,x=5,yes", "was published as 'yes', but product gives a number"),
        ("a,is_whole,of=6; by=3,5", "was published as '5', but is_whole answers yes or no"),
        ("a,is_whole,of=6; by=3,fine", "was published as 'fine', but is_whole answers yes or no"),
        ("a,product|is_whole,of=6; by=3,18", "mixes numbers with yes or no in product|is_whole"),
        ("a,rule_params,flop=-5; tokens_per_param=20,5", "needs a number above 0 in column flop, not '-5'"),
        ("a,best_params,law=besiroglu-2024; flop=abc,5", "needs a number in column flop, not 'abc'"),
        (
            "a,compute_hours,flop=1e21; gpu=A100-SXM4-80GB; mfu=0.4; n_gpus=2.5,5",
            "needs a whole number from 1 to 1e+15 in column n_gpus, not '2.5'",
        ),
        ("a,compute_usd,flop=1e21; gpu=A100-SXM4-80; mfu=0.4,5", "Claim 'a': no GPU 'A100-SXM4-80'. Did you mean"),
        ("a,compute_usd,flop=1e21; gpu=A100-SXM4-80GB; mfu=40,5", "Claim 'a': mfu must be a fraction above 0"),
        ("a,tokens_for_params,law=sardana-2024; n_params=1e308,5", "an input of tokens_for_params is 0, or too large"),
        ("a,chain_usd,start_usd=10; speedup=1e-308; efficiency=1e-308,5", "what is left must be above 0 and finite"),
        ("a,product,x=5,5,left over", "has 5 cells under 4 columns; put a cell that has commas in it in double quotes"),
    ],
)
def test_a_claim_that_is_written_wrong_is_told_in_a_sentence(row: str, sentence: str, tmp_path: Path) -> None:
    """What, where, and the nearest right answer; no input is silently ignored."""
    file = tmp_path / "claims.csv"
    quoted = "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in row.split("\n"))
    file.write_text(f"{HEADER}{quoted}\n", encoding="utf-8")
    with pytest.raises((ValueError, tables.UnknownName)) as error:
        claims.check(file)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


HOSTILE = ["0", "-1", "1e308", "1e-308", "abc", "nan", "inf", "", "1..2", "2|0", "-1..1", "0.5", "1e18", "<b>"]


def judged(row: Mapping[str, str]) -> str:
    """The sentence about a row: what came of it, or what is wrong with it."""
    try:
        one = claims.checked(row, claims.KINDS)
    except (ValueError, tables.UnknownName) as error:
        return str(error)
    return f"Claim '{one.id}' {one.verdict}: {one.theirs}, {one.ours}, {one.ratios}, {one.off}"


@pytest.mark.parametrize("row", tables.rows("claims.csv"), ids=lambda row: row["id"])
def test_no_input_ends_in_anything_but_a_value_or_one_sentence_about_the_claim(row: Mapping[str, str]) -> None:
    """Whatever stands in place of an input, the claim is judged or its own sentence says why not."""
    pairs = dict(pair.strip().split("=", 1) for pair in row["inputs"].split(";"))
    for name, text in itertools.product(pairs, HOSTILE):
        inputs = "; ".join(f"{one}={value}" for one, value in {**pairs, name: text}.items())
        assert re.fullmatch(f"Claim '{row['id']}'.+", judged({**row, "inputs": inputs}))


def test_a_column_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    """Neither of the two is dropped silently."""
    file = tmp_path / "claims.csv"
    file.write_text("id,kind,published,x,X\na,product,5,5,6\n", encoding="utf-8")
    with pytest.raises(ValueError, match="The header names column x twice"):
        claims.check(file)


def test_yes_and_no_are_read_in_any_case(tmp_path: Path) -> None:
    """Who writes Yes means yes."""
    file = tmp_path / "claims.csv"
    file.write_text("id,kind,published,of,by\na,is_whole,Yes,6,3\nb,is_whole,NO,7,3\n", encoding="utf-8")
    assert [(one.printed, one.ours, one.verdict) for one in claims.check(file)] == [
        ("yes", "yes", "holds"),
        ("no", "no", "holds"),
    ]


def test_a_reader_s_file_with_the_columns_of_the_table_gives_the_same(tmp_path: Path) -> None:
    """The package's own table is a claims file like any other."""
    file = tmp_path / "claims.csv"
    file.write_text(tables.path("claims.csv").read_text(encoding="utf-8"), encoding="utf-8")
    n_rows = len(tables.rows("claims.csv"))
    assert claims.check(file) == claims.check()[:n_rows]


# Said and shown.


def test_the_command_prints_the_ledger_most_wrong_first(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a claim, and the count by verdict at the end."""
    text = told(capsys, "claims")
    lines = text.splitlines()
    assert lines[-1] == "Of 92 claims 30 hold, 7 are close, 13 depend on what is not said and 42 are wrong."
    assert lines[1].startswith("autoscale-rule")


def test_the_command_filters_and_sorts(capsys: pytest.CaptureFixture[str]) -> None:
    """By verdict and by name, as CSV, JSON or text."""
    found = json.loads(told(capsys, "claims", "--verdict", "close", "--by", "id", "--json"))
    assert [one["id"] for one in found] == sorted(CLOSE.split())
    assert told(capsys, "claims", "--verdict", "close", "--csv").count("\n") == 8


def test_a_verdict_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest that there is."""
    assert cli.main(["claims", "--verdict", "wron"]) == 2
    assert "--verdict cannot be 'wron'; did you mean 'wrong'?" in capsys.readouterr().err


def test_a_reader_s_file_is_checked_by_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """And what is wrong with it is one sentence."""
    file = tmp_path / "mine.csv"
    file.write_text(f"{HEADER}mine,quotient,of=10; by=4,2.5\n", encoding="utf-8")
    assert "Of 1 claim 1 holds, 0 are close, 0 depend on what is not said and 0 are wrong." in told(
        capsys, "claims", str(file)
    )
    assert cli.main(["claims", str(tmp_path / "none.csv")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_table_of_the_ledger_shows_printed_and_ours_alike() -> None:
    """Both are written the same way, and a judgement is marked."""
    table = figures.ledger.table(claims.by_off(LEDGER.values()))
    rows = {row["id"]: row for row in table.rows}
    assert (rows["weights-7b"]["theirs"], rows["weights-7b"]["ours"], rows["weights-7b"]["off"]) == ("14", "14", "")
    assert rows["checkpoint-restarts"]["verdict"] == "depends (a judgement)"
    assert rows["amp-cost"]["theirs"] == "40 to 45"


def test_the_picture_of_the_ledger_says_what_it_shows() -> None:
    """The title is the finding, and the alternative text the same."""
    figure = figures.ledger.ratios(list(LEDGER.values()))
    assert figure.get_label() == claims.tally(list(LEDGER.values()))
    assert figures.png(figure) == figures.png(figures.ledger.ratios(list(LEDGER.values())))


def test_the_picture_leaves_no_claim_out_unsaid() -> None:
    """A mark for each ratio on the axis, an arrow with its factor for what lies beyond; the rest are counted."""
    checks = list(LEDGER.values())
    figure = figures.ledger.ratios(checks)
    (ax,) = figure.axes
    marks = [line for line in ax.lines if line.get_marker() in ("o", "<", ">")]
    left, right = ax.get_xlim()
    assert all(left < float(np.asarray(mark.get_xdata())[0]) < right for mark in marks)
    assert [mark.get_marker() for mark in marks].count(">") == 1
    words = [text.get_text() for text in (*ax.texts, *figure.texts)]
    assert "small-training: 3.80e12 times" in words
    assert f"{len(checks) - len(marks)} in words or of the other sign are left out" in words[-1]


def test_the_panel_of_the_ledger_sorts_filters_and_searches() -> None:
    """Order, verdict and a word change the rows, and the count says how many are left."""
    panel = panels.ledger()
    assert [one.id for one in panel.shown] == [one.id for one in claims.by_off(LEDGER.values())]
    panel.order.value = "name"
    assert [one.id for one in panel.shown] == sorted(LEDGER)
    panel.verdict.value = "holds"
    panel.search.value = "LoRA"
    assert [one.id for one in panel.shown] == ["lora-5-tasks", "lora-existing"]
    panel.search.value = "<script>"
    assert (panel.shown, panel.table.value) == ([], "")
    assert "No claim is like that" in panel.words.value


def test_what_a_claim_says_is_escaped_in_the_panel() -> None:
    """A claim of the reader's own is text, not HTML."""
    own = Checked("<b>", "s", "<script>alert(1)</script>", 1.0, 1.0, "", "holds", "w", printed="1", readings=(1.0,))
    assert "<script>" not in panels.ledger([own]).table.value


def test_the_count_by_verdict_is_told_in_whole_words() -> None:
    """One claim and several read differently."""
    one = LEDGER["weights-7b"]
    assert claims.tally([one]) == "Of 1 claim 1 holds, 0 are close, 0 depend on what is not said and 0 are wrong."
    assert Counter(check.verdict for check in LEDGER.values()) == {"wrong": 42, "holds": 30, "depends": 13, "close": 7}


def test_a_note_is_no_verdict() -> None:
    """No row types a verdict: the words of the four are in no cell but the published ones."""
    for row in tables.rows("claims.csv"):
        assert not re.fullmatch("holds|close|depends|wrong", row["note"])
    assert verdicts.VERDICTS == ("holds", "close", "depends", "wrong")
