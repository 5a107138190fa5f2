from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab, errors, open_notebook, run_all, scroll_to, settle, watch_requests

pytestmark = pytest.mark.browser
END = re.compile(r"end at \$21,377")
STORY = "spot, bf16, checkpointing, adamw-8bit, compute-optimal"


@pytest.fixture(scope="module")
def workbook(browser: Browser, lab: Lab, strangers: list[str]) -> Page:
    """Notebook 04 with every cell run and the panel of levers in view."""
    page = browser.new_page(viewport={"width": 1400, "height": 1100})
    watch_requests(page, allowed=lab.address, into=strangers)
    open_notebook(page, lab, "04_case_50k_to_11k8.ipynb")
    run_all(page)
    scroll_to(page, "panels.replan(answer")
    page.locator(".costkit-panel .costkit-picture").wait_for()
    return page


@pytest.fixture
def panel(workbook: Page) -> Locator:
    """The panel of levers, as it opens."""
    scroll_to(workbook, "panels.replan(answer")
    panel = workbook.locator(".costkit-panel").filter(has=workbook.locator(".costkit-order"))
    panel.get_by_role("button", name="Reset").click()
    settle(workbook)
    expect(panel.locator(".costkit-headline")).to_contain_text(END)
    expect(panel.get_by_label("Levers, in their order")).to_have_value(STORY)  # a drag leaves the sentence as it is
    return panel


def tags(panel: Locator) -> list[str]:
    """The names of the tags, in their order."""
    return [text.strip() for text in panel.locator(".jupyter-widget-tag[draggable=true]").all_inner_texts()]


def test_running_all_cells_of_the_case_leaves_no_error(workbook: Page) -> None:
    """A stranger who runs the notebook from top to bottom sees answers, no traceback and no warning."""
    assert errors(workbook) == []


def test_the_title_is_read_as_money(workbook: Page) -> None:
    """Its dollars are no mathematics."""
    scroll_to(workbook, "# How much cheaper")
    expect(workbook.locator("h1")).to_have_text(re.compile(r"what of the story of a \$50,000 run is true\?"))


def test_a_lever_is_ticked_and_stands_at_the_end(panel: Locator) -> None:
    """A tick pulls a lever after the others, and the answer follows."""
    panel.get_by_label("FlashAttention").check()
    expect(panel.locator(".costkit-headline")).not_to_contain_text(END)
    assert tags(panel)[-1] == "flash"


def test_a_lever_is_unticked(panel: Locator) -> None:
    """Without its tick a lever is gone from the order."""
    panel.get_by_label("Spot machines").uncheck()
    expect(panel.locator(".costkit-headline")).not_to_contain_text("is price")
    assert "spot" not in tags(panel)


def test_a_tag_is_dragged_into_order(panel: Locator) -> None:
    """Dragging changes the order, the credit in the picture, and not the end."""
    before = panel.locator(".costkit-picture").get_attribute("src")
    found = panel.locator(".jupyter-widget-tag[draggable=true]")
    found.nth(1).drag_to(found.nth(0))
    expect(panel.locator(".costkit-picture")).not_to_have_attribute("src", before or "")
    expect(panel.locator(".costkit-headline")).to_contain_text(END)
    assert tags(panel)[:2] == ["bf16", "spot"]


def test_levers_are_typed_from_the_keyboard(panel: Locator) -> None:
    """Names that are typed are the order: tags, ticks and answer follow."""
    field = panel.get_by_label("Levers, in their order")
    field.fill("compile, spot")
    field.press("Enter")
    expect(panel.locator(".costkit-headline")).not_to_contain_text(END)
    expect(panel.get_by_label("torch.compile")).to_be_checked()
    assert tags(panel) == ["compile", "spot"]


def test_levers_are_typed_in_one_box_with_a_label(panel: Locator) -> None:
    """Clicking on a tag opens no second one."""
    panel.locator(".jupyter-widget-tag").first.click(position={"x": 5, "y": 5})
    expect(panel.locator(".costkit-order input:not([type=checkbox]):visible")).to_have_count(1)


def test_a_lever_that_there_is_not_is_refused_in_a_sentence(panel: Locator) -> None:
    """The picture stays, and the sentence names the nearest lever."""
    field = panel.get_by_label("Levers, in their order")
    field.fill("spot, flsh")
    field.press("Enter")
    expect(panel.locator(".costkit-alert")).to_contain_text("no lever 'flsh'. Did you mean 'flash'?")
    expect(panel.locator(".costkit-headline")).to_contain_text(END)


def test_the_ledger_is_sorted_filtered_and_searched(workbook: Page) -> None:
    """The table of claims follows its three controls."""
    scroll_to(workbook, "panels.ledger(ledger")
    ledger = workbook.locator(".costkit-panel").filter(has=workbook.locator(".costkit-ledger"))
    ledger.get_by_label("Verdict").select_option("close")
    expect(ledger.locator(".costkit-headline")).to_have_text(re.compile("^Of 7 claims"))
    search = ledger.get_by_label("Search")
    search.fill("spot")
    search.press("Enter")
    expect(ledger.locator("tbody tr")).to_have_count(3)
