"""Reading the shape out of a Hugging Face config.json."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from costkit import tables
from costkit.architectures.shape import Architecture
from costkit.units import MB

FAMILY_BY_MODEL_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "gpt2": "gpt2",
        "gpt_neox": "gpt-neox",
        "llama": "llama",
        "mistral": "mistral",
        "mixtral": "mixtral",
        "phi3": "llama",
        "qwen2": "qwen2",
        "qwen2_moe": "qwen2-moe",
        "qwen3": "qwen3",
        "qwen3_moe": "qwen3-moe",
        "smollm3": "llama",
    }
)

_TIED_UNLESS_SAID = frozenset({"gpt2", "smollm3"})
"""Model types whose configuration class ties the embeddings by default; a config.json leaves defaults out."""

_LATENT_ATTENTION = ("deepseek_v2", "deepseek_v3", "kimi_k2", "minicpm3")
_LARGEST_FILE_BYTES = 4 * MB
_LARGEST_COUNT = 10**9
_LONGEST_NAME = 60


@dataclass(frozen=True)
class _Config:
    """The keys of a config.json, with errors that name the key and where it stands."""

    values: Mapping[str, Any]
    where: str

    def count(self, key: str, default: int | None = None, most: int = _LARGEST_COUNT) -> int:
        """A whole number from 1 to `most`; `default` where the key is absent or null."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise ValueError(f"{self.where} has no {key!r}; it must be a whole number of at least 1")
            return default
        if type(value) is not int or not 1 <= value <= most:
            raise ValueError(
                f"{key!r} in {self.where} is {repr(value)[:40]}; it must be a whole number from 1 to {most:,}"
            )
        return value

    def switch(self, key: str, default: bool) -> bool:
        value = self.values.get(key)
        if value is None:
            return default
        if value is not True and value is not False:
            raise ValueError(f"{key!r} in {self.where} is {repr(value)[:40]}; it must be true or false")
        return value

    @property
    def ties_embeddings(self) -> bool:
        """Whether input and output embeddings are one matrix."""
        return self.switch("tie_word_embeddings", default=self.values.get("model_type") in _TIED_UNLESS_SAID)

    def must_divide(self, divisor: str, by: int, dividend: str, value: int, unless: str = "") -> None:
        if value % by:
            raise ValueError(
                f"{dividend!r} in {self.where} is {value}; {unless}it must be a multiple of {divisor!r}, {by}"
            )

    def refuse(self, key: str, usual: object) -> None:
        """Stop where `key` has another value than the one that the family's count assumes."""
        value = self.values.get(key, usual)
        if value is not None and value != usual:
            shown = repr(value)[:40]
            raise ValueError(
                f"{key!r} in {self.where} is {shown}; only {usual!r} can be counted, give n_params instead"
            )


def from_hf_config(path_or_mapping: str | os.PathLike[str] | Mapping[str, Any]) -> Architecture:
    """The shape that a Hugging Face config.json describes; the file, a folder that holds it, or its contents.

    Raises `ValueError` naming the key that is missing or wrong, `UnknownName` for a model type that cannot be counted.

    >>> shape = {"n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257}
    >>> f"{from_hf_config({'model_type': 'gpt2', **shape}).n_params:,}"
    '124,439,808'
    """
    if isinstance(path_or_mapping, Mapping):
        config, fallback = _Config(path_or_mapping, "the configuration"), "configuration"
    else:
        file = _file(path_or_mapping)
        config, fallback = _Config(_read(file), str(file)), file.resolve().parent.name
    family = _family(config)
    name = config.values.get("_name_or_path")
    name = _printable(name if isinstance(name, str) and name else fallback) or "configuration"
    return _gpt2(config, name) if family == "gpt2" else _other(config, name, family)


def _printable(name: str) -> str:
    """The name on one line, without what a terminal would act on, and not longer than a line."""
    return "".join(letter if letter.isprintable() else " " for letter in name).strip()[:_LONGEST_NAME]


def _family(config: _Config) -> str:
    model_type = config.values.get("model_type")
    if model_type is None:
        raise ValueError(f"{config.where} has no 'model_type'; it must be one of {', '.join(FAMILY_BY_MODEL_TYPE)}")
    if model_type in _LATENT_ATTENTION:
        raise tables.UnknownName(
            f"no count for model_type {model_type!r} in {config.where}: its multi-head latent attention is not counted;"
            " give n_params instead."
        )
    return tables.lookup("model_type", model_type, FAMILY_BY_MODEL_TYPE)


def _gpt2(config: _Config, name: str) -> Architecture:
    hidden, n_heads = config.count("n_embd"), config.count("n_head")
    return Architecture(
        name=name,
        family="gpt2",
        n_layers=config.count("n_layer"),
        hidden=hidden,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=_head_dim(config, hidden=hidden, n_heads=n_heads, keys=("n_embd", "n_head")),
        ffn=config.count("n_inner", default=4 * hidden),
        vocab=config.count("vocab_size"),
        tied_embeddings=config.ties_embeddings,
        n_positions=config.count("n_positions"),
    )


def _other(config: _Config, name: str, family: str) -> Architecture:
    hidden, n_heads = config.count("hidden_size"), config.count("num_attention_heads")
    n_kv_heads = (
        n_heads if family == "gpt-neox" else config.count("num_key_value_heads", default=_usual_kv(config, n_heads))
    )
    config.must_divide("num_key_value_heads", n_kv_heads, "num_attention_heads", n_heads)
    has_biases = family == "gpt-neox"
    if not family.startswith("qwen2"):
        config.refuse("attention_bias", usual=has_biases)
    config.refuse("mlp_bias", usual=has_biases)
    feed_forward = _feed_forward(config, family)
    return Architecture(
        name=name,
        family=family,
        n_layers=config.count("num_hidden_layers"),
        hidden=hidden,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=_head_dim(config, hidden=hidden, n_heads=n_heads, keys=("hidden_size", "num_attention_heads")),
        vocab=config.count("vocab_size"),
        tied_embeddings=config.ties_embeddings,
        ffn=feed_forward["ffn"],
        n_experts=feed_forward.get("n_experts", 0),
        n_experts_per_token=feed_forward.get("n_experts_per_token", 0),
        shared_expert_ffn=feed_forward.get("shared_expert_ffn", 0),
    )


def _feed_forward(config: _Config, family: str) -> dict[str, int]:
    """The widths and numbers of the feed-forward block, of which a mixture of experts has more."""
    if family == "mixtral":
        return {"ffn": config.count("intermediate_size"), **_experts(config, "num_local_experts")}
    if not family.endswith("moe"):
        return {"ffn": config.count("intermediate_size")}
    config.refuse("mlp_only_layers", usual=[])
    config.refuse("decoder_sparse_step", usual=1)
    return {
        "ffn": config.count("moe_intermediate_size"),
        **_experts(config, "num_experts"),
        "shared_expert_ffn": config.count("shared_expert_intermediate_size") if family == "qwen2-moe" else 0,
    }


def _experts(config: _Config, key: str) -> dict[str, int]:
    n_experts = config.count(key)
    return {"n_experts": n_experts, "n_experts_per_token": config.count("num_experts_per_tok", most=n_experts)}


def _usual_kv(config: _Config, n_heads: int) -> int | None:
    """As many as attention heads where the configuration class says so; else the key must be there."""
    return n_heads if config.values["model_type"] in ("llama", "phi3") else None


def _head_dim(config: _Config, *, hidden: int, n_heads: int, keys: tuple[str, str]) -> int:
    if config.values["model_type"] == "qwen3":
        return config.count("head_dim")
    if config.values.get("head_dim") is None:
        config.must_divide(keys[1], n_heads, keys[0], hidden, unless="without 'head_dim' ")
    return config.count("head_dim", default=hidden // n_heads)


def _file(path: str | os.PathLike[str]) -> Path:
    given = Path(path)
    file = given / "config.json" if os.path.isdir(given) else given  # noqa: PTH112  (Path.is_dir raises on long names)
    if os.path.isfile(file):  # noqa: PTH113
        return file
    shown = str(given)[:200]
    if file != given:
        raise FileNotFoundError(f"the folder {shown} has no config.json")
    raise FileNotFoundError(f"there is no file {shown}; give a config.json, or the folder that holds it")


def _read(file: Path) -> Mapping[str, Any]:
    size_bytes = file.stat().st_size
    if size_bytes > _LARGEST_FILE_BYTES:
        raise ValueError(
            f"{file} is {size_bytes / MB:,.0f} MB; a config.json is a few KB, and at most"
            f" {_LARGEST_FILE_BYTES / MB:.0f} MB are read"
        )
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not a JSON text: {str(error)[:120]}") from None
    if type(values) is not dict:
        raise ValueError(f"{file} holds a JSON {type(values).__name__}; a config.json holds keys and values in braces")
    return values
