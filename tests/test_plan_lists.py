from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import levers, plan
from costkit.cli import main
from costkit.plan.lists import amounts, names

ORDER, LISTED = "levers.order", "case.listed_savings"
KNOWN = tuple(levers.known())
WAY_OUT = "savings multiply and never add: give each as what it saves of what is left"
FORMAT = "case.listed_savings is written name=amount, with commas between, such as spot=25000; not "


def read(key: str, given_value: object) -> object:
    """What the default plan holds once the key is overridden."""
    return plan.read("case-50k", {key: given_value}).value(key)


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        ("spot, bf16", "spot, bf16"),
        ("  bf16 ,spot,", "bf16, spot"),
        (["spot", "bf16"], "spot, bf16"),
        (("spot",), "spot"),
        ("none", "none"),
        ([], "none"),
        ("", ""),
        (None, ""),
    ],
)
def test_an_order_is_held_as_plain_text(given_value: object, text: str) -> None:
    """Text, a list, none of them, or nothing said."""
    assert read(ORDER, given_value) == text


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        ("spot=25000, bf16=8000", "spot=25000, bf16=8000"),
        ("spot = $25k,bf16=$8,000", "spot=25000, bf16=8000"),
        ("spot=25,000,bf16=1,250.5", "spot=25000, bf16=1250.5"),
        ("", ""),
    ],
)
def test_amounts_are_held_as_plain_numbers(given_value: object, text: str) -> None:
    """Dollar signs, suffixes and thousands are understood, and gone."""
    assert read(LISTED, given_value) == text


@pytest.mark.parametrize(
    ("key", "given_value", "sentence"),
    [
        (ORDER, "flsh", "levers.order names no lever 'flsh'. Did you mean 'flash'?"),
        (ORDER, "spot, spot", "levers.order names 'spot' twice: once is enough"),
        (ORDER, ["spot", "bf16", "spot", "spot"], "levers.order names 'spot' 3 times: once is enough"),
        (ORDER, "none, spot, bf16", "levers.order is both 'none' and spot, bf16: leave one of the two out"),
        (ORDER, "none, none", "levers.order names 'none' twice: once is enough"),
        (ORDER, ["spot", 3], "levers.order must be names in quotes, not 3"),
        (ORDER, 3, "levers.order must be text in quotes, not 3"),
        (LISTED, "flsh=3", "case.listed_savings names no lever 'flsh'. Did you mean 'flash'?"),
        (LISTED, "spot=1, spot=2", "case.listed_savings names 'spot' twice: once is enough"),
        (LISTED, "spot", f"{FORMAT}'spot'"),
        (LISTED, "spot=", f"{FORMAT}'spot='"),
        (LISTED, "=5", f"{FORMAT}'=5'"),
        (LISTED, "spot=25000, 12", f"{FORMAT}'12'"),
        *(
            (
                LISTED,
                f"spot={amount}",
                f"case.listed_savings gives '{amount}' for spot: it must be US dollars above 0, such as 25000",
            )
            for amount in ("0", "-5", "lots", "25%", "inf", "nan", "none", "1e400")
        ),
        (
            LISTED,
            "spot=50000",
            f"case.listed_savings: the listed savings come to $50,000, 100% of the bill of $50,000; {WAY_OUT}",
        ),
        (
            "case.published_usd",
            None,
            "case.listed_savings are of a bill: give case.published_usd as well, the bill before them",
        ),
    ],
)
def test_a_list_that_is_none_is_refused_in_one_sentence(key: str, given_value: object, sentence: str) -> None:
    """The key, what was given, and the way out."""
    with pytest.raises(plan.PlanError, match=f"^{re.escape(sentence)}$"):
        plan.read("case-50k", {key: given_value})


@given(st.lists(st.sampled_from(KNOWN), unique=True, min_size=1))
def test_names_come_back_in_their_order(chosen: list[str]) -> None:
    """From the text that a plan holds, as from the list that was given."""
    text = str(read(ORDER, chosen))
    assert names(text) == tuple(chosen)
    assert read(ORDER, text) == text


@given(st.dictionaries(st.sampled_from(KNOWN), st.floats(0.01, 3000), min_size=1))
def test_amounts_come_back_as_they_were_given(saved_usd: dict[str, float]) -> None:
    """To 15 digits, in their order; and the text that a plan holds means itself."""
    text = str(read(LISTED, ", ".join(f"{name}={usd!r}" for name, usd in saved_usd.items())))
    assert list(amounts(text)) == list(saved_usd)
    assert amounts(text) == pytest.approx(saved_usd, rel=1e-14)
    assert read(LISTED, text) == text


@pytest.mark.parametrize("text", ["spot,flash", '"spot, flash"', " spot , flash "])
def test_an_order_is_set_on_the_command_line(text: str) -> None:
    """With or without the quotes of a plan file."""
    overrides = plan.parse_overrides([f"{ORDER}={text}"])
    assert plan.read("case-50k", overrides).levers.order == "spot, flash"


def test_a_plan_file_may_hold_a_list(tmp_path: Path) -> None:
    """As TOML writes one; it is saved as text, and reads back."""
    path = tmp_path / "mine.toml"
    text = plan.read("case-50k").save(path).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("order = "))
    path.write_text(text.replace(line, 'order = ["bf16", "spot"]'), encoding="utf-8")
    found = plan.read(path)
    assert found.levers.order == "bf16, spot"
    assert plan.read(found.save(tmp_path / "again.toml")) == found
    assert plan.read(found.token()).levers.order == "bf16, spot"


def test_the_default_plan_tells_the_lesson_s_five_levers() -> None:
    """In its order, with what each is said to have saved."""
    default = plan.read("case-50k")
    listed = levers.listed(default.case.published_usd or 0, amounts(default.case.listed_savings))
    assert names(default.levers.order) == tuple(listed.saved_usd)
    assert (listed.sum_usd, listed.added_usd) == (46_000, 4_000)
    assert {default.sources[key].source for key in (ORDER, LISTED)} == {"cost-lesson"}


def test_an_order_can_be_edited_by_name() -> None:
    """A panel is told its kind and the names that there are, the least effort first."""
    field = plan.fields()[ORDER]
    assert (field.kind, field.choices, field.default) == ("names", KNOWN, "")


def test_the_keys_of_levers_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """On the command line, by the word."""
    assert main(["plan", "keys", "levers"]) == 0
    assert ORDER in capsys.readouterr().out


@pytest.mark.parametrize("gbit_per_s", [0.1, 1e5])
def test_a_node_s_network_is_a_number(gbit_per_s: float) -> None:
    """Within what there is; 400 Gbit/s where nothing is said."""
    assert read("hardware.node_gbit_per_s", gbit_per_s) == gbit_per_s
    assert plan.fields()["hardware.node_gbit_per_s"].default == 400.0


def test_every_order_of_a_packaged_plan_is_written_as_it_is_held() -> None:
    """So that saving a plan does not change the line."""
    for name in plan.names():
        found = plan.read(name)
        if found.origin and (order := tomllib.loads(found.origin.read_text()).get("levers", {}).get("order")):
            assert order == found.levers.order, name
