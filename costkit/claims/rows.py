"""Which printed figures are in the table? By topic, and those of the lessons."""

from __future__ import annotations

from collections.abc import Mapping

from costkit import tables

TABLE = "claims.csv"
_LESSON = "(lesson)"


def rows_of(topic: str) -> list[Mapping[str, str]]:
    """The rows of one topic, in the order of the table.

    >>> [row["id"] for row in rows_of("code")]
    ['autoscale-rule', 'loader-timer', 'resume-order']
    """
    return [row for row in tables.rows(TABLE) if row["topic"] == topic]


def rows_of_lessons() -> list[Mapping[str, str]]:
    """The rows whose source is a lesson on the cost of training."""
    return [row for row in tables.rows(TABLE) if tables.source(row["source"]).title.endswith(_LESSON)]
