"""What follows from the plan's inputs, and what do tables give where it is silent? Each value with where it is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costkit import spot, tables
from costkit.plan.buying import setup
from costkit.units import GB, duration, number, percent

if TYPE_CHECKING:
    from costkit.plan.buying.answer import Savings


def derived(answer: Savings) -> list[tuple[str, str, str]]:
    """(what, value, where from) of what follows from the plan's inputs, and of what tables give where it is silent."""
    job, market, asked = answer.job, answer.market, answer.plan.market
    elsewhere_s = answer.on_demand.job.checkpoint_every_s
    own, counted = "this plan", "counted from the model"
    rate = setup.failures_per_gpu_day(answer.plan)
    storage, egress = setup.storage_usd_per_gb_month(answer.plan), setup.egress_usd_per_gb(answer.plan)
    failures = spot.hardware_failures()[setup.FAILURES_OF]
    size = counted if answer.plan.training.checkpoint_gb is None else own
    write = "size over training.checkpoint_gb_per_s" if answer.plan.training.checkpoint_write_min is None else own
    lives = "life of a node x nodes lost at once / nodes" if answer.recorded is None else "the recorded market"
    return [
        ("Computing alone", duration(job.work_s), "6ND over MFU, peak and GPUs; goodput not applied"),
        ("Nodes", f"{market.fleet.n_nodes:,}", "GPUs over those of a node"),
        ("Mean life of the whole job", duration(market.mean_life_s), lives),
        (
            "Hardware failures",
            f"{number(1000 * rate)} per 1,000 GPU-days, one every {duration(market.hardware_life_s)} of the job",
            own
            if asked.failures_per_gpu_day is not None
            else f"{failures.run}, {tables.source(failures.source).title}",
        ),
        ("Checkpoint", f"{number(answer.n_bytes / GB)} GB", size),
        ("Writing one", duration(job.checkpoint_write_s), write),
        ("Restart", duration(answer.restart_s), "provisioning and restart"),
        (
            "Preemptions that are saved on notice",
            percent(market.notice_success),
            "notices acted on in which a write fits",
        ),
        ("Saved if not on spot", f"every {duration(elsewhere_s)}", "the best interval for hardware failures"),
        ("Storage", f"${number(storage)} per GB and month", _priced(asked.storage_usd_per_gb_month, setup.STORAGE)),
        ("Moving data", f"${number(egress)} per GB", _priced(asked.egress_usd_per_gb, setup.EGRESS)),
    ]


def _priced(own: float | None, name: str) -> str:
    """Where a price is from: the plan, or a row of the table with its date."""
    row = spot.storage_price(name)
    return "this plan" if own is not None else f"{tables.source(row.source).title}, {row.as_of}"
