"""Which published figures can be recomputed? All of the tables, and those of a reader's own file."""

from __future__ import annotations

from pathlib import Path

from costkit import reading
from costkit.claims import memory, scaling, spot
from costkit.claims.verdicts import REQUIRED, Checked, Kinds, checked

KINDS: Kinds = {**scaling.KINDS, **memory.KINDS, **spot.KINDS}


def check(path: str | Path | None = None) -> list[Checked]:
    """Every published figure that this package can recompute, or those of a reader's own file.

    The file is a CSV with the columns of `data/scaling_checks.csv`, `data/memory_checks.csv` or `data/spot_checks.csv`
    that its kinds of claim need; a ValueError of one sentence says what is missing or is no number.

    >>> {one.verdict for one in check()} <= {"holds", "close", "wrong"}
    True
    """
    if path is None:
        found = (scaling.scaling_checks, scaling.chinchilla_tables, memory.memory_checks, spot.spot_checks)
        return [check for table in found for check in table()]
    header, *rows = reading.csv_rows(path, of="claims", columns=", ".join(REQUIRED))
    names = [name.strip().casefold() for name in header]
    return [checked(dict(zip(names, (cell.strip() for cell in row), strict=False)), KINDS) for row in rows]
