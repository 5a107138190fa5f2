"""On which GPU? The same run on each of them: hours, days and dollars, from published runs and current quotes.

- Each GPU gets the same number of devices, the price in the middle of its newest quotes, and the MFU that runs reached
  on its chip; a chip without published runs gets that of its arithmetic per byte of memory traffic, and a wide band.
- Beside it stands what a tuned benchmark reaches, which whole runs fall short of.
- Whether the model fits there is `memory`'s to say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from costkit import tables
from costkit.training.efficiency import Efficiency, efficiency
from costkit.training.formats import has_format
from costkit.training.prices import quoted
from costkit.training.runs import Run, run
from costkit.units import Range

_FAR_SIZE, _SAME_SIZE, _LONGEST = 10.0, 0.1, 8192


@dataclass(frozen=True)
class OnGpu:
    """The run on one kind of GPU.

    `usd_per_gpu_hour` spans the newest quotes; `run` is at the middle of them. `tuned` is the MFU of benchmarks of
    models of the nearest size on the same chip, None where there is none.
    """

    gpu: tables.Gpu
    usd_per_gpu_hour: Range
    efficiency: Efficiency
    run: Run
    tuned: Range | None


def compare(
    *,
    flop: float,
    n_params: float,
    n_gpus: int,
    seq_len: float | None = None,
    precision: str = "bf16-mixed",
    purchase: str = "on_demand",
    gpus: Iterable[str] | None = None,
    left_out: Collection[str] = (),
) -> list[OnGpu]:
    """The run on each GPU that someone quotes and that has the number format, the cheapest first.

    >>> found = compare(flop=6 * 8e9 * 1e12, n_params=8e9, n_gpus=256)
    >>> [one.run.usd.mid for one in found] == sorted(one.run.usd.mid for one in found)
    True
    """
    names = tables.gpus() if gpus is None else gpus
    found = []
    for name in names:
        gpu, price = tables.gpu(name), quoted(name, purchase=purchase)
        if price is None or not has_format(gpu, precision):
            continue
        about = efficiency(
            gpu=gpu, n_params=n_params, n_gpus=n_gpus, seq_len=seq_len, precision=precision, left_out=left_out
        )
        taken = run(flop=flop, gpu=gpu, n_gpus=n_gpus, usd_per_gpu_hour=price.mid, mfu=about.mfu)
        found.append(OnGpu(gpu, price, about, taken, tuned_mfu(gpu=gpu, n_params=n_params)))
    return sorted(found, key=lambda one: one.run.usd.mid)


@functools.lru_cache(maxsize=256)
def tuned_mfu(*, gpu: tables.Gpu, n_params: float) -> Range | None:
    """The lowest, middle and highest MFU of benchmarks of the nearest size on the same chip, of usual sequence lengths.

    None where no benchmark is on that chip, or none within a factor of 10 of the size.

    >>> found = tuned_mfu(gpu=tables.gpu("H100-SXM5-80GB"), n_params=8e9)
    >>> found is not None and 0.35 < found.mid < 0.5
    True
    """
    found = [(abs(math.log(size / n_params)), mfu) for chip, size, mfu in _benchmarks() if chip == gpu.architecture]
    nearest = min((distance for distance, _ in found), default=math.inf)
    if nearest > math.log(_FAR_SIZE):
        return None
    alike = [mfu for distance, mfu in found if distance <= nearest + _SAME_SIZE]
    return Range(min(alike), float(np.median(alike)), max(alike))


@functools.cache
def _benchmarks() -> tuple[tuple[str, float, float], ...]:
    """Chip, parameters and MFU of each benchmark, very long sequences left out."""
    return tuple(
        (tables.gpu(row["gpu"]).architecture, float(row["n_params"]), float(row["mfu"]))
        for row in tables.rows("measured_throughput.csv")
        if row["mfu"] and int(row["seq_len"]) <= _LONGEST
    )
