"""How big a model, on how much data, for this plan's money? The plan's numbers passed through `scaling` and `training`.

- The budget sets the quality: the loss that its compute reaches with the best split. A target loss sets it directly.
- Everything else holds that quality and asks what it costs: another size (`training.size_fraction`), tokens to be
  served (`data.inference_tokens`), a limit of unique data. Costs are compute at the plan's price, MFU and goodput.
- Intervals are the middle 80% of a law's joint bootstrap draws. Where a law has none, no interval is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costkit import scaling, training
from costkit.plan.reached import flop_price, n_active_params, run_of
from costkit.plan.schema import OWN_RUNS, Plan
from costkit.plan.sizing import bands, words
from costkit.plan.sizing.demand import Demand
from costkit.plan.sizing.runs import fit_runs
from costkit.units import count, usd

TOLERANCE = 0.01
LEAST_PARAMS, MOST_PARAMS = 5e6, 1e15


@dataclass(frozen=True, eq=False)
class Quality:
    """A loss, what other sizes cost for it, and what the plan's own split gives away; no law without a loss has one.

    `flat_zone` is the smallest and the largest split that cost at most 1% more than the best.
    """

    loss: float
    flat_zone: tuple[scaling.Split, scaling.Split]
    size_cost: bands.SizeCost
    planned_regret: scaling.Regret


@dataclass(frozen=True, eq=False)
class Frontier:
    """The answer: the best split, the one the plan's dial chooses, the plan's own, and how sure all that is.

    `quality` is None under a law that predicts no loss, `intervals` under one without bootstrap draws.
    """

    plan: Plan
    law: scaling.Law
    demand: Demand
    usd_per_flop: float
    budget_flop: float
    optimum: scaling.Split
    choice: scaling.Split
    planned: scaling.Split
    run: training.Run
    curve: bands.Curve
    quality: Quality | None
    intervals: bands.Intervals | None

    def usd(self, split: scaling.Split) -> float:
        """What training a split costs."""
        return float(split.flop) * self.usd_per_flop

    def lifetime_usd(self, split: scaling.Split) -> float:
        """What training a split and serving it cost."""
        return float(split.lifetime_flop(self.demand.equivalent_tokens)) * self.usd_per_flop

    @property
    def planned_run(self) -> training.Run:
        """Hours and dollars of the plan's own split."""
        return run_of(self.plan, float(self.planned.flop))

    @property
    def least_usd(self) -> float:
        """Training and serving of the best model of the plan's quality."""
        return self.lifetime_usd(self.optimum)

    @property
    def is_used_up(self) -> bool:
        """Whether the budget is more than the plan's unique data can turn into a lower loss."""
        asked = self.plan.training.target_loss is None and not self.demand.served_tokens
        return asked and float(self.optimum.flop) < (1 - TOLERANCE) * self.budget_flop

    @property
    def overhead_fraction(self) -> float:
        """What the chosen size costs more than the best one, as a fraction."""
        return self.lifetime_usd(self.choice) / self.least_usd - 1

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return words.headline(self)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Key numbers as (label, text)."""
        return words.facts(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before using the answer."""
        return words.warnings(self)

    @property
    def flatness(self) -> str:
        """How much the exact size matters, and where the plan's own split stands."""
        return words.flatness(self)

    @property
    def certainty(self) -> str:
        """What the refits leave open, and what it would cost to be wrong about it."""
        return words.certainty(self)

    def rows(self) -> list[dict[str, object]]:
        """The answer at full precision: one row a quantity, with its value, interval and unit."""
        return words.rows(self)


def law(plan: Plan) -> scaling.Law:
    """The plan's scaling law: a published one, or the fit to its own runs, refused where these can't determine one."""
    if plan.training.law != OWN_RUNS:
        return scaling.law(plan.training.law)
    path = plan.runs_path
    if path is None:
        raise ValueError("training.law is 'own-runs', but data.runs names no CSV of runs.")
    found = fit_runs(path, n_left_out=plan.data.n_runs_left_out)
    if not found.identifiable:
        raise ValueError(f"Your runs in '{path.name}' can't give a law: {' '.join(found.warnings)}")
    return found.law


def frontier(plan: Plan) -> Frontier:
    """The best size and data for a plan, the plan's own choice beside it, and the uncertainty of both.

    A budget that buys no model worth the name, a loss below the law's floor and runs that determine no law raise a
    ValueError of one sentence.

    >>> from costkit import plan
    >>> from costkit.units import count
    >>> answer = plan.frontier(plan.read("case-50k"))
    >>> count(answer.optimum.n_params), count(answer.optimum.n_tokens)
    ('3.15B', '67.6B')
    """
    used, demand, usd_per_flop = law(plan), Demand.of(plan), flop_price(plan)
    flop, loss = _goal(plan, used, demand, usd_per_flop)
    optimum = _optimum(used, flop, loss, demand)
    _require_a_model(plan, used, optimum, usd_per_flop)
    choice = _resized(used, optimum, loss, plan.training.size_fraction)
    return Frontier(
        plan=plan,
        law=used,
        demand=demand,
        usd_per_flop=usd_per_flop,
        budget_flop=flop,
        optimum=optimum,
        choice=choice,
        planned=_planned(plan, used, demand),
        run=run_of(plan, float(choice.flop)),
        curve=bands.size_curve(used, demand),
        quality=_quality(plan, used, optimum, flop, loss, demand, usd_per_flop),
        intervals=bands.intervals(used, flop=flop, demand=demand),
    )


def split_at(law: scaling.Law, n_params: scaling.Numbers, n_tokens: scaling.Numbers, demand: Demand) -> scaling.Split:
    """A size and its tokens, with their loss where the law predicts one."""
    if not isinstance(law, scaling.ScalingLaw):
        return scaling.Split(n_params, n_tokens)
    unique = demand.unique_tokens
    loss = scaling.loss(law, n_params=n_params, n_tokens=n_tokens, unique_tokens=unique)
    return scaling.Split(n_params, n_tokens, loss, unique)


def _planned(plan: Plan, law: scaling.Law, demand: Demand) -> scaling.Split:
    """The plan's own split; that of a fine-tune has no loss, which laws of training from scratch can't say."""
    N, D = n_active_params(plan), plan.data.n_tokens
    return scaling.Split(N, D, None, demand.unique_tokens) if plan.model.pretrained else split_at(law, N, D, demand)


def _goal(plan: Plan, law: scaling.Law, demand: Demand, usd_per_flop: float) -> tuple[float, float | None]:
    """The compute that stands for the plan's quality, and the loss it reaches with the best split."""
    unique, target = demand.unique_tokens, plan.training.target_loss
    if target is not None:
        return float(scaling.cheapest_for_loss(law, loss=target, unique_tokens=unique).flop), target
    flop = plan.training.budget_flop or plan.training.budget_usd / usd_per_flop
    best = scaling.optimal_split(law, flop=flop, unique_tokens=unique)
    return flop, None if best.loss is None else float(
        scaling.above_floor(law, best.loss, unique_tokens=unique, margin_fraction=bands.USED_UP_FRACTION)
    )


def _optimum(law: scaling.Law, flop: float, loss: float | None, demand: Demand) -> scaling.Split:
    """The best split of the plan's quality: of its compute, or the cheapest with serving counted or data used up."""
    best = scaling.optimal_split(law, flop=flop, unique_tokens=demand.unique_tokens)
    used_up = best.loss is not None and loss is not None and loss > best.loss
    if loss is not None and (demand.served_tokens or used_up):
        return scaling.cheapest_for_loss(law, loss=loss, **demand.limits)
    return best if loss is not None else scaling.optimal_split(law, flop=flop, **demand.limits)


def _resized(law: scaling.Law, optimum: scaling.Split, loss: float | None, size_fraction: float) -> scaling.Split:
    """The optimum at another size: trained to the same loss, or with the same compute where a law predicts no loss."""
    if size_fraction == 1:
        return optimum
    N = float(optimum.n_params) * size_fraction
    if loss is None:
        return scaling.Split(N, float(optimum.n_tokens) / size_fraction)
    unique = optimum.unique_tokens
    D = float(scaling.tokens_for_loss(law, n_params=N, loss=loss, unique_tokens=unique))
    if not np.isfinite(D):
        raise ValueError(
            f"A model of {size_fraction:.2g} of the optimal size ({count(N)} parameters) never reaches a loss of "
            f"{loss:.3f}, however long it trains; raise training.size_fraction."
        )
    return scaling.Split(N, D, loss, unique)


def _quality(
    plan: Plan,
    law: scaling.Law,
    optimum: scaling.Split,
    flop: float,
    loss: float | None,
    demand: Demand,
    usd_per_flop: float,
) -> Quality | None:
    if loss is None or not isinstance(law, scaling.ScalingLaw):
        return None
    N, D = n_active_params(plan), plan.data.n_tokens
    return Quality(
        loss=loss,
        flat_zone=scaling.flat_zone(law, loss=loss, tolerance=TOLERANCE, **demand.limits),
        size_cost=bands.size_cost(law, optimum, flop=flop, loss=loss, demand=demand, usd_per_flop=usd_per_flop),
        planned_regret=scaling.regret(law, n_params=N, n_tokens=D, **demand.limits),
    )


def _require_a_model(plan: Plan, law: scaling.Law, optimum: scaling.Split, usd_per_flop: float) -> None:
    if LEAST_PARAMS <= float(optimum.n_params) <= MOST_PARAMS:
        return
    found, served = count(float(optimum.n_params)), count(plan.data.inference_tokens)
    if float(optimum.n_params) > MOST_PARAMS:
        raise ValueError(f"The best split would have {found} parameters, more than any model that can be planned for.")
    least = scaling.split_for_params(law, n_params=LEAST_PARAMS)
    if plan.training.target_loss is not None:
        raise ValueError(
            f"A loss of {plan.training.target_loss:g} takes no more than {found} parameters, which is no model to plan "
            f"for; a model of {count(LEAST_PARAMS)} reaches {float(scaling.loss_of(least)):.2f}."
        )
    if _data_is_tight(plan, law):
        raise ValueError(
            f"{count(plan.data.unique_tokens)} unique tokens are too few to train any model on: the best split would "
            f"have {found} parameters; raise data.unique_tokens."
        )
    if plan.data.inference_tokens:
        raise ValueError(
            f"With {served} tokens served, the best model of this quality would have {found} parameters, which is no "
            f"model to plan for: lower data.inference_tokens or raise the budget."
        )
    raise ValueError(
        f"A budget of {words.budget(plan)} is too small for any model: its best split would have {found} parameters; "
        f"a model of {count(LEAST_PARAMS)} needs about {usd(float(least.flop) * usd_per_flop)}."
    )


def _data_is_tight(plan: Plan, law: scaling.Law) -> bool:
    """Whether the unique data, not the budget, is what makes the best model so small."""
    unique = plan.data.unique_tokens
    return bool(np.isfinite(unique)) and float(scaling.split_for_tokens(law, n_tokens=unique).n_params) < LEAST_PARAMS
