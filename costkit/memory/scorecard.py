"""How wrong are we? Every measured run that is fully described, against what we say of it.

- A row is scored by what its source measured: live bytes, allocated (of the last rank, where only that was written
  down), or reserved. A run that only fitted or failed is scored by its verdict.
- What is not scored says why: nothing is dropped without a word.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from costkit import architectures, tables
from costkit.architectures import Architecture
from costkit.memory import bands
from costkit.memory.adapters import Adapters
from costkit.memory.budgets import budget
from costkit.memory.recipes import PRECISIONS
from costkit.memory.settings import WORKSPACES
from costkit.memory.sharding import Sharding
from costkit.units import GIB, MIB, Range

_STACK_OF = {"fsdp-qlora": "huggingface", "litgpt": "huggingface", "llm-foundry": "fsdp2", "nanotron": "megatron"}
"""Stacks that are scored as another one, which keeps much the same things."""

_OWN_STACK = ("fitcheck", "megatron-lm", "pytorch-memory-tracker", "torchtitan")
"""Sources whose stack is modelled as it is; only these make the bands."""


@dataclass(frozen=True)
class Score:
    """One measured run. `measured_bytes` is None where it only ran or failed; `unscored` says why there is no estimate.

    `verdict` is ours against the run's own GPU, empty where that is not known. `raw_bytes` is the estimate before the
    band of its `case`.
    """

    id: str
    source: str
    stack: str
    metric: str
    status: str
    measured_bytes: float | None
    estimated_bytes: float | None = None
    low_bytes: float | None = None
    high_bytes: float | None = None
    verdict: str = ""
    unscored: str = ""
    case: str = ""
    raw_bytes: float | None = None

    @property
    def error_fraction(self) -> float:
        """How much too high we are; below 0 too low."""
        if self.measured_bytes is None or self.estimated_bytes is None:
            raise ValueError(f"{self.id} has no error: {self.unscored or 'nothing was measured'}")
        return self.estimated_bytes / self.measured_bytes - 1

    @property
    def is_scored(self) -> bool:
        """Whether there are two numbers to compare."""
        return self.measured_bytes is not None and self.estimated_bytes is not None

    @property
    def is_wrong_verdict(self) -> bool:
        """Whether a run that failed is said to fit, or one that ran not to."""
        wrong = "fits" if self.status == "OOM" else "does not fit"
        return self.verdict == wrong


@dataclass(frozen=True)
class Summary:
    """The scores of one source, stack and metric together."""

    source: str
    stack: str
    metric: str
    n: int
    median_error: float
    mean_absolute_error: float
    worst: Score


@functools.cache
def scores() -> tuple[Score, ...]:
    """Every reference row, in the order of the tables.

    >>> tracked = [score for score in scores() if score.metric == "live, step"]
    >>> max(abs(score.error_fraction) for score in tracked) < 0.01
    True
    """
    return (*_tracked(), *_phase_peaks(), *_measured())


def summaries(listed: Iterable[Score] | None = None) -> list[Summary]:
    """Count, median error, mean absolute error and worst row by source, stack and metric."""
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores() if listed is None else listed:
        if score.is_scored:
            groups.setdefault((score.source, score.stack, score.metric), []).append(score)
    return [
        Summary(
            *key,
            n=len(group),
            median_error=statistics.median(score.error_fraction for score in group),
            mean_absolute_error=statistics.fmean(abs(score.error_fraction) for score in group),
            worst=max(group, key=lambda score: abs(score.error_fraction)),
        )
        for key, group in sorted(groups.items())
    ]


def measured_bands(listed: Iterable[Score] | None = None) -> dict[tuple[str, str], tuple[Range, int]]:
    """The bands of the overheads table as these scores give them, with the number of rows behind each.

    From the smallest to the largest ratio of measured to estimated, the middle being the median; with 20 rows or more
    from the 5th to the 95th percentile.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for score in scores() if listed is None else listed:
        kind = "reserved" if score.metric == "reserved" else "allocated"
        is_known = score.metric.startswith(("allocated", "live", "reserved")) and score.source in _OWN_STACK
        if score.measured_bytes is not None and score.raw_bytes and is_known:
            found.setdefault((kind, score.case), []).append(score.measured_bytes / score.raw_bytes)
    return {key: (_band(ratios), len(ratios)) for key, ratios in sorted(found.items())}


def measured_spreads(listed: Iterable[Score] | None = None) -> dict[tuple[str, str], tuple[float, int]]:
    """The largest factor between two ratios of measured to estimated of one model and metric, by kind and case."""
    found: dict[tuple[str, str], dict[tuple[str, str, str], list[float]]] = {}
    named = {row["id"]: row["model"] for row in tables.rows("measured_memory.csv")}
    for score in scores() if listed is None else listed:
        kind = "reserved" if score.metric == "reserved" else "allocated"
        is_known = score.metric.startswith(("allocated", "reserved")) and score.source in _OWN_STACK
        if score.measured_bytes is not None and score.raw_bytes and is_known:
            model = (score.source, named[score.id], score.metric)
            found.setdefault((kind, score.case), {}).setdefault(model, []).append(
                score.measured_bytes / score.raw_bytes
            )
    return {
        key: (max(max(ratios) / min(ratios) for ratios in models.values()), sum(map(len, models.values())))
        for key, models in sorted(found.items())
    }


def _band(ratios: list[float]) -> Range:
    low, middle, high = np.percentile(ratios, (5, 50, 95) if len(ratios) >= 20 else (0, 50, 100))
    return Range(float(low), float(middle), float(high))


def _tracked() -> Iterator[Score]:
    """PyTorch's own tracker, on a CPU: live bytes without the workspaces of GPU libraries."""
    for row in tables.rows("tracked_memory.csv"):
        shape = architectures.named(row["architecture"])
        if row["n_positions"]:
            shape = dataclasses.replace(shape, n_positions=int(row["n_positions"]))
        found = budget(
            shape,
            micro_batch=int(row["micro_batch"]),
            seq_len=int(row["seq_len"]),
            precision=row["precision"],
            optimizer=row["optimizer"],
            checkpointing=row["checkpointing"],
            attention=row["attention"],
            optimizer_step=row["optimizer_step"] or None,
        )
        before_step = max(value for phase, value in found.phases.items() if phase != "step")
        for metric, column, value in (
            ("live, backward", "backward_peak_bytes", before_step),
            ("live, step", "step_peak_bytes", found.peak_bytes),
        ):
            name = "-".join(
                row[part] for part in ("architecture", "micro_batch", "seq_len", "precision", "checkpointing")
            )
            estimate = value - found.parts.get(WORKSPACES, 0.0)
            yield Score(
                f"{name}-{row['optimizer']}-{row['optimizer_step']}-{row['attention']}".rstrip("-"),
                row["source"],
                "huggingface",
                metric,
                "ok",
                float(row[column]),
                estimate,
                estimate,
                estimate,
                case=found.request.case,
                raw_bytes=estimate,
            )


def _phase_peaks() -> Iterator[Score]:
    """LoRA and QLoRA on one T4, phase by phase; fixed-length sequences, so no mask."""
    for row in tables.rows("measured_phase_peaks.csv"):
        found = budget(
            architectures.named(row["architecture"]),
            micro_batch=int(row["micro_batch"]),
            seq_len=int(row["seq_len"]),
            precision="fp16-mixed",
            checkpointing="full",
            attention=row["attention"],
            adapters=_adapters(row),
            padded=False,
        )
        phases = found.phases
        backward = max(phases["loss"], phases["recompute"], phases["backward"])
        shown = {
            "allocated, forward": ("peak_forward_mib", phases["forward"], "allocated"),
            "allocated, backward": ("peak_backward_mib", backward, "allocated"),
            "allocated, step": ("peak_optimizer_mib", phases["step"], "allocated"),
            "reserved": ("peak_reserved_mib", found.pools_bytes, "reserved"),
        }
        for metric, (column, value, kind) in shown.items():
            band, measured = bands.band(kind, case=found.request.case), float(row[column]) * MIB
            score = Score(row["id"], row["source"], "huggingface", metric, "ok", measured, value * band.mid)
            low, high = value * band.low, value * band.high
            yield dataclasses.replace(score, low_bytes=low, high_bytes=high, case=found.request.case, raw_bytes=value)
        device, measured = found.device_bytes, float(row["process_mib"]) * MIB
        yield Score(
            row["id"], row["source"], "huggingface", "device", "ok", measured, device.mid, device.low, device.high
        )


def _measured() -> Iterator[Score]:
    for row in tables.rows("measured_memory.csv"):
        stack = _STACK_OF.get(row["stack"], row["stack"])
        measured = float(row["peak_gib"]) * GIB if row["peak_gib"] else None
        score = Score(row["id"], row["source"], stack, row["metric"], row["status"], measured)
        reason = _why_not(row)
        if reason:
            yield dataclasses.replace(score, unscored=reason)
            continue
        try:
            yield _scored(row, score, stack)
        except ValueError as error:
            yield dataclasses.replace(score, unscored=str(error))


def _scored(row: Mapping[str, str], score: Score, stack: str) -> Score:
    found = budget(
        _shape(row),
        micro_batch=int(row["micro_batch"]),
        seq_len=int(row["seq_len"]),
        precision=row["precision"],
        optimizer=row["optimizer"] or "adamw",
        checkpointing=row["checkpointing"],
        attention=row["attention"] or "flash",
        stack=stack,
        sharding=_sharding(row, stack),
        adapters=_adapters(row) if row["adapters"] not in ("", "none") else None,
        compiled=row["compile"] == "yes" and stack == "fsdp2",
        loss=row["loss"] or None,
        dropout={"yes": True, "no": False, "": None}[row["dropout"]],
        padded=False if row["source"] == "fitcheck" else None,
    )
    shown = {"reserved": found.reserved_bytes, "unstated": found.device_bytes}.get(row["metric"], found.allocated_bytes)
    if row["metric"] == "allocated-last-rank":
        band, last = bands.band("allocated", case=found.request.case), found.stages[-1].peak_bytes
        low, mid, high = last * band.low, last * band.mid, last * band.high
    else:
        low, mid, high = shown.low, shown.mid, shown.high
    last = found.stages[-1].peak_bytes if row["metric"] == "allocated-last-rank" else found.peak_bytes
    return dataclasses.replace(
        score,
        estimated_bytes=mid,
        low_bytes=low,
        high_bytes=high,
        verdict=found.verdict(row["gpu"]) if row["gpu"] else "",
        case=found.request.case,
        raw_bytes=found.pools_bytes if row["metric"] == "reserved" else last,
    )


def _why_not(row: Mapping[str, str]) -> str:
    """Why a row can't be scored; empty where it can."""
    scored = ("huggingface", "fsdp2", "simplefsdp", "megatron", "deepspeed", *_STACK_OF)
    adapted = row["adapters"] not in ("", "none")
    reasons = (
        (row["stack"] not in scored, f"stack {row['stack']} is not modelled"),
        (row["status"] == "max_fit", "only the longest sequence that fits is known"),
        (not (row["architecture"] or row["family"]), "the model's shape is not modelled"),
        (not (row["seq_len"] and row["micro_batch"]), "sequence length or micro-batch is not stated"),
        (row["precision"] not in PRECISIONS, "the precision is not one of ours"),
        (not row["checkpointing"], "checkpointing is not stated"),
        (bool(row["offload"]) and row["offload"] not in ("no", "none"), "parts are offloaded"),
        ("a bug" in row["note"], "the run had a known defect"),
        ("uneven" in row["id"], "its pipeline stages are uneven"),
        (
            row["adapters"] == "lora-emb" or "emb" in row["optimizer_printed"],
            "the embedding and the head are trained too",
        ),
        ("cross-entropy fusion" in row["note"], "fused cross-entropy is not modelled"),
        (adapted and row["base_weights"] not in ("fp16", "bf16", "nf4", ""), "its quantization is not modelled"),
        (row["checkpointing_printed"] == "selective layer", "whole layers are checkpointed by turns"),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def _shape(row: Mapping[str, str]) -> Architecture:
    if row["architecture"]:
        return architectures.named(row["architecture"])
    learned = architectures.FAMILIES[row["family"]].learned_positions
    return Architecture(
        name=row["model"],
        family=row["family"],
        n_layers=int(row["n_layers"]),
        hidden=int(row["hidden"]),
        n_heads=int(row["n_heads"]),
        n_kv_heads=int(row["n_kv_heads"]),
        head_dim=int(row["head_dim"]),
        ffn=int(row["ffn"]),
        vocab=int(row["vocab_padded"] or row["vocab"]),
        tied_embeddings=row["tied_embeddings"] == "yes",
        n_positions=int(row["seq_len"]) if learned else 0,
    )


def _sharding(row: Mapping[str, str], stack: str) -> Sharding:
    def degree(name: str) -> int:
        return int(row[f"{name}_parallel"] or 1)

    others = degree("tensor") * degree("pipeline") * degree("context")
    data = int(row["data_parallel"]) if row["data_parallel"] else max(int(row["n_gpus"] or others) // others, 1)
    zero = int(row["zero_stage"]) if row["zero_stage"] else None
    if stack == "megatron" and zero is not None:
        zero = min(zero, 1)
    return Sharding(
        data=data,
        zero=None if stack in ("fsdp2", "simplefsdp") and (zero or 0) < 2 else zero,
        tensor=degree("tensor"),
        pipeline=degree("pipeline"),
        context=degree("context"),
        expert=degree("expert"),
        interleave=int(row["virtual_pipeline"] or 1),
        sequence_parallel={"yes": True, "no": False, "": None}[row["sequence_parallel"]],
    )


def _adapters(row: Mapping[str, str]) -> Adapters:
    targets = row.get("adapter_targets") or "q,k,v,o"
    names = tuple(part.strip() for part in targets.replace(";", ",").replace(" ", ",").split(",") if part.strip())
    return Adapters(
        rank=int(row["adapter_rank"] or 16), targets=names, quantized="nf4" if row["base_weights"] == "nf4" else None
    )


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
