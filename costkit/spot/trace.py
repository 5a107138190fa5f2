"""How many machines could be had, when, and for how much? A market as it was seen, step by step.

- `available[i]` machines could be had (or were held) from `i * step_s` to `(i + 1) * step_s`; a count, 0 or 1 where one
  machine was watched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit.units import require_positive

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trace:
    """What was available of one kind of machine in one zone, in steps of equal length.

    `usd_per_hour`, the price of one machine in each step, is None where it was not recorded; `warnings` are sentences
    on what is odd about it.
    """

    name: str
    step_s: float
    available: Counts
    usd_per_hour: Floats | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_positive(self.step_s, "step_s", "seconds")
        counts = np.asarray(self.available)
        if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu" or counts.min() < 0:
            raise ValueError("available must be a numpy array of whole numbers of machines, one for each step.")
        if self.usd_per_hour is not None and np.shape(self.usd_per_hour) != counts.shape:
            raise ValueError("usd_per_hour must have a price for each step.")

    @property
    def n_steps(self) -> int:
        """How many steps it has."""
        return len(self.available)

    @property
    def duration_s(self) -> float:
        """How long it was watched."""
        return self.n_steps * self.step_s

    @property
    def capacity(self) -> int:
        """The most machines that it ever had."""
        return int(self.available.max())

    def is_up(self, n_nodes: int = 1) -> Flags:
        """Whether that many machines could be had, for each step."""
        return self.available >= n_nodes
