"""Which published figures can be recomputed? All of the table, and those of a reader's own file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from costkit import reading, tables
from costkit.claims import behaviour, memory, money, savings, scaling, spot
from costkit.claims.inputs import Kinds
from costkit.claims.judging import REQUIRED, checked
from costkit.claims.result import Checked
from costkit.claims.rows import TABLE, rows_of_lessons

KINDS: Kinds = {
    **scaling.KINDS,
    **memory.KINDS,
    **spot.KINDS,
    **money.KINDS,
    **savings.KINDS,
    **behaviour.KINDS,
}


def check(path: str | Path | None = None) -> list[Checked]:
    """Every published figure that this package can recompute, or those of a reader's own file.

    The file is a CSV with the columns of `data/claims.csv`, of which `id`, `kind` and `published` are needed; other
    columns are inputs. A ValueError of one sentence says what is missing, is no number, or is not used.

    >>> {one.verdict for one in check()} == {"holds", "close", "wrong", "depends"}
    True
    """
    if path is None:
        return [*(checked(row, KINDS) for row in tables.rows(TABLE)), *scaling.chinchilla_tables()]
    return [checked(row, KINDS) for row in _rows(path)]


def ledger() -> list[Checked]:
    """What the lessons on the cost of training claim, each figure recomputed, in the order of the table.

    >>> len(ledger())
    92
    """
    return [checked(row, KINDS) for row in rows_of_lessons()]


def _rows(path: str | Path) -> Iterator[Mapping[str, str]]:
    """The rows of a reader's file; a column or a claim that stands there twice is refused, and a cell of no column."""
    header, *rows = reading.csv_rows(path, of="claims", columns=", ".join(REQUIRED))
    if "id" not in [name.strip().casefold() for name in header]:
        raise ValueError(
            f"The first line of '{Path(path).name}' has no column id; it needs {', '.join(REQUIRED)}, with commas"
            " between."
        )
    names, seen = [name.strip().casefold() for name in header], set[str]()
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        raise ValueError(f"The header names column {twice[0]} twice; give each column a name of its own.")
    for cells in rows:
        row = dict(zip(names, (cell.strip() for cell in cells), strict=False))
        if any(cells[len(names) :]):
            raise ValueError(
                f"Claim '{row.get('id', '')}' has {len(cells)} cells under {len(names)} columns; put a cell that has"
                " commas in it in double quotes."
            )
        if row.get("id") and row["id"] in seen:
            raise ValueError(f"Claim '{row['id']}' stands there twice; give each an id of its own.")
        seen.add(row.get("id") or "")
        yield row
