"""What does a memory budget look like? Pictures and tables of a `plan.Footprint`, one function each."""

from costkit.figures.fitting.listed import (
    formats_table,
    misses_table,
    parts_table,
    scores_table,
    settings_table,
    stages_table,
    unscored_table,
    ways_table,
)
from costkit.figures.fitting.map import map  # noqa: A004 - the picture is a map
from costkit.figures.fitting.phases import phases
from costkit.figures.fitting.settings import settings

__all__ = [
    "formats_table",
    "map",
    "misses_table",
    "parts_table",
    "phases",
    "scores_table",
    "settings",
    "settings_table",
    "stages_table",
    "unscored_table",
    "ways_table",
]
