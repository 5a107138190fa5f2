"""What changes the answer? Other laws, tokens served, a limit of unique data: each over all that may happen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from costkit import scaling
from costkit.plan.sizing import words
from costkit.plan.sizing.answer import Frontier
from costkit.plan.sizing.bands import Curve, Interval, has_draws, ratio_curve
from costkit.units import count, flop, number, percent, usd

Array = npt.NDArray[np.float64]

NOTICEABLE_FRACTION = 0.05
_FLOP, _SERVED, _UNIQUE = np.geomspace(1e18, 1e27, 91), np.geomspace(1e9, 1e15, 97), np.geomspace(1e8, 1e13, 81)


@dataclass(frozen=True)
class Opinion:
    """What one law says for the plan's compute; `outside` names what of it lies beyond the law's runs, if anything."""

    law: scaling.Law
    split: scaling.Split
    tokens_per_param: Interval | None
    outside: str


@dataclass(frozen=True, eq=False)
class Doubt:
    """Tokens per parameter along compute by the plan's law and every other, and their opinions at the plan's compute.

    The plan's law comes first in `opinions`; `others` are the other laws' curves in the same order.
    """

    budget_flop: float
    opinions: tuple[Opinion, ...]
    own: Curve
    others: tuple[Curve, ...]

    @property
    def finding(self) -> str:
        """How far the laws are apart."""
        ratios = [float(opinion.split.tokens_per_param) for opinion in self.opinions]
        spread = f"{number(min(ratios))} to {number(max(ratios))} tokens per parameter"
        nowhere = "; none was fitted there" if all(opinion.outside for opinion in self.opinions) else ""
        return f"At {flop(self.budget_flop)} the laws ask for {spread}{nowhere}"

    @property
    def sentence(self) -> str:
        """What the plan's own law says, and how sure it is."""
        opinion = self.opinions[0]
        own = f"The plan's law, {opinion.law.title}, says {number(float(opinion.split.tokens_per_param))}"
        span = opinion.tokens_per_param
        return f"{own}, with a middle 80% of {number(span.low)} to {number(span.high)}." if span else f"{own}."


def doubt(answer: Frontier) -> Doubt:
    """What every law says about the plan's compute alone, without serving or a limit of data.

    >>> from costkit import plan
    >>> doubt(plan.frontier(plan.read("case-50k"))).finding
    'At 1.28e21 FLOP the laws ask for 2.47 to 51.3 tokens per parameter'
    """
    laws = [answer.law, *(scaling.law(name) for name in scaling.names() if name != answer.law.name)]
    own, *others = (ratio_curve(law, _FLOP) for law in laws)
    opinions = tuple(_opinion(law, answer.budget_flop) for law in laws)
    return Doubt(answer.budget_flop, opinions, own, tuple(others))


def _opinion(law: scaling.Law, flop: float) -> Opinion:
    span = None
    if isinstance(law, scaling.ScalingLaw) and has_draws(law):
        span = Interval.of(scaling.optimal_split(law.sampled(), flop=flop).tokens_per_param)
    split = scaling.optimal_split(law, flop=flop)
    return Opinion(law, split, span, law.outside(flop=flop, n_params=float(split.n_params)))


@dataclass(frozen=True)
class Unanswered:
    """A question that the plan's law can't answer, because it predicts no loss."""

    law: scaling.Law
    question: str

    @property
    def finding(self) -> str:
        """What is not known."""
        return f"{self.law.title} can't say {self.question}"

    @property
    def sentence(self) -> str:
        """Why, and the way out."""
        other = "a law that does, such as Besiroglu et al. 2024, can"
        return f"{self.law.title} gives the best size but predicts no loss; {other}."


@dataclass(frozen=True, eq=False)
class Serving:
    """The cheapest size of the plan's quality along tokens served, beside the one that is best for training alone."""

    answer: Frontier
    served_tokens: Array
    n_params: Array
    lifetime_usd: Array
    alone: scaling.Split
    alone_lifetime_usd: Array

    @property
    def finding(self) -> str:
        """From how many tokens on a smaller model pays."""
        saved = 1 - self.lifetime_usd / self.alone_lifetime_usd
        enough = self.served_tokens[saved >= NOTICEABLE_FRACTION]
        if not len(enough):
            return "Serving does not change the best size here"
        fewest, least = count(float(enough[0])), percent(NOTICEABLE_FRACTION)
        return f"From {fewest} tokens served, a smaller model saves {least} or more over its life"

    @property
    def sentence(self) -> str:
        """What serving does for the plan's tokens, or for ten times those of its training where it counts none."""
        answer, planned = self.answer, self.answer.demand.served_tokens
        served = planned or 10 * float(self.alone.n_tokens)
        best = _cheapest(answer, served)
        saved = float(1 - _lifetime_usd(answer, best, served) / _lifetime_usd(answer, self.alone, served))
        less = f"{percent(saved)} less" if saved >= words.NOTHING_FRACTION else "no less"
        whose = "" if planned else ", ten times those it trains on"
        return (
            f"With {count(served)} tokens served{whose}, {words.model(best)} are cheapest: training costs "
            f"{usd(answer.usd(best))} instead of {usd(answer.usd(self.alone))}, and training with serving "
            f"{less}."
        )


def serving(answer: Frontier) -> Serving | Unanswered:
    """The cheapest size along tokens served; unanswered by a law that predicts no loss."""
    if answer.quality is None:
        return Unanswered(answer.law, "what serving changes")
    best = _cheapest(answer, _SERVED)
    alone = scaling.cheapest_for_loss(answer.law, loss=_loss(answer), unique_tokens=answer.demand.unique_tokens)
    return Serving(
        answer,
        _SERVED,
        np.asarray(best.n_params),
        np.asarray(_lifetime_usd(answer, best, _SERVED)),
        alone,
        np.asarray(_lifetime_usd(answer, alone, _SERVED)),
    )


def _loss(answer: Frontier) -> float:
    return answer.quality.loss if answer.quality else float(scaling.lowest_loss(answer.law))


def _cheapest(answer: Frontier, served: scaling.Numbers) -> scaling.Split:
    equivalent, unique = served * answer.demand.serving_cost_ratio, answer.demand.unique_tokens
    return scaling.cheapest_for_loss(answer.law, loss=_loss(answer), inference_tokens=equivalent, unique_tokens=unique)


def _lifetime_usd(answer: Frontier, split: scaling.Split, served: scaling.Numbers) -> scaling.Numbers:
    return split.lifetime_flop(served * answer.demand.serving_cost_ratio) * answer.usd_per_flop


@dataclass(frozen=True, eq=False)
class DataLimit:
    """The plan's compute along unique tokens: the share that counts, and the epochs of the best split."""

    answer: Frontier
    unique_tokens: Array
    useful_fraction: Array
    epochs: Array

    @property
    def finding(self) -> str:
        """Below which number of different tokens repetition wastes compute."""
        enough = self.unique_tokens[self.useful_fraction >= 1 - NOTICEABLE_FRACTION]
        least, wasted = count(float([*enough, self.unique_tokens[-1]][0])), percent(NOTICEABLE_FRACTION)
        return f"Below {least} unique tokens, repetition wastes more than {wasted} of this compute"

    @property
    def sentence(self) -> str:
        """How many different tokens the answer needs, or what the plan's limit costs."""
        answer, demand = self.answer, self.answer.demand
        if not demand.is_limited:
            needed = count(float(answer.choice.n_tokens))
            return f"No limit is set: the answer takes {needed} different tokens, each once."
        free = float(scaling.loss_of(scaling.optimal_split(answer.law, flop=answer.budget_flop)))
        best = scaling.optimal_split(answer.law, flop=answer.budget_flop, unique_tokens=demand.unique_tokens)
        return (
            f"With {count(demand.unique_tokens)} different tokens, {flop(answer.budget_flop)} of training reach a loss "
            f"of {float(scaling.loss_of(best)):.3f} instead of {free:.3f} on unlimited data; the answer above sees "
            f"each token {number(float(answer.choice.epochs))} times."
        )


def data_limit(answer: Frontier) -> DataLimit | Unanswered:
    """The plan's compute along unique tokens; unanswered by a law that predicts no loss."""
    if answer.quality is None:
        return Unanswered(answer.law, "what a limit of data costs")
    split = scaling.optimal_split(answer.law, flop=answer.budget_flop, unique_tokens=_UNIQUE)
    reached = np.maximum(scaling.loss_of(split), scaling.lowest_loss(answer.law) * (1 + 1e-12))
    useful = np.asarray(scaling.flop_for_loss(answer.law, loss=reached)) / answer.budget_flop
    return DataLimit(answer, _UNIQUE, useful, np.maximum(np.asarray(split.n_tokens) / _UNIQUE, 1.0))
