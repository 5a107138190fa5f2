from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import Lab, errors, open_notebook, run_all, scroll_to, settle, watch_requests

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def memory(browser: Browser, lab: Lab, strangers: list[str]) -> Page:
    """Notebook 03 with every cell run and its panel in view."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    watch_requests(page, allowed=lab.address, into=strangers)
    open_notebook(page, lab, "03_precision_and_memory.ipynb")
    run_all(page)
    scroll_to(page, "panels.memory(")
    page.locator(".costkit-panel .costkit-picture").wait_for()
    return page


@pytest.fixture
def panel(memory: Page) -> Locator:
    """The panel of notebook 03, on the plan of a run whose memory was measured."""
    panel = memory.locator(".costkit-panel")
    panel.get_by_label("Start from").select_option("torchtitan-8b")
    settle(memory)
    expect(panel.locator(".costkit-headline")).to_contain_text("with 1 sequence of 8,192 tokens")
    expect(panel.locator(".costkit-alert")).to_have_count(0)
    return panel


def enter(panel: Locator, label: str, text: str) -> None:
    """Type over what a box holds, and wait for another answer."""
    said = panel.locator(".costkit-headline").inner_text()
    box = panel.get_by_label(label)
    box.fill(text)
    box.press("Enter")
    expect(panel.locator(".costkit-headline")).not_to_have_text(said)


def place(panel: Locator, what: str) -> list[float]:
    """Where a part of the panel stands within it, and how wide it is."""
    found: list[float] = panel.evaluate(
        """(one, what) => { const box = one.querySelector(what).getBoundingClientRect();
            const all = one.getBoundingClientRect(); return [box.left - all.left, box.top - all.top, box.width]; }""",
        what,
    )
    return found


def test_running_all_cells_of_memory_leaves_no_error(memory: Page) -> None:
    """A stranger who runs the notebook from top to bottom sees answers, no traceback and no warning."""
    assert errors(memory) == []


def test_the_two_of_a_group_stand_side_by_side(panel: Locator) -> None:
    """GPU and number share a row, neither over the other, and each has its name."""
    boxes = (
        panel.locator(".costkit-group")
        .first.locator(".costkit-control")
        .evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.right, box.bottom])"
        )
    )
    (_, right, bottom), (left, _, other) = boxes
    assert (right <= left, abs(bottom - other) < 2) == (True, True)
    unnamed = panel.locator("input, select").evaluate_all(
        "boxes => boxes.filter(box => !(box.labels?.length || box.ariaLabel)).map(box => box.outerHTML)"
    )
    assert unnamed == []


def test_the_picture_of_memory_stays_where_it_is(memory: Page, panel: Locator) -> None:
    """Whether it fits or not, with a measured peak or without, the picture does not move."""
    before = place(panel, ".costkit-picture")
    for label, text in (("Micro-batch", "2"), ("Micro-batch", "64"), ("Sequence length", "512")):
        enter(panel, label, text)
        assert place(panel, ".costkit-picture") == before
    assert errors(memory) == []


def test_a_format_that_the_gpu_lacks_keeps_the_picture(memory: Page, panel: Locator) -> None:
    """A V100 has no BF16: one sentence, and the picture of before."""
    picture = panel.locator(".costkit-picture").get_attribute("src") or ""
    panel.get_by_label("GPU", exact=True).select_option("V100-SXM2-16GB")
    expect(panel.locator(".costkit-alert")).to_contain_text("V100-SXM2-16GB does not have")
    expect(panel.locator(".costkit-picture")).to_have_attribute("src", picture)
    panel.get_by_role("button", name="Reset").click()
    expect(panel.locator(".costkit-alert")).to_have_count(0)
    assert errors(memory) == []


def test_memory_fetches_nothing_from_elsewhere(memory: Page, strangers: list[str]) -> None:
    """The notebook works on a machine that is not connected to anything."""
    assert memory.title()
    assert strangers == []
