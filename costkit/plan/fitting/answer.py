"""Does this plan fit on its GPUs? The plan's numbers passed through `memory`.

- GPUs that tensor, pipeline and context parallelism leave over hold copies of the model: the data-parallel degree.
- A plan without an architecture gets a plausible shape of its size.
- Peaks that the plan says were measured on a run of it calibrate the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from costkit import architectures, memory, tables
from costkit.plan.fitting import words
from costkit.plan.fitting.keys import errors_by_keys
from costkit.plan.fitting.original import original
from costkit.plan.schema import Plan
from costkit.units import GIB, Range, number

MAP_MICRO_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
MAP_SEQ_LENS = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)


@dataclass(frozen=True, eq=False)
class Footprint:
    """The answer: the budget, its verdict on the plan's GPU, and the largest micro-batch that fits.

    `largest` is at the plan's sequence length, 0 where not even one sequence fits. `batch` is None where the plan names
    no effective batch.
    """

    plan: Plan
    gpu: tables.Gpu
    budget: memory.Budget
    verdict: str
    largest: int
    batch: memory.Batch | None

    @property
    def architecture(self) -> architectures.Architecture:
        """The shape that was counted."""
        return self.budget.request.architecture

    @cached_property
    def is_as_published(self) -> bool:
        """Whether the plan is still the one whose peak its case publishes."""
        before = original(self.plan)
        return before is None or _asked(before) == _asked(self.plan)

    @property
    def is_calibrated(self) -> bool:
        """Whether the plan has ratios of a run of its own, by which the bands were moved."""
        return self.budget.request.calibration != memory.Calibration()

    @property
    def measured_bytes(self) -> float | None:
        """The peak that the plan's case publishes, or None; that of another run is none."""
        published = self.plan.case.published_peak_gib
        return None if published is None or not self.is_as_published else published * GIB

    @property
    def measured_metric(self) -> str:
        """Which of the three numbers was published."""
        return self.plan.case.published_peak_metric or "reserved"

    @property
    def compared_bytes(self) -> Range:
        """Ours, for what was published."""
        budget = self.budget
        return {
            "allocated": budget.allocated_bytes,
            "reserved": budget.reserved_bytes,
            "device": budget.device_bytes,
        }[self.measured_metric]

    @cached_property
    def ways(self) -> list[memory.Way]:
        """What would make it fit, cheapest first; where it fits, what would leave more room."""
        if self.verdict == "fits":
            return memory.savings(self.budget, self.gpu)
        return memory.ways_to_fit(self.budget, self.gpu)

    @cached_property
    def map(self) -> memory.FitMap:
        """Verdicts around the plan: micro-batch against sequence length, the plan's own included."""
        request, seq_lens = self.budget.request, {*MAP_SEQ_LENS, self.budget.seq_len}
        positions, context = request.architecture.n_positions, request.sharding.context
        possible = sorted(n for n in seq_lens if n % context == 0 and (not positions or n <= positions))
        return memory.fit_map(
            request.architecture,
            gpu=self.gpu,
            micro_batches=sorted({*MAP_MICRO_BATCHES, self.budget.micro_batch}),
            seq_lens=possible,
            **request.details,
        )

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return words.headline(self)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Key numbers as (label, text)."""
        return words.facts(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before using the answer."""
        return words.warnings(self)

    @property
    def reading(self) -> str:
        """What the picture of the phases says, in a sentence."""
        return words.reading(self)

    @property
    def way_out(self) -> str:
        """The cheapest way to fit, or that none is needed, in a sentence."""
        return words.way_out(self)

    @property
    def room(self) -> str:
        """What the map says, in a sentence."""
        return words.room(self)

    def numbers(self) -> dict[str, object]:
        """The answer as numbers, sizes in bytes."""
        budget = self.budget
        ranges = {
            "allocated_bytes": budget.allocated_bytes,
            "reserved_bytes": budget.reserved_bytes,
            "device_bytes": budget.device_bytes,
        }
        return {
            "verdict": self.verdict,
            "largest_micro_batch": self.largest,
            "usable_bytes": self.gpu.usable_bytes,
            **{name: {"low": one.low, "mid": one.mid, "high": one.high} for name, one in ranges.items()},
        }

    def phase_table(self) -> list[dict[str, str]]:
        """A row for each part and a column for each phase, in GiB, the largest at the peak first."""
        parts, peak = self.budget.fullest.phase_parts, self.budget.parts
        named = dict.fromkeys(part for of_phase in parts.values() for part in of_phase)
        order = sorted(named, key=lambda part: -peak.get(part, 0.0))
        rows = [
            {"GiB": part, **{phase: number(of_phase.get(part, 0.0) / GIB) for phase, of_phase in parts.items()}}
            for part in order
        ]
        return [*rows, {"GiB": "all", **{phase: number(value / GIB) for phase, value in self.budget.phases.items()}}]

    def rows(self) -> list[dict[str, object]]:
        """Bytes by phase and part at full precision."""
        return [
            {"phase": phase, "part": part, "bytes": n_bytes, "at_peak": phase == self.budget.peak_phase}
            for phase, parts in self.budget.fullest.phase_parts.items()
            for part, n_bytes in parts.items()
        ]


def footprint(plan: Plan) -> Footprint:
    """The memory of one GPU for a plan, and whether its GPU has it.

    Raises `ValueError` of one sentence for values that can't be together: a batch that nothing makes up, degrees that
    the GPUs or the model can't be divided by, a precision that the GPU does not have.

    >>> from costkit import plan
    >>> answer = footprint(plan.read("llama-3-8b"))
    >>> answer.verdict, answer.budget.peak_phase
    ('fits', 'loss')
    """
    with errors_by_keys():
        return _footprint(plan)


def budget(plan: Plan) -> memory.Budget:
    """The memory of one GPU for a plan, moved by what the plan says was measured; raises as `footprint` does.

    >>> from costkit import plan
    >>> budget(plan.read("llama-3-8b")).peak_phase
    'loss'
    """
    with errors_by_keys():
        return _budget(plan, request(plan))


def _budget(plan: Plan, asked: memory.Request) -> memory.Budget:
    batch = _batch(plan, asked)
    asked = asked.with_changes(accumulates=batch is not None and batch.accumulation > 1)
    found = memory.budget(
        asked.architecture, micro_batch=plan.memory.micro_batch, seq_len=plan.training.seq_len, **asked.details
    )
    return found.calibrated(
        memory.Calibration(allocated=plan.memory.allocated_ratio, reserved=plan.memory.reserved_ratio)
    )


def _footprint(plan: Plan) -> Footprint:
    asked, gpu = request(plan), tables.gpu(plan.hardware.gpu)
    found = _budget(plan, asked)
    largest = memory.largest_micro_batch(
        asked.architecture, gpu=gpu, seq_len=plan.training.seq_len, **found.request.details
    )
    return Footprint(plan, gpu, found, found.verdict(gpu), largest, _batch(plan, asked))


def _asked(plan: Plan) -> tuple[object, ...]:
    """All that decides a plan's memory."""
    asked, about = request(plan), plan.memory
    sharding = replace(asked.sharding, zero=asked.zero)
    decisive = (about.micro_batch, about.effective_batch, plan.training.seq_len, plan.hardware.gpu)
    return asked.with_changes(sharding=sharding), decisive


def request(plan: Plan) -> memory.Request:
    """What the plan asks of memory, save micro-batch and sequence length."""
    named = plan.target_architecture
    shape = architectures.of_size(plan.model.n_params) if named is None else named
    return memory.Request(shape, sharding=_sharding(plan), adapters=_adapters(plan), **_details(plan))


def _details(plan: Plan) -> dict[str, Any]:
    asked = plan.memory
    return {
        "precision": asked.precision,
        "optimizer": asked.optimizer,
        "optimizer_step": asked.optimizer_step,
        "checkpointing": asked.checkpointing,
        "attention": asked.attention,
        "stack": asked.stack,
        "loss": asked.loss,
        "compiled": asked.compiled,
        "padded": asked.padded,
        "dropout": asked.dropout,
        "offload_optimizer": asked.offload_optimizer,
    }


def _sharding(plan: Plan) -> memory.Sharding:
    """The plan's degrees, and as many copies of the model as its GPUs make up."""
    asked = plan.memory
    degrees = memory.Sharding(
        tensor=asked.tensor_parallel, pipeline=asked.pipeline_parallel, context=asked.context_parallel
    )
    degrees.check_world(plan.hardware.n_gpus)
    return memory.Sharding(
        data=plan.hardware.n_gpus // degrees.n_gpus,
        zero=asked.zero_stage,
        tensor=degrees.tensor,
        pipeline=degrees.pipeline,
        context=degrees.context,
        expert=asked.expert_parallel,
        interleave=asked.interleave,
        sequence_parallel=asked.sequence_parallel,
    )


def _adapters(plan: Plan) -> memory.Adapters | None:
    asked = plan.memory
    if asked.adapter_rank is None:
        for key in ("adapter_targets", "frozen_weights"):
            if (value := getattr(asked, key)) != getattr(type(asked)(), key):
                raise ValueError(
                    f"memory.{key} is {value!r}, but without memory.adapter_rank all weights are trained: give a rank,"
                    " such as 16"
                )
        return None
    quantized = None if asked.frozen_weights == "16-bit" else asked.frozen_weights
    return memory.Adapters(rank=asked.adapter_rank, targets=asked.adapter_targets, quantized=quantized)


def _batch(plan: Plan, asked: memory.Request) -> memory.Batch | None:
    effective = plan.memory.effective_batch
    if effective is None:
        return None
    return memory.batch(effective=effective, micro_batch=plan.memory.micro_batch, data=asked.sharding.data)
