"""A plausible shape for a wanted number of parameters."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, SupportsFloat

from costkit.architectures.shape import Architecture
from costkit.units import BILLION, MILLION, TRILLION, count

VOCAB = 32_000
SMALLEST_N_PARAMS = 5 * MILLION
LARGEST_N_PARAMS = 1000 * TRILLION

_TIED_BELOW = 1 * BILLION
_GROUPED_ABOVE = 30 * BILLION
_N_KV_HEADS_GROUPED = 8


def of_size(n_params: float) -> Architecture:
    """A LLaMA-style shape of about `n_params` parameters, embeddings included, within 2% from 10M to 1,000T.

    Width over depth follows published models: 128 from 7B up (LLaMA 7B, 13B), smaller below. Below 1B heads of 64 and
    tied embeddings (SmolLM), else heads of 128. Feed-forward 8/3 of the width; from 30B 3.5 times the width, with 8
    key-value heads (Llama 2 70B).

    >>> shape = of_size(7e9)
    >>> shape.n_layers, shape.hidden, shape.n_heads, shape.ffn, f"{shape.n_params:,}"
    (34, 4096, 32, 10752, '7,036,227,584')
    """
    _check(n_params)
    return _nearest(float(n_params))


@functools.lru_cache(maxsize=512)
def _nearest(n_params: float) -> Architecture:
    """The least odd of the candidates; one plan asks for its shape several times."""
    return min(_candidates(n_params), key=lambda shape: _oddness(shape, n_params))


def _check(n_params: Any) -> None:
    is_number = isinstance(n_params, SupportsFloat) and not isinstance(n_params, bool)
    if not is_number or not SMALLEST_N_PARAMS <= n_params <= LARGEST_N_PARAMS:
        shown = str(n_params) if is_number else repr(n_params)
        raise ValueError(
            f"n_params is {shown[:40]}; it must be a number from {count(SMALLEST_N_PARAMS)} to"
            f" {count(LARGEST_N_PARAMS)} for a shape with a vocabulary of {VOCAB:,}"
        )


def _aspect(n_params: float) -> float:
    """Width over depth."""
    return float(min(128.0, 128.0 * (n_params / (7 * BILLION)) ** 0.25))


def _ffn_ratio(n_params: float) -> float:
    return 3.5 if n_params >= _GROUPED_ABOVE else 8 / 3


def _candidates(n_params: float) -> Iterator[Architecture]:
    """Shapes around the wanted width, two depths for each; the feed-forward takes up the rest of the size."""
    head_dim = 64 if n_params < _TIED_BELOW else 128
    step = head_dim * (_N_KV_HEADS_GROUPED if n_params >= _GROUPED_ABOVE else 1)
    middle = round(_width(n_params) / step)
    for hidden in range(max(middle - 2, 1) * step, (middle + 2) * step + 1, step):
        depth = _depth(n_params, hidden)
        for n_layers in {max(math.floor(depth), 1), max(math.ceil(depth), 1)}:
            shape = _shape(n_params, hidden=hidden, n_layers=n_layers, head_dim=head_dim)
            if shape is not None:
                yield shape


def _embedding_params(n_params: float, hidden: float) -> float:
    return hidden * VOCAB * (1 if n_params < _TIED_BELOW else 2)


def _attention_params(n_params: float, hidden: float) -> float:
    """Of one layer."""
    keys = _N_KV_HEADS_GROUPED * 128 if n_params >= _GROUPED_ABOVE else hidden
    return hidden * (2 * hidden + 2 * keys)


def _depth(n_params: float, hidden: float) -> float:
    """Layers that reach the wanted size at this width with the usual feed-forward."""
    layer = _attention_params(n_params, hidden) + 3 * _ffn_ratio(n_params) * hidden**2
    return (n_params - _embedding_params(n_params, hidden)) / layer


def _width(n_params: float) -> float:
    """The width at which width over depth is as wanted, by bisection: the ratio rises with the width."""
    narrow, wide = 1.0, n_params / VOCAB
    for _ in range(60):
        middle = (narrow + wide) / 2
        too_wide = _depth(n_params, middle) * _aspect(n_params) < middle
        narrow, wide = (narrow, middle) if too_wide else (middle, wide)
    return narrow


def _shape(n_params: float, *, hidden: int, n_layers: int, head_dim: int) -> Architecture | None:
    n_heads = hidden // head_dim
    multiple = min(max(16, 2 ** math.floor(math.log2(hidden / 16))), 256)
    left = n_params - _embedding_params(n_params, hidden) - n_layers * _attention_params(n_params, hidden)
    ffn = round(left / (3 * hidden * n_layers) / multiple) * multiple
    if ffn < multiple:
        return None
    return Architecture(
        name=f"llama-style-{count(n_params).lower()}",
        family="llama",
        n_layers=n_layers,
        hidden=hidden,
        n_heads=n_heads,
        n_kv_heads=_N_KV_HEADS_GROUPED if n_params >= _GROUPED_ABOVE else n_heads,
        head_dim=head_dim,
        ffn=ffn,
        vocab=VOCAB,
        tied_embeddings=n_params < _TIED_BELOW,
        source="costkit",
    )


def _oddness(shape: Architecture, n_params: float) -> float:
    """How far a shape is from the wanted proportions and size."""
    aspect = math.log(shape.hidden / shape.n_layers / _aspect(n_params))
    ratio = math.log(shape.ffn / shape.hidden / _ffn_ratio(n_params))
    size = shape.n_params / n_params - 1
    awkward = 0.15 if shape.n_heads % 4 else 0.0
    return abs(aspect) + 2 * abs(ratio) + 10 * abs(size) + awkward
