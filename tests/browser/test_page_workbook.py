from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab, errors, open_notebook, run_all, scroll_to, settle, watch_requests

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def workbook(browser: Browser, lab: Lab, strangers: list[str]) -> Page:
    """Notebook 00 with every cell run and its panel in view."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    watch_requests(page, allowed=lab.address, into=strangers)
    open_notebook(page, lab, "00_plan_on_a_page.ipynb")
    run_all(page)
    scroll_to(page, "panels.page(answer")
    page.locator(".costkit-panel .costkit-picture").wait_for()
    return page


@pytest.fixture
def panel(workbook: Page) -> Locator:
    """The panel of notebook 00, as it opens."""
    panel = workbook.locator(".costkit-panel")
    panel.get_by_role("button", name="Reset").click()
    settle(workbook)
    expect(panel.locator(".costkit-headline")).to_contain_text("costs $42,279 and takes 18.0 days")
    expect(box(panel, "Deadline")).to_have_value("")  # it alone leaves the sentence as it is
    return panel


def box(panel: Locator, label: str) -> Locator:
    """The typed box whose label begins so."""
    return panel.get_by_label(re.compile(rf"^{label}\b")).and_(panel.get_by_role("textbox"))


def enter(panel: Locator, label: str, text: str) -> None:
    """Type over what a box holds."""
    box(panel, label).fill(text)
    box(panel, label).press("Enter")


def test_running_all_cells_of_the_page_leaves_no_error(workbook: Page) -> None:
    """A stranger who runs the notebook from top to bottom sees answers, no traceback and no warning."""
    assert errors(workbook) == []


@pytest.mark.parametrize(
    ("label", "text", "said"),
    [
        ("GPUs", "64", "takes 8.99 days"),
        ("Price", "24 per 8-GPU node", "costs $41,4"),
        ("MFU", "", " to "),
        ("Deadline", "12", "18.0 days"),
    ],
)
def test_what_is_typed_is_answered(workbook: Page, panel: Locator, label: str, text: str, said: str) -> None:
    """A number as people write it, an empty box for published runs: the sentence follows."""
    if label == "MFU":
        enter(panel, "Goodput", "")
    enter(panel, label, text)
    expect(panel.locator(".costkit-headline")).to_contain_text(said)
    assert errors(workbook) == []


def test_what_is_refused_is_one_sentence(workbook: Page, panel: Locator) -> None:
    """An MFU above 1 keeps the picture, and says what is allowed."""
    before = panel.locator(".costkit-picture").get_attribute("src") or ""
    enter(panel, "MFU", "145%")
    expect(panel.locator(".costkit-alert")).to_contain_text("MFU")
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", before)
    assert errors(workbook) == []


def test_a_published_run_shows_what_it_took(workbook: Page, panel: Locator) -> None:
    """Starting from MPT-7B, its hours and dollars stand beside the estimate."""
    panel.get_by_label("Start from").select_option("mpt-7b")
    took = panel.locator(".costkit-facts > div").filter(has=workbook.get_by_text("What it took", exact=True))
    expect(took.locator("dd")).to_contain_text("100,000 GPU-hours, $201K at this price")
    expect(panel.locator(".costkit-headline")).to_contain_text("440 A100-SXM4-40GB")
    assert errors(workbook) == []
