"""How is an answer printed? Aligned text for people, JSON and CSV for programs, files whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from costkit import writing

Rows = Sequence[Mapping[str, Any]]

_NUMBER = re.compile(r"-?\$?\d[\d,.]*(e-?\d+)?[KMBT%]?")
_NARROWEST = 12


def emit(arguments: Namespace, rows: Rows, headings: Sequence[str] = ()) -> None:
    """Print rows as the arguments ask: JSON, CSV, or an aligned table with one line a row."""
    if arguments.json:
        sys.stdout.write(json_text(rows))
    elif arguments.csv:
        sys.stdout.write(csv_text(rows))
    else:
        names = list(rows[0]) if rows else []
        cells = [[_cell(row[name]) for name in names] for row in rows]
        sys.stdout.write(f"{table(headings or [name.replace('_', ' ') for name in names], cells)}\n")


def json_text(value: object) -> str:
    """JSON that every reader takes: what is infinite or unknown becomes null."""
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def csv_text(rows: Rows) -> str:
    """CSV with a header; unknown values are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns under headings, numbers to the right; on a terminal the last column ends where the terminal does.

    >>> print(table(("GPU", "TFLOP/s"), [("A100", "312"), ("H100", "1,979")]))
    GPU   TFLOP/s
    A100      312
    H100    1,979
    """
    body = [[" ".join(cell.split()) for cell in row] for row in rows]
    lines = [list(headings), *body] if any(headings) else body
    if not lines:
        return "none"
    columns = range(len(lines[0]))
    widths = [max(len(line[column]) for line in lines) for column in columns]
    to_right = [_is_numeric([row[column] for row in body]) for column in columns]
    return "\n".join(_line(line, widths, to_right) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> str:
    padded = [c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, to_right, strict=True)]
    return _cut("  ".join(padded).rstrip(), sum(widths[:-1]) + 2 * len(widths[:-1]))


def _cut(line: str, start_of_last: int) -> str:
    if not sys.stdout.isatty():
        return line
    width = max(shutil.get_terminal_size().columns, start_of_last + _NARROWEST)
    return line if len(line) <= width else f"{line[: width - 3].rstrip()}..."


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.6g}".replace("e+", "e").replace("e0", "e")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_whole(path: str | Path, text: str) -> None:
    """Write a file under a temporary name and rename it, so that a failure leaves the old one."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise ValueError(f"cannot write {str(path)!r}: it is a folder; give a file name in it")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {str(path)!r}: it is not a regular file")
    writing.write_whole(target.resolve(), text.encode())
