"""Where does a number come from? Papers, pages and repositories by the key that tables name them by."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from costkit.tables.files import rows
from costkit.tables.names import lookup


@dataclass(frozen=True)
class Source:
    """Where a number comes from. `accessed` is empty where we did not read the page ourselves."""

    key: str
    authors: str
    title: str
    year: str
    url: str
    accessed: str


@functools.cache
def sources() -> Mapping[str, Source]:
    """Every source by its key."""
    columns = ("key", "authors", "title", "year", "url", "accessed")
    listed = (Source(**{name: row[name] for name in columns}) for row in rows("sources.csv"))
    return MappingProxyType({listed_source.key: listed_source for listed_source in listed})


def source(key: str) -> Source:
    """The source behind a key of any table's `source` column.

    >>> source("besiroglu-2024").url
    'https://arxiv.org/abs/2404.10102'
    """
    return lookup("source", key, sources())
