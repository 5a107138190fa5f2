"""How do logs of spot machines read? Three forms name each machine or count them all; none has a header.

- `time_ms,add|remove,node`, one machine a line: the logs that came with Bamboo (Thorpe et al., NSDI 2023).
- `[time_ms, "add|remove|no-op|migration", {"nodes": [...], "duration": ms}]`, one JSON list a line: those of Parcae
  (Duan et al., NSDI 2024). Only add and remove change what there is.
- `time_ms,count` or `YYYY-MM-DD, HH:MM:SS, count`: how many there were.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from costkit import reading
from costkit.spot import files

MILLISECOND = 1e-3
KINDS = ("add", "remove", "no-op", "migration")

_DATE = re.compile(r"\d{4}-\d\d-\d\d$")


@dataclass(frozen=True)
class Change:
    """Machines that came or went at one time; `where` names the line."""

    time_s: float
    where: str
    kind: str
    nodes: tuple[str, ...]
    duration_s: float = 0.0


@dataclass(frozen=True)
class Seen:
    """How many machines there were at one time; `is_dated` where the line has a date rather than milliseconds."""

    time_s: float
    count: int
    is_dated: bool


def is_log(text: str) -> bool:
    """Whether a text looks like one of these logs, by its first line.

    >>> is_log("0,add,node1"), is_log("2021-12-11, 11:11:30, 55"), is_log("time_s,available")
    (True, True, False)
    """
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    cells = [cell.strip() for cell in first.split(",")]
    if re.match(r"\s*\[[^\[\],]+,\s*\"", first):
        return True
    if len(cells) == 3:
        return cells[1] in KINDS or bool(_DATE.match(cells[0]))
    return len(cells) == 2 and all(re.fullmatch(r"\d+(\.\d+)?", cell) for cell in cells)


def lines_of(name: str, text: str) -> list[Change] | list[Seen]:
    r"""Every line of a log.

    >>> lines_of("mine.csv", "0,add,node1\n60000,remove,node1\n")[1].nodes
    ('node1',)
    """
    if not is_log(text):
        raise ValueError(
            f"'{name}' is no log of machines; its lines must be time_ms,add|remove,node or time_ms,count "
            "or YYYY-MM-DD, HH:MM:SS, count, without a header."
        )
    if text.lstrip().startswith("["):
        lines = enumerate(text.splitlines(), start=1)
        return [_json_change(name, number, line) for number, line in lines if line.strip()]
    rows = reading.rows_of(name, text)
    if len(rows[0][1]) == 3 and rows[0][1][1] in KINDS:
        return [_change(name, row) for row in rows]
    is_dated = len(rows[0][1]) == 3
    return [_seen(name, row, is_dated=is_dated) for row in rows]


def _change(name: str, row: reading.Row) -> Change:
    where, (time_ms, kind, node) = _cells(name, row, "time_ms,add|remove,node")
    _require_kind(kind, where)
    if not node:
        raise ValueError(f"{where}: no machine is named; a line is time_ms,add|remove,node.")
    return Change(_time_s(time_ms, where), where, kind, (node,))


def _seen(name: str, row: reading.Row, *, is_dated: bool) -> Seen:
    where, cells = _cells(name, row, "YYYY-MM-DD, HH:MM:SS, count" if is_dated else "time_ms,count")
    time_s = files.instant("T".join(cells[:2]), where=where)[0] if is_dated else _time_s(cells[0], where)
    return Seen(time_s, files.count(cells[-1], where=where), is_dated)


def _cells(name: str, row: reading.Row, form: str) -> tuple[str, list[str]]:
    number, cells = row
    where = f"'{name}', line {number}"
    if len(cells) != form.count(",") + 1:
        raise ValueError(f"{where}: has {len(cells)} cells; each line must be {form}.")
    return where, cells


def _json_change(name: str, number: int, line: str) -> Change:
    where = f"'{name}', line {number}"
    found = files.json_of(where, line)
    if not (isinstance(found, list) and len(found) == 3 and isinstance(found[2], dict)):
        raise ValueError(f'{where}: must be [time_ms, "add", {{"nodes": [...], "duration": ms}}].')
    time_ms, kind, details = found
    nodes, duration_ms = details.get("nodes"), details.get("duration", 0)
    _require_kind(kind, where)
    if not (isinstance(nodes, list) and all(isinstance(node, str) for node in nodes)):
        raise ValueError(f"{where}: nodes is {files.quoted(nodes)}; it must be a list of names.")
    return Change(_time_s(time_ms, where), where, kind, tuple(nodes), _time_s(duration_ms, where))


def _require_kind(kind: object, where: str) -> None:
    if not (isinstance(kind, str) and kind in KINDS):
        raise ValueError(f"{where}: {files.quoted(kind)} is no change; it must be one of {', '.join(KINDS)}.")


def _time_s(value: object, where: str) -> float:
    found = files.seconds(value, where=where, unit=MILLISECOND)
    if found < 0:
        raise ValueError(f"{where}: {files.quoted(value)} is before the log began; times are milliseconds from 0 on.")
    return found
