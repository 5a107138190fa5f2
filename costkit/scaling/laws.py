"""Which law says so? Published and refitted scaling laws as records with their provenance.

- A `ScalingLaw` gives a loss for any model size and number of tokens; a `FrontierLaw` gives the best size only.
- Coefficients, ranges and sources stand in `data/scaling_laws.csv`, bootstrap draws in `data/scaling_law_draws.csv`.
- The draws of a law are joint: ln A and alpha correlate at 0.999, so drawing each from its own error is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from costkit import tables
from costkit.units import require_positive

Array: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = float | Array
"""A number, or an array of them for a sweep; results broadcast."""

COEFFICIENTS = ("E", "A", "B", "alpha", "beta")


@dataclass(frozen=True, kw_only=True)
class _Record:
    """What every law says about itself; ranges are (low, high), infinite where not stated."""

    name: str
    title: str
    flop_range: tuple[float, float] = (0.0, np.inf)
    n_params_range: tuple[float, float] = (0.0, np.inf)
    n_params_kind: str = "total"
    n_runs: int | None = None
    basis: str = "assumed"
    source: str = "costkit"
    as_of: str = ""
    note: str = ""

    def outside(self, *, flop: float, n_params: float) -> str:
        """What of a run lies beyond those behind the law: "compute", "size", or nothing (an empty string).

        A range that the source does not state counts as unlimited, so a law that states one of the two is held to that.

        >>> law("besiroglu-2024").outside(flop=1e24, n_params=1e10)
        'compute'
        >>> law("muennighoff-2023").outside(flop=1e24, n_params=9e10)
        'size'
        """
        for what, value, (low, high) in (("compute", flop, self.flop_range), ("size", n_params, self.n_params_range)):
            if not low <= value <= high:
                return what
        return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingLaw(_Record):
    """L(N, D) = E + A / N^alpha + B / D^beta. Hoffmann et al. 2022 (arXiv:2203.15556), eq. 2.

    Coefficients are numbers; in `sampled()` they are arrays, one entry a bootstrap draw. `draws` has one row a draw and
    the columns E, A, B, alpha, beta. The decay constants of repeated tokens and of excess parameters are
    R*_D and R*_N of Muennighoff et al. 2023 (arXiv:2305.16264), borrowed from there by laws that have none.
    """

    E: Numbers
    A: Numbers
    B: Numbers
    alpha: Numbers
    beta: Numbers
    loss_unit: str = "nats per token"
    repeat_decay_tokens: float
    repeat_decay_params: float
    draws: Array = field(default_factory=lambda: np.empty((0, 5)), repr=False)

    def sampled(self, n_draws: int | None = None) -> ScalingLaw:
        """The same law with its first `n_draws` bootstrap draws as coefficients, each of shape (n_draws, 1).

        A ValueError says so where a law has no draws.
        """
        if n_draws is not None:
            require_positive(n_draws, "n_draws", "draws")
        if not len(self.draws):
            raise ValueError(f"The law '{self.name}' has no bootstrap draws, so no interval can be given for it.")
        return self.with_coefficients(*self.draws[:n_draws].T[:, :, None])

    def with_coefficients(self, E: Numbers, A: Numbers, B: Numbers, alpha: Numbers, beta: Numbers) -> ScalingLaw:
        """The same record with other coefficients."""
        return replace(self, E=E, A=A, B=B, alpha=alpha, beta=beta)


@dataclass(frozen=True, kw_only=True)
class FrontierLaw(_Record):
    """The best size as a power of compute: N or D = coefficient (C / flop_unit)^exponent, the other from C = 6ND."""

    of: str
    coefficient: float
    exponent: float
    flop_unit: float = 1.0


Law: TypeAlias = ScalingLaw | FrontierLaw


def names() -> tuple[str, ...]:
    """The names that `law` knows."""
    return tuple(row["name"] for row in tables.rows("scaling_laws.csv"))


@cache
def law(name: str) -> Law:
    """A law by its name in `data/scaling_laws.csv`. An unknown one raises `tables.UnknownName` with the nearest names.

    >>> besiroglu = law("besiroglu-2024")
    >>> besiroglu.E, besiroglu.alpha, besiroglu.source, besiroglu.draws.shape
    (1.8172, 0.3478, 'besiroglu-2024', (1000, 5))
    """
    row = tables.lookup("law", name, {row["name"]: row for row in tables.rows("scaling_laws.csv")})
    return _scaling_law(row) if row["form"] == "loss" else _frontier_law(row)


def _range(row: Mapping[str, str], what: str) -> tuple[float, float]:
    return float(row[f"{what}_min"] or 0.0), float(row[f"{what}_max"] or np.inf)


def _scaling_law(row: Mapping[str, str]) -> ScalingLaw:
    E, A, B = (float(row[key]) if row[key] else float(np.exp(float(row[f"ln_{key}"]))) for key in ("E", "A", "B"))
    decay_tokens, decay_params = repeat_decay(row)
    return ScalingLaw(
        **_provenance(row),
        flop_range=_range(row, "flop"),
        n_params_range=_range(row, "n_params"),
        E=E,
        A=A,
        B=B,
        alpha=float(row["alpha"]),
        beta=float(row["beta"]),
        loss_unit=row["loss_unit"],
        repeat_decay_tokens=decay_tokens,
        repeat_decay_params=decay_params,
        draws=draws(row["draws"]),
    )


def _frontier_law(row: Mapping[str, str]) -> FrontierLaw:
    return FrontierLaw(
        **_provenance(row),
        flop_range=_range(row, "flop"),
        n_params_range=_range(row, "n_params"),
        of=row["frontier_of"],
        coefficient=float(row["frontier_coefficient"]),
        exponent=float(row["frontier_exponent"]),
        flop_unit=float(row["frontier_flop_unit"]),
    )


class _Provenance(TypedDict):
    name: str
    title: str
    n_params_kind: str
    n_runs: int | None
    basis: str
    source: str
    as_of: str
    note: str


def _provenance(row: Mapping[str, str]) -> _Provenance:
    return _Provenance(
        name=row["name"],
        title=row["title"],
        n_params_kind=row["n_params_kind"],
        n_runs=int(row["n_runs"]) if row["n_runs"] else None,
        basis=row["basis"],
        source=row["source"],
        as_of=row["as_of"],
        note=row["note"],
    )


def repeat_decay(row: Mapping[str, str] | None = None) -> tuple[float, float]:
    """R*_D of repeated tokens and R*_N of excess parameters: a law's own, else those of Muennighoff et al. 2023."""
    own = row if row and row["repeat_decay_tokens"] else _measured_decay_row()
    return float(own["repeat_decay_tokens"]), float(own["repeat_decay_params"])


def _measured_decay_row() -> Mapping[str, str]:
    return next(row for row in tables.rows("scaling_laws.csv") if row["repeat_decay_tokens"])


@cache
def _all_draws() -> dict[str, Array]:
    grouped: dict[str, list[list[float]]] = {}
    for row in tables.rows("scaling_law_draws.csv"):
        grouped.setdefault(row["draws"], []).append([float(row[name]) for name in COEFFICIENTS])
    found = {key: np.array(values) for key, values in grouped.items()}
    for values in found.values():
        values.flags.writeable = False
    return found


def draws(key: str) -> Array:
    """The bootstrap draws filed under this key, shape (n_draws, 5); none for an empty key."""
    return _all_draws()[key] if key else np.empty((0, 5))
