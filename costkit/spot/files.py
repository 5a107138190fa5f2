"""What stands in a reader's file of a market? Its text, its cells and their numbers, or one sentence on the fault.

- Nothing of a directory, a pipe or a file beyond `reading.MAX_BYTES` is read.
- A line of a table that starts with # is a comment; a time without a zone is taken as UTC.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from costkit import reading, writing
from costkit.units import YEAR

MAX_COUNT = 1_000_000
"""The most machines that one market is believed to have."""

MAX_USD_PER_HOUR = 1e6
"""What no machine costs."""

MAX_S = 3_000 * YEAR
"""A time that is further off is in another unit."""

_TIMES_S = (0.0, 130 * YEAR)
_LONGEST_QUOTED = 40


def text_of(path: str | Path, *, of: str) -> str:
    """What a file holds, which must be something; `of` says in the singular what it should be: "a trace"."""
    text = reading.text_of(path, of=of)
    if not text.strip():
        raise ValueError(f"'{writing.expanded(path).name}' is empty; give the file of {of}.")
    return text


def json_of(where: str, text: str) -> Any:
    """The JSON in a text.

    >>> json_of("'mine.json'", "[0, 1")
    Traceback (most recent call last):
    ValueError: 'mine.json' is not whole JSON: Expecting ',' delimiter, line 1, column 6.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{where} is not whole JSON: {error.msg}, line {error.lineno}, column {error.colno}."
        ) from None
    except (ValueError, RecursionError):
        raise ValueError(f"{where} holds a number or a nesting too long to be read as JSON.") from None


def number(value: object, *, where: str) -> float:
    """A finite number, as JSON has it or as a cell's text.

    >>> number("3.5", where="line 2"), number(2, where="data[0]")
    (3.5, 2.0)
    >>> number("n/a", where="'mine.csv', line 2")
    Traceback (most recent call last):
    ValueError: 'mine.csv', line 2: 'n/a' is not a number.
    """
    found = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            found = float(value)
        except (ValueError, OverflowError):
            found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{where}: {quoted(value)} is not a number.")
    return found


def count(value: object, *, where: str) -> int:
    """A whole number of machines.

    >>> count(16, where="data[3]")
    16
    >>> count(-1, where="'mine.json', data[3]")
    Traceback (most recent call last):
    ValueError: 'mine.json', data[3]: -1 is not a number of machines; it must be a whole number from 0 to 1,000,000.
    """
    try:
        found = number(value, where=where)
    except ValueError:
        found = math.nan
    if not (0 <= found <= MAX_COUNT and found == int(found)):
        raise ValueError(
            f"{where}: {quoted(value)} is not a number of machines; it must be a whole number from 0 to {MAX_COUNT:,}."
        )
    return int(found)


def usd(value: object, *, where: str) -> float:
    """A price of one machine for one hour."""
    found = number(value, where=where)
    if not 0 < found <= MAX_USD_PER_HOUR:
        raise ValueError(
            f"{where}: {quoted(value)} is no price; it must be above 0 and at most {MAX_USD_PER_HOUR:,.0f} USD an hour."
        )
    return found


def seconds(value: object, *, where: str, unit: float = 1.0) -> float:
    """A span of time, or one from some beginning.

    >>> seconds("1.5", where="line 2", unit=3600.0)
    5400.0
    """
    found = number(value, where=where) * unit
    if abs(found) > MAX_S:
        raise ValueError(f"{where}: {quoted(value)} is beyond {MAX_S / YEAR:,.0f} years; is the time in another unit?")
    return found


def instant(value: object, *, where: str) -> tuple[float, bool]:
    """A time stamp in seconds since 1970, and whether it says its zone.

    >>> instant("2023-04-22T01:02:03+00:00", where="line 2"), instant("2023-04-22 01:02:03", where="line 3")
    ((1682125323.0, True), (1682125323.0, False))
    """
    try:
        found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise ValueError(f"{where}: {quoted(value)} is not a time such as 2023-04-22T01:02:03Z (ISO 8601).") from None
    has_zone = found.tzinfo is not None
    time_s = (found if has_zone else found.replace(tzinfo=UTC)).timestamp()
    if not _TIMES_S[0] <= time_s <= _TIMES_S[1]:
        raise ValueError(f"{where}: {quoted(value)} is no time between 1970 and 2100.")
    return time_s, has_zone


def day(time_s: float) -> str:
    """The time stamp as a sentence shows it.

    >>> day(1682125323.0)
    '2023-04-22 01:02'
    """
    return datetime.fromtimestamp(time_s, tz=UTC).strftime("%Y-%m-%d %H:%M")


def quoted(value: object) -> str:
    """A value as a sentence shows it: on one line, of a length that can be read."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}..."


def few(names: list[str], most: int = 8) -> str:
    """The first of some names, each cut to a length that can be read."""
    return ", ".join(" ".join(name.split())[:_LONGEST_QUOTED] for name in names[:most]) + (
        ", ..." if len(names) > most else ""
    )
