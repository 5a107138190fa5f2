"""How wrong is the planner? Its scorecard as text, as JSON, and as rows of the published runs that it is scored on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from costkit import training
from costkit.cli.output import json_text, table
from costkit.units import number, percent

_HEADINGS = ("Runs", "Planner", "n", "families", "median", "80%", "90%", "in its band", "took longer")
_RUN_HEADINGS = ("Run", "MFU", "predicted", "hours over predicted", "what is known")


def rows() -> list[dict[str, Any]]:
    """A row a published run: what its hours imply beside what was predicted without its family."""
    return [_row(one) for one in training.scored()]


def _row(one: training.Scored) -> dict[str, Any]:
    return {
        "run": one.run.name,
        "group": one.group,
        "mfu": one.mfu,
        "predicted_low": one.predicted_mfu.low,
        "predicted_mid": one.predicted_mfu.mid,
        "predicted_high": one.predicted_mfu.high,
        "hours_ratio": one.hours_ratio,
        "inside": one.is_inside,
        "anomaly": one.run.anomaly,
        "basis": one.run.basis,
        "source": one.run.source,
    }


def as_json() -> str:
    """The sentence, the scores by group and planner, those of recalled rows, the anomalous rows, and all rows."""
    return json_text(
        {
            "sentence": training.scores_sentence(),
            "scores": list(map(dataclasses.asdict, training.scores())),
            "recalled": list(map(dataclasses.asdict, training.scores(recalled=True))),
            "anomalies": list(map(_row, training.anomalous_runs())),
            "rows": rows(),
        }
    )


def as_text(*, cut: bool) -> str:
    """The sentence, the factors by group and planner, and the rows that something is known against."""
    parts = (
        training.scores_sentence(),
        "By what factor GPU-hours are missed, either way:",
        _scores(training.scores(), cut=cut),
        "The same of rows that nobody read again:",
        _scores(training.scores(recalled=True), cut=cut),
        "Rows with a named anomaly, which the scores count too:",
        table(_RUN_HEADINGS, map(_anomaly, training.anomalous_runs()), cut=cut),
    )
    return "\n\n".join(parts) + "\n"


def _scores(scores: Sequence[training.Score], *, cut: bool) -> str:
    cells = [
        (
            score.group,
            score.planner,
            str(score.n_runs),
            str(score.n_families),
            *(f"{factor:.2f}" for factor in (score.median_factor, score.p80_factor, score.p90_factor)),
            "" if score.inside_fraction is None else percent(score.inside_fraction),
            percent(score.under_priced_fraction),
        )
        for score in scores
    ]
    return table(_HEADINGS, cells, cut=cut)


def _anomaly(one: training.Scored) -> tuple[str, ...]:
    band = f"{percent(one.predicted_mfu.mid)} ({percent(one.predicted_mfu.low)} to {percent(one.predicted_mfu.high)})"
    return one.run.name, percent(one.mfu), band, number(one.hours_ratio), one.run.anomaly.replace("_", " ")
