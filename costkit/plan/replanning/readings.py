"""Which readings of the story reach its end?

- The published savings, added and multiplied; a chain of factors of whole runs, each measured in a context of its own
  (`lever_chain.csv`; three of them are assumed sizes); the plan's levers from other starting points.
- A reading without chance reaches the end within half a per cent, or does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from costkit import levers, tables
from costkit.levers import TIME
from costkit.plan import files
from costkit.plan.kinds import PlanError
from costkit.units import Range, percent

if TYPE_CHECKING:
    from costkit.plan.replanning.answer import Replan

REACHES, MAY, MISSES, IMPOSSIBLE = "reaches it", "may", "does not", "impossible"
_LIKELY, _ALMOST = 0.5, 1.005


@dataclass(frozen=True)
class Reading:
    """One way to read the story: where it ends, and, where that is a distribution, how likely the published end is."""

    name: str
    end_usd: Range
    chance: float | None
    target_usd: float
    note: str
    is_impossible: bool = False

    @property
    def verdict(self) -> str:
        """Whether it reaches the published end: more likely than not, perhaps, or not in eight of ten.

        One whose run could not have been done in its time reaches nothing.
        """
        if self.is_impossible:
            return IMPOSSIBLE
        if self.chance is None:
            return REACHES if self.end_usd.mid <= _ALMOST * self.target_usd else MISSES
        if self.chance >= _LIKELY:
            return REACHES
        return MAY if self.end_usd.low <= self.target_usd else MISSES


def readings(answer: Replan) -> list[Reading]:
    """Every reading of a case that has a published end; none where it has none.

    >>> from costkit import plan
    >>> found = {one.name: one for one in readings(plan.replan(plan.read("case-50k")))}
    >>> round(found["A chain of 6 factors, from TF32"].end_usd.mid), found["The plan's levers"].verdict
    (11851, 'does not')
    """
    if answer.final_usd is None or answer.usd is None:
        return []
    return [*_listed(answer), *_chains(answer, answer.usd), *_replanned(answer)]


def _exact(answer: Replan, name: str, usd: float, note: str) -> Reading:
    return Reading(name, Range.exact(usd), None, answer.final_usd or 0.0, note)


def _listed(answer: Replan) -> Iterator[Reading]:
    found = answer.listed
    if found is not None:
        yield _exact(answer, "Listed savings, added", found.added_usd, "dollars taken off one after another")
        yield _exact(answer, "Listed savings, multiplied", found.multiplied_usd, "each a share of what is left")


def _chains(answer: Replan, usd: float) -> Iterator[Reading]:
    """The measured factors, all of them, and without the one that a run already in 16 bits has behind it."""
    factors = chain()
    listed = ", ".join(f"{name} {factor:g}" for name, factor in factors.items())
    told = f"{listed}: speed-ups of whole runs, measured elsewhere, the last three assumed; of no plan in particular"
    yield _exact(answer, f"A chain of {len(factors)} factors, from TF32", _end(usd, factors), told)
    rest = {name: factor for name, factor in factors.items() if name != "bf16"}
    yield _exact(answer, "The same, had it been in BF16 already", _end(usd, rest), "without the factor of BF16")


def chain() -> Mapping[str, float]:
    """The factors of the chain by name, in their order.

    >>> list(chain().values())
    [1.9, 1.38, 1.29, 1.1, 1.08, 1.05]
    """
    rows = sorted(tables.rows("lever_chain.csv"), key=lambda row: int(row["place"]))
    return {row["lever"]: float(row["factor"]) for row in rows}


def _end(usd: float, factors: Mapping[str, float]) -> float:
    whole = [levers.lever(name, {TIME: 1 / factor}) for name, factor in factors.items()]
    return levers.waterfall(levers.Baseline(usd), whole).end_usd.mid


def _replanned(answer: Replan) -> Iterator[Reading]:
    """The plan's levers, modelled, from other starting points."""
    order, pulled = answer.plan.levers.order, answer.waterfall.levers if answer.waterfall else ()
    others = [one for one in pulled if one.name != "spot"]
    is_engineering = all(one.group == "engineering" for one in others if one.effects)
    told = "what is engineering alone" if is_engineering else "the other levers alone"
    without_spot = {"levers.order": ", ".join(one.name for one in others) or "none"}
    yield from (
        found
        for name, changes, note in (
            ("The plan's levers", {}, "as modelled here, from the plan as it stands"),
            ("Without spot", without_spot, told),
            *_of_tf32(answer),
            ("In BF16 already", {"memory.precision": "bf16-mixed"}, "mixed precision before the story begins"),
            ("GPUs always busy", {"case.gpu_utilisation_fraction": 1.0}, "what if the counter had shown 100%"),
            ("Every lever that pays", {"levers.order": ""}, "also those that the story does not name"),
        )
        if (order or name != "Every lever that pays")
        and (len(others) < len(pulled) or name != "Without spot")
        and (found := _modelled(answer, name, changes, note)) is not None
    )


def _modelled(answer: Replan, name: str, changes: Mapping[str, object], note: str) -> Reading | None:
    """None where the plan can't be changed so, or is so already."""
    from costkit.plan.replanning.answer import replan

    if changes and all(answer.plan.value(key) == value for key, value in changes.items()):
        return None
    try:
        found = replan(files.replace(answer.plan, changes)) if changes else answer
    except PlanError:
        return None
    if found.waterfall is None:
        return None
    end, target = found.waterfall.end_usd, answer.final_usd or 0.0
    is_impossible = found.at is not None and found.at.is_impossible
    told = f"{note}; but so it could not have been done in that time" if is_impossible else note
    return Reading(name, end, found.waterfall.chance_at_or_below(target), target, told, is_impossible)


def _of_tf32(answer: Replan) -> Iterator[tuple[str, Mapping[str, object], str]]:
    """The other setting of the flag, where products are in 32 bits, so that it decides."""
    if answer.plan.memory.precision != "fp32":
        return
    if answer.plan.case.tf32_enabled:
        yield "TF32 was off", {"case.tf32_enabled": False}, "products in plain FP32 before"
    else:
        yield "TF32 was on", {"case.tf32_enabled": True}, "products on TF32 tensor cores before"


def sentence(found: list[Reading]) -> str:
    """Which readings reach the published end, in a sentence."""
    if not found:
        return "No end was published that a reading could reach."
    reaching = [one.name for one in found if one.verdict == REACHES]
    maybe = [one for one in found if one.verdict == MAY]
    told = f"{len(reaching)} of {len(found)} readings reach it"
    named = f": {'; '.join(reaching)}" if reaching else ""
    perhaps = "; ".join(f"{one.name} ({percent(one.chance or 0.0)})" for one in maybe)
    out = [one.name for one in found if one.verdict == IMPOSSIBLE]
    never = f" These could not have been done in their time: {'; '.join(out)}." if out else ""
    return f"{told}{named}.{f' Some draws of these do: {perhaps}.' if maybe else ''}{never}"
