"""What will this cost, how long will it take, does it fit, and what should be changed first? All layers, one plan.

- The bill's range is that of the MFU and the goodput; prices are the plan's, and what other prices do is a swing.
- Whether it fits is the memory budget's verdict, the loss that of the plan's scaling law at the plan's own split.
- A plan that is a published run is estimated without that run's family, and stands beside what happened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from costkit import memory, scaling, tables, training
from costkit.plan.buying import setup
from costkit.plan.costing import words
from costkit.plan.costing.final_run import FinalRun, final_run
from costkit.plan.costing.lateness import lateness
from costkit.plan.costing.ledger import Line, lines, programmes, with_final
from costkit.plan.costing.swings import Swing, swings
from costkit.plan.costing.truth import Truth, truth
from costkit.plan.costing.warnings import warnings
from costkit.plan.fitting.answer import budget
from costkit.plan.reached import PUBLISHED, n_active_params
from costkit.plan.schema import Plan
from costkit.plan.sizing.answer import law, split_at
from costkit.plan.sizing.bands import Interval, has_draws
from costkit.plan.sizing.demand import Demand
from costkit.units import Range, finite


@dataclass(frozen=True, eq=False)
class Page:
    """The answer: the final run, the bill line by line, memory's verdict, the loss, and what happened if it is known.

    `loss` is None for a fine-tune and under a law that predicts none; without bootstrap draws it has no width.
    """

    plan: Plan
    gpu: tables.Gpu
    final: FinalRun
    lines: tuple[Line, ...]
    budget: memory.Budget
    law: scaling.Law
    loss: Range | None
    truth: Truth | None

    @property
    def usd(self) -> Range:
        """The whole bill."""
        return Range.total(line.usd for line in self.lines)

    @property
    def has_no_range(self) -> bool:
        """Whether the plan states all that the range would be of."""
        return self.usd.low == self.usd.high

    @property
    def others_usd(self) -> Range | None:
        """The bill at the MFU of published runs like it, where the plan counts on one of its own; else None."""
        reached = self.final.reached
        if reached.basis == PUBLISHED or not math.isfinite(self.usd.mid):
            return None
        own = reached.run_mfu.mid
        return reached.published.mfu.map(lambda mfu: with_final(self, self.final_usd * own / mfu))

    @property
    def final_usd(self) -> float:
        """The middle of the final run's dollars."""
        return self.final.run.usd.mid

    @property
    def wall_s(self) -> Range:
        """How long the final run takes."""
        return self.final.run.wall_s

    @property
    def n_active_params(self) -> float:
        """The parameters that a token passes through."""
        return n_active_params(self.plan)

    @property
    def verdict(self) -> str:
        """Whether it fits: "fits", "uncertain" or "does not fit"."""
        return self.budget.verdict(self.gpu)

    @property
    def deadline_s(self) -> float | None:
        """When the run must be done; None where the plan names no deadline."""
        return setup.deadline_s(self.plan)

    @property
    def lateness(self) -> str | None:
        """Whether it is done in time: even where slow, only where all goes well, or not; None without a deadline."""
        return None if self.deadline_s is None else lateness(self.wall_s, self.deadline_s)

    @cached_property
    def swings(self) -> list[Swing]:
        """What moves the bill, the most first."""
        return swings(self)

    @cached_property
    def energy(self) -> training.Energy | None:
        """What the final run takes from the grid; None where no power of the GPU is known."""
        return training.energy(gpu_hours=self.final.run.gpu_hours, gpu=self.gpu)

    @cached_property
    def stall(self) -> training.Stall | None:
        """What waiting for input costs; None where the plan measured none."""
        asked = self.plan.training
        if asked.step_s is None or asked.loader_wait_s is None:
            return None
        return training.stall(
            step_s=asked.step_s,
            loader_wait_s=asked.loader_wait_s,
            usd_per_hour=self.final.usd_per_gpu_hour * self.plan.hardware.n_gpus,
            work_s=finite(self.final.computing.wall_s.mid),
        )

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
        return warnings(self)

    @property
    def drivers(self) -> str:
        """The three things that move the bill most, in a sentence."""
        return words.drivers(self)

    @property
    def risk(self) -> str:
        """The biggest risk, in a sentence."""
        return words.risk(self)

    @property
    def rules_of_thumb(self) -> str:
        """What a tenth of MFU and half a dollar an hour do, in a sentence."""
        return words.rules_of_thumb(self)

    @property
    def programme(self) -> str:
        """What a whole programme would come to, in a sentence."""
        return words.programme(self, (programmes()[0].multiple, programmes()[-1].multiple))

    def numbers(self) -> dict[str, object]:
        """The answer as numbers; None for what is infinite."""
        run = self.final.run
        ranges = {"usd": self.usd, "wall_s": run.wall_s, "gpu_hours": run.gpu_hours, "mfu": run.mfu}
        return {
            **{name: {end: finite(getattr(of, end)) for end in ("low", "mid", "high")} for name, of in ranges.items()},
            "flop": self.final.flop,
            "fits": self.verdict,
            "loss": None if self.loss is None else self.loss.mid,
            "kwh": None if self.energy is None else finite(self.energy.kwh.mid),
            "published_gpu_hours": None if self.truth is None else self.truth.gpu_hours,
        }

    def rows(self) -> list[dict[str, object]]:
        """The bill at full precision, line by line."""
        return [
            {
                "line": line.name,
                "usd_low": finite(line.usd.low),
                "usd_mid": finite(line.usd.mid),
                "usd_high": finite(line.usd.high),
                "gpu_hours_mid": None if line.gpu_hours is None else finite(line.gpu_hours.mid),
                "basis": line.basis,
            }
            for line in self.lines
        ]


def page(plan: Plan) -> Page:
    """All that one page says of a plan.

    Raises `ValueError` of one sentence for values that can't be together.

    >>> from costkit import plan
    >>> answer = page(plan.read("case-50k"))
    >>> round(answer.final_usd), round(answer.wall_s.mid / 86400, 1), answer.verdict
    (42275, 18.0, 'uncertain')
    """
    final = final_run(plan)
    used = law(plan)
    return Page(
        plan=plan,
        gpu=tables.gpu(plan.hardware.gpu),
        final=final,
        lines=lines(plan, final),
        budget=budget(plan),
        law=used,
        loss=_loss(plan, used),
        truth=truth(plan, final),
    )


def _loss(plan: Plan, law: scaling.Law) -> Range | None:
    """The loss of the plan's own split with the middle 80% of the law's draws."""
    if plan.model.pretrained or not isinstance(law, scaling.ScalingLaw):
        return None
    N, D, demand = n_active_params(plan), plan.data.n_tokens, Demand.of(plan)
    middle = float(scaling.loss_of(split_at(law, N, D, demand)))
    if not has_draws(law):
        return Range.exact(middle)
    drawn = Interval.of(scaling.loss_of(split_at(law.sampled(), N, D, demand)))
    return Range(drawn.low, middle, drawn.high)
