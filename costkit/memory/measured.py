"""What do measured runs say, and what do we say of them? Every row of the reference tables as a `Score`.

- A row is scored by what its source measured: live bytes, allocated (of the last rank, where only that was written
  down), or reserved. A run that only fitted or failed is scored by its verdict.
- What is not scored says why: nothing is dropped without a word.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from costkit import architectures, tables
from costkit.architectures import Architecture
from costkit.architectures.named import from_row
from costkit.memory.adapters import Adapters
from costkit.memory.budgets import Budget, budget
from costkit.memory.parts import WORKSPACES
from costkit.memory.recipes import PRECISIONS
from costkit.memory.sharding import Sharding
from costkit.memory.stacks import BY_NAME, STACKS
from costkit.units import GIB, MIB, Range

_STACK_OF: Mapping[str, str] = {
    **dict(zip(STACKS, STACKS, strict=True)),
    "fsdp-qlora": "huggingface",
    "litgpt": "huggingface",
    "llm-foundry": "fsdp2",
    "nanotron": "megatron",
    "torchtune": "fsdp2",
}
"""The stack as which a run is scored: its own, or one that keeps much the same things."""


_YES_NO: Mapping[str, bool | None] = {"yes": True, "no": False, "": None}
_ROUNDING, _LEAST_SHARDED = 0.001, 2


@dataclass(frozen=True, kw_only=True)
class Score:
    """One measured run and what we say of it; sizes in bytes.

    stack: The run's own; `scored_as` is the one that stands for it, the same for those that are modelled.
    measured_bytes: None where it only ran or failed. unscored: Why there is no estimate.
    verdict: Ours against the run's own GPU, empty where that is not known.
    raw_bytes: The estimate before the band of its `case`.
    """

    id: str
    source: str
    model: str
    stack: str
    scored_as: str
    metric: str
    status: str
    measured_bytes: float | None
    estimate: Range | None = None
    raw_bytes: float | None = None
    case: str = ""
    verdict: str = ""
    unscored: str = ""

    @property
    def estimated_bytes(self) -> float | None:
        """The middle of the estimate, None where there is none."""
        return None if self.estimate is None else self.estimate.mid

    @property
    def kind(self) -> str:
        """Which band applies: that of "allocated" or of "reserved" bytes, or that of the whole "device"."""
        return {"reserved": "reserved", "device": "device", "unstated": "device"}.get(self.metric, "allocated")

    @property
    def error_fraction(self) -> float:
        """How much too high we are; below 0 too low."""
        if self.measured_bytes is None or self.estimate is None:
            raise ValueError(f"{self.id} has no error: {self.unscored or 'nothing was measured'}")
        return self.estimate.mid / self.measured_bytes - 1

    @property
    def is_scored(self) -> bool:
        """Whether there are two numbers to compare."""
        return self.measured_bytes is not None and self.estimate is not None

    @property
    def is_within_band(self) -> bool:
        """Whether what was measured lies between the estimate's ends, to the digits that tables print."""
        if self.measured_bytes is None or self.estimate is None:
            return False
        return self.estimate.low * (1 - _ROUNDING) <= self.measured_bytes <= self.estimate.high * (1 + _ROUNDING)

    @property
    def is_wrong_verdict(self) -> bool:
        """Whether a run that failed is said to fit, or one that ran not to."""
        wrong = "fits" if self.status == "OOM" else "does not fit"
        return self.verdict == wrong


@functools.cache
def scores() -> tuple[Score, ...]:
    """Every reference row, in the order of the tables.

    >>> tracked = [score for score in scores() if score.metric == "live, step"]
    >>> max(abs(score.error_fraction) for score in tracked) < 0.01
    True
    """
    return (*_tracked(), *_phase_peaks(), *_measured())


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
        about = ("architecture", "micro_batch", "seq_len", "precision", "checkpointing")
        name = "-".join([*(row[part] for part in about), row["optimizer"], row["optimizer_step"], row["attention"]])
        for metric, column, value in (
            ("live, backward", "backward_peak_bytes", before_step),
            ("live, step", "step_peak_bytes", found.peak_bytes),
        ):
            estimate = value - found.parts.get(WORKSPACES, 0.0)
            yield Score(
                id=name.rstrip("-"),
                source=row["source"],
                model=row["architecture"],
                stack="huggingface",
                scored_as="huggingface",
                metric=metric,
                status="ok",
                measured_bytes=float(row[column]),
                estimate=Range(estimate, estimate, estimate),
                raw_bytes=estimate,
                case=found.request.case,
            )


def _phase_peaks() -> Iterator[Score]:
    """LoRA and QLoRA on one T4, phase by phase; fixed-length sequences, so no mask."""
    models = {row["id"]: row["model"] for row in tables.rows("measured_memory.csv")}
    for row in tables.rows("measured_phase_peaks.csv"):
        found = budget(
            row["architecture"],
            micro_batch=int(row["micro_batch"]),
            seq_len=int(row["seq_len"]),
            precision="fp16-mixed",
            checkpointing="full",
            attention=row["attention"],
            adapters=_adapters(row),
            padded=False,
        )
        phases, banded = found.phases, functools.partial(_banded, found)
        backward = max(phases["loss"], phases["recompute"], phases["backward"])
        for metric, column, raw, estimate in (
            ("allocated, forward", "peak_forward_mib", phases["forward"], banded("allocated", phases["forward"])),
            ("allocated, backward", "peak_backward_mib", backward, banded("allocated", backward)),
            ("allocated, step", "peak_optimizer_mib", phases["step"], banded("allocated", phases["step"])),
            ("reserved", "peak_reserved_mib", found.pools_bytes, found.reserved_bytes),
            ("device", "process_mib", None, found.device_bytes),
        ):
            yield Score(
                id=row["id"],
                source=row["source"],
                model=models[row["id"]],
                stack="huggingface",
                scored_as="huggingface",
                metric=metric,
                status="ok",
                measured_bytes=float(row[column]) * MIB,
                estimate=estimate,
                raw_bytes=raw,
                case=found.request.case,
            )


def _banded(found: Budget, kind: str, n_bytes: float) -> Range:
    band = found.request.band(kind)
    return Range(n_bytes * band.low, n_bytes * band.mid, n_bytes * band.high)


def _measured() -> Iterator[Score]:
    for row in tables.rows("measured_memory.csv"):
        score = Score(
            id=row["id"],
            source=row["source"],
            model=row["model"],
            stack=row["stack"],
            scored_as=_STACK_OF.get(row["stack"], ""),
            metric=row["metric"],
            status=row["status"],
            measured_bytes=float(row["peak_gib"]) * GIB if row["peak_gib"] else None,
        )
        reason = _why_not(row)
        if reason:
            yield dataclasses.replace(score, unscored=reason)
            continue
        try:
            yield _scored(row, score)
        except ValueError as error:
            yield dataclasses.replace(score, unscored=str(error))


def _scored(row: Mapping[str, str], score: Score) -> Score:
    found = budget(
        _shape(row),
        micro_batch=int(row["micro_batch"]),
        seq_len=int(row["seq_len"]),
        precision=row["precision"],
        optimizer=row["optimizer"] or "adamw",
        checkpointing=row["checkpointing"],
        attention=row["attention"] or "flash",
        stack=score.scored_as,
        sharding=_sharding(row, score.scored_as),
        adapters=_adapters(row) if row["adapters"] not in ("", "none") else None,
        compiled=row["compile"] == "yes" and BY_NAME[score.scored_as].compiles is None,
        loss=row["loss"] or None,
        dropout=_YES_NO[row["dropout"]],
        padded=False if row["source"] == "fitcheck" else None,
    )
    last = found.stages[-1].peak_bytes if row["metric"] == "allocated-last-rank" else found.peak_bytes
    estimate, raw = {
        "allocated": (_banded(found, "allocated", last), last),
        "reserved": (found.reserved_bytes, found.pools_bytes),
        "device": (found.device_bytes, None),
    }[score.kind]
    return dataclasses.replace(
        score,
        estimate=estimate,
        raw_bytes=raw,
        verdict=found.verdict(row["gpu"]) if row["gpu"] else "",
        case=found.request.case,
    )


def _why_not(row: Mapping[str, str]) -> str:
    """Why a row can't be scored; empty where it can."""
    reasons = (
        (row["stack"] not in _STACK_OF, f"stack {row['stack']} is not modelled"),
        (row["status"] == "max_fit", "only the longest sequence that fits is known"),
        (not (row["architecture"] or row["family"]), "the model's shape is not modelled"),
        (not (row["seq_len"] and row["micro_batch"]), "sequence length or micro-batch is not stated"),
        (row["precision"] not in PRECISIONS, "the precision is not told, or not modelled"),
        (not row["checkpointing"], "checkpointing is not stated"),
        (bool(row["offload"]), "parts are offloaded"),
        (bool(row["excluded"]), row["excluded"]),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def _shape(row: Mapping[str, str]) -> Architecture:
    return architectures.named(row["architecture"]) if row["architecture"] else shape_of(row)


def shape_of(row: Mapping[str, str]) -> Architecture:
    """The architecture that the shape columns of a measured run describe, its vocabulary as padded."""
    learned = architectures.FAMILIES[row["family"]].learned_positions
    vocab, positions = row["vocab_padded"] or row["vocab"], row["seq_len"] if learned else ""
    return from_row({**row, "name": row["model"], "vocab": vocab, "n_positions": positions})


def _sharding(row: Mapping[str, str], stack: str) -> Sharding:
    def degree(name: str) -> int:
        return int(row[f"{name}_parallel"] or 1)

    others = degree("tensor") * degree("pipeline") * degree("context")
    data = int(row["data_parallel"]) if row["data_parallel"] else max(int(row["n_gpus"] or others) // others, 1)
    zero = int(row["zero_stage"]) if row["zero_stage"] else None
    about = BY_NAME[stack]
    if zero is not None:
        zero = min(zero, about.most_zero)
    return Sharding(
        data=data,
        zero=None if about.always_shards and (zero or 0) < _LEAST_SHARDED else zero,
        tensor=degree("tensor"),
        pipeline=degree("pipeline"),
        context=degree("context"),
        expert=degree("expert"),
        interleave=int(row["virtual_pipeline"] or 1),
        sequence_parallel=_YES_NO[row["sequence_parallel"]],
    )


def _adapters(row: Mapping[str, str]) -> Adapters:
    targets = row.get("adapter_targets") or "q,k,v,o"
    names = tuple(part.strip() for part in targets.replace(";", ",").replace(" ", ",").split(",") if part.strip())
    return Adapters(
        rank=int(row["adapter_rank"] or 16), targets=names, quantized="nf4" if row["base_weights"] == "nf4" else None
    )
