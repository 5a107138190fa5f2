"""What is alive, when? The moments of a training step that can be its peak, with every part that lives then.

- Five phases: `forward` (up to the loss), `loss` (its backward pass and the head's), `recompute` (the last layer's backward
  pass, behind its recomputation where activations are checkpointed), `backward` (the first layer's and the embedding's, when
  all other gradients exist), `step` (the optimizer).
- Between the last and the first layer the live bytes change evenly from layer to layer, so the peak is at one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any

from costkit.memory import losses, optimizers, states, tape
from costkit.memory.blocks import huggingface, megatron, torchtitan
from costkit.memory.blocks.scene import Scene
from costkit.memory.sharding import Stage
from costkit.memory.states import GRADIENTS, Holdings
from costkit.memory.tape import Bytes, Parts, Tape, times, together
from costkit.memory.tensors import EMBEDDING, HEAD
from costkit.units import MIB

PHASES = ("forward", "loss", "recompute", "backward", "step")
GATHERED, COMMUNICATION, CHECKPOINTS = "gathered weights", "communication buffers", "checkpoints"
STREAM, STEP, WORKSPACES, INPUTS = "hidden states", "optimizer step", "workspaces", "inputs"

_BLOCKS: MappingProxyType[str, ModuleType] = MappingProxyType(
    {"huggingface": huggingface, "deepspeed": huggingface, "fsdp2": torchtitan, "simplefsdp": torchtitan, "megatron": megatron}
)


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of a training step, and what lives then."""

    phase: str
    parts: Parts

    @property
    def live_bytes(self) -> Bytes:
        """All of it."""
        return tape.total(self.parts)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that decides what lives on one GPU of a pipeline stage.

    accumulates: Whether gradients of earlier micro-batches are there already. offloads: Whether the optimizer's state is
    in the host's memory.
    """

    scene: Scene
    stage: Stage
    held: Holdings
    micro_batch: Bytes
    stack: str
    optimizer: str
    optimizer_step: str
    checkpointing: str
    loss: str
    accumulates: bool = False
    offloads: bool = False
    holds_output: bool = False
    workspace_bytes: float = 0.0

    @property
    def blocks(self) -> Any:
        """The module that knows what the stack's blocks keep."""
        return _BLOCKS[self.stack]

    @property
    def keeps_gradients(self) -> bool:
        """Whether gradients live all the time: in Megatron-LM's buffers, or between micro-batches."""
        return self.stack == "megatron" or self.accumulates

    @property
    def gathers(self) -> bool:
        """Whether weights are gathered layer by layer."""
        return self.held.zero == 3 and self.held.sharding.n_shards > 1


def moments(setting: Setting) -> Iterator[Moment]:
    """Every moment that can be the peak."""
    block = _with_gradients(setting, setting.blocks.block(setting.scene))
    saved, base = _saved(setting, block), _base(setting)
    n_saved = setting.stage.n_layers * setting.stage.in_flight
    output = _output(setting)
    running = together(base, output, _inputs(setting))
    stored = together(running, times(saved, n_saved))
    yield Moment("forward", together(stored, *_forward(setting, block)))
    if setting.checkpointing == "full" and setting.blocks is huggingface:
        for passing in huggingface.passing_bytes(setting.scene):
            yield Moment("forward", together(base, _inputs(setting), times(saved, n_saved), {tape.WORKING: passing}))
    if setting.stage.has_head:
        for parts in _loss(setting):
            yield Moment("loss", together(stored, parts))
    left = _left_by_layer(setting, block)
    before = _left_by_head(setting)
    for phase, n_other, gradients in (
        ("recompute", n_saved - 1, before),
        ("backward", n_saved - setting.stage.n_layers, before + left * (setting.stage.n_layers - 1)),
    ):
        around = together(running, times(saved, n_other), {GRADIENTS: gradients}, _around_layer(setting, block, phase))
        for parts in tape.backward(block):
            yield Moment(phase, together(around, parts))
    if setting.stage.has_embedding and setting.held.adapters is None:
        for parts in _embedding(setting, before + left * setting.stage.n_layers):
            yield Moment("backward", together(running, parts))
    yield Moment("step", together(base, output, _step(setting)))


def _with_gradients(setting: Setting, block: Tape) -> Tape:
    """The tape with the weight gradients that this setting makes: added to a buffer at once, or to what is there."""
    if setting.stack == "megatron":
        return tuple(replace(step, made=0.0, stored=0.0) for step in block)
    if setting.accumulates:
        return tuple(replace(step, stored=0.0) for step in block)
    return block


def _base(setting: Setting) -> Parts:
    """What lives at every moment."""
    scene, held, recipe = setting.scene, setting.held, setting.scene.recipe
    base = states.fixed(held, recipe=recipe, optimizer=setting.optimizer)
    base[WORKSPACES] = setting.workspace_bytes
    if setting.offloads:
        base |= {states.MASTER: 0.0, states.STATE: 0.0}
    if setting.keeps_gradients:
        base[GRADIENTS] = states.gradients_bytes(held, recipe=recipe)
    if setting.stack == "huggingface" and held.sharding.n_shards > 1 and held.zero == 0:
        base[COMMUNICATION] = recipe.gradients * held.n_trained()
    if _keeps_gathered(setting):
        base[GATHERED] = recipe.compute * setting.stage.n_layers * held.of(held.of_layer)
    if setting.stack == "megatron" and scene.sequence_parallel:
        base[COMMUNICATION] = recipe.compute * scene.architecture.hidden * scene.tokens
    return base


def _keeps_gathered(setting: Setting) -> bool:
    """Whether gathered weights stay from the forward to the backward pass, as FSDP2 does under pipeline parallelism."""
    is_sharded = setting.blocks is torchtitan and setting.held.sharding.n_shards > 1
    return is_sharded and (setting.held.zero == 2 or setting.held.sharding.pipeline > 1)


def _output(setting: Setting) -> Parts:
    """The logits, where the training loop holds the model's output through the step (as PEFT's examples do)."""
    if not (setting.holds_output and setting.stage.has_head):
        return {}
    return {losses.LOGITS: setting.scene.recipe.compute * losses.n_logits(setting.scene)}


def _inputs(setting: Setting) -> Parts:
    scene = setting.scene
    if setting.stack == "megatron":
        return megatron.inputs(scene, setting.micro_batch)
    found = 16 * scene.tokens
    if not scene.architecture.n_positions:
        found = found + 2 * scene.seq_len * scene.architecture.head_dim * (4 if scene.recipe.casts else scene.recipe.stream)
    if setting.checkpointing == "full" and setting.blocks is huggingface:
        mask = scene.recipe.compute if scene.attention == "eager" else 1 if scene.masked else 0
        found = found + mask * scene.tokens * scene.seq_len
    return {INPUTS: found}


# Activations.


def _saved(setting: Setting, block: Tape) -> Parts:
    """What the forward pass leaves of one layer."""
    if setting.checkpointing == "none":
        return tape.kept(block)
    if setting.checkpointing == "full":
        return {CHECKPOINTS: setting.scene.stream_bytes}
    if setting.stack == "megatron":
        full = tape.kept(block)
        return full | {"attention": full["attention"] - megatron.attention_core_bytes(setting.scene)}
    return torchtitan.selective(setting.scene)


def _around_layer(setting: Setting, block: Tape, phase: str) -> Parts:
    """What lives beside a layer in its backward pass: its checkpoint, the gradient that arrives, gathered weights."""
    scene, held = setting.scene, setting.held
    found: Parts = {STREAM: scene.stream_bytes}
    if setting.checkpointing == "full" and not _block_keeps_its_input(setting):
        found[CHECKPOINTS] = scene.stream_bytes
    if setting.gathers:
        found[GATHERED] = 0.0 if _keeps_gathered(setting) else _gathered_layer(setting)
        after_head = phase == "recompute" and setting.stage.has_head and held.adapters is None
        found[COMMUNICATION] = 4.0 * (_largest_outer(held) if after_head else held.of(held.trained_of_layer))
    return found


def _gathered_layer(setting: Setting) -> float:
    """One layer's weights as they are gathered: in the compute format, or frozen ones in their own."""
    held, adapters = setting.held, setting.held.adapters
    if adapters is None:
        return setting.scene.recipe.compute * held.of(held.of_layer)
    return sum(adapters.frozen_bytes(one) * held.of((one,)) for one in held.of_layer)


def _block_keeps_its_input(setting: Setting) -> bool:
    """Whether a block's first norm keeps the hidden states themselves, which the checkpoint then shares."""
    scene = setting.scene
    return setting.blocks is not huggingface or scene.family.biases or scene.recipe.stream == 4


def _left_by_layer(setting: Setting, block: Tape) -> float:
    """Weight gradients that stay after a layer's backward pass: all of them, or the shard that ZeRO keeps."""
    if setting.keeps_gradients:
        return 0.0
    if setting.held.zero >= 2:
        return setting.scene.recipe.gradients * setting.held.of(setting.held.trained_of_layer, sharded=True)
    return tape.stored(block)


# The head and the loss.


def _forward(setting: Setting, block: Tape) -> Iterator[Parts]:
    """What lives at the end of the forward pass besides what is stored of the layers."""
    scene = setting.scene
    if setting.checkpointing == "full" and scene.recipe.casts:
        yield {tape.COPIES: setting.stage.n_layers * sum(step.copies for step in block)}
    if setting.gathers and not _keeps_gathered(setting):
        yield {GATHERED: 2 * _gathered_layer(setting)}
    if setting.stage.has_head:
        yield tape.kept(_head(setting))
        held = scene.recipe.compute * losses.n_logits(scene) if setting.holds_output else 0.0
        yield {losses.LOGITS: losses.forward_bytes(setting.loss, scene) - held}
        if scene.recipe.casts or setting.held.adapters is not None:
            yield {STREAM: scene.stream_bytes}
    else:
        yield {STREAM: scene.stream_bytes}


def _head(setting: Setting) -> Tape:
    return (*setting.blocks.head(setting.scene), losses.step(setting.loss, setting.scene))


def _loss(setting: Setting) -> Iterator[Parts]:
    """The backward pass of the loss, of the output matrix and of the last norm."""
    scene, held = setting.scene, setting.held
    head, around = _with_gradients(setting, _head(setting)), Parts()
    if setting.gathers:
        around = {GATHERED: scene.recipe.compute * _largest_outer(held)}
    for i, parts in enumerate(tape.backward(head)):
        is_reducing = setting.gathers and i and held.adapters is None
        reducing = {COMMUNICATION: 4.0 * _largest_outer(held)} if is_reducing else Parts()
        yield together(around, reducing, parts)


def _left_by_head(setting: Setting) -> float:
    """Gradients that the head leaves: of its own matrix, or of an embedding that it is tied to."""
    if not setting.stage.has_head or setting.keeps_gradients:
        return 0.0
    if setting.held.zero >= 2:
        outer = tuple(one for one in setting.held.trained_around if one.part != EMBEDDING)
        return setting.scene.recipe.gradients * setting.held.of(outer, sharded=True)
    return tape.stored(_with_gradients(setting, _head(setting)))


def _largest_outer(held: Holdings) -> float:
    """Elements of the embedding or the head on this GPU, whichever this stage has."""
    return max((held.of((one,)) for one in held.around if one.part in (EMBEDDING, HEAD)), default=0.0)


def _embedding(setting: Setting, gradients: float) -> Iterator[Parts]:
    """The embedding's backward pass: a gradient of the whole matrix, first beside the one that arrives.

    Where the head is tied to it, then beside the head's and their sum.
    """
    scene, held, recipe = setting.scene, setting.held, setting.scene.recipe
    tokens = _largest_outer(held)
    made = recipe.compute if setting.gathers else recipe.gradients
    own = made * held.of(tuple(one for one in held.around if one.part == EMBEDDING))
    if setting.keeps_gradients or setting.gathers:
        own = made * tokens
    if setting.stack == "megatron":
        own = 0.0
    found: Parts = {GRADIENTS: gradients, tape.WORKING: own}
    if setting.gathers:
        found |= {GATHERED: recipe.compute * tokens, COMMUNICATION: 4.0 * tokens}
    yield found | {STREAM: scene.stream_bytes}
    if scene.architecture.tied_embeddings and not setting.gathers and setting.stage.has_head and own:
        yield found | {tape.WORKING: own + made * tokens}


def _step(setting: Setting) -> Parts:
    held, recipe = setting.held, setting.scene.recipe
    listed = [replace(one, copies=one.copies * setting.stage.n_layers) for one in held.trained_of_layer]
    listed += held.trained_around
    share = held.n_trained(sharded=held.zero >= 1) / max(sum(one.n_each * one.copies for one in listed), 1)
    gradients = 0.0 if setting.keeps_gradients else states.gradients_bytes(held, recipe=recipe)
    own_kernel = setting.stack in ("megatron", "deepspeed")
    needed = optimizers.step_bytes(
        setting.optimizer,
        "fused" if own_kernel or setting.offloads else setting.optimizer_step,
        listed,
        moment_bytes=recipe.moment,
        share=share,
    )
    fp32 = recipe.step_gradients * held.n_trained(sharded=held.zero >= 1)
    embedded = 0.0 if held.adapters is None else 2 * setting.scene.stream_bytes
    return {GRADIENTS: gradients, STEP: needed + fp32, STREAM: embedded}


# Memory that PyTorch's allocator reserves beyond what lives.


def pools_bytes(setting: Setting) -> Bytes:
    """Memory of FSDP2's side streams, which blocks never leave: gathered flat buffers, and gradients while none live."""
    if not (setting.stack == "fsdp2" and setting.gathers):
        return 0.0
    held, recipe = setting.held, setting.scene.recipe
    one, outer = held.of(held.of_layer), _largest_outer(held)
    travels = 1 if recipe.fp8 else recipe.compute
    gathered = max(recipe.compute * outer + travels * one, 2.0 * travels * one)
    return gathered + recipe.gradients * held.n_trained(sharded=True)


def workspaces(stack: str) -> float:
    """cuBLAS workspaces of the two threads that multiply, and Transformer Engine's own."""
    return 3 * 32.0 * MIB if stack == "megatron" else 0.0
