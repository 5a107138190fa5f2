"""What does one run of your own tell? A measured peak moves the estimate to your stack and narrows its band.

- The ratio of measured to estimated carries over to other micro-batches, sequence lengths and settings of the same
  model on the same stack. How well it does is taken from the scores: the spread of that ratio among the runs of one
  model.
- Nothing else is learned: a calibrated estimate of another model or stack is a guess.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass

from costkit.memory import bands
from costkit.memory.bands import Calibration
from costkit.memory.budgets import Budget
from costkit.units import gib

_STATS = {"allocated_bytes.all.peak": "allocated", "reserved_bytes.all.peak": "reserved"}
_ORDER = ("allocated", "reserved", "device")
_LEAST, _MOST = 0.2, 5.0
"""Ratios beyond which a measurement is of something else, or in another unit."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Peaks of a run of one's own, in bytes; None where one was not read."""

    allocated: float | None = None
    reserved: float | None = None
    device: float | None = None


def calibrate(
    found: Budget,
    *,
    stats: Mapping[str, float] | None = None,
    allocated_bytes: float | None = None,
    reserved_bytes: float | None = None,
    device_bytes: float | None = None,
) -> Calibration:
    """What a run of the budget's own settings says of the estimate.

    Args:
        found: The budget of the run that was measured.
        stats: What `torch.cuda.memory_stats()` returned after some steps.
        allocated_bytes: A single peak, `torch.cuda.max_memory_allocated()`.
        reserved_bytes: The same of `torch.cuda.max_memory_reserved()`.
        device_bytes: What nvidia-smi showed.

    Raises:
        ValueError: Nothing was measured, or a value is so far off that its unit or its run must be another.

    >>> from costkit.architectures import named
    >>> from costkit.memory.budgets import budget
    >>> run = budget(named("gpt2"), micro_batch=8, seq_len=1024)
    >>> calibration = calibrate(run, allocated_bytes=1.02 * run.peak_bytes)
    >>> f"{run.calibrated(calibration).allocated_bytes.mid / run.peak_bytes:.2f}"
    '1.02'
    """
    given = {"allocated": allocated_bytes, "reserved": reserved_bytes, "device": device_bytes}
    for key, kind in _STATS.items():
        if stats is not None and key in stats:
            given[kind] = stats[key]
    if all(value is None for value in given.values()):
        keys = " and ".join(map(repr, _STATS))
        raise ValueError(f"nothing was measured: give torch.cuda.memory_stats() with {keys}, or one peak in bytes")
    measured = Measured(**{kind: _checked(kind, value, found) for kind, value in given.items()})
    _check_order(measured)
    return _calibration(measured, found)


def _checked(kind: str, value: float | None, found: Budget) -> float | None:
    if value is None:
        return None
    estimate = {"allocated": found.allocated_bytes, "reserved": found.reserved_bytes, "device": found.device_bytes}[
        kind
    ]
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not _LEAST < value / estimate.mid < _MOST:
        shown = gib(value) if is_number else repr(value)
        raise ValueError(
            f"{kind}_bytes is {shown}, where {gib(estimate.mid)} are expected: it must be of a run with these settings"
        )
    return float(value)


def _check_order(measured: Measured) -> None:
    """Allocated is part of reserved, and reserved of what the device holds."""
    known = [(kind, value) for kind in _ORDER if (value := getattr(measured, kind)) is not None]
    for (inner, less), (outer, more) in itertools.pairwise(known):
        if less > more:
            raise ValueError(
                f"{inner}_bytes is {gib(less)}, more than {outer}_bytes, {gib(more)}, which it is part of:"
                " give peaks of one run"
            )


def _calibration(measured: Measured, found: Budget) -> Calibration:
    """Measured over the middle estimates; what nvidia-smi showed tells of reserved where nothing else does."""
    plain = found.calibrated(Calibration())
    reserved = measured.reserved
    if reserved is None and measured.device is not None:
        reserved = measured.device - bands.around_bytes(found.request.sharding.n_communicators).mid
    return Calibration(
        allocated=None if measured.allocated is None else measured.allocated / plain.allocated_bytes.mid,
        reserved=None if reserved is None else reserved / plain.reserved_bytes.mid,
        around_bytes=None if measured.device is None or reserved is None else measured.device - reserved,
    )
