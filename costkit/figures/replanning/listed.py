"""What stands behind the pictures? Tables of a re-planned run: levers, time, readings, what is left, evidence."""

from __future__ import annotations

import math

from costkit import tables, training
from costkit.figures.shown import Format, Table
from costkit.levers import component
from costkit.plan import Replan
from costkit.plan.replanning import readings
from costkit.plan.replanning.words import component_name
from costkit.units import MICRO, Range, number, percent, usd

Columns = dict[str, str | tuple[str, Format]]


def facts_table(answer: Replan) -> Table:
    """The key numbers."""
    rows = [{"what": label, "value": text} for label, text in answer.facts]
    return Table(rows, "facts", caption="The case in numbers", columns={"what": "What", "value": "Value"})


def steps_table(answer: Replan) -> Table:
    """Every lever in its place: the bill after it, what it saves there, first, last and on average, and as was told."""
    rows = [{**row, "lever": answer.label(str(row["lever"]))} for row in answer.rows()]
    columns: Columns = {
        "lever": "Lever",
        "group": "Kind",
        "usd_mid": ("Bill after it", usd),
        "usd_low": ("Low", usd),
        "usd_high": ("High", usd),
        "saved_usd_mid": ("Saved there", usd),
        "first_usd": ("Saved first", usd),
        "last_usd": ("Saved last", usd),
        "shapley_usd": ("Share of all orders", usd),
        "listed_usd": ("As was told", usd),
    }
    return Table(rows, "levers", caption="The levers in the plan's order", columns=columns)


def shares_table(answer: Replan) -> Table:
    """Where the time goes: the share of every component, and the most that any lever on it alone could save."""
    at = answer.at
    shares = at.by_component if at else {}
    rows = [
        {
            "component": component_name(answer, name),
            "share": share,
            "modelled_us_per_token": _modelled(answer, name),
            "most_usd": share * (at.usd * (1 - at.fixed_fraction) if at else 0.0),
            "levers": ", ".join(
                one.about.label for one in answer.offers if one.lever is not None and name in one.about.acts_on
            ),
        }
        for name, share in sorted(shares.items(), key=lambda one: -one[1])
    ]
    columns: Columns = {
        "component": "Component",
        "share": ("Share of the time", percent),
        "modelled_us_per_token": ("Modelled, GPU-microseconds a token", number),
        "most_usd": ("All of it is", usd),
        "levers": "Levers that act on it",
    }
    return Table(rows, "time", caption="Where the time goes before any lever", columns=columns)


def _modelled(answer: Replan, name: str) -> float | None:
    found = [s for part, s in (answer.at.token_s if answer.at else {}).items() if component(part) == name]
    return math.fsum(found) / MICRO if found else None


def levers_table(answer: Replan) -> Table:
    """Every lever that is known: whether the plan has it, what it would do, and what that rests on."""
    rows = [
        {
            "lever": one.about.label,
            "effort": one.about.effort,
            "is_there": "yes" if one.lever is not None else "no",
            "what": one.told,
            "basis": one.basis,
            "overlaps_with": ", ".join(answer.label(other) for other in one.about.overlaps_with),
            "name": one.name,
        }
        for one in answer.offers
    ]
    columns: Columns = {
        "lever": "Lever",
        "effort": "Effort",
        "is_there": "Can be pulled here",
        "what": "What it would do here, or why not",
        "basis": "Basis",
        "overlaps_with": "Overlaps with",
        "name": "Name in levers.order",
    }
    return Table(rows, "known-levers", caption="Every lever that is known here", columns=columns)


def remaining_table(answer: Replan) -> Table:
    """What remains to be had after the levers that are pulled, the least effort first."""
    rows = [
        {
            "lever": one.offer.about.label,
            "effort": one.offer.about.effort,
            "saved_usd_mid": one.saved_usd.mid,
            "saved_usd_low": one.saved_usd.low,
            "saved_usd_high": one.saved_usd.high,
            "usd_mid": one.usd.mid,
            "basis": one.offer.basis,
        }
        for one in answer.left
    ]
    columns: Columns = {
        "lever": "Lever",
        "effort": "Effort",
        "saved_usd_mid": ("Would save", usd),
        "saved_usd_low": ("Low", usd),
        "saved_usd_high": ("High", usd),
        "usd_mid": ("Bill then", usd),
        "basis": "Basis",
    }
    return Table(rows, "remaining", caption="What remains, each alone, the least effort first", columns=columns)


def readings_table(answer: Replan) -> Table:
    """Every reading of the story: where it ends, and whether that is the published end."""
    rows = [
        {
            "reading": one.name,
            "usd_mid": one.end_usd.mid,
            "usd_low": one.end_usd.low,
            "usd_high": one.end_usd.high,
            "chance": one.chance,
            "verdict": one.verdict,
            "note": one.note,
        }
        for one in readings(answer)
    ]
    columns: Columns = {
        "reading": "Reading",
        "usd_mid": ("Ends at", usd),
        "usd_low": ("Low", usd),
        "usd_high": ("High", usd),
        "chance": ("Chance of the published end or less", percent),
        "verdict": "Reaches it",
        "note": "What it is",
    }
    return Table(rows, "readings", caption="Readings of the story", columns=columns)


def arithmetic_table(answer: Replan) -> Table:
    """The listed savings against ours: in dollars, and as a share of the bill before."""
    told = {} if answer.listed is None else answer.listed.saved_usd
    credited = {one.name: one for one in answer.credits}
    rows: list[dict[str, object]] = []
    for name in dict.fromkeys([*told, *credited]):
        ours, saved = credited.get(name), told.get(name)
        rows.append(
            {
                "lever": answer.label(name),
                "listed_usd": saved,
                "listed_fraction": None if saved is None else saved / (answer.usd or math.inf),
                "first_usd": None if ours is None else ours.first_usd,
                "shapley_usd": None if ours is None else ours.shapley_usd,
            }
        )
    listed_usd = math.fsum(told.values()) if told else None
    share = None if listed_usd is None else listed_usd / (answer.usd or math.inf)
    ours_usd = math.fsum(one.shapley_usd for one in credited.values())
    rows.append({"lever": "Together", "listed_usd": listed_usd, "listed_fraction": share, "shapley_usd": ours_usd})
    columns: Columns = {
        "lever": "Lever",
        "listed_usd": ("As was told", usd),
        "listed_fraction": ("Of the bill", percent),
        "first_usd": ("Here, pulled first", usd),
        "shapley_usd": ("Here, on average over all orders", usd),
    }
    return Table(rows, "told", caption="The savings as they were told, and as they come out here", columns=columns)


def evidence_table() -> Table:
    """Every measured speed-up beside the predicted one, and why some are not predicted."""
    rows = [
        {
            "change": one.evidence.change,
            "workload": one.evidence.workload,
            "gpu": one.evidence.gpu,
            "measured": _factor(one.evidence.factor),
            "predicted": one.predicted,
            "ratio": one.ratio,
            "note": one.why_not or one.evidence.note,
            "source": tables.source(one.evidence.source).authors or tables.source(one.evidence.source).title,
        }
        for one in sorted(training.step_scores(), key=lambda one: (one.evidence.change, one.evidence.id))
    ]
    columns: Columns = {
        "change": "Change",
        "workload": "Of",
        "gpu": "GPU",
        "measured": "Measured, times as fast",
        "predicted": ("Predicted", number),
        "ratio": ("Measured over predicted", number),
        "note": "Note",
        "source": "Source",
    }
    caption = "Measured speed-ups, and the model of a step"
    return Table(rows, "evidence", caption=caption, columns=columns, right=("measured",))


def _factor(factor: Range) -> str:
    return number(factor.mid) if factor.low == factor.high else f"{number(factor.low)} to {number(factor.high)}"
