"""From where is a market replayed, and what is seen from there? Starts, availability and price, step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit.spot.paths import Paths
from costkit.spot.trace import Counts, Flags, Floats, Trace
from costkit.units import HOUR, numbers, require_not_negative, require_positive

Starts = int | npt.NDArray[np.integer] | None


@dataclass(frozen=True, eq=False)
class Windows:
    """What runs that begin at `first` can see: each has `n_steps` steps before its path ends.

    `is_up` and `usd_per_step`, the price of the whole job on spot, hold the steps of all paths, one path behind the
    other; a price that never changes is there once.
    """

    is_up: Flags
    usd_per_step: Floats
    first: Counts
    n_steps: Counts
    step_s: float
    is_one: bool

    def spot_usd(self, where: Counts) -> Floats:
        """What each of those steps costs on spot."""
        return self.usd_per_step if len(self.usd_per_step) == 1 else self.usd_per_step.take(where, mode="clip")


def windows(market: Trace | Paths, *, start: Starts, spot_usd_per_hour: float | None, n_nodes: int) -> Windows:
    """The windows of a trace that begin at those steps, or those paths of a bundle; None: all of them."""
    if not isinstance(market, Trace | Paths):
        raise ValueError(f"Replay a trace, spot.read_trace(...), or drawn paths, not a {type(market).__name__}.")
    if market.n_steps < 2:
        raise ValueError("A replay needs at least two steps of availability; give a longer trace.")
    if isinstance(market, Paths):
        chosen = _chosen(start, market.n_paths, "path")
        first, left = chosen * market.n_steps, np.full(len(chosen), market.n_steps)
        is_up = _of_paths(market, n_nodes)
    else:
        first = _chosen(start, market.n_steps, "step")
        left, is_up = market.n_steps - first, _of_trace(market, n_nodes)
    usd_per_step = _prices(market, spot_usd_per_hour, n_nodes) * market.step_s / HOUR
    is_one = start is not None and np.ndim(start) == 0
    return Windows(is_up, usd_per_step, first, left, float(market.step_s), is_one)


def _chosen(start: Starts, n: int, what: str) -> Counts:
    if start is None:
        return np.arange(n)
    given = numbers(start)
    if not given.size or not np.all((given >= 0) & (given < n) & (given == np.floor(given))):
        shown = "an array with other values" if np.ndim(start) else repr(start)
        raise ValueError(
            f"start must be a {what} from 0 to {n - 1}, a numpy array of them, or None for all, not {shown}."
        )
    return given.astype(np.int64).ravel()


def _of_trace(trace: Trace, n_nodes: int) -> Flags:
    most = max(trace.capacity, 1)
    if not _is_whole(n_nodes) or not 1 <= n_nodes <= most:
        raise ValueError(
            f"n_nodes must be a whole number from 1 to {most}, the most that {trace.name!r} ever had, not {n_nodes!r}; "
            "ask for fewer, or replay another trace."
        )
    return trace.is_up(n_nodes)


def _of_paths(paths: Paths, n_nodes: int) -> Flags:
    if not _is_whole(n_nodes) or n_nodes != 1:
        raise ValueError(f"n_nodes must be 1 on drawn paths, which are of the whole job, not {n_nodes!r}.")
    return paths.available.ravel()


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _prices(market: Trace | Paths, given: float | None, n_nodes: int) -> Floats:
    """The price of the whole job: as given, else what the trace says for each machine."""
    if given is not None:
        return np.array([one_number(given, "spot_usd_per_hour", "USD")])
    seen = market.usd_per_hour if isinstance(market, Trace) else None
    if seen is None:
        raise ValueError("There is no spot price in this market; give spot_usd_per_hour, for the whole job.")
    if len(seen) != market.n_steps or not np.all(np.isfinite(seen) & (seen > 0)):
        raise ValueError("The trace lacks a price for some of its steps; give spot_usd_per_hour, for the whole job.")
    return np.asarray(seen, float) * n_nodes


def one_number(value: float, what: str, unit: str, *, zero: bool = False, infinite: bool = False) -> float:
    """A single positive number; zero or infinite too where that makes sense."""
    if np.ndim(value):
        raise ValueError(f"{what} must be one number of {unit}, not a list of them; call once for each.")
    if infinite and numbers(value) == math.inf:
        return math.inf
    (require_not_negative if zero else require_positive)(value, what, unit)
    return float(value)
