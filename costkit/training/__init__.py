"""How long does a run take and what does it cost? FLOP to GPU-hours to dollars, and back from a published figure.

- What MFU a run reaches is learned from the GPU-hours of published runs, and scored on them (`scores`).
- A measured rate takes the place of that; goodput, energy, stalls, prices, other GPUs and more of them have a function
  each.
"""

from costkit.training import batches, parallel
from costkit.training.cases import attention_ratio
from costkit.training.efficiency import Efficiency, efficiency
from costkit.training.hardware import OnGpu, compare, has_format, tuned_mfu
from costkit.training.prices import Doubt, Price, doubts, flip_usd_per_gpu_hour, price, quoted, read_price
from costkit.training.reverse import Audit, Check, audit, implied_mfu
from costkit.training.runs import Run, budget_flop, flop, run, steady_mfu, usd_per_flop
from costkit.training.scorecard import Score, Scored, named, scored, scores, scores_sentence
from costkit.training.steady import measured_mfu, published_goodput
from costkit.training.suspicions import Flag

__all__ = [
    "Audit",
    "Check",
    "Doubt",
    "Efficiency",
    "Flag",
    "OnGpu",
    "Price",
    "Run",
    "Score",
    "Scored",
    "attention_ratio",
    "audit",
    "batches",
    "budget_flop",
    "compare",
    "doubts",
    "efficiency",
    "flip_usd_per_gpu_hour",
    "flop",
    "has_format",
    "implied_mfu",
    "measured_mfu",
    "named",
    "parallel",
    "price",
    "published_goodput",
    "quoted",
    "read_price",
    "run",
    "scored",
    "scores",
    "scores_sentence",
    "steady_mfu",
    "tuned_mfu",
    "usd_per_flop",
]
