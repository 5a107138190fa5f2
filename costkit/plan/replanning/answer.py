"""How does this run become a cheaper one, and what of that is true? The plan's levers, pulled in its order.

- Levers are those of `levers.order`; where it is empty, all that pay here and cost nothing elsewhere, the least effort
  first; none for `none`.
- What is published of the case stands beside: its final bill, and the savings that it lists.
- Draws are the same every time: two plans differ by what was changed in them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property

from costkit import levers
from costkit.levers import Baseline, Credit, Lever, Waterfall
from costkit.plan import files
from costkit.plan.buying.changed import files_changed_ns
from costkit.plan.lists import NONE, amounts, names
from costkit.plan.replanning import arithmetic, words
from costkit.plan.replanning.offers import Offer, offers
from costkit.plan.replanning.readings import readings, sentence
from costkit.plan.replanning.start import Start, start
from costkit.plan.schema import Plan
from costkit.units import Range, finite

_LEAST_SAVED = 0.001


@dataclass(frozen=True)
class Left:
    """A lever that was not pulled: what it would save after all that were, and the bill then."""

    offer: Offer
    saved_usd: Range
    usd: Range


@dataclass(frozen=True, eq=False)
class Replan:
    """The answer: the run as it is, every lever, those that are pulled, and what they come to.

    `at` is None for a run that practically never finishes, which has no bill; then nothing else is there either.
    """

    plan: Plan
    at: Start | None
    offers: tuple[Offer, ...]
    waterfall: Waterfall | None

    @property
    def usd(self) -> float | None:
        """The bill before any lever."""
        return None if self.at is None else self.at.usd

    @property
    def final_usd(self) -> float | None:
        """The bill that was published afterwards; None where the plan tells of none."""
        return self.plan.case.published_final_usd

    @cached_property
    def credits(self) -> list[Credit]:
        """What each pulled lever saves first, last and on average, in its order."""
        if self.waterfall is None:
            return []
        return levers.attribution(self.waterfall.baseline, self.waterfall.levers)

    def group_usd(self, group: str) -> float:
        """What the pulled levers of a group save, on average over all orders."""
        return sum(one.shapley_usd for one in self.credits if one.group == group)

    @property
    def unexplained_usd(self) -> float | None:
        """What of the published drop no pulled lever earns; negative where they save more than was published."""
        if self.final_usd is None or self.waterfall is None:
            return None
        return self.waterfall.end_usd.mid - self.final_usd

    @property
    def chance(self) -> float | None:
        """The probability of ending at or below the published final bill; None for a run that could not have been."""
        if self.final_usd is None or self.waterfall is None or (self.at is not None and self.at.is_impossible):
            return None
        return self.waterfall.chance_at_or_below(self.final_usd)

    @property
    def listed(self) -> levers.Listed | None:
        """The savings that were published, against the published bill; None where none were."""
        text = self.plan.case.listed_savings
        if not text or self.plan.case.published_usd is None:
            return None
        return levers.listed(self.plan.case.published_usd, amounts(text))

    @cached_property
    def left(self) -> list[Left]:
        """What remains to be had: every lever that is there and not pulled, the cheapest effort first."""
        if self.waterfall is None:
            return []
        found = []
        for offer, lever in self._rest:
            after = levers.waterfall(self.waterfall.baseline, [*self.waterfall.levers, lever])
            found.append(Left(offer, after.steps[-1].saved_usd, after.end_usd))
        return sorted(found, key=lambda one: (one.offer.about.effort_rank, -one.saved_usd.mid))

    @cached_property
    def next(self) -> tuple[Offer, float] | None:
        """What is had next with the least effort, and the dollars that it saves, half a per cent or more."""
        if self.waterfall is None:
            return None
        others = [lever for _, lever in self._rest]
        saved = levers.further(self.waterfall.baseline, self.waterfall.levers, others)
        least = words.LEAST * self.waterfall.end_usd.mid
        found = [(offer, usd) for (offer, _), usd in zip(self._rest, saved, strict=True) if usd > least]
        return min(found, key=lambda one: (one[0].about.effort_rank, -one[1]), default=None)

    @property
    def _rest(self) -> list[tuple[Offer, Lever]]:
        """Every lever that is there and not pulled."""
        pulled = () if self.waterfall is None else self.waterfall.order
        return [(one, one.lever) for one in self.offers if one.lever is not None and one.name not in pulled]

    @property
    def not_there(self) -> list[Offer]:
        """Levers that the plan names and does not have."""
        named = names(self.plan.levers.order)
        return [one for one in self.offers if one.lever is None and one.name in named]

    def label(self, name: str) -> str:
        """What a lever is called."""
        return levers.known()[name].label

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
    def arithmetic(self) -> str:
        """Whether the published figures agree with each other, in a sentence."""
        return arithmetic.told(self)

    @property
    def time(self) -> str:
        """Where the time goes, in a sentence."""
        return words.time(self)

    @property
    def order_told(self) -> str:
        """How much the order matters, in a sentence."""
        return words.order_told(self)

    @property
    def odds(self) -> str:
        """How likely the published end is, in a sentence."""
        return words.odds(self)

    @property
    def readings_told(self) -> str:
        """Which readings of the story reach the published end, in a sentence."""
        return sentence(readings(self))

    @property
    def remaining(self) -> str:
        """What remains to be had, in a sentence."""
        return words.remaining(self)

    def numbers(self) -> dict[str, object]:
        """The answer as numbers, in US dollars; None for what there is not."""
        end = None if self.waterfall is None else self.waterfall.end_usd
        return {
            "usd": self.usd,
            "end_usd": None if end is None else {"low": end.low, "mid": end.mid, "high": end.high},
            "published_final_usd": self.final_usd,
            "chance_at_or_below_published": self.chance,
            **{f"{group}_usd": self.group_usd(group) for group in levers.GROUPS},
            "unexplained_usd": None if self.unexplained_usd is None else finite(self.unexplained_usd),
        }

    def rows(self) -> list[dict[str, object]]:
        """The steps at full precision, in their order, with first, last and average savings."""
        if self.waterfall is None:
            return []
        credited = {one.name: one for one in self.credits}
        listed = {} if self.listed is None else self.listed.saved_usd
        return [
            {
                "lever": step.name,
                "group": step.group,
                "usd_low": step.usd.low,
                "usd_mid": step.usd.mid,
                "usd_high": step.usd.high,
                "saved_usd_low": step.saved_usd.low,
                "saved_usd_mid": step.saved_usd.mid,
                "saved_usd_high": step.saved_usd.high,
                "kept": step.keep,
                "first_usd": credited[step.name].first_usd,
                "last_usd": credited[step.name].last_usd,
                "shapley_usd": credited[step.name].shapley_usd,
                "listed_usd": listed.get(step.name),
            }
            for step in self.waterfall.steps
        ]


def replan(plan: Plan) -> Replan:
    """The plan's bill, lever by lever.

    Raises `ValueError` of one sentence for values that can't be together.

    >>> from costkit import plan
    >>> answer = replan(plan.read("case-50k"))
    >>> answer.usd, answer.final_usd
    (50000.0, 11800.0)
    """
    at, found = _offered(as_it_is := _as_it_is(plan), files_changed_ns(as_it_is))
    if at is None:
        return Replan(plan, None, found, None)
    pulled = [_lever(one) for one in _chosen(plan, found)]
    if not plan.levers.order:
        pulled = _paying(at.baseline, pulled)
    return Replan(plan, at, found, levers.waterfall(at.baseline, pulled))


def _lever(offer: Offer) -> Lever:
    """The lever, or one that changes nothing where the plan does not have it."""
    return Lever(offer.name, (), offer.about.group) if offer.lever is None else offer.lever


def _paying(baseline: Baseline, pulled: list[Lever]) -> list[Lever]:
    """The levers without those that save nothing beside the others, the worst taken out first."""
    kept = list(pulled)
    while kept:
        worst = min(levers.attribution(baseline, kept), key=lambda one: one.last_usd)
        if worst.last_usd > _LEAST_SAVED * baseline.usd:
            break
        kept = [one for one in kept if one.name != worst.name]
    return kept


def _as_it_is(plan: Plan) -> Plan:
    """The plan without what is told or done about it afterwards, on which its run and its levers do not depend."""
    apart = {"levers.order": "", "case.published_final_usd": None, "case.listed_savings": ""}
    changes = {key: value for key, value in apart.items() if plan.value(key) != value}
    return files.replace(plan, changes) if changes else plan


@functools.lru_cache(maxsize=32)
def _offered(plan: Plan, _changed_ns: tuple[int, ...]) -> tuple[Start | None, tuple[Offer, ...]]:
    """The run and its levers, which do not depend on which are pulled."""
    at = start(plan)
    return at, () if at is None else tuple(offers(at))


def _chosen(plan: Plan, found: tuple[Offer, ...]) -> list[Offer]:
    by_name, order = {one.name: one for one in found}, names(plan.levers.order)
    if not order:
        return [one for one in found if one.lever is not None and not one.price]
    return [] if order == (NONE,) else [by_name[name] for name in order]
