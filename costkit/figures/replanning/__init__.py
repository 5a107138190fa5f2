"""What does a re-planned run look like? Pictures and tables of a `plan.Replan`, one function each."""

from costkit.figures.replanning.chances import chances
from costkit.figures.replanning.dumbbell import dumbbell
from costkit.figures.replanning.listed import (
    arithmetic_table,
    evidence_table,
    facts_table,
    levers_table,
    readings_table,
    remaining_table,
    shares_table,
    steps_table,
)
from costkit.figures.replanning.waterfall import waterfall

__all__ = [
    "arithmetic_table",
    "chances",
    "dumbbell",
    "evidence_table",
    "facts_table",
    "levers_table",
    "readings_table",
    "remaining_table",
    "shares_table",
    "steps_table",
    "waterfall",
]
