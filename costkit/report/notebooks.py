"""Which notebooks are there, and how are they kept, so that two runs differ only where an answer does?

- A notebook is named by its file's name, by the unique beginning of that name ("01"), or by its path.
- `normalise` keeps cells, ids, tags and outputs and drops what no reader asked for: widget state, run times, the
  patch version of Python, papermill's notes, and view links to widgets that only the kernel of that run knew.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from costkit import tables
from costkit.writing import write_whole

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
PARAMETERS = "parameters"
INJECTED = "injected-parameters"
_TRACES = ("collapsed", "execution", "ExecuteTime", "papermill", "scrolled", "trusted")


class ReportError(ValueError):
    """A report or a notebook that could not be made; the text is one sentence."""

    exit_status = 1


def names() -> tuple[str, ...]:
    """The names of the workbook's notebooks, in order."""
    return tuple(sorted(path.stem for path in tables.folder("notebooks").glob("*.ipynb")))


def find(notebook: str | Path) -> Path:
    """The file of a notebook given as name, as the unique beginning of a name, or as path.

    Raises:
        UnknownName: no notebook, or more than one, is meant.
    """
    if isinstance(notebook, Path) or notebook.endswith(".ipynb") or os.sep in notebook:
        path = Path(notebook).absolute()
        if path.is_file():
            return path
        raise tables.unknown("notebook", str(notebook), _beside(path))
    begins = notebook.zfill(2) if notebook.isdigit() else notebook
    meant = [name for name in names() if name == notebook] or [name for name in names() if name.startswith(begins)]
    if len(meant) == 1 and notebook:
        return tables.folder("notebooks") / f"{meant[0]}.ipynb"
    raise tables.unknown("notebook", notebook, names())


def _beside(path: Path) -> list[str]:
    """What a mistyped path may have meant: the notebooks in its folder, and ours."""
    return [*(str(other) for other in sorted(path.parent.glob("*.ipynb"))), *names()]


def load(path: Path) -> NotebookNode:
    """The notebook in a file; `ReportError` where the file holds none."""
    try:
        found: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(found)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError) as error:
        raise ReportError(f"{path} is no notebook that can be read: {_one_line(error)}.") from error
    return found


def execute(path: str | Path, *, progress: bool | None = None) -> NotebookNode:
    """The notebook run as it stands, with its default parameters, in a fresh kernel and in its own folder.

    Raises:
        ReportError: a cell failed; the sentence names the cell and the cause.
    """
    path = find(path)
    return run(load(path), name=path.stem, folder=path.parent, progress=progress)


def run(
    notebook: NotebookNode,
    *,
    name: str,
    folder: Path,
    parameters: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    progress: bool | None = None,
) -> NotebookNode:
    """The notebook with fresh outputs, or a `ReportError` that names the cell which failed."""
    from costkit.report import kernel

    shown = sys.stderr.isatty() if progress is None else progress
    try:
        return kernel.run(
            notebook,
            folder=folder,
            parameters=parameters,
            environment=environment,
            progress=name if shown else None,
        )
    except kernel.Stopped as stopped:
        where = _where(notebook, stopped.cell_index, injected=bool(parameters))
        raise ReportError(f"{name} stopped at {where}: {stopped.why.rstrip('.')}.") from stopped
    except RuntimeError as error:
        raise ReportError(f"{name} could not be run: its kernel did not start ({_one_line(error)}).") from error


def _where(notebook: NotebookNode, index: int, *, injected: bool) -> str:
    """`cell 5, under 'How flat is it?'`, counted in the notebook as it is stored, not as papermill ran it."""
    parameters = tagged(notebook, PARAMETERS)
    if injected and index > (parameters if parameters is not None else -1):
        index -= 1
    headings = [line for cell in notebook.cells[: index + 1] for line in _headings(cell)]
    under = f", under {headings[-1]!r}" if headings else ""
    return f"cell {index + 1}{under}"


def _headings(cell: NotebookNode) -> list[str]:
    if cell.cell_type != "markdown":
        return []
    return [line.strip("# ") for line in cell.source.splitlines() if line.startswith("#")]


def tagged(notebook: NotebookNode, tag: str) -> int | None:
    """The index of the first cell with that tag."""
    return next((i for i, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", ())), None)


def normalise(notebook: str | Path, *, run: bool = True, check: bool = False, progress: bool | None = None) -> bool:
    """Run a notebook, and store it normalised; True where the file was so already.

    With `check` nothing is written; without `run` the stored outputs are kept and only normalised.

    Raises:
        ReportError: a cell failed; the file stays as it was.
    """
    path = find(notebook)
    text = canonical(execute(path, progress=progress) if run else load(path))
    same = path.read_text(encoding="utf-8") == text
    if not (same or check):
        write_whole(path, text.encode("utf-8"))
    return same


def canonical(notebook: NotebookNode) -> str:
    """The text of the normalised notebook: what two runs with the same answers have in common.

    >>> cell = nbformat.v4.new_code_cell("1 + 1", id="sum", metadata={"execution": {"iopub.status.busy": "now"}})
    >>> text = canonical(nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}, "papermill": {}}))
    >>> "execution" in text.replace("execution_count", ""), "widgets" in text, "papermill" in text, '"sum"' in text
    (False, False, False, True)
    """
    kept = copy.deepcopy(notebook)
    kept.metadata = _notebook_metadata()
    kept.nbformat, kept.nbformat_minor = 4, max(kept.nbformat_minor, 5)
    kept.cells = list(_cells(cell for cell in kept.cells if INJECTED not in cell.metadata.get("tags", ())))
    return f"{nbformat.v4.writes(kept)}\n"  # type: ignore[no-untyped-call]


def _notebook_metadata() -> NotebookNode:
    kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    language = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}
    return NotebookNode(  # type: ignore[no-untyped-call]
        kernelspec=kernelspec, language_info=language
    )


def _cells(cells: Iterator[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells without traces of the run, code counted from one."""
    n_run = 0
    for cell in cells:
        for key in [key for key, value in cell.metadata.items() if key in _TRACES or value == []]:
            del cell.metadata[key]
        if cell.cell_type == "code":
            if cell.execution_count is not None:
                n_run += 1
                cell.execution_count = n_run
            cell.outputs = [_output(output, cell.execution_count) for output in _merged(cell.outputs)]
        yield cell


def _output(output: NotebookNode, count: int | None) -> NotebookNode:
    if "execution_count" in output:
        output.execution_count = count
    if WIDGET_VIEW in output.get("data", {}):
        del output.data[WIDGET_VIEW]
    return output


def _merged(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs with pieces of one stream joined: how a stream was cut is chance."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:300] or type(error).__name__
