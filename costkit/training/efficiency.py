"""What MFU will a run reach? What published runs of such a size, chip and scale came to over all the hours they paid.

- Learned from GPU-hours that were published, not from benchmarks: stops, restarts and slow weeks are inside.
- `low` and `high` are the middle 80% of runs that were predicted with their family left out.
- Counted as 6ND against the GPU's dense 16-bit peak, whatever the number format.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from costkit import tables
from costkit.training.cases import Case
from costkit.training.learning import learned, usual_seq_len
from costkit.units import Range, require_positive


@dataclass(frozen=True)
class Efficiency:
    """The MFU of a whole run: over all hours that are paid, stops included.

    `n_runs` is how many runs of how many `n_families` (teams) its band rests on; `is_of_chip` whether these ran on the
    same chip. Where not, they are those on other chips than A100 and H100, predicted from these two.
    """

    mfu: Range
    n_runs: int
    n_families: int
    is_of_chip: bool


def efficiency(
    *,
    gpu: tables.Gpu | str,
    n_params: float,
    n_gpus: float,
    seq_len: float | None = None,
    precision: str = "bf16-mixed",
    left_out: Collection[str] = (),
) -> Efficiency:
    """The MFU that runs like this one came to over their whole time.

    ln MFU = a + b ln(min(N, 70e9) / 1e10) (1 - f) + c f, with N the active parameters, which help no more from 70B on,
    and f = min(1, 8 / GPUs) the share of traffic that stays on one node. Two chips have an a and a b each, and share c;
    other chips lie between the two by their arithmetic per byte of memory traffic. Then attention and number format are
    counted in.

    Args:
        gpu: The GPU or its name.
        n_params: Parameters that a token passes through: the active ones of a mixture of experts.
        n_gpus: GPUs that work at the same time.
        seq_len: Tokens of a sequence; left out, what is usual on that chip.
        precision: The number format of the matrix products.
        left_out: Families of published runs not to learn from.

    Raises:
        ValueError: A number is not positive, or the GPU does not have that format.
        UnknownName: No such GPU or precision.

    >>> found = efficiency(gpu="H100-SXM5-80GB", n_params=8e9, n_gpus=512, seq_len=8192)
    >>> 0.1 < found.mfu.low < found.mfu.mid < found.mfu.high < 0.4
    True
    """
    require_positive(n_params, "n_params", "parameters")
    require_positive(n_gpus, "n_gpus", "GPUs")
    device = tables.gpu(gpu)
    length = usual_seq_len(device.architecture) if seq_len is None else seq_len
    require_positive(length, "seq_len", "tokens")
    case, fit = Case(device, n_params, n_gpus, length, precision), learned(frozenset(left_out))
    alike = fit.like(case)
    return Efficiency(fit.mfu(case), len(alike), len({one.row.run.family for one in alike}), bool(case.chip))
