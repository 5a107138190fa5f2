"""What does a GPU log say? The share of the time in which kernels ran, from what `nvidia-smi --format=csv` writes.

- utilization.gpu is the driver's counter: the share of its last sample period (1/6 s to 1 s, by product) in which any
  kernel ran (NVML API reference, nvmlUtilization_t). One busy multiprocessor counts like all of them, and so does a
  kernel that only waits for another GPU: it is neither MFU nor efficiency.
- A sample counts for the time since the one before it, except over a hole in the log. Logged every 5 s, it still
  shows only the last second of them.
- What may be in the file is said in `smi_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from costkit import reading, writing
from costkit.training.smi_rows import COMMAND, Floats, Samples, samples_of
from costkit.units import MIB, MINUTE, duration, percent

BUSY_FRACTION = 0.5
"""The run begins with the first sample that reaches this, and ends with the last."""

IDLE_FRACTION = 0.05
"""A sample below this is idle. A stall shorter than the sample period never shows as such, but lowers its value."""

_HOLE_INTERVALS, _SHORTEST_HOLE_S = 10, MINUTE
_UNEVEN_FRACTION = 0.1


@dataclass(frozen=True)
class GpuUse:
    """What one GPU did over the whole log; None where nothing is written down."""

    gpu: str
    n_samples: int
    busy_fraction: float
    idle_fraction: float
    mean_watts: float | None
    peak_used_bytes: float | None


@dataclass(frozen=True)
class SmiLog:
    """What a log says of its GPUs together.

    `busy_fraction` is the mean of utilization.gpu over GPUs and time: the share in which any kernel ran by the driver's
    counter, not MFU and not efficiency. `idle_fraction` is the share of samples below `IDLE_FRACTION`. These, the
    `mean_watts` of one GPU and the `peak_used_bytes` of the fullest are of the whole log, the last two None where
    nothing is written down.

    `stalled_fraction` is 1 - busy_fraction between the first and the last sample that reach `BUSY_FRACTION`, over the
    GPUs that are used at all; `trimmed_s` is the time outside, none where no sample reaches it. A pause between two
    runs of one log counts as stalled.

    `start` is what the machine's clock showed, without a zone; `duration_s` has holes in it, if there are any;
    `interval_s` is the median between samples.
    """

    name: str
    start: datetime
    duration_s: float
    interval_s: float
    busy_fraction: float
    idle_fraction: float
    stalled_fraction: float
    trimmed_s: float
    mean_watts: float | None
    peak_used_bytes: float | None
    gpus: tuple[GpuUse, ...]
    warnings: tuple[str, ...] = ()

    @property
    def n_gpus(self) -> int:
        """How many GPUs have samples."""
        return len(self.gpus)


def read_smi_log(path: str | Path) -> SmiLog:
    """Read what `nvidia-smi --query-gpu=timestamp,index,utilization.gpu,... --format=csv -l 1` wrote.

    Raises:
        ValueError: It is no such log, or holds what can't be in one; one sentence says where.
        OSError: It can't be read.
    """
    file = writing.expanded(path)
    if file.is_file() and file.stat().st_size > reading.MAX_BYTES:
        raise ValueError(
            f"'{file.name}' has more than {reading.MAX_BYTES / MIB:.0f} MiB; a part of the run tells as much: "
            "keep the header and 100,000 lines."
        )
    text = reading.text_of(path, of="a GPU log", kind="CSV file", more=f" that `{COMMAND}` writes")
    return _summary(file.name, samples_of(file.name, text))


def _summary(name: str, samples: Samples) -> SmiLog:
    times = samples.time_s
    gaps = np.where(np.diff(samples.gpu) == 0, np.diff(times), np.nan)
    if np.isnan(gaps).all():
        raise ValueError(f"'{name}' has one sample of each GPU; log for longer, with -l 1.")
    interval_s = float(np.nanmedian(gaps))
    is_hole = gaps > max(_HOLE_INTERVALS * interval_s, _SHORTEST_HOLE_S)
    weights = np.concatenate(([interval_s], np.where(is_hole | np.isnan(gaps), interval_s, gaps)))
    gpus = tuple(_use(samples, weights, part) for part in _parts(samples))
    first, last = _run(samples)
    stalled, told = _stalled(name, samples, weights, (first, last))
    peaks = [gpu.peak_used_bytes for gpu in gpus if gpu.peak_used_bytes is not None]
    return SmiLog(
        name=name,
        start=datetime.fromtimestamp(samples.start_s, tz=UTC).replace(tzinfo=None),
        duration_s=float(times.max()) + interval_s,
        interval_s=interval_s,
        busy_fraction=float(np.average(samples.busy_fraction, weights=weights)),
        idle_fraction=float(np.mean(samples.busy_fraction < IDLE_FRACTION)),
        stalled_fraction=stalled,
        trimmed_s=first + float(times.max()) - last,
        mean_watts=_mean(samples.watts, weights),
        peak_used_bytes=max(peaks, default=None),
        gpus=gpus,
        warnings=(*samples.warnings, *_holes(name, gaps[is_hole]), *told, *_uneven(name, gpus)),
    )


def _parts(samples: Samples) -> list[slice]:
    """Where each GPU's samples stand."""
    edges = np.searchsorted(samples.gpu, np.arange(len(samples.names) + 1)).tolist()
    return [slice(*pair) for pair in pairwise(edges)]


def _use(samples: Samples, weights: Floats, part: slice) -> GpuUse:
    busy, used_bytes = samples.busy_fraction[part], samples.used_bytes[part]
    return GpuUse(
        gpu=samples.names[samples.gpu[part.start]],
        n_samples=busy.size,
        busy_fraction=float(np.average(busy, weights=weights[part])),
        idle_fraction=float(np.mean(busy < IDLE_FRACTION)),
        mean_watts=_mean(samples.watts[part], weights[part]),
        peak_used_bytes=None if np.isnan(used_bytes).all() else float(np.nanmax(used_bytes)),
    )


def _mean(values: Floats, weights: Floats) -> float | None:
    """The weighted mean of what is known."""
    known = ~np.isnan(values)
    return float(np.average(values[known], weights=weights[known])) if known.any() else None


def _run(samples: Samples) -> tuple[float, float]:
    """The times of the first and the last busy sample; of the first and the last at all where none is busy."""
    busy = samples.time_s[samples.busy_fraction >= BUSY_FRACTION]
    within = busy if busy.size else samples.time_s
    return float(within.min()), float(within.max())


def _stalled(name: str, samples: Samples, weights: Floats, run: tuple[float, float]) -> tuple[float, list[str]]:
    """The share of the run in which no kernel ran on the GPUs that are used, and what that leaves in doubt."""
    told = []
    if samples.busy_fraction.max() < BUSY_FRACTION:
        told.append(f"'{name}': no sample reaches {percent(BUSY_FRACTION)}, so no start-up is left out.")
    peaks = np.array([samples.busy_fraction[part].max() for part in _parts(samples)])
    is_used = peaks >= min(IDLE_FRACTION, float(peaks.max()))
    if not is_used.all():
        unused = ", ".join(samples.names[i] for i in np.flatnonzero(~is_used)[:8])
        told.append(f"'{name}': nothing runs on GPU {unused}; no stall is counted there.")
    counts = is_used[samples.gpu] & (samples.time_s >= run[0]) & (samples.time_s <= run[1])
    busy = float(np.average(samples.busy_fraction[counts], weights=weights[counts]))
    return min(max(1 - busy, 0.0), 1.0), told


def _holes(name: str, gaps_s: Floats) -> list[str]:
    if not gaps_s.size:
        return []
    longest = duration(float(gaps_s.max()))
    return [f"'{name}': nothing is written down for up to {longest} at a time; that time does not count as stalled."]


def _uneven(name: str, gpus: tuple[GpuUse, ...]) -> list[str]:
    """A doubt about the mean, where one of the GPUs in use is far less busy than another."""
    used = sorted((gpu for gpu in gpus if gpu.busy_fraction >= IDLE_FRACTION), key=lambda gpu: gpu.busy_fraction)
    if len(used) < 2 or used[-1].busy_fraction - used[0].busy_fraction <= _UNEVEN_FRACTION:
        return []
    least, most = used[0], used[-1]
    told = (
        f"'{name}': GPU {least.gpu} is busy for {percent(least.busy_fraction)} of the time, GPU {most.gpu} for "
        f"{percent(most.busy_fraction)}; GPUs that wait for another inside communication count as busy, so the run may "
        "be held up for longer than the mean of its GPUs says."
    )
    return [told]
