"""How does a reader's own file get in? Its text, its rows of cells, or one sentence on why it is none.

- A line of a table that starts with # is a comment; blank rows and a byte order mark are passed over.
- Nothing of a directory, a pipe or a file beyond `MAX_BYTES` is read.
"""

from __future__ import annotations

import csv
from pathlib import Path

from costkit import writing
from costkit.units import MIB

MAX_BYTES = 10 * MIB

Row = tuple[int, list[str]]
"""A line's number in its file, and its cells."""


def text_of(path: str | Path, *, of: str, kind: str = "file", more: str = "") -> str:
    """What a file holds.

    Args:
        path: The file.
        of: What it should hold, as the sentences say it: "a trace", "your runs".
        kind: What kind of file that is: "CSV file".
        more: What they add to it: " with columns params, loss".

    Raises:
        ValueError: There is no such file, or it is no text; one sentence says which.
        OSError: It can't be read.
    """
    file = writing.expanded(path)
    if file.is_dir():
        raise ValueError(f"'{file}' is a directory; give the {kind} of {of}.")
    if not file.exists():
        raise ValueError(f"There is no file '{file}'; give the {kind} of {of}{more}.")
    if not file.is_file():
        raise ValueError(f"'{file}' is not a regular file; save {of} as a {kind}.")
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"'{file.name}' has {size / MIB:.0f} MiB; a {kind} has {MAX_BYTES / MIB:.0f} at most.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"'{file.name}' is not text in UTF-8; save {of} as a {kind} in UTF-8.") from None


def rows_of(name: str, text: str, *, delimiter: str = ",") -> list[Row]:
    r"""The lines of a table that have a cell, each with its number; comments are passed over.

    >>> rows_of("mine.csv", "# hours\ntime_s,available\n0, 1\n")
    [(2, ['time_s', 'available']), (3, ['0', '1'])]
    """
    lines = ("" if line.lstrip().startswith("#") else line for line in text.splitlines())
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"'{name}' can't be read as a table: {error}.") from None
    return [(number, row) for number, row in rows if any(row)]


def csv_rows(path: str | Path, *, of: str, columns: str) -> list[list[str]]:
    """The header and the rows of a CSV file.

    Args:
        path: The file.
        of: What each row stands for, in the plural, as the sentences say it: "your runs".
        columns: The columns that the file needs, as the sentences list them.

    Raises:
        ValueError: There is no such file, or it is no table; one sentence says which.
        OSError: It can't be read.
    """
    name = writing.expanded(path).name
    rows = rows_of(name, text_of(path, of=of, kind="CSV file", more=f" with columns {columns}"))
    if not rows:
        raise ValueError(f"'{name}' is empty; it needs a header with {columns}, then a row for each of {of}.")
    return [row for _, row in rows]
