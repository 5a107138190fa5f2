"""Is what they printed true? Published figures beside ours, each with a verdict that is computed.

- `holds`: ours rounds to the printed digits. `close`: within 5%. `wrong`: further off; the note says why.
- Printed figures and the inputs behind them stand in tables; a row's `kind` names the formula that recomputes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from costkit import reading, scaling, tables, training
from costkit.units import count, number

CLOSE_FRACTION = 0.05
_ROW_TOLERANCE = 0.03
_REQUIRED = ("id", "kind", "published")


@dataclass(frozen=True)
class Checked:
    """A published figure, ours, and what comes of it."""

    id: str
    source: str
    what: str
    published: float
    recomputed: float
    unit: str
    verdict: str
    why: str

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.recomputed / self.published if self.published else math.inf


def verdict(printed: str, recomputed: float) -> str:
    """`holds` to the printed digits, else `close` within 5%, else `wrong`.

    >>> verdict("40e9", 40.36e9), verdict("40e9", 39.2e9), verdict("40e9", 32.2e9)
    ('holds', 'close', 'wrong')
    """
    published = float(printed)
    if abs(recomputed - published) <= _half_last_digit(printed) * (1 + 1e-9):
        return "holds"
    return "close" if abs(recomputed - published) <= CLOSE_FRACTION * abs(published) * (1 + 1e-9) else "wrong"


def _half_last_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return float(Decimal(5).scaleb(int(exponent) - 1))


def check(path: str | Path | None = None) -> list[Checked]:
    """Every published figure that this package can recompute, or those of a reader's own file.

    The file is a CSV with the columns of `data/scaling_checks.csv` that its kinds of claim need; a ValueError of one
    sentence says what is missing or is no number.

    >>> len(check()) == len(scaling_checks()) + len(chinchilla_tables())
    True
    """
    if path is None:
        return [*scaling_checks(), *chinchilla_tables()]
    header, *rows = reading.csv_rows(path, of="claims", columns=", ".join(_REQUIRED))
    names = [name.strip().casefold() for name in header]
    return [_checked(dict(zip(names, (cell.strip() for cell in row), strict=False))) for row in rows]


def scaling_checks() -> list[Checked]:
    """Worked numbers of the scaling-law papers, recomputed by this package.

    >>> [check.id for check in scaling_checks() if check.verdict == "wrong"][:2]
    ['besiroglu-ratio-chinchilla', 'hoffmann-175b-text']
    """
    return [_checked(row) for row in tables.rows("scaling_checks.csv")]


def _checked(row: Mapping[str, str]) -> Checked:
    missing = [name for name in _REQUIRED if not row.get(name)]
    if missing:
        raise ValueError(f"A claim needs {', '.join(_REQUIRED)}; '{row.get('id', '')}' lacks {missing[0]}.")
    ours = float(tables.lookup("kind of claim", row["kind"], _KINDS)(_Inputs(row)))
    published = _Inputs(row).number("published")
    found = verdict(row["published"], ours)
    why = row.get("note") or ("to the printed digits" if found == "holds" else "no reason is noted")
    source, what, unit = (row.get(name) or "" for name in ("source", "what", "unit"))
    return Checked(row["id"], source, what, published, ours, unit, found, why)


def chinchilla_tables() -> list[Checked]:
    """Every row of Hoffmann et al. 2022, Table 3 and Table A3: its tokens against its law's best for its compute.

    Approaches 1 and 2 against power laws through their own rows; approach 3 against its law at full precision, which
    does not give its table. A row whose compute is not 6ND says so.

    >>> rows = chinchilla_tables()
    >>> len(rows), [row.why for row in rows if row.ratio < 0.5]
    (27, ["the row's own compute is 0.100 of 6ND"])
    """
    return [_table_row(row) for row in tables.rows("chinchilla_frontiers.csv")]


def _table_row(row: Mapping[str, str]) -> Checked:
    approach, law = row["approach"], scaling.law(_APPROACHES[row["approach"]])
    N, C, D = (float(row[name]) for name in ("n_params", "flop", "n_tokens"))
    ours = float(scaling.optimal_split(law, flop=C).n_tokens)
    found, own = verdict(row["n_tokens"], ours), C / training.flop(n_params=N, n_tokens=D)
    missed = "eq. 10 does not give this row" if approach == "3" else "the table is rounded"
    why = "to the printed digits" if found == "holds" else missed
    if abs(own - 1) > _ROW_TOLERANCE:
        own_fault = f"the row's own compute is {number(own)} of 6ND"
        why = f"{own_fault}, and {missed}" if approach == "3" and found != "holds" and own > 0.5 else own_fault
    what = f"{row['table']}, approach {approach}: best tokens at {row['flop']} FLOP, {count(N)} parameters"
    return Checked(f"chinchilla-{approach}-{count(N)}", row["source"], what, D, ours, "tokens", found, why)


_APPROACHES = {"1": "hoffmann-2022-approach-1", "2": "hoffmann-2022-approach-2", "3": "hoffmann-2022"}


class _Inputs:
    """The inputs of a row, as a formula asks for them."""

    def __init__(self, row: Mapping[str, str]) -> None:
        self._row = row

    def number(self, name: str, default: float | None = None) -> float:
        """An input by its column; a missing one that has no default is a fault of the table."""
        text = self._row.get(name)
        if not text and default is not None:
            return default
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"Claim '{self._row['id']}' needs a number in column {name}, not '{text or ''}'.")
        return value

    @property
    def law(self) -> scaling.Law:
        return scaling.law(self._row.get("law") or "")

    @property
    def unique(self) -> float:
        return self.number("unique_tokens", np.inf)

    @property
    def served(self) -> float:
        return self.number("inference_tokens", 0.0)

    @property
    def best(self) -> scaling.Split:
        """The best split of the row's compute, given or 6ND."""
        given = self._row.get("flop")
        N, D = ("n_params", "n_tokens")
        flop = float(given) if given else float(training.flop(n_params=self.number(N), n_tokens=self.number(D)))
        return scaling.optimal_split(self.law, flop=flop, unique_tokens=self.unique)

    @property
    def alone(self) -> scaling.Split:
        """The split of the row's quality: for a loss or a size the best for training alone, else the row's own."""
        if self._row.get("loss"):
            return scaling.cheapest_for_loss(self.law, loss=self.number("loss"))
        if not self._row.get("n_tokens"):
            return scaling.split_for_params(self.law, n_params=self.number("n_params"))
        N, D = self.number("n_params"), self.number("n_tokens")
        return scaling.Split(N, D, scaling.loss(self.law, n_params=N, n_tokens=D))

    @property
    def lifetime(self) -> scaling.Split:
        """The cheapest split of that quality with serving counted."""
        return scaling.cheapest_for_loss(self.law, loss=scaling.loss_of(self.alone), inference_tokens=self.served)

    def saving_percent(self, split: scaling.Split) -> float:
        """What a split saves over its life against the one for training alone."""
        return 100 * (1 - float(split.lifetime_flop(self.served)) / float(self.alone.lifetime_flop(self.served)))


def _of_other_size(inputs: _Inputs) -> scaling.Split:
    N = inputs.number("other_n_params")
    return scaling.Split(N, scaling.tokens_for_loss(inputs.law, n_params=N, loss=scaling.loss_of(inputs.alone)))


def _exponent(inputs: _Inputs) -> scaling.Numbers:
    sizes = scaling.optimal_split(inputs.law, flop=np.array([1e20, 1e21])).n_params
    return float(np.diff(np.log10(np.asarray(sizes)))[0])


_KINDS: dict[str, Callable[[_Inputs], scaling.Numbers]] = {
    "size_exponent": _exponent,
    "training_flop": lambda given: training.flop(n_params=given.number("n_params"), n_tokens=given.number("n_tokens")),
    "loss": lambda given: scaling.loss(
        given.law, n_params=given.number("n_params"), n_tokens=given.number("n_tokens"), unique_tokens=given.unique
    ),
    "best_params": lambda given: given.best.n_params,
    "best_tokens": lambda given: given.best.n_tokens,
    "best_tokens_per_param": lambda given: given.best.tokens_per_param,
    "best_epochs": lambda given: given.best.epochs,
    "flop_for_params": lambda given: scaling.split_for_params(given.law, n_params=given.number("n_params")).flop,
    "tokens_for_params": lambda given: scaling.split_for_params(given.law, n_params=given.number("n_params")).n_tokens,
    "lifetime_params": lambda given: given.lifetime.n_params,
    "lifetime_tokens": lambda given: given.lifetime.n_tokens,
    "lifetime_params_ratio": lambda given: given.lifetime.n_params / given.alone.n_params,
    "lifetime_tokens_ratio": lambda given: given.lifetime.n_tokens / given.alone.n_tokens,
    "lifetime_saving": lambda given: given.saving_percent(given.lifetime),
    "lifetime_saving_of_size": lambda given: given.saving_percent(_of_other_size(given)),
}
