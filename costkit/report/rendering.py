"""How is a report made? Check, run, read, write under other names, and put in place when whole."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from nbformat import NotebookNode

from costkit import plan as plans
from costkit.figures.shown import IN_REPORT
from costkit.report import page as pages
from costkit.report import pdf as printing
from costkit.report.notebooks import PARAMETERS, ReportError, find, load, run, tagged
from costkit.writing import expanded, write_whole

NEEDED = ("plan_file", "overrides")
_OURS = re.compile(r"plan\.toml|tables(/\d\d+-[a-z0-9-]+\.csv)?|figures(/\d\d+-[a-z0-9-]+\.(svg|png|jpg))?")
_MARKS = (b'<meta name="generator" content="costkit ', b"<p>Made by costkit ")
_NOTHING: Mapping[str, object] = MappingProxyType({})


def render(
    notebook: str | Path,
    *,
    plan: str | Path = "case-50k",
    overrides: Mapping[str, object] = _NOTHING,
    out_dir: str | Path,
    pdf: bool = False,
    progress: bool | None = None,
) -> list[Path]:
    """Run a notebook with a plan and write it as one HTML file, with its tables, figures and plan beside it.

    Writes `NAME.html`, `NAME/plan.toml`, `NAME/tables/*.csv` and `NAME/figures/*.svg|png` into `out_dir`, and
    `NAME.pdf` if asked for; returns their paths. An earlier report is replaced only when all of it is ready.
    `progress`: a bar on standard error; by default where that is a terminal.

    Raises:
        UnknownName: no such notebook, plan, GPU or law.
        PlanError: the plan or an override is not valid; nothing was run.
        ReportError: a cell failed, no picture came out, the files cannot be written there or would displace what no
            report wrote, or (with all else in place) no browser was found to print the PDF.
    """
    path, out = find(notebook), expanded(out_dir).absolute()
    book = load(path)
    _check_parameters(book, path.stem)
    base = plans.read(plan)
    effective = plans.read(base, dict(overrides))
    with _workspace(out, path.stem, pdf=pdf) as work:
        parameters = {"plan_file": _anywhere(plan), "overrides": plans.anchored(overrides)}
        ran = run(
            book,
            name=path.stem,
            folder=path.parent,
            parameters=parameters,
            environment={IN_REPORT: "1"},
            progress=progress,
        )
        _show_parameters(ran, {"plan_file": _in_short(plan), "overrides": dict(overrides)})
        page = _read(ran, path)
        _write_beside(work, page, effective)
        text = _write_page(page, effective, path.stem, plans.changes(base, effective))
        files = _publish(work, out / path.stem, text)
    if pdf:
        files.append(printing.write(files[0], out / f"{path.stem}.pdf"))
    return files


def _check_parameters(book: NotebookNode, name: str) -> None:
    """A notebook that does not take the plan would report on another one."""
    index = tagged(book, PARAMETERS)
    try:
        tree = ast.parse(book.cells[index].source if index is not None else "")
    except SyntaxError:
        tree = ast.Module([], [])
    targets = {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    targets |= {ast.unparse(to) for node in tree.body if isinstance(node, ast.Assign) for to in node.targets}
    missing = [needed for needed in NEEDED if needed not in targets]
    if missing:
        raise ReportError(
            f"{name} takes no plan: it needs a cell tagged 'parameters' that sets {' and '.join(missing)}."
        )


def _anywhere(plan: str | Path) -> str:
    """The plan as the notebook can read it from its own folder: a name, a token, or an absolute path."""
    text = str(plan)
    if isinstance(plan, str) and (plan in plans.names() or plan.strip().startswith("costkit:")):
        return text
    return str(expanded(text).absolute())


def _in_short(plan: str | Path) -> str:
    """The plan as the page names it: without the folders of this machine."""
    text = _anywhere(plan)
    return Path(text).name if Path(text).is_absolute() else text


def _show_parameters(ran: NotebookNode, parameters: Mapping[str, object]) -> None:
    """Let the cell tagged `parameters` say what was set, so that the folded code is what ran."""
    index = tagged(ran, PARAMETERS)
    if index is not None:
        ran.cells[index].source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())


def _read(ran: NotebookNode, path: Path) -> pages.Page:
    page = pages.read(ran, folder=path.parent)
    if page.n_figures == 0:
        raise ReportError(f"{path.stem} ran, but showed no figure: a report without one is not written.")
    return page


def _write_page(page: pages.Page, effective: plans.Plan, name: str, changes: Sequence[plans.Change]) -> str:
    return pages.write(
        page,
        title=page.title or name,
        notebook=name,
        plan_name=effective.name,
        plan_title=effective.title or effective.name,
        plan_note=effective.note,
        plan_changes=", ".join(map(str, changes)),
        plan_token=effective.token(),
        version=_version(),
    )


def _version() -> str:
    try:
        return importlib.metadata.version("costkit")
    except importlib.metadata.PackageNotFoundError:
        return "(a checkout)"


def _write_beside(work: Path, page: pages.Page, effective: plans.Plan) -> None:
    for folder, files in (("tables", page.tables), ("figures", page.figures)):
        (work / folder).mkdir()
        for file in files:
            (work / folder / file.name).write_bytes(file.content)
    effective.save(work / "plan.toml")


@contextmanager
def _workspace(out: Path, name: str, *, pdf: bool) -> Iterator[Path]:
    """A hidden folder beside the report to be; gone afterwards, like a report folder that was made for nothing."""
    new = next((folder for folder in reversed((out, *out.parents)) if not folder.exists()), None)
    work = out / f".{name}.{os.getpid()}.partial"
    try:
        _check_replaceable(out, name, pdf=pdf)
        out.mkdir(parents=True, exist_ok=True)
        work.mkdir()
        yield work
    except OSError as error:
        raise ReportError(f"cannot write a report into {out}: {(error.strerror or str(error)).lower()}.") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if new is not None:
            _remove_if_empty(out, new)


def _remove_if_empty(folder: Path, last: Path) -> None:
    """Remove folders that hold nothing, from `folder` up to and with `last`."""
    for candidate in (folder, *folder.parents):
        try:
            candidate.rmdir()
        except OSError:
            return
        if candidate == last:
            return


def _check_replaceable(out: Path, name: str, *, pdf: bool) -> None:
    """Never take away what no report wrote: a file under our names, or a folder that holds something of its own."""
    folder, page, printed = out / name, out / f"{name}.html", out / f"{name}.pdf"
    foreign = [folder] if _is_there(folder) and (folder.is_symlink() or not folder.is_dir()) else []
    foreign += [page] if _is_there(page) and not _is_our_page(page) else []
    foreign += [printed] if pdf and _is_there(printed) and not (printed.is_file() and page.is_file()) else []
    if foreign:
        raise ReportError(f"{foreign[0]} is there already, and no report wrote it: choose another folder.")
    held = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) if folder.is_dir() else []
    strange = [path for path in held if not _OURS.fullmatch(path)] or (held if "plan.toml" not in held else [])
    if strange:
        raise ReportError(f"{folder} holds {strange[0]!r}, which no report wrote: choose another folder.")


def _is_there(path: Path) -> bool:
    """Whether anything has that name, a link to nothing included."""
    return path.exists() or path.is_symlink()


def _is_our_page(path: Path) -> bool:
    if not path.is_file():
        return False
    content = path.read_bytes()
    return any(mark in content for mark in _MARKS)


def _publish(work: Path, folder: Path, text: str) -> list[Path]:
    """Put the finished report in place of the old one; the page comes last."""
    page = folder.with_name(f"{folder.name}.html")
    old = work.with_suffix(".old")
    if folder.exists():
        folder.rename(old)
    try:
        work.rename(folder)
        write_whole(page, text.encode("utf-8"))
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
    return [page, *sorted(file for file in folder.rglob("*") if file.is_file())]
