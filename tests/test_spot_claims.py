import math
import re
from decimal import Decimal
from pathlib import Path

import pytest

from costkit import claims, tables
from costkit.claims import Checked, spot
from tests.test_claims import wide

CHECKS = claims.spot_checks()
ROWS = {row["id"]: wide(row) for row in tables.rows("claims.csv") if row["topic"] == "spot"}
OURS = {check.id: check.recomputed for check in CHECKS}
by_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
by_row = pytest.mark.parametrize("name", ROWS)
ABOUT = {"id", "topic", "kind", "inputs", "published", "unit", "what", "assumption", "source", "as_of", "note"}
INPUTS = sorted({name for row in ROWS.values() for name in row} - ABOUT)


def judged(published: str, ours: float) -> str:
    """A verdict by another road: our number in decimal against half the last printed place."""
    place = Decimal(1).scaleb(int(Decimal(published).as_tuple().exponent))
    if abs(Decimal(ours) - Decimal(published)) * 2 <= place:
        return "holds"
    return "close" if abs(Decimal(ours) / Decimal(published) - 1) <= Decimal("0.05") else "wrong"


def csv_of(*rows: dict[str, str]) -> str:
    """A reader's own file of claims: the columns that these rows fill."""
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value))
    lines = [",".join('"' + row.get(name, "").replace('"', '""') + '"' for name in names) for row in rows]
    return "\n".join([",".join(names), *lines]) + "\n"


# Verdicts.


@by_check
def test_a_verdict_on_spot_is_what_its_numbers_say(check: Checked) -> None:
    """No verdict is typed: each follows from the two figures beside it."""
    assert check.verdict == judged(ROWS[check.id]["published"], check.recomputed)


@by_check
def test_a_check_of_spot_shows_figure_source_and_reason(check: Checked) -> None:
    """The number is the one of the table, its source can be looked up, and a clause explains the verdict."""
    row = ROWS[check.id]
    assert (check.published, check.unit, check.what) == (float(row["published"]), row["unit"], row["what"])
    assert check.source in tables.sources()
    assert check.why.strip()


def test_no_figure_of_spot_is_called_wrong_without_a_note() -> None:
    """Who is accused of an error is told which; whoever is merely close, too."""
    missed = [check.id for check in CHECKS if check.verdict != "holds"]
    assert [name for name in missed if not ROWS[name]["note"]] == []


def test_the_figures_of_spot_called_wrong_are_these() -> None:
    """A share that contradicts its own counts, and one that is half and printed as 60%."""
    assert [check.id for check in CHECKS if check.verdict == "wrong"] == ["llama-3-share-gpu", "spot-share"]


def test_every_kind_of_spot_is_used_and_every_one_used_is_known() -> None:
    """The table of checks and the formulas behind it name the same kinds."""
    assert {row["kind"] for row in ROWS.values()} == set(spot.KINDS)


def test_the_kinds_of_spot_are_among_all() -> None:
    """A reader's file may hold them beside those of scaling laws and memory, and none hides another."""
    assert {kind: claims.KINDS[kind] for kind in spot.KINDS} == dict(spot.KINDS)


def test_no_check_of_spot_is_listed_twice() -> None:
    """Each row has a name of its own."""
    assert len(ROWS) == len(CHECKS)


def test_checks_of_spot_are_among_all() -> None:
    """`check` without a file recomputes them too."""
    found = {check.id: check for check in claims.check()}
    assert [found[check.id] for check in CHECKS] == CHECKS


# By hand.


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("spot-18-days", 32 * 18 * 24 * 1.22),
        ("spot-saving", 32 * 18 * 24 * (3.06 - 1.22)),
        ("spot-saving-fraction", 100 * (1 - 1.22 / 3.06)),
        ("spot-share", 100 * 25_000 / 50_000),
        ("restart-loss", 32 * 2 * 2 * 1.22),
        ("bloom-hours", 720 * 40 / 3600),
        ("bloom-overhead", 100 * 40 / (3 * 3600)),
        ("break-even-250h", 250 * (1 - 1.45 / 4.10)),
        ("break-even-720h", 720 * (1 - 0.95 / 2.30)),
        ("fallback-usd-250h", 250 * 1.45 + 12 * 4.10),
        ("fallback-saving-250h", 100 * (1 - (250 * 1.45 + 12 * 4.10) / (250 * 4.10))),
        ("fallback-usd-720h", 720 * 0.95 + 48 * 2.30),
        ("fallback-saving-720h", 100 * (1 - (720 * 0.95 + 48 * 2.30) / (720 * 2.30))),
        ("clean-run-48h", 100 * math.exp(-0.15 * 48.5)),
        ("no-checkpoint-10h", 0.3325 / 0.15 * math.expm1(0.15 * 10.5)),
        ("llama-3-mtti", 54 * 24 / 419),
        ("llama-3-gpu-life", 54 * 24 * 16384 / 419),
        ("llama-3-share-gpu", 100 * 148 / 419),
        ("llama-3-share-software", 100 * 54 / 419),
        ("rsc-1-16384", 1000 * 24 / 6.50 / (16384 / 8)),
    ],
)
def test_a_figure_of_spot_is_recomputed_as_by_hand(name: str, by_hand: float) -> None:
    """The formula of its kind is the one that a reader would write down."""
    assert OURS[name] == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize(("name", "life_h"), [("daly-24h", 24.0), ("daly-6h", 6.0), ("daly-15min", 0.25)])
def test_daly_s_interval_is_his_higher_order_formula(name: str, life_h: float) -> None:
    """sqrt(2 delta M) [1 + sqrt(x) / 3 + x / 9] - delta with x = delta / 2M, in minutes."""
    M, delta = 60 * life_h, 5.0
    x = delta / (2 * M)
    tau = math.sqrt(2 * delta * M) * (1 + math.sqrt(x) / 3 + x / 9) - delta
    assert OURS[name] == pytest.approx(tau, rel=1e-9)


# A reader's own file.


def test_a_reader_s_file_gives_the_same_verdicts(tmp_path: Path) -> None:
    """All rows of the table as a file of one's own are judged like the package's."""
    file = tmp_path / "claims.csv"
    file.write_text(csv_of(*map(dict, ROWS.values())), encoding="utf-8")
    assert claims.check(file) == CHECKS


@pytest.mark.parametrize("kind", spot.KINDS)
def test_each_kind_of_spot_is_checked_from_a_reader_s_file(kind: str, tmp_path: Path) -> None:
    """A claim of three columns and the inputs of its kind has the value of the table's row."""
    row = next(dict(row) for row in ROWS.values() if row["kind"] == kind)
    file = tmp_path / "claims.csv"
    file.write_text(csv_of({"id": "mine", **{name: row.get(name, "") for name in ("kind", "published", *INPUTS)}}))
    (found,) = claims.check(file)
    assert found.recomputed == OURS[row["id"]]
    assert (found.id, found.verdict) == ("mine", judged(row["published"], found.recomputed))


@by_row
def test_a_missing_input_of_spot_is_one_sentence(name: str) -> None:
    """Whichever of its inputs a claim lacks, the sentence names claim and column; a factor may be left out."""
    row = dict(ROWS[name])
    for column in (one for one in INPUTS if row.get(one) and one != "time_factor"):
        sentence = f"Claim '{name}' needs a number in column {column}, not ''."
        with pytest.raises(ValueError, match=re.escape(sentence)):
            claims.checked({**row, column: ""}, claims.KINDS)


@by_row
@pytest.mark.parametrize("text", ["many", "nan", "inf", "1,5"])
def test_an_input_of_spot_that_is_no_number_is_one_sentence(name: str, text: str) -> None:
    """What is no finite number is quoted."""
    row = dict(ROWS[name])
    column = next(one for one in INPUTS if row.get(one))
    with pytest.raises(ValueError, match=re.escape(f"Claim '{name}' needs a number in column")) as error:
        claims.checked({**row, column: text}, claims.KINDS)
    assert (f"not '{text}'." in str(error.value), "\n" in str(error.value)) == (True, False)


@by_row
def test_a_nought_among_the_inputs_is_a_value_or_one_sentence(name: str) -> None:
    """No input of 0 or below ends in a traceback of another kind."""
    row = dict(ROWS[name])
    for column in (one for one in INPUTS if row.get(one)):
        for text in ("0", "-1"):
            try:
                found = claims.checked({**row, column: text}, claims.KINDS)
            except ValueError as error:
                assert "\n" not in str(error)  # noqa: PT017 - both ways out are right
            else:
                assert found.verdict in {"holds", "close", "wrong"}


def test_a_kind_that_is_misspelt_is_named() -> None:
    """With the nearest that there is."""
    with pytest.raises(tables.UnknownName, match=r"no kind of claim 'restart_us'\. Did you mean 'restart_usd'\?"):
        claims.checked({**ROWS["restart-loss"], "kind": "restart_us"}, claims.KINDS)
