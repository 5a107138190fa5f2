"""What comes of one published figure? Ours beside it, with a verdict that is computed and a clause that says why.

- A row's `kind` names the formula that recomputes it; the other columns are its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from costkit import tables

CLOSE_FRACTION = 0.05
REQUIRED = ("id", "kind", "published")

Row = Mapping[str, str]
Kinds = Mapping[str, Callable[[Row], float]]


@dataclass(frozen=True)
class Checked:
    """A published figure, ours, and what comes of it."""

    id: str
    source: str
    what: str
    published: float
    recomputed: float
    unit: str
    verdict: str
    why: str

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.recomputed / self.published if self.published else math.inf


def verdict(printed: str, recomputed: float) -> str:
    """`holds` to the printed digits, else `close` within 5%, else `wrong`.

    >>> verdict("40e9", 40.36e9), verdict("40e9", 39.2e9), verdict("40e9", 32.2e9)
    ('holds', 'close', 'wrong')
    """
    published = float(printed)
    if abs(recomputed - published) <= _half_last_digit(printed) * (1 + 1e-9):
        return "holds"
    return "close" if abs(recomputed - published) <= CLOSE_FRACTION * abs(published) * (1 + 1e-9) else "wrong"


def _half_last_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return float(Decimal(5).scaleb(int(exponent) - 1))


def checked(row: Row, kinds: Kinds) -> Checked:
    """The figure of a row, recomputed by the formula of its kind; a ValueError says which input is missing."""
    missing = [name for name in REQUIRED if not row.get(name)]
    if missing:
        raise ValueError(f"A claim needs {', '.join(REQUIRED)}; '{row.get('id', '')}' lacks {missing[0]}.")
    ours = tables.lookup("kind of claim", row["kind"], kinds)(row)
    published = Inputs(row).number("published")
    found = verdict(row["published"], ours)
    why = row.get("note") or ("to the printed digits" if found == "holds" else "no reason is noted")
    source, what, unit = (row.get(name) or "" for name in ("source", "what", "unit"))
    return Checked(row["id"], source, what, published, ours, unit, found, why)


class Inputs:
    """The inputs of a row, as a formula asks for them."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def word(self, name: str, default: str = "") -> str:
        """An input that is a word, by its column."""
        return self._row.get(name) or default

    def number(self, name: str, default: float | None = None) -> float:
        """An input by its column; a missing one that has no default is a fault of the table."""
        text = self.word(name)
        if not text and default is not None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"Claim '{self._row['id']}' needs a number in column {name}, not '{text}'.")
        return value
