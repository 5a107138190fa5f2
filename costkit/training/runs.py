"""How long does a run take and what does it cost? FLOP to GPU-hours to dollars.

- Compute is 6ND: 6 FLOP per parameter and token, forward and backward, attention and recomputation not counted
  (Kaplan et al. 2020, section 2.1; Hoffmann et al. 2022, appendix F). With long sequences the true count is higher.
- MFU is FLOP per second and GPU over the GPU's dense 16-bit peak, whatever precision the run uses.
- Goodput is the share of the paid hours that ends up in the final model; restarts and idle nodes are the rest.
- A price is for one GPU and one hour. Storage, network, staff and failed attempts are not in it.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from costkit import tables
from costkit.scaling import TRAINING_FLOP_PER_PARAM_TOKEN
from costkit.training.accounts import published_goodput
from costkit.training.efficiency import efficiency
from costkit.units import HOUR, Range, numbers, require_positive

Numbers = TypeVar("Numbers", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class Run:
    """What a training run takes: GPU-hours to pay for, wall-clock seconds, and US dollars.

    `mfu` is that of the whole run, over all paid hours; its `low` is what the `high` of the others comes from.
    """

    gpu_hours: Range
    wall_s: Range
    usd: Range
    mfu: Range

    def at_mfu_times(self, factor: float) -> Run:
        """The same run at an MFU that is so many times as high, at most the peak.

        >>> twice = run(flop=1e21, gpu="A100-SXM4-80GB", n_gpus=8, usd_per_gpu_hour=2, mfu=0.2).at_mfu_times(2.0)
        >>> twice == run(flop=1e21, gpu="A100-SXM4-80GB", n_gpus=8, usd_per_gpu_hour=2, mfu=0.4)
        True
        """
        factor = min(factor, 1 / self.mfu.high)
        less = 1 / factor
        return Run(self.gpu_hours.times(less), self.wall_s.times(less), self.usd.times(less), self.mfu.times(factor))

    def waiting_ratio(self, n_gpus: float) -> float:
        """Its time over that of its paid hours on so many GPUs: above 1 where it waits for machines; 1 without an end.

        >>> run(flop=1e21, gpu="A100-SXM4-80GB", n_gpus=8, usd_per_gpu_hour=2, mfu=0.2).waiting_ratio(8)
        1.0
        """
        ratio = self.wall_s.mid * n_gpus / (self.gpu_hours.mid * HOUR)
        return ratio if math.isfinite(ratio) else 1.0


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
    mfu: float | Range | None = None,
    goodput_fraction: float | Range | None = None,
    seq_len: float | None = None,
    precision: str = "bf16-mixed",
    left_out: Collection[str] = (),
) -> Run:
    """GPU-hours, wall-clock time and dollars of a run, each low, mid and high.

    gpu_hours = C / (MFU x peak x goodput) / 3600. Without an MFU it is what published runs of this size, on this chip
    and at this scale came to over all their hours (`efficiency`), the ends their middle 80%.

    Args:
        flop: Compute, 6ND.
        gpu: The GPU or its name.
        n_gpus: GPUs that work at the same time.
        usd_per_gpu_hour: Price of one GPU for one hour.
        n_params: Parameters that a token passes through; needed, and used, only where `mfu` is left out.
        mfu: The steady MFU, as a fraction of the dense 16-bit peak; a number has no range.
        goodput_fraction: The share of the paid time in which that MFU is reached. Left out it is 1 beside an MFU;
            without one it is inside what published runs reached, and one that is given takes the place of theirs.
        seq_len: Tokens of a sequence, for a run without an MFU; left out, what is usual on that chip.
        precision: The number format of the matrix products, for a run without an MFU.
        left_out: Families of published runs not to learn from.

    Raises:
        ValueError: A number is not positive, a fraction is none, or neither `mfu` nor `n_params` is given.
        UnknownName: No such GPU or precision.

    >>> case = run(flop=6 * 3e9 * 60e9, gpu="A100-SXM4-80GB", n_gpus=32, usd_per_gpu_hour=3.06, mfu=0.0696)
    >>> round(case.gpu_hours.mid), round(case.wall_s.mid / 86400, 1), round(case.usd.mid)
    (13815, 18.0, 42275)
    >>> usual = run(flop=6 * 3e9 * 60e9, gpu="A100-SXM4-80GB", n_gpus=32, usd_per_gpu_hour=3.06, n_params=3e9)
    >>> usual.usd.low < usual.usd.mid < usual.usd.high < case.usd.mid
    True
    """
    require_positive(flop, "flop", "FLOP")
    require_positive(n_gpus, "n_gpus", "GPUs")
    require_positive(usd_per_gpu_hour, "usd_per_gpu_hour", "USD per GPU-hour")
    if mfu is None:
        if n_params is None:
            raise ValueError(
                "give mfu, the share of the dense 16-bit peak that the run reaches, e.g. 0.4, or n_params, and it is"
                " what published runs of that size reached"
            )
        found = efficiency(
            gpu=gpu, n_params=n_params, n_gpus=n_gpus, seq_len=seq_len, precision=precision, left_out=left_out
        )
        reached = found.mfu if goodput_fraction is None else steady_mfu(found.mfu, left_out=left_out)
    else:
        reached = _fraction(mfu, "mfu")
    whole = reached.times(_fraction(1.0 if goodput_fraction is None else goodput_fraction, "goodput_fraction"))
    hours = whole.map(lambda one: flop / _flop_per_gpu_hour(gpu, one, 1.0))
    return Run(hours, hours.times(HOUR / n_gpus), hours.times(usd_per_gpu_hour), whole)


def _fraction(value: float | Range, name: str) -> Range:
    """A fraction above 0 and at most 1 as a range; a number has no width."""
    found = value if isinstance(value, Range) else Range.exact(value)
    for end in (found.low, found.mid, found.high):
        _check_fraction(end, name)
    return found


def steady_mfu(whole: Range, *, left_out: Collection[str] = ()) -> Range:
    """The steady MFU behind that of a whole run, if it kept as much of it as published runs did; at most 1."""
    kept = published_goodput(left_out=left_out).mid
    return whole.map(lambda end: min(end / kept, 1.0))


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


def _flop_per_gpu_hour(gpu: tables.Gpu | str, mfu: float, goodput_fraction: float) -> float:
    """What one paid GPU-hour contributes to the model."""
    _check_fraction(mfu, "mfu")
    _check_fraction(goodput_fraction, "goodput_fraction")
    return mfu * goodput_fraction * tables.gpu(gpu).half_precision_flop_per_s * HOUR


def _check_fraction(value: Numbers, name: str) -> None:
    values = numbers(value)
    good = (values > 0) & (values <= 1)
    if not np.all(good):
        wrong = values[~good].flat[0]
        given = repr(value) if np.isnan(wrong) and values.ndim == 0 else f"{wrong:g}"
        hint = f": it looks like a percentage, write {wrong / 100:g}" if 2 <= wrong <= 100 else ""
        raise ValueError(f"{name} must be a fraction above 0 and at most 1, not {given}{hint}")
