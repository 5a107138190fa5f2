from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "costkit"

LAYERS = {
    "troubles": 0,
    "writing": 0,
    "units": 0,
    "reading": 1,
    "tables": 1,
    "architectures": 2,
    "scaling": 2,
    "spot": 2,
    "levers": 2,
    "training": 3,
    "memory": 3,
    "plan": 4,
    "claims": 4,
    "figures": 5,
    "panels": 6,
    "report": 6,
    "cli": 7,
    "__main__": 8,
}


def module_of(path: Path) -> str:
    """The seat a file belongs to: a folder counts as the module of its name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def dotted_imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Every imported name in full, wherever in the file the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            origin = ".".join([*outer, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def seats_imported(source: str, package: str) -> set[str]:
    """Modules of ours that a source text imports; the bare package counts as `costkit` itself, which has no seat."""
    dotted = (name.split(".") for name in dotted_imports(ast.parse(source), package))
    return {[*name, "costkit"][1] for name in dotted if name[0] == "costkit"}


def forbidden(module: str, source: str, package: str = "costkit") -> list[str]:
    """One sentence for each import that reaches sideways or upwards."""
    return [
        f"{module} (layer {LAYERS[module]}) imports {other} (layer {LAYERS.get(other, 'none')})"
        for other in sorted(seats_imported(source, package) - {module})
        if LAYERS.get(other, len(LAYERS)) >= LAYERS[module]
    ]


def sources() -> Iterator[tuple[str, str, str]]:
    """Module, text and dotted package of every file but the package's own `__init__`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path != PACKAGE / "__init__.py":
            package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
            yield module_of(path), path.read_text(encoding="utf-8"), package


def test_every_module_has_a_seat() -> None:
    """A module that no layer names is a module whose place nobody decided."""
    assert {module for module, _, _ in sources()} <= set(LAYERS)


def test_modules_import_only_from_the_layers_above_them() -> None:
    """Nothing imports a neighbour or a module further down the table."""
    assert [line for source in sources() for line in forbidden(*source)] == []


def test_contributing_shows_the_same_table() -> None:
    """The table that a newcomer reads is the one that is tested."""
    rows = re.findall(
        r"^\| (\d+) \| ([\w ]+) \|$", (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    shown = {module: int(layer) for layer, modules in rows for module in modules.split()}
    assert shown == {module: layer for module, layer in LAYERS.items() if module != "__main__"}


@pytest.mark.parametrize(
    "source",
    [
        "import costkit.panels",
        "import costkit.panels as views",
        "import costkit.panels.controls",
        "from costkit import panels",
        "from costkit import units, panels",
        "from costkit.panels import Panel",
        "from costkit.panels.controls import slider",
        "from . import panels",
        "from .panels import Panel",
        "from .panels.controls import slider",
        "from costkit import training",
        "from costkit import *",
        "import costkit",
        "def late():\n    from costkit.panels import Panel",
        "if TYPE_CHECKING:\n    from costkit.panels import Panel",
        "import importlib\nimportlib.import_module('costkit.panels')",
    ],
)
def test_each_way_of_importing_downwards_is_caught(source: str) -> None:
    """However an import is spelled, `memory` may import neither `panels` nor its neighbour `training`."""
    assert len(forbidden("memory", source)) == 1


@pytest.mark.parametrize("source", ["from .. import panels", "from ..panels.box import Box"])
def test_relative_imports_out_of_a_folder_are_caught(source: str) -> None:
    """A file inside a module that is a folder is held to the layer of the folder."""
    assert len(forbidden("plan", source, "costkit.plan")) == 1


@pytest.mark.parametrize(
    "source",
    ["from . import schema", "from .schema import Plan", "from costkit.plan import Plan", "from ..units import GB"],
)
def test_a_folder_may_import_its_own_files_and_the_layers_above(source: str) -> None:
    """The files of one module know each other."""
    assert forbidden("plan", source, "costkit.plan") == []
