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
from costkit.memory.bands import Calibration
from costkit.memory.moments import PHASES
from costkit.memory.requests import Request, gpu_of, request_of
from costkit.memory.settings import Setting
from costkit.memory.sharding import Sharding
from costkit.memory.tape import Bytes
from costkit.tables import Gpu
from costkit.units import Range

FITS, UNCERTAIN, DOES_NOT_FIT = "fits", "uncertain", "does not fit"

_EVEN = MappingProxyType(dict.fromkeys(("allocated", "reserved"), Range(1.0, 1.0, 1.0)))


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


@dataclass(frozen=True)
class Budget:
    """The memory of a training step, on the GPU that needs most.

    `stages` has one entry for each pipeline stage; `imbalanced` is how much more "allocated" and "reserved" are where
    experts get uneven shares of the tokens, as ratios.
    """

    request: Request
    micro_batch: int
    seq_len: int
    stages: tuple[StageBudget, ...]
    imbalanced: Mapping[str, Range]

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
        """What PyTorch's allocator holds; never less than what is allocated."""
        held, live = self._band("reserved", self.pools_bytes), self.allocated_bytes
        return Range(max(held.low, live.low), max(held.mid, live.mid), max(held.high, live.high))

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
        """The same budget with the bands that a run of one's own leaves; what is derived from it keeps them."""
        return replace(self, request=self.request.with_changes(calibration=calibration))

    def changed(self, *, micro_batch: int | None = None, fullest: bool = False, **changes: object) -> Budget:
        """The budget with other settings, calibrated alike; `fullest` leaves out stages that can't be the peak."""
        request = self.request.with_changes(**changes)
        sequences = self.micro_batch if micro_batch is None else micro_batch
        return _budget(request, micro_batch=sequences, seq_len=self.seq_len, fullest=fullest)

    def _around_bytes(self) -> Range:
        request = self.request
        return bands.around_bytes(request.sharding.n_communicators, calibration=request.calibration)

    def _band(self, kind: str, n_bytes: float) -> Range:
        """Low, mid and high of one kind: the band of the request, wider for experts that get uneven shares."""
        band, uneven = self.request.band(kind), self.imbalanced[kind]
        return Range(
            n_bytes * band.low * uneven.low, n_bytes * band.mid * uneven.mid, n_bytes * band.high * uneven.high
        )


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
    return _budget(request_of(architecture, chosen | details), micro_batch=micro_batch, seq_len=seq_len)


def _budget(request: Request, *, micro_batch: int, seq_len: int, fullest: bool = False) -> Budget:
    request.check_batch(micro_batch=micro_batch, seq_len=seq_len)
    settings = request.settings(micro_batch=micro_batch, seq_len=seq_len, fullest=fullest)
    balanced = tuple(map(_stage_budget, settings))
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


def _imbalance(
    request: Request, micro_batch: int, seq_len: int, balanced: tuple[StageBudget, ...]
) -> Mapping[str, Range]:
    """How much more the fullest stage needs where routing is uneven, as a ratio by kind; 1 for a dense model."""
    if not request.architecture.n_experts:
        return _EVEN
    uneven, found = bands.overheads("imbalance")["experts"], dict[str, list[float]]()
    for imbalance in (uneven.low, uneven.mid, uneven.high):
        settings = request.settings(micro_batch=micro_batch, seq_len=seq_len, imbalance=imbalance, fullest=True)
        shared = tuple(map(_stage_budget, settings))
        for kind, value in _most_of(shared).items():
            found.setdefault(kind, []).append(value / _most_of(balanced)[kind])
    return MappingProxyType({kind: Range(*ratios) for kind, ratios in found.items()})


def _most_of(shared: tuple[StageBudget, ...]) -> dict[str, float]:
    """The most that any stage needs, by kind and before the bands."""
    return {
        "allocated": max(stage.peak_bytes for stage in shared),
        "reserved": max(stage.pools_bytes for stage in shared),
    }
