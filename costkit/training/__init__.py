"""How long does a run take and what does it cost? FLOP to GPU-hours to dollars, and back from a published figure.

- What MFU a run reaches is learned from the GPU-hours of published runs, and scored on them (`scores`).
- A measured rate takes the place of that; goodput, energy, stalls, prices, other GPUs and more of them have a function
  each.
"""

from costkit.training.accounts import goodput_runs, published_goodput
from costkit.training.batches import critical_batch_tokens, steps_factor, tokens_factor
from costkit.training.cases import attention_ratio
from costkit.training.efficiency import Efficiency, efficiency
from costkit.training.energy import Energy, energy
from costkit.training.formats import format_limit, has_format, number_format
from costkit.training.goodput import Goodput, goodput
from costkit.training.hardware import OnGpu, compare, tuned_mfu
from costkit.training.learning import HIGHEST_MFU
from costkit.training.parallel import ParallelEfficiency, parallel_efficiency
from costkit.training.prices import (
    PRICE_UNITS,
    Price,
    PriceDoubt,
    flip_usd_per_gpu_hour,
    price,
    price_doubts,
    quoted,
    read_price,
)
from costkit.training.reverse import Audit, Check, audit, implied_mfu
from costkit.training.runs import Run, budget_flop, flop, run, steady_mfu, usd_per_flop
from costkit.training.scale import Scaled, cheapest_by, scale_out, weak_scaling
from costkit.training.scorecard import (
    CONSTANT_MFU,
    FAR_FACTOR,
    Score,
    Scored,
    anomalous_runs,
    group_of,
    scored,
    scores,
    scores_sentence,
)
from costkit.training.smi_logs import GpuUse, SmiLog, read_smi_log
from costkit.training.stalls import Stall, stall, stall_from_log
from costkit.training.steady import measured_mfu
from costkit.training.step_scores import StepScore, gain_band, step_scores, step_scores_sentence
from costkit.training.steps import StepTimes, exchange_s, optimizer_s, step_times
from costkit.training.suspicions import Flag

__all__ = [
    "CONSTANT_MFU",
    "FAR_FACTOR",
    "HIGHEST_MFU",
    "PRICE_UNITS",
    "Audit",
    "Check",
    "Efficiency",
    "Energy",
    "Flag",
    "Goodput",
    "GpuUse",
    "OnGpu",
    "ParallelEfficiency",
    "Price",
    "PriceDoubt",
    "Run",
    "Scaled",
    "Score",
    "Scored",
    "SmiLog",
    "Stall",
    "StepScore",
    "StepTimes",
    "anomalous_runs",
    "attention_ratio",
    "audit",
    "budget_flop",
    "cheapest_by",
    "compare",
    "critical_batch_tokens",
    "efficiency",
    "energy",
    "exchange_s",
    "flip_usd_per_gpu_hour",
    "flop",
    "format_limit",
    "gain_band",
    "goodput",
    "goodput_runs",
    "group_of",
    "has_format",
    "implied_mfu",
    "measured_mfu",
    "number_format",
    "optimizer_s",
    "parallel_efficiency",
    "price",
    "price_doubts",
    "published_goodput",
    "quoted",
    "read_price",
    "read_smi_log",
    "run",
    "scale_out",
    "scored",
    "scores",
    "scores_sentence",
    "stall",
    "stall_from_log",
    "steady_mfu",
    "step_scores",
    "step_scores_sentence",
    "step_times",
    "steps_factor",
    "tokens_factor",
    "tuned_mfu",
    "usd_per_flop",
    "weak_scaling",
]
