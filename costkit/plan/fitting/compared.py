"""What would other settings need? Number formats and optimizers side by side, and the trade of memory for speed."""

from __future__ import annotations

from dataclasses import dataclass

from costkit import memory, training
from costkit.memory import parts
from costkit.plan.fitting.answer import Footprint
from costkit.plan.reached import flop_price
from costkit.units import BILLION, gib, percent

_FORMATS = (
    ("fp32", "adamw"),
    ("bf16-mixed", "adamw"),
    ("fp16-mixed", "adamw"),
    ("fp8-mixed", "adamw"),
    ("bf16", "adamw"),
    ("bf16-mixed", "adamw-8bit"),
    ("bf16-mixed", "lion"),
    ("bf16-mixed", "muon"),
    ("bf16-mixed", "adafactor"),
    ("bf16-mixed", "sgd-momentum"),
)


_STATES = (parts.WEIGHTS, parts.MASTER, parts.GRADIENTS, parts.STATE)


@dataclass(frozen=True)
class Format:
    """A precision and an optimizer: bytes a parameter of what always lives, the peak, the largest micro-batch."""

    precision: str
    optimizer: str
    bytes_per_param: float
    budget: memory.Budget
    verdict: str
    largest: int


def formats(answer: Footprint) -> list[Format]:
    """The plan's own precision and optimizer first, then others; formats that its GPU or its adapters rule out are not.

    Precisions that the GPU does not have are left out, and other than 16-bit ones beside adapters.
    """
    asked, peaks = answer.budget.request, memory.precisions_of(answer.gpu)
    own = (asked.precision, asked.optimizer)
    possible = [pair for pair in _FORMATS if pair != own and pair[0] in peaks]
    if asked.about_stack.is_megatron:
        possible = [pair for pair in possible if pair[0] != "bf16"]
    if asked.adapters is not None:
        possible = [pair for pair in possible if pair[0] in ("bf16", "fp16-mixed", "bf16-mixed")]
    return [_format(answer, precision, optimizer) for precision, optimizer in (own, *possible)]


def _format(answer: Footprint, precision: str, optimizer: str) -> Format:
    changed = answer.budget.changed(precision=precision, optimizer=optimizer)
    request = changed.request
    alone = request.with_changes(sharding=memory.Sharding()).details
    states = memory.budget(request.architecture, micro_batch=1, seq_len=1, **alone).fullest.phase_parts["step"]
    kept = sum(states.get(part, 0.0) for part in _STATES)
    return Format(
        precision=precision,
        optimizer=optimizer,
        bytes_per_param=kept / request.architecture.n_params,
        budget=changed,
        verdict=changed.verdict(answer.gpu),
        largest=memory.largest_micro_batch(
            request.architecture, gpu=answer.gpu, seq_len=answer.budget.seq_len, **request.details
        ),
    )


@dataclass(frozen=True)
class Compared:
    """Checkpointing x micro-batch x sharding for one plan, and the one to take."""

    answer: Footprint
    choices: list[memory.Choice]

    @property
    def best(self) -> memory.Choice | None:
        """The fastest that fits with its band, the one that needs least memory among equals; None where none fits."""
        return next((one for one in self.choices if one.verdict == "fits"), None)

    @property
    def own(self) -> memory.Choice:
        """The plan's own setting among them."""
        asked, sequences = self.answer.budget.request, self.answer.budget.micro_batch
        key = (asked.checkpointing, asked.sharding, sequences)
        return next(one for one in self.choices if _key(one) == key)

    def usd_per_billion_tokens(self, choice: memory.Choice) -> float:
        """What a billion tokens cost with a setting: the plan's price and MFU, and the speed over that of its own.

        With adapters that is two thirds of the compute.
        """
        price = flop_price(self.answer.plan)
        flop = training.flop(n_params=float(self.answer.architecture.n_active_params), n_tokens=BILLION)
        return price * flop / self.speed(choice)

    def speed(self, choice: memory.Choice) -> float:
        """Tokens per second over those of the plan's own setting."""
        return choice.throughput.mid / self.own.throughput.mid

    @property
    def sentence(self) -> str:
        """What to take, in a sentence."""
        best = self.best
        if best is None:
            return f"None of these {len(self.choices)} settings fits with its band on {self.answer.gpu.name}."
        request = best.budget.request
        gain = self.speed(best) - 1
        speed = f"{percent(abs(gain))} {'faster' if gain > 0 else 'slower'} than" if abs(gain) > 1e-3 else "as fast as"
        return (
            f"Of {len(self.choices)} settings the fastest that fits with its band has a micro-batch of"
            f" {best.budget.micro_batch:,} and {_checkpointing(request)}{_sharded(best)}:"
            f" {gib(best.budget.device_bytes.mid)}, about {speed} the plan."
        )


def _key(choice: memory.Choice) -> tuple[str, memory.Sharding, int]:
    request = choice.budget.request
    return request.checkpointing, request.sharding, choice.budget.micro_batch


def _checkpointing(request: memory.Request) -> str:
    return f"{'no' if request.checkpointing == 'none' else request.checkpointing} checkpointing"


def _sharded(choice: memory.Choice) -> str:
    """A word where sharding is what was chosen; FSDP2 has no other way."""
    request = choice.budget.request
    is_chosen = request.zero == 3 and not request.about_stack.always_shards
    return " with weights sharded" if is_chosen else ""


def settings(answer: Footprint) -> Compared:
    """Every way of checkpointing with every micro-batch, and with weights sharded where they are not."""
    request = answer.budget.request
    batches = sorted({*memory.MICRO_BATCHES, answer.budget.micro_batch})
    found = memory.choices(
        request.architecture,
        gpu=answer.gpu,
        seq_len=answer.budget.seq_len,
        micro_batches=batches,
        effective_batch=answer.plan.memory.effective_batch,
        **request.details,
    )
    return Compared(answer, found)
