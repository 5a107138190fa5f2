"""How many bytes does a training step need, by part and by phase, on the fullest GPU?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from costkit.architectures import Architecture
from costkit.memory import bands, moments, pools
from costkit.memory.adapters import Adapters
from costkit.memory.moments import PHASES
from costkit.memory.requests import Request, gpu_of, request_of
from costkit.memory.settings import Setting
from costkit.memory.sharding import Sharding
from costkit.memory.tape import Bytes, total
from costkit.tables import Gpu
from costkit.units import Range

FITS, UNCERTAIN, DOES_NOT_FIT = "fits", "uncertain", "does not fit"


@dataclass(frozen=True)
class StageBudget:
    """The memory of one GPU of a pipeline stage, in bytes.

    phases: The most that lives in each phase. parts: What lives at the peak. pools_bytes: What PyTorch's allocator
    holds for that if nothing is fragmented.
    """

    stage: int
    peak_phase: str
    phases: Mapping[str, float]
    parts: Mapping[str, float]
    phase_parts: Mapping[str, Mapping[str, float]]
    pools_bytes: float

    @property
    def peak_bytes(self) -> float:
        """Live bytes at the worst moment."""
        return self.phases[self.peak_phase]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one's own run said: ratios of measured to estimated bytes, and the bytes beside PyTorch's allocator.

    Where only one of the two ratios was measured, the other number moves with it and keeps the width of its band.
    """

    allocated_ratio: float | None = None
    reserved_ratio: float | None = None
    around_bytes: float | None = None

    def ratio(self, kind: str) -> float | None:
        """The measured ratio of "allocated" or "reserved", or None."""
        return self.allocated_ratio if kind == "allocated" else self.reserved_ratio

    def moved(self, kind: str, case: str) -> float | None:
        """How much the other measured number moves this one, or None where nothing was measured."""
        other = "reserved" if kind == "allocated" else "allocated"
        ratio = self.ratio(other)
        return None if ratio is None else ratio / bands.band(other, case=case).mid


@dataclass(frozen=True)
class Budget:
    """The memory of a training step, on the GPU that needs most.

    `stages` has one entry for each pipeline stage; `imbalanced` is the fullest stage where experts get uneven shares.
    """

    request: Request
    micro_batch: int
    seq_len: int
    stages: tuple[StageBudget, ...]
    imbalanced: Range
    calibration: Calibration = Calibration()

    @property
    def fullest(self) -> StageBudget:
        """The stage with the most live bytes."""
        return max(self.stages, key=lambda stage: stage.peak_bytes)

    @property
    def pools_bytes(self) -> float:
        """What PyTorch's allocator holds on the stage that needs most, if nothing is fragmented."""
        return max(stage.pools_bytes for stage in self.stages)

    @property
    def peak_bytes(self) -> float:
        """Live bytes in the worst phase of the fullest stage: what PyTorch calls allocated."""
        return self.fullest.peak_bytes

    @property
    def peak_phase(self) -> str:
        """The worst phase: forward, loss, recompute, backward or step."""
        return self.fullest.peak_phase

    @property
    def phases(self) -> Mapping[str, float]:
        """Live bytes at the worst moment of each phase."""
        return self.fullest.phases

    @property
    def parts(self) -> Mapping[str, float]:
        """What lives at the peak, in bytes; the parts sum to `peak_bytes`."""
        return self.fullest.parts

    @property
    def allocated_bytes(self) -> Range:
        """`peak_bytes` with its band."""
        return self._band("allocated", self.peak_bytes)

    @property
    def reserved_bytes(self) -> Range:
        """What PyTorch's allocator holds."""
        return self._band("reserved", self.pools_bytes)

    @property
    def device_bytes(self) -> Range:
        """What nvidia-smi shows: reserved, the CUDA context and the communicators."""
        around, reserved = self._around_bytes(), self.reserved_bytes
        return Range(reserved.low + around.low, reserved.mid + around.mid, reserved.high + around.high)

    def verdict(self, gpu: Gpu | str) -> str:
        """Whether it fits, is uncertain or does not fit, against what the GPU lets a framework use.

        It fits where even the upper end of `device_bytes` does, and does not where the live bytes alone are too many.
        In between the allocator may give back what it holds in vain, or fail.

        >>> from costkit.architectures import named
        >>> full = budget(named("llama-2-7b"), micro_batch=1, seq_len=2048)
        >>> full.verdict("A100-SXM4-80GB"), full.verdict("H200-SXM-141GB")
        ('does not fit', 'uncertain')
        """
        card = gpu_of(gpu)
        self.request.check_gpu(card)
        if self.device_bytes.high <= card.usable_bytes:
            return FITS
        least = self.allocated_bytes.low + self._around_bytes().low
        return DOES_NOT_FIT if least > card.usable_bytes else UNCERTAIN

    def calibrated(self, calibration: Calibration) -> Budget:
        """The same budget with the bands that a run of one's own leaves."""
        return replace(self, calibration=calibration)

    def _around_bytes(self) -> Range:
        beside = self.calibration.around_bytes
        usual = bands.around_bytes(self.request.sharding.n_communicators)
        return usual if beside is None else Range(beside, beside, beside)

    def _band(self, kind: str, n_bytes: float) -> Range:
        """Low, mid and high of one kind: the scores' band with uneven experts, moved and narrowed by a calibration."""
        band, uneven = bands.band(kind, case=self.request.case), self.imbalanced
        low, mid, high = band.low * uneven.low, band.mid * uneven.mid, band.high * uneven.high
        own, moved = self.calibration.ratio(kind), self.calibration.moved(kind, self.request.case)
        if own is not None:
            spread = bands.spread(kind, case=self.request.case)
            low, mid, high = max(low / mid, 1 / spread) * own, own, min(high / mid, spread) * own
        elif moved is not None:
            low, mid, high = low * moved, mid * moved, high * moved
        return Range(n_bytes * low, n_bytes * mid, n_bytes * high)


def budget(  # noqa: PLR0913 - the contract of the module: every choice that decides memory
    architecture: Architecture | str,
    *,
    micro_batch: int,
    seq_len: int,
    precision: str = "bf16-mixed",
    optimizer: str = "adamw",
    optimizer_step: str | None = None,
    checkpointing: str = "none",
    attention: str = "flash",
    stack: str = "huggingface",
    sharding: Sharding = Sharding(),  # noqa: B008 - frozen
    adapters: Adapters | None = None,
    **details: Any,
) -> Budget:
    """The memory of one training step by part and by phase.

    Args:
        architecture: The model's shape, or its name.
        micro_batch: Sequences that a GPU, or the GPUs that share one by tensor or context parallelism, process at once.
        seq_len: Tokens of a sequence.
        precision: One of `PRECISIONS`.
        optimizer: One of `OPTIMIZERS`.
        optimizer_step: One of `STEPS`; None is the stack's own: foreach of `huggingface`, fused of the others.
        checkpointing: One of `CHECKPOINTING`.
        attention: One of `ATTENTION`.
        stack: One of `STACKS`.
        sharding: Degrees of parallelism.
        adapters: LoRA adapters, None to train all weights.
        **details: Further fields of `Request`: loss, compiled, padded, dropout, accumulates, offload_optimizer,
            holds_output.

    Raises:
        ValueError: A value can't be, or two don't go together; the sentence says which and what to do.
        UnknownName: A word that is not of the vocabulary.

    >>> from costkit.architectures import named
    >>> from costkit.units import gib
    >>> llama = budget(named("llama-2-7b"), micro_batch=1, seq_len=2048, precision="bf16", checkpointing="full")
    >>> gib(llama.peak_bytes), llama.peak_phase
    ('62.8 GiB', 'step')
    """
    chosen = {
        "precision": precision,
        "optimizer": optimizer,
        "optimizer_step": optimizer_step,
        "checkpointing": checkpointing,
        "attention": attention,
        "stack": stack,
        "sharding": sharding,
        "adapters": adapters,
    }
    request = request_of(architecture, chosen | details)
    request.check_batch(micro_batch=micro_batch, seq_len=seq_len)
    balanced = tuple(map(_stage_budget, request.settings(micro_batch=micro_batch, seq_len=seq_len)))
    return Budget(request, micro_batch, seq_len, balanced, _imbalance(request, micro_batch, seq_len, balanced))


def pools_bytes(setting: Setting, *, live: Mapping[str, Bytes]) -> Bytes:
    """What the allocator holds in the worst phase if nothing is fragmented."""
    return most(*(value + pools.beside_bytes(setting, phase) for phase, value in live.items()))


def live_bytes(setting: Setting) -> dict[str, Bytes]:
    """The most that lives in each phase."""
    found: dict[str, Bytes] = {}
    for moment in moments.moments(setting):
        value = moment.live_bytes
        found[moment.phase] = most(found[moment.phase], value) if moment.phase in found else value
    return found


def most(*values: Bytes) -> Bytes:
    """The largest of numbers, or of arrays element by element."""
    if all(isinstance(value, (int, float)) for value in values):
        return max(values)
    largest = values[0]
    for value in values[1:]:
        largest = np.maximum(largest, value)
    return largest


def _stage_budget(setting: Setting) -> StageBudget:
    worst: dict[str, tuple[float, dict[str, Bytes]]] = {}
    for moment in moments.moments(setting):
        value = float(moment.live_bytes)
        if moment.phase not in worst or value > worst[moment.phase][0]:
            worst[moment.phase] = value, moment.parts
    phases = {phase: worst[phase][0] for phase in PHASES if phase in worst}
    peak = max(phases, key=lambda phase: phases[phase])
    parts = {phase: _present(found) for phase, (_, found) in worst.items()}
    return StageBudget(
        stage=setting.stage.index,
        peak_phase=peak,
        phases=MappingProxyType(phases),
        parts=MappingProxyType(parts[peak]),
        phase_parts=MappingProxyType(parts),
        pools_bytes=float(pools_bytes(setting, live=phases)),
    )


def _present(parts: Mapping[str, Bytes]) -> dict[str, float]:
    return {name: float(amount) for name, amount in parts.items() if amount}


def _imbalance(request: Request, micro_batch: int, seq_len: int, balanced: tuple[StageBudget, ...]) -> Range:
    """How much more the fullest stage needs where routing is uneven, as a ratio; 1 for a dense model."""
    if not request.architecture.n_experts:
        return Range(1.0, 1.0, 1.0)
    uneven, even = (
        bands.overheads("imbalance")["experts"],
        max(total({str(one.stage): one.pools_bytes}) for one in balanced),
    )

    def ratio(imbalance: float) -> float:
        settings = request.settings(micro_batch=micro_batch, seq_len=seq_len, imbalance=imbalance)
        return float(max(_stage_budget(setting).pools_bytes for setting in settings) / even)

    return Range(ratio(uneven.low), ratio(uneven.mid), ratio(uneven.high))
