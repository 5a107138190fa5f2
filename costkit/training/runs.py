"""How long does a run take and what does it cost? FLOP to GPU-hours to dollars.

- Compute is 6ND: 6 FLOP per parameter and token, forward and backward, attention and recomputation not counted
  (Kaplan et al. 2020, section 2.1; Hoffmann et al. 2022, appendix F). With long sequences the true count is higher.
- MFU is FLOP per second and GPU over the GPU's dense 16-bit peak, whatever precision the run uses.
- Goodput is the share of the paid hours that ends up in the final model; restarts and idle nodes are the rest.
- A price is for one GPU and one hour. Storage, network, staff and failed attempts are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from costkit import tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.units import HOUR, Range, numbers, require_positive

Numbers = TypeVar("Numbers", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class Run:
    """What a training run takes: GPU-hours to pay for, wall-clock seconds, and US dollars."""

    gpu_hours: Range
    wall_s: Range
    usd: Range


def flop(*, n_params: Numbers, n_tokens: Numbers) -> Numbers:
    """Training compute C = 6 N D.

    Kaplan et al. 2020 (arXiv:2001.08361), section 2.1; Hoffmann et al. 2022 (arXiv:2203.15556), appendix F.

    >>> f"{flop(n_params=70e9, n_tokens=1.4e12):.2e}"
    '5.88e+23'
    """
    require_positive(n_params, "n_params", "parameters")
    require_positive(n_tokens, "n_tokens", "tokens")
    return n_params * n_tokens * TRAINING_FLOP_PER_PARAM_TOKEN


def run(
    *,
    flop: float,
    gpu: tables.Gpu | str,
    n_gpus: float,
    usd_per_gpu_hour: float,
    n_params: float | None = None,
    mfu: float | None = None,
    goodput_fraction: float | None = None,
) -> Run:
    """GPU-hours, wall-clock time and dollars of a run at a given MFU.

    gpu_hours = C / (MFU x peak x goodput) / 3600. `n_params` is not used while the MFU is given; `goodput_fraction`
    is 1 where it is left out. The three values of each range are equal, because an MFU that is given has no range.

    >>> case = run(flop=6 * 3e9 * 60e9, gpu="A100-SXM4-80GB", n_gpus=32, usd_per_gpu_hour=3.06, mfu=0.0696)
    >>> round(case.gpu_hours.mid), round(case.wall_s.mid / 86400, 1), round(case.usd.mid)
    (13815, 18.0, 42275)
    """
    del n_params
    require_positive(flop, "flop", "FLOP")
    require_positive(n_gpus, "n_gpus", "GPUs")
    require_positive(usd_per_gpu_hour, "usd_per_gpu_hour", "USD per GPU-hour")
    hours = flop / _flop_per_gpu_hour(gpu, mfu, 1.0 if goodput_fraction is None else goodput_fraction)
    return Run(_exact(hours), _exact(hours / n_gpus * HOUR), _exact(hours * usd_per_gpu_hour))


def budget_flop(
    *, usd: float, gpu: tables.Gpu | str, usd_per_gpu_hour: float, mfu: float, goodput_fraction: float = 1.0
) -> float:
    """The compute that a budget buys: the inverse of `run`.

    >>> f"{budget_flop(usd=42_275, gpu='A100-SXM4-80GB', usd_per_gpu_hour=3.06, mfu=0.0696):.3g}"
    '1.08e+21'
    """
    require_positive(usd, "usd", "USD")
    return usd / usd_per_flop(gpu=gpu, usd_per_gpu_hour=usd_per_gpu_hour, mfu=mfu, goodput_fraction=goodput_fraction)


def usd_per_flop(*, gpu: tables.Gpu | str, usd_per_gpu_hour: float, mfu: float, goodput_fraction: float = 1.0) -> float:
    """The price of one FLOP that ends up in the model.

    >>> f"{1e18 * usd_per_flop(gpu='H100-SXM5-80GB', usd_per_gpu_hour=2.5, mfu=0.4):.2f} USD per exaFLOP"
    '1.76 USD per exaFLOP'
    """
    require_positive(usd_per_gpu_hour, "usd_per_gpu_hour", "USD per GPU-hour")
    return usd_per_gpu_hour / _flop_per_gpu_hour(gpu, mfu, goodput_fraction)


def _flop_per_gpu_hour(gpu: tables.Gpu | str, mfu: float | None, goodput_fraction: float) -> float:
    """What one paid GPU-hour contributes to the model."""
    if mfu is None:
        raise ValueError("give mfu, the share of the dense 16-bit peak that the run reaches, e.g. 0.4")
    _check_fraction(mfu, "mfu")
    _check_fraction(goodput_fraction, "goodput_fraction")
    return mfu * goodput_fraction * _gpu(gpu).half_precision_flop_per_s * HOUR


def _gpu(gpu: tables.Gpu | str) -> tables.Gpu:
    return gpu if isinstance(gpu, tables.Gpu) else tables.gpu(gpu)


def _exact(value: float) -> Range:
    return Range(value, value, value)


def _check_fraction(value: Numbers, name: str) -> None:
    values = numbers(value)
    good = (values > 0) & (values <= 1)
    if not np.all(good):
        wrong = values[~good].flat[0]
        given = repr(value) if np.isnan(wrong) and values.ndim == 0 else f"{wrong:g}"
        hint = f": it looks like a percentage, write {wrong / 100:g}" if 2 <= wrong <= 100 else ""
        raise ValueError(f"{name} must be a fraction above 0 and at most 1, not {given}{hint}")
