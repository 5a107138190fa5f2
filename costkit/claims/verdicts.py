"""What comes of one published figure? Ours beside it, with a verdict that is computed and a clause that says why.

- A row's `kind` names the formula that recomputes it, `inputs` what it is given, written as `readings` tells.
- A span that was printed is compared end by end. Where a row says what was left open, its values are readings of it,
  and a figure between them depends on that.
- What was printed in words holds where ours is the same word. A word that nothing computes is a judgement.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from costkit import tables
from costkit.claims.readings import Used, readings_of
from costkit.units import number, short_count

CLOSE_FRACTION = 0.05
REQUIRED = ("id", "kind", "published")
HOLDS, CLOSE, WRONG, DEPENDS = "holds", "close", "wrong", "depends"
VERDICTS = (HOLDS, CLOSE, DEPENDS, WRONG)
YES, NO = "yes", "no"

Row = Mapping[str, str]
Kinds = Mapping[str, Callable[[Row], float]]

_SPAN = re.compile(r"(?P<low>[0-9.]+(?:e[+-]?[0-9]+)?)-(?P<high>[0-9.]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
_ROUNDING = 1e-9
_ABOUT = ("id", "topic", "kind", "inputs", "published", "unit", "what", "assumption", "source", "as_of", "note")


@dataclass(frozen=True)
class Checked:
    """A published figure, ours, and what comes of it.

    `published` and `recomputed` are middles, not-a-number where there is none; `printed` is the figure as printed,
    `readings` every value of ours. `assumption` names what was left open, `is_judgement` says that no formula decides.
    """

    id: str
    source: str
    what: str
    published: float
    recomputed: float
    unit: str
    verdict: str
    why: str
    printed: str = ""
    readings: tuple[float, ...] = ()
    assumption: str = ""
    is_judgement: bool = False
    topic: str = ""

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.recomputed / self.published if self.published else math.inf

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the greatest of ours over theirs: of a printed span end by end, and 1 for what lies inside."""
        ends = _numbers(self.printed) or (self.published, self.published)
        low, high = min(self.readings, default=self.recomputed), max(self.readings, default=self.recomputed)
        if low == high:
            ratio = low / min(max(low, ends[0]), ends[-1])
            return ratio, ratio
        found = low / ends[0], high / ends[-1]
        return min(found), max(found)

    @property
    def off(self) -> float:
        """How far off, as a factor of 1 or more: 1 for what holds, inf for a word that is wrong."""
        if self.verdict == HOLDS or self.is_judgement or (self.verdict == DEPENDS and math.isnan(self.published)):
            return 1.0
        if not math.isfinite(self.ratio) or self.ratio <= 0:
            return math.inf
        ends = _numbers(self.printed) or (self.published,)
        return max(min(_factor(ours, end) for ours in self._compared(end, ends)) for end in ends)

    def _compared(self, end: float, ends: tuple[float, ...]) -> tuple[float, ...]:
        """What of ours one printed end is held against: its own end of a span, or the nearest reading."""
        if len(ends) == 2 and not self.assumption and self.readings:
            return (min(self.readings),) if end == ends[0] else (max(self.readings),)
        return self.readings or (self.recomputed,)

    @property
    def ours(self) -> str:
        """Ours in words."""
        if math.isnan(self.recomputed):
            words = dict.fromkeys(YES if value else NO for value in self.readings)
            return " or ".join(words)
        low, high = min(self.readings, default=self.recomputed), max(self.readings, default=self.recomputed)
        return figure(self.recomputed) if low == high else f"{figure(low)} to {figure(high)}"

    @property
    def theirs(self) -> str:
        """Theirs, written as ours is."""
        ends = _numbers(self.printed)
        if not ends:
            return figure(self.published) if math.isfinite(self.published) else self.printed
        return " to ".join(figure(end) for end in ends)


def figure(value: float) -> str:
    """A figure of a claim: counted from millions on, else to four digits, without zeros behind the point.

    >>> figure(42577), figure(1.2e9), figure(0.0123), figure(60.0), figure(4.2e21)
    ('42,577', '1.2B', '0.0123', '60', '4.2e21')
    """
    if 1e6 <= abs(value) < 1e17:
        return short_count(value)
    digits = 6 if 1e5 <= abs(value) < 1e6 else 5 if 1e4 <= abs(value) < 1e5 else 4
    mantissa, power, exponent = number(value, digits=digits).partition("e")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}{power}{exponent}"


def by_off(found: Iterable[Checked]) -> list[Checked]:
    """The most wrong first: wrong ones, then what depends, what is close and what holds, each by how far off."""
    return sorted(found, key=lambda one: (-VERDICTS.index(one.verdict), -one.off, one.id))


def tally(found: Sequence[Checked]) -> str:
    """How many there are of each verdict, in a sentence.

    >>> from costkit.claims import ledger
    >>> tally(ledger())
    'Of 92 claims 30 hold, 7 are close, 13 depend on what is not said and 42 are wrong.'
    """
    n = {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
    words = ((HOLDS, "holds", "hold"), (CLOSE, "is close", "are close"), (WRONG, "is wrong", "are wrong"))
    told = {verdict: f"{n[verdict]} {one if n[verdict] == 1 else several}" for verdict, one, several in words}
    depends = f"{n[DEPENDS]} depend{'s' if n[DEPENDS] == 1 else ''} on what is not said"
    claims = "1 claim" if len(found) == 1 else f"{len(found):,} claims"
    return f"Of {claims} {told[HOLDS]}, {told[CLOSE]}, {depends} and {told[WRONG]}."


def _factor(ours: float, theirs: float) -> float:
    ratio = ours / theirs if theirs else math.inf
    return math.inf if ratio <= 0 or not math.isfinite(ratio) else max(ratio, 1 / ratio)


def _numbers(printed: str) -> tuple[float, ...]:
    """The printed number, or both ends of a printed span; empty for words."""
    return tuple(float(text) for text in _texts(printed))


def _texts(printed: str) -> tuple[str, ...]:
    span = _SPAN.fullmatch(printed.strip())
    if span:
        return span["low"], span["high"]
    try:
        return (printed,) if Decimal(printed.strip()).is_finite() else ()
    except InvalidOperation:
        return ()


def verdict(printed: str, recomputed: float) -> str:
    """`holds` to the printed digits, else `close` within 5%, else `wrong`.

    >>> verdict("40e9", 40.36e9), verdict("40e9", 39.2e9), verdict("40e9", 32.2e9)
    ('holds', 'close', 'wrong')
    """
    published = float(printed)
    if abs(recomputed - published) <= _half_last_digit(printed) * (1 + _ROUNDING):
        return HOLDS
    return CLOSE if abs(recomputed - published) <= CLOSE_FRACTION * abs(published) * (1 + _ROUNDING) else WRONG


def _half_last_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return float(Decimal(5).scaleb(int(exponent) - 1))


def verdict_of_readings(printed: str, values: tuple[float, ...], *, is_open: bool) -> str:
    """The verdict on a printed number or span, of one value of ours or several; `is_open` makes them readings.

    >>> verdict_of_readings("40-45", (28.6, 44.4), is_open=False), verdict_of_readings("6-10", (6.67,), is_open=False)
    ('wrong', 'holds')
    >>> verdict_of_readings("3.06", (1.1, 5.12), is_open=True), verdict_of_readings("20", (-113, -7), is_open=True)
    ('depends', 'wrong')
    """
    ends, low, high = _texts(printed), min(values), max(values)
    if is_open:
        return _of_open(ends, values)
    if len(ends) == 1:
        return _worst(verdict(ends[0], value) for value in values)
    if low == high and float(ends[0]) <= low <= float(ends[1]):
        return HOLDS
    if low == high:
        return min((verdict(end, low) for end in ends), key=VERDICTS.index)
    return _worst((verdict(ends[0], low), verdict(ends[1], high)))


def _of_open(ends: tuple[str, ...], values: tuple[float, ...]) -> str:
    each = [_of_one(ends, value) for value in values]
    if set(each) <= {HOLDS, CLOSE}:
        return _worst(each)
    is_between = min(values) <= float(ends[-1]) and float(ends[0]) <= max(values)
    return DEPENDS if is_between or WRONG not in each or len(set(each)) > 1 else WRONG


def _of_one(ends: tuple[str, ...], value: float) -> str:
    if len(ends) == 2 and float(ends[0]) <= value <= float(ends[1]):
        return HOLDS
    return min((verdict(end, value) for end in ends), key=VERDICTS.index)


def _worst(found: object) -> str:
    return max(found, key=VERDICTS.index)  # type: ignore[call-overload, no-any-return]


def checked(row: Row, kinds: Kinds) -> Checked:
    """The figure of a row, recomputed by the formula of its kind.

    Raises `ValueError` of one sentence for an input that is missing, is no number or is not used.
    """
    missing = [name for name in REQUIRED if not row.get(name)]
    if missing:
        raise ValueError(f"A claim needs {', '.join(REQUIRED)}; '{row.get('id', '')}' lacks {missing[0]}.")
    values = _recomputed(row, kinds)
    printed, assumption = row["published"].strip(), row.get("assumption") or ""
    ends = _texts(printed)
    if not ends and _is_spelled_number(printed):
        raise ValueError(f"Claim '{row['id']}' needs a number in column published, not '{printed}'.")
    is_judgement = not ends and printed not in (YES, NO)
    if is_judgement:
        found = DEPENDS
    elif ends:
        found = verdict_of_readings(printed, tuple(map(float, values)), is_open=bool(assumption))
    else:
        found = _of_words(printed, values)
    return _checked(row, found, values, is_judgement=is_judgement)


def _is_spelled_number(printed: str) -> bool:
    """Whether what stands in place of a number begins like one, or is none."""
    return bool(re.match(r"[+-]?[0-9.]", printed)) or printed.casefold() in ("nan", "inf", "-inf")


def _of_words(printed: str, values: tuple[float | bool, ...]) -> str:
    same = [value is True for value in values] if printed == YES else [value is False for value in values]
    return HOLDS if all(same) else WRONG if not any(same) else DEPENDS


def _checked(row: Row, found: str, values: tuple[float | bool, ...], *, is_judgement: bool) -> Checked:
    source, what, unit, topic, assumption = (
        row.get(name) or "" for name in ("source", "what", "unit", "topic", "assumption")
    )
    ends = _numbers(row["published"])
    is_word = any(isinstance(value, bool) for value in values)
    numbers = () if is_word else tuple(map(float, values))
    return Checked(
        id=row["id"],
        source=source,
        what=what,
        published=math.fsum(ends) / len(ends) if ends else math.nan,
        recomputed=(min(numbers) + max(numbers)) / 2 if numbers else math.nan,
        unit=unit,
        verdict=found,
        why=_why(row, found),
        printed=row["published"].strip(),
        readings=tuple(map(float, values)),
        assumption=assumption,
        is_judgement=is_judgement,
        topic=topic,
    )


def _why(row: Row, found: str) -> str:
    note, assumption = row.get("note") or "", row.get("assumption") or ""
    if found == DEPENDS and assumption:
        return f"depends on {assumption}{note and f': {note}'}"
    return note or ("to the printed digits" if found == HOLDS else "no reason is noted")


def _recomputed(row: Row, kinds: Kinds) -> tuple[float | bool, ...]:
    """Ours for every reading of the row; an input that no reading used is refused."""
    found: list[float | bool] = []
    used, given = set[str](), set[str]()
    for reading in readings_of(row, about=_ABOUT):
        watched = Used(reading)
        found.append(tables.lookup("kind of claim", reading["kind"], kinds)(watched))
        used |= watched.used
        given |= {name for name, text in reading.items() if text and name not in _ABOUT}
    unused = sorted(given - used)
    if unused:
        known = sorted(used - set(_ABOUT))
        near = difflib.get_close_matches(unused[0], known, n=1, cutoff=0.6)
        meant = f"did you mean {near[0]}?" if near else f"it uses {', '.join(known) or 'no inputs'}."
        raise ValueError(f"Claim '{row['id']}' gives {unused[0]}, which {row['kind']} does not use; {meant}")
    return tuple(found)


def kinds(formulas: Mapping[str, Callable[[Inputs], float]]) -> Kinds:
    """Formulas as kinds of claim: an input that leaves one without a value is told in a sentence."""

    def of(formula: Callable[[Inputs], float]) -> Callable[[Row], float]:
        def recomputed(row: Row) -> float:
            given = Inputs(row)
            try:
                return formula(given)
            except (ZeroDivisionError, OverflowError):
                raise ValueError(
                    f"Claim '{given.word('id')}' has no value: an input of {given.word('kind')} is 0, or too large."
                ) from None

        return recomputed

    return {kind: of(formula) for kind, formula in formulas.items()}


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

    def all_numbers(self, *, but: tuple[str, ...] = ()) -> dict[str, float]:
        """Every input that is given, as a number, by its name."""
        names = [name for name in self._row if name not in _ABOUT and name not in but and self._row[name]]
        return {name: self.number(name) for name in names}
