"""What does training really hold in memory? Printed bytes and savings, recomputed from shapes, recipes and budgets.

- Weights and optimizer states are those of `n_params` weights, of one matrix of `n_rows` by `n_columns`, or of every
  tensor of an `architecture`.
- Activations are what a step on one GPU needs before the optimizer's turn besides weights and their copies, gradients
  and states, at the worst moment: a layer that is recomputed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from costkit import architectures, memory, tables
from costkit.architectures import Architecture
from costkit.claims.inputs import Inputs, Kinds, Row
from costkit.claims.judging import checked
from costkit.claims.result import Checked
from costkit.claims.rows import rows_of
from costkit.memory import optimizers, recipes, tensors
from costkit.memory.parts import COPIES, FEED_FORWARD, FP8_COPIES, GRADIENTS, MASTER, STATE, WEIGHTS, WORKSPACES
from costkit.memory.tensors import Tensor
from costkit.units import GB, GIB, MB, MIB

_UNITS: Mapping[str, float] = MappingProxyType({"GB": GB, "GiB": GIB, "MB": MB, "MiB": MIB, "bytes": 1.0})
_NO_ACTIVATIONS = frozenset({WEIGHTS, MASTER, STATE, GRADIENTS, WORKSPACES, FP8_COPIES})
_DEPEND_ON_SHAPE = ("adafactor", "muon")


def memory_checks() -> list[Checked]:
    """The memory table of the lesson on training cost, recomputed by this package.

    >>> [check.id for check in memory_checks() if check.verdict == "holds"][:2]
    ['adam8bit-7b', 'adam8bit-cut']
    """
    return [checked(row, KINDS) for row in rows_of("memory")]


class _Inputs(Inputs):
    """The shapes, the recipe and the budgets that a row's cells stand for."""

    @property
    def architecture(self) -> Architecture:
        return architectures.named(self.word("architecture"))

    @property
    def recipe(self) -> recipes.Recipe:
        return recipes.recipe(self.word("precision", "bf16-mixed"), stack=self.word("stack", "huggingface"))

    @property
    def held(self) -> list[tuple[int, Tensor]]:
        """Every tensor, and how often it is there."""
        if self.word("n_rows"):
            return [(1, Tensor(FEED_FORWARD, self.whole("n_rows"), self.whole("n_columns")))]
        if self.word("n_params") or not self.word("architecture"):
            return [(1, Tensor(FEED_FORWARD, 1, self.whole("n_params")))]
        shape = self.architecture
        layers = [(shape.n_layers * one.copies, one) for one in tensors.of_layer(shape)]
        return layers + [(one.copies, one) for one in tensors.around(shape)]

    @property
    def n_weights(self) -> int:
        return sum(times * one.n_each for times, one in self.held)

    @property
    def weights_bytes(self) -> float:
        return float(self.recipe.weights * self.n_weights)

    @property
    def master_bytes(self) -> float:
        return float(self.recipe.master * self.n_weights)

    @property
    def state_bytes(self) -> float:
        """What the row's optimizer keeps."""
        optimizer = self.word("optimizer", "adamw")
        if optimizer in _DEPEND_ON_SHAPE and self.word("n_params") and not self.word("n_rows"):
            raise ValueError(
                f"Claim '{self.word('id')}' gives n_params, but what {optimizer} keeps depends on the shapes of the"
                " weights: give an architecture, or n_rows and n_columns."
            )
        return self._state_bytes(optimizer, self.recipe.moment)

    @property
    def adam_bytes(self) -> float:
        """What AdamW keeps in FP32 for the same weights."""
        return self._state_bytes("adamw", recipes.FP32)

    def _state_bytes(self, optimizer: str, moment_bytes: int) -> float:
        return sum(
            times * optimizers.moments_bytes(optimizer, one, moment_bytes=moment_bytes) for times, one in self.held
        )

    def budget(self, checkpointing: str | None = None) -> memory.Budget:
        """The memory of a step, with the row's own way of checkpointing or another."""
        return memory.budget(
            self.architecture,
            micro_batch=self.whole("micro_batch"),
            seq_len=self.whole("seq_len"),
            precision=self.word("precision", "bf16-mixed"),
            optimizer=self.word("optimizer", "adamw"),
            checkpointing=checkpointing or self.word("checkpointing", "none"),
            attention=self.word("attention", "flash"),
            stack=self.word("stack", "huggingface"),
        )


def _activations(budget: memory.Budget, *, with_copies: bool = False) -> float:
    left_out = _NO_ACTIVATIONS if with_copies else _NO_ACTIVATIONS | {COPIES}
    return max(
        sum(amount for name, amount in parts.items() if name not in left_out)
        for phase, parts in budget.fullest.phase_parts.items()
        if phase != "step"
    )


def _precision_activations_cut(row: Row) -> float:
    """What a narrower format saves of the activations of FP32."""
    narrow, wide = (_activations(_Inputs(one).budget()) for one in (row, {**row, "precision": "fp32"}))
    return 100 * (1 - narrow / wide)


def recompute_fraction(shape: Architecture, seq_len: float) -> float:
    """FLOP of the blocks' second forward pass over those of a step: (F - logits) / 3F; the head is not run again."""
    F = shape.flop_per_token(seq_len)
    return (F - shape.flop_parts(seq_len)["logits"]) / (3 * F)


_BYTES: dict[str, Callable[[_Inputs], float]] = {
    "weights": lambda given: given.weights_bytes,
    "optimizer_state": lambda given: given.state_bytes,
    "weights_and_state": lambda given: given.weights_bytes + given.state_bytes,
    "checkpoint": lambda given: given.weights_bytes + given.master_bytes + given.state_bytes,
    "activations": lambda given: _activations(given.budget()),
    "activations_and_copies": lambda given: _activations(given.budget(), with_copies=True),
}
_FRACTIONS: dict[str, Callable[[_Inputs], float]] = {
    "recompute_flop": lambda given: recompute_fraction(given.architecture, given.whole("seq_len")),
    "state_cut": lambda given: 1 - given.state_bytes / given.adam_bytes,
    "second_moment_cut": lambda given: 1 - given.state_bytes / (given.recipe.moment * given.n_weights),
    "activations_cut": lambda given: 1 - _activations(given.budget("full")) / _activations(given.budget("none")),
    "peak_cut": lambda given: 1 - given.budget("full").peak_bytes / given.budget("none").peak_bytes,
}


def _bytes(of: Callable[[_Inputs], float]) -> Callable[[Row], float]:
    """A formula in the row's unit."""
    return lambda row: of(_Inputs(row)) / tables.lookup("unit of memory", row.get("unit") or "", _UNITS)


def _percent(of: Callable[[_Inputs], float]) -> Callable[[Row], float]:
    return lambda row: 100 * of(_Inputs(row))


KINDS: Kinds = {
    **{kind: _bytes(of) for kind, of in _BYTES.items()},
    **{kind: _percent(of) for kind, of in _FRACTIONS.items()},
    "precision_activations_cut": _precision_activations_cut,
}
