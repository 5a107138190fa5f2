"""What does Megatron-LM keep? Transformer Engine's fused operations, 16-bit hidden states, a buffer of gradients.

- Fused norm-and-linear layers keep the norm's input and its output; bias, dropout and residual are one operation that
  keeps a mask of one byte; softmax statistics are kept instead of scores. Weight gradients are added to the FP32
  buffer at once.
- With tensor parallelism t the parts between norms are divided by t; norms and residuals only with sequence parallelism
  (Korthikanti et al. 2022, arXiv:2205.05198, section 4.2).
- cuDNN's fused attention, Transformer Engine's own choice from Hopper on, keeps its result once. FlashAttention 2 works
  batch first and keeps a second copy: 2% more for a 7B model on A100s, which is not counted.
"""

from __future__ import annotations

from costkit.memory.blocks.scene import Scene
from costkit.memory.parts import ATTENTION, DROPOUT, EXPERTS, FEED_FORWARD, INPUTS, LOGITS, NORM, ROUTER
from costkit.memory.recipes import FP32
from costkit.memory.tape import Bytes, Parts, Step, Tape

_IDS_BYTES, _MASK_BYTES = 28, 1
"""Token ids, labels and positions as 64-bit integers and an FP32 loss mask, a token; the attention mask, a score."""
_ROUTER_BYTES = 9
"""FP32 logits, FP32 probabilities and the routing map, for every expert."""


def block(scene: Scene) -> Tape:
    """One block."""
    feed_forward = experts(scene) if scene.architecture.n_experts else _feed_forward(scene, scene.width)
    masks = (_dropout_mask(scene),) if scene.dropout else ()
    return (_norm(scene), *_attention(scene), *masks, _norm(scene), *feed_forward, *masks)


def head(scene: Scene) -> Tape:
    """The last norm and the output matrix."""
    hidden = scene.recipe.compute * scene.architecture.hidden * scene.tokens
    matrix = Step(LOGITS).passing(inward=hidden, outward=scene.recipe.compute * scene.tokens * scene.vocab)
    return (_norm(scene), matrix)


def inputs(scene: Scene) -> Parts:
    """Token ids, labels, positions and loss mask, and the attention mask that the data loader makes if it is to."""
    mask = _MASK_BYTES * scene.tokens * scene.seq_len if scene.masked else 0.0
    return {INPUTS: _IDS_BYTES * scene.tokens + mask}


def attention_core_bytes(scene: Scene) -> Bytes:
    """What selective checkpointing recomputes: softmax statistics, or scores and their mask."""
    return _core(scene) - scene.recipe.compute * scene.queries * scene.tokens


def _norm(scene: Scene) -> Step:
    statistics = FP32 * (2 if scene.family.biases else 1)
    hidden, compute = scene.architecture.hidden, scene.recipe.stream
    kept = (compute + scene.input_bytes) * hidden + statistics
    return Step(NORM, kept=kept * scene.stream_tokens).passing(
        outward=compute * hidden * scene.tokens, spare=scene.stream_bytes
    )


def _attention(scene: Scene) -> Tape:
    compute, tokens = scene.recipe.compute, scene.tokens
    fused, out = compute * (scene.queries + 2 * scene.keys) * tokens, compute * scene.queries * tokens
    hidden = compute * scene.architecture.hidden * tokens
    scores = compute * 2 * scene.heads * scene.seq_len * tokens if scene.attention == "eager" else 0.0 * tokens
    norms = compute * (scene.queries + scene.keys) * tokens if scene.family.qk_norm else 0.0
    return (
        Step(ATTENTION, kept=norms).passing(inward=hidden, outward=fused),
        Step(ATTENTION, kept=fused + _core(scene)).passing(inward=fused, outward=out, spare=scores),
        Step(ATTENTION).passing(inward=out),
    )


def _core(scene: Scene) -> Bytes:
    """The attention itself: its result and what its backward pass needs besides queries, keys and values."""
    compute, out = scene.recipe.compute, scene.recipe.compute * scene.queries
    if scene.attention == "eager":
        per_score = 2 * compute + _MASK_BYTES if scene.dropout else compute
        return (out + per_score * scene.heads * scene.seq_len) * scene.tokens
    return (out + FP32 * scene.heads) * scene.tokens


def _dropout_mask(scene: Scene) -> Step:
    return Step(DROPOUT, kept=_MASK_BYTES * scene.architecture.hidden * scene.stream_tokens)


def _feed_forward(scene: Scene, width: float, part: str = FEED_FORWARD) -> Tape:
    compute, tokens = scene.recipe.compute, scene.tokens
    wide = compute * width * tokens
    up, hidden = wide * (2 if scene.family.gated else 1), compute * scene.architecture.hidden * tokens
    return (
        Step(part).passing(inward=hidden, outward=up),
        Step(part, kept=up).passing(inward=up, outward=wide),
        Step(part, kept=scene.input_bytes * width * tokens).passing(inward=wide),
    )


def experts(scene: Scene) -> Tape:
    """The router, the tokens sent to this GPU's experts, and the expert that sees them all."""
    architecture, compute = scene.architecture, scene.recipe.compute
    wide, hidden = (compute * width * scene.routed_tokens for width in (scene.width, architecture.hidden))
    up = wide * (2 if scene.family.gated else 1)
    shared: Tape = ()
    if architecture.shared_expert_ffn:
        shared = _feed_forward(scene, architecture.shared_expert_ffn / scene.tensor)
    return (
        Step(ROUTER, kept=_ROUTER_BYTES * architecture.n_experts * scene.stream_tokens),
        Step(EXPERTS, kept=hidden).passing(inward=hidden, outward=up),
        Step(EXPERTS, kept=up).passing(inward=up, outward=wide),
        Step(EXPERTS, kept=wide).passing(inward=wide, spare=hidden),
        *shared,
    )
