"""Which tensors hold the weights, and how large is the part of each on one GPU?

- The tensors of a model sum to its `n_params`; which are split by tensor and expert parallelism follows Megatron-LM and
  PyTorch's tensor-parallel plans: matrices by heads, feed-forward width and vocabulary, norms and routers not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from costkit.architectures import FAMILIES, Architecture
from costkit.memory.parts import ATTENTION, EMBEDDING, FEED_FORWARD, HEAD, NORM


@dataclass(frozen=True, slots=True)
class Tensor:
    """`copies` weights of one shape; a vector has one row. `split`: by "tensor", by "expert" or not at all ("").

    `n_pieces`: Into how many it can be split at most, 0 for any number.
    """

    part: str
    rows: int
    columns: int
    copies: int = 1
    split: str = "tensor"
    name: str = ""
    n_pieces: int = 0

    def share(self, *, tensor: int, expert: int, expert_tensor: int) -> float:
        """The part of it that one GPU multiplies with; a tensor of few pieces is copied where there are more GPUs."""
        if self.split == "expert":
            return 1 / (expert * expert_tensor)
        if not self.split:
            return 1.0
        return 1 / (min(tensor, self.n_pieces) if self.n_pieces else tensor)

    @property
    def n_each(self) -> int:
        """Elements of one of them."""
        return self.rows * self.columns

    @property
    def is_matrix(self) -> bool:
        """Whether it has two dimensions."""
        return self.rows > 1


def n_elements(tensors: Iterable[Tensor]) -> int:
    """Elements of all of them.

    >>> from costkit.architectures import named
    >>> llama = named("llama-2-7b")
    >>> f"{32 * n_elements(of_layer(llama)) + n_elements(around(llama)):,}"
    '6,738,415,616'
    """
    return sum(one.n_each * one.copies for one in tensors)


def of_layer(architecture: Architecture) -> tuple[Tensor, ...]:
    """The tensors of one layer."""
    return (*_attention(architecture), *_feed_forward(architecture), *_norms(architecture, 2))


def around(architecture: Architecture) -> tuple[Tensor, ...]:
    """The tensors before and after the layers: embeddings, the last norm, and the head unless it is the embedding."""
    hidden, vocab = architecture.hidden, architecture.vocab
    found = [Tensor(EMBEDDING, vocab, hidden, name="tokens")]
    if architecture.n_positions:
        found.append(Tensor(EMBEDDING, architecture.n_positions, hidden, split="", name="positions"))
    found += _norms(architecture, 1)
    if not architecture.tied_embeddings:
        found.append(Tensor(HEAD, vocab, hidden, name="head"))
    return tuple(found)


def _attention(architecture: Architecture) -> list[Tensor]:
    family, hidden = FAMILIES[architecture.family], architecture.hidden
    queries = architecture.n_heads * architecture.head_dim
    keys = architecture.n_kv_heads * architecture.head_dim
    if family.biases:
        return [
            Tensor(ATTENTION, hidden, queries + 2 * keys, name="query, key and value"),
            Tensor(ATTENTION, 1, queries + 2 * keys),
            Tensor(ATTENTION, queries, hidden, name="output"),
            Tensor(ATTENTION, 1, hidden, split=""),
        ]
    found = [
        Tensor(ATTENTION, queries, hidden, name="query"),
        Tensor(ATTENTION, keys, hidden, copies=2, name="key or value", n_pieces=architecture.n_kv_heads),
        Tensor(ATTENTION, hidden, queries, name="output"),
    ]
    if family.relative_positions:
        found.append(Tensor(ATTENTION, hidden, queries, name="relative positions"))
    if family.qkv_bias:
        found.append(Tensor(ATTENTION, 1, queries + 2 * keys))
    if family.qk_norm:
        found.append(Tensor(NORM, 1, architecture.head_dim, copies=2, split=""))
    return found


def _feed_forward(architecture: Architecture) -> list[Tensor]:
    family, hidden, width = FAMILIES[architecture.family], architecture.hidden, architecture.ffn
    n_experts, split = max(architecture.n_experts, 1), "expert" if architecture.n_experts else "tensor"
    found = [
        Tensor(FEED_FORWARD, hidden, width, copies=n_experts * (2 if family.gated else 1), split=split, name="up"),
        Tensor(FEED_FORWARD, width, hidden, copies=n_experts, split=split, name="down"),
    ]
    if family.biases:
        found += [Tensor(FEED_FORWARD, 1, width), Tensor(FEED_FORWARD, 1, hidden, split="")]
    if architecture.n_experts:
        found.append(Tensor(FEED_FORWARD, architecture.n_experts, hidden, split="", name="router"))
    if shared := architecture.shared_expert_ffn:
        found += [
            Tensor(FEED_FORWARD, hidden, shared, copies=2, name="shared expert, up"),
            Tensor(FEED_FORWARD, shared, hidden, name="shared expert, down"),
            Tensor(FEED_FORWARD, 1, hidden, split="", name="shared expert, gate"),
        ]
    return found


def _norms(architecture: Architecture, n_norms: int) -> list[Tensor]:
    family = FAMILIES[architecture.family]
    vectors = 2 if family.biases else 1
    return [Tensor(NORM, 1, architecture.hidden, copies=n_norms * vectors, split="")] if family.norms else []
