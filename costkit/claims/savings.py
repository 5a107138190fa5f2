"""Do the savings come to that? Listed ones, speed-ups taken for savings, chains of factors, and rules of size.

- A chain is a waterfall of `levers`: each speed-up leaves a share of the bill, and every GPU is paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from costkit import architectures, levers, tables, training
from costkit.claims import memory as of_memory
from costkit.claims.inputs import Inputs, Kinds, kinds
from costkit.levers import TIME, WORK
from costkit.units import DAY


def _listed(given: Inputs) -> levers.Listed:
    """The savings that a row lists, against its baseline: every other input is one."""
    return levers.listed(given.number("baseline"), given.all_numbers(but=("baseline",)))


def _chain(given: Inputs) -> levers.Waterfall:
    """Speed-ups one after another, then the efficiency that is lost on GPUs that are all paid for."""
    factors = {name: given.number(name, 1.0) for name in ("speedup", "other_speedup", "efficiency")}
    whole = [levers.lever(name, {TIME: 1 / factor}) for name, factor in factors.items()]
    return levers.waterfall(levers.Baseline(given.number("start_usd")), whole, n_draws=1)


def _steps_saving_percent(given: Inputs) -> float:
    """Steps, tokens of a step and recomputation multiply."""
    factors = {name: given.number(f"{name}_ratio") for name in ("steps", "batch", "recompute")}
    whole = [levers.lever(name, {WORK: factor}) for name, factor in factors.items()]
    return 100 * (1 - levers.waterfall(levers.Baseline(1.0), whole, n_draws=1).end_usd.mid)


def _speedup_saving_percent(given: Inputs) -> float:
    speedup = given.number("speedup", 1 + given.number("gain", 0.0))
    return 100 * (1 - 1 / speedup)


def _measured_speedup(given: Inputs) -> float:
    found = levers.speedup(given.word("change"))
    return float(tables.lookup("end", given.word("which"), {"lowest": found.low, "highest": found.high}))


def _adapters_saving_percent(given: Inputs) -> float:
    n, own = given.number("n_tasks"), given.number("model_usd")
    return 100 * (1 - (given.number("base_usd") + n * given.number("adapter_usd")) / (n * own))


def _roadmap_percent(given: Inputs) -> float:
    """What is off training, or off serving, where two savings apply to what is left of each other."""
    bases = {"training": ("training_saved",), "serving": ("inference_saved", "deployment_saved")}
    saved = {name: [given.number(one) for one in several] for name, several in bases.items()}
    return 100 * (1 - math.prod(1 - one for one in tables.lookup("base", given.word("base"), saved)))


def _recompute_speedup(given: Inputs) -> float:
    """The same step with its blocks' forward pass computed twice."""
    shape, seq_len = architectures.named(given.word("architecture")), given.number("seq_len")
    return 1 / (1 + of_memory.recompute_fraction(shape, seq_len))


def _flop(given: Inputs) -> float:
    """Compute: given, or that of GPUs over days at an MFU."""
    if given.word("flop"):
        return given.positive("flop")
    peak = tables.gpu(given.word("gpu")).half_precision_flop_per_s
    return given.positive("n_gpus") * given.positive("days") * DAY * peak * given.positive("mfu")


def _rule(given: Inputs) -> tuple[float, float]:
    """Size and tokens for a compute of 6ND at a number of tokens a parameter: N = (C / 6r)^0.5, D = r N."""
    C, r = _flop(given), given.positive("tokens_per_param")
    N = math.sqrt(C / (6 * r))
    return N, r * N


def _rule_compute_ratio(given: Inputs) -> float:
    """The printed rule, with the tokens a parameter outside the root, in 6ND over the budget."""
    C, r = given.positive("flop"), given.positive("tokens_per_param")
    N = math.sqrt(C / 6)
    return float(training.flop(n_params=N, n_tokens=r * N)) / C


def _flop_ratio(given: Inputs) -> float:
    one, other = (
        float(training.flop(n_params=given.number(f"{which}n_params"), n_tokens=given.number(f"{which}n_tokens")))
        for which in ("", "other_")
    )
    return one / other


_FORMULAS: dict[str, Callable[[Inputs], float]] = {
    "listed_sum_usd": lambda given: _listed(given).sum_usd,
    "listed_end_usd": lambda given: _listed(given).added_usd,
    "steps_saving_percent": _steps_saving_percent,
    "speedup_saving_percent": _speedup_saving_percent,
    "chain_usd": lambda given: _chain(given).end_usd.mid,
    "chain_ratio": lambda given: given.number("start_usd") / _chain(given).end_usd.mid,
    "measured_speedup": _measured_speedup,
    "scaled_cost_ratio": lambda given: 1 / given.number("efficiency"),
    "cost_reduction_of_scaling": lambda given: given.number("efficiency"),
    "adapters_saving_percent": _adapters_saving_percent,
    "roadmap_percent": _roadmap_percent,
    "recompute_speedup": _recompute_speedup,
    "gpu_flop": _flop,
    "rule_params": lambda given: _rule(given)[0],
    "rule_tokens": lambda given: _rule(given)[1],
    "rule_compute_ratio": _rule_compute_ratio,
    "flop_ratio": _flop_ratio,
}

KINDS: Kinds = kinds(_FORMULAS)
