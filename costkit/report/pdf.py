"""How does the page become PDF? A Chromium or Chrome on this machine prints it; the HTML stays the product."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from costkit.report.notebooks import ReportError
from costkit.writing import write_whole

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT_S = 120


def write(page: Path, path: Path) -> Path:
    """Print an HTML file to a PDF file, replaced when whole.

    Raises:
        ReportError: no browser was found on PATH, or it printed nothing; the HTML file stays.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise ReportError(
            f"no Chromium or Chrome on PATH to print a PDF with: install one, or print {page} from any browser."
        )
    with tempfile.TemporaryDirectory(prefix="costkit-pdf-") as folder:
        printed = Path(folder, "page.pdf")
        command = [program, *_switches(Path(folder, "profile")), f"--print-to-pdf={printed}", page.absolute().as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
            content = printed.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise ReportError(f"{Path(program).name} printed no PDF: print {page} from any browser.") from error
    write_whole(path, content)
    return path


def _switches(profile: Path) -> list[str]:
    """No window, no network, no header, a throw-away profile; no sandbox where root would need one."""
    switches = ["--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"]
    switches += ["--generate-pdf-document-outline", f"--user-data-dir={profile}"]
    return [*switches, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else switches
