"""What is asked of one GPU, and what lives on it all the time: states, buffers, and what each layer leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any

from costkit.memory import losses, states, tape
from costkit.memory.blocks import huggingface, megatron, torchtitan
from costkit.memory.blocks.scene import Scene
from costkit.memory.optimizers import is_hidden_matrix
from costkit.memory.parts import (
    CHECKPOINTS,
    COMMUNICATION,
    FP8_COPIES,
    GRADIENTS,
    INPUTS,
    LOGITS,
    MASTER,
    STATE,
    WORKSPACES,
)
from costkit.memory.recipes import FP32
from costkit.memory.sharding import Stage
from costkit.memory.stacks import Stack
from costkit.memory.states import Holdings
from costkit.memory.tape import Parts, Tape

_IDS_BYTES, _FP8_COPIES = 16, 2
"""Token ids and labels as 64-bit integers; Transformer Engine keeps each weight as FP8 and its
transpose, a byte each, while torchao casts anew each time."""

_BLOCKS: MappingProxyType[str, ModuleType] = MappingProxyType(
    {"huggingface": huggingface, "torchtitan": torchtitan, "megatron": megatron}
)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that decides what lives on one GPU of a pipeline stage.

    reshards: Whether gathered weights are let go after the forward pass. accumulates: Whether gradients of earlier
    micro-batches are there already. offloads: Whether the optimizer's state is in the host's memory.
    """

    scene: Scene
    stage: Stage
    held: Holdings
    stack: Stack
    optimizer: str
    optimizer_step: str
    reshards: bool
    checkpointing: str
    loss: str
    accumulates: bool = False
    offloads: bool = False
    holds_output: bool = False
    workspace_bytes: float = 0.0

    @property
    def blocks(self) -> Any:
        """The module that knows what the stack's blocks keep."""
        return _BLOCKS[self.stack.blocks]

    @property
    def n_saved(self) -> float:
        """Layers whose activations are kept at once, those of other micro-batches in flight included."""
        return self.stage.n_layers * self.stage.in_flight

    @property
    def keeps_gradients(self) -> bool:
        """Whether gradients live all the time: in Megatron-LM's buffers, or between micro-batches."""
        return self.stack.is_megatron or self.accumulates

    @property
    def is_hugging_face(self) -> bool:
        """Whether the blocks are those of transformers."""
        return self.stack.is_hugging_face

    @property
    def gathers(self) -> bool:
        """Whether weights are gathered layer by layer."""
        return self.held.zero == 3 and self.held.sharding.n_shards > 1

    @property
    def gathered_layer_bytes(self) -> float:
        """One layer's weights as they are gathered: in the compute format, or frozen ones in their own."""
        held, adapters = self.held, self.held.adapters
        if adapters is None:
            return self.scene.recipe.compute * held.of(held.of_layer)
        return sum(adapters.frozen_bytes(one) * held.of((one,)) for one in held.of_layer)

    @property
    def keeps_gathered(self) -> bool:
        """Whether gathered weights stay from the forward to the backward pass, as under pipeline parallelism."""
        is_sharded = self.stack.is_torchtitan and self.held.sharding.n_shards > 1
        return is_sharded and (not self.reshards or self.held.sharding.pipeline > 1)


def with_gradients(setting: Setting, block: Tape) -> Tape:
    """The tape with the weight gradients that this setting makes: added to a buffer at once, or to what is there."""
    if setting.stack.is_megatron:
        return tuple(replace(step, made=0.0, stored=0.0) for step in block)
    if setting.accumulates:
        return tuple(replace(step, stored=0.0) for step in block)
    return block


def base(setting: Setting) -> Parts:
    """What lives at every moment."""
    scene, held, recipe = setting.scene, setting.held, setting.scene.recipe
    base = states.fixed(held, recipe=recipe, optimizer=setting.optimizer)
    base[WORKSPACES] = setting.workspace_bytes
    if setting.offloads:
        base |= {MASTER: 0.0, STATE: 0.0}
    if setting.keeps_gradients:
        base[GRADIENTS] = states.gradients_bytes(held, recipe=recipe)
    if setting.stack.buffers_reduce and held.sharding.n_shards > 1 and held.zero == 0:
        base[COMMUNICATION] = recipe.gradients * held.n_trained()
    if recipe.fp8 and not setting.stack.is_torchtitan:
        base[FP8_COPIES] = (
            _FP8_COPIES * setting.stage.n_layers * held.of(tuple(filter(is_hidden_matrix, held.of_layer)))
        )
    if setting.stack.is_megatron and scene.sequence_parallel:
        base[COMMUNICATION] = recipe.compute * scene.architecture.hidden * scene.tokens
    return base


def gathered_bytes(setting: Setting, phase: str) -> float:
    """Gathered weights of the layers: all of them until their backward pass, two or one, or none.

    Each layer's are let go behind its own backward pass; under pipeline parallelism they wait for the last micro-batch.
    """
    if not setting.gathers or phase == "step":
        return 0.0
    one, every = setting.gathered_layer_bytes, setting.stage.n_layers * setting.gathered_layer_bytes
    if setting.keeps_gathered and (phase != "backward" or setting.held.sharding.pipeline > 1):
        return every
    return {"forward": 2 * one, "loss": 0.0}.get(phase, one)


def output(setting: Setting) -> Parts:
    """The logits, where the training loop holds the model's output through the step (as PEFT's examples do)."""
    if not (setting.holds_output and setting.stage.has_head):
        return {}
    return {LOGITS: setting.scene.recipe.compute * losses.n_logits(setting.scene)}


def inputs(setting: Setting) -> Parts:
    """Token ids, labels, RoPE tables, and the mask that checkpointed layers are called with."""
    scene = setting.scene
    if setting.stack.is_megatron:
        return megatron.inputs(scene)
    found = _IDS_BYTES * scene.tokens
    if not scene.architecture.n_positions:
        found = found + 2 * scene.seq_len * scene.architecture.head_dim * (
            FP32 if scene.recipe.casts else scene.recipe.stream
        )
    if setting.checkpointing == "full" and setting.is_hugging_face:
        mask = scene.recipe.compute if scene.attention == "eager" else 1 if scene.masked else 0
        found = found + mask * scene.tokens * scene.seq_len
    return {INPUTS: found}


def saved(setting: Setting, block: Tape) -> Parts:
    """What the forward pass leaves of one layer."""
    if setting.checkpointing == "none":
        return tape.kept(block)
    if setting.checkpointing == "full":
        return {CHECKPOINTS: setting.scene.stream_bytes}
    if setting.stack.is_megatron:
        full = tape.kept(block)
        return full | {"attention": full["attention"] - megatron.attention_core_bytes(setting.scene)}
    return torchtitan.selective(setting.scene)
