from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LOGIC = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.If, ast.IfExp, ast.Try, ast.With, ast.BinOp, ast.AugAssign),
)
MAX_BYTES = 1_000_000
MAX_LINES = 6

Cell = dict[str, Any]


def committed(path: Path) -> str:
    """The notebook as git has it (staged or committed), as JupyterLab may have saved a reader's widgets into the file.

    Outside a checkout, or where git has no such file, it is the file itself.
    """
    try:
        return git(path.parent, "show", f":./{path.name}")
    except (OSError, subprocess.CalledProcessError):
        return path.read_text(encoding="utf-8")


def git(folder: Path, *arguments: str) -> str:
    """What git says of a folder, wherever a hook's variables point."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, check=True, env=environment).stdout.decode("utf-8")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One committed notebook after the other."""
    loaded = json.loads(committed(request.param))
    assert isinstance(loaded, dict)
    return loaded


def source(cell: Cell) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def code(notebook: dict[str, Any]) -> list[Cell]:
    """The code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def logic(text: str) -> list[str]:
    """Each piece of a cell that computes or decides instead of calling.

    >>> logic("total = 2 * price"), logic("plan.read(plan_file, overrides)")
    (['2 * price'], [])
    """
    return [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, LOGIC)]


def shows(cell: Cell) -> bool:
    """Whether the last statement of a cell is an expression, and so displays something."""
    body = ast.parse(source(cell)).body
    return bool(body) and isinstance(body[-1], ast.Expr)


def parameters(notebook: dict[str, Any]) -> list[Cell]:
    """The cells that papermill would fill in."""
    return [cell for cell in code(notebook) if "parameters" in cell["metadata"].get("tags", [])]


def test_there_are_notebooks() -> None:
    """An empty folder would let every other test here pass."""
    assert NOTEBOOKS


def test_a_notebook_has_15_to_25_cells(notebook: dict[str, Any]) -> None:
    """Long enough for question, inputs, picture, panel and checks; short enough to read."""
    assert 15 <= len(notebook["cells"]) <= 25


def test_the_first_cell_is_the_question(notebook: dict[str, Any]) -> None:
    """The title asks what the notebook answers."""
    assert re.match(r"# .*\?\n", source(notebook["cells"][0]) + "\n")


def test_money_is_no_formula(notebook: dict[str, Any]) -> None:
    """JupyterLab reads what stands between two dollars as mathematics, also where they are escaped."""
    texts = [source(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    assert [text for text in texts if len(re.findall(r"\$\d", text)) > 1] == []


def test_code_cells_hold_no_logic(notebook: dict[str, Any]) -> None:
    """Everything that computes stands in the package, where it is tested."""
    assert [piece for cell in code(notebook) for piece in logic(source(cell))] == []


def test_code_cells_are_short(notebook: dict[str, Any]) -> None:
    """No code cell is longer than six lines."""
    assert [source(cell) for cell in code(notebook) if source(cell).count("\n") >= MAX_LINES] == []


def test_no_output_is_suppressed(notebook: dict[str, Any]) -> None:
    """A trailing semicolon hides an output from readers but not from the check that compares outputs."""
    assert [source(cell) for cell in code(notebook) if source(cell).rstrip().endswith(";")] == []


def test_one_cell_holds_the_parameters(notebook: dict[str, Any]) -> None:
    """The plan and the overrides are the only things a report sets, with types and help that papermill can list."""
    (cell,) = parameters(notebook)
    tree = ast.parse(source(cell))
    fields = [
        (ast.unparse(node.target), ast.unparse(node.annotation))
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
    ]
    assert fields == [("plan_file", "str"), ("overrides", "dict")]
    assert len(tree.body) == len(fields)


def test_cells_that_display_keep_their_output(notebook: dict[str, Any]) -> None:
    """A reader on GitHub sees every table and picture, and the run has something to be compared with."""
    assert [source(cell) for cell in code(notebook) if shows(cell) and not cell["outputs"]] == []


def test_no_output_is_an_error_or_a_warning(notebook: dict[str, Any]) -> None:
    """What is committed ran without a word on standard error."""
    outputs = [output for cell in code(notebook) for output in cell["outputs"]]
    assert [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"] == []


def test_pictures_have_a_text(notebook: dict[str, Any]) -> None:
    """Whoever cannot see a picture hears what it says."""
    outputs = [output for cell in code(notebook) for output in cell["outputs"] if "image/png" in output.get("data", {})]
    assert outputs
    assert [output["metadata"] for output in outputs if not output["metadata"].get("image/png", {}).get("alt")] == []


def test_no_state_of_a_run_is_kept(notebook: dict[str, Any]) -> None:
    """Widget state, timings and papermill's notes would change with every run, and break the view on GitHub."""
    places = [notebook["metadata"], *(cell["metadata"] for cell in notebook["cells"])]
    assert [key for place in places for key in ("widgets", "papermill", "execution", "signature") if key in place] == []


def test_the_kernel_is_the_readers_own_python(notebook: dict[str, Any]) -> None:
    """No kernel name of one machine is stored."""
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert "version" not in notebook["metadata"].get("language_info", {})


def test_every_cell_has_its_own_id(notebook: dict[str, Any]) -> None:
    """Cell ids keep diffs small and links stable."""
    ids = [cell.get("id") for cell in notebook["cells"]]
    assert all(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_path_of_one_machine_is_in_it(path: Path) -> None:
    """A notebook says nothing about where it was run."""
    assert re.findall(r"(?:/home|/root|/Users|/tmp|/opt|/var|[A-Z]:\\\\)[/\\\\][\w.\-/]*", committed(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small(path: Path) -> None:
    """Under a megabyte, so that GitHub renders it and a clone stays quick."""
    assert len(committed(path).encode()) < MAX_BYTES


@pytest.mark.parametrize(
    "text", ["def f(): pass", "[x for x in y]", "a * b", "f = lambda: 1", "for x in y: pass", "a += 1"]
)
def test_logic_in_a_cell_is_noticed(text: str) -> None:
    """The check above can fail."""
    assert logic(text)


def test_what_is_checked_is_what_git_has(tmp_path: Path) -> None:
    """An autosave changes the file and not the check; a file that git does not have is read as it is."""
    path = tmp_path / "a.ipynb"
    path.write_text("staged")
    assert committed(path) == "staged"
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", path.name)
    path.write_text("saved by JupyterLab")
    assert committed(path) == "staged"
