"""Which number format is each thing kept in? Precision recipes, as each training stack carries them out.

- `bf16-mixed` and `fp16-mixed` keep FP32 weights, or an FP32 master copy beside 16-bit weights; `bf16` keeps nothing in
  FP32. TF32 changes how FP32 numbers are multiplied, not what is stored.
- PyTorch's autocast (stack `huggingface`) keeps FP32 weights and gradients and casts the weights for every forward
  pass. FSDP2 keeps FP32 shards and gathers them as 16-bit; SimpleFSDP is the same as one compiled graph. Megatron-LM
  and DeepSpeed keep 16-bit weights and an FP32 master copy that the optimizer owns (Megatron-LM's
  distributed-optimizer guide; DeepSpeed's memory guide).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit.tables import lookup

PRECISIONS = ("fp32", "tf32", "fp16-mixed", "bf16-mixed", "bf16", "fp8-mixed")
FP32, HALF, FP8 = 4, 2, 1


@dataclass(frozen=True, slots=True)
class Recipe:
    """Bytes per element of everything that training keeps.

    weights, gradients: As they are stored. master: The FP32 copy of 16-bit weights that the optimizer updates, or 0.
    moment: One moment of the optimizer. compute: What is multiplied. stream: The hidden states between blocks.
    step_gradients: FP32 copies of 16-bit gradients that the optimizer step makes, or 0.
    casts: Whether FP32 weights are cast for every forward pass and the casts kept for the backward pass (autocast).
    fp8: Whether linear layers multiply in FP8.
    """

    weights: int
    gradients: int
    master: int
    moment: int
    compute: int
    stream: int
    step_gradients: int = 0
    casts: bool = False
    fp8: bool = False


_FULL = Recipe(weights=FP32, gradients=FP32, master=0, moment=FP32, compute=FP32, stream=FP32)
_PURE = Recipe(weights=HALF, gradients=HALF, master=0, moment=HALF, compute=HALF, stream=HALF)
_AUTOCAST = Recipe(weights=FP32, gradients=FP32, master=0, moment=FP32, compute=HALF, stream=FP32, casts=True)
_SHARDS = Recipe(weights=FP32, gradients=FP32, master=0, moment=FP32, compute=HALF, stream=HALF)
_MASTER = Recipe(weights=HALF, gradients=FP32, master=FP32, moment=FP32, compute=HALF, stream=HALF)
_MASTER_16 = Recipe(
    weights=HALF, gradients=HALF, master=FP32, moment=FP32, compute=HALF, stream=HALF, step_gradients=FP32
)


def _fp8(recipe: Recipe) -> Recipe:
    return Recipe(**{**{name: getattr(recipe, name) for name in recipe.__slots__}, "fp8": True})


_MIXED: Mapping[str, Mapping[str, Recipe]] = MappingProxyType(
    {
        "huggingface": {"fp16-mixed": _AUTOCAST, "bf16-mixed": _AUTOCAST, "fp8-mixed": _fp8(_AUTOCAST)},
        "fsdp2": {"fp16-mixed": _SHARDS, "bf16-mixed": _SHARDS, "fp8-mixed": _fp8(_SHARDS)},
        "simplefsdp": {"fp16-mixed": _SHARDS, "bf16-mixed": _SHARDS, "fp8-mixed": _fp8(_SHARDS)},
        "megatron": {"fp16-mixed": _MASTER_16, "bf16-mixed": _MASTER, "fp8-mixed": _fp8(_MASTER)},
        "deepspeed": {"fp16-mixed": _MASTER_16, "bf16-mixed": _MASTER_16, "fp8-mixed": _fp8(_MASTER_16)},
    }
)


def recipe(precision: str, *, stack: str = "huggingface") -> Recipe:
    """How a stack keeps things at a precision; `UnknownName` for a name that is neither's.

    >>> mixed = recipe("bf16-mixed", stack="megatron")
    >>> mixed.weights + mixed.gradients + mixed.master + 2 * mixed.moment
    18
    """
    lookup("precision", precision, dict.fromkeys(PRECISIONS))
    mixed = lookup("stack", stack, _MIXED)
    return {"fp32": _FULL, "tf32": _FULL, "bf16": _PURE, **mixed}[precision]
