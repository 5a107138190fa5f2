"""Which parts belong together? The parts of a budget in the few groups that a picture can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from costkit.figures import style

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "weights": (style.BLUE, ("weights", "gathered weights", "weight copies", "FP8 copies of weights")),
        "gradients": (style.ORANGE, ("gradients",)),
        "optimizer": (style.GREEN, ("optimizer state", "master weights", "optimizer step")),
        "activations": (
            style.SKY,
            (
                "attention",
                "feed-forward",
                "norm",
                "checkpoints",
                "dropout masks",
                "experts",
                "router",
                "hidden states",
                "inputs",
            ),
        ),
        "logits and loss": (style.RED, ("logits and loss",)),
        "working": (style.PURPLE, ("working tensors",)),
        "buffers": (style.GREY, ("communication buffers", "workspaces")),
    }
)


def grouped(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts summed by group, in the order of `GROUPS`; they sum to what the parts do."""
    found = {name: sum(parts.get(part, 0.0) for part in members) for name, (_, members) in GROUPS.items()}
    known = {part for _, members in GROUPS.values() for part in members}
    found["buffers"] += sum(amount for part, amount in parts.items() if part not in known)
    return found
