"""What does a saving of memory cost in speed? Ratios of tokens per second between runs that differ in one thing.

- Most are pairs of rows of the measured runs: a ratio is the median of its pairs, its range all of them. They are few,
  most of one model each. Some are published as a ratio, and some are assumed; `basis` says which.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from costkit import tables
from costkit.units import Range

CHECKPOINTING_STEPS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("none", "selective"): "none to selective checkpointing",
        ("none", "full"): "none to full checkpointing",
        ("selective", "full"): "selective to full checkpointing",
    }
)
_BASIS_WORDS = {"assumed": "an assumption", "published": "a published ratio"}
_NO_COST = Range(1.0, 1.0, 1.0)


@functools.cache
def _ratios() -> Mapping[str, Range]:
    measured, found = {row["id"]: row for row in tables.rows("measured_memory.csv")}, dict[str, list[float]]()
    for row in tables.rows("throughput_tradeoffs.csv"):
        if row["before"]:
            found.setdefault(row["change"], []).append(_ratio(measured[row["before"]], measured[row["after"]]))
        else:
            found.setdefault(row["change"], []).extend(sorted({float(row["ratio_low"]), float(row["ratio_high"])}))
    return MappingProxyType(
        {change: Range(min(all_), statistics.median(all_), max(all_)) for change, all_ in found.items()}
    )


@functools.cache
def basis(change: str) -> str:
    """What a ratio rests on: how many measured pairs of runs, a published ratio, an assumption.

    >>> basis("selective to full checkpointing"), basis("optimizer offload")
    ('4 measured pairs', 'a published ratio')
    """
    counted = Counter(row["basis"] for row in tables.rows("throughput_tradeoffs.csv") if row["change"] == change)
    tables.lookup("change", change, _ratios())
    n = counted.pop("measured", 0)
    pairs = [f"{n} measured pair{'s' if n > 1 else ''}"] if n else []
    return " and ".join([*pairs, *(_BASIS_WORDS[word] for word in sorted(counted))])


def _ratio(before: Mapping[str, str], after: Mapping[str, str]) -> float:
    """Tokens per second after over before; of a larger micro-batch, a doubling."""
    ratio = float(after["tokens_per_s_per_gpu"]) / float(before["tokens_per_s_per_gpu"])
    doublings = math.log2(int(after["micro_batch"]) / int(before["micro_batch"]))
    return float(ratio ** (1 / doublings)) if doublings else ratio


def throughput_ratio(change: str) -> Range:
    """Tokens per second after a change, over those before.

    >>> throughput_ratio("none to selective checkpointing").mid < 1
    True
    """
    return tables.lookup("change", change, _ratios())


def of_checkpointing(before: str, after: str) -> Range:
    """The ratio between two ways of checkpointing; a step back is the inverse of the step.

    >>> f"{of_checkpointing('none', 'full').mid:.2f}"
    '0.79'
    """
    if before == after:
        return _NO_COST
    if (before, after) in CHECKPOINTING_STEPS:
        return throughput_ratio(CHECKPOINTING_STEPS[before, after])
    back = throughput_ratio(CHECKPOINTING_STEPS[after, before])
    return Range(1 / back.high, 1 / back.mid, 1 / back.low)


def of_micro_batch(before: int, after: int) -> Range:
    """The ratio between two micro-batches; its middle is the smallest measured gain of a doubling, 1 its lower end.

    All measured doublings are of two GPUs on slow links, where a larger micro-batch gains most.
    """
    doubling, doublings = throughput_ratio("twice the micro-batch"), math.log2(after / before)
    bounds = sorted((1.0, doubling.high**doublings))
    return Range(bounds[0], doubling.low**doublings, bounds[1])


def product(one: Range, other: Range) -> Range:
    """Two ratios after one another."""
    return Range(one.low * other.low, one.mid * other.mid, one.high * other.high)
