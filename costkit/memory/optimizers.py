"""What does an optimizer keep, and what does its step need on top?

- A moment is as large as the tensor it belongs to. Adafactor keeps a row and a column instead (Shazeer and Stern 2018,
  arXiv:1804.04235, algorithm 4, without the first moment), Muon one moment of hidden matrices and AdamW's two of the
  rest (Jordan 2024), 8-bit AdamW one byte an element and an FP32 scale a block (Dettmers et al. 2021,
  arXiv:2110.02861).
- `foreach`, PyTorch's default for AdamW and SGD, works on all tensors at once and makes a list as large as one moment.
  `single-tensor` goes tensor by tensor, as the others do; `fused` needs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from costkit.memory.parts import EMBEDDING, HEAD
from costkit.memory.tensors import Tensor
from costkit.tables import lookup

OPTIMIZERS = ("adamw", "adamw-8bit", "adafactor", "lion", "sgd-momentum", "muon")
STEPS = ("foreach", "single-tensor", "fused")
FOREACH_BY_DEFAULT = ("adamw", "sgd-momentum")
"""Optimizers whose step in PyTorch works on all tensors at once by default, and has a fused form."""

_MOMENTS = {"adamw": 2, "lion": 1, "sgd-momentum": 1}
_BLOCK, _SCALE_BYTES, _SMALLEST_8BIT = 256, 4, 4096
"""bitsandbytes: elements a scale, bytes of a scale, elements below which a tensor stays in FP32."""


def moments_bytes(optimizer: str, tensor: Tensor, *, moment_bytes: int) -> float:
    """What the optimizer keeps for one tensor of that shape.

    >>> matrix = Tensor("feed-forward", 4096, 11008)
    >>> [moments_bytes(name, matrix, moment_bytes=4) / matrix.n_each for name in ("adamw", "adamw-8bit", "lion")]
    [8.0, 2.03125, 4.0]
    >>> f"{moments_bytes('adafactor', matrix, moment_bytes=4) / (4 * matrix.n_each):.4%} of a full second moment"
    '0.0335% of a full second moment'
    """
    lookup("optimizer", optimizer, dict.fromkeys(OPTIMIZERS))
    n = tensor.n_each
    if optimizer == "adafactor":
        return float(moment_bytes * (tensor.rows + tensor.columns if tensor.is_matrix else n))
    if optimizer == "adamw-8bit":
        exempt = tensor.part == EMBEDDING or n < _SMALLEST_8BIT
        return 2.0 * n * 4 if exempt else 2.0 * n * (1 + _SCALE_BYTES / _BLOCK)
    if optimizer == "muon":
        return float(moment_bytes * n * (1 if is_hidden_matrix(tensor) else 2))
    return float(moment_bytes * n * _MOMENTS[optimizer])


def step_bytes(optimizer: str, step: str, tensors: Sequence[Tensor], *, moment_bytes: int, share: float = 1.0) -> float:
    """What the step needs on top of weights, gradients and moments; `share` of each tensor is on this GPU.

    >>> step_bytes("adamw", "foreach", [Tensor("attention", 8, 8)], moment_bytes=4)
    256.0
    """
    lookup("optimizer step", step, dict.fromkeys(STEPS))
    if optimizer == "muon":
        return _orthogonalization_bytes(tensors, moment_bytes)
    if step == "fused" or optimizer in ("sgd-momentum", "adamw-8bit"):
        return 0.0
    if step == "foreach":
        return sum(one.n_each * one.copies for one in tensors) * share * moment_bytes
    largest = max((one.n_each for one in tensors), default=0) * share
    return float(largest * moment_bytes * (2 if optimizer == "adamw" else 1))


def is_hidden_matrix(tensor: Tensor) -> bool:
    """Whether Muon orthogonalizes its updates: matrices between the embedding and the head."""
    return tensor.is_matrix and tensor.part not in (EMBEDDING, HEAD)


def _orthogonalization_bytes(tensors: Sequence[Tensor], moment_bytes: int) -> float:
    """Newton-Schulz on the largest matrix: its update, two 16-bit ones of its size, two squares of its short side."""
    hidden = [one for one in tensors if is_hidden_matrix(one)]
    if not hidden:
        return 0.0
    one = max(hidden, key=lambda tensor: tensor.n_each)
    return float(one.n_each * (moment_bytes + 2 * 2) + 2 * 2 * min(one.rows, one.columns) ** 2)
