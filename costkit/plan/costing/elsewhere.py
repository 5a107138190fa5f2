"""What would the same run cost on another GPU? As many of them, at their quotes, and as well used as the plan's own.

- Another chip's MFU is the plan's own, moved by what published runs reach there over what they reach here: a plan that
  is better than published runs stays so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from costkit import tables, training
from costkit.plan.files import replace
from costkit.plan.fitting.answer import budget
from costkit.plan.reached import left_out
from costkit.units import Range

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page

NO_VERDICT = "cannot be said"


@dataclass(frozen=True)
class Elsewhere:
    """The plan's final run on one kind of GPU; on its own, at its own price, it is the plan's run."""

    on: training.OnGpu
    run: training.Run
    is_own: bool

    @property
    def usd(self) -> Range:
        """What it costs."""
        return self.run.usd


def others(answer: Page) -> list[Elsewhere]:
    """The run on every GPU with its number format and a quote, the plan's own among them, the cheapest first."""
    plan = answer.plan
    found = training.compare(
        flop=answer.final.flop,
        n_params=answer.n_active_params,
        n_gpus=plan.hardware.n_gpus,
        seq_len=plan.training.seq_len,
        precision=plan.memory.precision,
        purchase=plan.market.purchase,
        left_out=left_out(plan),
    )
    return sorted((_moved(answer, one) for one in found), key=lambda one: one.usd.mid)


def _moved(answer: Page, one: training.OnGpu) -> Elsewhere:
    final, is_own = answer.final, one.gpu.name == answer.plan.hardware.gpu
    if is_own:
        return Elsewhere(one, final.run, is_own=True)
    theirs = final.reached.published.mfu.mid
    better = final.run.mfu.mid / theirs or 1.0  # a run without an end says nothing of the others
    return Elsewhere(one, one.run.at_mfu_times(better), is_own=False)


def verdict_on(answer: Page, gpu: tables.Gpu) -> str:
    """Whether the plan fits on another GPU, as its settings are, bought at one of its quotes."""
    quoted = training.quoted(gpu.name, purchase=answer.plan.market.purchase)
    price = {} if quoted is None else {"hardware.usd_per_gpu_hour": quoted.mid}
    try:
        return budget(replace(answer.plan, {"hardware.gpu": gpu.name, **price})).verdict(gpu)
    except ValueError:  # settings that this GPU can't have
        return NO_VERDICT
