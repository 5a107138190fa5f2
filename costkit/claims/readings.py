"""How are the inputs of a claim written, and which readings do they leave? `n_gpus=32; days=18; overhead=0..0.2`.

- One cell holds them all, with semicolons between; columns of their own are inputs too.
- `0.4..0.8` is a span: both ends are recomputed. `flash|eager` are alternatives: all are; several combine.
- A kind may have alternatives as well, where it was left open what is meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

Row = Mapping[str, str]
MOST_READINGS = 64
_SPAN, OR = "..", "|"


class Used(Mapping[str, str]):
    """A row that remembers which of its cells a formula asked for."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.used.add(name)
        return self._row[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)


def readings_of(row: Row, *, about: tuple[str, ...]) -> list[dict[str, str]]:
    """Every reading of a row: its cells with one value for each input.

    Raises `ValueError` of one sentence for inputs that are not written so, or that make too many readings.

    >>> row = {"id": "a", "kind": "run_usd", "inputs": "days=18; overhead=0..0.2"}
    >>> found = readings_of(row, about=("id", "kind", "inputs"))
    >>> [(one["days"], one["overhead"]) for one in found]
    [('18', '0'), ('18', '0.2')]
    """
    given = {name: text for name, text in row.items() if text and name not in about}
    for name, text in _inputs(row).items():
        if name in about:
            raise ValueError(f"Claim '{row['id']}' gives {name} among its inputs; it is a column of its own.")
        if name in given:
            raise ValueError(f"Claim '{row['id']}' gives {name} twice; give it once.")
        given[name] = text
    given["kind"] = row["kind"]
    values = {name: _values(row["id"], name, text) for name, text in given.items()}
    n_readings = 1
    for several in values.values():
        n_readings *= len(several)
    if n_readings > MOST_READINGS:
        raise ValueError(f"Claim '{row['id']}' leaves {n_readings:,} readings; at most {MOST_READINGS} are recomputed.")
    fixed = {name: text for name, text in row.items() if name in about and name != "inputs"}
    return [{**fixed, **dict(zip(values, chosen, strict=True))} for chosen in itertools.product(*values.values())]


def _inputs(row: Row) -> dict[str, str]:
    """The pairs of the cell `inputs`."""
    found: dict[str, str] = {}
    for pair in (row.get("inputs") or "").split(";"):
        if not pair.strip():
            continue
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name or not text:
            raise ValueError(
                f"Claim '{row['id']}' has '{pair.strip()}' among its inputs; they are written name=value with"
                " semicolons between, such as n_gpus=32; days=18."
            )
        if name in found:
            raise ValueError(f"Claim '{row['id']}' gives {name} twice; give it once.")
        found[name] = text
    return found


def _values(claim: str, name: str, text: str) -> list[str]:
    if OR in text:
        several = [part.strip() for part in text.split(OR)]
        if not all(several):
            raise ValueError(f"Claim '{claim}' has an empty alternative in {name}: '{text}'.")
        return several
    low, span, high = (part.strip() for part in text.partition(_SPAN))
    if not span:
        return [text]
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ValueError(
            f"Claim '{claim}' needs a span of two numbers in {name}, such as 0.4..0.8, not '{text}'."
        ) from None
    if not ends[0] < ends[1]:
        raise ValueError(f"Claim '{claim}' has the span {text} in {name}; its first end must be the smaller one.")
    return [low, high]
