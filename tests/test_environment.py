from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
CONDA_NAMES = {"jupyter-client": "jupyter_client", "matplotlib": "matplotlib-base"}
PYTHONS = ("3.11.0", "3.12.0", "3.13.0")


def conda_line(requirement: Requirement) -> str:
    """How environment.yml writes a dependency of pyproject.toml."""
    return f"{CONDA_NAMES.get(requirement.name, requirement.name)} {requirement.specifier}"


def runtime() -> list[Requirement]:
    """What the package itself needs."""
    return [Requirement(line) for line in PROJECT["dependencies"]]


def declared() -> list[Requirement]:
    """What the package, its tests and its build need."""
    return [*runtime(), *map(Requirement, PROJECT["optional-dependencies"]["test"])]


def environment() -> dict[str, object]:
    """The conda environment as a mapping."""
    loaded = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def locked() -> list[Requirement]:
    """Every pinned package, with the marker of the Pythons and systems that it is for."""
    return [Requirement(line) for line in re.findall(r"^([a-z0-9][^\\\n]*==[^\\\n]*?) *\\?$", LOCK, flags=re.MULTILINE)]


def locked_versions(python: str) -> dict[str, Version]:
    """The versions that the lock gives on Linux under one Python."""
    system = {"python_full_version": python, "python_version": python.rpartition(".")[0], "sys_platform": "linux"}
    chosen = [pin for pin in locked() if pin.marker is None or pin.marker.evaluate(system)]
    return {canonicalize_name(pin.name): Version(next(iter(pin.specifier)).version) for pin in chosen}


def test_the_conda_environment_names_what_the_package_needs() -> None:
    """environment.yml and pyproject.toml list the same packages with the same bounds, and the same Python."""
    ours = list(map(conda_line, runtime()))
    entries = environment()["dependencies"]
    assert isinstance(entries, list)
    assert entries[:2] == [f"python {PROJECT['requires-python']}", "pip"]
    assert entries[2:-1] == ours


def test_the_conda_environment_installs_the_package_itself() -> None:
    """Binder reads environment.yml alone, so the package has to be in it."""
    entries = environment()["dependencies"]
    assert isinstance(entries, list)
    assert entries[-1] == {"pip": ["-e ."]}
    assert environment()["channels"] == ["conda-forge"]


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_holds_every_dependency_within_its_bounds(python: str) -> None:
    """Each requirement of pyproject.toml has a pin that satisfies it, on every Python we support."""
    versions = locked_versions(python)
    misfits = [str(need) for need in declared() if not need.specifier.contains(versions[canonicalize_name(need.name)])]
    assert misfits == []


def test_the_lock_holds_no_address() -> None:
    """The lock says what to install and its hashes; where to get it from is the reader's choice."""
    assert [line for line in LOCK.splitlines() if "://" in line or line.startswith("-")] == []


def test_every_pin_has_a_hash() -> None:
    """An install from the lock is checked file by file."""
    entries = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert [entry.split("\n")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_lower_bounds_admit_the_last_versions_for_python_3_11() -> None:
    """Python 3.11 gets no newer numpy than 2.4 and no newer scipy than 1.17, so no bound may ask for more."""
    bounds = {need.name: need.specifier for need in runtime()}
    assert bounds["numpy"].contains("2.4")
    assert bounds["scipy"].contains("1.17")


def imported_distributions() -> set[str]:
    """Distributions that files of the package import, wherever in the file the import stands."""
    owners = packages_distributions()
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "costkit").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    dotted = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    dotted += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    tops = {name.partition(".")[0] for name in dotted} - sys.stdlib_module_names - {"costkit"}
    return {canonicalize_name(owners[top][0]) for top in tops}


def test_the_package_declares_what_it_imports() -> None:
    """A library that is imported is a dependency of its own, not one that happens to come with another."""
    assert imported_distributions() - {canonicalize_name(need.name) for need in runtime()} == set()
