"""What does waiting for input cost, and so what can fixing it return at most? From step times, or from a GPU log.

- A wait counts where it is exposed: the GPUs have nothing to do until the batch is there. Loading that runs beside
  their work is no part of it.
- The share of the run that is spent waiting, times its bill, is a ceiling: a loader that keeps up leaves the rest of
  each step as it is, and a faster loader is seldom free (more processors, memory, storage).
- The share is given here. Mohan et al. 2021 (arXiv:2007.06775) measure it by runs on synthetic, cached and cold data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit.training.smi_logs import SmiLog
from costkit.units import HOUR, duration, number, percent, require_not_negative, require_positive, usd

_MILLISECONDS = 1e3
_LEAST_RATIO_OF_ANOTHER_UNIT = 10


@dataclass(frozen=True)
class Stall:
    """What waiting costs a run, which is the most that fixing it returns.

    `waiting_fraction` is the share of the time in which the GPUs wait; `work_s` is how long the run takes as it is,
    waits included, and `usd_per_hour` what an hour of the whole job is billed at: None where they were not given.
    `n_logged_gpus` is 0 where the share comes from step times.
    """

    waiting_fraction: float
    work_s: float | None = None
    usd_per_hour: float | None = None
    n_logged_gpus: int = 0

    @property
    def speedup(self) -> float:
        """How many times as fast the run is without any wait: 1 / (1 - waiting_fraction)."""
        return 1 / (1 - self.waiting_fraction)

    @property
    def saved_s(self) -> float | None:
        """The wait in the whole run, None where its length was not given."""
        return None if self.work_s is None else self.waiting_fraction * self.work_s

    @property
    def usd(self) -> float | None:
        """What the wait in the whole run costs, None where its length or its price was not given."""
        saved_s = self.saved_s
        return None if saved_s is None or self.usd_per_hour is None else saved_s / HOUR * self.usd_per_hour

    @property
    def sentence(self) -> str:
        """The stall in one line, with what it can't tell."""
        return self._of_log() if self.n_logged_gpus else self._of_steps()

    def _of_steps(self) -> str:
        if self.waiting_fraction == 0:
            return "GPUs do not wait for input: nothing can be had back by loading it faster."
        return f"GPUs wait for input in {percent(self.waiting_fraction)} of each step: {self._most} by fixing it."

    def _of_log(self) -> str:
        others = "; GPUs that wait for one another inside communication count as busy and are not in it"
        hidden = others if self.n_logged_gpus > 1 else ""
        if self.waiting_fraction == 0:
            return f"Some kernel runs all the time: the log shows no waiting for input{hidden}."
        return (
            f"No kernel runs in {percent(self.waiting_fraction)} of the logged time: {self._most} if all of it is "
            f"waiting for input, which a log can't tell from checkpoints, evaluation or Python{hidden}."
        )

    @property
    def _most(self) -> str:
        """What can be had back, in the terms that were given."""
        if self.saved_s is None:
            if self.usd_per_hour is None:
                return f"at most {number(self.speedup)} times the speed can be had"
            return f"at most {usd(self.waiting_fraction * self.usd_per_hour)} of each hour's bill can be had back"
        money = "" if self.usd is None else f"{usd(self.usd)} and "
        return f"at most {money}{duration(self.saved_s)} of this run can be had back"


def stall(
    *, step_s: float, loader_wait_s: float, usd_per_hour: float | None = None, work_s: float | None = None
) -> Stall:
    """What the GPUs' wait for input costs, from the times of a step.

    waiting_fraction = loader_wait_s / step_s. Measure the wait around `next(loader)` in the training loop, as a mean
    over steps. Where kernels are still queued then, the GPUs work on, and the true wait is shorter: synchronise before
    it to measure the exposed part alone.

    Args:
        step_s: A whole step, the wait included.
        loader_wait_s: The part of it in which the GPUs wait for the next batch.
        usd_per_hour: What an hour of the whole job is billed at.
        work_s: How long the run takes as it is.

    Raises:
        ValueError: A time or a price is none, or the wait is as long as the step that it is a part of.

    >>> found = stall(step_s=1.25, loader_wait_s=0.225, usd_per_hour=98.0, work_s=18 * 86_400)
    >>> found.waiting_fraction, round(found.speedup, 2)
    (0.18, 1.22)
    >>> found.sentence
    'GPUs wait for input in 18% of each step: at most $7,620 and 3.24 days of this run can be had back by fixing it.'
    """
    require_positive(step_s, "step_s", "seconds")
    require_not_negative(loader_wait_s, "loader_wait_s", "seconds")
    step_s, loader_wait_s = _single(step_s, "step_s"), _single(loader_wait_s, "loader_wait_s")
    if loader_wait_s >= step_s:
        raise ValueError(
            f"loader_wait_s must be below step_s ({step_s:g} seconds), of which it is a part, not {loader_wait_s:g}: "
            f"{_way_out(step_s, loader_wait_s)}."
        )
    return _priced(loader_wait_s / step_s, usd_per_hour, work_s)


def stall_from_log(log: SmiLog, *, usd_per_hour: float | None = None, work_s: float | None = None) -> Stall:
    """What the time without a kernel costs, from a GPU log: the ceiling of the ceiling.

    A log can't tell waiting for input from other waiting (checkpoints, evaluation, Python between kernels), so
    all of it counts. What it can't show at all is a GPU that waits in a collective for another GPU's batch: that is a
    kernel and counts as busy. With several GPUs, uneven loaders can so cost more than the log says; step times tell.

    Args:
        log: What `read_smi_log` read.
        usd_per_hour: What an hour of the whole job is billed at.
        work_s: How long the run takes as it is, without its start-up.

    Raises:
        ValueError: No kernel ever ran in the log, or a time or a price is none.
    """
    if log.stalled_fraction >= 1:
        raise ValueError(f"'{log.name}' shows no kernel at any time; log the GPUs of a run while it trains.")
    return _priced(log.stalled_fraction, usd_per_hour, work_s, n_logged_gpus=log.n_gpus)


def _priced(waiting_fraction: float, usd_per_hour: float | None, work_s: float | None, n_logged_gpus: int = 0) -> Stall:
    """The stall, once its price and its length are known to be such."""
    if usd_per_hour is not None:
        require_positive(usd_per_hour, "usd_per_hour", "USD per hour")
        usd_per_hour = _single(usd_per_hour, "usd_per_hour")
    if work_s is not None:
        require_positive(work_s, "work_s", "seconds")
        work_s = _single(work_s, "work_s")
    return Stall(waiting_fraction, work_s, usd_per_hour, n_logged_gpus)


def _single(value: float, what: str) -> float:
    if np.ndim(value):
        raise ValueError(f"{what} must be one number, not an array of {np.size(value)}; give the mean.")
    return float(value)


def _way_out(step_s: float, loader_wait_s: float) -> str:
    in_seconds = loader_wait_s / _MILLISECONDS
    if loader_wait_s >= _LEAST_RATIO_OF_ANOTHER_UNIT * step_s and in_seconds < step_s:
        return f"it looks like milliseconds, write {in_seconds:g}"
    return "loading beside the GPUs' work is no wait; give the time that next(loader) takes in the training loop"
