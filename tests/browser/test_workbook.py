from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import errors, settle

pytestmark = pytest.mark.browser


def picture(panel: Locator) -> str:
    """The picture, as the page holds it."""
    return panel.locator(".costkit-picture").get_attribute("src") or ""


def headline(panel: Locator) -> str:
    """The sentence above the picture."""
    return panel.locator(".costkit-headline").inner_text()


@pytest.fixture(scope="module")
def opening(workbook: Page) -> tuple[str, str]:
    """Sentence and picture before anybody touches a control."""
    panel = workbook.locator(".costkit-panel")
    return headline(panel), picture(panel)


@pytest.fixture
def panel(workbook: Page, opening: tuple[str, str]) -> Locator:
    """The panel of notebook 01, as it opens."""
    panel = workbook.locator(".costkit-panel")
    panel.get_by_role("button", name="Reset").click()
    settle(workbook)
    expect_answer(panel, *opening)
    return panel


def expect_answer(panel: Locator, headline: str, picture: str) -> None:
    """Wait until the panel says and shows this, and complains of nothing."""
    expect(panel.locator(".costkit-headline")).to_have_text(headline)
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", picture)
    expect(panel.locator(".costkit-alert")).to_have_count(0)


def expect_another_answer(panel: Locator, headline: str, picture: str) -> None:
    """Wait until the panel says and shows something else."""
    expect(panel.locator(".costkit-headline")).not_to_have_text(headline)
    expect(panel.locator(".costkit-picture")).not_to_have_attribute("src", picture)


def first_box(panel: Locator) -> Locator:
    """The typed box of the first control that has a slider."""
    return panel.locator(".costkit-control:has(.noUi-handle) input").first


def enter(box: Locator, text: str) -> None:
    """Type over what a box holds."""
    box.fill(text)
    box.press("Enter")


def test_running_all_cells_leaves_no_error(workbook: Page) -> None:
    """A stranger who runs the notebook from top to bottom sees answers, no traceback and no warning."""
    assert errors(workbook) == []


def test_an_arrow_key_on_a_slider_gives_a_new_picture_and_sentence(
    workbook: Page, panel: Locator, opening: tuple[str, str]
) -> None:
    """The keyboard alone moves a control, and the answer follows."""
    panel.locator(".noUi-handle").first.press("ArrowRight")
    expect_another_answer(panel, *opening)
    assert errors(workbook) == []


def test_a_typed_number_gives_the_answer_of_the_slider(panel: Locator, opening: tuple[str, str]) -> None:
    """The typed box and the slider are one control: typing the slider's value gives the slider's answer."""
    panel.locator(".noUi-handle").first.press("ArrowRight")
    expect_another_answer(panel, *opening)
    moved, value = (headline(panel), picture(panel)), first_box(panel).input_value()
    panel.get_by_role("button", name="Reset").click()
    expect_answer(panel, *opening)
    enter(first_box(panel), value)
    expect_answer(panel, *moved)


def test_a_refused_number_keeps_the_last_good_picture(workbook: Page, panel: Locator, opening: tuple[str, str]) -> None:
    """Text that is no number shows one sentence; the picture stays, and the next good number clears the sentence."""
    good = first_box(panel).input_value()
    enter(first_box(panel), "-5 apples")
    expect(panel.locator(".costkit-alert")).to_be_visible()
    assert picture(panel) == opening[1]
    enter(first_box(panel), good)
    expect_answer(panel, *opening)
    assert errors(workbook) == []


def test_the_picture_stays_where_it_is(workbook: Page, panel: Locator) -> None:
    """Sentences of two lines or three, notes, and facts that come and go do not move the picture."""

    def place() -> list[float]:
        found: list[float] = panel.evaluate(
            """one => { const box = one.querySelector('.costkit-picture').getBoundingClientRect();
                const all = one.getBoundingClientRect(); return [box.left - all.left, box.top - all.top]; }"""
        )
        return found

    before = place()
    for label, text in (
        ("Tokens served", "1T"),
        ("Tokens served", "none"),
        ("Unique tokens", "100M"),
        ("Unique tokens", "inf"),
    ):
        said = headline(panel)
        enter(panel.get_by_label(label), text)
        expect(panel.locator(".costkit-headline")).not_to_have_text(said)
        assert place() == before
    for law in ("kaplan-2020", "besiroglu-2024"):
        said = headline(panel)
        panel.get_by_label("Scaling law").select_option(law)
        expect(panel.locator(".costkit-headline")).not_to_have_text(said)
        assert place() == before
    assert errors(workbook) == []


def test_every_control_has_a_name(panel: Locator) -> None:
    """A screen reader can say what each box and list is for."""
    unnamed = panel.locator("input, select").evaluate_all(
        "boxes => boxes.filter(box => !(box.labels?.length || box.ariaLabel)).map(box => box.outerHTML)"
    )
    assert unnamed == []


def test_the_picture_has_a_text(panel: Locator) -> None:
    """Whoever cannot see the picture hears what it says."""
    assert panel.locator(".costkit-picture").get_attribute("alt")


def test_nothing_is_fetched_from_elsewhere(workbook: Page, strangers: list[str]) -> None:
    """The workbook works on a machine that is not connected to anything."""
    assert workbook.title()
    assert strangers == []
