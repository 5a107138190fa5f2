"""How does a record of a market get in? Public and own files as a trace, or one sentence on why it is none.

- JSON `{"metadata": {"gap_seconds": G}, "data": [counts], "prices": [...]}`, prices optional: the form of the traces
  behind Wu et al., NSDI 2024 ("Can't Be Late").
- CSV with a header: `time_s`, `time_h` or `timestamp` (ISO 8601), `available`, and optionally `usd_per_hour`.
- Logs of machines: see `log_formats`.
- A row holds until the next one, the last for one more step. Without `step_s`, even spacing makes the step; uneven
  spacing makes steps of a minute at most. A step has the fewest machines there were within it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from costkit import reading, tables, units, writing
from costkit.spot import files, grids, known_traces, log_formats, node_logs
from costkit.spot.trace import Counts, Floats, Trace
from costkit.units import HOUR, MINUTE

_FORM = '{"metadata": {"gap_seconds": 300}, "data": [0, 1, ...]}'
_TIMES = {"time_s": 1.0, "time_h": HOUR, "timestamp": 1.0}


def read_trace(path: str | Path, *, ones_mean: str = "available", step_s: float | None = None) -> Trace:
    """Read a trace; a ValueError of one sentence says what is wrong, and where.

    Args:
        path: The file.
        ones_mean: "available", or "unavailable" where the file counts what was missing of its largest count.
        step_s: The step onto which rows are put whose times are their own.

    Raises:
        ValueError: It is no trace, or contradicts the published trace of its name.
        OSError: It can't be read.
    """
    tables.lookup("meaning of ones", ones_mean, dict.fromkeys(known_traces.POLARITIES))
    if step_s is not None:
        units.require_positive(step_s, "step_s", "seconds")
    text = files.text_of(path, of="a trace")
    trace = _trace_of(writing.expanded(path).name, text, step_s=step_s, ones_mean=ones_mean)
    trace = dataclasses.replace(trace, name=writing.expanded(path).stem)
    row = known_traces.published(trace)
    told = known_traces.warnings_on(trace, ones_mean=ones_mean)
    return dataclasses.replace(trace, name=row["name"] if row else trace.name, warnings=(*trace.warnings, *told))


def _trace_of(name: str, text: str, *, step_s: float | None, ones_mean: str) -> Trace:
    if log_formats.is_log(text):
        if ones_mean != "available":
            raise ValueError(f"'{name}' is a log of machines that were there; read it with ones_mean=\"available\".")
        return node_logs.log_of(name, text).trace(MINUTE if step_s is None else step_s)
    if text.lstrip()[0] in "{[":
        if step_s is not None:
            raise ValueError(f"'{name}' has a step of its own, metadata.gap_seconds; leave step_s out.")
        return _turned(_public(name, files.json_of(f"'{name}'", text)), ones_mean)
    rows = _rows_of(name, reading.rows_of(name, text))
    return _turned(_gridded(name, rows, step_s), ones_mean)


def _turned(trace: Trace, ones_mean: str) -> Trace:
    if ones_mean == "available":
        return trace
    return dataclasses.replace(trace, available=max(trace.capacity, 1) - trace.available)


def _public(name: str, found: Any) -> Trace:
    """The public JSON form."""
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not (isinstance(metadata, dict) and "gap_seconds" in metadata and "data" in found):
        raise ValueError(f"'{name}' is JSON of another kind; a trace is {_FORM}.")
    gap, where = metadata["gap_seconds"], f"'{name}', metadata.gap_seconds"
    if isinstance(gap, str) or files.seconds(gap, where=where) <= 0:
        raise ValueError(f"{where}: {files.quoted(gap)} is no step; it must be a positive number of seconds.")
    available = _column(name, "data", found["data"], files.count)
    if len(available) < 2:
        raise ValueError(f"'{name}' has {len(available)} steps in data; a trace needs at least two.")
    prices = found.get("prices")
    usd = None if prices is None else _column(name, "prices", prices, files.usd)
    if usd is not None and len(usd) != len(available):
        raise ValueError(f"'{name}' has {len(usd)} prices for {len(available)} steps; give one for each, or none.")
    return Trace(name, float(gap), np.array(available, int), None if usd is None else np.array(usd, float))


def _column(name: str, key: str, values: object, read: Callable[..., float]) -> list[float]:
    if not isinstance(values, list):
        raise ValueError(f"'{name}', {key}: {files.quoted(values)} is no list; a trace is {_FORM}.")
    text = next((i for i, value in enumerate(values) if isinstance(value, str)), None)
    if text is not None:
        raise ValueError(
            f"'{name}', {key}[{text}]: {files.quoted(values[text])} is text; write a number, without quotes."
        )
    return [read(value, where=f"'{name}', {key}[{i}]") for i, value in enumerate(values)]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a table in order of time."""

    times_s: Floats
    available: Counts
    usd_per_hour: Floats | None
    warnings: tuple[str, ...]


def _rows_of(name: str, table: list[reading.Row]) -> _Rows:
    """The reader's own table: its columns found by name, each cell checked."""
    if not table:
        raise ValueError(f"'{name}' holds nothing but comments; a trace needs a header with a time and available.")
    header, *rows = table
    names = [cell.casefold() for cell in header[1]]
    clock = next((column for column in _TIMES if column in names), None)
    if clock is None or "available" not in names:
        missing = "a time (time_s, time_h or timestamp)" if clock is None else "available"
        raise ValueError(f"'{name}' has no column for {missing}; it has {files.few(header[1])}.")
    if len(rows) < 2:
        raise ValueError(f"'{name}' has {len(rows)} rows below its header; a trace needs at least two.")

    def cells(column: str) -> list[tuple[str, str]]:
        at = names.index(column)
        return [(f"'{name}', line {n}, column {column}", row[at] if at < len(row) else "") for n, row in rows]

    times, told = _times(name, clock, cells(clock))
    available = np.array([files.count(cell, where=where) for where, cell in cells("available")], int)
    usd = None
    if "usd_per_hour" in names:
        usd = np.array([files.usd(cell, where=where) for where, cell in cells("usd_per_hour")], float)
    return _ordered(name, _Rows(times, available, usd, tuple(told)), [number for number, _ in rows])


def _times(name: str, clock: str, cells: list[tuple[str, str]]) -> tuple[Floats, list[str]]:
    """The times in seconds; those of a clock are since 1970."""
    if clock != "timestamp":
        return np.array([files.seconds(cell, where=where, unit=_TIMES[clock]) for where, cell in cells]), []
    found = [files.instant(cell, where=where) for where, cell in cells]
    told = [] if all(has_zone for _, has_zone in found) else [f"'{name}': times without a zone were taken as UTC."]
    return np.array([time for time, _ in found]), told


def _ordered(name: str, rows: _Rows, numbers: list[int]) -> _Rows:
    """The rows in order of time, without those that say the same again."""
    told, n_back = list(rows.warnings), int(np.count_nonzero(np.diff(rows.times_s) < 0))
    if n_back:
        told.append(f"'{name}': {n_back} rows are earlier than the row before; they were put in order of time.")
    order = np.argsort(rows.times_s, kind="stable")
    times, available = rows.times_s[order], rows.available[order]
    usd = None if rows.usd_per_hour is None else rows.usd_per_hour[order]
    again = np.diff(times, prepend=-np.inf) == 0
    differs = again & (np.diff(available, prepend=-1) != 0)
    if usd is not None:
        differs |= again & (np.diff(usd, prepend=0) != 0)
    if differs.any():
        i = int(np.flatnonzero(differs)[0])
        pair = " and ".join(str(numbers[order[j]]) for j in (i - 1, i))
        raise ValueError(f"'{name}', lines {pair} differ for one and the same time; keep one of them.")
    if again.any():
        told.append(f"'{name}': {int(again.sum())} rows stand there twice and count once.")
    keep = ~again
    return _Rows(times[keep], available[keep], None if usd is None else usd[keep], tuple(told))


def _gridded(name: str, rows: _Rows, step_s: float | None) -> Trace:
    times, told = rows.times_s, list(rows.warnings)
    if len(times) < 2:
        raise ValueError(f"'{name}' has rows of one time only; a trace needs at least two.")
    step = grids.spacing_s(times) if step_s is None else float(step_s)
    n = grids.n_steps(name, float(times[-1] - times[0]) + step, step)
    hole = grids.hole(times)
    if hole is not None:
        at = units.duration(hole[0] - float(times[0]))
        told.append(
            f"'{name}': nothing is written down for {units.duration(hole[1])}, {at} after its start; "
            "the count before it is held."
        )
    available = grids.least(times, rows.available, step_s=step, n=n)
    usd = None if rows.usd_per_hour is None else rows.usd_per_hour[grids.held(times, step_s=step, n=n)]
    return Trace(name, step, available, usd, tuple(told))
