"""What do your own runs say? The fit of a CSV of runs as text or JSON, with ranges and a test on held-out runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from costkit import plan, scaling
from costkit.cli.output import json_text, table
from costkit.units import flop, number, percent

COEFFICIENTS = ("E", "A", "B", "alpha", "beta")
PERCENTILES = (10.0, 90.0)
MOST_DRAWS = 100_000


def fitted(
    path: str, *, n_dropped: int, n_bootstrap: int, held_out_fraction: float | None, seed: int, as_json: bool
) -> str:
    """The answer of `costkit fit`; a ValueError where the runs cannot give a law."""
    if not 0 <= n_bootstrap <= MOST_DRAWS:
        raise ValueError(f"--bootstrap must be from 0 to {MOST_DRAWS:,} draws, not {n_bootstrap:,}")
    if seed < 0:
        raise ValueError(f"--seed must be 0 or more, not {seed}")
    runs = plan.sizing.read_runs(path).without_highest_losses(n_dropped)
    columns = (runs.n_params, runs.n_tokens, runs.loss)
    fit = scaling.fit(*columns, n_bootstrap=n_bootstrap, rng=np.random.default_rng(seed))
    if not fit.identifiable:
        raise ValueError(f"these runs can't give a law: {' '.join(fit.warnings)}")
    held = None if held_out_fraction is None else scaling.hold_out(*columns, held_out_fraction=held_out_fraction)
    facts = _facts(fit, held, n_runs=len(runs), n_dropped=n_dropped)
    return json_text(facts) if as_json else _text(facts)


def _facts(fit: scaling.Fit, held: scaling.HoldOut | None, *, n_runs: int, n_dropped: int) -> dict[str, Any]:
    law = fit.law
    low, high = np.percentile(fit.draws, PERCENTILES, axis=0) if len(fit.draws) else (None, None)
    return {
        "n_runs": n_runs,
        "n_dropped": n_dropped,
        "flop_min": law.flop_range[0],
        "flop_max": law.flop_range[1],
        "coefficients": {name: float(getattr(law, name)) for name in COEFFICIENTS},
        "low_80": {} if low is None else dict(zip(COEFFICIENTS, low.tolist(), strict=True)),
        "high_80": {} if high is None else dict(zip(COEFFICIENTS, high.tolist(), strict=True)),
        "huber_sum": fit.huber,
        "n_bootstrap": len(fit.draws),
        "hold_out": None if held is None else vars(held),
        "warnings": list(fit.warnings),
    }


def _text(facts: dict[str, Any]) -> str:
    headings = ("", "value", "80% from", "to") if facts["low_80"] else ("", "value")
    lines = [_opening(facts), "", table(headings, _coefficient_rows(facts)), ""]
    lines.append(f"Sum of Huber losses: {facts['huber_sum']:.5e}")
    if facts["hold_out"]:
        lines.append(_hold_out_line(facts["hold_out"]))
    return "\n".join([*lines, *facts["warnings"]]) + "\n"


def _opening(facts: dict[str, Any]) -> str:
    dropped = f", {facts['n_dropped']} of the highest loss left out" if facts["n_dropped"] else ""
    span = f"{flop(facts['flop_min'])} to {flop(facts['flop_max'])}"
    return f"L(N, D) = E + A / N^alpha + B / D^beta, fitted to {facts['n_runs']} runs of {span}{dropped}."


def _coefficient_rows(facts: dict[str, Any]) -> list[list[str]]:
    columns = [facts["coefficients"], facts["low_80"], facts["high_80"]]
    return [[name, *(f"{column[name]:.5g}" for column in columns if column)] for name in COEFFICIENTS]


def _hold_out_line(held: dict[str, Any]) -> str:
    fitted = f"the other {held['n_fitted']} (up to {flop(held['largest_fitted_flop'])})"
    rms, mean = percent(held["rms_error_fraction"]), number(100 * held["mean_error_fraction"])
    return (
        f"Held out: the {held['n_held_out']} runs of most compute, predicted from {fitted}: "
        f"off by {rms} (root mean square), {mean}% on average."
    )
