"""Shapes of published models, from `architectures.csv`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from costkit import tables
from costkit.architectures.shape import Architecture


def from_row(row: Mapping[str, str]) -> Architecture:
    """The shape that the columns of a table's row describe; those of learned positions and experts may be absent."""
    return Architecture(
        name=row["name"],
        family=row["family"],
        n_layers=int(row["n_layers"]),
        hidden=int(row["hidden"]),
        n_heads=int(row["n_heads"]),
        n_kv_heads=int(row["n_kv_heads"]),
        head_dim=int(row["head_dim"]),
        ffn=int(row["ffn"]),
        vocab=int(row["vocab"]),
        tied_embeddings=row["tied_embeddings"] == "yes",
        n_positions=int(row.get("n_positions") or 0),
        n_experts=int(row.get("n_experts") or 0),
        n_experts_per_token=int(row.get("n_experts_per_token") or 0),
        shared_expert_ffn=int(row.get("shared_expert_ffn") or 0),
        source=row["source"],
    )


@functools.cache
def _all() -> Mapping[str, Architecture]:
    return MappingProxyType({row["name"]: from_row(row) for row in tables.rows("architectures.csv")})


def names() -> tuple[str, ...]:
    """The names that `named` knows, sorted.

    >>> "llama-2-7b" in names()
    True
    """
    return tuple(_all())


def named(name: str) -> Architecture:
    """The shape of a published model; `UnknownName` with the nearest name otherwise.

    >>> f"{named('llama-2-7b').n_params:,}"
    '6,738,415,616'
    """
    return tables.lookup("architecture", name, _all())
