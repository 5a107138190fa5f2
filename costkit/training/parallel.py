"""What is left of a GPU's speed when it works with others? Throughput per GPU against a smaller run's.

- Throughput is that of the whole job, in any unit of work a second: tokens, samples, steps of one global batch, or MFU
  times GPUs.
- Many frameworks print the iterations of one rank. In a data-parallel run each rank does its own, so those of the job
  are that number times the ranks, as long as the batch of a rank is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit.units import require_positive


@dataclass(frozen=True)
class ParallelEfficiency:
    """What a job does against its reference: `speedup` as a whole, `fraction` per GPU."""

    speedup: float
    fraction: float

    @property
    def usd_per_token_ratio(self) -> float:
        """Cost of the same work against the reference, at the same price per GPU-hour."""
        return 1 / self.fraction


def parallel_efficiency(
    *, n_gpus: float, throughput: float, reference_n_gpus: float, reference_throughput: float
) -> ParallelEfficiency:
    """The share of the reference's speed per GPU that is left: (T / n) / (T_ref / n_ref).

    Above 1 where a larger job leaves each GPU more room, as with weights that are sharded further.

    Args:
        n_gpus: GPUs of the job.
        throughput: Its work a second: of all ranks together, not of one.
        reference_n_gpus: GPUs of the run it is held against.
        reference_throughput: That run's work a second, in the same unit.

    Raises:
        ValueError: A number is not positive.

    >>> found = parallel_efficiency(n_gpus=16, throughput=2.35, reference_n_gpus=8, reference_throughput=2.94)
    >>> f"{found.fraction:.0%}", f"{found.usd_per_token_ratio:.1f}"
    ('40%', '2.5')
    """
    require_positive(n_gpus, "n_gpus", "GPUs")
    require_positive(reference_n_gpus, "reference_n_gpus", "GPUs")
    require_positive(throughput, "throughput", "units of work a second")
    require_positive(reference_throughput, "reference_throughput", "units of work a second")
    speedup = throughput / reference_throughput
    return ParallelEfficiency(speedup, speedup / (n_gpus / reference_n_gpus))
