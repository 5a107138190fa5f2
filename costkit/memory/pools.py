"""What does PyTorch's allocator hold besides what lives, even if nothing is fragmented?

- Blocks never move between CUDA streams. FSDP2 gathers weights on one stream and reduces gradients on another, so their
  memory stays reserved while the peak is elsewhere: the gradients' pool waits while the loss is computed.
- A hole that the loss frees is too small for the tensors that come after, so the pool is extended.
"""

from __future__ import annotations

from costkit.memory import losses
from costkit.memory.settings import Setting
from costkit.memory.tape import Bytes


def beside_bytes(setting: Setting, phase: str) -> Bytes:
    """What is held besides the live bytes of a phase."""
    if not setting.stack.is_torchtitan:
        return 0.0
    is_loss = phase == "loss" and setting.stage.has_head
    hole = losses.hole_bytes(setting.loss, setting.scene) if is_loss else 0.0
    if not (setting.stack.gathers_aside and setting.gathers):
        return hole
    gradients_live = phase in ("backward", "step")
    return hole + _gathered_bytes(setting) + (0.0 if gradients_live else _gradients_bytes(setting))


def _gathered_bytes(setting: Setting) -> float:
    """Two gathered groups: a layer beside the embedding or the head, or two layers; FP8 layers travel as one byte."""
    held, recipe = setting.held, setting.scene.recipe
    one, travels = held.of(held.of_layer), 1 if recipe.fp8 else recipe.compute
    return max(recipe.compute * held.largest_outer + travels * one, 2.0 * travels * one)


def _gradients_bytes(setting: Setting) -> float:
    return setting.scene.recipe.gradients * setting.held.n_trained(sharded=True)
