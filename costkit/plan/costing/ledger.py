"""What is in the bill, line by line? The final run, what is planned around it, data, storage and network.

- Shares of the scope are of the final run's GPU-hours and move with them.
- Storage is checkpoints and data while the run lasts; network is what the plan says is moved out.
- What whole programmes came to stands beside it: a final run is a part of what a model costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from costkit import tables
from costkit.plan.buying import setup
from costkit.plan.costing.final_run import FinalRun
from costkit.plan.reached import GIVEN, MEASURED, PUBLISHED
from costkit.plan.schema import Plan
from costkit.units import GB, MONTH, Range

if TYPE_CHECKING:
    from costkit.plan.costing.answer import Page

COMPUTING, LOST = "Computing", "Stops and restarts"
STORAGE, NETWORK, DATA = "Storage", "Network", "Data"
_SCOPE = {
    "Failed runs": "failed_runs_fraction",
    "Ablations": "ablations_fraction",
    "Post-training": "post_training_fraction",
    "Reserved and idle": "idle_fraction",
}
_BYTES_PER_TOKEN = 4.0  # the width of a token's number in a stored data set


@dataclass(frozen=True)
class Line:
    """One line of the bill; `group` is compute, goodput, scope or storage, `gpu_hours` None where it is not of GPUs."""

    name: str
    group: str
    usd: Range
    gpu_hours: Range | None
    basis: str

    @property
    def is_planned(self) -> bool:
        """Whether there is anything of it."""
        return self.usd.high > 0


def lines(plan: Plan, final: FinalRun) -> tuple[Line, ...]:
    """Every line of the plan's bill, those of 0 too."""
    run, computing = final.run, final.computing
    lost = run.usd.left_after(computing.usd), run.gpu_hours.left_after(computing.gpu_hours)
    found = [
        Line(COMPUTING, "compute", computing.usd, computing.gpu_hours, _of_mfu(final)),
        Line(LOST, "goodput", *lost, _of_goodput(final)),
    ]
    for name, key in _SCOPE.items():
        share = getattr(plan.scope, key)
        usd, hours = _share(run.usd, share), _share(run.gpu_hours, share)
        found.append(Line(name, "scope", usd, hours, "the plan's share of the run"))
    found += [
        Line(DATA, "scope", Range.exact(plan.scope.data_usd), None, "the plan"),
        Line(STORAGE, "storage", storage_usd(plan, run.wall_s), None, "checkpoints and data while the run lasts"),
        Line(NETWORK, "storage", Range.exact(network_usd(plan)), None, "what is moved out"),
    ]
    return tuple(found)


def _share(whole: Range, share: float) -> Range:
    """A share of a whole; nothing of a run without an end is nothing."""
    return whole.times(share) if share else Range.exact(0.0)


def _of_mfu(final: FinalRun) -> str:
    return {
        PUBLISHED: f"MFU of {final.reached.published.n_runs} published runs",
        MEASURED: "the MFU that was measured",
        GIVEN: "the plan's MFU",
    }[final.reached.basis]


def _of_goodput(final: FinalRun) -> str:
    if final.is_on_spot:
        return "interruptions on spot, and other stops"
    if final.reached.has_own_goodput:
        return "the plan's goodput"
    return "the plan's checkpoints and failures" if final.is_held_up_by_its_settings else "goodput of published runs"


def with_final(answer: Page, final_usd: float) -> float:
    """The bill with another price of the final run, and of the scope that moves with it."""
    scope = sum(line.usd.mid for line in answer.lines if line.group == "scope" and line.gpu_hours)
    return answer.usd.mid + (1 + scope / answer.final_usd) * (final_usd - answer.final_usd)


def stored_gb(plan: Plan) -> float:
    """Data and checkpoints that are kept while the run lasts."""
    asked = plan.scope.dataset_gb
    unique = min(plan.data.unique_tokens, plan.data.n_tokens)
    data = unique * _BYTES_PER_TOKEN / GB if asked is None else asked
    return data + plan.market.kept_checkpoints * setup.checkpoint_bytes(plan) / GB


def storage_usd(plan: Plan, wall_s: Range) -> Range:
    """What storing them costs over the run."""
    return _share(wall_s, stored_gb(plan) * setup.storage_usd_per_gb_month(plan) / MONTH)


def network_usd(plan: Plan) -> float:
    """What the data that is moved out costs."""
    return plan.scope.egress_gb * setup.egress_usd_per_gb(plan)


@dataclass(frozen=True)
class Programme:
    """A published programme: what all of its compute was, in final runs."""

    name: str
    multiple: float
    scope: str
    source: str


def programmes() -> list[Programme]:
    """Published programmes, the leanest first.

    >>> [round(one.multiple, 2) for one in programmes()]
    [1.5, 1.58, 5.6]
    """
    rows = tables.rows("programmes.csv")
    found = [
        Programme(row["programme"], float(row["multiple_of_final_run"]), row["scope"], row["source"]) for row in rows
    ]
    return sorted(found, key=lambda one: one.multiple)
