"""What would somebody have paid who knew the whole trace? The least bill with which a deadline could have been met.

- The rules are those of a replay: whole steps are billed, each launch takes the overhead anew, no work is lost.
- Exact where the overhead is a fraction of the step with a denominator up to 64; any other is rounded down to the
  next such fraction, so the answer is never above what a policy pays that is in time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import overload

import numpy as np

from costkit.spot.paths import Paths
from costkit.spot.policies import ROUNDING, Task
from costkit.spot.replay import task_of
from costkit.spot.trace import Flags, Floats, Trace
from costkit.spot.windows import one_number, windows
from costkit.units import HOUR, numbers, require_not_negative, require_positive

_FINEST = 64


def omniscient(
    trace: Trace | Paths,
    *,
    work_s: float,
    overhead_s: float,
    deadline_s: float,
    start: int = 0,
    on_demand_usd_per_hour: float,
    spot_usd_per_hour: float | None = None,
    n_nodes: int = 1,
) -> float:
    """The least that a job could have cost from one start and still be done in time; inf where that is impossible.

    >>> trace = Trace("a zone", 600.0, np.array([1, 1, 0, 0, 0, 1, 1, 1]))
    >>> usd = omniscient(trace, work_s=2400.0, overhead_s=0.0, deadline_s=3000.0, spot_usd_per_hour=1.0,
    ...     on_demand_usd_per_hour=3.0)
    >>> round(usd, 2)
    1.33
    """
    seen = windows(trace, start=start, spot_usd_per_hour=spot_usd_per_hour, n_nodes=n_nodes)
    if not seen.is_one:
        raise ValueError("The optimum is of one start; call once for each of many.")
    task = task_of(work_s, overhead_s, deadline_s, step_s=seen.step_s)
    on_demand = one_number(on_demand_usd_per_hour, "on_demand_usd_per_hour", "USD") * seen.step_s / HOUR
    n_steps = int(min(task.deadline + ROUNDING, float(seen.n_steps[0])))
    where = seen.first[0] + np.arange(n_steps)
    spot_usd = np.broadcast_to(seen.spot_usd(where), where.shape)
    return _least_usd(task, seen.is_up[where], spot_usd, on_demand)


def _least_usd(task: Task, is_up: Flags, spot_usd: Floats, on_demand_usd: float) -> float:
    """Dynamic programming over the steps: the least cost so far for each time lost so far and each machine.

    After k steps of length g the work done is k g - l. A step of work leaves the lost time l as it is, an idle one adds
    g, a launch adds the overhead d at once. It is never best to give up a launch before it pays, so that what is left
    of an overhead need not be remembered.
    """
    g, d = _units(task.overhead)
    work = math.ceil((task.work - ROUNDING) * g)
    size = len(is_up) * g - work + 1
    if size <= 0:
        return math.inf
    idle, spot, on_demand = (np.full(size, math.inf) for _ in range(3))
    idle[0], least = 0.0, math.inf
    for step, (up, usd) in enumerate(zip(is_up.tolist(), spot_usd.tolist(), strict=True), start=1):
        best = np.minimum(np.minimum(idle, spot), on_demand)
        launched = _later(best, d)
        idle = _later(best, g)
        spot = np.minimum(spot, launched) + usd if up else np.full(size, math.inf)
        on_demand = np.minimum(on_demand, launched) + on_demand_usd
        done = max(step * g - work + 1, 0)
        least = min(least, spot[:done].min(initial=math.inf), on_demand[:done].min(initial=math.inf))
    return float(least)


def _units(overhead: float) -> tuple[int, int]:
    """A step and the overhead as whole numbers of one unit; the overhead rounded down where there is none."""
    near = Fraction(overhead).limit_denominator(_FINEST)
    if abs(float(near) - overhead) < ROUNDING / _FINEST:
        return near.denominator, near.numerator
    return _FINEST, math.floor(overhead * _FINEST)


def _later(usd: Floats, units: int) -> Floats:
    """The same costs with that much more time lost; beyond the last there is no hope to be in time."""
    return np.concatenate([np.full(min(units, len(usd)), math.inf), usd[: max(len(usd) - units, 0)]])


@overload
def regret(usd: float, optimum_usd: float) -> float: ...
@overload
def regret(usd: Floats, optimum_usd: float | Floats) -> Floats: ...
def regret(usd: float | Floats, optimum_usd: float | Floats) -> float | Floats:
    """What not knowing the future cost, as a fraction of the optimum: 0.25 is a quarter more than the least.

    >>> regret(60.0, 48.0)
    0.25
    """
    require_not_negative(usd, "usd", "USD")
    if np.any(np.isposinf(numbers(optimum_usd))):
        raise ValueError("There is no regret where the optimum is infinite: nobody could have met that deadline.")
    require_positive(optimum_usd, "optimum_usd", "USD")
    return usd / optimum_usd - 1
