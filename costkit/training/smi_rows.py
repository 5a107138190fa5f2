"""How is a GPU log written down? What `nvidia-smi --query-gpu=... --format=csv` writes, as samples by GPU.

- The columns are found by name, in any order: timestamp and utilization.gpu must be there; power.draw and memory.used
  may be, and one of index, uuid or pci.bus_id. Units stand in header and cells, or under `nounits` in the header alone.
- Without a column that tells GPUs apart, the rows of one query (the same timestamp, or milliseconds later) are taken
  for one GPU each, in their order.
- Rows without a utilisation ([N/A], as under MIG) are passed over, and so are a few lines with other than the header's
  number of cells, as a log has that was cut off and carried on. What was passed over is told.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from costkit import reading
from costkit.units import MIB, MINUTE

COMMAND = "nvidia-smi --query-gpu=timestamp,index,utilization.gpu,power.draw,memory.used --format=csv -l 1"

_MOST_BROKEN_FRACTION = 0.01
_LEAST_EVEN_FRACTION = 0.9
_LONGEST_QUOTED = 40
_PREFACE = 2000
_TO_THE_MINUTE = re.compile(r"20\d\d[/-]\d\d[/-]\d\d[ T]\d\d:\d\d", re.ASCII)
_SECONDS = re.compile(r":\d\d(?:\.\d{1,9})?", re.ASCII)
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*(\S*)", re.ASCII)

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Samples:
    """Samples in order of GPU and time.

    `gpu` is a place in `names`; `time_s` counts from the first, `start_s`, which is since 1970 by a clock without a
    zone; power or memory that is not known is nan.
    """

    names: tuple[str, ...]
    gpu: Counts
    start_s: float
    time_s: Floats
    busy_fraction: Floats
    watts: Floats
    used_bytes: Floats
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Column:
    """A column that is read: the names it goes by, what its cells must be, and how one becomes a number."""

    names: tuple[str, ...]
    what: str
    read: Callable[[str], float]


@dataclass(frozen=True)
class _Table:
    """The columns by name, the rows that have a cell in each, and what was passed over."""

    name: str
    columns: list[str]
    rows: list[reading.Row]
    warnings: list[str]

    def at(self, column: _Column) -> int | None:
        """The place of a column, None where there is none."""
        return next((self.columns.index(name) for name in column.names if name in self.columns), None)

    def values(self, column: _Column) -> Floats:
        """The numbers of a column, nan where there are none; each different cell is read once."""
        at = self.at(column)
        if at is None:
            return np.full(len(self.rows), np.nan)
        found: dict[str, float] = {}
        for number, row in self.rows:
            if row[at] not in found:
                try:
                    found[row[at]] = column.read(row[at])
                except ValueError:
                    where = f"'{self.name}', line {number}, column {self.columns[at]}"
                    raise ValueError(f"{where}: {_shown(row[at])} is not {column.what}.") from None
        return np.array([found[row[at]] for _, row in self.rows], float)


def samples_of(name: str, text: str) -> Samples:
    r"""The samples in the text of a log.

    >>> text = "timestamp, index, utilization.gpu [%]\n2024/05/01 12:00:00.000, 0, 87 %\n"
    >>> samples = samples_of("gpus.csv", text)
    >>> samples.names, samples.busy_fraction
    (('0',), array([0.87]))
    """
    _refuse_other_forms(name, text)
    table = _table_of(name, text)
    if not table.rows:
        raise ValueError(f"'{name}' has no samples below its header; log with `{COMMAND}`.")
    times, busy = table.values(_TIMES), table.values(_UTILIZATION) / 100
    names, gpu, told = _gpus_of(table, times)
    known = ~np.isnan(busy)
    if not known.any():
        raise ValueError(f"'{name}' has no utilisation in any row (MIG and some virtual GPUs report none).")
    told = [*table.warnings, *told]
    if not known.all():
        told.append(f"'{name}': {np.count_nonzero(~known):,} rows without a utilisation are passed over.")
    keep, more = _in_order(name, times, gpu, known & (gpu >= 0))
    seen, gpu = np.unique(gpu[keep], return_inverse=True)
    watts, used = table.values(_POWER)[keep], table.values(_MEMORY)[keep] * MIB
    start_s = float(times[keep].min())
    return Samples(
        names=tuple(names[i] for i in seen),
        gpu=gpu,
        start_s=start_s,
        time_s=np.round(times[keep] - start_s, 6),
        busy_fraction=busy[keep],
        watts=watts,
        used_bytes=used,
        warnings=(*told, *more),
    )


def _refuse_other_forms(name: str, text: str) -> None:
    """Name what else nvidia-smi writes, with the way out."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    what = ""
    if not first:
        what = "is empty"
    elif first.startswith("#") and "gpu" in re.split(r"[\s,#]+", first.casefold()):
        what = "is what `nvidia-smi dmon` or `pmon` prints"
    elif "NVSMI LOG" in text[:_PREFACE] or "| NVIDIA-SMI" in text[:_PREFACE]:
        what = "is a report for the eye, not a table"
    elif any(_TO_THE_MINUTE.match(cell.strip()) for cell in first.split(",")):
        what = "has no header; write the names of its columns above it, or leave out noheader"
    if what:
        raise ValueError(f"'{name}' {what}; log with `{COMMAND}`.")


def _table_of(name: str, text: str) -> _Table:
    """The lines as cells: nvidia-smi quotes none, and a long log is read several times as fast as other tables."""
    lines = ((number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip())
    rows = [(number, [cell.strip() for cell in line.split(",")]) for number, line in lines if line[0] != "#"]
    if not rows:
        raise ValueError(f"'{name}' holds nothing but comments; log with `{COMMAND}`.")
    header = rows[0][1]
    data = [row for row in rows[1:] if row[1] != header]  # a log that was carried on has its header again
    table = _Table(name, [re.sub(r"\s*\[.*\]$", "", cell).casefold() for cell in header], data, [])
    for needed in (_TIMES, _UTILIZATION):
        if table.at(needed) is None:
            has = ", ".join(_shown(cell) for cell in header[:8])
            raise ValueError(f"'{name}' has no column {needed.names[0]}, only {has}; log with `{COMMAND}`.")
    return _without_cut_end(_without_broken(table), text)


def _without_broken(table: _Table) -> _Table:
    """The table without rows of another length, where they are few; many are an error."""
    n_cells = len(table.columns)
    broken = [number for number, row in table.rows if len(row) != n_cells]
    if not broken:
        return table
    where = f"'{table.name}', line {broken[0]}"
    if len(broken) > max(1, _MOST_BROKEN_FRACTION * len(table.rows)):
        raise ValueError(
            f"{where}: {len(broken):,} of {len(table.rows):,} rows do not have the {n_cells} cells of the header; "
            f"log with `{COMMAND}`."
        )
    others = f", and so are {len(broken) - 1:,} others" if len(broken) > 1 else ""
    told = f"{where}: this line is cut off or no sample, and passed over{others}."
    rows = [row for row in table.rows if len(row[1]) == n_cells]
    return _Table(table.name, table.columns, rows, [*table.warnings, told])


def _without_cut_end(table: _Table, text: str) -> _Table:
    """The table without a last row that ends amid a cell."""
    if not table.rows or not (_is_unreadable(table) or _lacks_unit(table, text)):
        return table
    number = table.rows[-1][0]
    told = f"'{table.name}', line {number}: this last line is cut off, and passed over."
    return _Table(table.name, table.columns, table.rows[:-1], [*table.warnings, told])


def _is_unreadable(table: _Table) -> bool:
    last = _Table(table.name, table.columns, table.rows[-1:], [])
    try:
        for column in _COLUMNS:
            last.values(column)
    except ValueError:
        return True
    return False


def _lacks_unit(table: _Table, text: str) -> bool:
    if text.endswith("\n") or len(table.rows) < 2:
        return False
    before, last = (_QUANTITY.fullmatch(row[-1]) for _, row in table.rows[-2:])
    return before is not None and last is not None and bool(before[2]) and before[2] != last[2]


def _gpus_of(table: _Table, times: Floats) -> tuple[list[str], Counts, list[str]]:
    """The GPUs, the place of each row's among them (-1 for none), and a warning."""
    columns = [[row[table.columns.index(one)] for _, row in table.rows] for one in _IDS if one in table.columns]
    if not columns:
        return _counted(table.name, times)
    cells = max(columns, key=lambda column: len(set(column)))
    names = sorted(set(cells), key=lambda one: (len(one), one))
    places = {one: i for i, one in enumerate(names)}
    return names, np.array([places[cell] for cell in cells]), []


def _counted(name: str, times: Floats) -> tuple[list[str], Counts, list[str]]:
    """The rows of one query as one GPU each, by their place in it."""
    gaps = np.abs(np.diff(times))
    within_s = np.percentile(gaps, 97) / 4 if gaps.size else 0.0
    for limit in (within_s, 0.0):
        starts = np.flatnonzero(np.concatenate(([True], gaps > limit)))
        sizes = np.diff(np.append(starts, times.size))
        n = int(np.bincount(sizes).argmax())
        if np.mean(sizes == n) >= _LEAST_EVEN_FRACTION:
            place = np.arange(times.size) - np.repeat(starts, sizes)
            gpu = np.where(np.repeat(sizes, sizes) == n, place, -1)
            n_left, of = np.count_nonzero(gpu < 0), f"'{name}': no column tells GPUs apart"
            told = [f"{of}; the {n} rows of each query are taken for {n} GPUs in their order."] if n > 1 else []
            told += [f"{of}; {n_left:,} rows of queries that have not {n} are passed over."] if n_left else []
            return [str(i) for i in range(n)], gpu, told
    raise ValueError(f"'{name}' has no column that tells its GPUs apart; log with `{COMMAND}`.")


def _in_order(name: str, times: Floats, gpu: Counts, known: npt.NDArray[np.bool_]) -> tuple[Counts, list[str]]:
    """The places of the samples in order of GPU and time, one for each, and what was odd about that."""
    as_written = np.flatnonzero(known)[np.argsort(gpu[known], kind="stable")]
    back = (np.diff(times[as_written]) < 0) & (np.diff(gpu[as_written]) == 0)
    order = as_written[np.lexsort((times[as_written], gpu[as_written]))]
    again = (np.diff(times[order], prepend=-np.inf) == 0) & (np.diff(gpu[order], prepend=-1) == 0)
    told = []
    if n_back := np.count_nonzero(back):
        told.append(f"'{name}': {n_back:,} rows are earlier than the row before; they were put in order of time.")
    if n_again := np.count_nonzero(again):
        told.append(f"'{name}': {n_again:,} rows repeat a GPU and a time; the first of each counts.")
    return order[~again], told


def _shown(cell: str) -> str:
    return repr(cell) if len(cell) <= _LONGEST_QUOTED else f"{cell[:_LONGEST_QUOTED]!r}..."


def _time_s(cell: str) -> float:
    """The time stamp in seconds since 1970, as if its clock showed UTC."""
    return _minute_s(cell[:16]) + _second_s(cell[16:])


@functools.lru_cache(maxsize=4096)
def _minute_s(text: str) -> float:
    if not _TO_THE_MINUTE.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.replace("/", "-")).replace(tzinfo=UTC).timestamp()


@functools.lru_cache(maxsize=65_536)
def _second_s(text: str) -> float:
    if not _SECONDS.fullmatch(text) or float(text[1:]) >= MINUTE:
        raise ValueError(text)
    return round(float(text[1:]), 6)  # finer ones are lost in a sum since 1970


def _quantity(unit: str, most: float) -> Callable[[str], float]:
    """A reader of cells such as "87 %" or "87"; "[N/A]" and other brackets are nan."""

    def read(cell: str) -> float:
        if not cell or cell.startswith("[") or cell.casefold() in ("n/a", "not supported"):
            return np.nan
        found = _QUANTITY.fullmatch(cell)
        if found is None or found[2] not in ("", unit) or float(found[1]) > most:
            raise ValueError(cell)
        return float(found[1])

    return read


_TIMES = _Column(("timestamp",), "a time such as 2024/05/01 12:34:56.789", _time_s)
_UTILIZATION = _Column(("utilization.gpu",), "a utilisation from 0 % to 100 %", _quantity("%", 100))
_POWER = _Column(
    ("power.draw", "power.draw.average", "power.draw.instant"), "a power in W up to 100,000 W", _quantity("W", 1e5)
)
_MEMORY = _Column(("memory.used",), "an amount of memory in MiB up to 100,000,000 MiB", _quantity("MiB", 1e8))
_COLUMNS = (_TIMES, _UTILIZATION, _POWER, _MEMORY)
_IDS = ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id")
