"""How long did machines live, and how many went at once? A log of machines that came and went.

- Lines that are earlier than the line before are put in order of time, and a warning says so.
- Where machines are only counted, nobody knows which of them went: there are no life times.
- A log in milliseconds starts at its own zero, unless that is further off than the log is long (a clock's time).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from costkit import units, writing
from costkit.spot import files, grids, log_formats
from costkit.spot.log_formats import Change, Seen
from costkit.spot.trace import Counts, Floats, Trace
from costkit.units import HOUR, MINUTE

_SHORTEST_S = 1.0


@dataclass(frozen=True, eq=False)
class NodeLog:
    """Machines that came and went: at `times_s` from the log's start, `n_added` came and `n_removed` went.

    Those that were there at the start count as added then. Times are distinct, except where a count was written down
    twice for one time. `lives_s` are whole life times of machines that went, `censored_s` the ages at the end of those
    that stayed; both are empty where machines are only counted.
    """

    name: str
    times_s: Floats
    n_added: Counts
    n_removed: Counts
    duration_s: float
    lives_s: Floats
    censored_s: Floats
    warnings: tuple[str, ...] = ()

    @property
    def n_up(self) -> Counts:
        """How many there are from each time on."""
        return np.cumsum(self.n_added - self.n_removed)

    @property
    def n_events(self) -> int:
        """How often a machine came or went."""
        return int(self.n_added.sum() + self.n_removed.sum())

    @property
    def node_hours(self) -> float:
        """Hours that machines were there, summed over all of them."""
        return float(np.sum(self.n_up * np.diff(self.times_s, append=self.duration_s)) / HOUR)

    @property
    def mean_burst(self) -> float | None:
        """How many go at once, on average over the times when any goes; None where none ever did."""
        going = self.n_removed[self.n_removed > 0]
        return float(going.mean()) if going.size else None

    @property
    def removals_per_node_hour(self) -> float | None:
        """How often a machine is taken; None where none was there for any time."""
        return float(self.n_removed.sum()) / self.node_hours if self.node_hours else None

    def trace(self, step_s: float = MINUTE) -> Trace:
        r"""The log in steps of equal length, each with the fewest machines there were within it.

        >>> log_of("mine.csv", "0,add,a\n0,add,b\n90000,remove,a\n240000,remove,b\n").trace().available.tolist()
        [2, 1, 1, 1]
        """
        n = grids.n_steps(self.name, self.duration_s, step_s)
        fewest = grids.least(self.times_s, self.n_up, step_s=step_s, n=n)
        return Trace(self.name, float(step_s), fewest, warnings=self.warnings)


def read_node_log(path: str | Path) -> NodeLog:
    """Read a log of machines; a ValueError of one sentence names the line that is wrong.

    The forms are those of `log_formats`.
    """
    return log_of(writing.expanded(path).name, files.text_of(path, of="a log of machines"))


def log_of(name: str, text: str) -> NodeLog:
    r"""The log in a text.

    >>> log = log_of("mine.csv", "0,add,a\n0,add,b\n3600000,remove,a\n7200000,remove,b\n")
    >>> log.node_hours, log.mean_burst, log.lives_s.tolist()
    (3.0, 1.0, [3600.0, 7200.0])
    """
    lines = log_formats.lines_of(name, text)
    changes = [line for line in lines if isinstance(line, Change)]
    ordered = sorted(changes, key=lambda line: line.time_s)
    seen = [line for line in lines if isinstance(line, Seen)]
    log = _of_changes(name, ordered) if changes else _of_counts(name, seen)
    if not log.n_up.any():
        raise ValueError(f"'{name}' never has a machine; a log needs at least one that is there for some time.")
    warnings = (*_order_warnings(lines), *_unit_warnings(log), *log.warnings)
    return dataclasses.replace(log, warnings=tuple(f"'{name}': {warning}" for warning in warnings))


def _order_warnings(lines: Sequence[Change | Seen]) -> list[str]:
    times = np.array([line.time_s for line in lines])
    n_back = int(np.count_nonzero(np.diff(times) < 0))
    if not n_back:
        return []
    told = f"{n_back} of {len(lines):,} lines are earlier than the line before; they were put in order of time"
    counts = [line.count for line in lines if isinstance(line, Seen)]
    if not counts:
        return [f"{told}."]
    in_time = np.array(counts)[np.argsort(times, kind="stable")]
    lost = [int(-np.minimum(np.diff(order), 0).sum()) for order in (in_time, np.array(counts))]
    return [f"{told}, which counts {lost[0]} machines lost (in the order of its lines: {lost[1]})."]


def _unit_warnings(log: NodeLog) -> list[str]:
    usual = float(np.median(np.diff(np.unique([*log.times_s, log.duration_s]))))
    if usual >= _SHORTEST_S:
        return []
    said = f"its times, read as milliseconds, are {units.duration(usual)} apart"
    return [f"{said}; if they are seconds, give it a header: time_s,available."]


def _of_changes(name: str, changes: list[Change]) -> NodeLog:
    start = _start_s([change.time_s for change in changes])
    end = max(change.time_s + change.duration_s for change in changes)
    lives, ages = _lives(changes, end)
    moving = [change for change in changes if change.kind in ("add", "remove")]
    times, index = np.unique([start, *(change.time_s for change in moving)], return_inverse=True)
    added, removed = np.zeros(len(times), int), np.zeros(len(times), int)
    for change, i in zip(moving, index[1:], strict=True):
        (added if change.kind == "add" else removed)[i] += len(change.nodes)
    return _built(name, times - start, added, removed, duration_s=end - start, lives=(lives, ages))


def _lives(changes: list[Change], end: float) -> tuple[list[float], list[float]]:
    """Whole life times, and ages at the end of those that are still there."""
    born: dict[str, float] = {}
    lives = []
    for change in changes:
        for node in change.nodes:
            if change.kind == "add" and node in born:
                raise ValueError(f"{change.where}: adds {files.quoted(node)}, which is there already.")
            if change.kind == "add":
                born[node] = change.time_s
            elif change.kind == "remove" and node not in born:
                raise ValueError(f"{change.where}: removes {files.quoted(node)}, which is not there; add it first.")
            elif change.kind == "remove":
                lives.append(change.time_s - born.pop(node))
    return lives, [end - time for time in born.values()]


def _of_counts(name: str, seen: list[Seen]) -> NodeLog:
    ordered = sorted(seen, key=lambda line: line.time_s)
    clock = np.array([line.time_s for line in ordered])
    start = clock[0] if ordered[0].is_dated else _start_s(clock.tolist())
    moves = np.diff([line.count for line in ordered], prepend=0)
    times, index = np.unique(clock, return_inverse=True)
    if ordered[0].is_dated:  # each line is one look at the market, whatever its time
        times, index = clock, np.arange(len(clock))
    added, removed = np.zeros(len(times), int), np.zeros(len(times), int)
    np.add.at(added, index, np.maximum(moves, 0))
    np.add.at(removed, index, np.maximum(-moves, 0))
    if times[0] > start:
        times, added, removed = (
            np.insert(column, 0, first) for column, first in ((times, start), (added, 0), (removed, 0))
        )
    log = _built(name, times - start, added, removed, duration_s=float(clock[-1] - start))
    hole = grids.hole(times) if ordered[0].is_dated else None
    if hole is None:
        return log
    since, length = files.day(hole[0]), units.duration(hole[1])
    told = f"nothing is written down for {length} from {since} on; the count before it is held."
    return dataclasses.replace(log, warnings=(told,))


def _start_s(times: list[float]) -> float:
    first, span = min(times), max(times) - min(times)
    return 0.0 if first <= span else first


def _built(
    name: str,
    times_s: Floats,
    added: Counts,
    removed: Counts,
    *,
    duration_s: float,
    lives: tuple[list[float], list[float]] = ([], []),
) -> NodeLog:
    if duration_s <= 0:
        raise ValueError(f"'{name}' has only one time; a log needs lines of at least two.")
    whole, censored = (np.array(seconds, float) for seconds in lives)
    return NodeLog(name, times_s, added, removed, float(duration_s), whole, censored)
