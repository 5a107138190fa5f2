from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import tables, training
from costkit.training import suspicions
from costkit.units import HOUR, TFLOP

A100, A100_40, H100, H800 = "A100-SXM4-80GB", "A100-SXM4-40GB", "H100-SXM5-80GB", "H800-SXM5-80GB"
V100 = "V100-SXM2-32GB"


def kinds(audit: training.Audit) -> set[str]:
    """What an audit finds odd, in a word each."""
    return {flag.kind for flag in audit.flags}


def run_of(mfu: float, **figures: Any) -> training.Audit:
    """The audit of a billion parameters on 100B tokens whose hours imply that MFU on an A100."""
    gpu_hours = 6e20 / (mfu * 312 * TFLOP * HOUR)
    about: dict[str, Any] = {"n_params": 1e9, "n_tokens": 1e11, "gpu": A100, "gpu_hours": gpu_hours}
    return training.audit(**{**about, **figures})


ORDINARY: dict[str, dict[str, Any]] = {
    "LLaMA-1 7B": {"n_params": 6.7e9, "n_tokens": 1e12, "gpu": A100, "gpu_hours": 82_432},
    "LLaMA-1 65B": {
        "n_params": 65.2e9, "n_tokens": 1.4e12, "gpu": A100, "gpu_hours": 1_022_362, "n_gpus": 2048, "days": 21,
    },
    "Llama 2 7B": {"n_params": 6.738e9, "n_tokens": 2e12, "gpu": A100, "gpu_hours": 184_320, "seq_len": 4096},
    "Llama 2 34B": {"n_params": 34e9, "n_tokens": 2e12, "gpu": A100, "gpu_hours": 1_038_336, "seq_len": 4096},
    "Llama 3 8B": {"n_params": 8.03e9, "n_tokens": 15e12, "gpu": H100, "gpu_hours": 1.3e6, "seq_len": 8192},
    "Llama 3 70B": {"n_params": 70.55e9, "n_tokens": 15e12, "gpu": H100, "gpu_hours": 6.4e6, "seq_len": 8192},
    "Llama 3.1 405B": {
        "n_params": 405.85e9, "n_tokens": 15.6e12, "gpu": H100, "gpu_hours": 30.84e6, "n_gpus": 16384, "days": 78.43,
        "mfu_published": 0.41, "seq_len": 8192,
    },
    "Pythia 6.9B": {
        "n_params": 6_856_253_440, "n_tokens": 299_892_736_000, "gpu": A100_40, "gpu_hours": 33_500, "n_gpus": 128,
        "days": 10.9, "precision": "fp16-mixed",
    },
    "GPT-3 175B": {
        "n_params": 175e9, "n_tokens": 300e9, "gpu": V100, "gpu_hours": 3.552e6, "n_gpus": 10_000, "days": 14.8,
        "mfu_published": 0.197, "precision": "fp16-mixed",
    },
    "OPT-175B": {
        "n_params": 175e9, "n_tokens": 300e9, "gpu": A100, "gpu_hours": 809_472, "n_gpus": 992, "days": 34,
        "mfu_published": 0.353,
    },
    "BLOOM-176B": {
        "n_params": 176.247e9, "n_tokens": 366e9, "gpu": A100, "gpu_hours": 1_082_990, "n_gpus": 384, "days": 118.24,
    },
    "Gopher 280B": {
        "n_params": 280e9, "n_tokens": 300e9, "gpu": "TPU-v3", "gpu_hours": 3_768_320, "n_gpus": 4096, "days": 38.33,
        "mfu_published": 0.325,
    },
    "Falcon-180B": {"n_params": 179.52e9, "n_tokens": 3.5e12, "gpu": A100_40, "gpu_hours": 7e6},
    "MPT-7B": {
        "n_params": 6.65e9, "n_tokens": 1e12, "gpu": A100_40, "gpu_hours": 100_320, "n_gpus": 440, "days": 9.5,
        "usd": 200_000, "usd_per_gpu_hour": 2,
    },
    "TinyLlama 1.1B": {
        "n_params": 1.1e9, "n_tokens": 3e12, "gpu": A100_40, "n_gpus": 16, "days": 90, "mfu_published": 0.56,
        "seq_len": 2048,
    },
    "Nemotron-3-8B": {
        "n_params": 8e9, "n_tokens": 3.8e12, "gpu": A100, "n_gpus": 1024, "days": 19, "mfu_published": 0.3473,
    },
    "OLMoE-1B-7B": {
        "n_params": 6.9e9, "n_active_params": 1.3e9, "n_tokens": 5.1e12, "gpu": H100, "n_gpus": 256, "days": 10,
    },
    "SmolLM3-3B": {
        "n_params": 3.075e9, "n_tokens": 11.2e12, "gpu": H100, "gpu_hours": 221_184, "n_gpus": 384, "days": 24,
    },
    "DeepSeek-V3": {
        "n_params": 671e9, "n_active_params": 37e9, "n_tokens": 14.8e12, "gpu": H800, "gpu_hours": 2.788e6,
        "n_gpus": 2048, "days": 56.72, "usd": 5.576e6, "usd_per_gpu_hour": 2, "precision": "fp8-mixed",
    },
    "llm.c GPT-2 124M": {
        "n_params": 124e6, "n_tokens": 10e9, "gpu": A100, "gpu_hours": 12, "n_gpus": 8, "days": 0.0625,
        "mfu_published": 0.6, "usd": 20, "usd_per_gpu_hour": 1.75,
    },
}  # fmt: skip

IMPLIED = {
    "LLaMA-1 7B": 0.4342,
    "LLaMA-1 65B": 0.4769,
    "Llama 2 7B": 0.3906,
    "Llama 3.1 405B": 0.346,
    "GPT-3 175B": 0.1971,
    "Gopher 280B": 0.302,
    "MPT-7B": 0.3541,
    "TinyLlama 1.1B": 0.5101,
    "OLMoE-1B-7B": 0.1819,
    "DeepSeek-V3": 0.331,
    "llm.c GPT-2 124M": 0.552,
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_runs_raise_no_suspicion(name: str) -> None:
    """Published runs that nothing is known against are plausible, whatever figures of them are given."""
    found = training.audit(**ORDINARY[name])
    assert ([str(flag) for flag in found.flags], found.verdict) == ([], "plausible")


@pytest.mark.parametrize("name", IMPLIED)
def test_implied_mfu_of_ordinary_runs(name: str) -> None:
    """The MFU of published runs comes out as it was compiled, to its last digit."""
    assert training.audit(**ORDINARY[name]).mfu == pytest.approx(IMPLIED[name], abs=5.1e-5)


A5000 = dataclasses.replace(tables.gpu("A10"), name="A5000", peak_flop_per_s={"bf16": 111 * TFLOP})

ANOMALIES: dict[str, tuple[dict[str, Any], float, set[str]]] = {
    "DeepSeek-V2, hours per trillion tokens": (
        {"n_params": 236e9, "n_active_params": 21e9, "n_tokens": 8.1e12, "gpu": H800, "gpu_hours": 172_800},
        1.66,
        {"impossible", "per trillion"},
    ),
    "Refact-1.6B, hardware of another stage": (
        {"n_params": 1.6e9, "n_tokens": 1.2e12, "gpu": A5000, "n_gpus": 6, "days": 28},
        7.15,
        {"impossible", "fine-tune"},
    ),
    "Falcon-180B, two numbers of hours": (
        {"n_params": 179.52e9, "n_tokens": 3.5e12, "gpu": A100_40, "gpu_hours": 7e6, "n_gpus": 4096, "days": 180},
        0.48,
        {"hours disagree"},
    ),
    "Pythia-1B on 4 GPUs for 18 days": (
        {"n_params": 1_011_781_632, "n_tokens": 299_892_736_000, "gpu": A100, "n_gpus": 4, "days": 18},
        0.94,
        {"impossible", "sparse peak"},
    ),
    "phi-1.5, paper against card": (
        {"n_params": 1.3e9, "n_tokens": 150e9, "gpu": A100_40, "gpu_hours": 1500, "n_gpus": 32, "days": 8},
        0.69,
        {"check", "hours disagree"},
    ),
    "phi-2": ({"n_params": 2.7e9, "n_tokens": 1.4e12, "gpu": A100, "n_gpus": 96, "days": 14}, 0.63, {"check"}),
    "T5-11B": (
        {"n_params": 11e9, "n_tokens": 1.03e12, "gpu": "TPU-v3", "gpu_hours": 246_733, "kind": "encoder-decoder"},
        0.62,
        {"encoder-decoder"},
    ),
    "T5-11B, taken for a decoder": (
        {"n_params": 11e9, "n_tokens": 1.03e12, "gpu": "TPU-v3", "gpu_hours": 246_733},
        0.62,
        {"check"},
    ),
    "AlexaTM 20B": (
        {"n_params": 19.75e9, "n_tokens": 1.319e12, "gpu": A100, "n_gpus": 128, "days": 120,
         "mfu_published": 0.4935, "kind": "encoder-decoder"},
        0.38,
        {"encoder-decoder", "hfu"},
    ),
    "Llama 3.2 1B, distilled": (
        {"n_params": 1.236e9, "n_tokens": 9e12, "gpu": H100, "gpu_hours": 370_000},
        0.05,
        {"low"},
    ),
    "Llama 3.2 3B, distilled": (
        {"n_params": 3.21e9, "n_tokens": 9e12, "gpu": H100, "gpu_hours": 460_000},
        0.11,
        {"low"},
    ),
    "Llama 3.1 8B": ({"n_params": 8.03e9, "n_tokens": 15e12, "gpu": H100, "gpu_hours": 1.46e6}, 0.14, {"low"}),
    "SmolLM-135M": ({"n_params": 134.5e6, "n_tokens": 600e9, "gpu": H100, "n_gpus": 64, "days": 1}, 0.09, {"low"}),
    "OpenELM-450M": ({"n_params": 450e6, "n_tokens": 1.5e12, "gpu": H100, "n_gpus": 128, "days": 3}, 0.12, {"low"}),
    "CodeFuse-13B": (
        {"n_params": 13e9, "n_tokens": 1e12, "gpu": A100, "n_gpus": 512, "days": 40, "mfu_published": 0.56},
        0.14,
        {"low", "goodput"},
    ),
    "PLaMo-13B": (
        {"n_params": 13e9, "n_tokens": 1.4e12, "gpu": A100_40, "n_gpus": 480, "days": 30, "mfu_published": 0.41},
        0.28,
        {"goodput", "hfu"},
    ),
    "PaLM 540B": (
        {"n_params": 540.35e9, "n_tokens": 780e9, "gpu": "TPU-v4", "gpu_hours": 8_404_992, "mfu_published": 0.457},
        0.30,
        {"goodput"},
    ),
    "YaLM-100B": ({"n_params": 100e9, "n_tokens": 300e9, "gpu": A100, "n_gpus": 800, "days": 65}, 0.13, {"low"}),
    "RoBERTa-Large": (
        {"n_params": 355e6, "n_tokens": 2.1e12, "gpu": V100, "n_gpus": 1024, "days": 5, "kind": "encoder"},
        0.08,
        {"low"},
    ),
    "Megatron-LM 8.3B": (
        {"n_params": 8.3e9, "n_tokens": 157e9, "gpu": V100, "gpu_hours": 167_424, "mfu_published": 0.2269},
        0.10,
        {"low", "goodput"},
    ),
    "SmolLM3-3B, blog against playbook": (
        {"n_params": 3.075e9, "n_tokens": 11.2e12, "gpu": H100, "gpu_hours": 221_184, "n_gpus": 384, "days": 30},
        0.26,
        {"hours disagree"},
    ),
    "OpenELM-3B, 13 days of 288 hours": (
        {"n_params": 3e9, "n_tokens": 1.5e12, "gpu": H100, "gpu_hours": 128 * 288, "n_gpus": 128, "days": 13},
        0.21,
        {"hours disagree"},
    ),
    "Nemotron-4 15B, a ramp": (
        {"n_params": 15e9, "n_tokens": 8e12, "gpu": H100, "gpu_hours": 688_000, "n_gpus": 3072, "days": 13,
         "mfu_published": 0.305},
        0.29,
        {"hours disagree"},
    ),
    "OPT-175B, 147 TFLOP/s taken for MFU": (
        {"n_params": 175e9, "n_tokens": 300e9, "gpu": A100, "gpu_hours": 809_472, "mfu_published": 147 / 312},
        0.35,
        {"hfu", "goodput"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANOMALIES)
def test_each_anomaly_gets_its_flag(name: str) -> None:
    """Anomalies among published runs are flagged with their known cause, at the MFU that was compiled."""
    figures, printed, expected = ANOMALIES[name]
    found = training.audit(**figures)
    assert kinds(found) == expected
    assert found.mfu == pytest.approx(printed, abs=0.0051)


def test_hours_per_trillion_tokens_are_recomputed() -> None:
    """DeepSeek-V2's hours times its 8.1 trillion tokens are 1.40M, an MFU of 20%."""
    figures = ANOMALIES["DeepSeek-V2, hours per trillion tokens"][0]
    (text,) = [flag.text for flag in training.audit(**figures).flags if flag.kind == "per trillion"]
    assert "1.40M GPU-hours" in text
    assert "imply 20%" in text


def test_a_bill_and_a_price_suffice_for_hours() -> None:
    """$5.576M at $2 are 2.788M GPU-hours."""
    found = run_of(0.4, gpu_hours=None, usd=5.576e6, usd_per_gpu_hour=2)
    assert (found.gpu_hours, found.usd_per_gpu_hour) == (2.788e6, 2)


def test_gpus_and_days_suffice_for_hours() -> None:
    """16 GPUs for 90 days are 34,560 GPU-hours, and without a bill there is no price."""
    found = run_of(0.4, gpu_hours=None, n_gpus=16, days=90)
    assert (found.gpu_hours, found.usd_per_gpu_hour) == (34_560, None)


def test_stated_hours_count_before_others() -> None:
    """Where GPU-hours are stated, they make the MFU, and GPUs times days are held against them."""
    found = run_of(0.4, n_gpus=8, days=1e3)
    assert found.mfu == pytest.approx(0.4)
    assert kinds(found) == {"hours disagree"}


@pytest.mark.parametrize(("ratio", "flagged"), [(0.975, True), (0.985, False), (1.015, False), (1.025, True)])
def test_hours_may_differ_by_two_percent(ratio: float, flagged: bool) -> None:
    """Up to 2% are rounding; more is a disagreement."""
    found = run_of(0.4, gpu_hours=24_000, n_gpus=10, days=100 * ratio)
    assert ("hours disagree" in kinds(found)) == flagged


@pytest.mark.parametrize(("usd", "flagged"), [(20.0, False), (20.01, True), (2_120.0, True)])
def test_round_bills_may_differ_more(usd: float, flagged: bool) -> None:
    """A bill of $20 for $21 worth of hours is a rounded one; $20.01 is not, nor is $2,120 for $2,000."""
    found = run_of(0.4, gpu_hours=2000 if usd > 100 else 21, usd=usd, usd_per_gpu_hour=1.0, gpus_per_node=1)
    assert ("hours disagree" in kinds(found)) == flagged


def test_hours_of_nodes_are_suspected() -> None:
    """Stated hours that are an eighth of GPUs times days may be hours of nodes."""
    found = run_of(0.4, gpu_hours=2400, n_gpus=8, days=100)
    (flag,) = [flag for flag in found.flags if flag.kind == "hours disagree"]
    assert "the smaller may be hours of nodes with 8 GPUs" in flag.text


NODE_PRICES: dict[str, dict[str, Any]] = {
    "a node's price in the quotes' terms": {"gpu_hours": 26_112, "usd_per_gpu_hour": 98.32},
    "a node's price behind bill and hours": {"gpu_hours": 26_112, "usd": 2.57e6},
    "a bill that is 8 times hours and price": {"gpu_hours": 26_112, "usd": 2.57e6, "usd_per_gpu_hour": 12.29},
    "a bill that is an eighth of them": {"gpu_hours": 26_112, "usd": 40_000, "usd_per_gpu_hour": 12.29},
    "a GPU's price divided by a node": {"gpu_hours": 26_112, "usd_per_gpu_hour": 0.32},
}


@pytest.mark.parametrize("name", NODE_PRICES)
def test_a_price_of_a_node_is_suspected(name: str) -> None:
    """A price or a bill that is off by the GPUs of a node has one flag, and no other."""
    found = training.audit(n_params=7e9, n_tokens=1e12, gpu=H100, **NODE_PRICES[name])
    assert [flag.kind for flag in found.flags] == ["node price"]


def test_a_bill_at_a_price_of_a_node_hides_hours() -> None:
    """$73 at $24 are 3 hours of a node: read as GPU-hours, they imply 354%, and as a node's, 44%."""
    found = training.audit(n_params=0.73e9, n_tokens=8.76e9, gpu=H100, usd=73, usd_per_gpu_hour=24)
    assert kinds(found) == {"impossible", "node price"}
    assert "$3.00, which buys 24.3 GPU-hours at an MFU of 44%" in found.flags[1].text


def test_a_price_that_was_divided_does_not_explain_too_few_hours() -> None:
    """$73 at $0.30 buy too few hours; eight times the price would buy fewer still, so it is not suggested."""
    found = training.audit(n_params=7e9, n_tokens=1e12, gpu=H100, usd=73, usd_per_gpu_hour=0.3)
    assert "impossible" in kinds(found)
    assert "node price" not in kinds(found)


@pytest.mark.parametrize("price", [1.0, 2.0, 3.06, 4.1, 5.5, 12.0])
def test_prices_that_are_asked_raise_no_suspicion(price: float) -> None:
    """Prices within and near our quotes of an A100 are nobody's mistake."""
    assert run_of(0.4, usd_per_gpu_hour=price).flags == ()


def test_a_gpu_without_quotes_has_no_suspicious_price() -> None:
    """An H800, which nobody quotes, may cost anything."""
    assert training.audit(n_params=7e9, n_tokens=1e12, gpu=H800, gpu_hours=30_000, usd_per_gpu_hour=98.32).flags == ()


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (0.40, set()),
        (0.37, set()),
        (0.47, set()),
        (0.20, {"sparse peak"}),
        (0.80, {"sparse peak", "goodput"}),
        (0.52, {"hfu"}),
        (0.56, {"hfu", "goodput"}),
        (0.65, {"goodput"}),
    ],
)
def test_ratio_to_the_published_mfu(published: float, expected: set[str]) -> None:
    """Against an implied 40%, each ratio that a known mistake leaves behind is told, and no other."""
    assert kinds(run_of(0.4, mfu_published=published)) == expected


@pytest.mark.parametrize(
    ("mfu", "hfu"),
    [(0.325, 0.433), (0.457, 0.578), (0.353, 0.471), (0.5948, 0.793)],
    ids=["GLM-130B", "PaLM 540B", "OPT-175B", "MPT-13B of llm-foundry"],
)
def test_hfu_taken_for_mfu_is_told(mfu: float, hfu: float) -> None:
    """Where a source prints MFU and HFU of the same run, the second in the place of the first is recognized."""
    assert "hfu" in kinds(run_of(mfu, mfu_published=hfu))


def test_chips_without_a_sparse_peak_are_not_suspected_of_it() -> None:
    """A V100 has no sparse rate, so a published half has no name."""
    found = training.audit(n_params=1e9, n_tokens=1e11, gpu=V100, gpu_hours=4000, mfu_published=0.17)
    assert found.mfu == pytest.approx(0.333, abs=0.0005)
    assert found.flags == ()


def test_half_the_mfu_of_a_run_in_fp8_is_of_the_fp8_peak() -> None:
    """DeepSeek-V3's 33% of the 16-bit peak are 17% of the FP8 peak."""
    found = training.audit(**ORDINARY["DeepSeek-V3"], mfu_published=0.17)
    assert kinds(found) == {"fp8 peak"}


def test_attention_that_was_counted_is_told() -> None:
    """StarCoder's sequences of 8,192 add about a quarter to 6ND: that much more MFU is attention."""
    about: dict[str, Any] = {"n_params": 15.5e9, "n_tokens": 1e12, "gpu": A100, "gpu_hours": 320_256}
    found = training.audit(**about, mfu_published=0.325, seq_len=8192)
    (text,) = [flag.text for flag in found.flags if flag.kind == "attention"]
    assert "with all scores of 8,192 tokens the FLOP are 1.23 times 6ND, which makes 32%" in text
    assert "attention" not in kinds(training.audit(**about, mfu_published=0.325))


def test_attention_that_was_counted_by_half_is_told() -> None:
    """Where only the scores that are not masked were counted, the flag says so."""
    about: dict[str, Any] = {"n_params": 15.5e9, "n_tokens": 1e12, "gpu": A100, "gpu_hours": 320_256, "seq_len": 16_384}
    mfu = training.audit(**about).mfu * training.attention_ratio(15.5e9, 16_384, causal=True)
    (text,) = [flag.text for flag in training.audit(**about, mfu_published=mfu).flags if flag.kind == "attention"]
    assert "with the scores that are not masked of 16,384 tokens" in text


@pytest.mark.parametrize(
    ("precision", "mfu", "verdict"),
    [
        ("bf16-mixed", 0.75, "impossible"),
        ("fp16-mixed", 0.75, "impossible"),
        ("fp8-mixed", 0.75, "plausible"),
        ("fp8-mixed", 1.3, "check"),
        ("fp8-mixed", 1.45, "impossible"),
        ("tf32", 0.25, "plausible"),
        ("tf32", 0.4, "impossible"),
    ],
)
def test_bounds_hold_against_the_peak_of_the_precision(precision: str, mfu: float, verdict: str) -> None:
    """70% of the FP8 peak are 140% of the 16-bit one, and 70% of the TF32 peak 35%."""
    gpu_hours = 6e20 / (mfu * 989 * TFLOP * HOUR)
    found = training.audit(n_params=1e9, n_tokens=1e11, gpu=H100, gpu_hours=gpu_hours, precision=precision)
    assert found.mfu == pytest.approx(mfu)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("precision", "mfu", "flagged"),
    [("fp8-mixed", 0.2, False), ("fp8-mixed", 0.1, True), ("tf32", 0.1, False), ("tf32", 0.05, True)],
)
def test_low_is_held_against_the_lower_peak(precision: str, mfu: float, flagged: bool) -> None:
    """20% of the 16-bit peak are not little for a run in FP8, nor 10% of it for one in TF32."""
    gpu_hours = 6e20 / (mfu * 989 * TFLOP * HOUR)
    found = training.audit(n_params=1e9, n_tokens=1e11, gpu=H100, gpu_hours=gpu_hours, precision=precision)
    assert ("low" in kinds(found)) == flagged


def test_an_encoder_decoder_may_pass_the_bounds() -> None:
    """6ND counts it double, so 90% are about 45%."""
    found = run_of(0.9, kind="encoder-decoder")
    assert (kinds(found), found.verdict) == ({"encoder-decoder"}, "check")


def test_a_base_model_in_the_flop_is_told() -> None:
    """A run that went on from a trained model has FLOP beyond its hours when the base model's tokens are counted."""
    found = run_of(1.1, pretrained=True)
    (text,) = [flag.text for flag in found.flags if flag.kind == "fine-tune"]
    assert "at most 63.6B of the 100B tokens" in text


def test_a_plausible_fine_tune_is_no_suspicion() -> None:
    """That a run went on from a trained model is nothing odd by itself."""
    assert run_of(0.4, pretrained=True).flags == ()


@given(mfu=st.floats(0.151, 0.599))
def test_what_is_usual_has_no_flag(mfu: float) -> None:
    """Between 15% and 60% hours alone raise no suspicion."""
    assert run_of(mfu).verdict == "plausible"


@given(mfu=st.floats(0.005, 5), published=st.none() | st.floats(0.01, 1), price=st.none() | st.floats(0.01, 200))
def test_every_flag_is_one_sentence_with_a_number(mfu: float, published: float | None, price: float | None) -> None:
    """Whatever the figures, a flag has a kind, once, and a text on one line that tells a number."""
    found = run_of(mfu, mfu_published=published, usd_per_gpu_hour=price, seq_len=4096)
    assert all(any(map(str.isdigit, flag.text)) and "\n" not in flag.text for flag in found.flags)
    assert len({flag.text for flag in found.flags}) == len(found.flags)


@given(mfu=st.floats(0.005, 5))
def test_implied_mfu_has_the_bounds_of_an_audit(mfu: float) -> None:
    """What is odd about FLOP and hours alone, both ways of asking tell in the same words."""
    audit = run_of(mfu)
    check = training.implied_mfu(flop=audit.flop, gpu=A100, gpu_hours=audit.gpu_hours)
    assert check.flags == tuple(str(flag) for flag in audit.flags if flag.kind != "fine-tune")
    assert check.mfu == audit.mfu


def test_a_flag_reads_as_kind_and_text() -> None:
    """As text, a flag is its kind, a colon and its sentence."""
    assert str(suspicions.Flag("low", "5% is little")) == "low: 5% is little"


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        (
            {"gpu_hours": None},
            r"^There are no hours: give gpu_hours, or n_gpus and days, or usd and usd_per_gpu_hour\.$",
        ),
        ({"gpu_hours": None, "n_gpus": 8, "usd": 100}, "There are no hours"),
        ({"gpu_hours": 0}, "^gpu_hours must be a positive, finite number of GPU-hours, not 0"),
        ({"gpu_hours": None, "n_gpus": 8, "days": 0}, "^days must be a positive, finite number of days, not 0"),
        ({"n_gpus": -8}, "^n_gpus must be "),
        ({"usd": math.nan}, "^usd must be "),
        ({"usd_per_gpu_hour": 0}, "^usd_per_gpu_hour must be "),
        ({"n_params": 0}, "^n_params must be "),
        ({"n_tokens": "1T"}, "^n_tokens must be "),
        ({"n_active_params": 2e9}, "^n_active_params is 2e"),
        ({"gpus_per_node": 0}, "^gpus_per_node must be a whole number of GPUs"),
        ({"mfu_published": 45}, "^mfu_published must be a fraction from 0 to 1, not 45: .*, write 0.45"),
        ({"mfu_published": 0}, "^mfu_published must be above 0"),
        ({"seq_len": 0}, "^seq_len must be "),
        ({"precision": "fp8-mixed"}, "^precision is fp8, and our table has no such peak of A100-SXM4-80GB"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(figures: dict[str, Any], sentence: str) -> None:
    """Each wrong figure is named, with what is allowed or the way out."""
    with pytest.raises(ValueError, match=sentence):
        run_of(0.4, **figures)


@pytest.mark.parametrize(
    ("figures", "near"),
    [
        ({"gpu": "A100-80"}, "A100-SXM4-80GB"),
        ({"kind": "encoderdecoder"}, "encoder-decoder"),
        ({"precision": "bf16mixed"}, "bf16-mixed"),
    ],
)
def test_unknown_names_offer_the_nearest(figures: dict[str, Any], near: str) -> None:
    """A GPU, a kind or a precision that nobody knows is answered with the nearest name."""
    with pytest.raises(tables.UnknownName, match=f"Did you mean '{near}'"):
        run_of(0.4, **figures)


def test_fp32_that_is_faster_than_fp32_had_another_format() -> None:
    """The lesson's 18 days imply 111% of an A100's FP32 peak: 14% of TF32's, and no sparse peak, which FP32 has not."""
    found = training.audit(n_params=3e9, n_tokens=60e9, gpu="A100-SXM4-80GB", n_gpus=32, days=18, precision="fp32")
    kinds = {flag.kind: flag.text for flag in found.flags}
    assert set(kinds) == {"impossible", "number format"}
    assert "of the TF32 peak it is 14%" in kinds["number format"]
