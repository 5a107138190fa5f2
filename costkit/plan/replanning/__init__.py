"""How does a run become a cheaper one? The plan's levers: what each does to it, in which order, and what is left."""

from costkit.plan.replanning.answer import Left, Replan, replan
from costkit.plan.replanning.offers import Offer
from costkit.plan.replanning.readings import Reading, chain, readings

KEYS = (
    "levers",
    "case",
    "model",
    "data.n_tokens",
    "data.unique_tokens",
    "hardware",
    "training.mfu",
    "training.goodput_fraction",
    "training.batch_tokens",
    "training.seq_len",
    "training.law",
    "memory",
    "market",
)
"""What of a plan this answer rests on."""

__all__ = ["KEYS", "Left", "Offer", "Reading", "Replan", "chain", "readings", "replan"]
