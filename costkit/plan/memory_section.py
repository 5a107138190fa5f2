"""Which keys decide how much memory a GPU needs? The section `[memory]` of a plan."""

from __future__ import annotations

from typing import Annotated

from costkit import memory
from costkit.plan.kinds import Choice, Flag, Number
from costkit.plan.section import Section

_FROZEN = ("16-bit", "nf4")


def _degree(label: str, about: str, high: int, unit: str = "GPUs") -> Number:
    return Number(label, unit, 1, high, 1, 1e6, about, whole=True)


def _ratio(label: str, about: str) -> Number:
    return Number(label, "times the estimate", 0.5, 2, 0.2, 5, about)


class MemorySection(Section):
    """What decides how much memory a GPU needs."""

    micro_batch: Annotated[
        int,
        Number("Micro-batch", "sequences", 1, 128, 1, 1e6, "Sequences that one GPU processes at once.", whole=True),
    ] = 1
    effective_batch: Annotated[
        int | None,
        Number(
            "Batch",
            "sequences",
            1,
            16384,
            1,
            1e9,
            "Sequences of one optimizer step, all GPUs and accumulation together; left out: no accumulation.",
            whole=True,
        ),
    ] = None
    precision: Annotated[
        str,
        Choice(
            "Precision", lambda: memory.PRECISIONS, "Number formats of weights and compute; -mixed keeps FP32 weights."
        ),
    ] = "bf16-mixed"
    optimizer: Annotated[
        str, Choice("Optimizer", lambda: memory.OPTIMIZERS, "The optimizer, for the state it keeps.")
    ] = "adamw"
    checkpointing: Annotated[
        str,
        Choice("Activation checkpointing", lambda: memory.CHECKPOINTING, "How much of the forward pass is recomputed."),
    ] = "none"
    attention: Annotated[
        str,
        Choice("Attention", lambda: memory.ATTENTION, "flash never keeps the sequence-by-sequence scores, eager does."),
    ] = "flash"
    stack: Annotated[
        str, Choice("Stack", lambda: memory.STACKS, "The training code; stacks differ in what they keep.")
    ] = "huggingface"
    loss: Annotated[
        str | None,
        Choice(
            "Loss",
            lambda: tuple(memory.LOSSES),
            "How the loss is computed from the logits; left out: as the stack does.",
        ),
    ] = None
    optimizer_step: Annotated[
        str | None,
        Choice(
            "Optimizer step", lambda: memory.STEPS, "PyTorch's implementation of the step; left out: as the stack does."
        ),
    ] = None
    compiled: Annotated[bool, Flag("Compiled blocks", "Whether torch.compile compiles the blocks (stack fsdp2).")] = (
        False
    )
    padded: Annotated[
        bool | None,
        Flag(
            "Padded or packed batches", "Whether attention is given a mask, and keeps it; left out: as the stack does."
        ),
    ] = None
    dropout: Annotated[
        bool | None, Flag("Dropout", "Whether activations are dropped, which keeps masks; left out: as the stack does.")
    ] = None
    offload_optimizer: Annotated[
        bool, Flag("Optimizer on the CPU", "Whether the optimizer's state is kept in the host's memory.")
    ] = False
    zero_stage: Annotated[
        int | None,
        Number(
            "ZeRO stage",
            "ZeRO stages",
            0,
            3,
            0,
            3,
            "What data-parallel GPUs divide: 1 optimizer, 2 and gradients, 3 and weights; left out: as the stack does.",
            "linear",
            whole=True,
        ),
    ] = None
    tensor_parallel: Annotated[int, _degree("Tensor parallel", "GPUs that share each matrix.", 64)] = 1
    pipeline_parallel: Annotated[int, _degree("Pipeline parallel", "Stages that share the layers.", 128)] = 1
    interleave: Annotated[
        int, _degree("Model chunks a stage", "Chunks of interleaved pipeline stages.", 32, "chunks")
    ] = 1
    sequence_parallel: Annotated[
        bool | None,
        Flag("Sequence parallel", "Whether tensor parallelism divides norms too; left out: as the stack does."),
    ] = None
    context_parallel: Annotated[int, _degree("Context parallel", "GPUs that share each sequence.", 128)] = 1
    expert_parallel: Annotated[int, _degree("Expert parallel", "GPUs that share the experts.", 256)] = 1
    adapter_rank: Annotated[
        int | None,
        Number(
            "LoRA rank",
            "ranks",
            1,
            256,
            1,
            65536,
            "Rank of LoRA adapters; left out: all weights are trained.",
            whole=True,
        ),
    ] = None
    adapter_targets: Annotated[
        str, Choice("LoRA on", lambda: tuple(memory.ADAPTER_GROUPS), "Which matrices of every block have adapters.")
    ] = "attention"
    frozen_weights: Annotated[
        str, Choice("Frozen weights", lambda: _FROZEN, "How LoRA's frozen weights are stored: nf4 is QLoRA.")
    ] = "16-bit"
    allocated_ratio: Annotated[
        float | None, _ratio("Your run's allocated bytes", "Allocated bytes of a run of your own over those estimated.")
    ] = None
    reserved_ratio: Annotated[
        float | None, _ratio("Your run's reserved bytes", "Reserved bytes of a run of your own over those estimated.")
    ] = None
