"""What if it were different? Controls for a plan, with the answer above the picture that they change.

- `Panel(plan, view, keys)` is generic: its controls come from the plan's schema, its answer from one view function.
- A view function takes a plan and returns a `View`: a sentence, the key numbers, a figure and the rows behind it.
- The panel's first picture is the one that `figures.png(view(plan).figure)` gives, byte for byte.
- Nothing here needs a kernel or a browser: a test sets `panel.controls[key].value` and reads `panel.headline`.
"""

from __future__ import annotations

from collections.abc import Sequence

from costkit import claims
from costkit.claims import Checked
from costkit.panels.ledger import Ledger
from costkit.panels.panel import Panel
from costkit.panels.view import View
from costkit.panels.views import FrontierView, MemoryView, PageView, ReplanView, SpotView
from costkit.plan import Plan

__all__ = ["Ledger", "Panel", "View", "frontier", "ledger", "memory", "page", "replan", "spot"]

MEMORY_KEYS = (
    "model.architecture",
    ("hardware.gpu", "hardware.n_gpus"),
    ("memory.precision", "memory.optimizer"),
    "memory.checkpointing",
    "memory.micro_batch",
    "training.seq_len",
)

FRONTIER_KEYS = (
    "training.budget_usd",
    "training.size_fraction",
    "data.inference_tokens",
    "data.unique_tokens",
    "training.mfu",
    "training.law",
)


SPOT_KEYS = (
    ("market.spot_discount_fraction", "market.measured"),
    ("market.node_life_h", "market.burst_nodes"),
    ("training.checkpoint_every_min", "training.restart_min"),
    ("market.capacity_wait_min", "market.deadline_days"),
    "market.notice_reliability_fraction",
    ("market.life_law", "market.elastic"),
)


PAGE_KEYS = (
    ("model.n_params", "data.n_tokens"),
    ("hardware.gpu", "hardware.n_gpus"),
    ("hardware.usd_per_gpu_hour", "market.purchase"),
    ("training.mfu", "training.goodput_fraction"),
    ("memory.precision", "training.seq_len"),
    ("scope.ablations_fraction", "market.deadline_days"),
)


REPLAN_KEYS = (
    "levers.order",
    ("case.published_usd", "case.published_final_usd"),
    ("case.gpu_utilisation_fraction", "case.tf32_enabled"),
    ("memory.precision", "memory.attention"),
    ("hardware.usd_per_gpu_hour", "market.spot_discount_fraction"),
    ("memory.micro_batch", "training.seq_len"),
)


def page(plan: Plan | str) -> Panel:
    """What it costs and how long it takes: size, tokens, GPUs, price, MFU, goodput, number format, scope, deadline.

    >>> from costkit import plan
    >>> panel = page(plan.read("mpt-7b"))
    >>> panel.set("hardware.n_gpus", "256")
    >>> panel.headline.split(" costs ")[0]
    'Training a model of 6.65B parameters on 1.00T tokens'
    """
    return Panel(plan, PageView(), PAGE_KEYS, name="page")


def replan(plan: Plan | str) -> Panel:
    """How it becomes cheaper: levers ticked and put in order, and what the run was like before them.

    >>> from costkit import plan
    >>> panel = replan(plan.read("case-50k"))
    >>> panel.set("levers.order", "bf16, spot")
    >>> panel.headline.split(" and ")[0]
    'Of the $38,200 between $50,000'
    """
    return Panel(plan, ReplanView(), REPLAN_KEYS, name="replan")


def ledger(checks: Sequence[Checked] | None = None) -> Ledger:
    """What was claimed, to sort by how far off it is, to filter and to search; without claims, those of the lessons.

    >>> found = ledger()
    >>> found.verdict.value = "close"
    >>> len(found.shown), found.shown[0].id
    (7, 'chain-flash')
    """
    return Ledger(claims.ledger() if checks is None else checks)


def spot(plan: Plan | str) -> Panel:
    """What spot really costs: discount, life of the nodes, checkpoints, waits, deadline, notices, law of life times.

    >>> from costkit import plan
    >>> panel = spot(plan.read("case-50k"))
    >>> panel.set("training.checkpoint_every_min", "20")
    >>> panel.headline.split(":")[0]
    'Spot saves 56% here'
    """
    return Panel(plan, SpotView(), SPOT_KEYS, name="spot")


def memory(plan: Plan | str) -> Panel:
    """Does it fit: architecture, GPUs, number formats, checkpointing, micro-batch and sequence length.

    >>> from costkit import plan
    >>> panel = memory(plan.read("finetune-7b"))
    >>> panel.set("memory.micro_batch", "64")
    >>> panel.headline.split(":")[0]
    'Training llama-2-7b in bf16-mixed with 64 sequences of 4,096 tokens does not fit'
    """
    return Panel(plan, MemoryView(), MEMORY_KEYS, name="memory")


def frontier(plan: Plan | str) -> Panel:
    """How big a model, on how much data: budget, size, serving, data limit, MFU and law, on the frontier's map.

    >>> from costkit import plan
    >>> panel = frontier(plan.read("case-50k"))
    >>> panel.set("training.budget_usd", "$500k")
    >>> panel.plan.training.budget_usd, panel.message
    (500000.0, '')
    """
    return Panel(plan, FrontierView(), FRONTIER_KEYS, name="frontier")
