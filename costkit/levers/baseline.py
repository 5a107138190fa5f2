"""What is there to save? A bill, and how the time behind it divides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType

from costkit import tables
from costkit.units import require_positive

COMPONENTS: Mapping[str, str] = MappingProxyType(
    {
        "matmul": "matrix products",
        "attention": "attention",
        "memory_bound": "memory-bound work",
        "communication": "exposed communication",
        "optimizer": "optimizer",
        "input_wait": "waiting for input",
        "checkpoint_restart": "checkpoints and restarts",
        "idle": "idle",
    }
)
"""The components of a run's time, and what each is called. A part of one is written `attention.scores`."""

TIME, PRICE, WORK = "time", "price", "work"
"""What a lever may act on besides components: all of the time, the price of an hour, the amount of work."""

_WHOLE: Mapping[str, float] = MappingProxyType({TIME: 1.0})
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Baseline:
    """A run as it is: its bill in US dollars, and the share of its time that each component takes.

    `overhead_fraction` is the share of the bill that is not the price of GPU-hours, storage for instance: it grows with
    the time, but no cheaper GPU lowers it. `fixed_fraction` is the share that nothing changes: data that was bought.
    Shares sum to 1; without any, the time is not taken apart, and only levers on all of it, on the price and on the
    work apply.

    Raises `ValueError` of one sentence for a bill that is not positive, for shares that are negative or do not sum to
    1, for overhead and fixed parts that leave nothing of the bill, and `UnknownName` for a component that there is not.

    >>> Baseline(50_000, shares={"matmul": 0.6, "idle": 0.4}).share("idle")
    0.4
    """

    usd: float
    shares: Mapping[str, float] = field(default_factory=lambda: _WHOLE)
    overhead_fraction: float = 0.0
    fixed_fraction: float = 0.0

    def __post_init__(self) -> None:
        require_positive(self.usd, "usd", "US dollars")
        self._check_parts()
        for name, share in self.shares.items():
            if name != TIME:
                tables.lookup("component", component(name), COMPONENTS)
            if not (isinstance(share, Real) and share >= 0):
                raise ValueError(f"the share of {name} is {share!r}; it must be a number, 0 or more")
        total = math.fsum(self.shares.values())
        if not abs(total - 1) <= _ROUNDING:
            raise ValueError(f"the shares of the time sum to {total:.6g}; they must sum to 1")

    def _check_parts(self) -> None:
        for name in ("overhead_fraction", "fixed_fraction"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= float(value) < 1):
                raise ValueError(f"{name} is {value!r}; it must be a number from 0 to below 1: a fraction of the bill")
        if self.overhead_fraction + self.fixed_fraction >= 1:
            raise ValueError(
                f"overhead_fraction is {self.overhead_fraction:g} and fixed_fraction {self.fixed_fraction:g}, which"
                " leaves nothing of the bill for GPU-hours; together they must be below 1"
            )

    def share(self, target: str) -> float:
        """The share of the time that a target names: a component with all its parts, a part, or all of the time."""
        return math.fsum(share for name, share in self.shares.items() if acts_on(target, name))


def component(name: str) -> str:
    """The component that a name is, or is a part of.

    >>> component("attention.scores")
    'attention'
    """
    return name.partition(".")[0]


def acts_on(target: str, name: str) -> bool:
    """Whether a target takes in a share of that name.

    >>> acts_on("attention", "attention.scores"), acts_on("attention.scores", "attention.products")
    (True, False)
    """
    return target in (TIME, name, component(name))
