"""What MFU does a measurement say?

- A step time or tokens per second tell the steady MFU, while training goes on.
"""

from __future__ import annotations

from costkit import tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.units import number, percent, require_positive


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
    device = tables.gpu(gpu)
    mfu = TRAINING_FLOP_PER_PARAM_TOKEN * n_params * tokens_per_s_per_gpu / device.half_precision_flop_per_s
    if mfu > 1:
        most = device.half_precision_flop_per_s / (TRAINING_FLOP_PER_PARAM_TOKEN * n_params)
        raise ValueError(
            f"{number(tokens_per_s_per_gpu)} tokens per second and GPU are {percent(mfu)} of the dense 16-bit peak of"
            f" {device.name}, which allows {number(most)}: are they those of all GPUs together?"
        )
    return mfu
