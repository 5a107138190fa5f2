"""Can this be asked? A request for a budget, checked as a whole, and one setting of it for each pipeline stage."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from costkit import tables
from costkit.architectures import Architecture, named
from costkit.memory import bands, losses, states
from costkit.memory.adapters import Adapters
from costkit.memory.bands import Calibration
from costkit.memory.blocks.scene import Scene
from costkit.memory.optimizers import FOREACH_BY_DEFAULT, OPTIMIZERS, STEPS
from costkit.memory.recipes import PRECISIONS, Recipe, recipe
from costkit.memory.settings import Setting
from costkit.memory.sharding import Sharding, stages
from costkit.memory.stacks import BY_NAME, STACKS, Stack
from costkit.memory.tape import Bytes
from costkit.tables import Gpu, lookup
from costkit.units import Range

CHECKPOINTING = ("none", "selective", "full")
ATTENTION = ("flash", "eager")
LONGEST_SEQUENCE, LARGEST_MICRO_BATCH = 100_000_000, 1_000_000

_PEAK_OF = MappingProxyType(
    {"fp32": "fp32", "tf32": "tf32", "fp16-mixed": "fp16", "bf16-mixed": "bf16", "bf16": "bf16", "fp8-mixed": "fp8"}
)
_FLAGS_OR_NONE = ("padded", "dropout", "holds_output")
_FLAGS = ("compiled", "accumulates", "offload_optimizer", *_FLAGS_OR_NONE)
_KIND_WORDS = {
    Architecture: "an Architecture: architectures.named(...), from_hf_config(...) or of_size(...)",
    Sharding: "memory.Sharding(...)",
    bool: "True or False",
}
_VOCABULARIES = (
    ("precision", PRECISIONS),
    ("optimizer", OPTIMIZERS),
    ("checkpointing", CHECKPOINTING),
    ("attention", ATTENTION),
    ("stack", STACKS),
)


@dataclass(frozen=True, slots=True)
class Request:
    """All that decides a budget, save the micro-batch and the sequence length."""

    architecture: Architecture
    precision: str = "bf16-mixed"
    optimizer: str = "adamw"
    optimizer_step: str | None = None
    checkpointing: str = "none"
    attention: str = "flash"
    stack: str = "huggingface"
    sharding: Sharding = field(default_factory=Sharding)
    adapters: Adapters | None = None
    loss: str | None = None
    compiled: bool = False
    padded: bool | None = None
    dropout: bool | None = None
    accumulates: bool = False
    offload_optimizer: bool = False
    holds_output: bool | None = None
    calibration: Calibration = field(default_factory=Calibration)

    def __post_init__(self) -> None:
        self._check_types()
        for what, words in _VOCABULARIES:
            lookup(what, getattr(self, what), dict.fromkeys(words))
        if self.optimizer_step is not None:
            lookup("optimizer_step", self.optimizer_step, dict.fromkeys(STEPS))
        if self.loss is not None:
            lookup("loss", self.loss, losses.LOSSES)
        self.sharding.check(self.architecture)
        self._check_stack()
        if self.adapters is not None:
            self._check_adapters()

    @property
    def about_stack(self) -> Stack:
        """What the stack does where nothing is said."""
        return BY_NAME[self.stack]

    @property
    def zero(self) -> int:
        """The ZeRO stage, the stack's own where none is given."""
        return self.about_stack.zero if self.sharding.zero is None else self.sharding.zero

    @property
    def _zero_of_states(self) -> int:
        """The stage by which states are divided: FSDP2 shards the FP32 weights even where it keeps gathered ones."""
        if self.sharding.n_shards == 1:
            return 0
        return 3 if self.about_stack.always_shards else self.zero

    @property
    def step_name(self) -> str:
        """The optimizer's step: Megatron-LM and DeepSpeed have their own, torchtitan's is fused, PyTorch's foreach."""
        if self.optimizer_step is not None:
            return self.optimizer_step
        has_own = not self.about_stack.has_steps or self.optimizer in FOREACH_BY_DEFAULT
        return self.about_stack.own_step if has_own else "single-tensor"

    @property
    def loss_name(self) -> str:
        """The loss, the stack's own where none is given."""
        own = losses.usual(self.stack, compiled=self.compiled, tensor=self.sharding.tensor)
        return own if self.loss is None else self.loss

    @property
    def case(self) -> str:
        """Which row of the overheads table describes it."""
        return bands.case_of(
            self.stack,
            attention=self.attention,
            compiled=self.compiled,
            tensor=self.sharding.tensor,
        )

    def band(self, kind: str) -> Range:
        """Measured over estimated bytes, of what is "allocated" or "reserved"."""
        return bands.band(kind, case=self.case, calibration=self.calibration)

    def settings(
        self, *, micro_batch: Bytes, seq_len: Bytes, imbalance: float = 1.0, fullest: bool = False
    ) -> Iterator[Setting]:
        """One setting for each pipeline stage; arrays of micro-batches or sequence lengths are swept.

        `fullest` leaves out stages that can't need most: those that hold what an earlier one does, with fewer
        micro-batches in flight.
        """
        scene, seen = self._scene(micro_batch, seq_len, imbalance), set[tuple[int, bool, bool]]()
        for stage in stages(self.sharding, n_layers=self.architecture.n_layers):
            kind = (stage.n_layers, stage.has_embedding, stage.has_head)
            if fullest and kind in seen:
                continue
            seen.add(kind)
            yield Setting(
                scene=scene,
                stage=stage,
                held=states.holdings(
                    self.architecture, stage, sharding=self.sharding, zero=self._zero_of_states, adapters=self.adapters
                ),
                stack=self.about_stack,
                optimizer=self.optimizer,
                optimizer_step=self.step_name,
                reshards=self.zero == 3,
                checkpointing=self.checkpointing,
                loss=self.loss_name,
                accumulates=self.accumulates or self.sharding.pipeline > 1,
                offloads=self.offload_optimizer,
                holds_output=self.adapters is not None if self.holds_output is None else self.holds_output,
                workspace_bytes=bands.workspace_bytes(self.stack),
            )

    def check_batch(self, *, micro_batch: int, seq_len: int) -> None:
        """Raise `ValueError` for a micro-batch or a sequence length that can't be."""
        for name, value, most, unit in (
            ("micro_batch", micro_batch, LARGEST_MICRO_BATCH, "sequences"),
            ("seq_len", seq_len, LONGEST_SEQUENCE, "tokens"),
        ):
            is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not is_whole or not 1 <= value <= most:
                shown = repr(value)[:40]
                raise ValueError(f"{name} is {shown}; it must be a whole number of {unit} from 1 to {most:,}")
        positions, context = self.architecture.n_positions, self.sharding.context
        if positions and seq_len > positions:
            raise ValueError(
                f"seq_len is {seq_len:,}, but {self.architecture.name} has {positions:,} learned positions:"
                f" use at most {positions:,} tokens"
            )
        if seq_len % context:
            nearest = max(seq_len // context, 1) * context
            raise ValueError(
                f"seq_len is {seq_len:,}, which sharding context {context} does not divide: use {nearest:,}"
            )

    def check_gpu(self, gpu: Gpu) -> None:
        """Raise `ValueError` for a precision that the GPU does not have."""
        if self.precision in precisions_of(gpu):
            return
        *others, last = map(repr, precisions_of(gpu))
        possible = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"precision is {self.precision!r}, which {gpu.name} does not have: use {possible}")

    @property
    def details(self) -> dict[str, Any]:
        """Every field but the architecture, as the keywords that `budget` and its neighbours take."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "architecture"}

    def with_changes(self, **changes: object) -> Request:
        """The same request with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def _recipe(self) -> Recipe:
        """Number formats, where they depend on the sharding too.

        FSDP under Hugging Face gathers 16-bit weights, so that autocast has nothing to cast. DeepSpeed without ZeRO
        adds up BF16 gradients in FP32, as Megatron-LM does.
        """
        if self.adapters is not None:
            return self.adapters.recipe
        found = recipe(self.precision, stack=self.stack)
        if self.stack == "deepspeed" and self.precision == "bf16-mixed" and self.zero == 0:
            return recipe("bf16-mixed", stack="megatron")
        gathers = self.zero == 3 and self.sharding.n_shards > 1
        return recipe(self.precision, stack="fsdp2") if found.casts and gathers else found

    def _scene(self, micro_batch: Bytes, seq_len: Bytes, imbalance: float) -> Scene:
        sharding, stack = self.sharding, self.about_stack
        spread = stack.is_torchtitan if sharding.sequence_parallel is None else sharding.sequence_parallel
        learned = bool(self.architecture.n_positions)
        return Scene(
            architecture=self.architecture,
            recipe=self._recipe,
            tokens=micro_batch * seq_len / sharding.context,
            seq_len=seq_len,
            attention=self.attention,
            adapters=self.adapters,
            tensor=sharding.tensor,
            expert=sharding.expert,
            expert_tensor=sharding.expert_tensor,
            sequence_parallel=spread and sharding.tensor > 1,
            masked=not stack.is_torchtitan if self.padded is None else self.padded,
            dropout=stack.is_megatron and learned if self.dropout is None else self.dropout,
            imbalance=imbalance,
            compiled=self.compiled or stack.compiles is True,
        )

    def _check_types(self) -> None:
        kinds = {"architecture": Architecture, "sharding": Sharding, **dict.fromkeys(_FLAGS, bool)}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if not isinstance(value, kind) and not (value is None and name in _FLAGS_OR_NONE):
                raise ValueError(f"{name} is {repr(value)[:60]}; it must be {_KIND_WORDS[kind]}")
        if self.adapters is not None and not isinstance(self.adapters, Adapters):
            raise ValueError(f"adapters is {repr(self.adapters)[:60]}; it must be memory.Adapters(...) or None")

    def _check_stack(self) -> None:
        stack, about = self.stack, self.about_stack
        if about.always_shards and self.sharding.n_shards > 1 and self.zero < 2:
            raise ValueError(
                f"sharding zero is {self.zero}, but FSDP2 always shards: leave it out or use 3, or 2 to keep weights"
                " gathered from forward to backward; stack 'huggingface' has DDP"
            )
        if self.precision == "bf16" and about.is_megatron:
            raise ValueError("precision is 'bf16', but Megatron-LM keeps FP32 master weights: use 'bf16-mixed'")
        if self.zero > about.most_zero:
            raise ValueError(
                f"sharding zero is {self.zero}, but Megatron-LM's distributed optimizer is ZeRO stage 1: use 0 or 1"
            )
        if self.optimizer_step is not None and not about.has_steps:
            raise ValueError(
                f"optimizer_step is {self.optimizer_step!r}, but stack {stack!r} has a step of its own: leave it out"
            )
        possible = {
            "padded": [name for name, one in BY_NAME.items() if not one.is_torchtitan],
            "dropout": [name for name, one in BY_NAME.items() if one.is_megatron],
            "compiled": [name for name, one in BY_NAME.items() if one.compiles is None],
        }
        for name, stacks in possible.items():
            if getattr(self, name) and stack not in stacks:
                known = " and ".join(map(repr, stacks))
                raise ValueError(f"{name} is True, which is modelled for stack {known}, not {stack!r}: leave it out")

    def _check_adapters(self) -> None:
        architecture = self.architecture
        if self.stack != "huggingface":
            raise ValueError(f"adapters are modelled for stack 'huggingface', not {self.stack!r}: use that stack")
        if self.precision in ("fp32", "tf32", "fp8-mixed"):
            raise ValueError(
                f"precision is {self.precision!r}, but adapters stand beside 16-bit or NF4 weights: use 'bf16-mixed',"
                " 'bf16' or 'fp16-mixed'"
            )
        if architecture.family in ("gpt2", "gpt-neox", "chinchilla") or architecture.n_experts:
            raise ValueError(
                f"adapters are modelled for dense blocks of LLaMA's kind, not for {architecture.name}"
                f" (family {architecture.family!r}): leave them out"
            )


def precisions_of(gpu: Gpu) -> tuple[str, ...]:
    """The precisions that a GPU can train in.

    >>> from costkit import tables
    >>> precisions_of(tables.gpu("V100-SXM2-16GB"))
    ('fp32', 'fp16-mixed')
    """
    return tuple(name for name, peak in _PEAK_OF.items() if peak in gpu.peak_flop_per_s)


def request_of(architecture: Architecture | str, details: Mapping[str, Any]) -> Request:
    """A request from keywords; an architecture may be named, and a keyword that is none gets its nearest name."""
    known = [one.name for one in fields(Request) if one.name != "architecture"]
    for name in details:
        if name not in known:
            raise tables.unknown("keyword of a memory budget", name, known)
    return Request(named(architecture) if isinstance(architecture, str) else architecture, **details)


def gpu_of(gpu: Gpu | str) -> Gpu:
    """A GPU by itself or by its name."""
    return gpu if isinstance(gpu, Gpu) else tables.gpu(gpu)
