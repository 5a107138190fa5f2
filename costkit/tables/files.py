"""Where do tables lie, and what is in a cell? The package's data folder, rows as text, cells as numbers."""

from __future__ import annotations

import contextlib
import csv
import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from costkit.tables.names import unknown

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: str) -> Path:
    """The folder `data` or `notebooks`: the installed package's own, else the checkout's.

    >>> folder("data").name
    'data'
    """
    if kind not in ("data", "notebooks"):
        raise unknown("folder", kind, ("data", "notebooks"))
    for candidate in (_PACKAGE / kind, _PACKAGE.parent / kind):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"costkit's folder {kind!r} is neither in the package nor in a checkout; reinstall costkit")


def path(name: str) -> Path:
    """Where the data file `name` lies, e.g. "gpus.csv" or "plans/case-50k.toml".

    >>> path("gpus.csv").is_file()
    True
    """
    root = folder("data")
    found = root / name
    with contextlib.suppress(OSError):  # a name too long for the file system is no file either
        if found.is_file() and found.resolve().is_relative_to(root.resolve()):
            return found
    raise unknown("data file", name, (str(file.relative_to(root)) for file in root.rglob("*.*")))


@functools.cache
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a table, as text by column name; read once, and read-only.

    >>> rows("gpus.csv")[0]["vendor"]
    'NVIDIA'
    """
    with path(name).open(encoding="utf-8", newline="") as file:
        return tuple(MappingProxyType(row) for row in csv.DictReader(file, strict=True))


def number(row: Mapping[str, str], column: str, unit: float = 1.0) -> float | None:
    """A cell as a number, in base units where `unit` is that of the column; None where it is empty.

    >>> number({"mean_life_h": "0.5"}, "mean_life_h", 3600.0), number({"mean_life_h": ""}, "mean_life_h")
    (1800.0, None)
    """
    return float(row[column]) * unit if row[column] else None
