"""How long does a run take and what does it cost? FLOP to GPU-hours to dollars, and back from a published figure."""

from costkit.training.reverse import Check, implied_mfu
from costkit.training.runs import Run, budget_flop, flop, run, usd_per_flop

__all__ = ["Check", "Run", "budget_flop", "flop", "implied_mfu", "run", "usd_per_flop"]
