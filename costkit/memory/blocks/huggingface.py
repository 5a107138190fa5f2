"""What do Hugging Face's transformers keep? Their blocks, operation by operation, as PyTorch's autograd sees them.

- Eager PyTorch: every operation keeps its inputs or its result. Linear layers keep their input, and under autocast a
  16-bit copy of their weights. RMSNorm computes in FP32 and keeps the FP32 input and the normalized one. GPT-2's tanh
  GELU is not fused and keeps four tensors.
- Flash attention (SDPA) keeps queries, keys, values, result and one number a row; grouped keys and values are repeated
  for all heads. Given a mask it also keeps that, in the compute format, for every block. Eager attention keeps every
  score.
- A frozen matrix keeps nothing but, under an adapter, an FP32 copy of its input; a quantized one is dequantized each
  time.
- Read off transformers 5.24 under PyTorch 2.13, dropout 0; `memory.scores()` holds it against PyTorch's own tracker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from costkit.memory.blocks.scene import Scene
from costkit.memory.parts import ATTENTION, FEED_FORWARD, LOGITS, NORM, ROUTER
from costkit.memory.recipes import FP32, HALF
from costkit.memory.tape import Bytes, Step, Tape

_ROUTER_BYTES, _NORM_AT_WORK = 3 * FP32, 2 * FP32
"""Logits, probabilities and weights of the router, for every expert; two FP32 tensors in the norm's backward pass."""


def block(scene: Scene) -> Tape:
    """One block: attention, then the feed-forward layer, each behind its norm."""
    parallel = scene.architecture.family == "gpt-neox"
    feed_forward = _experts(scene) if scene.architecture.n_experts else _feed_forward(scene, scene.width, scene.tokens)
    return (
        _norm(scene),
        *(_fused_attention(scene) if scene.family.biases else _attention(scene)),
        _norm(scene, keeps_input=not parallel),
        *feed_forward,
    )


def head(scene: Scene) -> Tape:
    """The last norm and the output matrix."""
    logits = scene.recipe.compute * scene.tokens * scene.vocab
    if scene.adapters is not None:
        return (_norm(scene), Step(LOGITS).passing(inward=scene.stream_bytes, outward=logits))
    matrix = _linear(scene, LOGITS, scene.architecture.hidden, scene.vocab)
    return (_norm(scene), matrix.passing(inward=scene.stream_bytes, outward=logits))


def passing_bytes(scene: Scene) -> Iterator[Bytes]:
    """What lives inside a block whose forward pass keeps nothing: in its attention, then in its feed-forward layer.

    Eager attention has scores in three forms at once, and its probabilities live on through the feed-forward layer.
    """
    compute, stream = scene.recipe.compute, scene.stream_bytes
    queries, keys, width = scene.queries, scene.keys, scene.width
    scores = scene.heads * scene.seq_len * scene.tokens if scene.attention == "eager" else 0.0 * stream
    repeated = 2 * queries if keys < queries else 0.0
    kernel = compute * queries * scene.tokens if scene.attention == "flash" else 2 * FP32 * scores
    yield stream + compute * (queries + 2 * keys + repeated) * scene.tokens + kernel
    n_wide = 3 if scene.family.gated else 2
    wide = compute * width * scene.tokens * max(scene.architecture.n_experts_per_token, 1)
    dequantized = HALF * scene.architecture.hidden * width if scene.adapters and scene.adapters.quantized else 0.0
    yield 2 * stream + n_wide * wide + compute * scores + dequantized


def _linear(
    scene: Scene,
    part: str,
    n_in: float,
    n_out: float,
    *,
    bias: bool = False,
    keeps: bool = True,
    target: str = "",
    tokens: Bytes | None = None,
) -> Step:
    """A linear layer; one that shares its input with another keeps it only under autocast, which casts it for each."""
    tokens = scene.tokens if tokens is None else tokens
    if scene.adapters is not None:
        return _frozen(scene, part, n_in, n_out, keeps=keeps, target=target)
    recipe, weights = scene.recipe, n_in * n_out + (n_out if bias else 0)
    return Step(
        part,
        kept=(scene.input_bytes if recipe.casts else recipe.stream) * n_in * tokens if keeps else 0.0,
        copies=float(recipe.compute * weights) if recipe.casts else 0.0,
        made=float(recipe.compute * weights),
        stored=float(recipe.gradients * weights),
    )


def _frozen(scene: Scene, part: str, n_in: float, n_out: float, *, keeps: bool, target: str) -> Step:
    """A frozen linear layer, and the adapter beside it: an FP32 input, unless the hidden states are FP32 and shared."""
    adapters = scene.adapters
    if adapters is None or target not in adapters.targets:
        return Step(part)
    own_input = keeps or scene.recipe.stream != FP32
    gradients = float(FP32 * adapters.rank * (n_in + n_out))
    kept = FP32 * ((n_in if own_input else 0) + adapters.rank) * scene.tokens
    return Step(part, kept=kept, made=gradients, stored=gradients)


def _dequantized(scene: Scene, n_in: float, n_out: float) -> Bytes:
    """A quantized matrix in 16 bits, with 16-bit gradients of its result in place of those of its input."""
    if scene.adapters is None or scene.adapters.quantized is None:
        return 0.0
    return HALF * n_in * n_out + HALF * (n_out - n_in) * scene.tokens


def _norm(scene: Scene, *, keeps_input: bool = True) -> Step:
    """LayerNorm keeps its input and two numbers a token; RMSNorm an FP32 input, the normalized one, and one number."""
    hidden, stream = scene.architecture.hidden, scene.recipe.stream
    is_trained = scene.adapters is None
    if scene.family.biases:
        kept, spare = (stream * hidden if keeps_input else 0) + 2 * stream, stream * hidden
    else:
        normalized = stream * hidden if is_trained else 0
        kept, spare = FP32 * hidden + FP32 + normalized, (2 if stream != FP32 else 1) * _NORM_AT_WORK * hidden
    gradients = float(scene.recipe.gradients * hidden * (2 if scene.family.biases else 1)) if is_trained else 0.0
    step = Step(NORM, kept=kept * scene.tokens, made=gradients, stored=gradients)
    return step.passing(outward=scene.stream_bytes, spare=spare * scene.tokens)


def _head_norms(scene: Scene) -> Step:
    """RMSNorm of each query and key head."""
    width, stream = scene.queries + scene.keys, scene.recipe.stream
    n_norms = scene.heads * (1 + scene.keys / scene.queries)
    kept = (FP32 + (stream if scene.adapters is None else 0)) * width + FP32 * n_norms
    return Step(NORM, kept=kept * scene.tokens).passing(spare=2 * FP32 * width * scene.tokens)


def _attention(scene: Scene) -> Tape:
    """Queries, keys and values apart, RoPE, the scores, the output matrix."""
    recipe, hidden, tokens = scene.recipe, scene.architecture.hidden, scene.tokens
    queries, keys, bias = scene.queries, scene.keys, scene.family.qkv_bias
    stream, compute = scene.stream_bytes, recipe.compute
    cast = compute * hidden * tokens if recipe.casts else 0.0
    of_keys, nothing = compute * keys * tokens, 0.0 * stream
    query = _linear(scene, ATTENTION, hidden, queries, bias=bias, target="q")
    key = _linear(scene, ATTENTION, hidden, keys, bias=bias, keeps=recipe.casts, target="k")
    value = _linear(scene, ATTENTION, hidden, keys, bias=bias, keeps=recipe.casts, target="v")
    keeps_result = scene.adapters is not None and scene.attention == "eager"
    output = _linear(scene, ATTENTION, queries, hidden, keeps=keeps_result, target="o")
    positions = (_linear(scene, ATTENTION, hidden, queries),) if scene.family.relative_positions else ()
    return (
        query.passing(outward=compute * queries * tokens, spare=stream + _dequantized(scene, hidden, queries)),
        key.passing(inward=nothing, outward=of_keys, spare=stream),
        value.passing(inward=stream, outward=of_keys),
        *positions,
        *((_head_norms(scene),) if scene.family.qk_norm else ()),
        _scores(scene),
        output.passing(inward=compute * queries * tokens, spare=cast + _dequantized(scene, queries, hidden)),
    )


def _fused_attention(scene: Scene) -> Tape:
    """Queries, keys and values from one matrix."""
    recipe, hidden, tokens = scene.recipe, scene.architecture.hidden, scene.tokens
    compute, queries, fused = recipe.compute, scene.queries, scene.queries + 2 * scene.keys
    cast = compute * hidden * tokens if recipe.casts else 0.0
    split = _linear(scene, ATTENTION, hidden, fused, bias=True, target="q")
    output = _linear(scene, ATTENTION, queries, hidden, bias=True, keeps=False, target="o")
    return (
        split.passing(inward=scene.stream_bytes, outward=compute * fused * tokens),
        _scores(scene),
        output.passing(inward=compute * queries * tokens, spare=cast),
    )


def _scores(scene: Scene) -> Step:
    """The attention itself. `eager` writes out every score, and GPT-NeoX keeps the fused matrix behind the values."""
    compute, queries, keys = scene.recipe.compute, scene.queries, scene.keys
    gradients = compute * (queries + 2 * keys)
    if scene.attention == "eager":
        kept, spare = _eager_scores(scene)
    else:
        kept = compute * (7 if scene.architecture.family == "gpt-neox" else 4) * queries + FP32 * scene.heads
        if scene.masked:
            kept = kept + compute * scene.seq_len
        spare = 2 * compute * (queries - keys) + FP32 * queries
    step = Step(ATTENTION, kept=kept * scene.tokens)
    return step.passing(
        inward=gradients * scene.tokens, outward=compute * queries * scene.tokens, spare=spare * scene.tokens
    )


def _eager_scores(scene: Scene) -> tuple[Bytes, Bytes]:
    """Bytes a token that eager attention keeps, and those its backward pass needs: CUDA's softmax makes three more."""
    compute, queries, keys = scene.recipe.compute, scene.queries, scene.keys
    scores = scene.heads * scene.seq_len
    in_fp32 = scene.architecture.family != "gpt2" or scene.recipe.casts
    softmax = FP32 if in_fp32 else compute
    cast = compute if softmax != compute else 0
    result = compute * queries if scene.adapters is None else 0
    kept = 3 * compute * queries + result + (softmax + cast) * scores
    at_work = (2 * softmax + compute - cast if cast else 3 * softmax) * scores
    return kept, at_work + compute * queries - compute * (queries + 2 * keys)


def _feed_forward(scene: Scene, width: float, tokens: Bytes) -> Tape:
    """Two matrices around an activation, or a gate and two matrices."""
    recipe, hidden, compute = scene.recipe, scene.architecture.hidden, scene.recipe.compute
    wide, stream = compute * width * tokens, recipe.stream * hidden * tokens
    cast = compute * hidden * tokens if recipe.casts else 0.0
    bias = scene.family.biases
    first = _linear(
        scene, FEED_FORWARD, hidden, width, bias=bias, tokens=tokens, target="gate" if scene.family.gated else "up"
    )
    last = _linear(scene, FEED_FORWARD, width, hidden, bias=bias, tokens=tokens, target="down")
    down = last.passing(inward=wide, spare=cast + _dequantized(scene, width, hidden))
    if not scene.family.gated:
        return (first.passing(inward=stream, outward=wide), _activation(scene, wide), down)
    second = _linear(scene, FEED_FORWARD, hidden, width, keeps=recipe.casts, tokens=tokens, target="up")
    return (
        first.passing(outward=wide, spare=stream + _dequantized(scene, hidden, width)),
        Step(FEED_FORWARD, kept=wide).passing(inward=wide, outward=wide),
        second.passing(inward=stream, outward=wide, spare=_dequantized(scene, hidden, width)),
        Step(FEED_FORWARD, kept=2 * wide).passing(inward=2 * wide, outward=wide),
        down,
    )


def _activation(scene: Scene, wide: Bytes) -> Step:
    if scene.architecture.family == "gpt2":
        return Step(FEED_FORWARD, kept=4 * wide).passing(inward=wide, outward=wide, spare=wide)
    return Step(FEED_FORWARD, kept=wide).passing(inward=wide, outward=wide)


def _experts(scene: Scene) -> Tape:
    """The router, each expert's share of the tokens, and the expert that sees them all.

    The gradients of all experts are there at the end, though a tape plays them as one matrix of their width.
    """
    architecture = scene.architecture
    n_here = scene.n_experts_here
    of_all = [
        replace(step, copies=step.copies * n_here, made=step.made * n_here, stored=step.stored * n_here)
        for step in _feed_forward(scene, scene.width, scene.routed_tokens)
    ]
    shared = architecture.shared_expert_ffn / scene.tensor
    return (
        Step(ROUTER, kept=_ROUTER_BYTES * architecture.n_experts * scene.tokens),
        *of_all,
        *(_feed_forward(scene, shared, scene.tokens) if shared else ()),
    )
