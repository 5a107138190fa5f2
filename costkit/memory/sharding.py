"""How is the work divided among GPUs? Degrees of parallelism, checked against each other and against the model.

- data x context x tensor x pipeline is the number of GPUs; experts are spread over data x context x tensor.
- ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054) divides by data x context: stage 1 the optimizer's state, 2 the
  gradients too, 3 the weights too. FSDP2 is stage 3, and stage 2 while it keeps the weights gathered after the forward
  pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

from costkit.architectures import Architecture


@dataclass(frozen=True, slots=True)
class Sharding:
    """Degrees of parallelism; all 1 is a single GPU.

    zero: ZeRO stage 0 to 3; None is the stack's own (3 of FSDP2, else 0).
    sequence_parallel: Whether norms and residuals are divided by `tensor` too; None is the stack's own (FSDP2 yes,
    Megatron-LM no). interleave: Model chunks a pipeline stage holds (interleaved 1F1B), 1 without.
    """

    data: int = 1
    zero: int | None = None
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    interleave: int = 1
    sequence_parallel: bool | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("zero", "sequence_parallel"):
                continue
            if type(value) is not int or value < 1:
                raise ValueError(f"sharding {field.name} is {value!r}; it must be a whole number of at least 1")
        if self.zero is not None and (type(self.zero) is not int or not 0 <= self.zero <= 3):
            raise ValueError(f"sharding zero is {self.zero!r}; it must be a ZeRO stage from 0 to 3")
        if self.sequence_parallel is not None and not isinstance(self.sequence_parallel, bool):
            raise ValueError(
                f"sharding sequence_parallel is {self.sequence_parallel!r}; it must be True, False or None"
            )
        spread = self.data * self.context * self.tensor
        if spread % self.expert or spread % (self.expert * self.expert_tensor):
            fitting = [n for n in range(1, spread + 1) if spread % (n * min(self.tensor, spread // n)) == 0]
            raise ValueError(
                f"sharding expert is {self.expert}; experts are spread over data x context x tensor, {spread} GPUs,"
                f" and can be over {max(n for n in fitting if n <= max(self.expert, 1))} of them"
            )

    @property
    def n_gpus(self) -> int:
        """GPUs that hold one copy of the work."""
        return self.data * self.tensor * self.pipeline * self.context

    @property
    def n_shards(self) -> int:
        """GPUs that ZeRO divides by."""
        return self.data * self.context

    @property
    def expert_tensor(self) -> int:
        """GPUs that share each expert: as many as share the other matrices, unless expert parallelism needs them."""
        return min(self.tensor, self.n_shards * self.tensor // self.expert)

    @property
    def n_communicators(self) -> int:
        """Process groups that move data: one for each kind of parallelism in use."""
        degrees = (self.data, self.tensor, self.pipeline, self.context, self.expert)
        return sum(degree > 1 for degree in degrees)

    def check(self, architecture: Architecture) -> None:
        """Raise `ValueError` where the model can't be divided so."""
        name = architecture.name
        _check_tensor(self.tensor, architecture)
        if self.pipeline * self.interleave > architecture.n_layers:
            chunks = f"sharding pipeline x sharding interleave is {self.pipeline * self.interleave}"
            what = f"sharding pipeline is {self.pipeline}" if self.interleave == 1 else chunks
            raise ValueError(f"{what}, but {name} has {architecture.n_layers} layers: use at most that many")
        if self.interleave > 1 and self.pipeline == 1:
            raise ValueError(f"sharding interleave is {self.interleave}, which needs sharding pipeline above 1")
        if self.expert > 1 and (not architecture.n_experts or architecture.n_experts % self.expert):
            has = f"{architecture.n_experts} experts" if architecture.n_experts else "no experts"
            use = divisor_near(max(architecture.n_experts, 1), self.expert)
            raise ValueError(f"sharding expert is {self.expert}, but {name} has {has}: use {use}")

    def check_world(self, n_gpus: int) -> None:
        """Raise `ValueError` unless the degrees make up so many GPUs, or divide them where `data` is left at 1."""
        others = self.n_gpus // self.data
        if type(n_gpus) is not int or n_gpus < 1:
            raise ValueError(f"n_gpus is {n_gpus!r}; it must be a whole number of at least 1")
        if n_gpus % others or (self.data > 1 and n_gpus != self.n_gpus):
            degrees = f"tensor {self.tensor} x pipeline {self.pipeline} x context {self.context}"
            copies = f" x data {self.data}" if self.data > 1 else ""
            need = f"{self.n_gpus}" if copies else f"a multiple of {others}"
            raise ValueError(
                f"n_gpus is {n_gpus:,}, which can't be divided into {degrees}{copies}: use {need}, or other degrees"
            )


def _check_tensor(tensor: int, architecture: Architecture) -> None:
    name, heads = architecture.name, architecture.n_heads
    if tensor > heads:
        raise ValueError(f"sharding tensor is {tensor}, but {name} has {heads} attention heads: use at most {heads}")
    if heads % tensor:
        raise ValueError(
            f"sharding tensor is {tensor}, which does not divide the {heads} attention heads of {name}: use"
            f" {divisor_near(heads, tensor)}"
        )
    if architecture.ffn % tensor:
        raise ValueError(
            f"sharding tensor is {tensor}, which does not divide {name}'s ffn width of {architecture.ffn}: use"
            f" {divisor_near(math.gcd(heads, architecture.ffn), tensor)}"
        )


def divisor_near(whole: int, wanted: int) -> int:
    """The largest divisor of a number that is no more than the one wanted."""
    return max(n for n in range(1, min(wanted, whole) + 1) if whole % n == 0)


@dataclass(frozen=True, slots=True)
class Stage:
    """What one pipeline stage holds. `in_flight`: micro-batches whose activations it keeps when it is fullest."""

    index: int
    n_layers: int
    has_embedding: bool
    has_head: bool
    in_flight: float


def stages(sharding: Sharding, *, n_layers: int) -> Iterator[Stage]:
    """The pipeline stages, first to last; layers that can't be shared out evenly go to the first ones.

    Under 1F1B stage i of p keeps p - i micro-batches (Narayanan et al. 2021, arXiv:2104.04473, section 2.2);
    interleaved with v chunks it keeps 2 (p - i - 1) + (v - 1) p + 1 chunks of L / (p v) layers.

    >>> [stage.in_flight for stage in stages(Sharding(pipeline=4), n_layers=32)]
    [4, 3, 2, 1]
    """
    p, v = sharding.pipeline, sharding.interleave
    for i in range(p):
        chunks = 2 * (p - i - 1) + (v - 1) * p + 1
        yield Stage(
            index=i,
            n_layers=n_layers // p + (1 if i < n_layers % p else 0),
            has_embedding=i == 0,
            has_head=i == p - 1,
            in_flight=p - i if v == 1 else chunks / v,
        )
