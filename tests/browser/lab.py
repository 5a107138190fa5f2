"""A real JupyterLab and a real Chromium, for tests and benchmarks that need both."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STARTS_WITHIN_S = 60.0
RUNS_WITHIN_MS = 120_000
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",  # a container's root may not have one
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no name resolves, so nothing leaves this machine
)
QUIET = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


def chromium_path() -> str | None:
    """The Chromium on the PATH, whatever it is called."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser that cannot reach any other machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(CHROMIUM_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True)
class Lab:
    """A running server: where it listens, the secret that proves it is ours, and the folder it serves."""

    port: int
    token: str
    folder: Path

    @property
    def address(self) -> str:
        """What every page of this server starts with."""
        return f"http://127.0.0.1:{self.port}"

    def page_of(self, notebook: str) -> str:
        """The address of one notebook, alone in its window."""
        return f"{self.address}/doc/tree/{notebook}?token={self.token}"

    def answers(self) -> bool:
        """Whether the server is up, and is this one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/api/status", headers={"Authorization": f"token {self.token}"})
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[Lab]:
    """JupyterLab on a free port, serving copies of the notebooks, with settings and state of its own."""
    shutil.copytree(NOTEBOOKS, folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    labconfig = folder / "config" / "labconfig"
    labconfig.mkdir(parents=True)
    (labconfig / "page_config.json").write_text(json.dumps(QUIET), encoding="utf-8")
    lab = Lab(_free_port(), secrets.token_hex(16), folder / "notebooks")
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(_command(lab), env=_environment(folder), stdout=log, stderr=log)
        try:
            _wait_for(lab, process, folder / "server.log")
            yield lab
        finally:
            process.terminate()
            process.wait(timeout=30)


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook and wait until its kernel can run."""
    page.goto(lab.page_of(name))
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.context?.isReady"
        " && window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
        timeout=RUNS_WITHIN_MS,
    )
    page.evaluate(
        """() => {
            window.kernelErrors = [];
            window.changes = new Set();
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            kernel.iopubMessage.connect((_, message) => {
                if (message.header.msg_type === 'error') window.kernelErrors.push(message.content.evalue);
            });
            kernel.anyMessage.connect((_, { msg, direction }) => {
                if (direction === 'send' && msg.header.msg_type === 'comm_msg') changes.add(msg.header.msg_id);
                if (msg.content.execution_state === 'idle') changes.delete(msg.parent_header.msg_id);
            });
        }"""
    )


def run_all(page: Page) -> None:
    """Run every cell and wait for the last."""
    page.set_default_timeout(RUNS_WITHIN_MS)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'",
        timeout=RUNS_WITHIN_MS,
    )


def scroll_to(page: Page, text: str) -> None:
    """Bring the cell that contains a text into view; JupyterLab draws only what can be seen."""
    page.evaluate(
        """async text => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            const index = notebook.widgets.findIndex(cell => cell.model.sharedModel.getSource().includes(text));
            notebook.activeCellIndex = index;
            await notebook.scrollToItem(index, 'start');
        }""",
        text,
    )


def settle(page: Page) -> None:
    """Wait until the kernel has answered whatever was changed; its threads keep no order among what waits for them."""
    page.wait_for_function("() => window.changes.size === 0")


def errors(page: Page) -> list[str]:
    """What went wrong in the kernel: in a cell, or in a callback, where a reader would not see it."""
    found = page.evaluate(
        """() => {
            const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells;
            const outputs = cells.flatMap(cell => cell.outputs ?? []);
            const seen = outputs.filter(output => output.output_type === 'error' || output.name === 'stderr');
            return [...window.kernelErrors, ...seen.map(output => output.evalue ?? String(output.text))];
        }"""
    )
    return [str(error) for error in found]


def watch_requests(page: Page, *, allowed: str, into: list[str]) -> None:
    """Note every address that the page asks for outside the allowed one."""

    def note(address: str) -> None:
        if not address.startswith((allowed, allowed.replace("http", "ws", 1), "data:", "blob:")):
            into.append(address)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda websocket: note(websocket.url))


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _command(lab: Lab) -> list[str]:
    options: dict[str, Any] = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": lab.port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": lab.folder,
        "ServerApp.allow_root": True,
        "ServerApp.open_browser": False,
        "IdentityProvider.token": lab.token,
        "LabApp.expose_app_in_browser": True,
    }
    return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]


def _environment(folder: Path) -> dict[str, str]:
    """The reader's environment, but nothing that is configured for this user."""
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return {**os.environ, "JUPYTER_NO_CONFIG": "", **{name: str(folder / place) for name, place in own.items()}}


def _wait_for(lab: Lab, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not lab.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.2)
