"""The plan on a page: what it costs and how long it takes, how sure that is, and what would change it."""

from costkit.plan.costing.answer import Page, page
from costkit.plan.costing.hardware import Fleets, Placed, fleets, hardware
from costkit.plan.costing.ledger import Line, programmes
from costkit.plan.costing.swings import Swing

KEYS = (
    "model",
    "data.n_tokens",
    "data.unique_tokens",
    "hardware",
    "training.mfu",
    "training.tokens_per_s_per_gpu",
    "training.step_s",
    "training.loader_wait_s",
    "training.batch_tokens",
    "training.goodput_fraction",
    "training.evaluation_fraction",
    "training.ramp_fraction",
    "training.spare_fraction",
    "training.seq_len",
    "training.law",
    "training.checkpoint_every_min",
    "training.checkpoint_write_min",
    "training.checkpoint_gb",
    "training.checkpoint_gb_per_s",
    "training.restart_min",
    "scope",
    "case",
    "memory",
    "market",
)
"""What of a plan this answer rests on."""

__all__ = ["KEYS", "Fleets", "Line", "Page", "Placed", "Swing", "fleets", "hardware", "page", "programmes"]
