"""When is it done, and what does a fall-back cost, where everything but waiting is free? Exact distributions.

Markets whose machines come and go, up for exponential times of mean M and gone for exponential times of mean A, and a
job that loses no work: waits are a compound Poisson sum. They check a simulator's quantiles and policies, and bound
what any real job can reach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from costkit.spot.trace import Floats
from costkit.units import HOUR, numbers, require_not_negative, require_positive

_SPREADS = 12  # terms of the Poisson sum, in standard deviations from its mean: what is left out is below 1e-16
_PIECES, _POINTS = 64, 24


@dataclass(frozen=True)
class OnOff:
    """A job of `work_s` on a market that is up for `mean_up_s` and gone for `mean_down_s`, on average; it starts up.

    T = S + W, W a sum of Poisson(S / M) exponential waits: E[T] = S (1 + A/M), Var[T] = 2 A^2 S / M.

    >>> market = OnOff(work_s=48 * 3600, mean_up_s=6 * 3600, mean_down_s=1.1 * 3600)
    >>> round(market.mean_s / 3600, 6), round(market.sd_s / 3600, 6), round(market.cdf(60 * 3600), 6)
    (56.8, 4.4, 0.784545)
    """

    work_s: float
    mean_up_s: float
    mean_down_s: float

    def __post_init__(self) -> None:
        for name in ("work_s", "mean_up_s", "mean_down_s"):
            require_positive(getattr(self, name), name, "seconds")

    @property
    def mean_s(self) -> float:
        """The expected finish."""
        return self.work_s * (1 + self.mean_down_s / self.mean_up_s)

    @property
    def sd_s(self) -> float:
        """The standard deviation of the finish."""
        return self.mean_down_s * math.sqrt(2 * self.work_s / self.mean_up_s)

    def cdf(self, time_s: float) -> float:
        """The probability of being done by then."""
        return float(_waited(np.array(self.work_s / self.mean_up_s), (time_s - self.work_s) / self.mean_down_s))

    def quantile_s(self, share: float) -> float:
        """By when that share of such jobs is done; `work_s` where so many never wait.

        >>> market = OnOff(work_s=48 * 3600, mean_up_s=6 * 3600, mean_down_s=1.1 * 3600)
        >>> round(market.cdf(market.quantile_s(0.95)), 9)
        0.95
        """
        from scipy import optimize

        _require_share(share)
        if self.cdf(self.work_s) >= share:
            return self.work_s
        high = self.mean_s
        while self.cdf(high) < share:
            high = self.work_s + 2 * (high - self.work_s)
        return float(optimize.brentq(lambda t: self.cdf(t) - share, self.work_s, high, xtol=1e-6, rtol=1e-14))


@dataclass(frozen=True)
class Noticed:
    """A job that every notice saves in full, where each preemption costs a constant, unexposed `loss_s`.

    T = S + K N, N ~ Poisson(S / M).

    >>> job = Noticed(work_s=48 * 3600, mean_life_s=6 * 3600, loss_s=900)
    >>> job.mean_s / 3600, job.quantile_s(0.99) / 3600, round(job.cdf(50.5 * 3600), 9)
    (50.0, 51.75, 0.815885793)
    """

    work_s: float
    mean_life_s: float
    loss_s: float

    def __post_init__(self) -> None:
        require_positive(self.work_s, "work_s", "seconds")
        require_positive(self.mean_life_s, "mean_life_s", "seconds")
        require_positive(self.loss_s, "loss_s", "seconds")

    @property
    def mean_s(self) -> float:
        """The expected finish."""
        return self.work_s + self.loss_s * self.work_s / self.mean_life_s

    def cdf(self, time_s: float) -> float:
        """The probability of being done by then."""
        from scipy import stats

        if time_s < self.work_s:
            return 0.0
        return float(
            stats.poisson.cdf((time_s - self.work_s) / self.loss_s * (1 + 1e-12), self.work_s / self.mean_life_s)
        )

    def quantile_s(self, share: float) -> float:
        """By when that share of such jobs is done."""
        from scipy import stats

        _require_share(share)
        return self.work_s + self.loss_s * float(stats.poisson.ppf(share, self.work_s / self.mean_life_s))


@dataclass(frozen=True)
class SafetyNet:
    """Hours on spot and dollars of the greedy policy with a safety net, where switching is free."""

    spot_s: float
    on_demand_s: float
    usd: float


def safety_net(
    market: OnOff, *, deadline_s: float, spot_usd_per_hour: float, on_demand_usd_per_hour: float
) -> SafetyNet:
    """Use spot while it is up, wait while it is not, and buy on demand from the last safe moment on.

    E[spot] = integral of P(Y(u) < D - S) over the work u, Y(u) the waiting after so much of it; the rest is on demand.

    >>> found = safety_net(
    ...     OnOff(work_s=48 * 3600, mean_up_s=6 * 3600, mean_down_s=1.1 * 3600),
    ...     deadline_s=60 * 3600, spot_usd_per_hour=0.9731, on_demand_usd_per_hour=3.06,
    ... )
    >>> round(found.spot_s / 3600, 6), round(found.usd, 6)
    (45.44576, 52.039244)
    """
    require_positive(spot_usd_per_hour, "spot_usd_per_hour", "USD an hour")
    require_positive(on_demand_usd_per_hour, "on_demand_usd_per_hour", "USD an hour")
    require_not_negative(deadline_s, "deadline_s", "seconds")
    slack_s = deadline_s - market.work_s
    if slack_s < 0:
        raise ValueError("deadline_s must not come before work_s: nobody can be done by then.")
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    edges = np.linspace(0, market.work_s, _PIECES + 1)
    half = np.diff(edges)[:, None] / 2
    done_s = ((edges[:-1, None] + half) + half * nodes).ravel()
    in_time = _waited(done_s / market.mean_up_s, slack_s / market.mean_down_s)
    spot_s = float(np.sum((half * weights).ravel() * in_time))
    rest_s = market.work_s - spot_s
    return SafetyNet(spot_s, rest_s, (spot_s * spot_usd_per_hour + rest_s * on_demand_usd_per_hour) / HOUR)


def _waited(losses: Floats, waits: float) -> Floats:
    """P(sum of Poisson(losses) exponential waits of mean 1 <= waits), for an array of losses."""
    from scipy import special, stats

    if waits < 0:
        return np.zeros(np.shape(losses))
    mean = float(np.max(losses))
    most = int(mean + _SPREADS * math.sqrt(mean) + _SPREADS**2)
    k = np.arange(1, most + 1).reshape(-1, *[1] * np.ndim(losses))
    weights = stats.poisson.pmf(k, losses)
    return np.asarray(np.exp(-losses) + np.sum(weights * special.gammainc(k, waits), axis=0))


def _require_share(share: float) -> None:
    if not 0 < float(numbers(share)) < 1:
        raise ValueError(f"share must be above 0 and below 1, not {share!r}.")
