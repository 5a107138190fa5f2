"""What may a run's MFU depend on? Mechanisms, each with one term: its chip, size and scale, attention, number format.

- A faster chip waits more for its memory and its network; small models on many GPUs wait most, from 70B on size helps
  no more; on one node nothing crosses the network.
- Attention is work that 6ND does not count; a number format speeds up the matrix products alone, which take at most all
  of the time.
- A chip without published runs stands between A100 and H100 by its arithmetic per byte of memory traffic.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import architectures, tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.training.formats import format_limit
from costkit.units import BILLION

Array = npt.NDArray[np.float64]

CHIPS = ("Ampere sm_80", "Hopper sm_90")
"""The chips with published runs of many families, the slower one first, as `Gpu.architecture` names them."""
_REFERENCE = ("A100-SXM4-80GB", "H100-SXM5-80GB")
_TYPICAL_PARAMS, _LARGE_PARAMS = 10 * BILLION, 70 * BILLION
_SMALLEST_SHAPE, _LARGEST_SHAPE = BILLION / 100, 300 * BILLION


@dataclass(frozen=True, eq=False)
class Case:
    """A run as the regression sees it: what its MFU may depend on."""

    gpu: tables.Gpu
    n_params: float
    n_gpus: float
    seq_len: float
    precision: str

    @property
    def features(self) -> Array:
        """Level and slope by size for each of the two chips, and the share of traffic that stays on one node."""
        t = place(self.gpu)
        on_node = min(1.0, tables.GPUS_PER_NODE / self.n_gpus)
        size = math.log(min(self.n_params, _LARGE_PARAMS) / _TYPICAL_PARAMS) * (1 - on_node)
        return np.array([1 - t, t, (1 - t) * size, t * size, on_node])

    @property
    def chip(self) -> str:
        """The chip, where it is one of `CHIPS`; else empty."""
        return self.gpu.architecture if self.gpu.architecture in CHIPS else ""

    def hardware_mfu(self, mfu: float) -> float:
        """A 6ND MFU of the run's own number format as one in 16 bits with attention counted."""
        counted = mfu * attention_ratio(self.n_params, self.seq_len)
        return 1 / (1 / counted - format_time(self.gpu, self.precision))

    def model_mfu(self, mfu: float) -> float:
        """The way back from `hardware_mfu`; products that take all of the time at their own best rate bound it."""
        at_most = min(mfu, large_product_fraction(self.gpu))
        counted = 1 / (1 / at_most + format_time(self.gpu, self.precision))
        return counted / attention_ratio(self.n_params, self.seq_len)


def attention_ratio(n_params: float, seq_len: float, *, causal: bool = False) -> float:
    """What the FLOP of a plausible shape of that size, attention counted, are of 6N.

    All scores are counted though half of them are masked, as papers do, unless `causal`: kernels that skip the masked
    half run at about half the rate of matrix products.

    >>> round(attention_ratio(8e9, 8192), 2), round(attention_ratio(405e9, 8192), 2)
    (1.29, 1.09)
    >>> round(attention_ratio(8e9, 8192, causal=True), 2)
    1.13
    """
    shape = architectures.of_size(min(max(n_params, _SMALLEST_SHAPE), _LARGEST_SHAPE))
    return shape.flop_per_token(seq_len, causal=causal) / (TRAINING_FLOP_PER_PARAM_TOKEN * shape.n_params)


@functools.lru_cache(maxsize=256)
def format_time(gpu: tables.Gpu, precision: str) -> float:
    """What products in that format take more than in 16 bits (less where negative), per FLOP at the 16-bit peak.

    t = (P_16 / P - 1) / e, with e the share of the 16-bit peak that a large product reaches; the rest of a step does
    not depend on the format. At most e itself goes in, so what comes out is at most e P / P_16.
    """
    return (gpu.half_precision_flop_per_s / format_limit(gpu, precision) - 1) / large_product_fraction(gpu)


def large_product_fraction(gpu: tables.Gpu) -> float:
    """The share of its 16-bit peak that a large matrix product reaches: as measured, else the median of other GPUs.

    >>> round(large_product_fraction(tables.gpu("A100-SXM4-80GB")), 2)
    0.87
    """
    measured = gpu.matmul_flop_per_s
    return _usual_product_fraction() if measured is None else measured / gpu.half_precision_flop_per_s


@functools.cache
def _usual_product_fraction() -> float:
    measured = [
        gpu.matmul_flop_per_s / gpu.half_precision_flop_per_s for gpu in tables.gpus().values() if gpu.matmul_flop_per_s
    ]
    return float(np.median(measured))


def place(gpu: tables.Gpu) -> float:
    """0 for an A100, 1 for an H100, between for other chips by their FLOP per byte of memory traffic."""
    if gpu.architecture in CHIPS:
        return float(CHIPS.index(gpu.architecture))
    low, high = (_balance(tables.gpu(name)) for name in _REFERENCE)
    return min(max(math.log(_balance(gpu) / low) / math.log(high / low), 0.0), 1.0)


def _balance(gpu: tables.Gpu) -> float:
    return gpu.half_precision_flop_per_s / gpu.bandwidth_bytes_per_s
