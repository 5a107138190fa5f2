"""What MFU does a measurement say, and how much of a steady MFU do whole runs keep?

- A step time or tokens per second tell the steady MFU, while training goes on.
- Published pairs of a steady MFU and the hours of the whole run tell goodput as it happened: stops, restarts, slow
  weeks.
"""

from __future__ import annotations

import functools

from costkit import tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.training.learning import TAIL, mfu_of
from costkit.units import Range, number, percent, require_positive

_STEADY = "steady"


def measured_mfu(*, tokens_per_s_per_gpu: float, n_params: float, gpu: tables.Gpu | str) -> float:
    """The MFU of a measured rate: 6 N tokens/s over the dense 16-bit peak.

    Args:
        tokens_per_s_per_gpu: Tokens that one GPU trains on in a second.
        n_params: Parameters that a token passes through.
        gpu: The GPU or its name.

    Raises:
        ValueError: A number is not positive, or the rate is more than the GPU can do.

    >>> round(measured_mfu(tokens_per_s_per_gpu=840, n_params=13e9, gpu="A800-SXM4-80GB"), 2)
    0.21
    """
    require_positive(tokens_per_s_per_gpu, "tokens_per_s_per_gpu", "tokens per second and GPU")
    require_positive(n_params, "n_params", "parameters")
    device = tables.gpu(gpu) if isinstance(gpu, str) else gpu
    mfu = TRAINING_FLOP_PER_PARAM_TOKEN * n_params * tokens_per_s_per_gpu / device.half_precision_flop_per_s
    if mfu > 1:
        most = device.half_precision_flop_per_s / (TRAINING_FLOP_PER_PARAM_TOKEN * n_params)
        raise ValueError(
            f"{number(tokens_per_s_per_gpu)} tokens per second and GPU are {percent(mfu)} of the dense 16-bit peak of"
            f" {device.name}, which allows {number(most)}: are they those of all GPUs together?"
        )
    return mfu


@functools.cache
def published_goodput() -> Range:
    """The share of a steady MFU that whole runs kept: middle 80% and median of published pairs.

    >>> found = published_goodput()
    >>> 0.5 < found.low < found.mid < found.high <= 1
    True
    """
    import numpy as np

    kept = [mfu_of(run) / run.mfu for run in tables.published_runs() if _tells_goodput(run) and run.mfu]
    low, mid, high = np.quantile(np.minimum(kept, 1.0), [TAIL, 0.5, 1 - TAIL]).tolist()
    return Range(low, mid, high)


def _tells_goodput(run: tables.PublishedRun) -> bool:
    """Whether a run states a steady MFU of its own, and hours that were paid and nothing is odd about."""
    is_whole = run.hours_kind == "booked" and not run.anomaly
    return bool(is_whole and run.mfu_kind == _STEADY and run.gpu_hours and run.n_tokens and run.gpu)
