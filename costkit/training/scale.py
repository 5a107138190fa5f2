"""What do more GPUs cost, and what do they save in time? Two taxes: of the hardware, and of the batch.

- The hardware tax is measured on models of up to 3B: what throughput per GPU loses with each doubling of GPUs, the work
  of each unchanged.
- The batch tax: past one sequence a GPU, more GPUs need a larger batch, and a batch near the critical one needs more
  tokens for the same loss. Below that, the batch is divided among more GPUs at no loss, which is the best case.
- On one node there is no hardware tax.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from costkit import tables
from costkit.training.batches import tokens_factor
from costkit.training.runs import Run
from costkit.units import HOUR, Range, require_positive

_SAME = ("model", "seq_len", "gpu", "precision_printed", "micro_batch", "grad_accumulation", "source")


@dataclass(frozen=True)
class Scaled:
    """A run on another number of GPUs: its efficiency against the reference, the tokens it needs, time and dollars."""

    n_gpus: int
    efficiency_fraction: float
    batch_tokens: float
    tokens_ratio: float
    gpu_hours: Range
    wall_s: Range
    usd: Range


@functools.cache
def weak_scaling() -> Range:
    """The share of throughput per GPU that is left after a doubling of GPUs: 10th percentile, median, 90th.

    Seven lines of ln tokens/s/GPU in log2 GPUs, by least squares, each over rows of one model, GPU, format, micro-batch
    and accumulation, without recomputation: the work of each GPU is the same. All are llm-foundry's benchmarks of MPT
    with FSDP and 2,048 tokens: 125M, 350M and 1B to 128 A100s, 1B and 3B to 512 H100s. Larger models, other networks
    and more GPUs lie outside. One line rises, by a slow row at its start: the high end is cut at 1.

    >>> 0.95 < weak_scaling().low < weak_scaling().mid < weak_scaling().high <= 1
    True
    """
    kept = [math.exp(float(np.polyfit(x, y, 1)[0])) for x, y in equal_work()]
    low, mid, high = np.quantile(kept, [0.1, 0.5, 0.9]).tolist()
    return Range(low, mid, min(high, 1.0))


def equal_work() -> Iterator[tuple[list[float], list[float]]]:
    """log2 of GPUs and ln of tokens/s/GPU of benchmarks with the same work on each GPU, where there are several."""
    rows = [row for row in tables.rows("measured_throughput.csv") if row["checkpointing"] == "none"]
    kind = itemgetter(*_SAME)
    for _, same in groupby(sorted(rows, key=kind), kind):
        found = [(math.log2(int(row["n_gpus"])), math.log(float(row["tokens_per_s_per_gpu"]))) for row in same]
        x, y = map(list, zip(*found, strict=True))
        if len(set(x)) > 1:
            yield x, y


def scale_out(
    reference: Run,
    *,
    reference_n_gpus: int,
    n_gpus: Sequence[int],
    usd_per_gpu_hour: float,
    batch_tokens: float,
    least_tokens_per_gpu: float,
    critical_batch_tokens: float = math.inf,
) -> list[Scaled]:
    """The same run, to the same loss, on other numbers of GPUs.

    Args:
        reference: The run on the plan's GPUs.
        reference_n_gpus: How many these are.
        n_gpus: The numbers to try.
        usd_per_gpu_hour: Price of one GPU for one hour.
        batch_tokens: Tokens of one optimizer step on the reference.
        least_tokens_per_gpu: The fewest tokens that a GPU can take in a step: one sequence, over those that share it.
        critical_batch_tokens: The batch at which a run needs twice the tokens; inf: any batch is as good.

    Raises:
        ValueError: A number is not positive.

    >>> from costkit.training.runs import run
    >>> eight = run(flop=1e20, gpu="A100-SXM4-80GB", n_gpus=8, usd_per_gpu_hour=2, mfu=0.4)
    >>> about = {"usd_per_gpu_hour": 2, "batch_tokens": 5e5, "least_tokens_per_gpu": 2048}
    >>> same, more = scale_out(eight, reference_n_gpus=8, n_gpus=[8, 64], **about)
    >>> same.usd == eight.usd, more.wall_s.mid < eight.wall_s.mid / 7, more.usd.mid > eight.usd.mid
    (True, True, True)
    """
    require_positive(reference_n_gpus, "reference_n_gpus", "GPUs")
    require_positive(usd_per_gpu_hour, "usd_per_gpu_hour", "USD per GPU-hour")
    require_positive(batch_tokens, "batch_tokens", "tokens")
    require_positive(least_tokens_per_gpu, "least_tokens_per_gpu", "tokens")
    asked = _Asked(
        reference, reference_n_gpus, usd_per_gpu_hour, batch_tokens, least_tokens_per_gpu, critical_batch_tokens
    )
    return [_scaled(asked, count) for count in n_gpus]


@dataclass(frozen=True)
class _Asked:
    reference: Run
    n_gpus: int
    usd_per_gpu_hour: float
    batch_tokens: float
    least_tokens_per_gpu: float
    critical_batch_tokens: float


def _scaled(asked: _Asked, n_gpus: int) -> Scaled:
    require_positive(n_gpus, "n_gpus", "GPUs")
    doublings = math.log2(max(n_gpus, tables.GPUS_PER_NODE) / max(asked.n_gpus, tables.GPUS_PER_NODE))
    left = weak_scaling().map(lambda end: float(end**doublings))
    batch = max(asked.batch_tokens, n_gpus * asked.least_tokens_per_gpu)
    more = _tokens(asked, batch) / _tokens(asked, asked.batch_tokens)
    hours = asked.reference.gpu_hours.times(left.map(lambda kept: more / kept))
    wall_s = hours.times(asked.reference.waiting_ratio(asked.n_gpus) * HOUR / n_gpus)
    return Scaled(n_gpus, left.mid, batch, more, hours, wall_s, hours.times(asked.usd_per_gpu_hour))


def _tokens(asked: _Asked, batch: float) -> float:
    if math.isinf(asked.critical_batch_tokens):
        return 1.0
    return float(tokens_factor(batch_tokens=batch, critical_batch_tokens=asked.critical_batch_tokens))


def cheapest_by(points: Sequence[Scaled], *, deadline_s: float) -> Scaled | None:
    """The cheapest point that is done in time even at the upper end of its range; None where none is.

    >>> cheapest_by([], deadline_s=3600.0) is None
    True
    """
    in_time = [point for point in points if point.wall_s.high <= deadline_s]
    return min(in_time, key=lambda one: one.usd.mid, default=None)
