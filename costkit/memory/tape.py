"""What does autograd keep, and until when? A block as the list of its operations, played forwards and backwards.

- A step is one operation that keeps tensors for its backward pass, has weights, or hands on a gradient.
- Bytes are those of live tensors: an allocator's rounding and fragments are not in them.
- Amounts are numbers, or arrays where micro-batches or sequence lengths are swept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from costkit.memory.parts import COPIES, GRADIENTS, WORKING

Bytes = float | npt.NDArray[np.float64]
Parts = dict[str, Bytes]


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a block, in bytes.

    part: What it belongs to, as budgets name it: "attention", "feed-forward", ...
    kept: What the forward pass stores for it and frees when its backward pass is done.
    copies: Copies of its weights in the compute format, which live as long as `kept` but don't grow with the tokens.
    made, stored: Its weight gradient as the backward pass makes it, and as it is stored.
    inward: The gradient of its input, which lives until the step before it (`outward` there) has used it.
    outward: The gradient of its output, freed when its backward pass is done.
    spare: What else lives only while its backward pass runs.
    """

    part: str
    kept: Bytes = 0.0
    copies: float = 0.0
    made: float = 0.0
    stored: float = 0.0
    inward: Bytes = 0.0
    outward: Bytes = 0.0
    spare: Bytes = 0.0

    def passing(self, *, inward: Bytes = 0.0, outward: Bytes = 0.0, spare: Bytes = 0.0) -> Step:
        """The same step with the gradients that it hands on and uses up."""
        return replace(self, inward=inward, outward=outward, spare=spare)


Tape = tuple[Step, ...]


def kept(tape: Tape) -> Parts:
    """What the forward pass of a block leaves alive, by part.

    >>> kept((Step("attention", kept=8.0), Step("feed-forward", kept=2.0, copies=1.0)))
    {'attention': 8.0, 'feed-forward': 2.0, 'weight copies': 1.0}
    """
    found: Parts = {}
    for step in tape:
        _add(found, step.part, step.kept)
        _add(found, COPIES, step.copies)
    return found


def stored(tape: Tape) -> float:
    """The weight gradients that the backward pass of a block leaves behind."""
    return sum(step.stored for step in tape)


def backward(tape: Tape) -> Iterator[Parts]:
    """What lives at each moment of a block's backward pass, all that its forward pass kept being there at the start.

    >>> tape = (Step("a", kept=8.0, made=1.0, stored=1.0, outward=2.0), Step("b", kept=4.0, inward=2.0))
    >>> [sum(parts.values()) for parts in backward(tape)]
    [14.0, 11.0]
    """
    living, gradients = kept(tape), 0.0
    flow: Bytes = 0.0
    for step in reversed(tape):
        yield living | {GRADIENTS: gradients + step.made, WORKING: flow + step.inward + step.spare}
        _add(living, step.part, -step.kept)
        _add(living, COPIES, -step.copies)
        flow = flow + step.inward - step.outward
        if step.made != step.stored:
            yield living | {GRADIENTS: gradients + step.made + step.stored, WORKING: flow}
        gradients += step.stored


def total(parts: Mapping[str, Bytes]) -> Bytes:
    """All parts together."""
    found: Bytes = 0.0
    for amount in parts.values():
        found = found + amount
    return found


def together(*several: Mapping[str, Bytes]) -> Parts:
    """The sums of parts of the same name.

    >>> together({"a": 1.0, "b": 2.0}, {"b": 3.0})
    {'a': 1.0, 'b': 5.0}
    """
    found: Parts = {}
    for parts in several:
        for name, amount in parts.items():
            _add(found, name, amount)
    return found


def times(parts: Mapping[str, Bytes], factor: float) -> Parts:
    """Each part that many times."""
    return {name: amount * factor for name, amount in parts.items()}


def _add(parts: Parts, name: str, amount: Bytes) -> None:
    if name in parts or not isinstance(amount, (int, float)) or amount:
        parts[name] = parts.get(name, 0.0) + amount
