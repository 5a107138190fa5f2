from __future__ import annotations

from typing import Any

import pytest

from costkit import levers, plan
from costkit.panels.controls import Control
from costkit.panels.made import control as made
from costkit.panels.order import OrderControl

KNOWN = tuple(levers.known())


class Heard:
    """What a control reported, edit by edit."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def __call__(self, control: Control) -> None:
        """Note what the control says."""
        self.values.append(control.value)


@pytest.fixture
def heard() -> Heard:
    """Nothing yet."""
    return Heard()


def order(value: str, heard: Heard) -> OrderControl:
    """The control of the levers' order, as a panel makes it."""
    control = made(plan.fields()["levers.order"], value, heard)
    assert isinstance(control, OrderControl)
    return control


def ticked(control: OrderControl) -> list[str]:
    """The names whose boxes are ticked, the least effort first."""
    return [name for name, box in control.boxes.items() if box.value]


def test_all_parts_show_one_order(heard: Heard) -> None:
    """The line, the tags and the ticks, each box called by its lever's label, and the line by the field's."""
    control = order("spot, bf16", heard)
    assert (control.box.value, control.tags.value, ticked(control)) == (
        "spot, bf16",
        ["spot", "bf16"],
        ["bf16", "spot"],
    )
    assert control.box.description == "Levers, in their order"
    assert [box.description for box in control.boxes.values()] == [one.label for one in levers.known().values()]


def test_an_empty_order_ticks_nothing_and_says_nothing_until_it_is_edited(heard: Heard) -> None:
    """The box says that the plan chooses; the first tick takes its place."""
    control = order("", heard)
    assert (control.value, control.box.value, heard.values) == ("", "", [])
    assert (control.tags.value, ticked(control)) == ([], [])
    assert control.box.placeholder == "all that pays, the least effort first"
    control.boxes["spot"].value = True
    assert heard.values == ["spot"]


def test_putting_an_order_reports_nothing(heard: Heard) -> None:
    """A plan that is opened is no edit, however many parts it moves."""
    control = order("spot, bf16", heard)
    for value in ("bf16, flash", "none", ""):
        control.put(value)
        assert control.value == value
    assert heard.values == []


def test_each_edit_is_reported_once(heard: Heard) -> None:
    """Though every part follows the one that was moved."""
    control = order("spot, bf16", heard)
    control.boxes["flash"].value = True
    control.tags.value = ["flash", "spot", "bf16"]
    control.tags.value = ["flash", "bf16"]
    control.boxes["flash"].value = False
    control.box.value = " compile, spot "
    assert heard.values == ["spot, bf16, flash", "flash, spot, bf16", "flash, bf16", "bf16", "compile, spot"]
    assert (control.tags.value, ticked(control)) == (["compile", "spot"], ["compile", "spot"])


def test_nothing_ticked_is_none_and_the_next_tick_is_alone(heard: Heard) -> None:
    """Which is another answer than an empty line."""
    control = order("spot", heard)
    control.boxes["spot"].value = False
    control.boxes["bf16"].value = True
    assert heard.values == ["none", "bf16"]
    control.tags.value = []
    assert (control.value, control.box.value) == ("none", "none")


def test_a_word_that_is_no_lever_stays_in_the_line(heard: Heard) -> None:
    """The tags can't hold it; whether it is allowed is the plan's to say."""
    control = order("spot", heard)
    control.box.value = "spot, flsh"
    assert heard.values == ["spot, flsh"]
    assert (control.box.value, control.tags.value) == ("spot, flsh", ["spot"])


def test_a_name_that_is_typed_twice_is_one_tag(heard: Heard) -> None:
    """The line keeps it, for the plan to refuse."""
    control = order("bf16", heard)
    control.box.value = "spot, spot"
    assert (control.value, control.tags.value) == ("spot, spot", ["spot"])
