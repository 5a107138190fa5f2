"""What does interruptible really cost? Closed forms, simulation, replay of real markets, and deadline policies.

- A `Job` saves its state now and then; a `Market` takes its machines away. `expected` has the closed forms of a market
  without memory, `simulate` the draws for any other, `replay` what a recorded market would have done.
- Seconds and US dollars an hour of the whole job. `job_life_s` makes a job's mean life of a node's.
- Assumed: lives are independent of each other and of the hour of the day; a job has one market at a time.
"""

from costkit.spot.billing import (
    Billing,
    hardware_life_s,
    move_usd,
    notice_success,
    storage_usd_per_hour,
)
from costkit.spot.expected import Expected, Moments, expected, mean_losses
from costkit.spot.fleets import Fleet, blocked_fraction, job_life_s
from costkit.spot.intervals import (
    FlatZone,
    break_even_life_s,
    daly_interval_s,
    flat_zone,
    optimal_interval_s,
    overhead,
    young_interval_s,
)
from costkit.spot.jobs import Job, Market
from costkit.spot.lives import LAWS, Law, Spells, bathtub, empirical, exponential, law, spells, weibull
from costkit.spot.outcomes import Comparison, Outcomes
from costkit.spot.price_steps import PriceSteps, price_steps
from costkit.spot.simulation import simulate
from costkit.spot.trace import Trace
from costkit.spot.waiting import Noticed, OnOff, SafetyNet, safety_net

__all__ = [
    "LAWS",
    "Billing",
    "Comparison",
    "Expected",
    "FlatZone",
    "Fleet",
    "Job",
    "Law",
    "Market",
    "Moments",
    "Noticed",
    "OnOff",
    "Outcomes",
    "PriceSteps",
    "SafetyNet",
    "Spells",
    "Trace",
    "bathtub",
    "blocked_fraction",
    "break_even_life_s",
    "daly_interval_s",
    "empirical",
    "expected",
    "exponential",
    "flat_zone",
    "hardware_life_s",
    "job_life_s",
    "law",
    "mean_losses",
    "move_usd",
    "notice_success",
    "optimal_interval_s",
    "overhead",
    "price_steps",
    "safety_net",
    "simulate",
    "spells",
    "storage_usd_per_hour",
    "weibull",
    "young_interval_s",
]
