from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.lab import watch_requests

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that the command writes for notebook 01."""
    folder = tmp_path_factory.mktemp("report")
    command = [str(Path(sys.executable).with_name("costkit")), "report", "01_chinchilla_frontier", "-o", str(folder)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder / "01_chinchilla_frontier.html"


@pytest.fixture(scope="module")
def page(browser: Browser, report: Path, strangers: list[str]) -> Iterator[Page]:
    """The report in a browser that has no network at all."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    watch_requests(page, allowed=report.as_uri(), into=strangers)
    page.goto(report.as_uri())
    yield page
    context.close()


def test_a_report_asks_for_nothing(page: Page, strangers: list[str]) -> None:
    """Opened from disk, the page makes no request but for itself."""
    assert page.title()
    assert strangers == []


def test_a_report_holds_no_script(page: Page) -> None:
    """What somebody signs does not change when it is opened."""
    assert page.locator("script").count() == 0


def test_every_picture_of_a_report_is_drawn_and_has_a_text(page: Page) -> None:
    """Pictures are in the file itself, and each says in words what it shows."""
    images = page.locator("img").evaluate_all(
        "all => all.map(image => [image.naturalWidth > 0, image.alt.trim() !== ''])"
    )
    assert images
    assert [image for image in images if image != [True, True]] == []


def test_a_report_shows_no_widget_in_place_of_a_picture(page: Page) -> None:
    """A control is dead without a kernel, so none is shown."""
    assert page.locator(".jupyter-widgets, .widget-slider").count() == 0


@pytest.mark.parametrize("width", [400, 1000, 1400])
def test_a_report_is_as_wide_as_the_window(page: Page, width: int) -> None:
    """Whatever is wider than the window scrolls in a place of its own."""
    page.set_viewport_size({"width": width, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    too_wide = page.locator("main > *, figcaption").evaluate_all(
        "(all, width) => all.filter(one => one.getBoundingClientRect().right > width + 1).map(one => one.outerHTML)",
        width,
    )
    assert too_wide == []


def test_a_picture_can_be_read_on_a_telephone(page: Page) -> None:
    """At 400 pixels a picture is drawn at 700 or more, and scrolls."""
    page.set_viewport_size({"width": 400, "height": 1000})
    widths = page.locator(".picture").evaluate_all(
        "all => all.map(one => [one.querySelector('img').getBoundingClientRect().width, one.clientWidth])"
    )
    assert widths
    assert all(drawn >= 700 and 0 < seen <= 400 for drawn, seen in widths)


def test_a_printed_report_fits_its_paper(page: Page) -> None:
    """On A4 no table is cut off, and the plan's token stands at the end, in lines."""
    page.set_viewport_size({"width": 672, "height": 980})  # 178 mm
    page.emulate_media(media="print")
    widths = page.locator("table, figure, .token code").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect())"
        ".map(box => [box.left >= 0, box.right <= 672, box.height > 0])"
    )
    page.emulate_media(media="screen")
    assert widths
    assert [width for width in widths if not all(width)] == []
