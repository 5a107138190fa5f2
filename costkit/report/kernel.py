"""How is a notebook run, so that it neither hangs nor picks up another Python?

- The kernel is this interpreter, whatever kernels are installed or not, with this costkit and the given folder.
- No widget of the notebook is mirrored on our side: nbclient waits for ever where an Output widget is
  (nbclient issue 312), and a run without a reader has no use for it.
- papermill runs the cells and injects the parameters; it is given a notebook, never a path, and writes none.
"""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import papermill
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, papermill_engines
from papermill.exceptions import PapermillExecutionError

ENGINE = "costkit"
CELL_TIMEOUT_S = 600
START_TIMEOUT_S = 120
LONGEST_CAUSE = 400


class Stopped(Exception):
    """A run that ended inside a cell: the cell's index in the notebook that ran, and why."""

    def __init__(self, cell_index: int, why: str) -> None:
        super().__init__(cell_index, why)
        self.cell_index, self.why = cell_index, why


class _ThisPython(KernelSpecManager):
    """Knows one kernel: the interpreter that is running."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:  # noqa: ARG002 - there is only one
        return KernelSpec(resource_dir=str(RESOURCES), **get_kernel_dict())


class _Engine(Engine):  # type: ignore[misc]
    """papermill's way to run cells, in a kernel that we start ourselves."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, folder: Path, environment: Mapping[str, str], **_unused: object
    ) -> None:
        with _connection_file() as connection_file:
            manager = _manager(kernel_name, connection_file)
            client = PapermillNotebookClient(
                nb_man,
                km=manager,
                timeout=CELL_TIMEOUT_S,
                startup_timeout=START_TIMEOUT_S,
                store_widget_state=False,
                extra_arguments=["--HistoryManager.hist_file=:memory:"],
            )
            client.comm_open_handlers = {"jupyter.widget": lambda _message: None}
            try:
                client.execute(
                    cwd=str(folder), env=_environment(environment), stderr=subprocess.DEVNULL, cleanup_kc=True
                )
            except DeadKernelError as error:
                raise Stopped(_last_started(nb_man.nb), "its kernel died, perhaps for lack of memory") from error
            except CellTimeoutError as error:
                raise Stopped(_last_started(nb_man.nb), f"it ran longer than {CELL_TIMEOUT_S} seconds") from error
            finally:
                _end(manager)


papermill_engines.register(ENGINE, _Engine)


def run(
    notebook: NotebookNode,
    *,
    folder: Path,
    parameters: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    progress: str | None = None,
) -> NotebookNode:
    """The notebook with fresh outputs; `Stopped` where a cell fails.

    `folder` is the kernel's working directory and is only read. `progress` is the name on a progress bar on standard
    error; without it there is none.
    """
    bar = {"desc": progress, "file": sys.stderr, "leave": False, "dynamic_ncols": True} if progress else False
    try:
        ran: NotebookNode = papermill.execute_notebook(
            copy.deepcopy(notebook),
            None,
            parameters=dict(parameters or {}),
            engine_name=ENGINE,
            kernel_name="python3",
            language="python",
            progress_bar=bar,
            folder=folder,
            environment=dict(environment or {}),
        )
    except PapermillExecutionError as error:
        raise Stopped(error.cell_index, _first_line(f"{error.ename}: {error.evalue}")) from error
    return ran


def _last_started(notebook: NotebookNode) -> int:
    started = [index for index, cell in enumerate(notebook.cells) if cell.metadata.papermill.start_time]
    return max(started, default=0)


def _first_line(text: str) -> str:
    line = next(iter(re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()), "").rstrip(": ")
    return line if len(line) <= LONGEST_CAUSE else f"{line[:LONGEST_CAUSE]}..."


def _manager(kernel_name: str, connection_file: str) -> AsyncKernelManager:
    """Starts the kernel; talks to it through files where the system can, so that no port is open to others."""
    transport = "tcp" if sys.platform == "win32" else "ipc"
    return AsyncKernelManager(
        kernel_name=kernel_name,
        kernel_spec_manager=_ThisPython(),
        connection_file=connection_file,
        transport=transport,
    )


def _end(manager: AsyncKernelManager) -> None:
    """End a kernel that an interrupt left behind, or it writes its connection file again after that was taken away."""
    process = getattr(manager.provisioner, "process", None)
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()


@contextmanager
def _connection_file() -> Iterator[str]:
    """A place for the kernel's connection that needs no home folder and is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="costkit-kernel-") as folder:
        yield str(Path(folder, "kernel.json"))


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, with this costkit first where it is a checkout that nobody installed."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", **extra}
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        inherited = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join(part for part in (str(checkout), inherited) if part)
    return environment
