"""How long do machines live? Laws of life times as shapes with mean 1, drawn in place; a market gives the scale.

- `exponential`: memoryless; closed forms hold. `weibull` below shape 1: what survived an hour is safer.
- `bathtub`: many early losses, then few, then a cap. `empirical`: lives that were measured, drawn with replacement.
- `joint`: lives with the wait that followed each and the price meanwhile, drawn together: short ones may be dear.
- On/off markets are any of these with a wait for capacity; bursts are part of the fleet.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costkit import tables
from costkit.spot.trace import Floats
from costkit.units import HOUR, require_positive

_TABLE_BITS = 14
_BINS = 1 << _TABLE_BITS
_LOW_BITS = 32 - _TABLE_BITS
_EDGE = 8 << _LOW_BITS  # eight bins at either end are drawn exactly

Draw = Callable[[np.random.Generator, Floats], Any]


@dataclass(frozen=True, eq=False)
class Law:
    """A law of life times with mean 1.

    `draw(rng, out)` fills an array, and returns which lives it chose where they were measured; `survival(t)` is
    P(life > t); `mean_s` is the mean that it was measured with, None where it has none. A joint law has `waits` and
    `prices` too, one for each life that was measured, over their means; `mean_wait_s` is that of the waits.
    """

    name: str
    draw: Draw
    survival: Callable[[float], float]
    mean_s: float | None = None
    n_measured: int = 0
    waits: Floats | None = None
    prices: Floats | None = None
    mean_wait_s: float = 0.0


def law(process: str | Law) -> Law:
    """The law that a market's `process` names; laws that need numbers take those of `life_laws.csv`.

    >>> law("exponential").name, law("weibull").survival(1) < law("exponential").survival(1)
    ('exponential', True)
    """
    if isinstance(process, Law):
        return process
    return tables.lookup("law of life times", process, _NAMED)()


@functools.cache
def exponential() -> Law:
    """Memoryless lives: P(life > t) = exp(-t)."""
    return Law("exponential", lambda rng, out: rng.standard_exponential(out=out), lambda t: math.exp(-t))


@functools.cache
def weibull(shape: float) -> Law:
    """P(life > t) = exp(-(Gamma(1 + 1/k) t)^k); below k = 1 many lives are short and a few very long.

    >>> law = weibull(0.5)
    >>> lives = np.empty(1000)
    >>> _ = law.draw(np.random.default_rng(0), lives)
    >>> bool(np.median(lives) < 0.3)
    True
    """
    require_positive(shape, "shape", "(a pure number)")
    if not 0.1 <= shape <= 20:
        raise ValueError(f"shape must be from 0.1 to 20, not {shape:g}: measured life times have 0.5 to 1.")
    mean = math.gamma(1 + 1 / shape)

    def draw(rng: np.random.Generator, out: Floats) -> None:
        rng.standard_exponential(out=out)
        np.power(out, 1 / shape, out=out)
        out *= 1 / mean

    return Law("weibull", draw, lambda t: math.exp(-((mean * t) ** shape)))


def bathtub(*, plateau: float, early_s: float, late_s: float, cap_s: float) -> Law:
    """P(life <= t) = A (1 - exp(-t / t1) + exp((t - b) / t2)), and whatever is left ends at the cap b.

    Kadupitiya, Jadhao and Sharma 2020 (arXiv:1911.05160): Google's preemptible machines with their cap of 24 hours.

    >>> law = bathtub(plateau=0.45, early_s=3600, late_s=0.8 * 3600, cap_s=24 * 3600)
    >>> round(law.mean_s / 3600, 1)
    13.3
    """
    for name, value in (("early_s", early_s), ("late_s", late_s), ("cap_s", cap_s)):
        require_positive(value, name, "seconds")
    require_positive(plateau, "plateau", "(a share)")
    if plateau > 0.5:
        raise ValueError(f"plateau must be above 0 and at most 0.5, not {plateau:g}: twice it are lost before the cap.")
    A, t1, t2, b = plateau, early_s, late_s, cap_s
    time_s = np.unique(np.concatenate([np.linspace(0, min(8 * t1, b), 20_001), np.linspace(0, b, 200_001)]))
    lost = A * (1 - np.exp(-time_s / t1) + np.exp((time_s - b) / t2) - np.exp(-b / t2))
    mean_s = float(np.trapezoid(1 - lost, time_s))

    def quantile(u: Floats) -> Floats:
        return np.where(u >= lost[-1], b, np.interp(u, lost, time_s)) / mean_s

    def survival(t: float) -> float:
        return 0.0 if t * mean_s >= b else float(1 - np.interp(t * mean_s, time_s, lost))

    return Law("bathtub", _tabulated(quantile), survival, mean_s)


def empirical(lives_s: Floats) -> Law:
    """Lives that were measured, drawn with replacement; `mean_s` is their mean.

    >>> empirical(np.array([1800.0, 5400.0])).mean_s
    3600.0
    """
    lives = _measured(lives_s, "lives_s")
    mean_s = float(lives.mean())
    scaled = lives / mean_s
    return Law("empirical", _resampled(scaled), lambda t: float(np.mean(scaled > t)), mean_s, len(lives))


def joint(lives_s: Floats, *, waits_s: Floats | None = None, usd_per_hour: Floats | None = None) -> Law:
    """Measured lives, each with the wait after it and the price meanwhile, drawn together: short ones may be dear.

    Prices are weighted by hours: their mean over the hours that are paid is 1.

    >>> joint(np.array([3600.0, 7200.0]), waits_s=np.array([0.0, 600.0])).mean_wait_s
    300.0
    """
    found = empirical(lives_s)
    for name, given in (("waits_s", waits_s), ("usd_per_hour", usd_per_hour)):
        if given is not None and np.shape(given) != (found.n_measured,):
            raise ValueError(f"{name} must have one value for each of the {found.n_measured} lives.")
    waits = np.zeros(1) if waits_s is None else np.asarray(waits_s, float)
    if np.any(waits < 0) or not np.all(np.isfinite(waits)):
        raise ValueError("waits_s must be finite numbers of seconds, zero or more.")
    mean_wait_s = float(waits.mean())
    prices = None if usd_per_hour is None else _measured(usd_per_hour, "usd_per_hour", "USD an hour")
    return replace(
        found,
        name="joint",
        waits=waits / mean_wait_s if mean_wait_s else None,
        prices=None if prices is None else prices / float(np.average(prices, weights=np.asarray(lives_s, float))),
        mean_wait_s=mean_wait_s,
    )


def _measured(values: Floats, name: str, unit: str = "seconds") -> Floats:
    found = np.asarray(values, float)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} must be a list of measured values, one at least.")
    require_positive(found, name, unit)
    return found


def _resampled(values: Floats) -> Draw:
    """Draw from a finite list: one random 32-bit number each, scaled to an index (Lemire 2019, without rejection)."""
    n = np.uint64(len(values))

    def draw(rng: np.random.Generator, out: Floats) -> Any:
        index = rng.integers(0, 1 << 32, len(out), dtype=np.uint32).astype(np.uint64)
        index *= n
        index >>= np.uint64(32)
        chosen = index.view(np.int64)
        np.take(values, chosen, out=out, mode="clip")
        return chosen

    return draw


def _tabulated(quantile: Callable[[Floats], Floats]) -> Draw:
    """Draw by a table of the quantile function: linear within 2^14 equal shares, exact in the outermost ones.

    It costs the same for every law, about as much as an exponential number.
    """
    table = quantile(np.arange(_BINS) / _BINS)
    rise = np.diff(table, append=table[-1]) / (1 << _LOW_BITS)
    low, edge, inner = (np.uint32(n) for n in ((1 << _LOW_BITS) - 1, _EDGE, (1 << 32) - 2 * _EDGE))

    def draw(rng: np.random.Generator, out: Floats) -> None:
        bits = rng.integers(0, 1 << 32, len(out), dtype=np.uint32)
        bins = (bits >> np.uint32(_LOW_BITS)).astype(np.intp)
        np.take(rise, bins, out=out, mode="clip")
        out *= bits & low
        out += table.take(bins)
        bits -= edge
        outermost = np.flatnonzero(bits >= inner)
        if outermost.size:
            out[outermost] = quantile((bins[outermost] + rng.random(outermost.size)) / _BINS)

    return draw


def _parameters(name: str) -> dict[str, float]:
    return {row["parameter"]: float(row["value"]) for row in tables.rows("life_laws.csv") if row["law"] == name}


@functools.cache
def _published_bathtub() -> Law:
    given = _parameters("bathtub")
    return bathtub(
        plateau=given["plateau"],
        early_s=given["early_h"] * HOUR,
        late_s=given["late_h"] * HOUR,
        cap_s=given["cap_h"] * HOUR,
    )


def _measured_weibull() -> Law:
    return weibull(_parameters("weibull")["shape"])


_NAMED: dict[str, Callable[[], Law]] = {
    "exponential": exponential,
    "weibull": _measured_weibull,
    "bathtub": _published_bathtub,
}
LAWS = tuple(_NAMED)
