"""How is a budget told? Its headline, key numbers, warnings and sentences; every number in them is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costkit.units import GIB, Range, gib, number, percent

if TYPE_CHECKING:
    from costkit.memory import Way
    from costkit.plan.fitting.answer import Footprint

PHASES = {
    "forward": "the end of the forward pass",
    "loss": "the loss",
    "recompute": "the last layer's backward pass",
    "backward": "the first layer's backward pass",
    "step": "the optimizer's step",
}
SHORT_PHASES = {
    "forward": "end of forward",
    "loss": "loss",
    "recompute": "last layer's backward",
    "backward": "first layer's backward",
    "step": "optimizer step",
}
_VERDICTS = {"fits": "fits", "uncertain": "may or may not fit", "does not fit": "does not fit"}
SCORED_OPTIMIZERS = ("adamw", "sgd-momentum")
_NEAR, _FAR = 0.001, 0.1


def headline(answer: Footprint) -> str:
    """Whether it fits, how full the GPU is, when, and the largest micro-batch."""
    needed, usable = answer.budget.device_bytes, answer.gpu.usable_bytes
    return (
        f"{_subject(answer)} {_VERDICTS[answer.verdict]}: {gib(needed.mid)} ({_band(needed)}) of the"
        f" {gib(usable)} that {answer.gpu.name} offers, the peak at {PHASES[answer.budget.peak_phase]};"
        f" {_largest(answer)}."
    )


def _subject(answer: Footprint) -> str:
    plan, sequences = answer.plan, answer.budget.micro_batch
    batch = f"{_counted(sequences, 'sequence')} of {_counted(answer.budget.seq_len, 'token')}"
    what = "Training"
    if plan.memory.adapter_rank is not None:
        what = "QLoRA on" if plan.memory.frozen_weights == "nf4" else "LoRA on"
    return f"{what} {answer.architecture.name} in {plan.memory.precision} with {batch}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n != 1 else ''}"


def _largest(answer: Footprint) -> str:
    if answer.largest == 0:
        return "no micro-batch fits with its band"
    return f"the largest micro-batch that fits with its band is {answer.largest:,}"


def facts(answer: Footprint) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text)."""
    budget = answer.budget
    found = (
        ("Allocated", _with_band(budget.allocated_bytes)),
        ("Reserved", _with_band(budget.reserved_bytes)),
        ("On the device", _with_band(budget.device_bytes)),
        ("Usable", gib(answer.gpu.usable_bytes)),
        ("Largest micro-batch", f"{answer.largest:,}" if answer.largest else "none"),
        ("Batch", _batch(answer)),
        ("Divided by", _division(answer)),
        ("Measured", _measured(answer)),
    )
    return tuple((label, text) for label, text in found if text)


def _batch(answer: Footprint) -> str:
    batch = answer.batch
    if batch is None:
        return ""
    steps, copies = _counted(batch.accumulation, "step"), "copy" if batch.data == 1 else "copies"
    return f"{batch.effective:,} = {batch.micro_batch:,} x {steps} x {batch.data:,} {copies}"


def _division(answer: Footprint) -> str:
    sharding = answer.budget.request.sharding
    degrees = {
        f"{sharding.data:,} {'whole ' if answer.budget.request.zero == 0 else ''}copies"
        if sharding.data > 1
        else "": True,
        f"ZeRO {answer.budget.request.zero}": sharding.n_shards > 1 and answer.budget.request.zero > 0,
        f"tensor {sharding.tensor}": sharding.tensor > 1,
        f"pipeline {sharding.pipeline}": sharding.pipeline > 1,
        f"context {sharding.context}": sharding.context > 1,
        f"expert {sharding.expert}": sharding.expert > 1,
    }
    return ", ".join(text for text, is_so in degrees.items() if text and is_so)


def _measured(answer: Footprint) -> str:
    measured = answer.measured_bytes
    if answer.is_calibrated:
        ratios = (("allocated", answer.plan.memory.allocated_ratio), ("reserved", answer.plan.memory.reserved_ratio))
        return "your run: " + ", ".join(f"{kind} x {ratio:.3g}" for kind, ratio in ratios if ratio is not None)
    if measured is None:
        return ""
    error = _signed(answer.compared_bytes.mid / measured - 1)
    return f"{gib(measured)} {answer.measured_metric}, estimate {error}"


def _signed(error: float) -> str:
    if abs(error) < _NEAR:
        return "the same"
    return f"{percent(abs(error))} {'more' if error > 0 else 'less'}"


def warnings(answer: Footprint) -> tuple[str, ...]:
    """What a reader must know before using the answer."""
    request, budget = answer.budget.request, answer.budget
    conditions = (
        (
            answer.plan.target_architecture is None,
            f"The plan names no architecture: {answer.architecture.name} is a plausible shape of its size.",
        ),
        (
            _is_far(answer),
            "Your run's ratios lie outside the band of this stack: make sure that it had this plan's settings.",
        ),
        (
            budget.request.zero == 0 and request.sharding.data > 1 and answer.verdict != "fits",
            (
                f"Nothing is divided among the {request.sharding.data:,} copies: each holds all weights, gradients and"
                " optimizer state; memory.zero_stage or another memory.stack divides them."
            ),
        ),
        (
            request.precision == "fp8-mixed" and request.about_stack.is_torchtitan,
            "FP8 saves next to nothing here: torchtitan keeps 16-bit inputs and weights and casts them anew each time.",
        ),
        (
            request.precision == "fp8-mixed" and not request.about_stack.is_torchtitan,
            (
                "FP8 saves nothing of weights, gradients and optimizer state, and adds copies; only the inputs that"
                " matrices keep shrink."
            ),
        ),
        (
            request.case == "huggingface eager",
            (
                "Eager attention writes out every score and fragments memory; up to"
                f" {number(request.band('reserved').high)} times the estimate was reserved."
            ),
        ),
        (
            bool(request.architecture.n_experts),
            (
                "Experts get uneven shares of the tokens, and more uneven as routing learns: the band is wide for that,"
                " and no run of a mixture of experts is among the scores; bars and parts show even shares."
            ),
        ),
        (
            request.sharding.pipeline > 1 and request.about_stack.is_torchtitan,
            "Pipeline parallelism under FSDP2 was not scored against any run.",
        ),
        (
            request.about_stack.is_hugging_face and bool(_model_parallel(answer)),
            f"Not scored against any run under Hugging Face's blocks: {_model_parallel(answer)}.",
        ),
        (
            request.stack == "deepspeed",
            "DeepSpeed's communication buffers are not modelled, and its one table does not say what it measured.",
        ),
        (
            request.stack == "huggingface" and request.adapters is None,
            (
                "What PyTorch reserves on top of live tensors was measured for Hugging Face's blocks with adapters on a"
                " T4 only, not with all weights trained."
            ),
        ),
        (
            request.checkpointing == "selective" and not request.about_stack.has_selective,
            "Hugging Face's blocks have no switch for selective checkpointing: this is what it would take.",
        ),
        (
            answer.gpu.vendor != "NVIDIA",
            f"Everything was measured on NVIDIA GPUs: what {answer.gpu.vendor}'s software holds besides is a guess.",
        ),
        (
            request.optimizer not in SCORED_OPTIMIZERS,
            f"No measured run with {request.optimizer} is among the scores: its state is counted, not checked.",
        ),
        (
            answer.verdict == "uncertain",
            f"Live tensors are {gib(budget.allocated_bytes.mid)}; what the allocator wastes on top decides.",
        ),
    )
    return tuple(text for is_so, text in conditions if is_so)


def _is_far(answer: Footprint) -> bool:
    """Whether a calibration is outside the band that it moves."""
    request = answer.budget.request
    plain = request.with_changes(calibration=type(request.calibration)())
    for kind in ("allocated", "reserved"):
        ratio, band = request.calibration.factor(kind), plain.band(kind)
        if ratio is not None and not band.low * (1 - _FAR) <= ratio * band.mid <= band.high * (1 + _FAR):
            return True
    return False


def _model_parallel(answer: Footprint) -> str:
    """The kinds of parallelism that divide a model or a sequence, in words."""
    sharding = answer.budget.request.sharding
    degrees = {"tensor": sharding.tensor, "pipeline": sharding.pipeline, "context": sharding.context}
    return ", ".join(f"{name} parallelism" for name, degree in degrees.items() if degree > 1)


def reading(answer: Footprint) -> str:
    """The phase that binds and its largest parts."""
    budget = answer.budget
    largest = sorted(budget.parts.items(), key=lambda item: -item[1])[:3]
    shares = ", ".join(f"{name} {percent(amount / budget.peak_bytes)}" for name, amount in largest)
    stage = f" on pipeline stage {budget.fullest.stage + 1}" if len(budget.stages) > 1 else ""
    before = " before your measurement" if answer.is_calibrated else ""
    needed = f"{gib(budget.peak_bytes)} of live tensors{before}"
    return f"The peak is at {PHASES[budget.peak_phase]}{stage}, {needed}: {shares}."


def way_out(answer: Footprint) -> str:
    """The first way that fits, or the best there is."""
    if answer.verdict == "fits":
        return f"Nothing has to change; {gib(answer.gpu.usable_bytes - answer.budget.device_bytes.mid)} are left."
    ways = answer.ways
    fitting = [way for way in ways if way.verdict == "fits"]
    if fitting:
        return f"The cheapest way to fit among those listed: {joined(fitting[0])}, at {_speed(fitting[0])}."
    if not ways:
        return (
            f"None of the changes that are known here helps on {answer.gpu.name}: use a larger GPU, more of them, or a"
            " smaller model."
        )
    best = min(ways, key=lambda way: way.budget.device_bytes.mid)
    return (
        f"Nothing listed fits with its band; {joined(best)} comes down to {gib(best.budget.device_bytes.mid)}"
        f" ({best.verdict}). Use more GPUs, or larger ones."
    )


def joined(way: Way) -> str:
    """The changes of a way in words."""
    return ", ".join(way.changes)


def _speed(way: Way) -> str:
    """The speed that is left, with its range where there is one."""
    speed = way.throughput
    low, mid, high = percent(speed.low), percent(speed.mid), percent(speed.high)
    if speed.low == speed.high and abs(speed.mid - 1) < _NEAR:
        return f"no cost in speed ({'; '.join(way.basis)})"
    span = "" if low == high else f", {low} to {high}"
    return f"{mid} of the speed ({'; '.join(way.basis)}{span})"


def room(answer: Footprint) -> str:
    """The longest sequence that fits with one sequence at a time, and with the plan's micro-batch."""
    found = answer.map
    lengths = {}
    for micro_batch in (1, answer.budget.micro_batch):
        row = found.verdicts[int(np.flatnonzero(found.micro_batches == micro_batch)[0])]
        fitting = found.seq_lens[row == 0]
        lengths[micro_batch] = int(fitting.max()) if len(fitting) else 0
    one = lengths[1]
    if not one:
        return f"On {answer.gpu.name} no length on this map fits with its band, not even one sequence at a time."
    own, sequences = lengths[answer.budget.micro_batch], answer.budget.micro_batch
    more = ""
    if sequences > 1:
        more = f", {sequences:,} up to {own:,}" if own else f", {sequences:,} at none"
    return f"Of these lengths, one sequence fits with its band up to {_counted(one, 'token')}{more}."


def _with_band(value: Range) -> str:
    return f"{gib(value.mid)} ({_band(value)})"


def _band(value: Range) -> str:
    return f"{number(value.low / GIB)} to {number(value.high / GIB)}"
