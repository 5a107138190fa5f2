"""What changes with LoRA? Frozen weights, small trained matrices beside them, and what really stays in FP32.

- LoRA (Hu et al. 2021, arXiv:2106.09685) adds r (in + out) weights to a matrix; PEFT keeps them, their gradients and
  their state in FP32. A frozen matrix keeps no input for its gradient, but each adapter keeps an FP32 one.
- QLoRA (Dettmers et al. 2023, arXiv:2305.14314) stores the matrices of the blocks in NF4: half a byte a weight and an
  FP32 scale for every 64. The embedding, the head, norms and biases are not quantized: PEFT's preparation makes them
  FP32, and an FP32 embedding makes the hidden states FP32 from the first block to the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit.architectures import Architecture
from costkit.memory.parts import ATTENTION, FEED_FORWARD
from costkit.memory.recipes import FP32, HALF, Recipe
from costkit.memory.tensors import Tensor
from costkit.tables import lookup

TARGETS = ("q", "k", "v", "o", "gate", "up", "down")
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query-value": ("q", "v"),
        "attention": TARGETS[:4],
        "feed-forward": TARGETS[4:],
        "all-linear": TARGETS,
    }
)
QUANTIZED = ("nf4",)
_NF4_BYTES, _NF4_BLOCK = 0.5, 64
_LARGEST_RANK = 65_536


@dataclass(frozen=True, slots=True)
class Adapters:
    """LoRA adapters of one rank on some of the matrices of every block.

    Frozen weights are 16-bit, or NF4, whatever the precision of a request: it says which 16-bit format the GPU needs.

    targets: Names out of `TARGETS`, or one of `GROUPS`: "query-value", "attention", "feed-forward", "all-linear".
    quantized: "nf4" (QLoRA), or None for 16-bit frozen weights.
    """

    rank: int = 16
    targets: tuple[str, ...] | str = "attention"
    quantized: str | None = None

    def __post_init__(self) -> None:
        if type(self.rank) is not int or not 1 <= self.rank <= _LARGEST_RANK:
            raise ValueError(f"adapters rank is {self.rank!r}; it must be a whole number from 1 to {_LARGEST_RANK:,}")
        if isinstance(self.targets, str):
            object.__setattr__(self, "targets", lookup("group of adapters", self.targets, GROUPS))
        if not isinstance(self.targets, tuple | list):
            raise ValueError(f"adapters targets is {self.targets!r}; it must be some of {', '.join(TARGETS)}")
        for target in self.targets:
            lookup("adapter target", _short(target), dict.fromkeys(TARGETS))
        object.__setattr__(self, "targets", tuple(dict.fromkeys(map(_short, self.targets))))
        if not self.targets:
            raise ValueError(f"adapters have no targets; name some of {', '.join(TARGETS)}")
        if self.quantized is not None:
            lookup("quantization", self.quantized, dict.fromkeys(QUANTIZED))

    @property
    def recipe(self) -> Recipe:
        """Number formats: what is trained is FP32, what flows is 16-bit, or FP32 through a quantized model."""
        flow = FP32 if self.quantized else HALF
        return Recipe(weights=HALF, gradients=FP32, master=0, moment=FP32, compute=flow, stream=flow)

    def tensors(self, architecture: Architecture) -> tuple[Tensor, ...]:
        """The trained tensors of one layer, two for each adapted matrix.

        >>> from costkit.architectures import named
        >>> sum(one.n_each * one.copies for one in Adapters(16).tensors(named("llama-2-7b"))) * 32
        16777216
        """
        widths = _widths(architecture)
        found = []
        for target in self.targets:
            part, n_in, n_out = widths[target]
            found += [Tensor(part, self.rank, n_in, split=""), Tensor(part, n_out, self.rank, split="")]
        return tuple(found)

    def frozen_bytes(self, tensor: Tensor) -> float:
        """Bytes per element of a frozen tensor."""
        if self.quantized is None:
            return HALF
        is_quantized = tensor.is_matrix and tensor.part in (ATTENTION, FEED_FORWARD) and tensor.name != "router"
        return _NF4_BYTES + FP32 / _NF4_BLOCK if is_quantized else FP32


def _short(target: object) -> object:
    return target.removesuffix("_proj") if isinstance(target, str) else target


def _widths(architecture: Architecture) -> dict[str, tuple[str, int, int]]:
    """Part, input and output width of each matrix that can have an adapter."""
    hidden, ffn = architecture.hidden, architecture.ffn
    queries = architecture.n_heads * architecture.head_dim
    keys = architecture.n_kv_heads * architecture.head_dim
    return {
        "q": (ATTENTION, hidden, queries),
        "k": (ATTENTION, hidden, keys),
        "v": (ATTENTION, hidden, keys),
        "o": (ATTENTION, queries, hidden),
        "gate": (FEED_FORWARD, hidden, ffn),
        "up": (FEED_FORWARD, hidden, ffn),
        "down": (FEED_FORWARD, ffn, hidden),
    }
