"""What is the run as it stands? Its bill, its settings, and how its time divides.

- The bill is the one that was published for the run, or that of notebook 00. What of it is not GPU time grows with the
  days and with no price of a GPU, save what data and its network cost, which nothing here changes.
- The components of a step are modelled; where the driver's counter is known, they fill the busy share of the time, else
  what they do not explain is idle. Restarts are what the case tells of, or what the goodput leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from costkit import architectures, levers, tables, training
from costkit.plan.costing.final_run import FinalRun, final_run
from costkit.plan.costing.ledger import DATA, NETWORK, lines
from costkit.plan.fitting.answer import request
from costkit.plan.reached import batch_tokens
from costkit.plan.schema import Plan
from costkit.units import BILLION, HOUR, finite

_BITS_A_BYTE = 8
_EIGHT_BIT = "adamw-8bit"
_TOO_MUCH, _LEAST_BUSY = 1.1, 1e-9


@dataclass(frozen=True)
class Settings:
    """What decides how long a token takes on one GPU: number format, attention, kernels, recomputation, optimizer."""

    precision: str
    attention: str
    kernels: str
    checkpointing: str
    optimizer_step: str

    @property
    def is_half(self) -> bool:
        """Whether products are in 16 bits or fewer."""
        return self.precision not in ("fp32", "tf32")


@dataclass(frozen=True, eq=False)
class Start:
    """The run before any lever: its bill and shares of time, and what they were worked out from.

    `overhead_fraction` is what of the bill is not the price of GPU-hours, `fixed_fraction` the part of that which does
    not grow with the days. `token_s` are GPU-seconds a token by component, as modelled; `taken_s` those that the run
    takes.
    """

    plan: Plan
    final: FinalRun
    settings: Settings
    usd: float
    overhead_fraction: float
    token_s: Mapping[str, float]
    taken_s: float
    shares: Mapping[str, float] = field(default_factory=dict)
    fixed_fraction: float = 0.0

    @property
    def baseline(self) -> levers.Baseline:
        """The same in the terms of `levers`."""
        fixed = self.fixed_fraction
        return levers.Baseline(self.usd, self.shares, max(self.overhead_fraction - fixed, 0.0), fixed)

    @property
    def gpu(self) -> tables.Gpu:
        """The plan's GPU."""
        return tables.gpu(self.plan.hardware.gpu)

    @property
    def modelled_fraction(self) -> float:
        """The share of the run's time that the modelled components take."""
        return math.fsum(self.token_s.values()) / self.taken_s

    @property
    def busy_fraction(self) -> float:
        """The share of the time in which the modelled components are at work, as the baseline has it."""
        return math.fsum(share for name, share in self.shares.items() if name in self.token_s)

    @property
    def by_component(self) -> dict[str, float]:
        """The share of the time by component, its parts together."""
        found: dict[str, float] = {}
        for name, share in self.shares.items():
            found[levers.component(name)] = found.get(levers.component(name), 0.0) + share
        return found

    @property
    def is_impossible(self) -> bool:
        """Whether computing alone would take clearly more than the run's whole time."""
        return self.modelled_fraction > _TOO_MUCH

    @property
    def is_too_fast(self) -> bool:
        """Whether the modelled components alone take clearly more than the time in which they are at work."""
        return self.modelled_fraction > _TOO_MUCH * max(self.busy_fraction, _LEAST_BUSY)


def start(plan: Plan) -> Start | None:
    """The run of a plan before any lever; None where it practically never finishes, so that there is no bill."""
    final = final_run(plan)
    if final.is_endless:
        return None
    usd, overhead, fixed = _bill(plan, final)
    found = settings(plan)
    taken_s = final.run.gpu_hours.mid * HOUR / plan.data.n_tokens
    token_s = modelled(plan, found, batch=batch_tokens(plan))
    return Start(plan, final, found, usd, overhead, token_s, taken_s, _shares(plan, final, token_s, taken_s), fixed)


def _bill(plan: Plan, final: FinalRun) -> tuple[float, float, float]:
    """The bill, the share of it that is not the price of GPU-hours, and the part of that which nothing changes."""
    all_lines = lines(plan, final)
    planned = math.fsum(line.usd.mid for line in all_lines)
    of_gpus = math.fsum(line.usd.mid for line in all_lines if line.gpu_hours is not None)
    usd = plan.case.published_usd or planned
    of_data = math.fsum(line.usd.mid for line in all_lines if line.name in (DATA, NETWORK))
    told = plan.case.overhead_fraction
    overhead = (1 - of_gpus / planned) if told is None else min(told, 1 - 1e-9)
    return usd, overhead, overhead * of_data / (planned - of_gpus) if of_data else 0.0


def settings(plan: Plan) -> Settings:
    """The plan's settings as the model of a step names them."""
    asked, about = plan.memory, request(plan)
    kernels = "compiled" if asked.compiled else "fused" if about.about_stack.is_megatron else "eager"
    step = _EIGHT_BIT if asked.optimizer == _EIGHT_BIT else "foreach" if about.step_name == "foreach" else "fused-adamw"
    return Settings(_products_in(plan), asked.attention, kernels, asked.checkpointing, step)


def _products_in(plan: Plan) -> str:
    """The number format of the products: FP32 is TF32 where the case says that TF32 was on."""
    precision = plan.memory.precision
    return "tf32" if precision == "fp32" and plan.case.tf32_enabled else precision


def shape(plan: Plan) -> architectures.Architecture:
    """The plan's architecture, or a plausible one of its size."""
    return request(plan).architecture


def step_s(plan: Plan, how: Settings) -> Mapping[str, float]:
    """GPU-seconds of one token's forward and backward pass, by component."""
    return training.step_times(
        shape(plan),
        gpu=plan.hardware.gpu,
        seq_len=plan.training.seq_len,
        precision=how.precision,
        attention=how.attention,
        kernels=how.kernels,
        checkpointing=how.checkpointing,
        has_frozen_weights=request(plan).adapters is not None,
    ).parts


def modelled(plan: Plan, how: Settings, *, batch: float) -> dict[str, float]:
    """GPU-seconds a token by component, the optimizer's step and the exchange of gradients among them."""
    return {
        **step_s(plan, how),
        "optimizer": update_s(plan, how.optimizer_step) / batch,
        "communication": exchange_s(plan) / batch,
    }


def update_s(plan: Plan, step: str) -> float:
    """GPU-seconds of an optimizer step, all GPUs together."""
    about = request(plan)
    divided = about.sharding.n_shards if about.zero >= 1 else 1
    each = _trained(plan) / (about.sharding.tensor * about.sharding.pipeline) / divided
    return plan.hardware.n_gpus * training.optimizer_s(n_params=each, gpu=plan.hardware.gpu, step=step)


def exchange_s(plan: Plan) -> float:
    """GPU-seconds in which gradients are exchanged and nothing hides it, in a step, all GPUs together.

    Those that hold the same weights sum their gradients. Tensor parallelism stays within a node, pipeline stages lie
    apart; GPUs of a node that hold different weights share its network.
    """
    held_by, of_node = request(plan).sharding, min(plan.market.gpus_per_node, plan.hardware.n_gpus)
    if held_by.n_shards == 1:
        return 0.0
    together = min(max(of_node // held_by.tensor, 1), held_by.n_shards)
    node_bytes_per_s = plan.hardware.node_gbit_per_s * BILLION / _BITS_A_BYTE
    seconds = training.exchange_s(
        n_bytes=_exchanged_bytes(plan) / (held_by.tensor * held_by.pipeline),
        n_gpus=held_by.n_shards,
        gpus_per_node=together,
        node_bytes_per_s=node_bytes_per_s * together / of_node,
        gpu=plan.hardware.gpu,
    )
    return plan.hardware.n_gpus * seconds


def _exchanged_bytes(plan: Plan) -> float:
    """Bytes of a gradient whose sum moves as much as the plan does in a step, for all weights.

    A sum is scattered, then gathered. ZeRO gathers updated weights instead, its third stage the weights as they are
    multiplied, for the forward and for the backward pass.
    """
    about = request(plan)
    formats = next(about.settings(micro_batch=1, seq_len=1)).scene.recipe
    scattered = formats.gradients * _trained(plan)
    of_stage = {0: scattered, 3: 2.0 * formats.compute * about.architecture.n_params}
    return (scattered + of_stage.get(about.zero, formats.weights * _trained(plan))) / 2


def _trained(plan: Plan) -> float:
    """The weights that are trained: all of them, or those of adapters."""
    about = request(plan)
    if about.adapters is None:
        return float(about.architecture.n_params)
    of_layer = sum(one.n_each * one.copies for one in about.adapters.tensors(about.architecture))
    return float(about.architecture.n_layers * of_layer)


def _shares(plan: Plan, final: FinalRun, token_s: Mapping[str, float], taken_s: float) -> dict[str, float]:
    restarts = _restarts(plan, final)
    left = 1 - restarts
    modelled_fraction = math.fsum(token_s.values()) / taken_s
    counted = plan.case.gpu_utilisation_fraction
    busy = min(modelled_fraction if counted is None else counted, left)
    waiting = min(_waiting(plan) * left, left - busy)
    shares = {name: busy * seconds / math.fsum(token_s.values()) for name, seconds in token_s.items()}
    rest = {"input_wait": waiting, "checkpoint_restart": restarts, "idle": max(left - busy - waiting, 0.0)}
    return {name: share for name, share in {**shares, **rest}.items() if share > 0}


def _restarts(plan: Plan, final: FinalRun) -> float:
    """The share of the paid time that checkpoints and restarts take."""
    case = plan.case
    if case.n_restarts is not None and case.restart_gpu_hours is not None:
        return min(case.n_restarts * case.restart_gpu_hours / final.run.gpu_hours.mid, 1.0)
    return 1 - min(finite(final.kept_fraction) or 1.0, 1.0)


def _waiting(plan: Plan) -> float:
    """The share of a step that waits for input, as the plan measured it."""
    asked = plan.training
    if asked.step_s is None or asked.loader_wait_s is None:
        return 0.0
    return min(asked.loader_wait_s / asked.step_s, 1.0)
