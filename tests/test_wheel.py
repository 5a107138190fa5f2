from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
EXPORTS = {".csv", ".png", ".svg", ".toml"}

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that must succeed, run where the checkout cannot be seen."""
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return next(folder.glob("costkit-*.whl"))


def pins(folder: Path) -> Path:
    """The lock without its hashes, which pip would also ask of the wheel itself."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    path = folder / "pins.txt"
    path.write_text("\n".join(re.findall(r"^([a-z0-9][^\\\n]*?) *\\?$", lock, flags=re.MULTILINE)), encoding="utf-8")
    return path


def install(wheel: Path, folder: Path) -> Path:
    """The interpreter of a new environment that holds the wheel and what it asks for, by uv where there is one."""
    python = folder / "env" / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    if subprocess.run([*uv, "--version"], capture_output=True, check=False).returncode == 0:
        run(*uv, "venv", "-q", "--python", sys.executable, folder / "env", cwd=folder)
        run(*uv, "pip", "install", "-q", "--python", python, "-c", pins(folder), wheel, cwd=folder)
    else:
        venv.create(folder / "env", with_pip=True)
        run(python, "-m", "pip", "install", "-q", "-c", pins(folder), wheel, cwd=folder)
    return python


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a clean environment that holds the wheel."""
    return install(wheel, tmp_path_factory.mktemp("elsewhere"))


def shipped(folder: str) -> set[str]:
    """Files of a folder of the checkout that belong into the wheel; what a panel exported does not."""
    paths = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    kept = (path for path in paths if not LEFT_OUT & set(path.parts))
    return {path.as_posix() for path in kept if folder != "notebooks" or path.suffix not in EXPORTS}


def test_the_wheel_carries_code_data_and_notebooks_and_nothing_else(wheel: Path) -> None:
    """Tables and notebooks travel inside the package; tests and left-overs do not."""
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == shipped("costkit") | {f"costkit/{name}" for name in shipped("data") | shipped("notebooks")}


def test_a_look_up_works_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    """An installed package finds its own tables."""
    code = "import costkit, sys; from costkit import tables; print(tables.gpu('A100-SXM4-80GB').name, costkit.__file__)"
    name, file = run(installed, "-c", code, cwd=tmp_path).split()
    assert name == "A100-SXM4-80GB"
    assert Path(file).is_relative_to(installed.parents[1])


def test_a_report_renders_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The installed command renders a packaged notebook with nothing but the packages that it declares."""
    command = installed.with_name("costkit")
    run(command, "report", "01_chinchilla_frontier", "--plan", "case-50k", "-o", tmp_path / "out", cwd=tmp_path)
    assert [path.name for path in (tmp_path / "out").glob("*.html")] == ["01_chinchilla_frontier.html"]
