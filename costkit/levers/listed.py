"""What do listed savings come to? Added, as they are usually told, and multiplied, as savings work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from costkit.units import percent, require_positive, usd


@dataclass(frozen=True)
class Listed:
    """Savings in US dollars that somebody listed against one bill, by lever."""

    baseline_usd: float
    saved_usd: Mapping[str, float]

    @property
    def sum_usd(self) -> float:
        """All of them added."""
        return math.fsum(self.saved_usd.values())

    @property
    def added_usd(self) -> float:
        """The bill where they are taken off one after another, in dollars."""
        return self.baseline_usd - self.sum_usd

    @property
    def multiplied_usd(self) -> float:
        """The bill where each is a share of what is left when its turn comes: savings of shares multiply."""
        return self.baseline_usd * math.prod(1 - saved / self.baseline_usd for saved in self.saved_usd.values())


def listed(baseline_usd: float, saved_usd: Mapping[str, float]) -> Listed:
    """Listed savings, checked.

    Raises `ValueError` of one sentence for a saving that is none, or for savings that come to the whole bill or more.

    >>> story = listed(50_000, {"spot": 25_000, "precision": 8_000, "batch": 3_000, "adam": 2_000, "size": 8_000})
    >>> story.sum_usd, story.added_usd, round(story.multiplied_usd)
    (46000.0, 4000.0, 15918)
    """
    require_positive(baseline_usd, "baseline_usd", "US dollars")
    for name, saved in saved_usd.items():
        require_positive(saved, f"the listed saving of '{name}'", "US dollars")
    found = Listed(baseline_usd, dict(saved_usd))
    if found.sum_usd >= baseline_usd:
        raise ValueError(
            f"the listed savings come to {usd(found.sum_usd)}, {percent(found.sum_usd / baseline_usd)} of the bill of"
            f" {usd(baseline_usd)}; savings multiply and never add: give each as what it saves of what is left"
        )
    return found
