"""What do published accounts of runs say? The MFU of their hours, and how much of a steady MFU whole runs kept.

- Goodput is a whole run's MFU over the steady one that the same account names: stops, restarts, slow weeks, and what
  its authors count in the one and not in the other.
- Hours without stops (of a rate, of logged step times) are made a whole run's by the goodput of other teams.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence

import numpy as np

from costkit import tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.units import HOUR, Range

TAIL = 0.1
_STEADY, _BOOKED, _IDEAL = "steady", "booked", "ideal"


def flop_of(run: tables.PublishedRun) -> float:
    """6ND of a published run, with the parameters that a token passes through; nan where it states no tokens."""
    return TRAINING_FLOP_PER_PARAM_TOKEN * run.n_active_params * (run.n_tokens or math.nan)


def mfu_of(run: tables.PublishedRun) -> float:
    """The MFU that a published run's hours imply, nan where it states no hours or tokens."""
    gpu_hours = run.gpu_hours or math.nan
    return flop_of(run) / (gpu_hours * HOUR * tables.gpu(run.gpu).half_precision_flop_per_s)


def whole_mfu_of(run: tables.PublishedRun) -> float:
    """The MFU over all paid hours: that of the account, times the goodput of others where it leaves out stops."""
    kept = published_goodput(left_out=(run.family,)).mid if run.hours_kind == _IDEAL else 1.0
    return mfu_of(run) * kept


def published_goodput(*, left_out: Collection[str] = ()) -> Range:
    """The share of a steady MFU that whole runs kept: median and middle 80% of published pairs.

    Fewer than nine pairs can't tell what one in ten does: the ends are then those of all.

    Args:
        left_out: Families of published runs not to learn from.

    >>> found = published_goodput()
    >>> 0.5 < found.low < found.mid < found.high <= 1
    True
    """
    return _published_goodput(frozenset(left_out))


@functools.lru_cache(maxsize=64)
def _published_goodput(left_out: frozenset[str]) -> Range:
    pairs = [run for run in goodput_runs() if run.family not in left_out]
    kept = [min(mfu_of(run) / (run.mfu or math.nan), 1.0) for run in pairs]
    low, high = tails(kept)
    return Range(low, float(np.median(kept)), high)


@functools.cache
def goodput_runs() -> tuple[tables.PublishedRun, ...]:
    """The runs that name a steady MFU, and hours that were paid and that nothing is odd about.

    >>> len(goodput_runs()) >= 5
    True
    """
    runs = (run for run in tables.published_runs() if run.mfu_kind == _STEADY and run.hours_kind == _BOOKED)
    return tuple(run for run in runs if not run.anomaly and run.gpu_hours and run.n_tokens and run.gpu)


def tails(values: Sequence[float]) -> tuple[float, float]:
    """Between which values the next one lies in 80% of cases, if it is one like the others.

    The k-th smallest and largest of n, k = 0.1 (n + 1), between ranks by interpolation; at least the extremes.

    >>> tails([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    (0.0, 8.0)
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    ranks = np.arange(1, len(ordered) + 1) / (len(ordered) + 1)
    low, high = np.interp([TAIL, 1 - TAIL], ranks, ordered)
    return float(low), float(high)
