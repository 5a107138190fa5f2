"""What is run, and on what market? A job that saves its state, and machines that can be taken away."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from costkit.spot.billing import Billing
from costkit.spot.fleets import Fleet
from costkit.spot.lives import Law, law
from costkit.units import require_fraction, require_not_negative, require_positive

WAITS = ("exponential", "constant")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run and how it saves its state; all in seconds.

    Args:
        work_s: Failure-free computing time, without checkpoints.
        checkpoint_every_s: Computing time between two checkpoints; inf: none is ever written.
        checkpoint_write_s: How long the job stands still while one is written.
        restart_s: From a machine that runs to the first new step: loading and warming up. It is paid for, and the
            machines can be lost again meanwhile.

    The run is cut into segments of `checkpoint_every_s` that each end with a write, the last and shorter one too: its
    checkpoint is the model.
    """

    work_s: float
    checkpoint_every_s: float
    checkpoint_write_s: float
    restart_s: float

    def __post_init__(self) -> None:
        require_positive(self.work_s, "work_s", "seconds")
        if self.checkpoint_every_s != math.inf:
            require_positive(self.checkpoint_every_s, "checkpoint_every_s", "seconds, or inf for no checkpoints,")
        require_not_negative(self.checkpoint_write_s, "checkpoint_write_s", "seconds")
        require_not_negative(self.restart_s, "restart_s", "seconds")

    @property
    def has_checkpoints(self) -> bool:
        """Whether any are written."""
        return math.isfinite(self.checkpoint_every_s)

    @property
    def segment_s(self) -> float:
        """Computing and writing between two saved states; the whole run where nothing is saved."""
        return self.checkpoint_every_s + self.checkpoint_write_s if self.has_checkpoints else self.work_s

    @property
    def n_full_segments(self) -> int:
        """Segments of full length."""
        if not self.has_checkpoints:
            return 1
        return int(self.work_s / self.checkpoint_every_s * (1 + 1e-12))

    @property
    def last_segment_s(self) -> float:
        """Length of the shorter segment at the end; 0 where the interval divides the run."""
        rest_s = self.work_s - self.n_full_segments * self.checkpoint_every_s if self.has_checkpoints else 0.0
        return rest_s + self.checkpoint_write_s if rest_s > 1e-9 * self.work_s else 0.0

    @property
    def n_checkpoints(self) -> int:
        """How many are written and kept."""
        return self.n_full_segments + (self.last_segment_s > 0) if self.has_checkpoints else 0

    @property
    def ideal_s(self) -> float:
        """How long it takes if nothing is ever lost."""
        return self.n_full_segments * self.segment_s + self.last_segment_s

    def segments(self) -> Iterator[tuple[int, float]]:
        """(how many, how long) of the segments, in order."""
        for number, length_s in ((self.n_full_segments, self.segment_s), (1, self.last_segment_s)):
            if number and length_s:
                yield number, length_s


@dataclass(frozen=True, kw_only=True)
class Market:
    """Machines that can be taken away, as the whole job sees them: prices and mean life are those of all its machines.

    Args:
        mean_life_s: Mean time between two preemptions of the job; inf: never.
        spot_usd_per_hour: What all its machines cost an hour; with a history of prices, that of their mean.
        on_demand_usd_per_hour: What they would cost where nobody takes them away.
        capacity_wait_s: Mean wait for new machines after a loss, not worked in; paid only for nodes that are kept.
        notice_success: The share of preemptions whose notice is long enough to save everything.
        notice_s: Paid time that each preemption spends between its notice and the end.
        process: The law of the life times: "exponential", "weibull", "bathtub", or a law of `spot.weibull`,
            `spot.bathtub`, `spot.empirical` or `spot.joint`. It is a shape; `mean_life_s` is its scale.
        waits: "exponential" or "constant" waits for capacity.
        hardware_life_s: Mean time between two hardware failures of the job, on demand too; inf: none.
        provision_s: From a machine that is billed to one that runs the job; added to each restart.
        fleet: How many nodes, and what the job does when it loses some.
        billing: Credits, prices that move, and what else is on the bill.

    A preemption without a good notice falls back to the last saved state, periodic or saved on a notice.
    """

    mean_life_s: float
    spot_usd_per_hour: float
    on_demand_usd_per_hour: float
    capacity_wait_s: float = 0.0
    notice_success: float = 0.0
    notice_s: float = 0.0
    process: str | Law = "exponential"
    waits: str = "exponential"
    hardware_life_s: float = math.inf
    provision_s: float = 0.0
    fleet: Fleet = field(default_factory=Fleet)
    billing: Billing = field(default_factory=Billing)

    def __post_init__(self) -> None:
        for name in ("mean_life_s", "hardware_life_s"):
            if getattr(self, name) != math.inf:
                require_positive(getattr(self, name), name, "seconds, or inf for never,")
        for name in ("spot_usd_per_hour", "on_demand_usd_per_hour"):
            require_positive(getattr(self, name), name, "USD an hour for the whole job")
        for name in ("capacity_wait_s", "notice_s", "provision_s"):
            require_not_negative(getattr(self, name), name, "seconds")
        require_fraction(self.notice_success, "notice_success")
        if self.waits not in WAITS:
            raise ValueError(f"waits must be {' or '.join(map(repr, WAITS))}, not {self.waits!r}.")
        law(self.process)

    @property
    def law(self) -> Law:
        """The shape of the life times."""
        return law(self.process)

    @property
    def has_closed_form(self) -> bool:
        """Whether `expected` knows it: exponential lives, a constant price, a job that stops when a node is lost."""
        return self.has_best_interval and self.billing.prices is None

    @property
    def has_best_interval(self) -> bool:
        """Whether the interval of least time is known exactly: exponential lives, and a job that stops."""
        return self.law.name == "exponential" and not self.fleet.is_elastic

    @property
    def loss_life_s(self) -> float:
        """Mean time between two losses, by preemption or failure."""
        rate = 1 / self.mean_life_s + 1 / self.hardware_life_s
        return 1 / rate if rate else math.inf

    @property
    def preempted_fraction(self) -> float:
        """The share of losses that are preemptions and not hardware failures."""
        return 1.0 if self.hardware_life_s == math.inf else self.loss_life_s / self.mean_life_s

    @property
    def price_ratio(self) -> float:
        """The spot price over the on-demand price."""
        return self.spot_usd_per_hour / self.on_demand_usd_per_hour

    def on_demand(self) -> Market:
        """The same machines bought on demand: nobody takes them away, but hardware fails there too."""
        return replace(
            self,
            mean_life_s=math.inf,
            spot_usd_per_hour=self.on_demand_usd_per_hour,
            capacity_wait_s=0.0,
            notice_success=0.0,
            notice_s=0.0,
            process="exponential",
            fleet=replace(self.fleet, is_elastic=False),
            billing=replace(self.billing, first_hour_free=False, prices=None, usd_per_restart=0.0),
        )
