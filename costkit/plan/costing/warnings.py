"""What must a reader know before using the page? What is odd about its inputs, and what is not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit import training
from costkit.plan.costing.words import beyond_format, format_share
from costkit.plan.reached import GIVEN, MEASURED, PUBLISHED, batch_tokens, least_batch_tokens
from costkit.units import count, duration, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page

_FAR, _FAR_BELOW = 0.02, 1 / 3


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
    like = reached.published.mfu
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
            reached.basis == MEASURED and not _FAR_BELOW * like.low <= reached.mfu.mid <= training.HIGHEST_MFU,
            (
                f"The measured rate is an MFU of {percent(reached.mfu.mid)}, and published runs like it reached {band}:"
                " are its seconds, its tokens and its GPUs those of one step, and of all its GPUs?"
            ),
        ),
        (
            reached.basis in (GIVEN, MEASURED) and not reached.has_own_goodput and not answer.final.is_on_spot,
            (
                "The range of the bill is that of goodput alone; the MFU is taken as"
                f" {'given' if reached.basis == GIVEN else 'measured'}."
            ),
        ),
        (
            answer.has_no_range and not answer.final.is_endless,
            "The plan states both MFU and goodput, so the bill has no range: leave them out to see that of other runs.",
        ),
        (
            reached.basis == PUBLISHED and not reached.published.is_of_chip,
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
            final.is_held_up_by_its_settings and not final.reached.has_own_goodput and not final.is_endless,
            (
                f"Failures and checkpoints as the plan sets them leave {number(100 * kept)}% of the time, less than the"
                f" {number(100 * published.mid)}% of published runs, and that is counted: a failure comes every"
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
            final.is_endless,
            "With these checkpoints the run practically never finishes; notebook 02 shows what would.",
        ),
        (
            final.is_on_spot and not final.is_endless,
            (
                "On spot, interruptions, failures and writes are counted one by one, as notebook 02 does; what whole"
                f" runs lose besides comes on top here, and leaves {percent(final.reached.goodput.mid)}."
            ),
        ),
        (
            not final.has_closed_form,
            (
                "This page takes the lives of the machines as memoryless, a run that stops with them, and one price;"
                " notebook 02 simulates the market that the plan describes."
            ),
        ),
    ]


def _about_price(answer: Page) -> list[tuple[bool, str]]:
    plan = answer.plan
    price, gpu = answer.final.usd_per_gpu_hour, plan.hardware.gpu
    doubts = training.price_doubts(gpu, usd_per_gpu_hour=price, gpus_per_node=plan.market.gpus_per_node)
    quoted = training.quoted(gpu, purchase=plan.market.purchase)
    return [
        *((True, doubt.sentence) for doubt in doubts),
        (
            quoted is not None and not doubts and not quoted.low <= price <= quoted.high,
            (
                f"The newest quotes for {gpu} bought that way are {usd(quoted.low)} to {usd(quoted.high)}; the plan's"
                f" {usd(price)} is outside them."
                if quoted
                else ""
            ),
        ),
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
        (_is_below_one_sequence(answer), _batch_sentence(answer)),
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


def _is_below_one_sequence(answer: Page) -> bool:
    """Whether the batch that the plan names is less than one sequence for each group of GPUs that share one."""
    return batch_tokens(answer.plan) < least_batch_tokens(answer.plan)


def _batch_sentence(answer: Page) -> str:
    plan = answer.plan
    return (
        f"A batch of {count(batch_tokens(plan))} tokens is less than one sequence for each of"
        f" {plan.hardware.n_gpus:,} GPUs: they take {count(least_batch_tokens(plan))} at least, and past the critical"
        " batch that costs tokens (see the section on more GPUs)."
    )
