"""How much of the paid time computes? Goodput, apart from MFU: checkpoints, failures, evaluation, ramp and spares.

- Failures are memoryless, strike every working GPU alike, whatever it does, and stop the whole job. They take what was
  computed since the last checkpoint, and a restart can fail too.
- The run is long against the time between two checkpoints, and it stands still while one is written.
- While the run evaluates it loses nothing: evaluations follow checkpoints. While fewer GPUs work at first, failures are
  as frequent as later, which is too many. Idle spares do not fail.
- MFU is what the GPUs reach in the time that is left: hours x goodput x MFU x peak = FLOP.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from costkit.spot import hardware_life_s, mean_losses, optimal_interval_s
from costkit.units import require_fraction, require_not_negative, require_positive


@dataclass(frozen=True)
class Goodput:
    """Where the paid time goes, as fractions of it that sum to 1, and the interval and mean life behind them.

    `lost_fraction` is work, and writes, that a failure undid and that are done again; `restarts_fraction` holds failed
    restarts too. `checkpoint_every_s` is computing time, and inf where no checkpoint is written; `mean_life_s` is the
    time between two failures of the job.
    """

    computing_fraction: float
    checkpoints_fraction: float
    lost_fraction: float
    restarts_fraction: float
    evaluation_fraction: float
    ramp_fraction: float
    spares_fraction: float
    checkpoint_every_s: float
    mean_life_s: float

    @property
    def fraction(self) -> float:
        """The goodput: the share of the paid time that computes what ends up in the model."""
        return self.computing_fraction

    @property
    def parts(self) -> dict[str, float]:
        """The fractions by name, what computes first."""
        return {
            "computing": self.computing_fraction,
            "checkpoints": self.checkpoints_fraction,
            "lost": self.lost_fraction,
            "restarts": self.restarts_fraction,
            "evaluation": self.evaluation_fraction,
            "ramp": self.ramp_fraction,
            "spares": self.spares_fraction,
        }


def goodput(
    *,
    n_gpus: float,
    failures_per_gpu_day: float,
    checkpoint_every_s: float | None = None,
    checkpoint_write_s: float,
    restart_s: float,
    evaluation_fraction: float = 0.0,
    ramp_fraction: float = 0.0,
    spare_fraction: float = 0.0,
) -> Goodput:
    """Where the paid time of a run goes.

    Args:
        n_gpus: GPUs that work at the end of the ramp, without spares.
        failures_per_gpu_day: How often one of them stops the job; `spot.failures_per_gpu_day` has measured rates.
        checkpoint_every_s: Computing time between two checkpoints. None: the best interval, and no checkpoints where
            nothing fails. inf: none is written, so a run in which anything fails never ends, and its goodput is 0.
        checkpoint_write_s: How long the run stands still for one.
        restart_s: From a failure to the first new step.
        evaluation_fraction: The share of the running time in which training stands still for evaluation.
        ramp_fraction: The share of the working GPUs' time that is idle, because fewer work at first.
        spare_fraction: Idle GPUs over those that work: 12 spare nodes beside 128 are 0.094. Their share of the paid
            time is s / (1 + s).

    What is left after spares, ramp and evaluation, each a share of what the one before leaves, is split by

        restarts = 1 - e^(-R/M),   kept = x / (e^x - 1) of the rest with x = (tau + delta) / M,

    of which tau / (tau + delta) computes and the others write; what is not kept is lost. It is Daly's complete expected
    time (FGCS 22(3):303, 2006) in parts: the product is tau over the expected time of a segment. To first order, and at
    the best interval, checkpoints, losses and restarts take sqrt(2 delta/M) + R/M (Young 1974, CACM 17(9):530). A run
    that practically never gets on has a goodput of 0; nothing is raised. Wrong values raise `ValueError`.

    >>> found = goodput(n_gpus=512, failures_per_gpu_day=24 / 25_000, checkpoint_write_s=180, restart_s=900)
    >>> round(found.fraction, 3), round(found.checkpoint_every_s / 60)
    (0.951, 131)
    """
    _require_single(n_gpus=n_gpus, failures_per_gpu_day=failures_per_gpu_day)
    _require_times(checkpoint_every_s, checkpoint_write_s=checkpoint_write_s, restart_s=restart_s)
    _require_fractions(
        evaluation_fraction=evaluation_fraction, ramp_fraction=ramp_fraction, spare_fraction=spare_fraction
    )
    delta, R, M = float(checkpoint_write_s), float(restart_s), _life_s(n_gpus, failures_per_gpu_day)
    if checkpoint_every_s is None:
        checkpoint_every_s = optimal_interval_s(mean_life_s=M, checkpoint_write_s=delta)
    tau = float(checkpoint_every_s)
    spares, working = _split(float(spare_fraction) / (1 + float(spare_fraction)), 1.0)
    ramp, running = _split(float(ramp_fraction), working)
    evaluation, training = _split(float(evaluation_fraction), running)
    restarts, up = -math.expm1(-(R / M)) * training, math.exp(-R / M) * training
    kept, lost = _split(_kept_fraction(tau + delta, M), up)
    computing, checkpoints = _split(tau / (tau + delta) if delta > 0 and tau < math.inf else 1.0, kept)
    return Goodput(computing, checkpoints, lost, restarts, evaluation, ramp, spares, tau, M)


def _life_s(n_gpus: float, failures_per_gpu_day: float) -> float:
    """Mean time between two failures of the job, never so short that it cannot be divided by."""
    life_s = hardware_life_s(failures_per_gpu_day=failures_per_gpu_day, n_gpus=n_gpus)
    return max(float(life_s), sys.float_info.min)


def _kept_fraction(segment_s: float, mean_life_s: float) -> float:
    """The share of the time up that goes into segments which end before a failure: x / (e^x - 1)."""
    x = 0.0 if math.isinf(mean_life_s) else segment_s / mean_life_s
    if x == 0:
        return 1.0
    losses = float(mean_losses(segment_s=segment_s, mean_life_s=mean_life_s))
    return 0.0 if math.isinf(losses) else x / losses


def _split(fraction: float, whole: float) -> tuple[float, float]:
    """A share of a whole, and the rest of it."""
    return fraction * whole, (1 - fraction) * whole


def _require_times(checkpoint_every_s: float | None, **times_s: float) -> None:
    """Refuse an interval that is not positive or inf, and times below 0."""
    if checkpoint_every_s is not None:
        _require_single(checkpoint_every_s=checkpoint_every_s)
        if checkpoint_every_s != math.inf:
            require_positive(checkpoint_every_s, "checkpoint_every_s", "seconds, or inf for no checkpoints,")
    _require_single(**times_s)
    for name, value in times_s.items():
        require_not_negative(value, name, "seconds")


def _require_fractions(**fractions: float) -> None:
    """Refuse what is no share from 0 to 1."""
    _require_single(**fractions)
    for name, value in fractions.items():
        require_fraction(value, name)


def _require_single(**given: float) -> None:
    """Refuse lists and arrays: one run is asked for."""
    for name, value in given.items():
        if np.ndim(value):
            raise ValueError(f"{name} must be a single number, not a list or an array.")
