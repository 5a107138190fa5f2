"""Do the scaling-law papers' own numbers follow from their laws? Worked figures and tables, recomputed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from costkit import scaling, tables, training
from costkit.claims.inputs import Inputs, Kinds, Row
from costkit.claims.judging import checked
from costkit.claims.result import Checked
from costkit.claims.rows import rows_of
from costkit.claims.verdicts import verdict
from costkit.units import count, number

_ROW_TOLERANCE = 0.03


def scaling_checks() -> list[Checked]:
    """Worked numbers of the scaling-law papers, recomputed by this package.

    >>> [check.id for check in scaling_checks() if check.verdict == "wrong"][:2]
    ['besiroglu-ratio-chinchilla', 'hoffmann-175b-text']
    """
    return [checked(row, KINDS) for row in rows_of("scaling")]


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


class _Inputs(Inputs):
    """The law and the splits that a row's numbers stand for."""

    @property
    def law(self) -> scaling.Law:
        return scaling.law(self.word("law"))

    @property
    def unique(self) -> float:
        return self.number("unique_tokens", np.inf)

    @property
    def served(self) -> float:
        return self.number("inference_tokens", 0.0)

    @property
    def best(self) -> scaling.Split:
        """The best split of the row's compute."""
        return scaling.optimal_split(self.law, flop=self.flop, unique_tokens=self.unique)

    @property
    def flop(self) -> float:
        """The row's compute, given or 6ND."""
        if self.word("flop"):
            return self.number("flop")
        return float(training.flop(n_params=self.number("n_params"), n_tokens=self.number("n_tokens")))

    @property
    def alone(self) -> scaling.Split:
        """The split of the row's quality: for a loss or a size the best for training alone, else the row's own."""
        if self.word("loss"):
            return scaling.cheapest_for_loss(self.law, loss=self.number("loss"))
        if not self.word("n_tokens"):
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


_FORMULAS: dict[str, Callable[[_Inputs], scaling.Numbers]] = {
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


def _formula(of: Callable[[_Inputs], scaling.Numbers]) -> Callable[[Row], float]:
    return lambda row: float(of(_Inputs(row)))


KINDS: Kinds = {kind: _formula(of) for kind, of in _FORMULAS.items()}
