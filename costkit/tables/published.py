"""What have others trained? Models with their size and tokens; runs with the GPU-hours they took."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit.tables.files import number, rows
from costkit.tables.names import lookup

_RUN_TEXTS = ("name", "model", "family", "kind", "gpu", "precision", "mfu_kind", "hours_kind", "anomaly")
_ROW_TEXTS = ("source", "as_of", "basis", "note")


@dataclass(frozen=True)
class PublishedModel:
    """A published language model: its size, the parameters active per token, and the tokens it was trained on."""

    name: str
    n_params: float
    n_active_params: float
    n_tokens: float
    source: str
    as_of: str
    basis: str
    note: str = ""


def _model_of(row: Mapping[str, str]) -> PublishedModel:
    n_params = float(row["n_params"])
    active = number(row, "n_active_params")
    texts = {name: row[name] for name in ("name", *_ROW_TEXTS)}
    return PublishedModel(
        n_params=n_params,
        n_active_params=n_params if active is None else active,
        n_tokens=float(row["n_tokens"]),
        **texts,
    )


@functools.cache
def published_models() -> tuple[PublishedModel, ...]:
    """Published models, by name.

    >>> [model.n_tokens for model in published_models() if model.name == "Chinchilla 70B"]
    [1400000000000.0]
    """
    return tuple(map(_model_of, rows("published_models.csv")))


@dataclass(frozen=True)
class PublishedRun:
    """A training run as it was published: what was trained, on what, and what it took.

    `n_active_params` are those that one token passes through; None or empty is what the source does not tell.
    What the words of `kind`, `mfu_kind`, `hours_kind` and `anomaly` mean is in `data/README.md`.
    """

    name: str
    model: str
    family: str
    kind: str
    n_params: float
    n_active_params: float
    n_tokens: float | None
    seq_len: int | None
    gpu: str
    n_gpus: int | None
    precision: str
    gpu_hours: float | None
    days: float | None
    mfu: float | None
    mfu_kind: str
    usd: float | None
    usd_per_gpu_hour: float | None
    hours_kind: str
    anomaly: str
    source: str
    as_of: str
    basis: str
    note: str = ""


def _run_of(row: Mapping[str, str]) -> PublishedRun:
    n_params = float(row["n_params"])
    active = number(row, "n_active_params")
    return PublishedRun(
        n_params=n_params,
        n_active_params=n_params if active is None else active,
        n_tokens=number(row, "n_tokens"),
        seq_len=_whole(row, "seq_len"),
        n_gpus=_whole(row, "n_gpus"),
        gpu_hours=number(row, "gpu_hours"),
        days=number(row, "days"),
        mfu=number(row, "mfu_published"),
        usd=number(row, "usd_published"),
        usd_per_gpu_hour=number(row, "usd_per_gpu_hour_published"),
        **{name: row[name] for name in (*_RUN_TEXTS, *_ROW_TEXTS)},
    )


def _whole(row: Mapping[str, str], column: str) -> int | None:
    return int(row[column]) if row[column] else None


@functools.cache
def published_runs() -> tuple[PublishedRun, ...]:
    """Published training runs, by name; those that are odd say so in `anomaly`.

    >>> {run.hours_kind for run in published_runs() if run.family == "eleutherai"} == {"booked", "ideal"}
    True
    """
    return tuple(map(_run_of, rows("published_runs.csv")))


def published_run(name: str) -> PublishedRun:
    """The published run of that exact name.

    >>> run = published_run("LLaMA-1 65B")
    >>> run.gpu, run.n_gpus, run.gpu_hours
    ('A100-SXM4-80GB', 2048, 1022362.0)
    """
    return lookup("published run", name, _runs_by_name())


@functools.cache
def _runs_by_name() -> Mapping[str, PublishedRun]:
    return MappingProxyType({run.name: run for run in published_runs()})
