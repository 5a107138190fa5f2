"""Does it fit? Bytes by part and by phase, a verdict, and the largest micro-batch."""

from __future__ import annotations

from costkit.memory.adapters import Adapters
from costkit.memory.budgets import Budget, StageBudget, budget
from costkit.memory.batches import Batch, batch
from costkit.memory.fits import FitMap, Way, fit_map, largest_micro_batch, ways_to_fit
from costkit.memory.losses import LOSSES
from costkit.memory.optimizers import OPTIMIZERS, STEPS
from costkit.memory.recipes import PRECISIONS, STACKS
from costkit.memory.requests import ATTENTION, CHECKPOINTING, Request
from costkit.memory.sharding import Sharding

__all__ = [
    "ATTENTION",
    "CHECKPOINTING",
    "LOSSES",
    "OPTIMIZERS",
    "PRECISIONS",
    "STACKS",
    "STEPS",
    "Adapters",
    "Batch",
    "Budget",
    "FitMap",
    "Request",
    "Sharding",
    "StageBudget",
    "Way",
    "batch",
    "budget",
    "fit_map",
    "largest_micro_batch",
    "ways_to_fit",
]
