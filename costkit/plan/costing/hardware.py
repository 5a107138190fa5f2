"""On which GPUs, and how many? The plan on every GPU that is quoted, and on more and fewer of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

from costkit import training
from costkit.plan.costing.answer import Page
from costkit.plan.costing.elsewhere import Elsewhere, others, verdict_on
from costkit.plan.reached import batch_tokens
from costkit.units import count, duration, percent, usd

_FEWEST, _MOST = -6, 6
_A_QUARTER = 0.25


@dataclass(frozen=True)
class Placed:
    """The run on one kind of GPU, whether it fits there, and the price at which the plan's own GPU would cost as much.

    `flip_usd_per_gpu_hour` is the price of the plan's GPU above which this one is cheaper; None for the plan's own, and
    for a run without an end.
    """

    on: training.OnGpu
    run: training.Run
    verdict: str
    flip_usd_per_gpu_hour: float | None
    is_own: bool


def hardware(answer: Page) -> list[Placed]:
    """The plan's run on every GPU with its number format and a quote, as many as it has, the cheapest first."""
    return [_placed(answer, one) for one in others(answer)]


def _placed(answer: Page, one: Elsewhere) -> Placed:
    hours = answer.final.run.gpu_hours.mid
    flip = None
    if math.isfinite(hours) and not one.is_own:
        flip = training.flip_usd_per_gpu_hour(usd_of_other=one.usd.mid, gpu_hours=hours)
    return Placed(one.on, one.run, verdict_on(answer, one.on.gpu), flip, one.is_own)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The run on other numbers of the plan's GPUs, the ones that none beats, and the cheapest in time."""

    answer: Page
    points: list[training.Scaled]
    best: list[training.Scaled]
    in_time: training.Scaled | None
    critical_batch_tokens: float

    @property
    def own(self) -> training.Scaled:
        """The plan's own number of GPUs."""
        return next(point for point in self.points if point.n_gpus == self.answer.plan.hardware.n_gpus)

    @property
    def furthest(self) -> training.Scaled:
        """The fastest for at most a quarter more than the plan's own number costs."""
        affordable = [point for point in self.points if point.usd.mid <= (1 + _A_QUARTER) * self.own.usd.mid]
        return min(affordable, key=lambda point: point.wall_s.mid)

    @property
    def sentence(self) -> str:
        """What more GPUs buy, in a sentence."""
        if math.isinf(self.own.usd.mid):
            return "On spot the run practically never finishes; fewer GPUs would be interrupted less often."
        own, far = self.own, self.furthest
        told = f"{own.n_gpus:,} GPUs take {duration(own.wall_s.mid)} for {usd(own.usd.mid)}"
        if far.n_gpus > own.n_gpus:
            more = percent(far.usd.mid / own.usd.mid - 1)
            told = f"{told}; {far.n_gpus:,} would take {duration(far.wall_s.mid)} for {more} more"
        told = f"{told}. {self._batch}"
        if self.answer.deadline_s is None:
            return told
        if self.in_time is None:
            return f"{told} None of these numbers is done by the deadline with its whole band."
        cheapest = self.in_time
        return f"{told} The cheapest by the deadline is {cheapest.n_gpus:,} GPUs for {usd(cheapest.usd.mid)}."

    @property
    def _batch(self) -> str:
        """Where the batch begins to cost tokens."""
        costly = next((point for point in self.points if point.tokens_ratio > 1 + _A_QUARTER), None)
        if costly is None:
            return "None of these numbers needs a batch that is too large for the loss."
        return (
            f"From {costly.n_gpus:,} on, one sequence a GPU makes a batch of {count(costly.batch_tokens)} tokens, and"
            f" {percent(costly.tokens_ratio - 1)} more tokens for the same loss."
        )


def scaling(answer: Page) -> Scaling:
    """The plan's run on halves and doubles of its GPUs; a batch past the critical one needs more tokens.

    The critical batch is Kaplan's at the loss of the plan's law. Where no law says a loss, only numbers that leave the
    batch as it is are tried.
    """
    plan = answer.plan
    sharers = plan.memory.tensor_parallel * plan.memory.pipeline_parallel * plan.memory.context_parallel
    critical = training.critical_batch_tokens(loss=answer.loss.mid) if answer.loss else float("inf")
    own = plan.hardware.n_gpus
    powers = (own * 2**k for k in range(_FEWEST, _MOST + 1))
    points = training.scale_out(
        answer.final.run,
        reference_n_gpus=own,
        n_gpus=[int(count) for count in powers if count >= sharers and count % sharers == 0],
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        batch_tokens=batch_tokens(plan),
        least_tokens_per_gpu=plan.training.seq_len / sharers,
        critical_batch_tokens=critical,
    )
    if answer.loss is None:
        points = [point for point in points if point.n_gpus == own or point.batch_tokens <= batch_tokens(plan)]
    deadline = answer.deadline_s
    in_time = None if deadline is None else training.cheapest_by(points, deadline_s=deadline)
    return Scaling(answer, points, training.frontier(points), in_time, critical)
