"""What fits? The largest micro-batch and a map of micro-batch against sequence length.

- For a given sequence length every moment of a step needs a fixed amount and one for each sequence of the micro-batch,
  so the largest micro-batch follows from each moment's two numbers.
- "Fits" means that even the upper end of what the device would hold is within what the GPU lets a framework use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costkit.architectures import Architecture
from costkit.memory import bands, moments, pools
from costkit.memory.budgets import DOES_NOT_FIT, FITS, UNCERTAIN, live_bytes, most, pools_bytes
from costkit.memory.requests import LARGEST_MICRO_BATCH, Request, gpu_of, request_of
from costkit.tables import Gpu
from costkit.units import Range

_ROUNDING = 1e-9
_VERDICTS = (FITS, UNCERTAIN, DOES_NOT_FIT)


def largest_micro_batch(architecture: Architecture | str, *, gpu: Gpu | str, seq_len: int, **how: Any) -> int:
    """The largest micro-batch that fits, 0 where not even one sequence does.

    Takes the same keywords as `budget`.

    >>> from costkit.architectures import named
    >>> largest_micro_batch(named("llama-3.2-1b"), gpu="A100-SXM4-80GB", seq_len=2048)
    6
    """
    card, request = gpu_of(gpu), request_of(architecture, how)
    request.check_gpu(card)
    request.check_batch(micro_batch=1, seq_len=seq_len)
    allowed = card.usable_bytes - _around_bytes(request).high
    one, two = (_needs(request, micro_batch=n, seq_len=seq_len) for n in (1.0, 2.0))
    largest = float(LARGEST_MICRO_BATCH)
    for first, second in zip(one, two, strict=True):
        each = second - first
        if first > allowed:
            return 0
        if each > 0:
            largest = min(largest, 1 + (allowed - first) / each)
    return math.floor(largest + _ROUNDING)


def _around_bytes(request: Request) -> Range:
    return bands.around_bytes(request.sharding.n_communicators, calibration=request.calibration)


def _needs(request: Request, *, micro_batch: float, seq_len: int) -> list[float]:
    """The upper ends of what each moment of each stage allocates and reserves, experts at their most uneven."""
    uneven = bands.overheads("imbalance")["experts"].high if request.architecture.n_experts else 1.0
    allocated, reserved = request.band("allocated").high, request.band("reserved").high
    return [
        value
        for setting in request.settings(micro_batch=micro_batch, seq_len=seq_len, imbalance=uneven, fullest=True)
        for moment in moments.moments(setting)
        for value in (
            float(moment.live_bytes) * allocated,
            float(moment.live_bytes + pools.beside_bytes(setting, moment.phase)) * reserved,
        )
    ]


@dataclass(frozen=True)
class FitMap:
    """What fits: an array of bytes with a row for each micro-batch and a column for each sequence length.

    `verdicts` holds 0, 1 and 2 for fits, uncertain and does not fit; `device_bytes` is the middle estimate.
    """

    micro_batches: npt.NDArray[np.int64]
    seq_lens: npt.NDArray[np.int64]
    device_bytes: npt.NDArray[np.float64]
    verdicts: npt.NDArray[np.int64]

    def verdict(self, micro_batch: int, seq_len: int) -> str:
        """The verdict in words at one of the map's points."""
        row = _place("micro_batch", micro_batch, self.micro_batches)
        column = _place("seq_len", seq_len, self.seq_lens)
        return _VERDICTS[self.verdicts[row, column]]


def _place(name: str, value: int, among: npt.NDArray[np.int64]) -> int:
    found = np.flatnonzero(among == value)
    if not len(found):
        raise ValueError(f"{name} {value} is not on the map; it has {', '.join(map(str, among.tolist()))}")
    return int(found[0])


def fit_map(
    architecture: Architecture | str,
    *,
    gpu: Gpu | str,
    micro_batches: Sequence[int] | npt.NDArray[np.int64],
    seq_lens: Sequence[int] | npt.NDArray[np.int64],
    **how: Any,
) -> FitMap:
    """Verdicts for every micro-batch with every sequence length, all at once.

    >>> from costkit.architectures import named
    >>> found = fit_map(named("gpt2"), gpu="T4", micro_batches=[1, 64], seq_lens=[512, 1024], precision="fp16-mixed")
    >>> found.verdict(1, 512), found.verdict(64, 1024)
    ('fits', 'does not fit')
    """
    card, request = gpu_of(gpu), request_of(architecture, how)
    request.check_gpu(card)
    for name, listed in (("micro_batches", micro_batches), ("seq_lens", seq_lens)):
        if not np.ndim(listed):
            raise ValueError(f"{name} is {listed!r}; a map needs a list of them")
        if not len(listed):
            raise ValueError(f"{name} is empty; a map needs at least one")
    for micro_batch in micro_batches:
        request.check_batch(micro_batch=micro_batch, seq_len=seq_lens[0])
    for seq_len in seq_lens:
        request.check_batch(micro_batch=micro_batches[0], seq_len=seq_len)
    batches, lengths = np.asarray(micro_batches, float)[:, None], np.asarray(seq_lens, float)[None, :]
    around, even = _around_bytes(request), _swept(request, batches, lengths, 1.0)
    mid, high = even, even
    if request.architecture.n_experts:
        uneven = bands.overheads("imbalance")["experts"]
        mid, high = (_swept(request, batches, lengths, share) for share in (uneven.mid, uneven.high))
    is_over = even["allocated"] * request.band("allocated").low + around.low > card.usable_bytes
    is_in = _held(request, high, "high") + around.high <= card.usable_bytes
    return FitMap(
        micro_batches=np.asarray(micro_batches),
        seq_lens=np.asarray(seq_lens),
        device_bytes=_held(request, mid, "mid") + around.mid,
        verdicts=np.where(is_in, 0, np.where(is_over, 2, 1)),
    )


def _swept(request: Request, batches: Any, lengths: Any, imbalance: float) -> dict[str, npt.NDArray[np.float64]]:
    """The most that any stage allocates and reserves for each point, before the bands."""
    settings = list(request.settings(micro_batch=batches, seq_len=lengths, imbalance=imbalance, fullest=True))
    lives = [live_bytes(one) for one in settings]
    held = (pools_bytes(one, live=live) for one, live in zip(settings, lives, strict=True))
    return {
        "allocated": np.asarray(most(*(most(*live.values()) for live in lives))),
        "reserved": np.asarray(most(*held)),
    }


def _held(request: Request, swept: dict[str, npt.NDArray[np.float64]], bound: str) -> npt.NDArray[np.float64]:
    """One end of the band of what is reserved, which is never less than that of what is allocated."""
    ends = [swept[kind] * getattr(request.band(kind), bound) for kind in ("allocated", "reserved")]
    return np.asarray(np.maximum(*ends))
