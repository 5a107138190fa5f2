"""Which parts belong together? The parts of a budget in the few groups that a picture can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from costkit.figures import style
from costkit.memory import parts

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "weights": (style.BLUE, (parts.WEIGHTS, parts.GATHERED, parts.COPIES, parts.FP8_COPIES)),
        "gradients": (style.ORANGE, (parts.GRADIENTS,)),
        "optimizer": (style.GREEN, (parts.STATE, parts.MASTER, parts.STEP)),
        "activations": (
            style.SKY,
            (
                parts.ATTENTION,
                parts.FEED_FORWARD,
                parts.NORM,
                parts.EMBEDDING,
                parts.HEAD,
                parts.ROUTER,
                parts.EXPERTS,
                parts.DROPOUT,
                parts.CHECKPOINTS,
                parts.STREAM,
                parts.INPUTS,
            ),
        ),
        "logits and loss": (style.RED, (parts.LOGITS,)),
        "working": (style.PURPLE, (parts.WORKING,)),
        "buffers": (style.GREY, (parts.COMMUNICATION, parts.WORKSPACES)),
    }
)


def grouped(found: Mapping[str, float]) -> dict[str, float]:
    """The parts summed by group, in the order of `GROUPS`; they sum to what the parts do."""
    return {name: sum(found.get(part, 0.0) for part in members) for name, (_, members) in GROUPS.items()}
