"""How big a model, on how much data, for this plan's money? The plan's numbers passed through `scaling` and `training`.

- The budget sets the quality: the loss that its compute reaches with the best split. A target loss sets it directly.
- Everything else holds that quality and asks what it costs: another size (`training.size_fraction`), tokens to be
  served (`data.inference_tokens`), a limit of unique data. Costs are compute at the plan's price, MFU and goodput.
- Intervals are the middle 80% of a law's joint bootstrap draws. Where a law has none, no interval is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from costkit import architectures, scaling, training
from costkit.plan import bands, words
from costkit.plan.bands import Interval
from costkit.plan.runs import fit_runs
from costkit.plan.schema import OWN_RUNS, Plan
from costkit.units import count, usd

TOLERANCE = 0.01
LEAST_PARAMS = 1e6


@dataclass(frozen=True, eq=False)
class Frontier:
    """The answer: the best split, the one the plan's dial chooses, the plan's own, and how sure all that is.

    `serving_tokens` are the tokens served as training-price tokens; `loss` and what follows from it is None under a law
    that predicts none.
    """

    plan: Plan
    law: scaling.Law
    usd_per_flop: float
    budget_flop: float
    serving_tokens: float
    loss: float | None
    optimum: scaling.Split
    choice: scaling.Split
    run: training.Run
    planned: scaling.Split
    planned_regret: scaling.Regret | None
    flat_zone: tuple[scaling.Split, scaling.Split] | None
    n_params_interval: Interval | None
    n_tokens_interval: Interval | None
    loss_interval: Interval | None
    curve: bands.Curve
    size_cost: bands.SizeCost | None

    @property
    def training_usd(self) -> float:
        """What training the chosen model costs."""
        return float(self.choice.flop) * self.usd_per_flop

    @property
    def lifetime_usd(self) -> float:
        """Training and serving of the chosen model."""
        return float(self.choice.lifetime_flop(self.serving_tokens)) * self.usd_per_flop

    @property
    def least_usd(self) -> float:
        """Training and serving of the best model of the same quality."""
        return float(self.optimum.lifetime_flop(self.serving_tokens)) * self.usd_per_flop

    @property
    def lifetime_usd_if_trained_alone(self) -> float:
        """Training and serving of the model that would be best if only training counted."""
        limit = self.plan.data.unique_tokens
        best = scaling.cheapest_for_loss(self.law, loss=scaling.loss_of(self.optimum), unique_tokens=limit)
        return float(best.lifetime_flop(self.serving_tokens)) * self.usd_per_flop

    @property
    def overhead_fraction(self) -> float:
        """What the chosen size costs more than the best one, as a fraction."""
        return self.lifetime_usd / self.least_usd - 1

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

    def rows(self) -> list[dict[str, object]]:
        """The answer at full precision: one row a quantity, with its value, interval and unit."""
        return words.rows(self)


@dataclass(frozen=True)
class Snapped:
    """A real architecture of about the chosen size, and the tokens that give it the same quality."""

    architecture: architectures.Architecture
    split: scaling.Split
    flop_per_token: float

    @property
    def attention_overhead_fraction(self) -> float:
        """What the architecture's own count of FLOP a token has over 6N."""
        return self.flop_per_token / (6 * float(self.split.n_params)) - 1


@dataclass(frozen=True)
class Opinion:
    """What one law says for the plan's budget; `covers` tells whether it was fitted to such runs."""

    law: scaling.Law
    split: scaling.Split
    tokens_per_param: Interval | None
    covers: bool


def law(plan: Plan) -> scaling.Law:
    """The plan's scaling law: a published one, or the fit to its own runs, refused where these can't determine one."""
    if plan.training.law != OWN_RUNS:
        return scaling.law(plan.training.law)
    path = plan.runs_path
    if path is None:
        raise ValueError("training.law = 'own-runs' needs data.runs, the CSV of your runs.")
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
    used, price = law(plan), _usd_per_flop(plan)
    served, unique = plan.data.inference_tokens * plan.data.serving_cost_ratio, plan.data.unique_tokens
    flop, loss = _quality(plan, used, price)
    optimum = _optimum(used, flop, loss, served, unique)
    _require_a_model(plan, optimum, price)
    choice = _resized(used, optimum, plan.training.size_fraction)
    return Frontier(
        plan=plan,
        law=used,
        usd_per_flop=price,
        budget_flop=flop,
        serving_tokens=served,
        loss=loss,
        optimum=optimum,
        choice=choice,
        run=run_of(plan, float(choice.flop)),
        planned=_planned(plan, used),
        curve=bands.curve(used, served, unique),
        **_priced(plan, used, flop, loss, served, unique, price),
        **_intervals(used, flop, served, unique),
    )


class _Priced(TypedDict):
    planned_regret: scaling.Regret | None
    flat_zone: tuple[scaling.Split, scaling.Split] | None
    size_cost: bands.SizeCost | None


def _priced(
    plan: Plan, law: scaling.Law, flop: float, loss: float | None, served: float, unique: float, price: float
) -> _Priced:
    """What needs a loss: the plan's regret, the flat zone, and the cost of other sizes."""
    if loss is None or not isinstance(law, scaling.ScalingLaw):
        return _Priced(planned_regret=None, flat_zone=None, size_cost=None)
    model, limits = plan.model, {"inference_tokens": served, "unique_tokens": unique}
    return _Priced(
        planned_regret=scaling.regret(law, n_params=model.n_params, n_tokens=plan.data.n_tokens, **limits),
        flat_zone=scaling.flat_zone(law, loss=loss, tolerance=TOLERANCE, **limits),
        size_cost=bands.size_cost(law, flop, loss, served, unique, price),
    )


class _Intervals(TypedDict):
    n_params_interval: Interval | None
    n_tokens_interval: Interval | None
    loss_interval: Interval | None


def _intervals(law: scaling.Law, flop: float, served: float, unique: float) -> _Intervals:
    """The middle 80% of size, tokens and loss, where the law has draws."""
    if not isinstance(law, scaling.ScalingLaw) or not len(law.draws):
        return _Intervals(n_params_interval=None, n_tokens_interval=None, loss_interval=None)
    drawn = bands.drawn(law, flop, served, unique)
    return _Intervals(
        n_params_interval=Interval.of(drawn.n_params),
        n_tokens_interval=Interval.of(drawn.n_tokens),
        loss_interval=Interval.of(scaling.loss_of(drawn)),
    )


def snapped(answer: Frontier) -> Snapped:
    """A real architecture of the chosen size: integer layers, width and heads, and the tokens for the same quality.

    >>> from costkit import plan
    >>> found = plan.snapped(plan.frontier(plan.read("case-50k")))
    >>> found.architecture.n_params == found.split.n_params
    True
    """
    shape = answer.plan.target_architecture if _is_planned_size(answer) else None
    shape = shape or architectures.of_size(float(answer.choice.n_params))
    N = float(shape.n_params)
    if answer.loss is None:
        split = scaling.Split(N, answer.budget_flop / (6 * N))
    else:
        unique = answer.plan.data.unique_tokens
        D = scaling.tokens_for_loss(answer.law, n_params=N, loss=answer.loss, unique_tokens=unique)
        split = scaling.Split(N, D, answer.loss, unique)
    return Snapped(shape, split, float(shape.flop_per_token(answer.plan.training.seq_len)))


def opinions(answer: Frontier) -> list[Opinion]:
    """What every law says about the plan's compute alone, without serving or a limit of data; the plan's law first."""
    laws = [answer.law, *(scaling.law(name) for name in scaling.names() if name != answer.law.name)]
    return [_opinion(law, answer.budget_flop) for law in laws]


def _opinion(law: scaling.Law, flop: float) -> Opinion:
    drawn = None
    if isinstance(law, scaling.ScalingLaw) and len(law.draws):
        drawn = Interval.of(scaling.optimal_split(law.sampled(), flop=flop).tokens_per_param)
    split = scaling.optimal_split(law, flop=flop)
    return Opinion(law, split, drawn, law.covers(flop=flop, n_params=float(split.n_params)))


def _usd_per_flop(plan: Plan) -> float:
    return training.usd_per_flop(
        gpu=plan.hardware.gpu,
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        mfu=plan.training.mfu,
        goodput_fraction=plan.training.goodput_fraction,
    )


def run_of(plan: Plan, flop: float) -> training.Run:
    """Hours and dollars of this much compute on the plan's hardware."""
    return training.run(
        flop=flop,
        gpu=plan.hardware.gpu,
        n_gpus=plan.hardware.n_gpus,
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        mfu=plan.training.mfu,
        goodput_fraction=plan.training.goodput_fraction,
    )


def _quality(plan: Plan, law: scaling.Law, usd_per_flop: float) -> tuple[float, float | None]:
    """The compute that stands for the plan's quality, and the loss it reaches with the best split."""
    unique, target = plan.data.unique_tokens, plan.training.target_loss
    if target is not None:
        return float(scaling.cheapest_for_loss(law, loss=target, unique_tokens=unique).flop), target
    flop = plan.training.budget_flop or plan.training.budget_usd / usd_per_flop
    best = scaling.optimal_split(law, flop=flop, unique_tokens=unique)
    return flop, None if best.loss is None else float(best.loss)


def _optimum(law: scaling.Law, flop: float, loss: float | None, served: float, unique: float) -> scaling.Split:
    if loss is None or not served:
        return scaling.optimal_split(law, flop=flop, inference_tokens=served, unique_tokens=unique)
    return scaling.cheapest_for_loss(law, loss=loss, inference_tokens=served, unique_tokens=unique)


def _resized(law: scaling.Law, optimum: scaling.Split, size_fraction: float) -> scaling.Split:
    """The optimum at another size: trained to the same loss, or with the same compute where a law predicts no loss."""
    if size_fraction == 1:
        return optimum
    N = float(optimum.n_params) * size_fraction
    if optimum.loss is None:
        return scaling.Split(N, float(optimum.flop) / (6 * N))
    unique = optimum.unique_tokens
    D = float(scaling.tokens_for_loss(law, n_params=N, loss=optimum.loss, unique_tokens=unique))
    if not np.isfinite(D):
        raise ValueError(
            f"A model of {size_fraction:.2g} of the optimal size ({count(N)} parameters) never reaches a loss of "
            f"{optimum.loss:.3f}, however long it trains; raise training.size_fraction."
        )
    return scaling.Split(N, D, optimum.loss, unique)


def _planned(plan: Plan, law: scaling.Law) -> scaling.Split:
    N, D, unique = plan.model.n_params, plan.data.n_tokens, plan.data.unique_tokens
    if not isinstance(law, scaling.ScalingLaw):
        return scaling.Split(N, D)
    return scaling.Split(N, D, scaling.loss(law, n_params=N, n_tokens=D, unique_tokens=unique), unique)


def _require_a_model(plan: Plan, optimum: scaling.Split, usd_per_flop: float) -> None:
    if float(optimum.n_params) >= LEAST_PARAMS:
        return
    enough = float(scaling.split_for_params(law(plan), n_params=LEAST_PARAMS).flop) * usd_per_flop
    raise ValueError(
        f"A budget of {words.budget(plan)} is too small for any model: its best split would have "
        f"{count(float(optimum.n_params))} parameters; a model of {count(LEAST_PARAMS)} needs about {usd(enough)}."
    )


def _is_planned_size(answer: Frontier) -> bool:
    return abs(float(answer.choice.n_params) / answer.plan.model.n_params - 1) < TOLERANCE
