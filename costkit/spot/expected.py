"""How long does an interrupted run take, on average? Closed forms of mean and variance for memoryless lives.

Per segment of length w, with losses at the rate l, the moment generating function of any reward that runs at the rate r
while the job runs and jumps by X at each loss is

    phi(s) = B^(nu - 1),   k = l - r s,   B = 1 + (k - l Q) (e^(k w) - 1) / k,   nu = l P / (k - l Q),

where P collects the losses before which a notice saved the state, Q those that fall back to the last saved state, both
with all that follows until the job runs again. Its mean gives Daly's complete expected time (FGCS 22(3), 2006) where no
notice succeeds, and (1/p) ln(1 + p (e^(l w) - 1)) losses where a share p does. Segments are independent, so means and
variances add up.

- Exponential lives only. For others, `simulate`.
- Failures during restarts and during writes count. Waits for capacity are not exposed to losses, and paid only for
  nodes that are kept.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from costkit.spot.jobs import Job, Market
from costkit.spot.series import Series, exp, log, many_digits, of_moments, series
from costkit.units import HOUR, numbers

_NEVER = 1e-25  # losses in a run, below which none is expected


@dataclass(frozen=True)
class Moments:
    """A mean and a standard deviation."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Expected:
    """What a run takes: wall-clock seconds, paid seconds of the whole job, losses of machines, and US dollars.

    `losses` are preemptions and hardware failures together.

    All are infinite where the run practically never finishes. `usd` is before credits for the first hour.
    """

    wall_s: Moments
    billed_s: Moments
    losses: Moments
    preemptions: Moments
    usd: Moments


def expected(job: Job, market: Market) -> Expected:
    """Mean and standard deviation of time, losses and dollars, for exponential life times.

    Raises `ValueError` where the market's lives have another law, or its job is elastic.

    >>> case = Job(work_s=500 * 3600, checkpoint_every_s=3600, checkpoint_write_s=300, restart_s=600)
    >>> found = expected(case, Market(mean_life_s=6 * 3600, spot_usd_per_hour=1, on_demand_usd_per_hour=3))
    >>> round(found.wall_s.mean / 3600, 6), round(found.preemptions.sd, 5)
    (610.369395, 11.32061)
    """
    if not market.has_closed_form:
        raise ValueError(
            "expected() knows exponential life times, a constant price and jobs that stop when a node is lost: "
            "use simulate() for others."
        )
    price, standing = market.spot_usd_per_hour / HOUR, market.billing.usd_per_hour / HOUR
    waiting = price * market.fleet.kept_fraction + standing
    return Expected(
        wall_s=_moments(job, market, running=1.0, noticing=1.0, waiting=1.0),
        billed_s=_moments(job, market, running=1.0, noticing=1.0),
        losses=_moments(job, market, per_preemption=1.0, per_failure=1.0),
        preemptions=_moments(job, market, per_preemption=1.0),
        usd=_moments(
            job,
            market,
            running=price + standing,
            noticing=price + standing,
            waiting=waiting,
            per_preemption=market.billing.usd_per_restart,
            per_failure=market.billing.usd_per_restart,
        ),
    )


def _moments(
    job: Job,
    market: Market,
    *,
    running: float = 0.0,
    noticing: float = 0.0,
    waiting: float = 0.0,
    per_preemption: float = 0.0,
    per_failure: float = 0.0,
) -> Moments:
    """A reward's mean and spread over the run, given its rates in the three states and its jumps at losses."""
    if job.ideal_s / market.loss_life_s < _NEVER:
        return Moments(running * job.ideal_s, 0.0)
    try:
        with many_digits():
            jump = _jumps(market, waiting, per_preemption + noticing * market.notice_s, per_failure)
            each = [(n, _segment(w, job, market, running, *jump)) for n, w in job.segments()]
            mean, half_variance = (sum(n * getattr(one, c) for n, one in each) for c in ("c1", "c2"))
            return Moments(float(mean), float((2 * max(half_variance, Decimal(0))).sqrt()))
    except (decimal.Overflow, decimal.InvalidOperation, decimal.DivisionByZero):
        return Moments(math.inf, math.inf)


def _jumps(market: Market, waiting: float, at_preemption: float, at_failure: float) -> tuple[Series, Series]:
    """What a preemption and what a hardware failure adds to the reward, the wait included, before the restart."""
    a = market.capacity_wait_s
    spread = a**2 if market.waits == "exponential" else 0.0
    means = (at_preemption + waiting * a, at_failure + waiting * a)
    preemption, failure = (of_moments(mean, mean**2 + waiting**2 * spread) for mean in means)
    return preemption, failure


def _segment(w: float, job: Job, market: Market, r: float, preemption: Series, failure: Series) -> Series:
    """The logarithm of phi for one segment."""
    l, R = 1 / Decimal(market.loss_life_s), Decimal(job.restart_s + market.provision_s)  # noqa: E741 - the rate lambda
    p, share = Decimal(market.notice_success), Decimal(market.preempted_fraction)
    k = Series(l, -Decimal(r))
    either = preemption * share + failure * (1 - share)
    restarted = exp(-(k * R)) / (1 - either * ((1 - exp(-(k * R))) * l / k))
    P = preemption * (p * share) * restarted
    Q = (preemption * ((1 - p) * share) + failure * (1 - share)) * restarted
    unsaved = k - Q * l
    nu = P * l / unsaved if p * share else series(0.0)
    B = unsaved / k * (exp(k * Decimal(w)) - 1) + 1
    return (nu - 1) * log(B)


def mean_losses(
    *,
    segment_s: npt.ArrayLike,
    mean_life_s: npt.ArrayLike,
    restart_s: npt.ArrayLike = 0.0,
    notice_success: npt.ArrayLike = 0.0,
) -> npt.NDArray[np.float64]:
    """Losses per segment: e^(R/M) (1/p) ln(1 + p (e^(w/M) - 1)), and e^(R/M) (e^(w/M) - 1) for p = 0; arrays broadcast.

    Infinite where a segment practically never ends. Raises `ValueError` for lives of 0 or less, and times below 0.

    >>> float(mean_losses(segment_s=3900.0, mean_life_s=21600.0, restart_s=600.0)).__round__(6)
    0.203456
    """
    if not np.all(numbers(mean_life_s) > 0):
        raise ValueError("mean_life_s must be a positive number of seconds, or inf for machines that are never lost.")
    if not (np.all(numbers(segment_s) >= 0) and np.all(numbers(restart_s) >= 0)):
        raise ValueError("segment_s and restart_s must be numbers of seconds, zero or more.")
    w, M, R, p = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (segment_s, mean_life_s, restart_s, notice_success))
    )
    with np.errstate(over="ignore"):
        grown = np.expm1(w / M)
        some = np.where(p > 0, p, 1.0)
        # ln(1 + p (e^x - 1)) = x + ln(p + (1 - p) e^-x), where e^x is too large to write
        far = w / M + np.log(some + (1 - some) * np.exp(-w / M))
        saved = np.where(np.isfinite(grown), np.log1p(some * np.where(np.isfinite(grown), grown, 0.0)), far)
        return np.asarray(np.exp(R / M) * np.where(p > 0, saved / some, grown))
