"""What are the parts of a budget called? One name for each kind of bytes, for models, tables and pictures."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = "weights"
MASTER: Final = "master weights"
GRADIENTS: Final = "gradients"
STATE: Final = "optimizer state"
STEP: Final = "optimizer step"

COPIES: Final = "weight copies"
FP8_COPIES: Final = "FP8 copies of weights"
GATHERED: Final = "gathered weights"

ATTENTION: Final = "attention"
FEED_FORWARD: Final = "feed-forward"
NORM: Final = "norm"
EMBEDDING: Final = "embedding"
HEAD: Final = "head"
ROUTER: Final = "router"
EXPERTS: Final = "experts"
DROPOUT: Final = "dropout masks"
CHECKPOINTS: Final = "checkpoints"
STREAM: Final = "hidden states"
INPUTS: Final = "inputs"
LOGITS: Final = "logits and loss"

WORKING: Final = "working tensors"
COMMUNICATION: Final = "communication buffers"
WORKSPACES: Final = "workspaces"
