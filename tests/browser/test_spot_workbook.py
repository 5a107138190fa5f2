from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab, errors, open_notebook, run_all, scroll_to, settle, watch_requests

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def spot(browser: Browser, lab: Lab, strangers: list[str]) -> Page:
    """Notebook 02 with every cell run and its panel in view."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    watch_requests(page, allowed=lab.address, into=strangers)
    open_notebook(page, lab, "02_spot_savings.ipynb")
    run_all(page)
    scroll_to(page, "panels.spot(")
    page.locator(".costkit-panel .costkit-picture").wait_for()
    return page


def headline(panel: Locator) -> str:
    """The sentence above the picture."""
    return panel.locator(".costkit-headline").inner_text()


def picture(panel: Locator) -> str:
    """The picture, as the page holds it."""
    return panel.locator(".costkit-picture").get_attribute("src") or ""


@pytest.fixture(scope="module")
def opening(spot: Page) -> tuple[str, str]:
    """Sentence and picture before anybody touches a control."""
    panel = spot.locator(".costkit-panel")
    return headline(panel), picture(panel)


@pytest.fixture
def panel(spot: Page, opening: tuple[str, str]) -> Locator:
    """The panel of notebook 02, as it opens."""
    panel = spot.locator(".costkit-panel")
    panel.get_by_role("button", name="Reset").click()
    settle(spot)
    expect(panel.locator(".costkit-headline")).to_have_text(opening[0])
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", opening[1])
    expect(panel.locator(".costkit-alert")).to_have_count(0)
    return panel


def enter(panel: Locator, label: str, text: str) -> None:
    """Type over what a box holds."""
    box = panel.get_by_label(label)
    box.fill(text)
    box.press("Enter")


def test_running_all_cells_of_spot_leaves_no_error(spot: Page) -> None:
    """A stranger who runs the notebook from top to bottom sees answers, no traceback and no warning."""
    assert errors(spot) == []


def test_the_panel_opens_with_the_answer_of_the_page(spot: Page, opening: tuple[str, str]) -> None:
    """The sentence of the first cell is the one above the panel's picture."""
    assert opening[0].startswith("Spot saves ")
    first = spot.evaluate(
        """() => { const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells;
            return cells.flatMap(cell => cell.outputs ?? []).map(one => one.data?.['text/plain'] ?? '')
                .map(text => Array.isArray(text) ? text.join('') : text).find(text => text.startsWith('Spot ')); }"""
    )
    assert first.startswith(opening[0])


@pytest.mark.parametrize(
    ("label", "text", "said"),
    [
        ("Spot discount", "30", "Spot saves 2"),
        ("Mean life of a node", "1.2", "practically never finishes"),
        ("Checkpoint every", "unlimited", "Without checkpoints this run practically never finishes"),
        ("Deadline", "21", "miss the deadline of 21.0 days"),
        ("Notices acted on", "100%", "Spot saves 58%"),
    ],
)
def test_what_is_typed_is_answered(spot: Page, panel: Locator, label: str, text: str, said: str) -> None:
    """A number as people write it, a word for no end: the sentence and the picture follow."""
    before = picture(panel)
    enter(panel, label, text)
    expect(panel.locator(".costkit-headline")).to_contain_text(said)
    expect(panel.locator(".costkit-picture")).not_to_have_attribute("src", before)
    assert errors(spot) == []


def test_every_slider_of_spot_moves_the_headline(spot: Page, panel: Locator, opening: tuple[str, str]) -> None:
    """The keyboard alone moves each of them, and the answer follows."""
    handles = panel.locator(".noUi-handle")
    for i in range(handles.count()):
        handles.nth(i).press("ArrowLeft")
        try:
            expect(panel.locator(".costkit-headline")).not_to_have_text(opening[0], timeout=3_000)
        except AssertionError:
            handles.nth(i).press("ArrowRight")
            handles.nth(i).press("ArrowRight")
            expect(panel.locator(".costkit-headline")).not_to_have_text(opening[0])
        panel.get_by_role("button", name="Reset").click()
        expect(panel.locator(".costkit-headline")).to_have_text(opening[0])
    assert errors(spot) == []


def test_a_typed_value_gives_the_answer_of_the_slider(panel: Locator, opening: tuple[str, str]) -> None:
    """The typed box and the slider are one control: typing the slider's value gives the slider's picture."""
    control = panel.locator(".costkit-control:has(.noUi-handle)").first
    control.locator(".noUi-handle").press("ArrowLeft")
    expect(panel.locator(".costkit-headline")).not_to_have_text(opening[0])
    moved, value = picture(panel), control.locator("input").first.input_value()
    panel.get_by_role("button", name="Reset").click()
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", opening[1])
    control.locator("input").first.fill(value)
    control.locator("input").first.press("Enter")
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", moved)


@pytest.mark.parametrize(
    ("label", "text"), [("Checkpoint every", "60%"), ("Spot discount", "100%"), ("Nodes lost at once", "9")]
)
def test_what_spot_refuses_keeps_the_picture(
    spot: Page, panel: Locator, opening: tuple[str, str], label: str, text: str
) -> None:
    """One sentence that names the control, and the picture of before."""
    enter(panel, label, text)
    expect(panel.locator(".costkit-alert")).to_contain_text(label)
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", opening[1])
    assert errors(spot) == []


def test_the_picture_of_spot_stays_where_it_is(spot: Page, panel: Locator) -> None:
    """Whether it saves or never ends, with a deadline or without, the picture does not move."""

    def place() -> list[float]:
        found: list[float] = panel.evaluate(
            """one => { const box = one.querySelector('.costkit-picture').getBoundingClientRect();
                const all = one.getBoundingClientRect(); return [box.left - all.left, box.top - all.top]; }"""
        )
        return found

    before = place()
    for label, text in (("Deadline", "21"), ("Mean life of a node", "1"), ("Mean life of a node", "200")):
        said = headline(panel)
        enter(panel, label, text)
        expect(panel.locator(".costkit-headline")).not_to_have_text(said)
        assert place() == before
    assert errors(spot) == []


def test_every_control_of_spot_has_a_name(panel: Locator) -> None:
    """A screen reader can say what each box and list is for, and what the picture shows."""
    unnamed = panel.locator("input, select").evaluate_all(
        "boxes => boxes.filter(box => !(box.labels?.length || box.ariaLabel)).map(box => box.outerHTML)"
    )
    assert unnamed == []
    assert (panel.locator(".costkit-picture").get_attribute("alt") or "").startswith("Spot saves ")


def test_another_plan_is_one_choice(spot: Page, panel: Locator) -> None:
    """A plan that cannot end on spot is told so, in the panel of one that can."""
    panel.get_by_label("Start from").select_option("llama-3-8b")
    expect(panel.locator(".costkit-headline")).to_contain_text("practically never finishes")
    assert errors(spot) == []


def test_spot_fetches_nothing_from_elsewhere(spot: Page, strangers: list[str]) -> None:
    """The notebook works on a machine that is not connected to anything."""
    assert spot.title()
    assert strangers == []
