"""Is there such a name? A mapping's value, or an error with the nearest names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")

_LISTED_BY = {"GPU": "costkit gpus", "law": "costkit laws", "plan": "costkit plan list"}
_LONGEST_NAME = 80
_MOST_OPTIONS = 12


class UnknownName(LookupError):
    """A name that no table has; the text is one sentence with the nearest names."""

    __module__ = "costkit.tables"  # what a traceback calls it: the name to import it by


def unknown(kind: str, name: object, options: Iterable[str]) -> UnknownName:
    """The error for a name that is not among `options`, with the nearest of them.

    >>> print(unknown("GPU", "A100-80", ["A100-SXM4-80GB", "H100-SXM5-80GB"]))
    no GPU 'A100-80'. Did you mean 'A100-SXM4-80GB'? `costkit gpus` lists all.
    """
    known = sorted(options)
    sentence = f"no {kind} {_quoted(name)}."
    near = _nearest(str(name)[:_LONGEST_NAME], known)
    if near:
        sentence += f" Did you mean {near!r}?"
    if kind in _LISTED_BY:
        sentence += f" `{_LISTED_BY[kind]}` lists all."
    elif not near and known:
        sentence += f" Known: {', '.join(known[:_MOST_OPTIONS])}{', ...' if len(known) > _MOST_OPTIONS else ''}."
    return UnknownName(sentence)


def lookup(kind: str, name: object, mapping: Mapping[str, T]) -> T:
    """`mapping[name]`, or `UnknownName` that says what `kind` of thing was sought and what is near.

    >>> lookup("colour", "blue", {"blue": 3})
    3
    """
    if isinstance(name, str) and name in mapping:
        return mapping[name]
    raise unknown(kind, name, mapping)


def _quoted(name: object) -> str:
    text = repr(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def _nearest(name: str, options: list[str]) -> str:
    """The option that reads most like `name`, by shared words and by spelling; empty where none is near."""
    words = _words(name)

    def likeness(option: str) -> tuple[float, str]:
        shared = sum(any(part.startswith(word) for part in _words(option)) for word in words)
        shared_fraction = shared / len(words) if words else 0.0
        spelling = difflib.SequenceMatcher(None, name.casefold(), option.casefold()).ratio()
        near = shared_fraction >= 0.5 or spelling >= 0.6
        return (shared_fraction + spelling if near else 0.0), option

    score, option = max(map(likeness, options), default=(0.0, ""))
    return option if score else ""


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9.]+", name.casefold()) if len(word) > 1]
