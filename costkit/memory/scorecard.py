"""How wrong are we? The scores in sum: errors, bands as they follow from them, what is missed, what can't be scored.

- The bands of the overheads table come from these runs, so the errors are what is left after fitting. The held-out
  error is that with the middle of the band taken from the runs of other models alone.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from costkit import tables
from costkit.memory.measured import Score, scores
from costkit.units import Range

_OWN_STACK = ("fitcheck", "megatron-lm", "pytorch-memory-tracker", "torchtitan")
"""Sources whose stack is modelled as it is; only these make the bands."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The scores of one source, stack and metric together.

    n_held_out, held_out_error: Runs that have other models beside them, and their mean absolute error with bands made
    without their own; None where there is no such run, or where nothing was fitted.
    within_band: The share of runs whose measured value lies in the estimate's band.
    """

    source: str
    stack: str
    scored_as: str
    metric: str
    n: int
    median_error: float
    mean_absolute_error: float
    n_held_out: int
    held_out_error: float | None
    within_band: float
    worst: Score


def summaries(listed: Iterable[Score] | None = None) -> list[Summary]:
    """Errors, the share within the band, and the worst row, by source, stack and metric."""
    every = scores() if listed is None else tuple(listed)
    groups: dict[tuple[str, str, str, str], list[Score]] = {}
    for score in every:
        if score.is_scored:
            groups.setdefault((score.source, score.stack, score.scored_as, score.metric), []).append(score)
    held_out = held_out_errors(every)
    return [
        Summary(
            source=source,
            stack=stack,
            scored_as=scored_as,
            metric=metric,
            n=len(group),
            median_error=statistics.median(score.error_fraction for score in group),
            mean_absolute_error=statistics.fmean(abs(score.error_fraction) for score in group),
            n_held_out=sum(score in held_out for score in group),
            held_out_error=_mean([abs(held_out[score]) for score in group if score in held_out]),
            within_band=sum(score.is_within_band for score in group) / len(group),
            worst=max(group, key=lambda score: abs(score.error_fraction)),
        )
        for (source, stack, scored_as, metric), group in sorted(groups.items())
    ]


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def measured_bands(listed: Iterable[Score] | None = None) -> dict[tuple[str, str], tuple[Range, int]]:
    """The bands of the overheads table as these scores give them, with the number of rows behind each.

    From the smallest to the largest ratio of measured to estimated, the middle being the median; with 20 rows or more
    from the 5th to the 95th percentile.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for score, ratio in _ratios(scores() if listed is None else listed):
        found.setdefault((score.kind, score.case), []).append(ratio)
    return {key: (_band(ratios), len(ratios)) for key, ratios in sorted(found.items())}


def measured_spreads(listed: Iterable[Score] | None = None) -> dict[tuple[str, str], tuple[float, int]]:
    """The largest factor between two ratios of measured to estimated of one model and metric, by kind and case."""
    found: dict[tuple[str, str], dict[tuple[str, str, str], list[float]]] = {}
    for score, ratio in _ratios(scores() if listed is None else listed):
        if not score.metric.startswith("live"):
            models = found.setdefault((score.kind, score.case), {})
            models.setdefault((score.source, score.model, score.metric), []).append(ratio)
    return {
        key: (max(max(ratios) / min(ratios) for ratios in models.values()), sum(map(len, models.values())))
        for key, models in sorted(found.items())
    }


def held_out_errors(listed: Iterable[Score] | None = None) -> dict[Score, float]:
    """The error of each reserved run with the median ratio of other models' runs in place of the band's middle.

    Allocated bytes have no ratio that was fitted: their middle is the estimate itself.
    """
    found: dict[str, list[tuple[Score, float]]] = {}
    for score, ratio in _ratios(scores() if listed is None else listed):
        if score.kind == "reserved":
            found.setdefault(score.case, []).append((score, ratio))
    errors = {}
    for group in found.values():
        for score, ratio in group:
            others = [other for one, other in group if one.model != score.model]
            if others:
                errors[score] = statistics.median(others) / ratio - 1
    return errors


def _ratios(listed: Iterable[Score]) -> Iterator[tuple[Score, float]]:
    """Measured over estimated before the band, of the runs that make the bands."""
    for score in listed:
        if score.measured_bytes is not None and score.raw_bytes and score.source in _OWN_STACK:
            yield score, score.measured_bytes / score.raw_bytes


def _band(ratios: list[float]) -> Range:
    low, middle, high = np.percentile(ratios, (5, 50, 95) if len(ratios) >= 20 else (0, 50, 100))
    return Range(float(low), float(middle), float(high))


def misses(beyond: float = 0.15) -> list[tuple[Score, str]]:
    """Scored runs that are missed by more than that, the worst first, each with what we know of the reason."""
    missed = [score for score in scores() if score.is_scored and abs(score.error_fraction) > beyond]
    return [(score, _why_missed(score)) for score in sorted(missed, key=lambda score: -abs(score.error_fraction))]


def _why_missed(score: Score) -> str:
    """The first reason of the score's source whose case is in its name or its metric; empty where none is known."""
    about = f"{score.id} {score.metric}"
    reasons = (row for row in tables.rows("memory_misses.csv") if row["source"] == score.source)
    return next((row["why"] for row in reasons if row["case"] == "*" or row["case"] in about), "")


def wrong_verdicts(listed: Iterable[Score] | None = None) -> list[Score]:
    """Runs that failed and are said to fit, and runs that ran and are said not to."""
    return [score for score in (scores() if listed is None else listed) if score.is_wrong_verdict]


def unscored(listed: Iterable[Score] | None = None) -> list[tuple[str, int]]:
    """Why runs have neither an error nor a verdict, the commonest reason first, with the number of runs."""
    every = scores() if listed is None else listed
    return Counter(score.unscored for score in every if score.unscored).most_common()


def sentence(listed: Iterable[Score] | None = None) -> str:
    """How many runs were scored, by what, and how many verdicts are wrong."""
    every = scores() if listed is None else tuple(listed)
    runs = {score.id: score for score in every}
    judged = [score for score in runs.values() if score.verdict]
    failed = sum(score.status == "OOM" for score in judged)
    n_scored, n_wrong = sum(score.is_scored for score in every), len(wrong_verdicts(every))
    return (
        f"{n_scored} peaks of {len({score.id for score in every if score.is_scored})} runs are scored, and"
        f" {len(judged)} runs by whether they fit: {n_wrong or 'no'} verdict{'s are' if n_wrong > 1 else ' is'} wrong,"
        f" though only {failed} of those runs ran out of memory."
        f" {sum(n for _, n in unscored(every))} runs can't be scored."
    )
