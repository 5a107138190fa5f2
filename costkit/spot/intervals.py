"""How often should a run be saved? Young's and Daly's rules, the exact optimum, and how flat it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit.spot.expected import mean_losses
from costkit.units import numbers, require_fraction, require_not_negative, require_positive

FLAT_FRACTION = 0.01
_LARGE, _WIDEST, _FARTHEST = 500.0, 10.0, 200.0
_SHORTEST = 1e-8


def young_interval_s(*, mean_life_s: float, checkpoint_write_s: float) -> float:
    """tau = sqrt(2 delta M). Young 1974, CACM 17(9):530.

    >>> round(young_interval_s(mean_life_s=24 * 3600, checkpoint_write_s=300) / 60, 3)
    120.0
    """
    M, delta = _checked(mean_life_s, checkpoint_write_s)
    return math.sqrt(2 * delta * M)


def daly_first_order_interval_s(*, mean_life_s: float, checkpoint_write_s: float, restart_s: float) -> float:
    """tau = sqrt(2 delta (M + R)) - delta. Daly 2006, FGCS 22(3):303.

    >>> round(daly_first_order_interval_s(mean_life_s=24 * 3600, checkpoint_write_s=300, restart_s=600) / 60, 4)
    115.4159
    """
    M, delta = _checked(mean_life_s, checkpoint_write_s)
    require_not_negative(restart_s, "restart_s", "seconds")
    return math.sqrt(2 * delta * (M + restart_s)) - delta


def daly_interval_s(*, mean_life_s: float, checkpoint_write_s: float) -> float:
    """Daly's higher-order estimate. FGCS 22(3):303, 2006.

    tau = sqrt(2 delta M) [1 + sqrt(x)/3 + x/9] - delta with x = delta / 2M, and tau = M from delta = 2M on.

    >>> round(daly_interval_s(mean_life_s=24 * 3600, checkpoint_write_s=300) / 60, 5)
    116.68981
    """
    M, delta = _checked(mean_life_s, checkpoint_write_s)
    x = delta / (2 * M)
    return math.sqrt(2 * delta * M) * (1 + math.sqrt(x) / 3 + x / 9) - delta if x < 1 else M


def optimal_interval_s(*, mean_life_s: float, checkpoint_write_s: float, notice_success: float = 0.0) -> float:
    """The interval with the least expected time, whatever a restart takes.

    tau = M [1 + W0(-exp(-1 - delta/M))], W0 the principal branch of Lambert's function: the root of the derivative of
    Daly's complete expected time. With notices of which a share p saves the state, the least of
    (1/tau) ln(1 + p (e^(w/M) - 1)), w = tau + delta; inf from delta = -M ln p on: there no periodic checkpoint pays.
    Below 1e-8 M it is sqrt(2 delta M / (1 - p)): Young's rule, right to 1e-8 there, where floats lose the rest.

    >>> round(optimal_interval_s(mean_life_s=6 * 3600, checkpoint_write_s=60) / 3600, 6)
    0.436172
    >>> round(optimal_interval_s(mean_life_s=6 * 3600, checkpoint_write_s=60, notice_success=0.9) / 3600, 4)
    1.5158
    """
    M, delta = _checked(mean_life_s, checkpoint_write_s)
    require_fraction(notice_success, "notice_success")
    if delta == 0:
        return math.inf if notice_success == 1 or math.isinf(M) else 0.0
    if math.isinf(M) or (notice_success > 0 and delta / M >= -math.log(notice_success)):
        return math.inf
    young = math.sqrt(2 * delta / (1 - notice_success)) * math.sqrt(M)
    if young < _SHORTEST * M:
        return young
    exact = _lambert(delta / M)
    return (exact if notice_success == 0 else _with_notices(delta / M, notice_success, exact)) * M


def _lambert(x: float) -> float:
    """1 + W0(-exp(-1 - x)), polished by Newton's method where W0 is near its branch point."""
    from scipy import special

    t = 1 + float(special.lambertw(-math.exp(-1 - x)).real)
    t = t if t > 0 else math.sqrt(2 * x)
    for _ in range(4):
        lost = math.expm1(-(t + x))
        t -= (t + lost) / -lost
    return t


def _with_notices(x: float, p: float, least: float) -> float:
    """The root of d/dt [ln(1 + p (e^(t + x) - 1)) / t], in units of the mean life; it lies beyond that for p = 0."""
    from scipy import optimize

    def slope(log_t: float) -> float:
        t = math.exp(log_t)
        if t + x > _LARGE:
            shrunk = p + (1 - p) * math.exp(-(t + x))
            return t * p / shrunk - (t + x + math.log(shrunk))
        grown = p * math.expm1(t + x)
        return t * p * math.exp(t + x) / (1 + grown) - math.log1p(grown)

    low = high = math.log(least)
    while slope(low) > 0:
        low -= 0.01
    while slope(high) < 0:
        high += 1.0
    if low == high:
        return least
    return math.exp(float(optimize.brentq(slope, low, high, xtol=1e-14, rtol=1e-14)))


@dataclass(frozen=True)
class FlatZone:
    """The intervals that cost at most a given share more time than the best one; `best_s` may be 0 or inf."""

    low_s: float
    best_s: float
    high_s: float
    fraction: float


def flat_zone(
    *, mean_life_s: float, checkpoint_write_s: float, notice_success: float = 0.0, fraction: float = FLAT_FRACTION
) -> FlatZone:
    """Between which intervals the expected time is within `fraction` of the least.

    >>> zone = flat_zone(mean_life_s=6 * 3600, checkpoint_write_s=300)
    >>> round(zone.low_s / 60), round(zone.best_s / 60), round(zone.high_s / 60)
    (40, 57, 81)
    """
    require_positive(fraction, "fraction", "(a share of the time)")
    if fraction > _WIDEST:
        raise ValueError(f"fraction must be at most {_WIDEST:g}, not {fraction:g}.")
    market = {
        "mean_life_s": mean_life_s,
        "checkpoint_write_s": checkpoint_write_s,
        "notice_success": notice_success,
    }
    best = optimal_interval_s(**market)
    if math.isinf(mean_life_s):
        return FlatZone(checkpoint_write_s / fraction, best, math.inf, fraction)
    least = 1 / notice_success if math.isinf(best) else 1.0 if best == 0 else float(overhead(best, **market))
    if math.isinf(least):
        return FlatZone(best, best, best, fraction)

    def above(log_tau: float) -> float:
        return min(float(overhead(math.exp(log_tau), **market)) / least, 1e300) - 1 - fraction

    middle = math.log(best) if 0 < best < math.inf else math.log(mean_life_s)
    low = 0.0 if best == 0 else _end(above, middle, -1.0)
    high = math.inf if math.isinf(best) else _end(above, middle, 1.0)
    return FlatZone(low, best, high, fraction)


def _end(above: Callable[[float], float], middle: float, sign: float) -> float:
    """Where the time leaves the zone, on one side of the middle; the middle itself may lie outside already."""
    from scipy import optimize

    near = middle
    while above(near) > 0:
        near -= sign
    far = near + sign
    while above(far) < 0:
        if abs(far - middle) > _FARTHEST:
            return math.inf if sign > 0 else 0.0
        far += sign
    return math.exp(float(optimize.brentq(above, near, far, xtol=1e-13, rtol=1e-14)))


def overhead(
    interval_s: npt.ArrayLike,
    *,
    mean_life_s: npt.ArrayLike,
    checkpoint_write_s: npt.ArrayLike,
    restart_s: npt.ArrayLike = 0.0,
    notice_success: npt.ArrayLike = 0.0,
) -> npt.NDArray[np.float64]:
    """Expected time over failure-free time, for a run of many segments; arrays broadcast.

    >>> round(float(overhead(0.43617 * 3600, mean_life_s=6 * 3600, checkpoint_write_s=60)), 4)
    1.0784
    """
    tau, M = np.asarray(interval_s, float), np.asarray(mean_life_s, float)
    losses = mean_losses(
        segment_s=tau + checkpoint_write_s, mean_life_s=M, restart_s=restart_s, notice_success=notice_success
    )
    with np.errstate(over="ignore"):
        return np.asarray(losses * M / tau)


def break_even_life_s(
    *, price_ratio: float, checkpoint_write_s: float, restart_s: float, notice_success: float = 0.0
) -> float:
    """The mean life at which spot costs as much as an uninterrupted run on demand, saved at the best interval.

    A ratio at or above 1 raises `ValueError`: then spot is never cheaper.

    >>> round(break_even_life_s(price_ratio=0.318, checkpoint_write_s=60, restart_s=900) / 3600, 4)
    0.3124
    """
    from scipy import optimize

    if not 0 < float(numbers(price_ratio)) < 1:
        raise ValueError(
            f"price_ratio must be above 0 and below 1, not {price_ratio!r}: at 1 and above spot is never cheaper."
        )
    _, delta = _checked(1.0, checkpoint_write_s)
    require_not_negative(restart_s, "restart_s", "seconds")
    if delta == 0 and restart_s == 0:
        return 0.0

    def dearer(log_life: float) -> float:
        M = math.exp(log_life)
        saved: dict[str, float] = {"mean_life_s": M, "checkpoint_write_s": delta, "notice_success": notice_success}
        tau = optimal_interval_s(**saved)
        least = 1.0 if tau == 0 else 1 / notice_success if math.isinf(tau) else float(overhead(tau, **saved))
        return math.log(price_ratio) + restart_s / M + math.log(min(least, 1e300))

    spare = -math.log(price_ratio)
    shortest = math.log(max(delta, restart_s)) - 8
    longest = math.log(8 * delta / spare**2 + 4 * delta / spare + 4 * restart_s / spare)
    return math.exp(float(optimize.brentq(dearer, shortest, max(longest, shortest) + 2, xtol=1e-14, rtol=1e-14)))


def _checked(mean_life_s: float, checkpoint_write_s: float) -> tuple[float, float]:
    if mean_life_s != math.inf:
        require_positive(mean_life_s, "mean_life_s", "seconds")
    require_not_negative(checkpoint_write_s, "checkpoint_write_s", "seconds")
    return mean_life_s, checkpoint_write_s
