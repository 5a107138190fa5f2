"""Where does the time of a training step go? Products, attention, memory traffic, optimizer, exchange of gradients.

- What multiplies runs at the best rate that a benchmark of matrix products reached; what only moves data at a share of
  the memory bandwidth, in passes that were counted kernel by kernel (`kernel_traffic.csv`).
- No launch takes time, no GPU waits for another, and nothing is swapped: a real step is longer. Ratios of steps that
  differ in one thing are what this is for, and `step_scores` says how far they can be trusted.
- FlashAttention has kernels for 16 bits only; in 32 bits the scores are stored all the same. Beside products in FP8
  scores are multiplied in 16 bits.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from costkit import architectures, tables
from costkit.architectures import FAMILIES, Architecture
from costkit.training.formats import format_limit, number_format
from costkit.units import require_not_negative, require_positive, require_whole

KERNELS = ("eager", "fused", "compiled")
ATTENTIONS = ("eager", "flash")
RECOMPUTE = ("none", "selective", "full")
_HALF, _FULL = 16, 32
_FORWARD_FRACTION = 1 / 3
_FLASH_FLOP_RATIO = 7 / 6
_CAUSAL_FRACTION = 1 / 2
_GATED_RATIO = 8 / 5


@dataclass(frozen=True)
class StepTimes:
    """Seconds that one GPU needs for a token, by component; a part of one is written `attention.scores`."""

    parts: Mapping[str, float]

    @property
    def total_s(self) -> float:
        """All of them."""
        return math.fsum(self.parts.values())


def step_times(
    architecture: Architecture | str,
    *,
    gpu: tables.Gpu | str,
    seq_len: int,
    precision: str = "bf16-mixed",
    attention: str = "flash",
    kernels: str = "eager",
    checkpointing: str = "none",
    has_frozen_weights: bool = False,
) -> StepTimes:
    """The components of one token's forward and backward pass, if nothing else took time.

    A product of FLOP F takes F / (peak x reached fraction); a tensor of n elements a token takes n x bytes / bandwidth.

    Args:
        architecture: A shape, or a name of the architectures table.
        gpu: The GPU, or its name.
        seq_len: Tokens of a sequence.
        precision: The number format of the products.
        attention: "eager" stores the scores, "flash" does not.
        kernels: How the rest is computed: op by op ("eager"), by fused kernels for norms and softmax ("fused"), or
            compiled.
        checkpointing: What the backward pass computes again: nothing, the scores ("selective"), the blocks ("full").
        has_frozen_weights: Whether adapters are trained in place of the weights, which then need no gradients.

    Raises:
        ValueError: The GPU does not have the format, or the sequence length is not positive.
        UnknownName: No such architecture, GPU, precision, attention, kernels or checkpointing.

    >>> found = step_times("llama-2-7b", gpu="A100-SXM4-80GB", seq_len=4096)
    >>> {name: round(1e6 * seconds) for name, seconds in found.parts.items()}
    {'matmul': 146, 'attention.products': 20, 'attention.scores': 2, 'memory_bound': 14}
    """
    shape = architectures.named(architecture) if isinstance(architecture, str) else architecture
    on = tables.gpu(gpu)
    for what, value, known in (
        ("attention", attention, ATTENTIONS),
        ("kernels", kernels, KERNELS),
        ("checkpointing", checkpointing, RECOMPUTE),
    ):
        tables.lookup(what, value, dict.fromkeys(known))
    stored = not (attention == "flash" and _bits(precision) == _HALF)
    again = _FORWARD_FRACTION if checkpointing == "full" else 0.0
    scores_again = _FORWARD_FRACTION if checkpointing == "selective" and stored else again
    flop = shape.flop_parts(seq_len)
    scores = _stored(shape, on, seq_len, kernels, precision) if stored else _unstored(shape, on)
    return StepTimes(
        {
            "matmul": _matmul(flop, again, is_frozen=has_frozen_weights) / product_rate(on, precision),
            "attention.products": _attention(flop["scores"], on, precision, scores_again, stored=stored),
            "attention.scores": scores * (1 + scores_again),
            "memory_bound": _moved(shape, on, kernels, precision, again),
        }
    )


def _matmul(flop: Mapping[str, float], again: float, *, is_frozen: bool) -> float:
    """FLOP of products with weights: forward, the gradients of what went in, and of the weights unless frozen."""
    passes = 1 - _FORWARD_FRACTION if is_frozen else 1.0
    blocks = flop["projections"] + flop["ffn"] + flop["router"]
    return blocks * (passes + again) + flop["logits"] * passes


def _bits(precision: str) -> int:
    """How wide what flows between products is: 16 bits beside anything narrower."""
    return _FULL if number_format(precision) in ("fp32", "tf32") else _HALF


def product_rate(gpu: tables.Gpu, precision: str) -> float:
    """FLOP per second of matrix products: the format's dense peak, times the share of it that a benchmark reached.

    That share is of the GPU's own 16-bit products, or the median of its maker's other GPUs where nobody measured them.
    """
    return format_limit(gpu, precision) * _reached_fraction(gpu)


def _reached_fraction(gpu: tables.Gpu) -> float:
    """The share of the dense 16-bit peak that a benchmark of products reached, on it or on its maker's others."""
    measured = {
        one.name: (one.vendor, one.matmul_flop_per_s / one.half_precision_flop_per_s)
        for one in tables.gpus().values()
        if one.matmul_flop_per_s
    }
    if gpu.name in measured:
        return measured[gpu.name][1]
    of_maker = [share for vendor, share in measured.values() if vendor == gpu.vendor]
    return statistics.median(of_maker or [share for _, share in measured.values()])


def _attention(flop: float, gpu: tables.Gpu, precision: str, again: float, *, stored: bool) -> float:
    """Products of queries, keys, scores and values; unstored scores are made again, and only below the diagonal."""
    if stored:
        return flop * (1 + again) / product_rate(gpu, precision if _bits(precision) == _FULL else "bf16-mixed")
    peak = gpu.half_precision_flop_per_s
    return flop * _CAUSAL_FRACTION * (_FLASH_FLOP_RATIO + again) / (peak * constant("flash_fraction"))


def _stored(shape: Architecture, gpu: tables.Gpu, seq_len: int, kernels: str, precision: str) -> float:
    per_score = _traffic(kernels, _bits(precision), "score")
    return shape.n_layers * shape.n_heads * seq_len * per_score / bandwidth(gpu)


def _unstored(shape: Architecture, gpu: tables.Gpu) -> float:
    """What FlashAttention moves instead of scores: queries, keys, values, outputs and their gradients.

    Half of them are as wide as the heads of queries, half as those of keys and values.
    """
    width = (shape.n_heads + shape.n_kv_heads) / 2 * shape.head_dim
    return shape.n_layers * width * _traffic("flash", _HALF, "head") / bandwidth(gpu)


def _moved(shape: Architecture, gpu: tables.Gpu, kernels: str, precision: str, again: float) -> float:
    """Norms, residuals, heads moved, activations, the loss: what does little with much data."""
    bits, n_experts = _bits(precision), max(shape.n_experts_per_token, 1)
    width = (n_experts * shape.ffn + shape.shared_expert_ffn) * (_GATED_RATIO if FAMILIES[shape.family].gated else 1.0)
    per_layer = shape.hidden * _traffic(kernels, bits, "hidden") + width * _traffic(kernels, bits, "ffn")
    if number_format(precision) == "fp8":
        per_layer += shape.hidden * _traffic("fp8", bits, "hidden") + width * _traffic("fp8", bits, "ffn")
    blocks = shape.n_layers * per_layer * (1 + again)
    return (blocks + shape.vocab * _traffic(kernels, bits, "logit")) / bandwidth(gpu)


def bandwidth(gpu: tables.Gpu) -> float:
    """Bytes per second that kernels which only move data reach."""
    return gpu.bandwidth_bytes_per_s * constant("bandwidth_fraction")


def optimizer_s(*, n_params: float, gpu: tables.Gpu | str, step: str) -> float:
    """Seconds of one optimizer step on the weights that one GPU updates, by how it is done.

    `step` is "foreach" (PyTorch's default), "fused-adamw" or "adamw-8bit".

    >>> round(optimizer_s(n_params=3e9, gpu="A100-SXM4-80GB", step="foreach"), 3)
    0.145
    """
    require_positive(n_params, "n_params", "parameters")
    on = tables.gpu(gpu)
    return n_params * _traffic(step, _FULL, "parameter") / bandwidth(on)


def exchange_s(
    *, n_bytes: float, n_gpus: int, gpus_per_node: int, node_bytes_per_s: float, gpu: tables.Gpu | str
) -> float:
    """Seconds in which a gradient of so many bytes is summed over all GPUs, less what the computation hides.

    A ring moves 2 (n - 1) / n of the bytes: over the links between GPUs within a node, and between the nodes over the
    network, where all GPUs of a node share it.

    >>> one = exchange_s(n_bytes=12e9, n_gpus=8, gpus_per_node=8, node_bytes_per_s=50e9, gpu="A100-SXM4-80GB")
    >>> four = exchange_s(n_bytes=12e9, n_gpus=32, gpus_per_node=8, node_bytes_per_s=50e9, gpu="A100-SXM4-80GB")
    >>> round(one, 3), round(four, 3)
    (0.035, 0.215)
    """
    require_not_negative(n_bytes, "n_bytes", "bytes")
    require_whole(n_gpus, "n_gpus", "GPUs")
    require_whole(gpus_per_node, "gpus_per_node", "GPUs")
    require_positive(node_bytes_per_s, "node_bytes_per_s", "bytes per second")
    on = tables.gpu(gpu)
    within, nodes = min(n_gpus, gpus_per_node), math.ceil(n_gpus / gpus_per_node)
    link = on.interconnect_bytes_per_s / 2 if on.interconnect_bytes_per_s else node_bytes_per_s
    inside = 2 * (within - 1) / within * n_bytes / link
    between = 2 * (nodes - 1) / nodes * n_bytes / node_bytes_per_s
    return (inside + between) * constant("exposed_fraction")


@functools.cache
def _traffic(kernels: str, bits: int, tensor: str) -> float:
    found = {
        row["kernels"]: float(row["bytes_per_element"])
        for row in tables.rows("kernel_traffic.csv")
        if (row["bits"], row["tensor"]) == (str(bits), tensor)
    }
    return tables.lookup("kernel traffic", kernels, found)


@functools.cache
def constant(name: str) -> float:
    """One of the constants of a step, by its name in `step_constants.csv`."""
    return float({row["name"]: row for row in tables.rows("step_constants.csv")}[name]["value"])
