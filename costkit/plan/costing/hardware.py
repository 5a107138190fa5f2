"""On which GPUs, and how many? The plan on every GPU that is quoted, and on more and fewer of its own."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from costkit import training
from costkit.plan.costing.answer import Page
from costkit.plan.costing.elsewhere import Elsewhere, others, verdict_on
from costkit.plan.costing.final_run import final_run
from costkit.plan.files import replace
from costkit.plan.reached import batch_tokens, least_batch_tokens, sharers
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
class Fleets:
    """The run on other numbers of the plan's GPUs, and the cheapest of them in time, None where none is."""

    answer: Page
    points: list[training.Scaled]
    in_time: training.Scaled | None

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
            return "The run practically never finishes; fewer GPUs would fail, or be taken away, less often."
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


def _points(answer: Page, n_gpus: Iterable[int]) -> list[training.Scaled]:
    """The run on these numbers of GPUs, each with its own stops; those that would have no end are left out.

    Where no law says a loss, so are those that need a larger batch.
    """
    plan = answer.plan
    points = training.scale_out(
        answer.final.run,
        reference_n_gpus=plan.hardware.n_gpus,
        n_gpus=sorted(n_gpus),
        usd_per_gpu_hour=answer.final.usd_per_gpu_hour,
        batch_tokens=max(batch_tokens(plan), least_batch_tokens(plan)),
        least_tokens_per_gpu=plan.training.seq_len / sharers(plan),
        critical_batch_tokens=training.critical_batch_tokens(loss=answer.loss.mid) if answer.loss else math.inf,
    )
    points = [moved for point in points if (moved := _with_stops(answer, point)) is not None]
    if answer.loss is None:
        own = plan.hardware.n_gpus
        points = [point for point in points if point.n_gpus == own or point.batch_tokens <= batch_tokens(plan)]
    return points


def _fewest_in_time(answer: Page, points: list[training.Scaled], deadline_s: float) -> list[training.Scaled]:
    """The fewest whole nodes that are done in time, where they lie between two of the points; else nothing."""
    pairs = ((fewer, more) for fewer, more in pairwise(points) if more.wall_s.high <= deadline_s < fewer.wall_s.high)
    fewer, more = next(pairs, (None, None))
    if fewer is None or more is None:
        return []
    node = math.lcm(answer.plan.market.gpus_per_node, sharers(answer.plan))
    nodes = range(fewer.n_gpus // node + 1, more.n_gpus // node + 1)
    found = bisect_left(
        nodes,
        x=True,
        key=lambda n: training.cheapest_by(_points(answer, [n * node]), deadline_s=deadline_s) is not None,
    )
    return _points(answer, [nodes[found] * node]) if found < len(nodes) else []


def _with_stops(answer: Page, point: training.Scaled) -> training.Scaled | None:
    """A point with the failures and interruptions of its own number of GPUs; None where it would have no end."""
    plan = answer.plan
    if point.n_gpus == plan.hardware.n_gpus or answer.final.is_endless:
        return point
    try:
        there = final_run(replace(plan, {"hardware.n_gpus": point.n_gpus}))
    except ValueError:  # a number that other settings of the plan can't have
        return None
    if there.is_endless:
        return None
    longer = answer.final.kept_fraction / there.kept_fraction
    waits = there.run.waiting_ratio(point.n_gpus) / answer.final.run.waiting_ratio(plan.hardware.n_gpus)
    return dataclasses.replace(
        point,
        gpu_hours=point.gpu_hours.times(longer),
        usd=point.usd.times(longer),
        wall_s=point.wall_s.times(longer * waits),
    )


def fleets(answer: Page) -> Fleets:
    """The plan's run on halves and doubles of its GPUs, each with the failures and interruptions of so many.

    With a deadline, so are the fewest whole nodes that meet it. A batch past the critical one, Kaplan's at the loss of
    the plan's law, needs more tokens. Numbers on which the run would have no end are left out; where no law says a
    loss, so are those that need a larger batch.
    """
    own, group, deadline_s = answer.plan.hardware.n_gpus, sharers(answer.plan), answer.deadline_s
    powers = {int(own * 2**k) for k in range(_FEWEST, _MOST + 1)}
    points = _points(answer, [count for count in powers if count >= group and count % group == 0])
    if deadline_s is None:
        return Fleets(answer, points, None)
    found = {point.n_gpus: point for point in (*points, *_fewest_in_time(answer, points, deadline_s))}
    points = [found[count] for count in sorted(found)]
    return Fleets(answer, points, training.cheapest_by(points, deadline_s=deadline_s))
