"""What did your own small runs say? A CSV of runs read and checked, and the law fitted to them.

- Columns `params`, `tokens` (or `flop`, from which tokens = flop / 6 params), `loss`; any others are left alone.
- A file is read whole or not at all: the first cell that is no number, or none that a run can have, is named with its
  row and column. A line that starts with # is a comment.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from costkit import reading, scaling, tables, writing
from costkit.plan.schema import Plan
from costkit.units import flop as amount
from costkit.units import number, percent

MAX_RUNS = 10_000
LIMITS = {"params": (1e2, 1e17), "tokens": (1e3, 1e20), "loss": (0.01, 100.0)}
"""What a run can have at least and at most: beyond it a column holds something else, or in another unit."""

_LONGEST_QUOTED = 40
_ALIASES = {
    "params": ("params", "n_params", "parameters", "n"),
    "tokens": ("tokens", "n_tokens", "d"),
    "flop": ("flop", "flops", "c"),
    "loss": ("loss", "final_loss", "l"),
}


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs as columns, each of shape (n_runs,): parameters, training tokens, final loss in nats per token."""

    n_params: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.loss)

    def without_highest_losses(self, n_dropped: int) -> Runs:
        """The runs that stay when those of the highest losses are left out."""
        keep = scaling.without_highest_losses(self.loss, n_dropped=n_dropped)
        return Runs(self.n_params[keep], self.n_tokens[keep], self.loss[keep])


def read_runs(path: str | Path) -> Runs:
    """Read a CSV of runs; a ValueError of one sentence names the column or the cell that is wrong.

    >>> from costkit import tables
    >>> len(read_runs(tables.path("example_runs.csv")))
    48
    """
    file = writing.expanded(path)
    header, *rows = reading.csv_rows(file, of="your runs", columns="params, tokens (or flop), loss")
    columns = _columns(file, header)
    if not rows:
        raise ValueError(
            f"'{file.name}' has a header but no runs; each run is a row of params, tokens (or flop) and loss."
        )
    if len(rows) > MAX_RUNS:
        raise ValueError(f"'{file.name}' has {len(rows):,} runs; a law is fitted to {MAX_RUNS:,} at most.")
    values = {what: _numbers(file, rows, index, header[index]) for what, index in columns.items()}
    if "tokens" not in values:
        with np.errstate(over="ignore"):  # what overflows is no number of tokens, and is told so below
            values["tokens"] = values["flop"] / values["params"] / scaling.TRAINING_FLOP_PER_PARAM_TOKEN
    for what, (least, most) in LIMITS.items():
        column = header[columns[what if what in columns else "flop"]]
        _require_within(file, values[what], f"column {_cut(column)}", what, least=least, most=most)
    return Runs(values["params"], values["tokens"], values["loss"])


def _columns(file: Path, header: list[str]) -> dict[str, int]:
    """Where params, loss and tokens or flop stand."""
    names = [name.strip().casefold() for name in header]
    found = {
        what: names.index(alias)
        for what, aliases in reversed(_ALIASES.items())
        for alias in reversed(aliases)
        if alias in names
    }
    missing = [what for what in ("params", "loss") if what not in found]
    if "tokens" not in found and "flop" not in found:
        missing.insert(len(missing) and missing[0] == "params", "tokens (or flop)")
    if missing:
        raise ValueError(f"'{file.name}' has no column {' and no column '.join(missing)}; it has {_few(header)}.")
    return found


def _few(names: list[str], most: int = 8) -> str:
    return ", ".join(name[:_LONGEST_QUOTED] for name in names[:most]) + (", ..." if len(names) > most else "")


def _cut(text: str) -> str:
    """A cell's text on one line, of a length that can be read."""
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_QUOTED else f"{words[:_LONGEST_QUOTED]}..."


def _numbers(file: Path, rows: list[list[str]], index: int, name: str) -> npt.NDArray[np.float64]:
    values = np.empty(len(rows))
    for i, row in enumerate(rows):
        text = row[index].strip() if index < len(row) else ""
        try:
            values[i] = float(text)
        except ValueError:
            values[i] = math.nan
        if not (math.isfinite(values[i]) and values[i] > 0):
            raise ValueError(
                f"'{file.name}', run {i + 1}, column {_cut(name)}: '{_cut(text)}' is not a positive number."
            )
    return values


def _require_within(
    file: Path, values: npt.NDArray[np.float64], where: str, what: str, *, least: float, most: float
) -> None:
    wrong = np.flatnonzero((values < least) | (values > most))
    if wrong.size:
        i, unit = int(wrong[0]), {"params": "parameters", "tokens": "tokens", "loss": "nats per token"}[what]
        raise ValueError(
            f"'{file.name}', run {i + 1}, {where}: {values[i]:.4g} {unit}, "
            f"but a run has from {least:g} to {most:g}; is the column in another unit?"
        )


def fit_runs(path: str | Path, *, n_left_out: int = 0, n_bootstrap: int = 200) -> scaling.Fit:
    """The law fitted to a CSV of runs, with bootstrap draws of a fixed seed; the same file is fitted once."""
    file = writing.expanded(path).absolute()
    if not file.is_file():
        read_runs(file)
    return _fit_once(file, file.stat().st_mtime_ns, n_left_out, n_bootstrap)


@functools.lru_cache(maxsize=16)
def _fit_once(file: Path, changed_ns: int, n_left_out: int, n_bootstrap: int) -> scaling.Fit:
    del changed_ns  # a part of the key only: an edited file is fitted anew
    runs = read_runs(file).without_highest_losses(n_left_out)
    rng = np.random.default_rng(0)
    return scaling.fit(runs.n_params, runs.n_tokens, runs.loss, n_bootstrap=n_bootstrap, rng=rng)


def example_runs() -> Path:
    """A CSV of 48 made-up runs that shows the format: the default law plus noise of half a per cent."""
    return tables.path("example_runs.csv")


@dataclass(frozen=True, eq=False)
class OwnRuns:
    """The runs that a plan names (or the example's), and their fit under the plan's outlier rule."""

    name: str
    is_example: bool
    n_left_out: int
    runs: Runs
    fit: scaling.Fit

    @property
    def caption(self) -> str:
        """Which runs these are."""
        if self.is_example:
            return f"Made-up runs that show the format ({self.name}); name your own CSV as data.runs of the plan"
        return f"Runs of {self.name}"

    @property
    def finding(self) -> str:
        """How well the runs fit, and how the best size grows by them."""
        law, spread = self.fit.law, percent(float(np.median(np.abs(self.fit.residuals))))
        if not self.fit.identifiable:
            return f"{len(self.runs)} runs can't determine a law"
        exponent = number(float(law.beta) / (float(law.alpha) + float(law.beta)))
        grows = f"the best size grows as compute to the {exponent} ± {number(self.fit.allocation_error, digits=2)}"
        return f"{len(self.runs)} runs fit to {spread}; {grows}"

    @property
    def sentence(self) -> str:
        """What follows for the next run, or why nothing does."""
        if not self.fit.identifiable:
            return " ".join(self.fit.warnings)
        flop = self.fit.law.flop_range[1]
        ratio = number(float(scaling.optimal_split(self.fit.law, flop=flop).tokens_per_param))
        whose = "These made-up runs" if self.is_example else "These runs"
        return f"{whose} ask for {ratio} tokens per parameter at {amount(flop)}, their largest compute."

    def fit_rows(self) -> list[dict[str, object]]:
        """The fit under each outlier rule that the file allows: none, one and five left out, and the plan's own."""
        rules = sorted({0, 1, 5, self.n_left_out})
        return [_fit_row(self.runs, n) for n in rules if len(self.runs) - n >= scaling.MIN_RUNS]


def own_runs(plan: Plan) -> OwnRuns:
    """The plan's own runs and their fit; the example's where the plan names none.

    >>> from costkit import plan
    >>> own_runs(plan.read("case-50k")).is_example
    True
    """
    path = plan.runs_path or example_runs()
    left_out = plan.data.n_runs_left_out
    return OwnRuns(path.name, plan.runs_path is None, left_out, read_runs(path), fit_runs(path, n_left_out=left_out))


def _fit_row(runs: Runs, n_left_out: int) -> dict[str, object]:
    kept = runs.without_highest_losses(n_left_out)
    fit = scaling.fit(kept.n_params, kept.n_tokens, kept.loss)
    law = fit.law
    row: dict[str, object] = {"left_out": n_left_out, "n_runs": len(kept), "huber": fit.huber}
    row.update({name: getattr(law, name) for name in ("E", "A", "B", "alpha", "beta")})
    row["size_exponent"] = float(law.beta) / (float(law.alpha) + float(law.beta))
    row["held_out_rms_fraction"] = _held_out_error(kept)
    row["verdict"] = "determined" if fit.identifiable else " ".join(fit.warnings)
    return row


def _held_out_error(runs: Runs) -> float | None:
    """Error on the fifth of the runs with most compute, predicted from the rest; None where too few are left to fit."""
    if round(0.8 * len(runs)) < scaling.MIN_RUNS:
        return None
    return scaling.hold_out(runs.n_params, runs.n_tokens, runs.loss, held_out_fraction=0.2).rms_error_fraction
