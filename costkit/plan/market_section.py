"""Which keys decide what interruptible machines really cost? The section `[market]` of a plan."""

from __future__ import annotations

from typing import Annotated

from costkit import spot, tables
from costkit.plan.kinds import Choice, Date, Flag, Number, Text
from costkit.plan.section import Section


def _hours(label: str, low: float, high: float, about: str) -> Number:
    return Number(label, "hours", low, high, 1e-3, 1e6, about)


def _markets() -> tuple[str, ...]:
    """Measured markets of GPUs, and the buckets; those without an upper end are refused with the reason."""
    watched = (market.name for market in spot.measured_markets() if market.is_of_gpus)
    return (*watched, *spot.rate_buckets())


def _share(label: str, about: str, *, most: float = 1.0) -> Number:
    return Number(label, "fraction", 0, 1, 0, most, about, scale="linear", fraction=True)


class MarketSection(Section):
    """How the GPUs are bought, and how often they are taken away."""

    purchase: Annotated[
        str, Choice("Purchase", lambda: tables.PURCHASES, "How the GPUs are bought; the price is the plan's own.")
    ] = "on_demand"
    spot_discount_fraction: Annotated[
        float,
        Number(
            "Spot discount",
            "fraction of the on-demand price",
            0,
            0.95,
            -1,
            0.999,
            "What spot is cheaper by. The plan's price is the one without it, or with it where purchase is spot.",
            scale="linear",
            fraction=True,
        ),
    ] = 0.6
    spot_usd_per_gpu_hour: Annotated[
        float | None,
        Number(
            "Spot price",
            "USD per GPU-hour",
            0.1,
            20,
            0.001,
            1000,
            "Price of one GPU for one hour on spot, in place of the discount; left out: the discount gives it.",
        ),
    ] = None
    measured: Annotated[
        str | None,
        Choice(
            "Measured market",
            _markets,
            "A market that was watched, or a bucket that a provider publishes: its lives, bursts and waits take the"
            " place of the plan's own.",
            table="measured market",
        ),
    ] = None
    node_life_h: Annotated[
        float, _hours("Mean life of a node", 0.25, 1000, "Mean time until the provider takes one machine away.")
    ] = 24.0
    gpus_per_node: Annotated[
        int, Number("GPUs of a node", "GPUs", 1, 16, 1, 1e4, "GPUs that one machine has.", "linear", whole=True)
    ] = 8
    burst_nodes: Annotated[
        float,
        Number(
            "Nodes lost at once",
            "nodes",
            1,
            16,
            1,
            1e6,
            "Mean number of machines that one preemption takes; 1: they are lost one by one, the worst case.",
        ),
    ] = 1.0
    life_law: Annotated[
        str,
        Choice(
            "Law of life times",
            lambda: spot.LAWS,
            "The law of the job's life around its mean; of each node's where it is elastic.",
        ),
    ] = "exponential"
    weibull_shape: Annotated[
        float | None,
        Number(
            "Weibull shape",
            "k, a pure number",
            0.3,
            1.5,
            0.1,
            20,
            "Below 1 early losses are frequent; left out: as measured on V100s in 2023. For life_law weibull.",
            "linear",
        ),
    ] = None
    trace: Annotated[
        str,
        Text(
            "Trace",
            "A recorded market, as `spot.read_trace` reads it: its lives and waits take the law's place, and deadlines"
            " are replayed on it. Relative to the plan file.",
        ),
    ] = ""
    capacity_wait_min: Annotated[
        float,
        Number("Wait for capacity", "minutes", 1, 1440, 0, 1e6, "Mean wait for new machines after a preemption."),
    ] = 30.0
    provision_min: Annotated[
        float,
        Number("Provisioning", "minutes", 0.5, 60, 0, 1e4, "From machines that are billed to ones that run the job."),
    ] = 5.0
    notice_s: Annotated[
        float, Number("Notice", "seconds", 10, 600, 0, 1e5, "From the provider's notice to the end of a machine.")
    ] = 120.0
    notice_latency_s: Annotated[
        float, Number("Notice is seen after", "seconds", 1, 60, 0, 1e5, "Until the trainer sees a notice and stops.")
    ] = 10.0
    notice_reliability_fraction: Annotated[
        float,
        _share("Notices acted on", "Share of notices on which the trainer saves its state; 0: it knows of none."),
    ] = 0.0
    elastic: Annotated[
        bool, Flag("Goes on with fewer nodes", "Whether the run goes on, slower, with the nodes that are left.")
    ] = False
    keeps_survivors: Annotated[
        bool, Flag("Keeps other nodes", "Whether a run that stands still pays for the nodes that it still has.")
    ] = False
    first_hour_free: Annotated[
        bool, Flag("First hour free", "AWS's rule: machines taken back within their first hour cost nothing.")
    ] = False
    failures_per_gpu_day: Annotated[
        float | None,
        Number(
            "Hardware failures",
            "failures per GPU and day",
            1e-5,
            1e-2,
            0,
            10,
            "Failures that stop the run, on demand too; left out: as in Llama 3's run; 0: none.",
        ),
    ] = None
    deadline_days: Annotated[
        float | None,
        Number("Deadline", "days", 1, 365, 1e-3, 1e5, "When the run must be done; left out: nobody asks."),
    ] = None
    starts_on: Annotated[str, Date("First day", "The day on which the run starts, such as 2027-02-01.")] = ""
    ends_by: Annotated[
        str, Date("Last day", "The day by whose start the run must be done, in place of market.deadline_days.")
    ] = ""
    kept_checkpoints: Annotated[
        int,
        Number(
            "Checkpoints kept", "checkpoints", 0, 100, 0, 1e6, "How many are stored at a time.", "linear", whole=True
        ),
    ] = 3
    storage_usd_per_gb_month: Annotated[
        float | None,
        Number("Storage", "USD per GB and month", 0.005, 0.3, 0, 100, "Price of storage; left out: AWS S3 Standard's."),
    ] = None
    moved_fraction: Annotated[
        float, _share("Restarts elsewhere", "Share of restarts that go to another region and take a checkpoint along.")
    ] = 0.0
    egress_usd_per_gb: Annotated[
        float | None,
        Number(
            "Moving data",
            "USD per GB",
            0.005,
            0.2,
            0,
            100,
            "Price between regions; left out: AWS's between the US and Europe.",
        ),
    ] = None
    price_history: Annotated[
        str,
        Text(
            "Price history",
            "Recorded spot prices of one machine (AWS's describe-spot-price-history or a CSV) in place of the discount."
            " Relative to the plan file.",
        ),
    ] = ""
    zone: Annotated[str, Text("Zone", "The zone of the price history to use; empty: its only one.")] = ""
