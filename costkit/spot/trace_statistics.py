"""How long does a market stay up, how long does one wait, and how many go at once? A trace in numbers.

- Up means that at least so many machines could be had, all of them at once.
- Means and counts take a spell that the trace's beginning or end cuts off for what was seen of it. How times up vary is
  told by whole ones; their shape also by the last, as one of at least that length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit.spot.trace import Flags, Floats, Trace
from costkit.units import HOUR

_LEAST_SHAPE, _MOST_SHAPE = 1e-3, 1e4


@dataclass(frozen=True, eq=False)
class Spells:
    """Times up and the waits that follow them, in order.

    `down_s` has one fewer than `up_s` where the trace `ends_up`. Where it `begins_up`, the first spell had begun
    before; where not, `first_wait_s` went by until it. `usd_per_hour` is each up spell's mean price, None where prices
    were not recorded.
    """

    up_s: Floats
    down_s: Floats
    usd_per_hour: Floats | None
    first_wait_s: float
    begins_up: bool
    ends_up: bool

    @property
    def is_cut(self) -> Flags:
        """Whether the trace's beginning or end cut off an up spell."""
        cut = np.zeros(len(self.up_s), bool)
        if len(cut):
            cut[0] |= self.begins_up
            cut[-1] |= self.ends_up
        return cut


def spells(trace: Trace, n_nodes: int = 1) -> Spells:
    """Times up and down of that many machines.

    >>> found = spells(Trace("mine", 60.0, np.array([0, 1, 1, 0, 1])))
    >>> found.up_s.tolist(), found.down_s.tolist(), found.first_wait_s, found.ends_up
    ([120.0, 60.0], [60.0], 60.0, True)
    """
    _require_nodes(n_nodes)
    is_up = trace.is_up(n_nodes)
    starts = np.flatnonzero(np.diff(is_up, prepend=not is_up[0]))
    lengths = np.diff(starts, append=trace.n_steps)
    up = is_up[starts]
    waits = lengths[~up] * trace.step_s
    begins_up = bool(is_up[0])
    usd = None
    if trace.usd_per_hour is not None:
        usd = (np.add.reduceat(trace.usd_per_hour, starts) / lengths)[up]
    return Spells(
        up_s=lengths[up] * trace.step_s,
        down_s=waits if begins_up else waits[1:],
        usd_per_hour=usd,
        first_wait_s=0.0 if begins_up else float(waits[0]),
        begins_up=begins_up,
        ends_up=bool(is_up[-1]),
    )


def _require_nodes(n_nodes: object) -> None:
    if not isinstance(n_nodes, int | np.integer) or isinstance(n_nodes, bool) or n_nodes < 1:
        raise ValueError(f"n_nodes is {n_nodes!r}; it must be a whole number of machines, at least 1.")


@dataclass(frozen=True)
class TraceStatistics:
    """A trace in numbers; "up" is at least `n_nodes` machines at once. None is what the trace has no case of.

    `nodes_lost` counts every machine that went, wherever the count fell, and `mean_burst` how many went in a step that
    lost any. `independence_ratio` says by how much n times a single machine's rate of loss over-states the rate at
    which all n are lost as one: 1 if each goes on its own, more in bursts. `cv_up` is the coefficient of variation of
    whole times up (1 for an exponential), `weibull_shape` their shape (below 1: the longer up, the safer), and
    `under_1h_fraction` how many of them ended within the hour.
    """

    n_nodes: int
    available_fraction: float
    n_up: int
    mean_up_s: float | None
    mean_down_s: float | None
    n_losses: int
    node_hours: float
    nodes_lost: int
    losses_per_node_hour: float | None
    mean_burst: float | None
    independence_ratio: float | None
    cv_up: float | None
    weibull_shape: float | None
    under_1h_fraction: float | None


def statistics(trace: Trace, n_nodes: int | None = None) -> TraceStatistics:
    """A trace in numbers, at its full capacity or for that many machines.

    >>> found = statistics(Trace("mine", 1800.0, np.array([4, 4, 2, 4, 0, 0])))
    >>> found.available_fraction, found.n_losses, found.nodes_lost, found.mean_burst, found.node_hours
    (0.5, 2, 6, 3.0, 7.0)
    """
    n = max(trace.capacity, 1) if n_nodes is None else n_nodes
    found = spells(trace, n)
    whole_s = found.up_s[~found.is_cut]
    falls = -np.minimum(np.diff(trace.available), 0)
    node_hours = float(trace.available.sum()) * trace.step_s / HOUR
    n_losses, up_hours = len(found.up_s) - found.ends_up, float(found.up_s.sum()) / HOUR
    per_node_hour = _ratio(float(falls.sum()), node_hours)
    waits = found.down_s if found.begins_up else np.append(found.first_wait_s, found.down_s)
    return TraceStatistics(
        n_nodes=int(n),
        available_fraction=float(np.mean(trace.is_up(n))),
        n_up=len(found.up_s),
        mean_up_s=_ratio(float(found.up_s.sum()), len(found.up_s)),
        mean_down_s=_ratio(float(waits.sum()), len(waits)),
        n_losses=n_losses,
        node_hours=node_hours,
        nodes_lost=int(falls.sum()),
        losses_per_node_hour=per_node_hour,
        mean_burst=_ratio(float(falls.sum()), int(np.count_nonzero(falls))),
        independence_ratio=_ratio(n * (per_node_hour or 0.0) * up_hours, n_losses),
        cv_up=float(whole_s.std() / whole_s.mean()) if len(whole_s) > 1 else None,
        weibull_shape=weibull_shape(found.up_s[found.begins_up :], is_cut=found.is_cut[found.begins_up :]),
        under_1h_fraction=_ratio(int(np.count_nonzero(whole_s < HOUR)), len(whole_s)),
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def weibull_shape(lives_s: Floats, *, is_cut: Flags | None = None) -> float | None:
    """The shape k of the Weibull distribution most likely behind some life times; None where they can't tell.

    sum(t^k ln t) / sum(t^k) - 1/k = mean(ln t), the sums over all lives and the mean over those that are whole.
    Cohen 1965 (doi 10.1080/00401706.1965.10490300).

    >>> lives_s = 3600 * np.random.default_rng(1).weibull(0.6, 20_000)
    >>> round(weibull_shape(lives_s), 2)
    0.6
    """
    from scipy.optimize import brentq

    whole = np.ones(len(lives_s), bool) if is_cut is None else ~is_cut
    if np.count_nonzero(whole) < 2:
        return None
    t = lives_s / lives_s.max()
    log_t = np.log(t)
    mean_log = float(log_t[whole].mean())

    def slope(k: float) -> float:
        weights = t**k
        return float(np.sum(weights * log_t) / np.sum(weights)) - 1 / k - mean_log

    if slope(_MOST_SHAPE) <= 0:
        return None
    return float(brentq(slope, _LEAST_SHAPE, _MOST_SHAPE))
