"""How is the case told? Its headline, key numbers and sentences; every number in them is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit.levers import COMPONENTS
from costkit.plan.replanning.found import ASSUMED
from costkit.units import Range, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.replanning.answer import Replan
    from costkit.plan.replanning.start import Start

GROUPS = {"price": "price", "engineering": "engineering", "work": "a better size"}
LEAST = 0.005
_SMALL, _LARGE_SHARE, _CLOSE = LEAST, 0.2, 0.05


def headline(answer: Replan) -> str:
    """What the levers make of the bill, and what of the drop is price, engineering and arithmetic."""
    if answer.waterfall is None or answer.usd is None:
        return "There is no bill to re-plan: the run practically never finishes as it is."
    if not _n_levers(answer):
        return f"No lever is pulled: the bill stays at {usd(answer.usd)}."
    if answer.at is not None and answer.at.is_impossible:
        return (
            "As the plan has it this run could not have been done: computing alone would take"
            f" {number(answer.at.modelled_fraction)} times its hours, so that no saving on it can be trusted."
        )
    return _outcome(answer, answer.usd, answer.waterfall.end_usd)


def _outcome(answer: Replan, before: float, after: Range) -> str:
    """Where the levers lead, against what was published, if anything was."""
    end, parts, final, left = (
        f"{usd(after.mid)}{_span(after)}",
        _parts(answer),
        answer.final_usd,
        answer.unexplained_usd,
    )
    if final is None or left is None or final >= before:
        return f"{_levers(answer)} {_take(answer)} the bill from {usd(before)} to {end}: {parts}."
    if after.mid >= before:
        return f"These levers raise the bill from {usd(before)} to {end}: none of the published drop is earned."
    if left <= 0:
        return f"These levers take {usd(before)} to {end}, at or below the {usd(final)} that was published: {parts}."
    drop = f"Of the {usd(before - final)} between {usd(before)} and {usd(final)}"
    return f"{drop}, {parts}, and {usd(left)} is arithmetic that no lever earns: these levers end at {end}."


def _levers(answer: Replan) -> str:
    n = _n_levers(answer)
    return "One lever" if n == 1 else f"{n} levers"


def _take(answer: Replan) -> str:
    return "takes" if _n_levers(answer) == 1 else "take"


def _n_levers(answer: Replan) -> int:
    """How many of those that are pulled the plan has."""
    return sum(bool(one.effects) for one in answer.waterfall.levers) if answer.waterfall else 0


def _parts(answer: Replan) -> str:
    """What each group saves, the largest first; one that costs is said to."""
    found = sorted(((answer.group_usd(group), name) for group, name in GROUPS.items()), reverse=True)
    told = [_part(saved, name) for saved, name in found if abs(saved) > _SMALL * (answer.usd or 0.0)]
    if not told:
        return "next to nothing is saved"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _part(saved: float, name: str) -> str:
    return f"{usd(saved)} is {name}" if saved >= 0 else f"{name} costs {usd(-saved)}"


def _span(value: Range) -> str:
    return "" if usd(value.low) == usd(value.high) else f" ({usd(value.low)} to {usd(value.high)})"


def facts(answer: Replan) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text)."""
    if answer.waterfall is None or answer.at is None:
        return ()
    end, chance = answer.waterfall.end_usd, answer.chance
    found = (
        ("Bill as it is", usd(answer.at.usd)),
        ("Bill after the levers", f"{usd(end.mid)}{_span(end)}"),
        ("Of it left", percent(end.mid / answer.at.usd)),
        *((_group_label(group), _group_text(answer, group)) for group in GROUPS),
        ("Published afterwards", "" if answer.final_usd is None else usd(answer.final_usd)),
        ("Chance of that or less", "" if chance is None else percent(chance)),
        ("Idle", _idle(answer)),
        ("Next, with the least effort", _next(answer)),
    )
    return tuple((label, text) for label, text in found if text)


def _group_label(group: str) -> str:
    return f"Saved by {GROUPS[group]}"


def _group_text(answer: Replan, group: str) -> str:
    return usd(answer.group_usd(group)) if any(one.group == group for one in answer.credits) else ""


def _next(answer: Replan) -> str:
    if answer.next is None:
        return ""
    offer, saved_usd = answer.next
    return f"{offer.about.label}, another {usd(saved_usd)}"


def _idle(answer: Replan) -> str:
    share = answer.at.baseline.share("idle") + answer.at.baseline.share("input_wait") if answer.at else 0.0
    if share <= _SMALL:
        return ""
    return f"{percent(share)} of the time" + ("" if _is_counted(answer) else ", or not modelled")


def warnings(answer: Replan) -> tuple[str, ...]:
    """What a reader must know before using the answer."""
    at = answer.at
    if at is None or answer.waterfall is None:
        return ()
    asked, found = answer.plan, []
    if at.is_too_fast:
        found.append(
            f"Computing alone would take {number(at.modelled_fraction)} times the run's whole time in"
            f" {at.settings.precision.upper()} on {asked.hardware.gpu}, and it is busy for {percent(at.busy_fraction)}"
            " of it: hours, size, tokens, batch and number format can't all be right. The proportions are kept, scaled"
            f" to the time.{_hint(answer)}"
        )
    if answer.usd is not None and asked.case.published_usd is not None:
        found += _overhead(at)
    for one in answer.not_there:
        found.append(f"{one.about.label}: nothing to do here, {one.told}.")
    found += _waiting(answer)
    pulled = set(answer.waterfall.order)
    assumed = [one.about.label for one in answer.offers if one.name in pulled and one.basis == ASSUMED]
    if assumed:
        found.append(f"Assumed in size, as nobody measured them: {', '.join(assumed)}.")
    return tuple(found)


def _waiting(answer: Replan) -> list[str]:
    """Levers that do nothing, for want of another that is not pulled."""
    found = answer.waterfall
    pulled = set(found.order) if found else set()
    needed = {
        one.name: min((set(effect.needs) - pulled for effect in one.effects), key=len)
        for one in (found.levers if found else ())
        if one.effects and all(set(effect.needs) - pulled for effect in one.effects)
    }
    return [
        f"{answer.label(name)} does nothing without {' and '.join(sorted(answer.label(need) for need in needs))}."
        for name, needs in needed.items()
    ]


def _hint(answer: Replan) -> str:
    """The likeliest reason, where the plan has one."""
    case = answer.plan.case
    if answer.plan.memory.precision == "fp32" and not case.tf32_enabled:
        return " TF32 was probably on: set case.tf32_enabled to true."
    return ""


def _overhead(at: Start) -> list[str]:
    """That the plan's own GPU-hours and price do not come to what the published bill leaves for them."""
    planned, told = at.final.run.usd.mid, at.usd * (1 - at.overhead_fraction)
    if abs(planned / told - 1) <= _CLOSE:
        return []
    words = (
        f"The plan's own GPU-hours would cost {usd(planned)}, while the published bill holds {usd(told)} of GPU time;"
        " the levers are pulled on the published bill, and shares of time are those of the plan's own hours."
    )
    return [words]


def time(answer: Replan) -> str:
    """Where the time goes, and what that caps."""
    if answer.at is None:
        return "A run without an end has no shares of time."
    shares = answer.at.by_component
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    told = ", ".join(f"{component_name(answer, name)} {percent(share)}" for name, share in ranked if share >= _SMALL)
    return f"Of the time that is paid: {told}.{_cap(answer, shares.get('idle', 0.0))}"


def component_name(answer: Replan, name: str) -> str:
    """What a component is called: without the driver's counter, what is idle is only what nothing modelled explains."""
    return "idle or not modelled" if name == "idle" and not _is_counted(answer) else COMPONENTS[name]


def _is_counted(answer: Replan) -> bool:
    return answer.plan.case.gpu_utilisation_fraction is not None


def _cap(answer: Replan, idle: float) -> str:
    """That software can't save what was idle, where that is much."""
    if idle < _LARGE_SHARE:
        return ""
    what = "nothing ran that the driver counted" if _is_counted(answer) else "the model of a step finds nothing at work"
    return f" For {percent(idle)} of it {what}: no number format, kernel or optimizer is credited with that part."


def order_told(answer: Replan) -> str:
    """How much of a lever's credit is its place."""
    shared = [one for one in answer.credits if one.is_shared]
    if not _n_levers(answer):
        return "No lever is pulled: there is no order."
    if _n_levers(answer) == 1:
        return "One lever has no order."
    if not shared:
        return "The order hardly matters here: each lever saves about the same first and last."
    widest = max(shared, key=lambda one: abs(one.first_usd - one.last_usd))
    first, last = widest.first_usd, widest.last_usd
    n, of = len(shared), len(answer.credits)
    rest = f"; {n} of {of} differ by more than a tenth" if n > 1 else ""
    what = answer.label(widest.name)
    return (
        f"{what}: {_saves(first)} where it comes first, {_saves(last)} where it comes last{rest}."
        " The shares over all orders sum to the whole drop."
    )


def _saves(amount: float) -> str:
    return f"{usd(amount)} saved" if amount >= 0 else f"{usd(-amount)} more"


def odds(answer: Replan) -> str:
    """How likely the published end is."""
    if answer.waterfall is None or answer.usd is None:
        return "A run without a bill has no odds."
    end = answer.waterfall.end_usd
    if end.low == end.high:
        return f"Nothing about the end is uncertain here: the bill is {usd(end.mid)}."
    if answer.final_usd is None or answer.chance is None:
        return f"In eight of ten draws the bill ends between {usd(end.low)} and {usd(end.high)}."
    n_draws = len(answer.waterfall.end_draws_usd)
    chance = answer.chance
    told = (
        f"none of {n_draws:,} draws ends"
        if chance == 0
        else f"all of {n_draws:,} draws end"
        if chance == 1
        else f"{percent(chance)} of the draws end"
    )
    return (
        f"At {usd(answer.final_usd)} or below {told}; eight of ten lie between {usd(end.low)} and {usd(end.high)}. The"
        " draws vary what each lever brings, not the story around it."
    )


def remaining(answer: Replan) -> str:
    """What remains to be had, cheapest effort first."""
    if answer.waterfall is None:
        return "A run without a bill has nothing to save."
    paying = [one for one in answer.left if one.saved_usd.mid > _SMALL * answer.waterfall.end_usd.mid]
    if not paying:
        return "No lever that is known here would save another half per cent."
    first, best = paying[0], max(paying, key=lambda one: one.saved_usd.mid)
    told = f"Least effort next: {first.offer.about.label} ({first.offer.about.effort}), {_more(first.saved_usd)}."
    if best is first:
        return told
    return f"{told} Most to be had: {best.offer.about.label} ({best.offer.about.effort}), {_more(best.saved_usd)}."


def _more(saved: Range) -> str:
    return f"another {usd(saved.mid)} ({usd(saved.low)} to {usd(saved.high)})"
