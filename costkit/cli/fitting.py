"""What do your own runs say? The fit of a CSV of runs as text or JSON, with ranges and a test on held-out runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from costkit import plan, scaling
from costkit.cli.output import json_text, table
from costkit.plan.sizing.bands import ratio_curve
from costkit.plan.sizing.runs import MAX_RUNS
from costkit.units import flop, number, percent

COEFFICIENTS = ("E", "A", "B", "alpha", "beta")
PERCENTILES = (10.0, 90.0)
MOST_DRAWS = 100_000


def fitted(
    path: str, *, n_dropped: int, n_bootstrap: int, held_out_fraction: float | None, seed: int, as_json: bool
) -> str:
    """The answer of `costkit fit`; a ValueError where the runs cannot give a law, before any time goes into ranges."""
    if not 0 <= n_bootstrap <= MOST_DRAWS:
        raise ValueError(f"--bootstrap must be from 0 to {MOST_DRAWS:,} draws, not {n_bootstrap:,}")
    if seed < 0:
        raise ValueError(f"--seed must be 0 or more, not {seed}")
    runs = plan.sizing.read_runs(path).without_highest_losses(n_dropped)
    if held_out_fraction is not None:
        _require_enough(len(runs), held_out_fraction)
    columns = (runs.n_params, runs.n_tokens, runs.loss)
    fit = scaling.fit(*columns)
    if not fit.identifiable:
        raise ValueError(f"these runs can't give a law: {' '.join(fit.warnings)}")
    held = None if held_out_fraction is None else scaling.hold_out(*columns, held_out_fraction=held_out_fraction)
    if n_bootstrap:
        fit = scaling.fit(*columns, n_bootstrap=n_bootstrap, rng=np.random.default_rng(seed))
    facts = _facts(fit, held, n_runs=len(runs), n_dropped=n_dropped)
    return json_text(facts) if as_json else _text(facts)


def _require_enough(n_runs: int, held_out_fraction: float) -> None:
    """Refuse to hold out so many runs that too few are left to fit."""
    if not 0 < held_out_fraction < 1:
        raise ValueError(f"--hold-out must be between 0 and 1, e.g. 0.2, not {held_out_fraction:g}")
    left = _n_left(n_runs, held_out_fraction)
    if left < scaling.MIN_RUNS:
        enough = (n for n in range(n_runs, MAX_RUNS) if _n_left(n, held_out_fraction) >= scaling.MIN_RUNS)
        needed = next(enough, None)
        way_out = f"it takes {needed} runs" if needed else "no file has runs enough for that"
        raise ValueError(
            f"--hold-out {held_out_fraction:g} of {n_runs} runs leaves {left} to fit, and a fit needs "
            f"{scaling.MIN_RUNS}: {way_out}, or hold out less"
        )


def _n_left(n_runs: int, held_out_fraction: float) -> int:
    return n_runs - max(round(held_out_fraction * n_runs), 1)


def _facts(fit: scaling.Fit, held: scaling.HoldOut | None, *, n_runs: int, n_dropped: int) -> dict[str, Any]:
    law = fit.law
    low, high = np.percentile(fit.draws, PERCENTILES, axis=0) if len(fit.draws) else (None, None)
    ratio = ratio_curve(law, np.array([law.flop_range[1]]))
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
        "size_exponent": float(law.beta) / (float(law.alpha) + float(law.beta)),
        "size_exponent_error": fit.allocation_error,
        "tokens_per_param": float(ratio.mid[0]),
        "tokens_per_param_low_80": float(ratio.low[0]) if len(ratio.low) else None,
        "tokens_per_param_high_80": float(ratio.high[0]) if len(ratio.high) else None,
        "hold_out": None if held is None else vars(held),
        "warnings": list(fit.warnings),
    }


def _text(facts: dict[str, Any]) -> str:
    headings = ("", "value", "80% from", "to") if facts["low_80"] else ("", "value")
    lines = [_opening(facts), "", table(headings, _coefficient_rows(facts)), ""]
    lines.append(f"Sum of Huber losses: {facts['huber_sum']:.5e}")
    if facts["hold_out"]:
        lines.append(_hold_out_line(facts["hold_out"]))
    return "\n".join([*lines, *facts["warnings"], "", _conclusion(facts)]) + "\n"


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


def _conclusion(facts: dict[str, Any]) -> str:
    """What the fit is for, in one sentence: where to put the next compute, and how far to trust that."""
    exponent, error = number(facts["size_exponent"]), number(facts["size_exponent_error"], digits=2)
    low, high = facts["tokens_per_param_low_80"], facts["tokens_per_param_high_80"]
    band = "" if low is None else f" (middle 80% of refits: {number(low)} to {number(high)})"
    held = facts["hold_out"]
    trust = f", and the held-out runs were off by {percent(held['rms_error_fraction'])}" if held else ""
    return (
        f"The best size grows as compute to the power {exponent} ± {error}; at {flop(facts['flop_max'])}, the most of "
        f"these runs, it takes {number(facts['tokens_per_param'])} tokens per parameter{band}{trust}."
    )
