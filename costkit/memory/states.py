"""What does a GPU hold whatever the batch is? Weights, master copies, gradients and the optimizer's state.

- ZeRO divides by the GPUs that hold the same weights: experts have fewer of those, by their own degree of parallelism.
- The last pipeline stage holds a copy of an embedding that is tied to the head, with gradients and state of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit.architectures import Architecture
from costkit.memory import optimizers, tensors
from costkit.memory.adapters import Adapters
from costkit.memory.parts import EMBEDDING, HEAD, MASTER, STATE, WEIGHTS
from costkit.memory.recipes import FP32, Recipe
from costkit.memory.sharding import Sharding, Stage
from costkit.memory.tape import Parts
from costkit.memory.tensors import Tensor


@dataclass(frozen=True, slots=True)
class Holdings:
    """The tensors of one pipeline stage with the share of them that one GPU works on.

    zero: The ZeRO stage. of_layer: Tensors of one layer. around: Those before and after the layers of this stage.
    """

    sharding: Sharding
    zero: int
    n_layers: int
    of_layer: tuple[Tensor, ...]
    around: tuple[Tensor, ...]
    adapters: Adapters | None = None
    adapters_of_layer: tuple[Tensor, ...] = ()

    @property
    def trained_of_layer(self) -> tuple[Tensor, ...]:
        """The tensors of one layer that have gradients."""
        return self.of_layer if self.adapters is None else self.adapters_of_layer

    @property
    def trained_around(self) -> tuple[Tensor, ...]:
        """The tensors before and after the layers that have gradients."""
        return self.around if self.adapters is None else ()

    @property
    def largest_outer(self) -> float:
        """Elements of the embedding or the head on this GPU, whichever this stage has."""
        outer = (one for one in self.around if one.part in (EMBEDDING, HEAD))
        return max((self.of((one,)) for one in outer), default=0.0)

    def share(self, tensor: Tensor) -> float:
        """The part of a tensor that this GPU multiplies with: what tensor and expert parallelism leave."""
        degrees = self.sharding
        return tensor.share(tensor=degrees.tensor, expert=degrees.expert, expert_tensor=degrees.expert_tensor)

    def shards(self, tensor: Tensor) -> float:
        """GPUs that ZeRO divides a tensor by."""
        n = self.sharding.n_shards
        if tensor.split != "expert":
            return n
        return n * self.sharding.tensor / (self.sharding.expert * self.sharding.expert_tensor)

    def n_trained(self, *, sharded: bool = False) -> float:
        """Trained elements on this GPU, or of its ZeRO shard."""
        layers = self.n_layers * self.of(self.trained_of_layer, sharded=sharded)
        return layers + self.of(self.trained_around, sharded=sharded)

    def weights_bytes(self, recipe: Recipe) -> float:
        """All weights on this GPU: trained ones in the recipe's format, frozen ones in their own."""
        sharded = self.zero == 3
        if self.adapters is None:
            return recipe.weights * self.n_trained(sharded=sharded)
        frozen = sum(
            times * self.adapters.frozen_bytes(one) * self.of((one,), sharded=sharded)
            for times, listed in ((self.n_layers, self.of_layer), (1, self.around))
            for one in listed
        )
        return frozen + FP32 * self.n_trained(sharded=sharded)

    def of(self, listed: tuple[Tensor, ...], *, sharded: bool = False) -> float:
        """Elements of these tensors on this GPU, or of its ZeRO shard."""
        return sum(one.n_each * one.copies * self.share(one) / (self.shards(one) if sharded else 1) for one in listed)

    def moments_bytes(self, optimizer: str, recipe: Recipe) -> float:
        """The optimizer's state on this GPU."""
        return sum(
            times
            * one.copies
            * self.share(one)
            * optimizers.moments_bytes(optimizer, one, moment_bytes=recipe.moment)
            / (self.shards(one) if self.zero >= 1 else 1)
            for times, listed in ((self.n_layers, self.trained_of_layer), (1, self.trained_around))
            for one in listed
        )


def holdings(
    architecture: Architecture, stage: Stage, *, sharding: Sharding, zero: int, adapters: Adapters | None = None
) -> Holdings:
    """What one pipeline stage holds."""
    around = []
    for one in tensors.around(architecture):
        if one.part == EMBEDDING:
            around += [one] if stage.has_embedding else []
        else:
            around += [one] if stage.has_head else []
    if stage.has_head and architecture.tied_embeddings and not stage.has_embedding:
        around.append(Tensor(HEAD, architecture.vocab, architecture.hidden, name="tied head"))
    trained = () if adapters is None else adapters.tensors(architecture)
    return Holdings(sharding, zero, stage.n_layers, tensors.of_layer(architecture), tuple(around), adapters, trained)


def fixed(held: Holdings, *, recipe: Recipe, optimizer: str) -> Parts:
    """Weights, master weights and the optimizer's state."""
    return {
        WEIGHTS: held.weights_bytes(recipe),
        MASTER: recipe.master * held.n_trained(sharded=held.zero >= 1),
        STATE: held.moments_bytes(optimizer, recipe),
    }


def gradients_bytes(held: Holdings, *, recipe: Recipe) -> float:
    """All gradients as they are stored between backward pass and step."""
    return recipe.gradients * held.n_trained(sharded=held.zero >= 2)
