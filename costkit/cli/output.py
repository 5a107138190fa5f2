"""How is an answer given? Aligned text for people, JSON and CSV for programs; printed, or a file that is whole.

- No file is written over unless the command line says --replace.
- What a terminal's encoding lacks, and what would steer it, is printed as a question mark; programs and files get the
  text as it is. A stream that is closed swallows what it is sent.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from costkit import writing

Rows = Sequence[Mapping[str, Any]]

_NUMBER = re.compile(r"-?\$?\d[\d,.]*(e-?\d+)?[KMBT%]?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NARROWEST = 12


def prepare(*streams: str) -> None:
    """Make `sys.stdout` and `sys.stderr` ones that can always be written to."""
    for number, name in enumerate(streams, start=1):
        if getattr(sys, name) is None:
            setattr(sys, name, _nowhere(number))
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _nowhere(number: int) -> io.TextIOBase:
    """A stream into nothing under the number of the closed one, so that no file opened later takes its place."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    return os.fdopen(number, "w", encoding="utf-8", closefd=False)


def check_target(arguments: Namespace) -> None:
    """Refuse a file that cannot be written, or that exists without --replace, before anything is computed for it."""
    path = getattr(arguments, "file", None)
    if path is None:
        if getattr(arguments, "replace", False):
            raise ValueError("--replace is about a file: give its name with -o")
    elif writing.writable(path).exists() and not arguments.replace:
        raise ValueError(f"{path!r} exists already: give --replace to write over it, or choose another name")


def deliver(arguments: Namespace, text: str) -> None:
    """Print the text, or write it to the file that the arguments name."""
    if arguments.file is None:
        say(text)
        return
    check_target(arguments)
    writing.write_whole(arguments.file, text.encode())


def say(text: str) -> None:
    """Print the text; on a terminal only what can be seen."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def printable(text: str) -> str:
    r"""The text without what steers a terminal: of control characters only line ends and tabs are left.

    >>> printable("a \x1b[31mred\x1b[0m title\n")
    'a ?[31mred?[0m title\n'
    """
    return _CONTROL.sub("?", text)


def emit(arguments: Namespace, rows: Rows, headings: Sequence[str] = ()) -> None:
    """Deliver rows as the arguments ask: JSON, CSV, or an aligned table with one line a row."""
    if arguments.json:
        text = json_text(rows)
    elif arguments.csv:
        text = csv_text(rows)
    else:
        names = list(rows[0]) if rows else []
        cells = [[_cell(row[name]) for name in names] for row in rows]
        text = f"{table(headings or [name.replace('_', ' ') for name in names], cells, cut=arguments.file is None)}\n"
    deliver(arguments, text)


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


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, cut: bool = True) -> str:
    """Columns under headings, numbers to the right; with `cut`, lines end where the terminal does, if there is one.

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
    padded = [_line(line, widths, to_right) for line in lines]
    start_of_last = sum(widths[:-1]) + 2 * len(widths[:-1])
    return "\n".join(_cut(line, start_of_last) for line in padded) if cut else "\n".join(padded)


def _line(cells: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> str:
    padded = [c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, to_right, strict=True)]
    return "  ".join(padded).rstrip()


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
