"""How is the page told? Its headline, key numbers and sentences; every number in them is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from costkit import training
from costkit.plan.costing.lateness import LATE, MAYBE_LATE
from costkit.plan.costing.ledger import with_final
from costkit.plan.reached import GIVEN, PUBLISHED
from costkit.units import THOUSAND, Range, count, duration, duration_range, flop, gpu_hours, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page
    from costkit.plan.costing.swings import Swing

VERDICTS = {
    "fits": "fits in memory",
    "uncertain": "may or may not fit in memory",
    "does not fit": "does not fit in memory",
}
_TENTH, _HALF_DOLLAR = 0.1, 0.5
_NAMED = 3


def headline(answer: Page) -> str:
    """What it costs, how long it takes, whether it fits, and how good it will be."""
    plan = answer.plan
    where = f"on {plan.hardware.n_gpus:,} {plan.hardware.gpu}"
    if math.isinf(answer.usd.mid):
        what = "interruptions" if answer.final.is_on_spot else "failures"
        return f"{_subject(answer)} practically never finishes {where}: {what} come too often for its checkpoints."
    cost = f"{usd(answer.usd.mid)}{_usd_span(answer.usd)}"
    time = f"{duration(answer.wall_s.mid)}{_time_span(answer.wall_s)}"
    return f"{_subject(answer)} costs {cost} and takes {time} {where}; it {VERDICTS[answer.verdict]}{_loss(answer)}."


def _subject(answer: Page) -> str:
    plan = answer.plan
    what = plan.model.architecture.rsplit("/", 1)[-1] or f"a model of {count(plan.model.n_params)} parameters"
    verb = "Fine-tuning" if plan.model.pretrained else "Training"
    return f"{verb} {what} on {count(plan.data.n_tokens)} tokens"


def _usd_span(value: Range) -> str:
    return _span(value, usd)


def _time_span(value: Range) -> str:
    return "" if value.low == value.high else f" ({duration_range(value)})"


def _loss(answer: Page) -> str:
    if answer.loss is None:
        return "" if answer.plan.model.pretrained else ", and its scaling law predicts no loss"
    return f" and should reach a loss of {answer.loss.mid:.2f}"


def facts(answer: Page) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text)."""
    run, endless = answer.final.run, answer.final.is_endless
    found = (
        ("Bill", "no end" if endless else f"{usd(answer.usd.mid)}{_usd_span(answer.usd)}"),
        ("Time", "no end" if endless else f"{duration(answer.wall_s.mid)}{_time_span(answer.wall_s)}"),
        ("GPU-hours", "no end" if endless else f"{gpu_hours(run.gpu_hours.mid)}{_span(run.gpu_hours, gpu_hours)}"),
        ("MFU of the whole run", f"{percent(run.mfu.mid)}{_span(run.mfu, percent)}, {_basis(answer)}"),
        ("Goodput", _goodput(answer)),
        ("Memory", VERDICTS[answer.verdict]),
        ("Loss", _loss_fact(answer)),
        ("Deadline", _deadline(answer)),
        ("Energy", _energy(answer)),
        ("What it took", _truth(answer)),
    )
    return tuple((label, text) for label, text in found if text)


def _span(value: Range, written: Callable[[float], str]) -> str:
    return "" if value.low == value.high else f" ({written(value.low)} to {written(value.high)})"


def _basis(answer: Page) -> str:
    reached = answer.final.reached
    if reached.basis == PUBLISHED:
        of_chip = reached.published.is_of_chip
        return f"as {reached.published.n_runs} published runs tell" if of_chip else "as other chips tell"
    steady, of_run = percent(reached.mfu.mid), percent(answer.final.run.mfu.mid)
    told = "as the plan has it" if reached.basis == GIVEN else "as measured"
    return told if steady == of_run else f"{steady} steady, {told}"


def _goodput(answer: Page) -> str:
    final, kept = answer.final, answer.final.reached.goodput.mid
    if final.is_endless:
        return "next to none of the paid time"
    if final.is_on_spot:
        return f"{percent(final.kept_fraction)} of the paid time, interruptions counted one by one"
    told = f"{percent(kept)} of the paid time"
    if final.reached.has_own_goodput:
        return told
    return f"{told}, by its own settings" if final.is_held_up_by_its_settings else f"{told}, as published runs kept"


def _loss_fact(answer: Page) -> str:
    if answer.loss is None:
        return ""
    return f"{answer.loss.mid:.3f}{_span(answer.loss, '{:.3f}'.format)}"


def _deadline(answer: Page) -> str:
    if answer.deadline_s is None:
        return ""
    return f"{duration(answer.deadline_s)}: {answer.lateness}"


def _energy(answer: Page) -> str:
    energy = answer.energy
    if energy is None or not math.isfinite(energy.kwh.high):
        return ""
    per, unit = (THOUSAND, "MWh") if energy.kwh.mid >= THOUSAND else (1.0, "kWh")
    low, mid, high = (number(kwh / per) for kwh in (energy.kwh.low, energy.kwh.mid, energy.kwh.high))
    return f"{mid} {unit} ({low} to {high})"


def _truth(answer: Page) -> str:
    truth = answer.truth
    if truth is None:
        return ""
    told = f"{gpu_hours(truth.gpu_hours)} GPU-hours, {usd(truth.usd)} at this price"
    if truth.published_usd is not None and usd(truth.published_usd) != usd(truth.usd):
        told = f"{told} and {usd(truth.published_usd)} as published"
    if answer.has_no_range or answer.final.is_endless:
        return told
    where = "inside" if truth.is_inside else "outside"
    return f"{told}: {number(truth.hours_ratio)} times the estimate, {where} its band"


def drivers(answer: Page) -> str:
    """The three widest swings in words."""
    if math.isinf(answer.usd.mid):
        return "There is no bill to move: the run practically never finishes."
    found = answer.swings[:_NAMED]
    if not found:
        return "Nothing that is looked at here moves the bill by half a per cent."
    told = "; ".join(_told(answer, one) for one in found)
    return f"What moves the bill most: {told}."


def _told(answer: Page, one: Swing) -> str:
    what = one.what[0].lower() + one.what[1:] if not one.what.startswith("MFU") else one.what
    if one.high_label:
        return f"{what}, {usd(one.low_usd)} at {one.low_label} to {usd(one.high_usd)} at {one.high_label}"
    return f"{what}, {one.low_label}, {usd(one.low_usd)} or {percent(1 - one.low_usd / answer.usd.mid)} less"


def risk(answer: Page) -> str:
    """The one thing that is most likely to break the plan, the gravest first."""
    run, plan, like = answer.final.run, answer.plan, answer.final.reached.published.mfu
    conditions = (
        (
            math.isinf(answer.usd.mid),
            "it would never be done with these checkpoints: notebook 02 has the interval that works",
        ),
        (
            answer.verdict == "does not fit",
            f"it does not fit on {plan.hardware.gpu} as it is set and would not start: notebook 03 has the ways out",
        ),
        (
            answer.lateness == LATE,
            f"it takes {duration(answer.wall_s.mid)}, and the deadline is after {duration(answer.deadline_s or 0.0)}",
        ),
        (
            beyond_format(answer),
            (
                f"an MFU of {percent(answer.final.reached.mfu.mid)} is more than {plan.memory.precision.upper()} can"
                f" give on {plan.hardware.gpu}, {percent(format_share(answer))} of the 16-bit peak; runs like it so"
                f" would reach {percent(like.mid)}, which costs {usd(answer.final_usd * run.mfu.mid / like.mid)}"
            ),
        ),
        (
            answer.final.reached.basis == GIVEN and run.mfu.mid > like.high,
            (
                f"an MFU of {percent(run.mfu.mid)} over the whole run is more than nine in ten published runs like it"
                f" reached, {percent(like.low)} to {percent(like.high)}: at their middle of {percent(like.mid)} it"
                f" costs {usd(answer.final_usd * run.mfu.mid / like.mid)}"
            ),
        ),
        (
            answer.verdict == "uncertain",
            f"it may run out of memory on {plan.hardware.gpu}: try a step before you book machines (notebook 03)",
        ),
        (
            answer.lateness == MAYBE_LATE,
            f"at the slow end it takes {duration(answer.wall_s.high)}, past the deadline",
        ),
        (
            answer.usd.high > 1.2 * answer.usd.mid,
            (
                f"one in ten runs like it is slower than the band and costs more than {usd(answer.usd.high)}"
                f"{_closed(answer)}"
            ),
        ),
    )
    told = next((text for is_so, text in conditions if is_so), None)
    if told is None:
        least, most = training.published_goodput().low, training.published_goodput().high
        told = f"stops and restarts: published runs kept {percent(least)} to {percent(most)} of their steady speed"
    return f"The biggest risk: {told}."


def _closed(answer: Page) -> str:
    """What would narrow the range, where something would."""
    if answer.final.reached.basis != PUBLISHED:
        return ""
    return "; a measured step time (training.step_s) closes most of it"


def format_share(answer: Page) -> float:
    """The peak of the plan's number format over the 16-bit one."""
    return training.format_limit(answer.gpu, answer.plan.memory.precision) / answer.gpu.half_precision_flop_per_s


def beyond_format(answer: Page) -> bool:
    """Whether the MFU that the plan counts on is more than its number format could give at best."""
    return answer.final.reached.mfu.mid > format_share(answer)


def rules_of_thumb(answer: Page) -> str:
    """What a tenth more MFU, and half a dollar an hour, do to the bill."""
    run = answer.final.run
    if math.isinf(run.usd.mid):
        return f"The run is {flop(answer.final.flop)}."
    own = answer.usd.mid
    more = with_final(answer, answer.final_usd + _HALF_DOLLAR * run.gpu_hours.mid) - own
    dearer = f"{usd(_HALF_DOLLAR)} more for a GPU-hour costs {usd(more)}. The run is {flop(answer.final.flop)}."
    better = run.mfu.mid * (1 + _TENTH)
    if better > 1:
        return dearer
    saved = own - with_final(answer, answer.final_usd / (1 + _TENTH))
    return f"A tenth more MFU ({percent(better)} in place of {percent(run.mfu.mid)}) saves {usd(saved)}; {dearer}"


def programme(answer: Page, multiples: tuple[float, float]) -> str:
    """What a programme around the run would come to, if it were as published ones."""
    if math.isinf(answer.final_usd):
        return "A programme around a run that never finishes has no price."
    low, high = (usd(answer.final_usd * multiple) for multiple in multiples)
    return (
        f"The final run is {usd(answer.final_usd)}; published programmes computed {number(multiples[0])} to"
        f" {number(multiples[1])} times their final run, which would make {low} to {high} of it."
    )
