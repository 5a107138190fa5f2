"""The plan on a page: what it costs and how long it takes, how sure that is, and what would change it."""

from costkit.plan.costing.answer import Page, page
from costkit.plan.costing.hardware import Placed, Scaling, hardware, scaling
from costkit.plan.costing.ledger import Line, programmes
from costkit.plan.costing.swings import Swing

KEYS = (
    "model",
    "data.n_tokens",
    "hardware",
    "training.mfu",
    "training.tokens_per_s_per_gpu",
    "training.step_s",
    "training.goodput_fraction",
    "training.evaluation_fraction",
    "training.ramp_fraction",
    "training.spare_fraction",
    "training.batch_tokens",
    "training.seq_len",
    "training.checkpoint_every_min",
    "training.restart_min",
    "training.law",
    "market.purchase",
    "market.deadline_days",
    "market.starts_on",
    "market.ends_by",
    "memory.precision",
    "scope",
    "case",
)
"""What of a plan this answer rests on."""

__all__ = ["KEYS", "Line", "Page", "Placed", "Scaling", "Swing", "hardware", "page", "programmes", "scaling"]
