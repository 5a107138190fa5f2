"""What does interruptible really cost? Closed forms, simulation, replay of real markets, and deadline policies.

- A `Job` saves its state now and then; a `Market` takes its machines away. `expected` has the closed forms of a market
  without memory, `simulate` the draws for any other, `replay` what a recorded market would have done.
- Seconds and US dollars an hour of the whole job. `job_life_s` makes a job's mean life of a node's.
- Assumed: lives are independent of each other and of the hour of the day; a job has one market at a time.
"""

from costkit.spot.billing import Billing, hardware_life_s, move_usd, notice_success, storage_usd_per_hour
from costkit.spot.comparison import PathsTooShort, PolicyOutcome, compare
from costkit.spot.expected import Expected, Moments, expected, mean_losses
from costkit.spot.fleets import Fleet, blocked_fraction, job_life_s
from costkit.spot.intervals import (
    FlatZone,
    break_even_life_s,
    daly_first_order_interval_s,
    daly_interval_s,
    flat_zone,
    optimal_interval_s,
    overhead,
    young_interval_s,
)
from costkit.spot.jobs import Job, Market
from costkit.spot.lives import LAWS, Law, bathtub, empirical, exponential, joint, law, weibull
from costkit.spot.markets import (
    Bucket,
    LifeRange,
    MeasuredMarket,
    aws_bucket,
    life_from_rate,
    measured_market,
    measured_markets,
    rate_buckets,
    rate_range,
)
from costkit.spot.node_logs import NodeLog, read_node_log
from costkit.spot.omniscient import omniscient, regret
from costkit.spot.outcomes import Comparison, Outcomes
from costkit.spot.paths import Paths, independent_windows, random_paths
from costkit.spot.policies import IDLE, ON_DEMAND, POLICIES, SPOT, Policy, Seen, Task, capped, time_sliced
from costkit.spot.price_history import PriceHistory, ZonePrices
from costkit.spot.price_steps import PriceSteps, price_steps
from costkit.spot.providers import (
    HardwareFailures,
    StoragePrice,
    failures_per_gpu_day,
    hardware_failures,
    notice_s,
    storage_price,
)
from costkit.spot.quoted import SpotQuotes, price_ratio_range, spot_quotes
from costkit.spot.reading_prices import read_price_history
from costkit.spot.reading_traces import read_trace
from costkit.spot.replay import Replay, replay
from costkit.spot.simulation import losses_each, simulate
from costkit.spot.trace import Trace
from costkit.spot.trace_statistics import Spells, TraceStatistics, spells, statistics
from costkit.spot.waiting import Noticed, OnOff, SafetyNet, safety_net

__all__ = [
    "IDLE",
    "LAWS",
    "ON_DEMAND",
    "POLICIES",
    "SPOT",
    "Billing",
    "Bucket",
    "Comparison",
    "Expected",
    "FlatZone",
    "Fleet",
    "HardwareFailures",
    "Job",
    "Law",
    "LifeRange",
    "Market",
    "MeasuredMarket",
    "Moments",
    "NodeLog",
    "Noticed",
    "OnOff",
    "Outcomes",
    "Paths",
    "PathsTooShort",
    "Policy",
    "PolicyOutcome",
    "PriceHistory",
    "PriceSteps",
    "Replay",
    "SafetyNet",
    "Seen",
    "Spells",
    "SpotQuotes",
    "StoragePrice",
    "Task",
    "Trace",
    "TraceStatistics",
    "ZonePrices",
    "aws_bucket",
    "bathtub",
    "blocked_fraction",
    "break_even_life_s",
    "capped",
    "compare",
    "daly_first_order_interval_s",
    "daly_interval_s",
    "empirical",
    "expected",
    "exponential",
    "failures_per_gpu_day",
    "flat_zone",
    "hardware_failures",
    "hardware_life_s",
    "independent_windows",
    "job_life_s",
    "joint",
    "law",
    "life_from_rate",
    "losses_each",
    "mean_losses",
    "measured_market",
    "measured_markets",
    "move_usd",
    "notice_s",
    "notice_success",
    "omniscient",
    "optimal_interval_s",
    "overhead",
    "price_ratio_range",
    "price_steps",
    "random_paths",
    "rate_buckets",
    "rate_range",
    "read_node_log",
    "read_price_history",
    "read_trace",
    "regret",
    "replay",
    "safety_net",
    "simulate",
    "spells",
    "spot_quotes",
    "statistics",
    "storage_price",
    "storage_usd_per_hour",
    "time_sliced",
    "weibull",
    "young_interval_s",
]
