"""What did others measure? Speed-ups of single changes, each in its context.

- A factor is tokens per second after the change over those before, of the whole step that was measured.
- It holds for the GPU, model, sequence length and code it was measured with; `training.step_scores` says how well a
  model of a step foretells it elsewhere.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit import tables
from costkit.units import Range

_LOWER_IS_BETTER = ("ms/step", "s/iter", "days", "ms/layer")


@dataclass(frozen=True)
class Named:
    """What is known of a lever by name: its label, its group, the effort it takes, what it overlaps with."""

    name: str
    label: str
    group: str
    effort_rank: int
    effort: str
    acts_on: tuple[str, ...]
    overlaps_with: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Evidence:
    """One measured change: before and after in the units of its source, and where it was measured."""

    id: str
    change: str
    gpu: str
    workload: str
    before: float | None
    after: float | None
    unit: str
    factor: Range
    source: str
    note: str
    context: Mapping[str, str]


@functools.cache
def known() -> Mapping[str, Named]:
    """The levers that are known by name, cheapest effort first.

    >>> known()["tf32"].effort, known()["spot"].group
    ('a flag', 'price')
    """
    rows = sorted(tables.rows("levers.csv"), key=lambda row: (int(row["effort_rank"]), row["key"]))
    return MappingProxyType({row["key"]: _named(row) for row in rows})


def _named(row: Mapping[str, str]) -> Named:
    return Named(
        name=row["key"],
        label=row["label"],
        group=row["group"],
        effort_rank=int(row["effort_rank"]),
        effort=row["effort"],
        acts_on=tuple(row["acts_on"].split()),
        overlaps_with=tuple(row["overlaps_with"].split()),
        note=row["note"],
    )


@functools.cache
def evidence() -> tuple[Evidence, ...]:
    """Every measured change, as its source prints it."""
    return tuple(_evidence(row) for row in tables.rows("lever_evidence.csv"))


def _evidence(row: Mapping[str, str]) -> Evidence:
    before, after = tables.number(row, "before"), tables.number(row, "after")
    if before is None or after is None:
        low, high = float(row["factor_low"]), float(row["factor_high"])
        factor = Range(low, (low * high) ** 0.5, high)
    else:
        factor = Range.exact(before / after if row["unit"] in _LOWER_IS_BETTER else after / before)
    about = {name: row[name] for name in ("id", "change", "gpu", "workload", "unit", "source", "note")}
    return Evidence(before=before, after=after, factor=factor, context=row, **about)


def speedup(change: str) -> Range:
    """What a change was measured to bring: the least, the median and the most of its rows.

    Raises `UnknownName` for a change that nobody measured here.

    >>> speedup("tf32 to bf16").low < 1.2 < 1.7 < speedup("tf32 to bf16").high
    True
    """
    by_change: dict[str, list[Range]] = {}
    for one in evidence():
        by_change.setdefault(one.change, []).append(one.factor)
    factors = tables.lookup("measured change", change, by_change)
    middle = statistics.median(factor.mid for factor in factors)
    return Range(min(factor.low for factor in factors), middle, max(factor.high for factor in factors))
