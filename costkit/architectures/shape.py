"""The shape of a transformer: its parameters by part and its FLOP per token."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from costkit.tables import lookup

_COUNTS_FROM_ZERO = ("n_positions", "n_experts", "n_experts_per_token", "shared_expert_ffn")


@dataclass(frozen=True)
class Family:
    """What sets a family apart when its parameters are counted.

    `gated`: three feed-forward matrices instead of two. `biases`: on every linear layer and norm. `norms`: counted or
    not. `qkv_bias`: on the query, key and value projections only. `qk_norm`: norms of head size on queries and on keys.
    `learned_positions`: a table of positions. `relative_positions`: a fifth attention matrix, as in Transformer-XL.
    """

    gated: bool = True
    biases: bool = False
    norms: bool = True
    qkv_bias: bool = False
    qk_norm: bool = False
    learned_positions: bool = False
    relative_positions: bool = False


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "chinchilla": Family(gated=False, norms=False, relative_positions=True),
        "gpt-neox": Family(gated=False, biases=True),
        "gpt2": Family(gated=False, biases=True, learned_positions=True),
        "llama": Family(),
        "mistral": Family(),
        "mixtral": Family(),
        "qwen2": Family(qkv_bias=True),
        "qwen2-moe": Family(qkv_bias=True),
        "qwen3": Family(qk_norm=True),
        "qwen3-moe": Family(qk_norm=True),
    }
)


@dataclass(frozen=True)
class Architecture:
    """A transformer's shape.

    `ffn` is the width of the feed-forward block, of one expert where there are experts. `source` is a key of the
    sources table, empty for a shape that a user brought.

    >>> from costkit.architectures import named
    >>> f"{named('mixtral-8x7b').n_params:,} of which {named('mixtral-8x7b').n_active_params:,} per token"
    '46,702,792,704 of which 12,879,925,248 per token'
    """

    name: str
    family: str
    n_layers: int
    hidden: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    tied_embeddings: bool = False
    n_positions: int = 0
    n_experts: int = 0
    n_experts_per_token: int = 0
    shared_expert_ffn: int = 0
    source: str = ""

    def __post_init__(self) -> None:
        lookup("family", self.family, FAMILIES)
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name in _COUNTS_FROM_ZERO else 1
            if field.type == "int" and (type(value) is not int or value < least):
                raise ValueError(f"{field.name} is {value!r}; it must be a whole number of at least {least}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads is {self.n_heads}; it must be a multiple of n_kv_heads, {self.n_kv_heads}")
        if not min(1, self.n_experts) <= self.n_experts_per_token <= self.n_experts:
            raise ValueError(
                f"n_experts_per_token is {self.n_experts_per_token}; it must be from 1 to n_experts, {self.n_experts},"
                " or 0 without experts"
            )
        if (self.n_positions > 0) != FAMILIES[self.family].learned_positions:
            raise ValueError(
                f"n_positions is {self.n_positions} and the family {self.family!r}; gpt2 alone has learned positions"
            )

    @property
    def parts(self) -> dict[str, int]:
        """Parameters by part; they sum to `n_params`.

        LLaMA-style, per layer: h (2 a d + 2 k d) attention, 3 h f feed-forward, 2 h norms, with h hidden, a heads and
        k key-value heads of size d, f the feed-forward width; GPT-2-style 12 h^2 + 13 h; Chinchilla-style
        h (5 a d + 2 f): the sizes in Table A9 of Hoffmann et al. 2022 (arXiv:2203.15556) need a fifth attention matrix,
        for relative positions.

        >>> from costkit.architectures import named
        >>> named("gpt2").parts["position"]
        786432
        """
        return self._parts(n_experts=self.n_experts)

    @property
    def n_params(self) -> int:
        """All parameters, the embedding once where it is tied to the head."""
        return sum(self.parts.values())

    @property
    def n_active_params(self) -> int:
        """The parameters that one token passes through: all of a dense model, the chosen experts of a mixture."""
        return sum(self._parts(n_experts=self.n_experts_per_token).values())

    def flop_per_token(self, seq_len: float, *, attention: bool = True, causal: bool = False) -> float:
        """Training FLOP per token: 6 per weight in a matrix multiplication, plus the attention scores.

        6 W + 12 l a d s, with W the active weights of all matrices, the output head included and the embedding look-up
        not, l layers, a heads of size d, s the sequence length (Chowdhery et al. 2022, arXiv:2204.02311, appendix B).
        The papers count all s^2 scores though half of them are masked: so do we, unless `causal`.

        >>> from costkit.architectures import named
        >>> llama = named("llama-2-7b")
        >>> f"{llama.flop_per_token(4096):.3e}, without attention {llama.flop_per_token(4096, attention=False):.3e}"
        '4.608e+10, without attention 3.964e+10'
        """
        parts = self.flop_parts(seq_len, causal=causal)
        counted = ["projections", "ffn", "router", "logits"] + (["scores"] if attention else [])
        return math.fsum(parts[name] for name in counted)

    def flop_parts(self, seq_len: float, *, causal: bool = False) -> dict[str, float]:
        """Training FLOP per token by part, three times those of the forward pass.

        Two parts are not in `flop_per_token`: `softmax`, 3 per score, and `embedding`, what the look-up would cost as a
        multiplication by one-hot vectors. Appendix F of Hoffmann et al. 2022 (arXiv:2203.15556) lists both; its
        Table A4 comes out only as projections + scores + softmax + ffn, without logits and embedding, over 6 N.

        >>> from costkit.architectures import named
        >>> gopher = named("gopher-280b").flop_parts(2048)
        >>> f"{gopher['softmax'] / gopher['scores']:.4f}"
        '0.0059'
        """
        if isinstance(seq_len, (bool, str)) or not (math.isfinite(seq_len) and seq_len > 0):
            raise ValueError(f"seq_len is {seq_len!r}; it must be a number of tokens above 0")
        span = seq_len / 2 if causal else seq_len
        matrices = self._matrices()
        scores = self.n_layers * self.n_heads * span
        return {name: 6.0 * n_weights for name, n_weights in matrices.items()} | {
            "scores": 3 * 4.0 * self.head_dim * scores,
            "softmax": 3 * 3.0 * scores,
            "embedding": 6.0 * self.vocab * self.hidden,
        }

    def _matrices(self) -> dict[str, int]:
        """Weights that one token is multiplied by, biases and relative positions left out."""
        queries, keys = self.n_heads * self.head_dim, self.n_kv_heads * self.head_dim
        n_experts = self.n_experts_per_token if self.n_experts else 1
        ffn_width = n_experts * self.ffn + self.shared_expert_ffn
        return {
            "projections": self.n_layers * self.hidden * (2 * queries + 2 * keys),
            "ffn": self.n_layers * self.hidden * ffn_width * (3 if FAMILIES[self.family].gated else 2),
            "router": self._router(),
            "logits": self.vocab * self.hidden,
        }

    def _parts(self, n_experts: int) -> dict[str, int]:
        family = FAMILIES[self.family]
        relative = self.n_layers * self.hidden * self.n_heads * self.head_dim if family.relative_positions else 0
        per_norm = self.hidden * (2 if family.biases else 1)
        return {
            "embedding": self.vocab * self.hidden,
            "position": self.n_positions * self.hidden + relative,
            "attention": self.n_layers * self._attention(family),
            "ffn": self.n_layers * self._feed_forward(family, max(n_experts, 1)),
            "router": self._router(),
            "norm": (2 * self.n_layers + 1) * per_norm if family.norms else 0,
            "head": 0 if self.tied_embeddings else self.vocab * self.hidden,
        }

    def _attention(self, family: Family) -> int:
        queries, keys = self.n_heads * self.head_dim, self.n_kv_heads * self.head_dim
        weights = self.hidden * (2 * queries + 2 * keys)
        qkv_biases = queries + 2 * keys if family.biases or family.qkv_bias else 0
        output_bias = self.hidden if family.biases else 0
        return weights + qkv_biases + output_bias + (2 * self.head_dim if family.qk_norm else 0)

    def _feed_forward(self, family: Family, n_experts: int) -> int:
        width = n_experts * self.ffn + self.shared_expert_ffn
        biases = width + n_experts * self.hidden if family.biases else 0
        return (3 if family.gated else 2) * self.hidden * width + biases

    def _router(self) -> int:
        """The router's matrix, and the gate of one weight per hidden unit that a shared expert has."""
        return self.n_layers * self.hidden * (self.n_experts + (1 if self.shared_expert_ffn else 0))
