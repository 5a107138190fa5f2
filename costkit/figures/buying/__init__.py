"""What does spot look like? Pictures and tables of a `plan.Savings`, one function each."""

from costkit.figures.buying.bill import bill
from costkit.figures.buying.intervals import intervals
from costkit.figures.buying.listed import (
    buckets_table,
    checks_table,
    derived_table,
    failures_table,
    markets_table,
    parts_table,
    percentiles_table,
    policies_table,
    quotes_table,
    scenarios_table,
)
from costkit.figures.buying.map import map  # noqa: A004 - the picture is a map
from costkit.figures.buying.parts import parts
from costkit.figures.buying.policies import policies

__all__ = [
    "bill",
    "buckets_table",
    "checks_table",
    "derived_table",
    "failures_table",
    "intervals",
    "map",
    "markets_table",
    "parts",
    "parts_table",
    "percentiles_table",
    "policies",
    "policies_table",
    "quotes_table",
    "scenarios_table",
]
