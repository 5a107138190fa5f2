"""What may a value of a plan be? The four kinds of a field: how each is checked, parsed from text, and described.

- A check takes what a plan file or a caller gave and returns the value, or raises `ValueError` with the rest of a
  sentence that starts with the key.
- `low` and `high` are where values usually lie (a slider's ends); `least` and `most` are what is accepted.
"""

from __future__ import annotations

import datetime as dt
import difflib
import math
import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass

from costkit import tables, units
from costkit.plan import typed

_LONGEST_SHOWN = 60
_TOO_LARGE = 10**400
_SUFFIXES = {"k": "e3", "m": "e6", "b": "e9", "t": "e12"}
_SUFFIXED = re.compile(r"([0-9.]+) *([kmbt])", re.IGNORECASE)
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


class PlanError(ValueError):
    """Something is wrong with a plan; the text is one sentence that names the key and the way out."""


@dataclass(frozen=True)
class Field:
    """A key of a plan as panels and tables show it; `low` and `high` are the ends of a slider."""

    key: str
    label: str
    unit: str
    kind: str
    low: float | None
    high: float | None
    scale: str
    choices: tuple[str, ...]
    default: object
    help: str
    required: bool = False
    optional: bool = False
    least: float | None = None
    most: float | None = None
    unlimited: bool = False


def shown(value: object) -> str:
    """The value as a sentence quotes it: text in quotes, anything long cut short.

    >>> shown("A100"), shown(45), shown("x" * 999)[-5:]
    ("'A100'", '45', 'xx...')
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def suggestion(given: object, options: tuple[str, ...]) -> str:
    """` Did you mean ...?` with the nearest option, or nothing where none is near.

    >>> suggestion("n_gpu", ("n_gpus", "gpu", "title"))
    " Did you mean 'n_gpus'?"
    """
    near = nearest(given, options)
    return f" Did you mean {near!r}?" if near else ""


def nearest(given: object, options: tuple[str, ...]) -> str | None:
    """The option that reads most like what was given, or None where none does."""
    near = difflib.get_close_matches(str(given)[:_LONGEST_SHOWN], options, n=1, cutoff=0.6)
    return near[0] if near else None


@dataclass(frozen=True)
class Number:
    """A number with a unit, within `least` and `most`; `whole` numbers are counted, `fraction`s are shares of 1."""

    label: str
    unit: str
    low: float
    high: float
    least: float
    most: float
    help: str
    scale: str = "log"
    whole: bool = False
    fraction: bool = False
    unlimited: bool = False

    @property
    def kind(self) -> str:
        """How a panel edits it."""
        return "int" if self.whole else "float"

    @property
    def choices(self) -> tuple[str, ...]:
        """A number has none."""
        return ()

    def check(self, value: object) -> float:
        """The number itself, or a ValueError with the rest of the sentence."""
        number = self._as_number(value)
        if math.isnan(number):
            raise ValueError(f"must be {self._range()}, not nan")
        if self.unlimited and number == math.inf:
            return number
        if not self.least <= number <= self.most:
            raise ValueError(f"must be {self._range()}, not {_plain(number)}{self._percentage_hint(number)}")
        if self.whole and number != int(number):
            raise ValueError(f"must be a whole number of {self.unit}, not {_plain(number)}")
        return int(number) if self.whole else number

    def _as_number(self, value: object) -> float:
        if isinstance(value, str):
            problem = self._not_text(value)
        elif isinstance(value, bool) or not isinstance(value, numbers.Real):
            problem = f"must be {self._noun()}, not {_what(value)}"
        else:
            try:
                return float(value)
            except OverflowError:
                problem = f"must be {self._range()}; the given number is too large"
        raise ValueError(problem)

    def parse(self, text: str) -> float:
        """The number that a command line's text means."""
        words = text.strip()
        if _is_number(words) or words.casefold().lstrip("+-") in ("inf", "nan"):
            return exact_float(words)
        found = typed.amount(words, self.unit)
        if found is None:
            raise ValueError(f"must be {self._noun()}, not {shown(text)}{self._spelling_hint(words)}")
        if math.isinf(found) and any(letter.isdigit() for letter in words):
            return -_TOO_LARGE if found < 0 else _TOO_LARGE
        return found

    def _noun(self) -> str:
        return f"a {'whole ' if self.whole else ''}number{_of(self.unit)}"

    def _range(self) -> str:
        unlimited = " or inf (unlimited)" if self.unlimited else ""
        return f"from {_plain(self.least)} to {_plain(self.most)}{_in(self.unit)}{unlimited}"

    def _not_text(self, text: str) -> str:
        try:
            float(text)
        except ValueError:
            return f"must be {self._noun()}, not the text {shown(text)}{self._spelling_hint(text.strip())}"
        return f"must be {self._noun()}, not text: write {text.strip()} without quotes"

    def _spelling_hint(self, words: str) -> str:
        if words.endswith("%") and _is_number(words[:-1]):
            share = f"{float(words[:-1]) / 100:.6g}"
            return f": write {share}" if self.fraction else ": write the number without %"
        if suffixed := _SUFFIXED.fullmatch(words):
            return f": write {suffixed[1]}{_SUFFIXES[suffixed[2].lower()]}"
        if "," in words and _is_number(words.replace(",", "")):
            return f": write {words.replace(',', '')}, without commas"
        if _is_number(words.lstrip("$")):
            return f": write {words.lstrip('$')}, without the sign"
        return ""

    def _percentage_hint(self, number: float) -> str:
        if self.fraction and 2 <= number <= 100:
            return f": it looks like a percentage, write {number / 100:.6g}"
        return ""


@dataclass(frozen=True, kw_only=True)
class _Unmeasured:
    """What a number has and other kinds have not: a unit, a slider's ends and bounds."""

    unit: str = ""
    low: float | None = None
    high: float | None = None
    scale: str = "linear"
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Choice(_Unmeasured):
    """One of a few names; `options` is called when it is needed, for names that a table holds, of kind `table`."""

    label: str
    options: Callable[[], tuple[str, ...]]
    help: str
    table: str = ""
    kind: str = "choice"

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen."""
        return self.options()

    def check(self, value: object) -> str:
        """The name itself, or a ValueError with the rest of the sentence."""
        options = self.options()
        if isinstance(value, str) and value in options:
            return value
        if self.table:
            raise ValueError(f"names {tables.unknown(self.table, value, options)}")
        hint = suggestion(value, options)
        raise ValueError(f"must be {', '.join(options[:-1])} or {options[-1]}, not {shown(value)}{hint and f'.{hint}'}")

    def parse(self, text: str) -> str:
        """The name that a command line's text means."""
        return text.strip()


@dataclass(frozen=True)
class Text(_Unmeasured):
    """Free text, of at most `longest` characters; `suggest` names the values that most plans would use."""

    label: str
    help: str
    longest: int = 500
    suggest: Callable[[], tuple[str, ...]] = tuple
    kind: str = "text"

    @property
    def choices(self) -> tuple[str, ...]:
        """Usual values; others are allowed."""
        return self.suggest()

    def check(self, value: object) -> str:
        """The text itself, or a ValueError with the rest of the sentence."""
        if isinstance(value, dt.date):
            return value.isoformat()
        if not isinstance(value, str):
            raise ValueError(f"must be text in quotes, not {_what(value)}")
        if len(value) > self.longest:
            raise ValueError(f"must be at most {self.longest} characters long, not {len(value)}")
        if any(ord(letter) < 32 and letter not in "\n\t" for letter in value) or not _encodes(value):
            raise ValueError("must be plain text without control characters")
        return value

    def parse(self, text: str) -> str:
        """The text that a command line gives."""
        return text


@dataclass(frozen=True)
class Date(Text):
    """A day, as 2027-02-01; empty where none is set."""

    def check(self, value: object) -> str:
        """The day as text, or a ValueError with the rest of the sentence."""
        text = super().check(value)
        try:
            return dt.date.fromisoformat(text).isoformat() if text else ""
        except ValueError:
            raise ValueError(f"must be a day such as 2027-02-01, not {shown(text)}") from None


@dataclass(frozen=True)
class Flag(_Unmeasured):
    """True or false."""

    label: str
    help: str
    kind: str = "bool"

    @property
    def choices(self) -> tuple[str, ...]:
        """A flag has none."""
        return ()

    def check(self, value: object) -> bool:
        """The flag itself, or a ValueError with the rest of the sentence."""
        if isinstance(value, bool):
            return value
        raise ValueError(f"must be true or false (without quotes), not {_what(value)}")

    def parse(self, text: str) -> bool:
        """The flag that a command line's text means."""
        word = text.strip().casefold()
        if word in _TRUE + _FALSE:
            return word in _TRUE
        raise ValueError(f"must be true or false, not {shown(text)}")


Kind = Number | Choice | Text | Flag


def _plain(number: float) -> str:
    """A bound or a wrong value, exact where that is short."""
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    if abs(number) >= units.MILLION or 0 < abs(number) < 1e-4:
        mantissa, power = f"{number:.6e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    return f"{number:,.6g}" if number != int(number) else f"{int(number):,}"


def _what(value: object) -> str:
    """What was given in place of a number or text, in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "a section of its own"
    return shown(value)


def _of(unit: str) -> str:
    return f" of {unit}" if unit and "fraction" not in unit else f" ({unit})" if unit else ""


def _in(unit: str) -> str:
    return f" {unit}" if unit and "fraction" not in unit else f" ({unit})" if unit else ""


def exact_float(words: str) -> float:
    """The number written so; one that overflows comes back as a huge whole number, so that it is not taken for inf.

    >>> exact_float("1e3"), exact_float("inf"), exact_float("1e400") > 1e308
    (1000.0, inf, True)
    """
    number = float(words)
    if math.isinf(number) and "inf" not in words.casefold():
        return -_TOO_LARGE if number < 0 else _TOO_LARGE
    return number


def _is_number(words: str) -> bool:
    try:
        return not math.isnan(float(words)) and "inf" not in words.casefold()
    except ValueError:
        return False


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
