"""What must a reader know before using the page? What is odd about its inputs, and what is not in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from costkit import training
from costkit.plan.costing.words import beyond_format, format_share
from costkit.plan.reached import GIVEN, MEASURED, PUBLISHED
from costkit.units import duration, percent, usd

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page

_FAR = 0.02


def warnings(answer: Page) -> tuple[str, ...]:
    """What a reader must know before using the answer, the gravest first."""
    return tuple(
        text
        for part in (_about_mfu, _about_goodput, _about_price, _about_rest)
        for is_so, text in part(answer)
        if is_so
    )


def _about_mfu(answer: Page) -> list[tuple[bool, str]]:
    plan, reached, run = answer.plan, answer.final.reached, answer.final.run
    like = reached.like.mfu
    band = f"{percent(like.low)} to {percent(like.high)}, {percent(like.mid)} in the middle"
    return [
        (
            beyond_format(answer),
            (
                f"The plan's MFU of {percent(reached.mfu.mid)} is more than {plan.memory.precision.upper()} can give on"
                f" {answer.gpu.name}, {percent(format_share(answer))}: faster products than that must have been on."
            ),
        ),
        (
            reached.basis == GIVEN and not beyond_format(answer) and not like.low <= run.mfu.mid <= like.high,
            (
                f"The plan's MFU of {percent(run.mfu.mid)} over the whole run is outside what published runs like it"
                f" reached, {band}."
            ),
        ),
        (
            reached.basis in (GIVEN, MEASURED) and plan.training.goodput_fraction is None,
            (
                "The range of the bill is that of goodput alone; the MFU is taken as"
                f" {'given' if reached.basis == GIVEN else 'measured'}."
            ),
        ),
        (
            answer.has_no_range,
            "The plan states both MFU and goodput, so the bill has no range: leave them out to see that of other runs.",
        ),
        (
            reached.basis == PUBLISHED and not reached.like.is_of_chip,
            (
                f"Too few published runs are on {answer.gpu.name}'s chip: its MFU lies between those of A100 and H100"
                " by its arithmetic per byte of memory traffic, and the band is wide."
            ),
        ),
        (
            plan.model.pretrained and reached.basis == PUBLISHED,
            "Published runs are of pre-training: a fine-tune with adapters or short inputs differs.",
        ),
    ]


def _about_goodput(answer: Page) -> list[tuple[bool, str]]:
    final = answer.final
    kept = final.mechanism.fraction
    published = training.published_goodput()
    return [
        (
            final.is_held_up_by_its_settings and not final.reached.has_own_goodput,
            (
                f"Failures and checkpoints as the plan sets them leave {percent(kept)} of the time, less than the"
                f" {percent(published.mid)} of published runs, and that is counted: a failure comes every"
                f" {duration(final.mechanism.mean_life_s)}."
            ),
        ),
        (
            final.reached.has_own_goodput and final.reached.goodput.mid > kept + _FAR and final.reached.basis != GIVEN,
            (
                f"The plan's goodput of {percent(final.reached.goodput.mid)} is more than its own checkpoints and"
                f" failures leave, {percent(kept)}."
            ),
        ),
        (
            math.isinf(final.interrupted_ratio),
            "On spot the run practically never finishes with these checkpoints; notebook 02 shows what would.",
        ),
        (
            1 < final.interrupted_ratio < math.inf,
            "On spot, interruptions, failures and writes are counted one by one; what whole runs lose besides is not.",
        ),
    ]


def _about_price(answer: Page) -> list[tuple[bool, str]]:
    plan = answer.plan
    price, gpu = plan.hardware.usd_per_gpu_hour, plan.hardware.gpu
    doubts = training.doubts(gpu, usd_per_gpu_hour=price, gpus_per_node=plan.market.gpus_per_node)
    quoted = training.quoted(gpu, purchase=plan.market.purchase)
    return [
        *((True, doubt.sentence) for doubt in doubts),
        (
            quoted is None,
            f"Nobody's quote for {gpu} bought that way is known here: the price of {usd(price)} stands alone.",
        ),
    ]


def _about_rest(answer: Page) -> list[tuple[bool, str]]:
    plan = answer.plan
    scope = [line for line in answer.lines if line.group == "scope" and line.is_planned]
    return [
        (answer.stall is not None, answer.stall.sentence if answer.stall else ""),
        (
            plan.target_architecture is None,
            "The plan names no architecture: memory is that of a plausible shape of its size.",
        ),
        (
            not scope,
            (
                "Only the final run is planned: no failed runs, ablations, post-training, data work or idle"
                " reservations (see [scope])."
            ),
        ),
    ]
