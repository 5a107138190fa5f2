import math
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from costkit import architectures, claims, scaling, tables
from costkit.claims import Checked
from costkit.units import GB


def wide(row: Mapping[str, str]) -> dict[str, str]:
    """A row with a column for each of its inputs, as a reader's own file may have them."""
    pairs = (pair.partition("=") for pair in row["inputs"].split(";") if pair.strip())
    return {**row, "inputs": "", **{name.strip(): text.strip() for name, _, text in pairs}}


SCALING, TABLES, MEMORY = claims.scaling_checks(), claims.chinchilla_tables(), claims.memory_checks()
SPOT = claims.spot_checks()
LISTED = tables.rows("claims.csv")
ROWS = {row["id"]: wide(row) for row in LISTED}
OURS = {check.id: check.recomputed for check in MEMORY}
LEDGER = claims.ledger()
ALL = [*{check.id: check for check in (*SCALING, *TABLES, *MEMORY, *SPOT, *LEDGER)}.values()]
by_check = pytest.mark.parametrize("check", ALL, ids=lambda check: check.id)
by_single = pytest.mark.parametrize(
    "check",
    [
        one
        for one in ALL
        if len(set(one.readings)) <= 1 and "-" not in one.printed.lstrip("-") and not math.isnan(one.published)
    ],
    ids=lambda check: check.id,
)


def printed(check: Checked) -> str:
    """A published figure as it stands in its table."""
    if check.id in ROWS:
        return ROWS[check.id]["published"]
    rows = tables.rows("chinchilla_frontiers.csv")
    return next(row["n_tokens"] for row, other in zip(rows, TABLES, strict=True) if other is check)


def judged(published: str, ours: float) -> str:
    """A verdict by another road: our number rounded in decimal to the last printed place."""
    place = Decimal(1).scaleb(int(Decimal(published).as_tuple().exponent))
    if abs(Decimal(ours) - Decimal(published)) * 2 <= place:
        return "holds"
    return "close" if abs(Decimal(ours) / Decimal(published) - 1) <= Decimal("0.05") else "wrong"


@by_single
def test_a_verdict_is_what_its_numbers_say(check: Checked) -> None:
    """No verdict is typed: each follows from the two figures beside it."""
    assert check.verdict == judged(printed(check), check.recomputed)


@by_single
def test_a_check_shows_the_figure_as_published(check: Checked) -> None:
    """The number beside ours is the one of the table."""
    assert check.published == float(printed(check))


@by_check
def test_a_check_names_a_source_of_the_table(check: Checked) -> None:
    """Every published figure can be looked up."""
    assert check.source in tables.sources()


@by_check
def test_a_check_says_why(check: Checked) -> None:
    """A verdict comes with a clause that explains it."""
    assert check.why.strip()


def holds_before_rounding(check: Checked) -> bool:
    """Whether one of a row's inputs, moved by half its last printed digit, gives the published figure."""
    row = ROWS[check.id]
    inputs = [name for name, text in row.items() if name != "published" and re.fullmatch(r"[\d.]+(e\d+)?", text)]
    moved = []
    for name in inputs:
        half = Decimal(5).scaleb(int(Decimal(row[name]).as_tuple().exponent) - 1)
        moved += [{**row, name: str(Decimal(row[name]) + by)} for by in (-half, half)]
    return any(claims.checked(one, claims.KINDS).verdict == "holds" for one in moved)


@by_single
def test_only_what_rounding_explains_is_put_down_to_rounding(check: Checked) -> None:
    """A miss of more than a per cent is no rounding, unless an input that was rounded itself makes up for it."""
    if "rounded" in check.why:
        assert abs(check.ratio - 1) < 0.01 or holds_before_rounding(check)


def test_no_figure_is_called_wrong_without_a_note() -> None:
    """Who is accused of an error is told which."""
    wrong = [check.id for check in ALL if check.verdict == "wrong" and check.id in ROWS]
    assert [name for name in wrong if not ROWS[name]["note"]] == []


def test_the_figures_called_wrong_are_these() -> None:
    """The papers' own inconsistencies: four of Hoffmann et al., one of a reader of Besiroglu et al., one of Llama 3."""
    assert [check.id for check in SCALING if check.verdict == "wrong"] == [
        "besiroglu-ratio-chinchilla",
        "hoffmann-175b-text",
        "hoffmann-a3-175b",
        "hoffmann-a3-67b",
        "hoffmann-caption-rounded",
        "llama3-tokens-printed",
    ]


def test_every_kind_of_formula_is_used_and_every_one_used_is_known() -> None:
    """The tables of checks and the formulas behind them name the same kinds."""
    assert {kind for row in LISTED for kind in row["kind"].split("|")} == set(claims.KINDS)


def test_no_check_is_listed_twice() -> None:
    """Each row of the tables of checks has a name of its own."""
    assert len(ROWS) == len(LISTED)
    assert {row["topic"]: 0 for row in LISTED}.keys() >= {"scaling", "memory", "spot", "code", "savings"}


def test_every_row_of_the_papers_tables_has_an_id_of_its_own() -> None:
    """27 rows of Table 3 and Table A3, 27 ids."""
    assert len({check.id for check in TABLES}) == 27


def test_the_power_laws_through_the_tables_lie_within_five_per_cent() -> None:
    """Approaches 1 and 2 give every row of their own tables, but for a row whose own compute is not 6ND."""
    off = [
        check.id
        for check in TABLES
        if check.verdict == "wrong" and "of 6ND" not in check.why and "approach 3" not in check.what
    ]
    assert off == []


def test_the_typing_error_of_table_a3_is_found() -> None:
    """The row of 175B says a tenth of its own 6ND, and no other row comes near that."""
    assert [check.id for check in TABLES if "0.100 of 6ND" in check.why] == ["chinchilla-3-175B"]


def test_ratio_is_ours_over_theirs() -> None:
    """Above one we find more than they print."""
    assert Checked("a", "b", "c", 2.0, 3.0, "", "wrong", "d").ratio == 1.5


@pytest.mark.parametrize(
    ("published", "ours", "verdict"),
    [
        ("40e9", 40.5e9, "holds"),
        ("40e9", 40.51e9, "close"),
        ("40e9", 39.5e9, "holds"),
        ("40e9", 38.0e9, "close"),
        ("40e9", 37.99e9, "wrong"),
        ("40.0e9", 40.06e9, "close"),
        ("0.5126", 0.51264, "holds"),
        ("0.5126", 0.51266, "close"),
        ("17", 17.5, "holds"),
        ("17", 17.6, "close"),
        ("17", 18.0, "wrong"),
        ("100", 100.4, "holds"),
        ("100", 105.0, "close"),
        ("-2.0", -2.04, "holds"),
        ("-2.0", 2.0, "wrong"),
        ("0", 0.4, "holds"),
        ("1.0", float("nan"), "wrong"),
        ("1.0", float("inf"), "wrong"),
    ],
)
def test_a_verdict_holds_to_half_the_last_printed_digit(published: str, ours: float, verdict: str) -> None:
    """Half a printed digit holds, its end included; five per cent is close, its end included; the rest is wrong."""
    assert claims.verdict(published, ours) == verdict


@pytest.mark.parametrize("published", ["40e9", "1.234e-5", "17", "0.0500", "5.10"])
def test_a_figure_rounded_as_printed_holds(published: str) -> None:
    """Whatever rounds to the printed digits in decimal holds."""
    place = Decimal(1).scaleb(int(Decimal(published).as_tuple().exponent))
    nearly = Decimal(published) + place * Decimal("0.49")
    assert (claims.verdict(published, float(nearly)), nearly.quantize(place, ROUND_HALF_UP)) == (
        "holds",
        Decimal(published),
    )


def test_a_published_zero_that_ours_is_not_is_wrong() -> None:
    """There is no ratio to zero, so the verdict is plain."""
    assert claims.verdict("0", 1.0) == "wrong"


def test_an_unknown_kind_is_no_check() -> None:
    """A row of a kind without a formula fails loudly."""
    row = {**ROWS["sardana-loss"], "kind": "guess"}
    with pytest.raises(tables.UnknownName, match="no kind of claim 'guess'"):
        claims.checked(row, claims.KINDS)


def test_a_missing_input_is_no_check() -> None:
    """A row without the number that its formula needs fails loudly."""
    row = {**ROWS["sardana-loss"], "n_tokens": ""}
    with pytest.raises(ValueError, match="Claim 'sardana-loss' needs a number in column n_tokens, not ''"):
        claims.checked(row, claims.KINDS)


def test_a_reader_s_own_claims_are_checked(tmp_path: Path) -> None:
    """A file of three columns and the inputs of its kind is judged like the package's own."""
    file = tmp_path / "claims.csv"
    file.write_text("id,kind,published,law,n_params,n_tokens\nmine,loss,1.98,besiroglu-2024,7e10,1.4e12\n")
    law = scaling.law("besiroglu-2024")
    (found,) = claims.check(file)
    assert found.recomputed == pytest.approx(float(scaling.loss(law, n_params=7e10, n_tokens=1.4e12)), rel=1e-12)
    assert (found.id, found.verdict) == ("mine", judged("1.98", found.recomputed))


def test_a_figure_that_is_far_off_gets_no_invented_reason() -> None:
    """Where a table gives no reason for a miss, none is made up."""
    row = {**ROWS["sardana-loss"], "published": "9.99", "note": ""}
    found = claims.checked(row, claims.KINDS)
    assert (found.verdict, found.why) == ("wrong", "no reason is noted")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,published\nmine,1.98\n", "needs id, kind, published; 'mine' lacks kind"),
        ("id,kind,published\nmine,los,1.98\n", "no kind of claim 'los'. Did you mean 'loss'?"),
        ("id,kind,published,law\nmine,loss,nan,besiroglu-2024\n", "'mine' needs a number in column n_params, not ''"),
        ("id,kind,published,law,n_params,n_tokens\nmine,loss,2.x,besiroglu-2024,1e9,2e10\n", "published, not '2.x'"),
        ("id,kind,published,law,n_params,n_tokens\nmine,loss,nan,besiroglu-2024,1e9,2e10\n", "published, not 'nan'"),
        ("id,kind,published,law,n_params,n_tokens\nmine,loss,1.9,besiroglu,1e9,2e10\n", "no law 'besiroglu'"),
        (
            "id,kind,published,law,n_params,n_tokens\nmine,loss,1.9,besiroglu-2024,-1,2e10\n",
            "n_params must be a positive",
        ),
        ("", "'claims.csv' is empty; it needs a header with id, kind, published"),
    ],
)
def test_a_claim_that_is_none_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    """One sentence names the claim and what it lacks."""
    file = tmp_path / "claims.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((ValueError, tables.UnknownName), match=re.escape(sentence)):
        claims.check(file)


def test_a_table_without_a_file_is_no_check(tmp_path: Path) -> None:
    """A folder and a name without a file each get the sentence that runs get."""
    with pytest.raises(ValueError, match="is a directory; give the CSV file of claims"):
        claims.check(tmp_path)
    with pytest.raises(
        ValueError, match=r"There is no file .* give the CSV file of claims with columns id, kind, published"
    ):
        claims.check(tmp_path / "none.csv")


# The memory table of the lesson on training cost.


def missed(name: str, reason: str) -> Any:
    """A figure that does not come out as printed."""
    return pytest.param(name, marks=pytest.mark.xfail(reason=reason))


@pytest.mark.parametrize(
    "name",
    [
        "checkpointing-compute",
        "weights-7b",
        "adamw-fp32-7b",
        "adamw-bf16-7b",
        "adam8bit-7b",
        "adam8bit-cut",
        missed("activations-7b-without", "Its readings go from half of the 80 GB to more than twice as much."),
        missed("activations-7b-with", "Its readings lie on both sides of the 12 GB."),
        missed("checkpointing-memory", "More of the activations is saved than 60%, and less of the whole peak."),
        missed("amp-activation-memory", "Casts eat the saving where scores are stored; without, it is a third."),
        missed("adam-7b-text", "Two FP32 moments of 7e9 parameters are 56 GB, not 28."),
        missed("adam-plus-weights-7b", "FP32 moments and BF16 weights of 7e9 parameters are 70 GB, not 56."),
        missed("adafactor-7b", "The row and column factors of a 7B model are megabytes, not 6 GB."),
        missed("adafactor-cut", "The factors of a 4096 x 11008 matrix save 99.97% of its second moment, not 90%."),
        missed("checkpoint-7b", "Weights, FP32 master weights and moments are 14 bytes a parameter: 98 GB, not 28."),
    ],
)
def test_a_figure_of_the_lesson_comes_out_as_printed(name: str) -> None:
    """Ours rounds to the printed digits; where it does not, the reason is the lesson's."""
    assert judged(ROWS[name]["published"], OURS[name]) == "holds"


def test_every_figure_of_the_lesson_is_in_the_test_above() -> None:
    """No row of the table goes untested."""
    (marked,) = test_a_figure_of_the_lesson_comes_out_as_printed.pytestmark  # type: ignore[attr-defined]
    named = [value if isinstance(value, str) else value.values[0] for value in marked.args[1]]
    assert sorted(named) == sorted(OURS)


@pytest.mark.parametrize(
    ("name", "bytes_per_param"),
    [
        ("weights-7b", 2),
        ("adam-7b-text", 4 + 4),
        ("adam-plus-weights-7b", 2 + 4 + 4),
        ("adamw-fp32-7b", 4 + 4),
        ("adamw-bf16-7b", 2 + 2),
        ("adam8bit-7b", 2 * (1 + 4 / 256)),
        ("checkpoint-7b", 2 + 4 + 4 + 4),
    ],
)
def test_states_are_so_many_bytes_a_parameter(name: str, bytes_per_param: float) -> None:
    """Weights, master weights and moments of 7e9 parameters, counted by hand."""
    assert OURS[name] == pytest.approx(7 * bytes_per_param, rel=1e-12)


def test_adafactor_keeps_a_row_and_a_column_of_each_matrix() -> None:
    """Llama-2 7B by hand: four matrices of attention, three of the feed-forward block, two of tokens; norms whole."""
    h, f, vocab = 4096, 11008, 32000
    n_numbers = 32 * (4 * (h + h) + 3 * (h + f) + 2 * h) + 2 * (vocab + h) + h
    assert OURS["adafactor-7b"] * GB == pytest.approx(4 * n_numbers, rel=1e-12)


def test_adafactor_saves_all_but_the_two_factors_of_a_matrix() -> None:
    """r + c numbers stand for r c."""
    assert OURS["adafactor-cut"] == pytest.approx(100 * (1 - (4096 + 11008) / (4096 * 11008)), rel=1e-12)


def test_recomputing_everything_but_the_head_is_a_little_less_than_a_third() -> None:
    """One forward pass of three, less the head's 2 V h of it, with attention's scores counted."""
    llama = architectures.named("llama-2-7b")
    forward = llama.flop_per_token(2048) / 3
    assert OURS["checkpointing-compute"] == pytest.approx(
        100 * (forward - 2 * llama.vocab * llama.hidden) / (3 * forward), rel=1e-12
    )


def reading(name: str, **changes: str) -> float:
    """One reading of a row, in its unit."""
    return claims.checked({**ROWS[name], "assumption": "", **changes}, claims.KINDS).recomputed


def test_activations_are_those_that_pytorch_counts() -> None:
    """Llama-2 7B, one sequence of 2,048, all in BF16: the tracker's, and the loss's two FP32 gradients of logits."""
    llama = architectures.named("llama-2-7b")
    tracked = next(
        float(row["after_forward_activation_bytes"])
        for row in tables.rows("tracked_memory.csv")
        if (row["architecture"], row["precision"], row["checkpointing"]) == ("llama-2-7b", "bf16", "none")
    )
    one = {"kind": "activations", "attention": "flash", "stack": "huggingface"}
    ours = reading("activations-7b-without", **one, micro_batch="1", precision="bf16") * GB
    gradients_of_logits = 2 * 4 * 2048 * llama.vocab
    assert ours == pytest.approx(tracked + gradients_of_logits, rel=1e-4)


def test_what_is_said_of_the_stacks_is_so() -> None:
    """Fused attention keeps half of the printed 80 GB in 16 bits, stored scores of Hugging Face twice as much."""
    name, fused = "activations-7b-without", {"kind": "activations", "attention": "flash"}
    kept = [reading(name, **fused, stack=stack) for stack in ("huggingface", "fsdp2", "megatron")]
    stored = reading(name, kind="activations", attention="eager", stack="huggingface")
    assert max(kept) < 80 < stored
    assert kept[1] / 80 == pytest.approx(0.5, rel=0.1)
    assert stored / 80 == pytest.approx(2, rel=0.1)


def test_checkpointing_saves_of_activations_what_its_own_rows_say() -> None:
    """The share is that of the two amounts above it, ours of ours."""
    one = {"attention": "flash", "stack": "huggingface"}
    kept, all_ = (
        reading(name, kind="activations", **one) for name in ("activations-7b-with", "activations-7b-without")
    )
    assert reading("checkpointing-memory", kind="activations_cut") == pytest.approx(100 * (1 - kept / all_), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "said", "of_printed"),
    [
        ("checkpointing-memory", "85%", lambda p: 100 * (1 - p["activations-7b-with"] / p["activations-7b-without"])),
        ("adam-plus-weights-7b", "42", lambda p: p["adam-7b-text"] + p["weights-7b"]),
        ("adam-plus-weights-7b", "56 GB", lambda p: p["adamw-fp32-7b"]),
    ],
)
def test_a_note_that_sets_printed_figures_against_each_other_counts_right(
    name: str, said: str, of_printed: Callable[[dict[str, float]], float]
) -> None:
    """Where the lesson contradicts itself, the note's number follows from the printed ones."""
    published = {check.id: check.published for check in MEMORY}
    assert said in ROWS[name]["note"]
    assert float(re.sub(r"[^\d.]", "", said)) == pytest.approx(of_printed(published), rel=1e-12)


def test_everything_checked_is_checked_together() -> None:
    """`check` returns every row of the table, and the rows of the papers' own tables."""
    found = {check.id: check for check in claims.check()}
    assert found == {check.id: check for check in ALL}


def test_a_reader_s_own_memory_claims_are_checked_in_their_unit(tmp_path: Path) -> None:
    """One file may hold claims of both tables, and a size in GiB is recomputed in GiB."""
    file = tmp_path / "claims.csv"
    file.write_text(
        "id,kind,published,unit,architecture,n_params,n_tokens\n"
        "weights,weights,25.1,GiB,llama-2-7b,,\n"
        "flop,training_flop,8.4e22,FLOP,,7e9,2e12\n"
    )
    assert [(found.id, found.verdict) for found in claims.check(file)] == [("weights", "holds"), ("flop", "holds")]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"unit": "TB"}, "no unit of memory 'TB'"),
        ({"unit": ""}, "no unit of memory ''"),
        ({"n_params": ""}, "'adam-7b-text' needs a number in column n_params, not ''"),
        ({"n_params": "0"}, "'adam-7b-text' needs a whole number from 1 to 1e+15 in column n_params, not '0'"),
        ({"n_params": "1.5"}, "a whole number from 1 to 1e+15 in column n_params, not '1.5'"),
        ({"n_params": "1e300"}, "a whole number from 1 to 1e+15 in column n_params, not '1e300'"),
        ({"optimizer": "adam"}, "no optimizer 'adam'. Did you mean 'adamw'?"),
        (
            {"optimizer": "adafactor"},
            "depends on the shapes of the weights: give an architecture, or n_rows",
        ),
        ({"precision": "bf8"}, "no precision 'bf8'"),
        ({"n_rows": "8"}, "'adam-7b-text' needs a number in column n_columns, not ''"),
        ({"n_params": "", "architecture": "llama-2-7"}, "no architecture 'llama-2-7'"),
        ({"kind": "activations", "architecture": "llama-2-7b"}, "needs a number in column micro_batch, not ''"),
    ],
)
def test_a_memory_claim_that_is_none_is_refused(changes: dict[str, str], sentence: str) -> None:
    """One sentence names what is wrong with an input."""
    with pytest.raises((ValueError, tables.UnknownName), match=re.escape(sentence)):
        claims.checked({**ROWS["adam-7b-text"], **changes}, claims.KINDS)
