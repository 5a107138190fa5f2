"""How do micro-batch, accumulation and GPUs make up a batch? Solved for whichever is left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences of a step: effective = micro_batch x accumulation x data-parallel GPUs."""

    effective: int
    micro_batch: int
    accumulation: int
    data: int


def batch(
    *,
    effective: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    data: int | None = None,
) -> Batch:
    """The four numbers, from any three of them.

    Raises:
        ValueError: More or fewer than three are given, one is no whole number, or the missing one would not be.

    >>> batch(effective=1024, micro_batch=4, data=32).accumulation
    8
    """
    given = {"effective": effective, "micro_batch": micro_batch, "accumulation": accumulation, "data": data}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise ValueError(f"give three of effective, micro_batch, accumulation and data, not {4 - len(missing)}")
    for name, value in given.items():
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"{name} is {value!r}; it must be a whole number of at least 1")
    known = {name: value for name, value in given.items() if value is not None}
    others = 1
    for name, value in known.items():
        others *= value if name != "effective" else 1
    if missing == ["effective"]:
        return Batch(effective=others, **known)
    whole, rest = divmod(known["effective"], others)
    if rest or not whole:
        below, above = whole * others, (whole + 1) * others
        nearest = f"{below:,} or {above:,}" if below else f"{above:,}"
        raise ValueError(
            f"effective is {known['effective']:,}, no multiple of {others:,}"
            f" ({' x '.join(name for name in known if name != 'effective')}): use {nearest}"
        )
    return Batch(**known, **{missing[0]: whole})
