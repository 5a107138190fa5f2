"""What does a training stack do where nothing is said, and what can it not do?

- `huggingface` is transformers under PyTorch's autocast with DDP or FSDP, `fsdp2` is torchtitan, `simplefsdp` the same
  blocks as one compiled graph, `megatron` is Megatron-LM with its buffers, `deepspeed` is ZeRO over Hugging Face's
  blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One training stack.

    blocks: Whose blocks it trains: "huggingface", "torchtitan" or "megatron".
    zero, most_zero: The ZeRO stage where none is given, and the highest that it has.
    always_shards: Whether states are divided whatever the stage says (FSDP2: stage 2 only keeps the weights gathered).
    gathers_aside: Whether weights are gathered and gradients reduced on CUDA streams of their own.
    buffers_reduce: Whether DDP's buckets stand beside the gradients.
    own_step: The optimizer's step. has_steps: Whether another can be picked.
    compiles: Whether blocks are compiled: always, never, or as a request says (None).
    has_selective: Whether there is a switch for selective checkpointing.
    has_tensor, has_eight_bit: Whether tensor parallelism and an 8-bit optimizer are offered as ways out.
    """

    blocks: str
    zero: int = 0
    most_zero: int = 3
    always_shards: bool = False
    gathers_aside: bool = False
    buffers_reduce: bool = False
    own_step: str = "fused"
    has_steps: bool = True
    compiles: bool | None = False
    has_selective: bool = True
    has_tensor: bool = True
    has_eight_bit: bool = True

    @property
    def is_hugging_face(self) -> bool:
        """Whether the blocks are those of transformers, which are given a mask and keep it."""
        return self.blocks == "huggingface"

    @property
    def is_megatron(self) -> bool:
        """Whether gradients are added to buffers that live all the time, and GPT-style blocks drop activations."""
        return self.blocks == "megatron"

    @property
    def is_torchtitan(self) -> bool:
        """Whether tensor parallelism divides the sequence too, and a loss is computed on sharded logits."""
        return self.blocks == "torchtitan"


BY_NAME: Mapping[str, Stack] = MappingProxyType(
    {
        "huggingface": Stack(
            blocks="huggingface", buffers_reduce=True, own_step="foreach", has_selective=False, has_tensor=False
        ),
        "fsdp2": Stack(blocks="torchtitan", zero=3, always_shards=True, gathers_aside=True, compiles=None),
        "simplefsdp": Stack(blocks="torchtitan", zero=3, always_shards=True, compiles=True),
        "megatron": Stack(blocks="megatron", most_zero=1, has_steps=False, has_eight_bit=False),
        "deepspeed": Stack(blocks="huggingface", has_steps=False, has_selective=False, has_tensor=False),
    }
)
STACKS = tuple(BY_NAME)
