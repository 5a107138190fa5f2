"""How is a value checked that lists several? Names in an order, and amounts of money by name, in one line of text.

- The text that a plan holds is the plain form of what was given: "spot, bf16" and "spot=25000, bf16=8000".
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from costkit import levers, tables
from costkit.plan import typed
from costkit.plan.kinds import Text, shown

NONE = "none"
_IN_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""The commas inside of an amount, as in 8,000; those between amounts have a name after them."""


@dataclass(frozen=True)
class Names(Text):
    """Names of a `table` in an order, as text or as a list; "none" for none of them, empty where nothing is said.

    A list without names is "none": who gives one has made a choice.
    """

    table: str = ""
    kind: str = "names"

    def check(self, value: object) -> str:
        """The names with a comma between them, or a ValueError with the rest of the sentence."""
        if isinstance(value, list | tuple):
            value = ", ".join(self._of_list(value)) or NONE
        found = names(super().check(value))
        known = dict.fromkeys(self.suggest())
        for name in found:
            if name not in known and name != NONE:
                raise ValueError(f"names {tables.unknown(self.table, name, known)}")
        _check_once(found)
        if NONE in found and len(found) > 1:
            others = ", ".join(name for name in found if name != NONE)
            raise ValueError(f"is both '{NONE}' and {others}: leave one of the two out")
        return ", ".join(found)

    def _of_list(self, several: list[object] | tuple[object, ...]) -> list[str]:
        for name in several:
            if not isinstance(name, str):
                raise ValueError(f"must be names in quotes, not {shown(name)}")
        return [str(name) for name in several]


@dataclass(frozen=True)
class Amounts(Text):
    """Amounts of money by names of a `table`: "spot=25000, bf16=$8k"."""

    table: str = ""

    def check(self, value: object) -> str:
        """The amounts as plain numbers, or a ValueError with the rest of the sentence."""
        found = []
        for pair in _split(_IN_THOUSANDS.sub("", super().check(value))):
            name, _, amount = (part.strip() for part in pair.partition("="))
            if not name or not amount:
                raise ValueError(f"is written name=amount, with commas between, such as spot=25000; not {shown(pair)}")
            if name not in self.suggest():
                raise ValueError(f"names {tables.unknown(self.table, name, self.suggest())}")
            found.append((name, self._usd(name, amount)))
        _check_once([name for name, _ in found])
        return ", ".join(f"{name}={usd:.15g}" for name, usd in found)

    def _usd(self, name: str, text: str) -> float:
        usd = typed.amount(text, "USD")
        if usd is None or not 0 < usd < math.inf:
            raise ValueError(f"gives {shown(text)} for {name}: it must be US dollars above 0, such as 25000")
        return usd


def names(text: str) -> tuple[str, ...]:
    """The names of a text, in their order.

    >>> names("spot,  bf16"), names("")
    (('spot', 'bf16'), ())
    """
    return tuple(_split(text))


def amounts(text: str) -> dict[str, float]:
    """The amounts of a text by name, in their order.

    >>> amounts("spot=25000, bf16=8000")
    {'spot': 25000.0, 'bf16': 8000.0}
    """
    pairs = (pair.partition("=") for pair in _split(text))
    return {name.strip(): float(amount) for name, _, amount in pairs}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_once(found: list[str] | tuple[str, ...]) -> None:
    several = next((name for name in found if found.count(name) > 1), None)
    if several is not None:
        times = "twice" if found.count(several) == 2 else f"{found.count(several)} times"
        raise ValueError(f"names '{several}' {times}: once is enough")


def lever_names() -> tuple[str, ...]:
    """The levers that are known, cheapest effort first."""
    return tuple(levers.known())
