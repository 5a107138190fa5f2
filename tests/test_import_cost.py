from __future__ import annotations

import subprocess
import sys

HEAVY = ("IPython", "ipywidgets", "matplotlib", "nbconvert", "pandas", "papermill", "pydantic", "scipy", "tomlkit")


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after one statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_importing_costkit_loads_nothing_heavy() -> None:
    """`import costkit` costs about what numpy costs: the rest loads where it is used."""
    assert loaded_by("import costkit") & set(HEAVY) == set()


def test_the_modules_that_compute_load_nothing_heavy() -> None:
    """A script that only calculates does not wait for tables, figures or controls."""
    assert loaded_by("from costkit import architectures, scaling, tables, training, units") & set(HEAVY) == set()


def test_importing_the_command_loads_nothing_heavy() -> None:
    """`costkit --help` answers at once, so the command line imports its libraries inside its commands."""
    assert loaded_by("import costkit.cli") & set(HEAVY) - {"pydantic", "scipy", "tomlkit"} == set()
