"""How long from a key press to new pixels, in a real JupyterLab in a real Chromium?

The clock starts at the `keydown` event in the page and stops when the new picture has been decoded and a frame with it
has been produced.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.row import row
from tests.browser.lab import chromium, chromium_path, jupyter_lab, open_notebook, run_all, scroll_to

PRESSES, WARM_UP = 24, 4
REST_MS = 200

WATCH = """() => {
    const picture = () => document.querySelector('.costkit-panel .costkit-picture');
    const frame = () => new Promise(requestAnimationFrame);
    let shown = picture().src, pressed = 0;
    window.delays = [];
    document.addEventListener('keydown', () => { pressed = performance.now(); }, true);
    new MutationObserver(async () => {
        const image = picture();
        if (!image || image.src === shown) return;
        shown = image.src;
        await image.decode();
        await frame();
        await frame();
        window.delays.push(performance.now() - pressed);
    }).observe(document.querySelector('.costkit-panel'), { childList: true, subtree: true, attributes: true });
}"""


def delays_ms(page: Page) -> list[float]:
    """Milliseconds from each key press to its picture; the slider goes up and comes back."""
    page.evaluate(WATCH)
    handle = page.locator(".costkit-panel .noUi-handle").first
    for press in range(PRESSES):
        handle.press("ArrowRight" if press < PRESSES // 2 else "ArrowLeft")
        page.wait_for_function("done => window.delays.length > done", arg=press)
        page.wait_for_timeout(REST_MS)
    return [float(delay) for delay in page.evaluate("() => window.delays")][WARM_UP:]


def main() -> None:
    """One notebook, one slider, one key at a time."""
    if chromium_path() is None:
        return row("key press to new pixels", "no Chromium", "<= 200 ms")
    with tempfile.TemporaryDirectory() as folder, jupyter_lab(Path(folder)) as lab, chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        open_notebook(page, lab, "01_chinchilla_frontier.ipynb")
        run_all(page)
        scroll_to(page, "panels.frontier(")
        page.locator(".costkit-panel .costkit-picture").wait_for()
        delays = sorted(delays_ms(page))
    row("key press to new pixels in JupyterLab, median", f"{statistics.median(delays):.0f} ms", "<= 200 ms")
    return row("key press to new pixels in JupyterLab, p90", f"{delays[int(0.9 * len(delays))]:.0f} ms", "")


if __name__ == "__main__":
    main()
