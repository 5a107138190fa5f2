"""How wrong is the planner? Published runs, each predicted with its family left out, against the hours they took.

- A factor error is the larger of predicted over actual and actual over predicted GPU-hours.
- Anomalous rows stay in the scores, and `anomalous_runs` lists them with the reason. Rows that nobody read again are
  scored apart.
- Beside it stand the two planners that others use: a constant MFU, and the median of the other runs on the same chip.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from costkit import tables
from costkit.training.cases import CHIPS
from costkit.training.learning import Row, candidates, learned
from costkit.units import Range, percent

OURS = "costkit"
CONSTANT_MFU = 0.40
FAR_FACTOR = 1.5
GROUPS = {"A100-class": CHIPS[0], "H100-class": CHIPS[1], "other chips": ""}
"""What the scores are grouped by, as `Case.chip` names it."""
_RECALLED = "recalled"
_SHARES = (0.5, 0.8, 0.9)


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's prediction, made without its family: its MFU with band, beside what its hours imply.

    `median_mfu` is that of the other runs like it, which a simple planner would take.
    """

    run: tables.PublishedRun
    group: str
    mfu: float
    predicted_mfu: Range
    median_mfu: float

    @property
    def hours_ratio(self) -> float:
        """Actual over predicted GPU-hours: above 1, the plan was too cheap."""
        return self.predicted_mfu.mid / self.mfu

    @property
    def factor_error(self) -> float:
        """The larger of the ratio and its inverse."""
        return factor(self.hours_ratio)

    @property
    def is_inside(self) -> bool:
        """Whether the band holds what happened."""
        return self.predicted_mfu.low <= self.mfu <= self.predicted_mfu.high


@dataclass(frozen=True)
class Score:
    """Factor errors of a group of runs: median, 80th and 90th percentile, and the share inside their bands.

    `under_priced_fraction` is the share that took more hours than predicted.
    """

    group: str
    planner: str
    n_runs: int
    n_families: int
    median_factor: float
    p80_factor: float
    p90_factor: float
    inside_fraction: float | None
    under_priced_fraction: float


def group_of(gpu: tables.Gpu) -> str:
    """The group that runs on a GPU are scored in.

    >>> group_of(tables.gpu("H200-SXM-141GB"))
    'H100-class'
    """
    return next((name for name, chip in GROUPS.items() if chip == gpu.architecture), "other chips")


def factor(ratio: float) -> float:
    """How many times too large or too small a ratio is.

    >>> factor(0.5), factor(2.0)
    (2.0, 2.0)
    """
    return max(ratio, 1 / ratio)


@functools.cache
def scored() -> tuple[Scored, ...]:
    """Every published run that can be predicted, anomalous or recalled ones too, by chip and name.

    >>> [one.run.name for one in scored() if one.mfu > 1]  # impossible: the hours or the GPU are of something else
    ['DeepSeek-V2 236B, as Epoch stores it', 'Refact-1.6B, as Epoch stores it']
    """
    order = list(GROUPS)
    return tuple(sorted(map(_scored, candidates()), key=lambda one: (order.index(one.group), one.run.name)))


def _scored(row: Row) -> Scored:
    fit = learned(frozenset({row.run.family}))
    others = [one.row.mfu for one in fit.like(row.case)]
    return Scored(row.run, group_of(row.case.gpu), row.mfu, fit.mfu(row.case), median(others))


def scores(*, recalled: bool = False) -> list[Score]:
    """Errors by chip: ours, the median of other runs, and a constant MFU; all anomalous rows are counted.

    Args:
        recalled: Whether to score the rows that nobody read again in place of the others.

    >>> ours = [score for score in scores() if score.planner == "costkit"]
    >>> [score.group for score in ours][:2], all(score.median_factor < 1.29 for score in ours[:2])
    (['A100-class', 'H100-class'], True)
    """
    rows = [one for one in scored() if (one.run.basis == _RECALLED) == recalled]
    return [_score(group, planner, of) for group in GROUPS if (of := _of(rows, group)) for planner in _PLANNERS]


def _of(rows: Sequence[Scored], group: str) -> list[Scored]:
    return [one for one in rows if one.group == group]


def _score(group: str, planner: str, rows: Sequence[Scored]) -> Score:
    ratios = [_PLANNERS[planner](one) / one.mfu for one in rows]
    middle, p80, p90 = np.quantile([factor(ratio) for ratio in ratios], _SHARES).tolist()
    inside = [one.is_inside for one in rows]
    return Score(
        group=group,
        planner=planner,
        n_runs=len(rows),
        n_families=len({one.run.family for one in rows}),
        median_factor=middle,
        p80_factor=p80,
        p90_factor=p90,
        inside_fraction=sum(inside) / len(inside) if planner == OURS else None,
        under_priced_fraction=sum(ratio > 1 for ratio in ratios) / len(ratios),
    )


_PLANNERS: dict[str, Callable[[Scored], float]] = {
    OURS: lambda one: one.predicted_mfu.mid,
    "median of other runs": lambda one: one.median_mfu,
    f"{percent(CONSTANT_MFU)} MFU": lambda _: CONSTANT_MFU,
}


def anomalous_runs() -> list[Scored]:
    """The rows with a named anomaly, the worst predicted first."""
    return sorted((one for one in scored() if one.run.anomaly), key=lambda one: -one.factor_error)


def scores_sentence() -> str:
    """How wrong the planner is, in a sentence."""
    told = "; ".join(_told(score) for score in scores() if score.planner == OURS and GROUPS[score.group])
    return f"Each family left out in turn, {told}."


def _told(score: Score) -> str:
    inside = percent(score.inside_fraction or 0.0)
    return (
        f"{score.group} runs are missed by a factor of {score.median_factor:.2f} at the median and"
        f" {score.p80_factor:.2f} at the 80th percentile, with {inside} of {score.n_runs} inside the 80% band"
    )
