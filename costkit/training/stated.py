"""What do published figures of a run state? Its FLOP, its hours by each way to them, and the MFU that follows.

- Hours are stated, or follow from GPUs and days, or from a bill and a price; the most direct way counts.
- MFU is counted as 6ND against the dense 16-bit peak, whatever precision the run used.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from costkit import tables, units
from costkit.training.formats import format_limit
from costkit.units import DAY, HOUR, require_positive, usd, usd_rate

STATED, CALENDAR, BILL = "stated", "calendar", "bill"
HOURS_TOLERANCE, LARGEST_ROUNDING = 0.02, 0.10
FLOP_OVERCOUNT = {"decoder": 1.0, "encoder": 1.0, "encoder-decoder": 2.0}
"""How many times the FLOP that a kind of model takes are counted by 6ND: half its weights see half the tokens."""


@dataclass(frozen=True)
class Way:
    """One way to the GPU-hours of a run; `tolerance` is how far it may lie from another without a contradiction."""

    name: str
    text: str
    gpu_hours: float
    tolerance: float = HOURS_TOLERANCE


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The figures of a run as they are published, before any is doubted; what isn't published is None."""

    gpu: tables.Gpu
    flop: float
    ways: tuple[Way, ...]
    n_params: float | None = None
    n_tokens: float | None = None
    usd: float | None = None
    usd_per_gpu_hour: float | None = None
    gpus_per_node: int = tables.GPUS_PER_NODE
    mfu_published: float | None = None
    seq_len: float | None = None
    kind: str = "decoder"
    pretrained: bool = False
    precision: str = "bf16"

    @property
    def gpu_hours(self) -> float:
        """The GPU-hours by the most direct way."""
        return self.ways[0].gpu_hours

    @property
    def flop_per_s(self) -> float:
        """What one GPU does in a paid second."""
        return self.flop / (self.gpu_hours * HOUR)

    @property
    def mfu(self) -> float:
        """That rate over the dense 16-bit peak."""
        return self.flop_per_s / self.gpu.half_precision_flop_per_s

    @property
    def bounded_mfu(self) -> float:
        """The share of the peak of its own precision that the run takes: what a bound may be held to."""
        return self.share_of_peak(self.precision)

    def share_of_peak(self, precision: str) -> float:
        """The share of a precision's dense peak that the run takes, less what 6ND counts too much."""
        return self.flop_per_s / format_limit(self.gpu, precision) / FLOP_OVERCOUNT[self.kind]

    @property
    def paid_usd_per_gpu_hour(self) -> float | None:
        """The bill over the hours."""
        return None if self.usd is None else self.usd / self.gpu_hours


def ways(
    *,
    gpu_hours: float | None,
    n_gpus: float | None,
    days: float | None,
    usd_paid: float | None,
    usd_per_gpu_hour: float | None,
) -> tuple[Way, ...]:
    """Every way to the GPU-hours that the figures open, the most direct first.

    >>> [way.gpu_hours for way in ways(gpu_hours=None, n_gpus=8, days=2, usd_paid=800, usd_per_gpu_hour=2)]
    [384.0, 400.0]
    """
    found = []
    if gpu_hours is not None:
        require_positive(gpu_hours, "gpu_hours", "GPU-hours")
        found.append(Way(STATED, f"the stated {units.gpu_hours(gpu_hours)} GPU-hours", gpu_hours))
    if n_gpus is not None and days is not None:
        product = n_gpus * days * DAY / HOUR
        text = f"the {units.gpu_hours(product)} GPU-hours of {n_gpus:,g} GPUs for {days:g} days"
        found.append(Way(CALENDAR, text, product))
    if usd_paid is not None and usd_per_gpu_hour is not None:
        bought = usd_paid / usd_per_gpu_hour
        text = f"the {units.gpu_hours(bought)} GPU-hours that {usd(usd_paid)} buy at {usd_rate(usd_per_gpu_hour)}"
        found.append(Way(BILL, text, bought, max(HOURS_TOLERANCE, min(LARGEST_ROUNDING, _rounding(usd_paid)))))
    if not found:
        raise ValueError("There are no hours: give gpu_hours, or n_gpus and days, or usd and usd_per_gpu_hour.")
    return tuple(found)


def _rounding(value: float) -> float:
    """Half a unit of the last digit that isn't 0, as a share of the value: bills are printed in round dollars."""
    exponent = Decimal(str(float(value))).normalize().as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent) / value
