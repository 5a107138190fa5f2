import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from costkit import claims, scaling, tables
from costkit.claims import Checked

SCALING, TABLES = claims.scaling_checks(), claims.chinchilla_tables()
ROWS = {row["id"]: row for row in tables.rows("scaling_checks.csv")}
by_check = pytest.mark.parametrize("check", [*SCALING, *TABLES], ids=lambda check: check.id)


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


@by_check
def test_a_verdict_is_what_its_numbers_say(check: Checked) -> None:
    """No verdict is typed: each follows from the two figures beside it."""
    assert check.verdict == judged(printed(check), check.recomputed)


@by_check
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


@by_check
def test_only_what_rounding_explains_is_put_down_to_rounding(check: Checked) -> None:
    """A miss of more than a per cent is no rounding of figures that are printed to two digits or more."""
    assert "rounded" not in check.why or abs(check.ratio - 1) < 0.01


def test_no_figure_is_called_wrong_without_a_note() -> None:
    """Who is accused of an error is told which."""
    assert [check.id for check in SCALING if check.verdict == "wrong" and not ROWS[check.id]["note"]] == []


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
    """The table of checks and the formulas behind it name the same kinds."""
    assert {row["kind"] for row in ROWS.values()} == set(claims._KINDS)


def test_no_check_is_listed_twice() -> None:
    """Each row of the table of checks has a name of its own."""
    assert len(ROWS) == len(tables.rows("scaling_checks.csv")) == len(SCALING)


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
        claims._checked(row)


def test_a_missing_input_is_no_check() -> None:
    """A row without the number that its formula needs fails loudly."""
    row = {**ROWS["sardana-loss"], "n_tokens": ""}
    with pytest.raises(ValueError, match="Claim 'sardana-loss' needs a number in column n_tokens, not ''"):
        claims._checked(row)


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
    assert (claims._checked(row).verdict, claims._checked(row).why) == ("wrong", "no reason is noted")


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
        ValueError, match=r"There is no file .* give the CSV of claims with columns id, kind, published"
    ):
        claims.check(tmp_path / "none.csv")
