"""What does the loss keep of the logits? For long vocabularies this decides what fits.

- `eager`: PyTorch's cross-entropy on logits cast to FP32. Their log-softmax is kept, and its backward pass makes two
  more: 12 bytes a logit.
- `compiled`: the same, fused by torch.compile: the 16-bit logits and their gradient, 4 bytes.
- `chunked`: eager over eight pieces of the sequence, so that only one piece's gradients are in FP32.
- `fused-linear`: the head's matrix product and the loss together, piece by piece (Liger): the logits are never there as
  a whole, but the gradients of the hidden states and of the head are made in the forward pass. A piece has as many
  tokens as make its logits no larger than all hidden states.
- `vocab-parallel`: Megatron-LM's, in place: 6 bytes. `loss-parallel`: PyTorch's over sharded logits: 16 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit.memory.blocks.scene import Scene
from costkit.memory.parts import LOGITS
from costkit.memory.recipes import FP32
from costkit.memory.stacks import BY_NAME
from costkit.memory.tape import Bytes, Step
from costkit.tables import lookup

_LABEL_BYTES = 8
_CHUNKS = 8


@dataclass(frozen=True, slots=True)
class Loss:
    """Bytes a logit on top of the 16-bit logits' own: FP32 copies and 16-bit ones that live at each time.

    kept_fp32, kept: From the forward to the backward pass, in FP32 and in the compute format. forward_fp32, forward:
    Only until the loss is computed. backward_fp32: Only while its backward pass runs, besides the gradient of the
    logits. hole_fp32: FP32 copies' worth of memory that PyTorch's allocator can't use: where the 16-bit logits lay no
    FP32 tensor has room, which is half a copy; of chunks it is one chunk.
    """

    kept_fp32: float = 0.0
    kept: float = 0.0
    forward_fp32: float = 0.0
    forward: float = 0.0
    backward_fp32: float = 0.0
    hole_fp32: float = 0.0


LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        "eager": Loss(kept_fp32=1, forward_fp32=1, forward=1, backward_fp32=2, hole_fp32=0.5),
        "compiled": Loss(kept=1),
        "chunked": Loss(kept_fp32=1, forward=1, backward_fp32=1 / _CHUNKS, hole_fp32=1 / _CHUNKS),
        "fused-linear": Loss(),
        "vocab-parallel": Loss(kept_fp32=1, forward=1),
        "loss-parallel": Loss(kept_fp32=1, forward_fp32=1, forward=1, backward_fp32=3, hole_fp32=0.5),
    }
)


def usual(stack: str, *, compiled: bool, tensor: int) -> str:
    """The loss that a stack computes where nothing is said.

    >>> usual("fsdp2", compiled=True, tensor=1), usual("fsdp2", compiled=True, tensor=8)
    ('compiled', 'loss-parallel')
    """
    about = lookup("stack", stack, BY_NAME)
    if about.is_megatron:
        return "vocab-parallel"
    if about.is_torchtitan and tensor > 1:
        return "loss-parallel"
    return "compiled" if compiled else "eager"


def n_logits(scene: Scene) -> Bytes:
    """Logits on this GPU."""
    return scene.tokens * scene.vocab


def step(name: str, scene: Scene) -> Step:
    """The loss as the last operation of the forward pass."""
    loss, compute, logits = lookup("loss", name, LOSSES), scene.recipe.compute, n_logits(scene)
    labels = _LABEL_BYTES * scene.tokens
    if name == "fused-linear":
        hidden = scene.architecture.hidden * scene.tokens
        return Step(LOGITS, kept=compute * hidden + labels).passing(inward=0.0 * logits, spare=2 * FP32 * hidden)
    kept, gradient = (FP32 * loss.kept_fp32 + compute * loss.kept) * logits + labels, compute * logits
    spare = FP32 * loss.backward_fp32 * logits - (gradient if name in ("eager", "loss-parallel") else 0.0)
    return Step(LOGITS, kept=kept).passing(inward=gradient, spare=spare)


def forward_bytes(name: str, scene: Scene) -> Bytes:
    """What lives until the loss is computed, besides what is kept."""
    loss, compute = lookup("loss", name, LOSSES), scene.recipe.compute
    upcast = FP32 * loss.forward_fp32 if compute != FP32 else 0.0
    return (upcast + compute * loss.forward) * n_logits(scene)


def hole_bytes(name: str, scene: Scene) -> Bytes:
    """Memory that the allocator reserves for the loss and can't use: PyTorch extends its pool for tensors as large."""
    return FP32 * lookup("loss", name, LOSSES).hole_fp32 * n_logits(scene)
