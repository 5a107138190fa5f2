"""What do published runs teach about MFU? A robust ridge regression of ln MFU, and how wrong it is about others.

- Rows that are anomalous for a known reason, which makes their MFU another quantity, are not learned from, nor are
  estimates of runs that nobody made, nor a second account of the same run.
- A row's error is that of a fit without its family: same team, same code, same accounting.
- Runs on other chips than A100 and H100 are predicted from those two, and only tell how wrong that is.
- A run that doesn't say how many GPUs it used is taken to have as many as runs of its compute usually have.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costkit import tables
from costkit.training.accounts import TAIL, flop_of, tails, whole_mfu_of
from costkit.training.cases import CHIPS, Array, Case
from costkit.units import Range

NOT_LEARNED_FROM = ("wrong_scope", "conflict", "encoder_decoder", "teacher", "ramp", "repeat")
"""Anomalies with a known cause that makes a row's MFU another quantity."""
HIGHEST_MFU = 0.70
"""Above this no published run has been seen that was not a mistake."""
_ESTIMATE = "estimate"
_FREE, _RIDGE, _HUBER, _STEPS = 1e-9, 1.0, 1.0, 60
_MAD_OF_NORMAL = 0.6745


@dataclass(frozen=True, eq=False)
class Row:
    """A published run as the regression sees it: its case, and the MFU over all paid hours."""

    run: tables.PublishedRun
    case: Case
    mfu: float

    @property
    def log_mfu(self) -> float:
        """What the regression is fitted to."""
        return math.log(self.case.hardware_mfu(self.mfu))

    @property
    def is_usual(self) -> bool:
        """Whether it happened, and its MFU is the quantity that others' are."""
        return self.run.anomaly not in NOT_LEARNED_FROM and self.run.hours_kind != _ESTIMATE


@dataclass(frozen=True, eq=False)
class Judged:
    """A row and its `error`: ln of the actual over the predicted MFU, by a fit without the run's family."""

    row: Row
    error: float


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients of a case's features, and the rows that they rest on, each with its error."""

    coefficients: Array
    judged: tuple[Judged, ...]

    def like(self, case: Case) -> list[Judged]:
        """The rows on the case's chip; for one without a fit of its own, those on all such chips."""
        return [one for one in self.judged if one.row.case.chip == case.chip]

    def mfu(self, case: Case) -> Range:
        """The middle of what the case reaches, and the middle 80%, as a 6ND MFU; none is above the highest ever seen.

        On a chip without a fit of its own the band is as wide, both ways, as four in five runs on such chips were off.
        """
        middle, errors = float(case.features @ self.coefficients), [one.error for one in self.like(case)]
        low, high = tails(errors) if case.chip else (-spread(errors), spread(errors))
        return Range(low, 0.0, high).map(lambda error: min(case.model_mfu(math.exp(middle + error)), HIGHEST_MFU))


def spread(errors: Sequence[float]) -> float:
    """What four in five errors stay below, whichever way they go.

    >>> spread([-1.0, 0.5, 0.0, 0.2, -0.1, 0.3])
    0.5
    """
    return float(np.quantile(np.abs(errors), 1 - 2 * TAIL))


@functools.lru_cache(maxsize=128)
def learned(left_out: frozenset[str] = frozenset()) -> Fit:
    """The fit to all usual rows but those of the families left out, each row with its error."""
    rows = [row for row in candidates() if row.is_usual and row.run.family not in left_out]
    families = sorted({row.run.family for row in rows})
    without = {family: _coefficients([row for row in rows if row.run.family != family]) for family in families}
    judged = (Judged(row, row.log_mfu - float(row.case.features @ without[row.run.family])) for row in rows)
    return Fit(_coefficients(rows), tuple(judged))


@functools.cache
def candidates() -> tuple[Row, ...]:
    """Every published run with hours, tokens and GPU: what a prediction can be held against, anomalous or not."""
    runs = [run for run in tables.published_runs() if run.gpu_hours and run.n_tokens and run.gpu]
    usual = _usual_n_gpus(runs)
    return tuple(Row(run, _case(run, usual), whole_mfu_of(run)) for run in runs)


@functools.cache
def usual_seq_len(chip: str) -> float:
    """The median of the sequence lengths that runs on that chip state; of all runs for a chip without any."""
    stated = [(tables.gpu(run.gpu).architecture, run.seq_len) for run in tables.published_runs() if run.gpu]
    own = [length for architecture, length in stated if length and architecture == chip]
    return float(np.median(own or [length for _, length in stated if length]))


def _case(run: tables.PublishedRun, usual: Array) -> Case:
    gpu = tables.gpu(run.gpu)
    n_gpus = run.n_gpus or math.exp(float(usual @ [1.0, math.log(flop_of(run))]))
    return Case(gpu, run.n_active_params, n_gpus, run.seq_len or usual_seq_len(gpu.architecture), run.precision)


def _usual_n_gpus(runs: Sequence[tables.PublishedRun]) -> Array:
    """ln GPUs as a line in ln FLOP, by least squares over the runs that state both."""
    known = [run for run in runs if run.n_gpus]
    X = np.array([[1.0, math.log(flop_of(run))] for run in known])
    y = np.log([float(run.n_gpus or 1) for run in known])
    return np.asarray(np.linalg.lstsq(X, y, rcond=None)[0])


def _coefficients(rows: Sequence[Row]) -> Array:
    """Huber's regression by reweighting; both slopes and the gain on one node are pulled towards zero, levels are not.

    Other chips than the two take no part.
    """
    used = [row for row in rows if row.case.gpu.architecture in CHIPS]
    X = np.array([row.case.features for row in used])
    y = np.array([row.log_mfu for row in used])
    pull = np.diag([_FREE, _FREE, _RIDGE, _RIDGE, _RIDGE])
    w, b = np.ones(len(y)), np.zeros(X.shape[1])
    for _ in range(_STEPS):
        b = np.linalg.solve(X.T @ (X * w[:, None]) + pull, X.T @ (w * y))
        e = np.abs(y - X @ b)
        w = 1 / np.maximum(1.0, e / (_HUBER * max(float(np.median(e)), _FREE) / _MAD_OF_NORMAL))
    return b
