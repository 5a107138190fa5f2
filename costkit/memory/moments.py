"""What is alive, when? The moments of a training step that can be its peak, with every part that lives then.

- Five phases: `forward` (up to the loss), `loss` (its backward pass and the head's), `recompute` (the last layer's
  backward pass, behind its recomputation where activations are checkpointed), `backward` (the first layer's and the
  embedding's, when all other gradients exist), `step` (the optimizer).
- Between the last and the first layer the live bytes change evenly from layer to layer, so the peak is at one of the
  two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from costkit.memory import losses, optimizers, settings, states, tape
from costkit.memory.blocks import huggingface
from costkit.memory.parts import (
    CHECKPOINTS,
    COMMUNICATION,
    COPIES,
    EMBEDDING,
    GATHERED,
    GRADIENTS,
    LOGITS,
    STEP,
    STREAM,
    WORKING,
)
from costkit.memory.recipes import FP32
from costkit.memory.settings import Setting
from costkit.memory.tape import Bytes, Parts, Tape, times, together

PHASES = ("forward", "loss", "recompute", "backward", "step")


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment of a training step, and what lives then."""

    phase: str
    parts: Parts

    @property
    def live_bytes(self) -> Bytes:
        """All of it."""
        return tape.total(self.parts)


def moments(setting: Setting) -> Iterator[Moment]:
    """Every moment that can be the peak."""
    block = settings.with_gradients(setting, setting.blocks.block(setting.scene))
    yield from _forward_pass(setting, block)
    if setting.stage.has_head:
        yield from _loss(setting, block)
    yield from _layers(setting, block)
    if setting.stage.has_embedding and setting.held.adapters is None:
        yield from _embedding(setting, block)
    yield Moment("step", together(settings.base(setting), settings.output(setting), _step(setting)))


def _running(setting: Setting) -> Parts:
    """What lives through the forward and the backward pass."""
    return together(settings.base(setting), settings.output(setting), settings.inputs(setting))


def _forward_pass(setting: Setting, block: Tape) -> Iterator[Moment]:
    """Its end, and inside the last layer where a layer keeps nothing."""
    stored = times(settings.saved(setting, block), setting.n_saved)
    yield Moment("forward", together(_running(setting), stored, *_forward(setting, block)))
    if setting.checkpointing == "full" and setting.is_hugging_face:
        begun = together(settings.base(setting), settings.inputs(setting), stored)
        for passing in huggingface.passing_bytes(setting.scene):
            yield Moment("forward", together(begun, {WORKING: passing}))


def _layers(setting: Setting, block: Tape) -> Iterator[Moment]:
    """The backward pass of the last layer and of the first."""
    saved, running, n_layers = settings.saved(setting, block), _running(setting), setting.stage.n_layers
    left, before = _left_by_layer(setting, block), _left_by_head(setting)
    for phase, n_other, gradients in (
        ("recompute", setting.n_saved - 1, before),
        ("backward", setting.n_saved - n_layers, before + left * (n_layers - 1)),
    ):
        around = together(running, times(saved, n_other), {GRADIENTS: gradients}, _around_layer(setting, phase))
        for parts in tape.backward(block):
            yield Moment(phase, together(around, parts))


def _around_layer(setting: Setting, phase: str) -> Parts:
    """What lives beside a layer in its backward pass: its checkpoint, the gradient that arrives, gathered weights."""
    scene, held = setting.scene, setting.held
    found: Parts = {STREAM: scene.stream_bytes}
    if setting.checkpointing == "full" and not _block_keeps_its_input(setting):
        found[CHECKPOINTS] = scene.stream_bytes
    if setting.gathers:
        found[GATHERED] = settings.gathered_bytes(setting, phase)
        after_head = phase == "recompute" and setting.stage.has_head and held.adapters is None
        reduced = held.of(held.trained_of_layer)
        found[COMMUNICATION] = FP32 * (max(held.largest_outer, reduced) if after_head else reduced)
    return found


def _block_keeps_its_input(setting: Setting) -> bool:
    """Whether a block's first norm keeps the hidden states themselves, which the checkpoint then shares."""
    scene = setting.scene
    return not setting.is_hugging_face or scene.family.biases or scene.recipe.stream == FP32


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
    if setting.checkpointing != "none" and scene.recipe.casts:
        yield {COPIES: setting.stage.n_layers * sum(step.copies for step in block)}
    if setting.gathers:
        yield {GATHERED: settings.gathered_bytes(setting, "forward")}
    if setting.stage.has_head:
        yield tape.kept(_head(setting))
        held = scene.recipe.compute * losses.n_logits(scene) if setting.holds_output else 0.0
        yield {LOGITS: losses.forward_bytes(setting.loss, scene) - held}
        if scene.recipe.casts or setting.held.adapters is not None:
            yield {STREAM: scene.stream_bytes}
    else:
        yield {STREAM: scene.stream_bytes}


def _head(setting: Setting) -> Tape:
    loss = losses.step(setting.loss, setting.scene)
    norm, matrix = setting.blocks.head(setting.scene)
    return (norm, replace(matrix, outward=loss.inward), loss)


def _loss(setting: Setting, block: Tape) -> Iterator[Moment]:
    """The backward pass of the loss, of the output matrix and of the last norm."""
    held = setting.held
    stored = times(settings.saved(setting, block), setting.n_saved)
    around, reducing = together(_running(setting), stored), Parts()
    if setting.gathers:
        layers = settings.gathered_bytes(setting, "loss")
        around = together(around, {GATHERED: layers + setting.scene.recipe.compute * held.largest_outer})
    for parts in tape.backward(settings.with_gradients(setting, _head(setting))):
        yield Moment("loss", together(around, reducing, parts))
        if setting.gathers and held.adapters is None:
            reducing = {COMMUNICATION: FP32 * held.largest_outer}


def _left_by_head(setting: Setting) -> float:
    """Gradients that the head leaves: of its own matrix, or of an embedding that it is tied to."""
    if not setting.stage.has_head or setting.keeps_gradients:
        return 0.0
    if setting.held.zero >= 2:
        outer = tuple(one for one in setting.held.trained_around if one.part != EMBEDDING)
        return setting.scene.recipe.gradients * setting.held.of(outer, sharded=True)
    return tape.stored(settings.with_gradients(setting, _head(setting)))


def _embedding(setting: Setting, block: Tape) -> Iterator[Moment]:
    """The embedding's backward pass: a gradient of the whole matrix, first beside the one that arrives.

    Where the head is tied to it, then beside the head's and their sum.
    """
    scene, held, recipe = setting.scene, setting.held, setting.scene.recipe
    outer, n_others = held.largest_outer, setting.n_saved - setting.stage.n_layers
    made = recipe.compute if setting.gathers else recipe.gradients
    own = made * held.of(tuple(one for one in held.around if one.part == EMBEDDING))
    if setting.keeps_gradients or setting.gathers:
        own = made * outer
    if setting.stack.is_megatron:
        own = 0.0
    gradients = _left_by_head(setting) + _left_by_layer(setting, block) * setting.stage.n_layers
    in_flight = times(settings.saved(setting, block), n_others)
    found = together(_running(setting), in_flight, {GRADIENTS: gradients, WORKING: own})
    if setting.gathers:
        found = together(found, {GATHERED: recipe.compute * outer, COMMUNICATION: FP32 * outer})
    yield Moment("backward", together(found, {STREAM: scene.stream_bytes}))
    if scene.architecture.tied_embeddings and not setting.gathers and setting.stage.has_head and own:
        yield Moment("backward", together(found, {WORKING: made * outer}))


def _step(setting: Setting) -> Parts:
    held, recipe = setting.held, setting.scene.recipe
    listed = [replace(one, copies=one.copies * setting.stage.n_layers) for one in held.trained_of_layer]
    listed += held.trained_around
    share = held.n_trained(sharded=held.zero >= 1) / max(sum(one.n_each * one.copies for one in listed), 1)
    gradients = 0.0 if setting.keeps_gradients else states.gradients_bytes(held, recipe=recipe)
    needed = optimizers.step_bytes(
        setting.optimizer,
        "fused" if setting.offloads else setting.optimizer_step,
        listed,
        moment_bytes=recipe.moment,
        share=share,
    )
    fp32 = 0.0 if setting.offloads else recipe.step_gradients * held.n_trained(sharded=held.zero >= 1)
    embedded = 0.0 if held.adapters is None else 2 * setting.scene.stream_bytes
    return {GRADIENTS: gradients, STEP: needed + fp32, STREAM: embedded}
