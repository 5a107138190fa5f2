"""Does it fit? Bytes by part and by phase, a verdict, and the largest micro-batch."""

from __future__ import annotations

from costkit.memory.adapters import GROUPS as ADAPTER_GROUPS
from costkit.memory.adapters import Adapters
from costkit.memory.bands import Calibration
from costkit.memory.batches import Batch, batch
from costkit.memory.budgets import Budget, StageBudget, budget
from costkit.memory.calibration import calibrate
from costkit.memory.choices import MICRO_BATCHES, Choice, choices
from costkit.memory.fits import FitMap, fit_map, largest_micro_batch
from costkit.memory.losses import LOSSES
from costkit.memory.measured import Score, scores
from costkit.memory.moments import PHASES
from costkit.memory.optimizers import OPTIMIZERS, STEPS
from costkit.memory.recipes import PRECISIONS
from costkit.memory.requests import ATTENTION, CHECKPOINTING, Request, precisions_of
from costkit.memory.scorecard import Summary, misses, summaries, unscored, wrong_verdicts
from costkit.memory.scorecard import sentence as scores_sentence
from costkit.memory.sharding import Sharding
from costkit.memory.stacks import STACKS, Stack
from costkit.memory.ways import Way, savings, ways_to_fit

__all__ = [
    "ADAPTER_GROUPS",
    "ATTENTION",
    "CHECKPOINTING",
    "LOSSES",
    "MICRO_BATCHES",
    "OPTIMIZERS",
    "PHASES",
    "PRECISIONS",
    "STACKS",
    "STEPS",
    "Adapters",
    "Batch",
    "Budget",
    "Calibration",
    "Choice",
    "FitMap",
    "Request",
    "Score",
    "Sharding",
    "Stack",
    "StageBudget",
    "Summary",
    "Way",
    "batch",
    "budget",
    "calibrate",
    "choices",
    "fit_map",
    "largest_micro_batch",
    "misses",
    "precisions_of",
    "savings",
    "scores",
    "scores_sentence",
    "summaries",
    "unscored",
    "ways_to_fit",
    "wrong_verdicts",
]
