"""What comes of one published figure? Ours beside it, with a verdict that is computed and a clause that says why.

- A row's `kind` names the formula that recomputes it, `inputs` what it is given, written as `readings` tells.
- What was printed in words holds where ours is the same word. A word that nothing computes is a judgement.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable

import numpy as np

from costkit import tables
from costkit.claims.inputs import ABOUT, Kinds, Row
from costkit.claims.printed import is_misspelled_number, numbers, texts
from costkit.claims.readings import OR, Used, readings_of
from costkit.claims.result import NO, YES, Checked
from costkit.claims.verdicts import DEPENDS, HOLDS, WRONG, verdict_of_readings

REQUIRED = ("id", "kind", "published")
PROSE = ("id", "topic", "published", "unit", "what", "assumption", "source", "as_of", "note")


def checked(row: Row, kinds: Kinds) -> Checked:
    """The figure of a row, recomputed by the formula of its kind.

    Raises `ValueError` of one sentence for an input that is missing, is no number or is not used.
    """
    missing = [name for name in REQUIRED if not row.get(name)]
    if missing:
        raise ValueError(f"A claim needs {', '.join(REQUIRED)}; '{row.get('id', '')}' lacks {missing[0]}.")
    values = _recomputed(row, kinds)
    printed = _printed(row, is_word=_are_words(row, values))
    is_judgement = not texts(printed) and printed not in (YES, NO)
    if is_judgement:
        found = DEPENDS
    elif texts(printed):
        found = verdict_of_readings(printed, tuple(map(float, values)), is_open=_is_open(row))
    else:
        found = _of_words(printed, values)
    return _checked(row, printed, found, values, is_judgement=is_judgement)


def _is_open(row: Row) -> bool:
    """Whether its values are readings of one figure: where an assumption is named, or alternatives are given."""
    return bool(row.get("assumption")) or any(OR in (row.get(name) or "") for name in row if name not in PROSE)


def _are_words(row: Row, values: tuple[float | bool, ...]) -> bool:
    """Whether ours is yes or no; a ValueError where one kind of a row says so and another gives a number."""
    sorts = {isinstance(value, bool) for value in values}
    if len(sorts) > 1:
        raise ValueError(
            f"Claim '{row['id']}' mixes numbers with {YES} or {NO} in {row['kind']}; give kinds of one sort."
        )
    return sorts == {True}


def _printed(row: Row, *, is_word: bool) -> str:
    """The figure as printed, or yes or no where the kind answers so; a ValueError for what is neither."""
    claim, kind, printed = row["id"], row["kind"], row["published"].strip()
    ends = numbers(printed)
    if is_misspelled_number(printed):
        raise ValueError(f"Claim '{claim}' needs a number in column published, not '{printed}'.")
    if len(ends) == 2 and not ends[0] < ends[1]:
        raise ValueError(f"Claim '{claim}' was published as {printed}; a span's first end must be the smaller one.")
    if is_word != (printed.casefold() in (YES, NO)):
        answer = f"answers {YES} or {NO}" if is_word else "gives a number"
        raise ValueError(f"Claim '{claim}' was published as '{printed}', but {kind} {answer}.")
    return printed.casefold() if is_word else printed


def _of_words(printed: str, values: tuple[float | bool, ...]) -> str:
    same = [value is True for value in values] if printed == YES else [value is False for value in values]
    return HOLDS if all(same) else WRONG if not any(same) else DEPENDS


def _checked(row: Row, printed: str, found: str, values: tuple[float | bool, ...], *, is_judgement: bool) -> Checked:
    source, what, unit, topic, assumption = (
        row.get(name) or "" for name in ("source", "what", "unit", "topic", "assumption")
    )
    theirs, ours = numbers(printed), () if printed in (YES, NO) else tuple(map(float, values))
    return Checked(
        id=row["id"],
        source=source,
        what=what,
        published=math.fsum(theirs) / len(theirs) if theirs else math.nan,
        recomputed=(min(ours) + max(ours)) / 2 if ours else math.nan,
        unit=unit,
        verdict=found,
        why=_why(row, found),
        printed=printed,
        readings=tuple(map(float, values)),
        assumption=assumption,
        is_judgement=is_judgement,
        topic=topic,
    )


def _why(row: Row, found: str) -> str:
    note, assumption = row.get("note") or "", row.get("assumption") or ""
    if found == DEPENDS and not texts(row["published"]) and not assumption:
        return note or "depends on what is not said"
    if found == DEPENDS:
        return f"depends on {assumption or 'which of its readings is meant'}{note and f': {note}'}"
    return note or ("to the printed digits" if found == HOLDS else "no reason is noted")


def _recomputed(row: Row, kinds: Kinds) -> tuple[float | bool, ...]:
    """Ours for every reading of the row; an input that no reading used is refused."""
    found: list[float | bool] = []
    used, given = set[str](), set[str]()
    for reading in readings_of(row, about=ABOUT):
        watched = Used(reading)
        found.append(_value(watched, tables.lookup("kind of claim", reading["kind"], kinds)))
        used |= watched.used
        given |= {name for name, text in reading.items() if text and name not in ABOUT}
    unused = sorted(given - used)
    if unused:
        known = sorted(used - set(ABOUT))
        near = difflib.get_close_matches(unused[0], known, n=1, cutoff=0.6)
        meant = f"did you mean {near[0]}?" if near else f"it uses {', '.join(known) or 'no inputs'}."
        raise ValueError(f"Claim '{row['id']}' gives {unused[0]}, which {row['kind']} does not use; {meant}")
    return tuple(found)


def _value(row: Row, formula: Callable[[Row], float]) -> float | bool:
    """Ours for one reading; whatever keeps a formula from a finite value is told in a sentence that names the claim."""
    claim, kind = row["id"], row["kind"]
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            value = formula(row)
    except ArithmeticError:
        value = math.nan
    except tables.UnknownName as error:
        raise tables.UnknownName(f"Claim '{claim}': {error}") from None
    except ValueError as error:
        told = str(error)
        raise ValueError(told if told.startswith("Claim ") else f"Claim '{claim}': {told}") from None
    if not math.isfinite(value):
        raise ValueError(f"Claim '{claim}' has no value: an input of {kind} is 0, or too large.")
    return value
