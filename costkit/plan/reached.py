"""What MFU does this plan count on, and how much of the time? Its own measurement or assumption, or published runs.

- A measured rate or step time, or an MFU that the plan gives, is taken as it is; else the MFU is what published runs of
  that size, chip and scale reached over their whole time, without the family of the run that the plan is.
- Goodput that is left out is what published runs kept of a steady MFU; for a plan without an MFU it is inside theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit import training
from costkit.plan.kinds import PlanError
from costkit.plan.published import published
from costkit.plan.schema import Plan
from costkit.units import Range

PUBLISHED, MEASURED, GIVEN = "published runs", "measured", "given"
_SHARE_OF_ADAPTERS = 2 / 3


@dataclass(frozen=True)
class Reached:
    """The steady MFU and the goodput that a plan counts on, and `run_mfu`, that of its whole run over all paid hours.

    `published` is what published runs like it came to, `basis` where the MFU comes from, `has_own_goodput` whether the
    plan says its goodput. Ranges are the middle 80% of published runs; what a plan states has no width.
    """

    mfu: Range
    goodput: Range
    run_mfu: Range
    basis: str
    has_own_goodput: bool
    published: training.Efficiency


def n_active_params(plan: Plan) -> float:
    """The parameters that a token passes through: all of them, or the active ones of a mixture of experts."""
    named = plan.target_architecture
    return plan.model.n_params if named is None else float(named.n_active_params)


def batch_tokens(plan: Plan) -> float:
    """Tokens of one optimizer step: as the plan says, or its effective batch, or one micro-batch on each copy."""
    asked = plan.memory
    if plan.training.batch_tokens is not None:
        return plan.training.batch_tokens
    copies = max(plan.hardware.n_gpus // sharers(plan), 1)
    return float((asked.effective_batch or asked.micro_batch * copies) * plan.training.seq_len)


def sharers(plan: Plan) -> int:
    """GPUs that work on one sequence together."""
    asked = plan.memory
    return asked.tensor_parallel * asked.pipeline_parallel * asked.context_parallel


def least_batch_tokens(plan: Plan) -> float:
    """One sequence for each group of GPUs that work on one together."""
    return plan.hardware.n_gpus / sharers(plan) * plan.training.seq_len


def left_out(plan: Plan) -> tuple[str, ...]:
    """The family of the published run that the plan is, which would tell its own answer."""
    run = published(plan).run
    return () if run is None else (run.family,)


def reached(plan: Plan) -> Reached:
    """The MFU and the goodput of a plan.

    Raises `PlanError` of one sentence for a measured rate that the GPU can't reach.

    >>> from costkit import plan
    >>> reached(plan.read("case-50k")).basis
    'given'
    """
    like = training.efficiency(
        gpu=plan.hardware.gpu,
        n_params=n_active_params(plan),
        n_gpus=plan.hardware.n_gpus,
        seq_len=plan.training.seq_len,
        precision=plan.memory.precision,
        left_out=left_out(plan),
    )
    own, measured = plan.training.goodput_fraction, _measured_mfu(plan)
    theirs = training.published_goodput(left_out=left_out(plan))
    kept = theirs.times(_set_aside(plan)) if own is None else Range.exact(own)
    mfu = plan.training.mfu if measured is None else measured
    if mfu is not None:
        basis = GIVEN if measured is None else MEASURED
        return Reached(Range.exact(mfu), kept, Range.exact(mfu).times(kept), basis, own is not None, like)
    steady = training.steady_mfu(like.mfu, left_out=left_out(plan))
    run_mfu = like.mfu.times(_set_aside(plan)) if own is None else steady.times(own)
    return Reached(steady, Range.exact(kept.mid), run_mfu, PUBLISHED, own is not None, like)


def _set_aside(plan: Plan) -> float:
    """What evaluation, ramp and spares leave that the plan names on top of what published runs lost."""
    asked = plan.training
    return (1 - asked.evaluation_fraction) * (1 - asked.ramp_fraction) / (1 + asked.spare_fraction)


def _measured_mfu(plan: Plan) -> float | None:
    """The MFU of the plan's own measurement, or None where it has none."""
    asked = plan.training
    rate = asked.tokens_per_s_per_gpu
    key = "training.tokens_per_s_per_gpu"
    if asked.step_s is not None:
        rate, key = batch_tokens(plan) / asked.step_s / plan.hardware.n_gpus, "training.step_s"
    if rate is None:
        return None
    try:
        return training.measured_mfu(tokens_per_s_per_gpu=rate, n_params=n_active_params(plan), gpu=plan.hardware.gpu)
    except ValueError as error:
        raise PlanError(f"{key}: {error}") from None


def training_share(plan: Plan) -> float:
    """The share of 6ND that is computed: two thirds with adapters, as frozen weights need no gradients of their own."""
    return 1.0 if plan.memory.adapter_rank is None else _SHARE_OF_ADAPTERS


def run_of(plan: Plan, flop: float) -> training.Run:
    """Hours and dollars of this much compute on the plan's hardware."""
    return training.run(
        flop=flop * training_share(plan),
        gpu=plan.hardware.gpu,
        n_gpus=plan.hardware.n_gpus,
        usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour,
        mfu=reached(plan).run_mfu,
    )


def flop_price(plan: Plan) -> float:
    """The price of one FLOP that ends up in the model, in the middle of what the plan reaches."""
    return training_share(plan) * training.usd_per_flop(
        gpu=plan.hardware.gpu, usd_per_gpu_hour=plan.hardware.usd_per_gpu_hour, mfu=reached(plan).run_mfu.mid
    )
