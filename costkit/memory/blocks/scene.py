"""What does a block run on? The shape, the number formats and the tokens of one GPU, for every block builder."""

from __future__ import annotations

from dataclasses import dataclass

from costkit.architectures import FAMILIES, Architecture
from costkit.architectures.shape import Family
from costkit.memory.adapters import Adapters
from costkit.memory.recipes import FP8, Recipe
from costkit.memory.tape import Bytes


@dataclass(frozen=True, slots=True)
class Scene:
    """One GPU's share of the work, and how it is done.

    tokens: Tokens of a micro-batch on this GPU (context parallelism divides them). seq_len: Tokens of a whole sequence.
    tensor, expert, expert_tensor: Degrees of parallelism.
    sequence_parallel: Whether norms and residuals are split by it as well.
    masked: Whether the batch is padded or packed, so that attention is given a mask. dropout: Whether there is any.
    imbalance: Tokens that the busiest GPU's experts get, over an even share. compiled: Whether blocks are compiled.
    """

    architecture: Architecture
    recipe: Recipe
    tokens: Bytes
    seq_len: Bytes
    attention: str
    adapters: Adapters | None = None
    tensor: int = 1
    expert: int = 1
    expert_tensor: int = 1
    sequence_parallel: bool = False
    masked: bool = True
    dropout: bool = False
    imbalance: float = 1.0
    compiled: bool = False

    @property
    def family(self) -> Family:
        """What sets the family apart."""
        return FAMILIES[self.architecture.family]

    @property
    def input_bytes(self) -> int:
        """Bytes of an element that a matrix product keeps: Transformer Engine keeps its FP8 cast."""
        return FP8 if self.recipe.fp8 else self.recipe.compute

    @property
    def queries(self) -> float:
        """Width of the queries on this GPU."""
        return self.architecture.n_heads * self.architecture.head_dim / self.tensor

    @property
    def keys(self) -> float:
        """Width of the keys, and of the values, on this GPU: at least one head, which GPUs then hold copies of."""
        heads = self.architecture.n_kv_heads / self.tensor
        return max(heads, 1) * self.architecture.head_dim

    @property
    def heads(self) -> float:
        """Attention heads on this GPU."""
        return self.architecture.n_heads / self.tensor

    @property
    def width(self) -> float:
        """Width of the feed-forward block on this GPU, of one expert where there are experts."""
        return self.architecture.ffn / (self.expert_tensor if self.architecture.n_experts else self.tensor)

    @property
    def routed_tokens(self) -> Bytes:
        """Rows that this GPU's experts get: its share of each token's copies, all that its tensor-parallel group needs.

        The GPUs that share a micro-batch by tensor parallelism send it to experts that `expert_tensor` of them share.
        """
        copies = self.architecture.n_experts_per_token * self.imbalance
        return self.tokens * copies * self.expert_tensor / self.tensor

    @property
    def n_experts_here(self) -> float:
        """Experts that this GPU holds, each divided by `expert_tensor`."""
        return self.architecture.n_experts / self.expert

    @property
    def vocab(self) -> float:
        """Vocabulary entries on this GPU."""
        return self.architecture.vocab / self.tensor

    @property
    def stream_bytes(self) -> Bytes:
        """The hidden states between two blocks."""
        return self.recipe.stream * self.architecture.hidden * self.stream_tokens

    @property
    def stream_tokens(self) -> Bytes:
        """Tokens whose hidden states this GPU holds."""
        return self.tokens / self.tensor if self.sequence_parallel else self.tokens
