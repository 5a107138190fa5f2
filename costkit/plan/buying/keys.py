"""Which key of the plan is meant? The plan's keys in place of the names that `spot` gives its own arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "is_elastic=False": "market.elastic to false",
        "prices that move": "market.price_history",
        "a joint law": "market.trace",
        "hardware_life_s": "hardware failures (market.failures_per_gpu_day = 0)",
        "keeps_survivors": "market.keeps_survivors",
    }
)
_NAMES = re.compile("|".join(map(re.escape, _KEYS)))


def by_keys(sentence: str) -> str:
    """The sentence with the plan's keys.

    >>> by_keys("an elastic job is simulated without keeps_survivors")
    'an elastic job is simulated without market.keeps_survivors'
    """
    return _NAMES.sub(lambda found: _KEYS[found.group()], sentence)


@contextmanager
def errors_by_keys() -> Iterator[None]:
    """Raise a `ValueError` from within with the plan's keys in its sentence, its type kept."""
    try:
        yield
    except ValueError as error:
        sentence = by_keys(str(error))
        if sentence == str(error):
            raise
        raise type(error)(sentence) from error
