"""How fast can a GPU multiply at most in a number format? Its dense peaks, by the words that precision has.

- What is mixed with a format has no part in its peak: `fp8-mixed` has that of FP8.
- Papers name the format alone, so `fp16`, `fp8` and `fp4` are words for it too.
"""

from __future__ import annotations

from costkit import tables

HALVES = ("bf16", "fp16")
"""The 16-bit formats, which are one wherever MFU is counted."""
_FORMATS = {name: name for name in tables.PRECISIONS} | {f"{name}-mixed": name for name in (*HALVES, "fp8", "fp4")}


def number_format(precision: str) -> str:
    """The format of the matrix products of a precision, as `Gpu.peak_flop_per_s` names it.

    >>> number_format("bf16-mixed"), number_format("tf32")
    ('bf16', 'tf32')
    """
    return tables.lookup("precision", precision, _FORMATS)


def peak_flop_per_s(gpu: tables.Gpu, precision: str) -> float | None:
    """The dense peak of a GPU in a number format, None where our table has none.

    >>> v100, h100 = tables.gpu("V100-SXM2-32GB"), tables.gpu("H100-SXM5-80GB")
    >>> peak_flop_per_s(h100, "fp8-mixed"), peak_flop_per_s(v100, "bf16")
    (1979000000000000.0, None)
    """
    return gpu.peak_flop_per_s.get(number_format(precision))


def has_format(gpu: tables.Gpu, precision: str) -> bool:
    """Whether a GPU multiplies in that number format.

    >>> has_format(tables.gpu("V100-SXM2-32GB"), "tf32"), has_format(tables.gpu("H100-SXM5-80GB"), "fp8-mixed")
    (False, True)
    """
    return peak_flop_per_s(gpu, precision) is not None


def format_limit(gpu: tables.Gpu, precision: str) -> float:
    """The same peak where it has to be there; BF16 and FP16 are one, so that a GPU with either has both.

    Raises `ValueError` of one sentence for a format that the GPU does not have.

    >>> format_limit(tables.gpu("V100-SXM2-32GB"), "bf16-mixed") / 1e12
    125.0
    """
    is_half = number_format(precision) in HALVES
    peak = gpu.half_precision_flop_per_s if is_half else peak_flop_per_s(gpu, precision)
    if peak is None:
        has = ", ".join(gpu.peak_flop_per_s)
        raise ValueError(f"precision is {precision}, and our table has no such peak of {gpu.name}; it has {has}.")
    return peak
