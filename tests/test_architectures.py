from __future__ import annotations

import dataclasses
import json
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import architectures, tables
from costkit.architectures import Architecture

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
PUBLISHED_COUNTS = {
    row["name"]: int(row["n_params_published"]) for row in tables.rows("architectures.csv") if row["n_params_published"]
}
ACTIVE_COUNTS = {
    row["name"]: int(row["n_active_params_published"])
    for row in tables.rows("architectures.csv")
    if row["n_active_params_published"]
}
TABLE_A4 = {  # layers, d_model, ffw, heads, kv size: ratio to 6 N as printed, ratio and N of nanoGPT's recomputation
    "73M": ((10, 640, 2560, 10, 64), 1.03, 1.025036, 73_825_280),
    "305M": ((20, 1024, 4096, 16, 64), 1.10, 1.100817, 305_707_008),
    "552M": ((24, 1280, 5120, 10, 128), 1.08, 1.082919, 552_604_160),
    "1.1B": ((26, 1792, 7168, 14, 128), 1.04, 1.044094, 1_143_453_696),
    "1.6B": ((28, 2048, 8192, 16, 128), 1.03, 1.032902, 1_593_126_912),
    "6.8B": ((40, 3584, 14336, 28, 128), 0.99, 0.994114, 6_796_274_688),
}


def chinchilla(n_layers: int, hidden: int, ffn: int, n_heads: int, head_dim: int) -> Architecture:
    """A model of the family, with the vocabulary of the paper."""
    return Architecture(
        name="chinchilla",
        family="chinchilla",
        n_layers=n_layers,
        hidden=hidden,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        head_dim=head_dim,
        ffn=ffn,
        vocab=32_000,
        tied_embeddings=True,
    )


def table_a4_flop_per_token(shape: Architecture) -> float:
    """The parts that the table turns out to count."""
    parts = shape.flop_parts(2048)
    return parts["projections"] + parts["scores"] + parts["softmax"] + parts["ffn"]


@st.composite
def shapes(draw: st.DrawFn) -> Architecture:
    """Any shape of any family."""
    family = draw(st.sampled_from(sorted(architectures.FAMILIES)))
    n_kv_heads = draw(st.integers(1, 16))
    n_experts = draw(st.integers(1, 64)) if family.endswith("moe") or family == "mixtral" else 0
    return Architecture(
        name="drawn",
        family=family,
        n_layers=draw(st.integers(1, 200)),
        hidden=draw(st.integers(1, 20_000)),
        n_heads=n_kv_heads * draw(st.integers(1, 8)),
        n_kv_heads=n_kv_heads,
        head_dim=draw(st.integers(1, 256)),
        ffn=draw(st.integers(1, 60_000)),
        vocab=draw(st.integers(1, 300_000)),
        tied_embeddings=draw(st.booleans()),
        n_positions=draw(st.integers(1, 8192)) if family == "gpt2" else 0,
        n_experts=n_experts,
        n_experts_per_token=draw(st.integers(1, n_experts)) if n_experts else 0,
        shared_expert_ffn=draw(st.integers(0, 8192)) if family == "qwen2-moe" else 0,
    )


class TestPublished:
    """Numbers as they are printed elsewhere."""

    @pytest.mark.parametrize(("name", "n_params"), PUBLISHED_COUNTS.items())
    def test_count_is_exact(self, name: str, n_params: int) -> None:
        """The count of a published model is the published one, to the last parameter."""
        assert architectures.named(name).n_params == n_params

    @pytest.mark.parametrize(("name", "n_params"), ACTIVE_COUNTS.items())
    def test_active_count_is_exact(self, name: str, n_params: int) -> None:
        """The parameters that one token passes through are the published ones, to the last."""
        assert architectures.named(name).n_active_params == n_params

    @pytest.mark.parametrize(
        ("name", "n_params"),
        [
            ("gpt2", 124_439_808),
            ("gpt2-xl", 1_557_611_200),
            ("gpt3-175b", 174_604_259_328),
            ("llama-2-7b", 6_738_415_616),
            ("llama-3.1-8b", 8_030_261_248),
            ("llama-3.2-1b", 1_235_814_400),
            ("llama-3.1-70b", 70_553_706_496),
            ("llama-3.1-405b", 405_853_388_800),
            ("qwen2.5-7b", 7_615_616_512),
            ("qwen3-32b", 32_762_123_264),
            ("mixtral-8x7b", 46_702_792_704),
            ("qwen3-30b-a3b", 30_532_122_624),
        ],
    )
    def test_reference_counts(self, name: str, n_params: int) -> None:
        """Twelve counts verified against the released weights hold whatever the table says."""
        assert architectures.named(name).n_params == n_params

    def test_active_reference_counts(self) -> None:
        """Mixtral passes a token through 12.88B parameters, Qwen3-30B-A3B through 3.35B."""
        assert architectures.named("mixtral-8x7b").n_active_params == 12_879_925_248
        assert architectures.named("qwen3-30b-a3b").n_active_params == 3_353_032_704

    def test_chinchilla_and_gopher_as_printed(self) -> None:
        """Chinchilla has 70B and Gopher 280B parameters, within half a unit of what is printed."""
        assert architectures.named("chinchilla-70b").n_params == pytest.approx(70e9, abs=0.5e9)
        assert architectures.named("gopher-280b").n_params == pytest.approx(280e9, abs=0.5e9)

    def test_chinchilla_table_a9(self) -> None:
        """The 50 sizes of Chinchilla's Table A9 come out within 0.8% each and 0.11% on average."""
        errors = [
            abs(
                chinchilla(
                    n_layers=int(row["n_layers"]),
                    hidden=int(row["hidden"]),
                    ffn=int(row["ffn"]),
                    n_heads=int(row["n_heads"]),
                    head_dim=int(row["head_dim"]),
                ).n_params
                / int(row["n_params_printed"])
                - 1
            )
            for row in tables.rows("chinchilla_table_a9.csv")
        ]
        assert len(errors) == 50
        assert statistics.mean(errors) == pytest.approx(0.0011, abs=0.00005)
        assert max(errors) <= 0.0085

    @pytest.mark.parametrize(("shape", "printed"), [(row[0], row[1]) for row in TABLE_A4.values()], ids=TABLE_A4)
    def test_chinchilla_table_a4(self, shape: tuple[int, ...], printed: float) -> None:
        """FLOP over 6 N is as Chinchilla's Table A4 prints it, with the softmax and without logits and embedding."""
        model = chinchilla(*shape)
        assert table_a4_flop_per_token(model) / (6 * model.n_params) == pytest.approx(printed, abs=0.005)

    @pytest.mark.parametrize("row", TABLE_A4.values(), ids=TABLE_A4)
    def test_chinchilla_table_a4_to_six_digits(self, row: tuple[tuple[int, ...], float, float, int]) -> None:
        """With the biases and norms that nanoGPT's recomputation adds to N, its ratios come out to the digit."""
        shape, _, ratio, n_params = row
        model = chinchilla(*shape)
        per_layer = 3 * model.hidden + model.hidden + 2 * model.hidden + model.ffn + model.hidden + 4 * model.hidden
        assert model.n_params + model.n_layers * per_layer + 2 * model.hidden == n_params
        assert table_a4_flop_per_token(model) / (6 * n_params) == pytest.approx(ratio, abs=5e-7)

    def test_table_a4_needs_the_logits_left_out(self) -> None:
        """With logits and embedding, as the paper's text has it, the ratio of the smallest model would be 1.58."""
        model = chinchilla(*TABLE_A4["73M"][0])
        everything = sum(model.flop_parts(2048).values())
        assert everything / (6 * model.n_params) == pytest.approx(1.58, abs=0.005)

    def test_llama_3_405b_flop(self) -> None:
        """Llama 3 405B's 15.6T tokens take the 3.8e25 FLOP that its paper gives, without attention."""
        flop = architectures.named("llama-3.1-405b").flop_per_token(8192, attention=False) * 15.6e12
        assert flop == pytest.approx(3.8e25, abs=0.05e25)


class TestIdentities:
    """What holds for every shape."""

    @given(shapes())
    def test_parts_sum_to_the_count(self, shape: Architecture) -> None:
        """The parts are whole, none is negative, and they sum to the count."""
        assert all(type(part) is int and part >= 0 for part in shape.parts.values())
        assert sum(shape.parts.values()) == shape.n_params

    @given(shapes())
    def test_active_is_part_of_all(self, shape: Architecture) -> None:
        """A token passes through all parameters of a model, or fewer where it passes through some of the experts."""
        if shape.n_experts == shape.n_experts_per_token:
            assert shape.n_active_params == shape.n_params
        else:
            assert 0 < shape.n_active_params < shape.n_params

    @given(shapes(), st.integers(1, 1_000_000))
    def test_flop_without_attention_ignore_the_length(self, shape: Architecture, seq_len: int) -> None:
        """Without attention the FLOP per token are six per active weight, whatever the length, and below 6 N + head."""
        flop = shape.flop_per_token(seq_len, attention=False)
        assert flop == shape.flop_per_token(1, attention=False)
        assert flop <= 6 * (shape.n_active_params + shape.vocab * shape.hidden)

    @given(shapes(), st.integers(1, 1_000_000))
    def test_attention_is_linear_in_the_length(self, shape: Architecture, seq_len: int) -> None:
        """The attention scores cost 12 l a d s per token, and half of it when masked scores are not counted."""
        scores = 12 * shape.n_layers * shape.n_heads * shape.head_dim * seq_len
        rest = shape.flop_per_token(seq_len, attention=False)
        assert shape.flop_per_token(seq_len) == pytest.approx(rest + scores, rel=1e-12)
        assert shape.flop_per_token(seq_len, causal=True) == pytest.approx(rest + scores / 2, rel=1e-12)

    @given(shapes())
    def test_tying_saves_the_head(self, shape: Architecture) -> None:
        """Tied and untied models differ by one matrix of vocabulary times width, and by no FLOP."""
        tied = dataclasses.replace(shape, tied_embeddings=True)
        untied = dataclasses.replace(shape, tied_embeddings=False)
        assert untied.n_params - tied.n_params == shape.vocab * shape.hidden
        assert untied.flop_per_token(2048) == tied.flop_per_token(2048)

    @given(st.floats(10e6, 1e12))
    def test_of_size_is_near(self, n_params: float) -> None:
        """A shape of a wanted size is within 2% of it from 10M to 1T parameters."""
        assert architectures.of_size(n_params).n_params == pytest.approx(n_params, rel=0.02)

    @given(st.floats(10e6, 1e12))
    def test_of_size_looks_like_published_models(self, n_params: float) -> None:
        """Its heads make up its width, and width over depth and feed-forward over width are as in published models."""
        shape = architectures.of_size(n_params)
        assert shape.n_heads * shape.head_dim == shape.hidden
        assert shape.n_heads % shape.n_kv_heads == 0
        assert 15 <= shape.hidden / shape.n_layers <= 180
        assert 2 <= shape.ffn / shape.hidden <= 4.5

    @given(st.floats(10e6, 1e12))
    def test_of_size_grows(self, n_params: float) -> None:
        """Asking for 5% more parameters gives more parameters."""
        assert architectures.of_size(1.05 * n_params).n_params > architectures.of_size(n_params).n_params

    def test_of_size_is_quick(self) -> None:
        """A shape takes less than 5 ms, as panels ask for one while a slider moves."""
        best_s = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            architectures.of_size(3e9)
            best_s = min(best_s, time.perf_counter() - start)
        assert best_s < 0.005


class TestHuggingFace:
    """Reading config.json."""

    @pytest.mark.parametrize(
        ("name", "config"),
        [
            ("llama-3.1-8b", LLAMA),
            ("llama-2-7b", LLAMA | {"num_key_value_heads": None, "intermediate_size": 11008, "vocab_size": 32000}),
            ("mistral-7b-v0.1", LLAMA | {"model_type": "mistral", "vocab_size": 32000, "sliding_window": 4096}),
            (
                "mixtral-8x7b",
                LLAMA
                | {"model_type": "mixtral", "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2},
            ),
            (
                "qwen2.5-7b",
                {
                    "model_type": "qwen2",
                    "hidden_size": 3584,
                    "num_hidden_layers": 28,
                    "num_attention_heads": 28,
                    "num_key_value_heads": 4,
                    "intermediate_size": 18944,
                    "vocab_size": 152064,
                },
            ),
            (
                "qwen3-32b",
                {
                    "model_type": "qwen3",
                    "hidden_size": 5120,
                    "num_hidden_layers": 64,
                    "num_attention_heads": 64,
                    "num_key_value_heads": 8,
                    "head_dim": 128,
                    "intermediate_size": 25600,
                    "vocab_size": 151936,
                    "attention_bias": False,
                },
            ),
            (
                "qwen3-30b-a3b",
                {
                    "model_type": "qwen3_moe",
                    "hidden_size": 2048,
                    "num_hidden_layers": 48,
                    "num_attention_heads": 32,
                    "num_key_value_heads": 4,
                    "head_dim": 128,
                    "intermediate_size": 6144,
                    "moe_intermediate_size": 768,
                    "num_experts": 128,
                    "num_experts_per_tok": 8,
                    "mlp_only_layers": [],
                    "decoder_sparse_step": 1,
                    "vocab_size": 151936,
                },
            ),
            (
                "qwen1.5-moe-a2.7b",
                {
                    "model_type": "qwen2_moe",
                    "hidden_size": 2048,
                    "num_hidden_layers": 24,
                    "num_attention_heads": 16,
                    "num_key_value_heads": 16,
                    "intermediate_size": 5632,
                    "moe_intermediate_size": 1408,
                    "shared_expert_intermediate_size": 5632,
                    "num_experts": 60,
                    "num_experts_per_tok": 4,
                    "decoder_sparse_step": 1,
                    "vocab_size": 151936,
                },
            ),
            (
                "pythia-12b",
                {
                    "model_type": "gpt_neox",
                    "hidden_size": 5120,
                    "num_hidden_layers": 36,
                    "num_attention_heads": 40,
                    "intermediate_size": 20480,
                    "vocab_size": 50688,
                },
            ),
            (
                "gpt2-xl",
                {
                    "model_type": "gpt2",
                    "n_embd": 1600,
                    "n_head": 25,
                    "n_layer": 48,
                    "n_positions": 1024,
                    "n_ctx": 1024,
                    "vocab_size": 50257,
                },
            ),
        ],
    )
    def test_family_is_counted_like_its_named_model(self, name: str, config: dict[str, Any]) -> None:
        """A config.json gives the same shape as the table, for every family."""
        ours, theirs = architectures.from_hf_config(config), architectures.named(name)
        assert dataclasses.replace(ours, name=theirs.name, source=theirs.source) == theirs

    def test_file_folder_and_mapping_agree(self, tmp_path: Path) -> None:
        """The file, its folder and its contents give the same shape, named after the folder where nothing names it."""
        folder = tmp_path / "my-model"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
        from_file = architectures.from_hf_config(folder / "config.json")
        assert from_file == architectures.from_hf_config(str(folder))
        assert from_file.name == "my-model"
        assert from_file.parts == architectures.from_hf_config(LLAMA).parts

    def test_name_or_path_names_the_shape(self) -> None:
        """The configuration's own name is used where it has one."""
        assert architectures.from_hf_config(LLAMA | {"_name_or_path": "org/model"}).name == "org/model"

    @pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size"])
    def test_missing_key_is_named(self, key: str) -> None:
        """A key that is absent is named in the sentence."""
        config = {name: value for name, value in LLAMA.items() if name != key}
        with pytest.raises(ValueError, match=f"the configuration has no '{key}'; it must be a whole number"):
            architectures.from_hf_config(config)

    @pytest.mark.parametrize("value", ["4096", 4096.0, -4096, 0, True, [], {}, float("inf"), 10**12])
    def test_wrong_number_is_named(self, value: object) -> None:
        """A count that is text, broken, negative, zero or absurd is refused with its key and the allowed range."""
        with pytest.raises(
            ValueError, match=r"'hidden_size' in the configuration is .*; it must be a whole number from 1"
        ):
            architectures.from_hf_config(LLAMA | {"hidden_size": value})

    def test_width_must_divide_without_a_head_size(self) -> None:
        """Without head_dim the width must be a multiple of the heads; with it any width goes."""
        with pytest.raises(
            ValueError, match="'hidden_size' in the configuration is 4100; without 'head_dim' it must be"
        ):
            architectures.from_hf_config(LLAMA | {"hidden_size": 4100})
        assert architectures.from_hf_config(LLAMA | {"hidden_size": 4100, "head_dim": 128}).head_dim == 128

    def test_heads_must_divide_into_groups(self) -> None:
        """The query heads must be a multiple of the key-value heads."""
        with pytest.raises(
            ValueError, match="'num_attention_heads' in the configuration is 32; it must be a multiple of"
        ):
            architectures.from_hf_config(LLAMA | {"num_key_value_heads": 5})

    @pytest.mark.parametrize(
        ("model_type", "tied"),
        [
            *[(name, False) for name in ("gpt_neox", "llama", "mistral", "mixtral", "phi3", "qwen2", "qwen3")],
            *[("qwen2_moe", False), ("qwen3_moe", False), ("smollm3", True)],
        ],
    )
    def test_unsaid_tying_is_that_of_the_configuration_class(self, model_type: str, tied: bool) -> None:
        """A config.json that does not say whether embeddings are tied means its class's default in transformers."""
        experts = {"num_local_experts": 8, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1408}
        given = LLAMA | experts | {"model_type": model_type, "shared_expert_intermediate_size": 5632, "head_dim": 128}
        del given["tie_word_embeddings"]
        assert architectures.from_hf_config(given).tied_embeddings is tied

    @pytest.mark.parametrize(
        ("model_type", "missing"),
        [("qwen2", "num_key_value_heads"), ("mistral", "num_key_value_heads"), ("qwen3", "head_dim")],
    )
    def test_a_key_without_a_default_of_its_own_is_asked_for(self, model_type: str, missing: str) -> None:
        """Where the configuration class would put a number of its own, the count asks instead of guessing."""
        given = LLAMA | {"model_type": model_type, "head_dim": 128}
        del given[missing]
        with pytest.raises(ValueError, match=f"'{missing}'"):
            architectures.from_hf_config(given)

    def test_llama_without_key_value_heads_has_one_a_head(self) -> None:
        """Here the configuration class says as many as attention heads."""
        given = dict(LLAMA)
        del given["num_key_value_heads"]
        assert architectures.from_hf_config(given).n_kv_heads == LLAMA["num_attention_heads"]

    def test_smollm3_counts_as_published_without_the_key(self) -> None:
        """SmolLM3's own config.json leaves the key out, and its published count has the embeddings once."""
        sizes = {"hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4}
        config = {"model_type": "smollm3", **sizes, "intermediate_size": 11008, "vocab_size": 128256}
        assert architectures.from_hf_config(config).n_params == PUBLISHED_COUNTS["smollm3-3b"]

    def test_more_chosen_experts_than_experts(self) -> None:
        """A token cannot pass through more experts than there are."""
        mixtral = LLAMA | {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 9}
        with pytest.raises(ValueError, match=r"'num_experts_per_tok' .* is 9; it must be a whole number from 1 to 8"):
            architectures.from_hf_config(mixtral)

    @pytest.mark.parametrize(
        ("key", "value"), [("attention_bias", True), ("mlp_bias", True), ("tie_word_embeddings", "no")]
    )
    def test_variant_that_would_be_miscounted_is_refused(self, key: str, value: object) -> None:
        """A variant whose count would be wrong is refused by key, not counted wrongly."""
        with pytest.raises(ValueError, match=f"'{key}' in the configuration"):
            architectures.from_hf_config(LLAMA | {key: value})

    def test_unknown_model_type_offers_the_nearest(self) -> None:
        """A model type that cannot be counted is answered with the nearest that can."""
        with pytest.raises(tables.UnknownName, match=r"no model_type 'lama'\. Did you mean 'llama'\?"):
            architectures.from_hf_config(LLAMA | {"model_type": "lama"})

    def test_latent_attention_is_refused_by_name(self) -> None:
        """DeepSeek's latent attention is refused, with what to do instead."""
        with pytest.raises(tables.UnknownName, match="multi-head latent attention is not counted; give n_params"):
            architectures.from_hf_config(LLAMA | {"model_type": "deepseek_v3"})

    def test_missing_model_type(self) -> None:
        """A configuration without a model type is refused with the list of those that can be counted."""
        with pytest.raises(ValueError, match="has no 'model_type'; it must be one of gpt2, "):
            architectures.from_hf_config({})

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"\x89PNG\r\n\x1a\n\x00\xff", "is not a JSON text"),
            (b"", "is not a JSON text"),
            (b"[" * 100_000, "is not a JSON text"),
            (b'{"hidden_size": ' + b"1" * 10_000 + b"}", "is not a JSON text"),
            (b"[1, 2]", "holds a JSON list"),
            (b'"llama"', "holds a JSON str"),
            (b'{"model_type": ["llama"]}', r"no model_type \['llama'\]"),
            (b'{"model_type": "llama", "hidden_size": 1e400}', "'hidden_size' in .* is inf"),
        ],
    )
    def test_file_that_is_no_configuration(self, tmp_path: Path, content: bytes, sentence: str) -> None:
        """A binary, empty, endless or otherwise wrong file is refused in one line."""
        file = tmp_path / "config.json"
        file.write_bytes(content)
        with pytest.raises((ValueError, LookupError), match=sentence) as caught:
            architectures.from_hf_config(file)
        assert len(str(caught.value).splitlines()) == 1

    def test_huge_file_is_not_read(self, tmp_path: Path) -> None:
        """A file of 100 MB is refused by its size, unread."""
        file = tmp_path / "model.safetensors"
        with file.open("wb") as out:
            out.truncate(100_000_000)
        with pytest.raises(ValueError, match=r"is 100 MB; a config.json is a few KB, and at most 4 MB are read"):
            architectures.from_hf_config(file)

    def test_no_file(self, tmp_path: Path) -> None:
        """A path to nothing, a folder without config.json and an impossible name each get a sentence."""
        with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing; give a config.json, or the folder"):
            architectures.from_hf_config(tmp_path / "nothing")
        with pytest.raises(FileNotFoundError, match=r"the folder .* has no config.json"):
            architectures.from_hf_config(tmp_path)
        with pytest.raises(FileNotFoundError, match="there is no file xxx"):
            architectures.from_hf_config("x" * 100_000)


class TestBadInput:
    """What is refused, and how."""

    @pytest.mark.parametrize(
        "n_params",
        [0, -3e9, float("nan"), float("inf"), 1e6, 1e18, "3e9", None, True, [3e9], 10**400],
        ids=lambda value: repr(value)[:12],
    )
    def test_of_size_says_what_it_takes(self, n_params: Any) -> None:
        """A size that is no number, or outside the range, is refused with the range."""
        with pytest.raises(ValueError, match=r"n_params is .*; it must be a number from 5\.00M to 1,000T"):
            architectures.of_size(n_params)

    @pytest.mark.parametrize("seq_len", [0, -1, float("nan"), float("inf"), "2048", True])
    def test_length_must_be_a_number_above_zero(self, seq_len: Any) -> None:
        """A sequence length that is no positive number is refused."""
        with pytest.raises(ValueError, match=r"seq_len is .*; it must be a number of tokens above 0"):
            architectures.named("gpt2").flop_per_token(seq_len)

    def test_unknown_architecture_offers_the_nearest(self) -> None:
        """A name that is nearly right is answered with the right one."""
        with pytest.raises(tables.UnknownName, match=r"no architecture 'llama2-7b'\. Did you mean 'llama-2-7b'\?"):
            architectures.named("llama2-7b")

    def test_names_are_those_of_the_table(self) -> None:
        """Every name of the table can be asked for, in the order of the table."""
        assert list(architectures.names()) == sorted(architectures.names())
        assert all(architectures.named(name).name == name for name in architectures.names())

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"hidden": 0}, "hidden is 0; it must be a whole number of at least 1"),
            ({"n_layers": 2.5}, "n_layers is 2.5; it must be a whole number of at least 1"),
            ({"n_kv_heads": 5}, "n_heads is 32; it must be a multiple of n_kv_heads, 5"),
            ({"n_experts": 8}, "n_experts_per_token is 0; it must be from 1 to n_experts, 8"),
            ({"n_experts_per_token": 2}, "n_experts_per_token is 2; it must be from 1 to n_experts, 0"),
            ({"n_positions": 1024}, "n_positions is 1024 and the family 'llama'"),
            ({"family": "gpt2"}, "n_positions is 0 and the family 'gpt2'"),
        ],
    )
    def test_impossible_shape_is_refused(self, changes: dict[str, Any], sentence: str) -> None:
        """A shape that no model can have is refused with the field that makes it impossible."""
        with pytest.raises(ValueError, match=sentence):
            dataclasses.replace(architectures.named("llama-2-7b"), **changes)

    def test_unknown_family_offers_the_nearest(self) -> None:
        """A family that is nearly right is answered with the right one."""
        with pytest.raises(tables.UnknownName, match=r"no family 'lama'\. Did you mean 'llama'\?"):
            dataclasses.replace(architectures.named("llama-2-7b"), family="lama")
