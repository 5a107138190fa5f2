"""What does torchtitan keep? FSDP2's 16-bit blocks, eager or compiled one by one, and the loss in the ways it offers.

- Fused norms keep their input, linear layers theirs; grouped keys and values are repeated and kept for all heads.
  Compiled blocks recompute the gate's activation. With tensor parallelism norms and residuals are split over the
  sequence, and the inputs of the matrices gathered.
- Per-operation selective checkpointing keeps the attention's result and every second matrix product. Eager PyTorch also
  keeps the product of the last matrix, which nothing reads.
- Read off torchtitan's sources and counted with PyTorch's tracker of FSDP2; `memory.scores()` holds it against its
  runs.
"""

from __future__ import annotations

from dataclasses import replace

from costkit.memory.blocks import megatron
from costkit.memory.blocks.scene import Scene
from costkit.memory.parts import ATTENTION, FEED_FORWARD, LOGITS, NORM
from costkit.memory.recipes import FP32
from costkit.memory.tape import Bytes, Parts, Step, Tape


def block(scene: Scene) -> Tape:
    """One block. `made` are 16-bit gradients of gathered weights, which live until they are reduced and scattered."""
    return (*_attention(scene), *_feed_forward(scene))


def head(scene: Scene) -> Tape:
    """The last norm and the output matrix."""
    hidden = scene.recipe.compute * scene.architecture.hidden * scene.tokens
    matrix = _matrix(scene, LOGITS, scene.architecture.hidden, scene.vocab)
    return (_norm(scene), matrix.passing(inward=hidden, outward=scene.recipe.compute * scene.tokens * scene.vocab))


def selective(scene: Scene) -> Parts:
    """What per-operation checkpointing keeps of a block."""
    compute, hidden, tokens = scene.recipe.compute, scene.architecture.hidden, scene.tokens
    attention = compute * (2 * scene.queries + scene.keys) + FP32 * scene.heads
    rows = scene.routed_tokens if scene.architecture.n_experts else tokens
    reduced = (1 if scene.compiled else 2) * compute * hidden * scene.stream_tokens if scene.tensor > 1 else 0.0
    unread = 0.0 if scene.compiled else compute * hidden * tokens
    return {
        "checkpoints": scene.stream_bytes + reduced + unread,
        ATTENTION: attention * tokens,
        FEED_FORWARD: compute * scene.width * rows,
    }


def _matrix(scene: Scene, part: str, n_in: float, n_out: float, kept: Bytes = 0.0) -> Step:
    made = float(scene.recipe.compute * n_in * n_out)
    return Step(part, kept=kept, made=made, stored=made)


def _norm(scene: Scene) -> Step:
    """Its input, and its output for the whole sequence."""
    compute, hidden = scene.recipe.compute, scene.architecture.hidden
    kept = compute * hidden * scene.tokens + scene.stream_bytes
    return Step(NORM, kept=kept).passing(outward=compute * hidden * scene.tokens, spare=scene.stream_bytes)


def _attention(scene: Scene) -> Tape:
    compute, hidden, tokens = scene.recipe.compute, scene.architecture.hidden, scene.tokens
    queries, keys, out = scene.queries, scene.keys, compute * scene.queries * scene.tokens
    fused = compute * (queries + 2 * keys) * tokens
    if scene.attention == "eager":
        core = (4 * compute * queries + (FP32 + compute) * scene.heads * scene.seq_len) * tokens
        spare = (compute + 2 * FP32) * scene.heads * scene.seq_len * tokens
    else:
        core = (4 * compute * queries + FP32 * scene.heads) * tokens
        spare = 2 * compute * (queries - keys) * tokens
    gradients = compute * hidden * tokens
    norms = compute * (queries + keys) * tokens if scene.family.qk_norm else 0.0
    positions = (_matrix(scene, ATTENTION, hidden, queries),) if scene.family.relative_positions else ()
    return (
        _norm(scene),
        *positions,
        _matrix(scene, ATTENTION, hidden, queries + 2 * keys, norms).passing(inward=gradients, outward=fused),
        Step(ATTENTION, kept=core).passing(inward=fused, outward=out, spare=spare),
        _matrix(scene, ATTENTION, queries, hidden).passing(inward=out),
    )


def _feed_forward(scene: Scene) -> Tape:
    if scene.architecture.n_experts:
        return (_norm(scene), *_experts(scene))
    compute, hidden = scene.recipe.compute, scene.architecture.hidden
    wide, gradients = compute * scene.width * scene.tokens, compute * hidden * scene.tokens
    gated = scene.family.gated
    n_up = 2 if gated else 1
    activated = wide if gated and not scene.compiled else 0.0
    return (
        _norm(scene),
        _matrix(scene, FEED_FORWARD, hidden, n_up * scene.width).passing(inward=gradients, outward=n_up * wide),
        Step(FEED_FORWARD, kept=n_up * wide + activated).passing(inward=n_up * wide, outward=wide),
        _matrix(scene, FEED_FORWARD, scene.width, hidden, wide).passing(inward=wide),
    )


def _experts(scene: Scene) -> Tape:
    """Megatron-LM's set of tensors, with the 16-bit gradients of the experts' gathered matrices."""
    router, up, activation, down, *shared = megatron.experts(scene)
    hidden, compute = scene.architecture.hidden, scene.recipe.compute
    one = float(compute * scene.n_experts_here * hidden * scene.width)
    gate = float(compute * scene.architecture.n_experts * hidden)
    n_up = 2 if scene.family.gated else 1
    return (
        replace(router, made=gate, stored=gate),
        replace(up, made=n_up * one, stored=n_up * one),
        activation,
        replace(down, made=one, stored=one),
        *_with_shared_gradients(scene, shared),
    )


def _with_shared_gradients(scene: Scene, steps: list[Step]) -> Tape:
    """The expert that sees every token: a gate of one number, and matrices as of a dense block."""
    if not steps:
        return ()
    hidden, compute = scene.architecture.hidden, scene.recipe.compute
    one = float(compute * hidden * scene.architecture.shared_expert_ffn / scene.tensor)
    gate, (up, activation, down) = float(compute * hidden), steps
    return (replace(up, made=2 * one + gate, stored=2 * one + gate), activation, replace(down, made=one, stored=one))
