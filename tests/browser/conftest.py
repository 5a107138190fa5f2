from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.lab import (
    Lab,
    chromium,
    chromium_path,
    jupyter_lab,
    open_notebook,
    run_all,
    scroll_to,
    watch_requests,
)

expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab that serves a copy of the notebooks."""
    with jupyter_lab(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; module by module, because its event loop would stand in the way of other tests."""
    if chromium_path() is None:
        if os.environ.get("COSTKIT_REQUIRE_BROWSER") or os.environ.get("CI"):
            pytest.fail("no Chromium on the PATH, and here the browser tests must run")
        pytest.skip("no Chromium on the PATH (on Debian: apt-get install chromium)")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def strangers() -> list[str]:
    """Addresses on other machines that a page asked for."""
    return []


@pytest.fixture(scope="module")
def workbook(browser: Browser, lab: Lab, strangers: list[str]) -> Page:
    """Notebook 01 with every cell run and its panel in view."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    watch_requests(page, allowed=lab.address, into=strangers)
    open_notebook(page, lab, "01_chinchilla_frontier.ipynb")
    run_all(page)
    scroll_to(page, "panels.frontier(")
    page.locator(".costkit-panel .costkit-picture").wait_for()
    return page
