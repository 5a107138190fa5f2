"""How does a reader's own table get in? A CSV file as rows of cells, or one sentence on why it is none.

- A line that starts with # is a comment; blank rows and a byte order mark are passed over.
- Nothing of a directory, a pipe or a file beyond `MAX_BYTES` is read.
"""

from __future__ import annotations

import csv
from pathlib import Path

from costkit import writing
from costkit.units import MIB

MAX_BYTES = 10 * MIB


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
    file = writing.expanded(path)
    try:
        text = _text(file, of, columns)
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        rows = list(csv.reader(lines, strict=True))
    except UnicodeDecodeError:
        raise ValueError(f"'{file.name}' is not text in UTF-8; give a CSV table of {of}.") from None
    except csv.Error as error:
        raise ValueError(f"'{file.name}' can't be read as a CSV table: {error}.") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise ValueError(f"'{file.name}' is empty; it needs a header with {columns}, then a row for each of {of}.")
    return rows


def _text(file: Path, of: str, columns: str) -> str:
    """What the file holds; nothing of it is read where it is no file (a pipe would be waited for)."""
    if file.is_dir():
        raise ValueError(f"'{file}' is a directory; give the CSV file of {of}.")
    if not file.exists():
        raise ValueError(f"There is no file '{file}'; give the CSV of {of} with columns {columns}.")
    if not file.is_file():
        raise ValueError(f"'{file}' is not a regular file; save {of} as a CSV file.")
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(
            f"'{file.name}' has {file.stat().st_size / MIB:.0f} MiB; a table has {MAX_BYTES / MIB:.0f} at most."
        )
    return file.read_text(encoding="utf-8-sig")
