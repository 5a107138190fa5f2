"""What is a formula given? The inputs of a row, by their names, as numbers and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

Row = Mapping[str, str]
Kinds = Mapping[str, Callable[[Row], float]]

ABOUT = ("id", "topic", "kind", "inputs", "published", "unit", "what", "assumption", "source", "as_of", "note")
_LARGEST = 10**15


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

    def positive(self, name: str) -> float:
        """A number above 0 by its column."""
        value = self.number(name)
        if not value > 0:
            raise ValueError(f"Claim '{self.word('id')}' needs a number above 0 in column {name}, not '{value:g}'.")
        return value

    def whole(self, name: str, default: float | None = None) -> int:
        """A whole number from 1 by its column."""
        value = self.number(name, default)
        if not (value.is_integer() and 1 <= value <= _LARGEST):
            raise ValueError(
                f"Claim '{self.word('id')}' needs a whole number from 1 to {_LARGEST:.0e} in column {name},"
                f" not '{self.word(name)}'."
            )
        return int(value)

    def all_numbers(self, *, but: tuple[str, ...] = ()) -> dict[str, float]:
        """Every input that is given, as a number, by its name; one at least."""
        names = [name for name in self._row if name not in ABOUT and name not in but and self._row[name]]
        if not names:
            besides = f" besides {', '.join(but)}" if but else ""
            raise ValueError(f"Claim '{self.word('id')}' needs inputs{besides}, such as n_gpus=32; days=18.")
        return {name: self.number(name) for name in names}


def kinds(formulas: Mapping[str, Callable[[Inputs], float]]) -> Kinds:
    """Formulas of inputs as formulas of a row."""

    def of(formula: Callable[[Inputs], float]) -> Callable[[Row], float]:
        return lambda row: formula(Inputs(row))

    return {kind: of(formula) for kind, formula in formulas.items()}
