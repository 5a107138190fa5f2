"""Other people's packages, each yardstick in an environment of its own, made once under `build/`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parents[1] / "build"
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}


def python_with(name: str, *installs: tuple[str, ...]) -> Path:
    """The interpreter of an environment in which each of `installs` has been given to `uv pip install`."""
    environment = BUILD / name
    python, ready = environment / "bin" / "python", environment / "ready"
    if not ready.exists():
        uv = [sys.executable, "-m", "uv"]
        output([*uv, "venv", "-q", "--clear", str(environment)])
        for packages in installs:
            output([*uv, "pip", "install", "-q", "--python", str(python), *packages])
        ready.touch()
    return python


def output(command: list[str], *, typed: str = "") -> str:
    """What a command prints; where it fails, its last words are said and the benchmark ends."""
    env = {**os.environ, **ONE_CORE}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, input=typed)
    if done.returncode:
        sys.exit(f"{' '.join(command[:5])} ... failed:\n{done.stderr[-2000:]}")
    return done.stdout
