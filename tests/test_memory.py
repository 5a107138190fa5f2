import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costkit import architectures, memory, tables
from costkit.architectures import Architecture
from costkit.memory import Adapters, Budget, Request, Sharding, moments

NAMES = ("gpt2", "llama-2-7b", "llama-3.2-1b", "mixtral-8x7b", "pythia-1.4b", "qwen1.5-moe-a2.7b", "qwen3-32b")
GPUS = ("T4", "V100-SXM2-32GB", "A100-SXM4-40GB", "A100-SXM4-80GB", "H100-SXM5-80GB", "H200-SXM-141GB")
STAGES = {"fsdp2": (None, 2, 3), "simplefsdp": (None, 2, 3), "megatron": (None, 0, 1)}
rising = pytest.mark.parametrize("more", [{"micro_batch": 3}, {"seq_len": 512}], ids=["micro_batch", "seq_len"])
few = settings(max_examples=50)

llama = architectures.named("llama-2-7b")
any_gpu = st.sampled_from(GPUS).map(tables.gpu)


def divisors(number: int, degrees: tuple[int, ...]) -> list[int]:
    """Those of the degrees that divide a number."""
    return [degree for degree in degrees if number % degree == 0]


@st.composite
def shardings(draw: st.DrawFn, shape: Architecture, stack: str) -> Sharding:
    """Degrees of parallelism that go with an architecture and a stack."""
    data, context = draw(st.sampled_from((1, 2, 8))), draw(st.sampled_from((1, 2)))
    tensor = draw(st.sampled_from(divisors(math.gcd(shape.n_heads, shape.ffn), (1, 2, 4))))
    pipeline = draw(st.sampled_from((1, 2, 3)))
    shared = divisors(math.gcd(data * context * tensor, shape.n_experts), (1, 2, 4)) if shape.n_experts else [1]
    return Sharding(
        data=data,
        zero=draw(st.sampled_from(STAGES.get(stack, (None, 0, 1, 2, 3)))),
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        expert=draw(st.sampled_from(shared)),
        interleave=draw(st.sampled_from((1, 2))) if pipeline > 1 else 1,
        sequence_parallel=draw(st.sampled_from((None, True, False))),
    )


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Anything that can be asked about a whole model."""
    shape = architectures.named(draw(st.sampled_from(NAMES)))
    stack = draw(st.sampled_from(memory.STACKS))
    return Request(
        shape,
        precision=draw(st.sampled_from([one for one in memory.PRECISIONS if (one, stack) != ("bf16", "megatron")])),
        optimizer=draw(st.sampled_from(memory.OPTIMIZERS)),
        optimizer_step=draw(st.sampled_from((None,) if stack in ("megatron", "deepspeed") else memory.STEPS)),
        checkpointing=draw(st.sampled_from(memory.CHECKPOINTING)),
        attention=draw(st.sampled_from(memory.ATTENTION)),
        stack=stack,
        sharding=draw(shardings(shape, stack)),
        loss=draw(st.sampled_from((None, *memory.LOSSES))),
        compiled=stack == "fsdp2" and draw(st.booleans()),
        accumulates=draw(st.booleans()),
        offload_optimizer=draw(st.booleans()),
    )


def how(request: Request, **changed: Any) -> dict[str, Any]:
    """A request as the keywords that ask for it, with something changed."""
    fields = [field.name for field in dataclasses.fields(request) if field.name != "architecture"]
    return {name: getattr(request, name) for name in fields} | changed


def budget_of(request: Request, *, micro_batch: int = 2, seq_len: int = 256, **changed: Any) -> Budget:
    """The budget of a request, with something changed."""
    about = how(request, **changed)
    return memory.budget(request.architecture, micro_batch=micro_batch, seq_len=seq_len, **about)


def live_bytes(found: Budget) -> float:
    """The most that lives on any stage."""
    return max(stage.peak_bytes for stage in found.stages)


def every_moment(request: Request, *, micro_batch: float) -> list[float]:
    """The live bytes of each moment of each stage."""
    found = request.settings(micro_batch=micro_batch, seq_len=512)
    return [float(moment.live_bytes) for setting in found for moment in moments.moments(setting)]


def not_above(less: float, more: float) -> bool:
    """Whether one is at most the other, but for rounding."""
    return less <= more * (1 + 1e-9)


def stands_on(request: Request, gpu: tables.Gpu) -> bool:
    """Whether the GPU has the request's precision."""
    try:
        request.check_gpu(gpu)
    except ValueError:
        return False
    return True


@given(requests())
def test_the_parts_sum_to_the_peak(request: Request) -> None:
    """What lives at the peak of each stage adds up to its live bytes."""
    found = budget_of(request)
    sums = [sum(stage.parts.values()) for stage in found.stages]
    assert sums == pytest.approx([stage.peak_bytes for stage in found.stages], rel=1e-12)


@given(requests())
def test_the_parts_of_every_phase_sum_to_it(request: Request) -> None:
    """What lives at the worst moment of each phase adds up to the bytes of that phase."""
    for stage in budget_of(request).stages:
        sums = {phase: sum(parts.values()) for phase, parts in stage.phase_parts.items()}
        assert sums == pytest.approx(dict(stage.phases), rel=1e-12)


@given(requests())
def test_no_part_is_negative(request: Request) -> None:
    """Nothing that lives takes less than no memory."""
    parts = [part for stage in budget_of(request).stages for part in stage.phase_parts.values()]
    assert min(value for part in parts for value in part.values()) >= 0


@given(requests())
def test_the_allocator_holds_what_lives(request: Request) -> None:
    """No stage holds fewer bytes in the allocator's pools than it has alive."""
    assert all(not_above(stage.peak_bytes, stage.pools_bytes) for stage in budget_of(request).stages)


@given(requests())
def test_every_estimate_is_a_range(request: Request) -> None:
    """Low, mid and high of allocated, reserved and device bytes stand in that order."""
    found = budget_of(request)
    for one in (found.allocated_bytes, found.reserved_bytes, found.device_bytes):
        assert not_above(one.low, one.mid)
        assert not_above(one.mid, one.high)


@rising
@few
@given(requests())
def test_no_stage_needs_less_for_more(more: dict[str, int], request: Request) -> None:
    """Live bytes of every stage rise with the micro-batch and with the sequence length."""
    small, large = budget_of(request), budget_of(request, **more)
    assert all(not_above(one.peak_bytes, two.peak_bytes) for one, two in zip(small.stages, large.stages, strict=True))


@rising
@few
@given(requests())
def test_the_device_never_holds_less_for_more(more: dict[str, int], request: Request) -> None:
    """What nvidia-smi would show rises with the micro-batch and with the sequence length."""
    assert not_above(budget_of(request).device_bytes.mid, budget_of(request, **more).device_bytes.mid)


@given(requests(), st.integers(3, 64))
def test_every_moment_is_affine_in_the_micro_batch(request: Request, n: int) -> None:
    """A fixed amount and one for each sequence: two micro-batches give all others."""
    one, two, many = (every_moment(request, micro_batch=batch) for batch in (1, 2, n))
    line = [first + (n - 1) * (second - first) for first, second in zip(one, two, strict=True)]
    assert many == pytest.approx(line, rel=1e-9)


@given(requests())
def test_checkpointing_never_adds(request: Request) -> None:
    """Where activations are most of the memory, recomputing more of them leaves fewer alive."""
    full, selective, none = (
        live_bytes(budget_of(request, micro_batch=64, seq_len=1024, checkpointing=way))
        for way in ("full", "selective", "none")
    )
    assert not_above(full, selective)
    assert not_above(selective, none)


@given(requests())
def test_a_fused_step_needs_least(request: Request) -> None:
    """A fused optimizer step needs no more than one tensor by tensor, nor than one over all of them."""
    assume(request.stack not in ("megatron", "deepspeed"))
    fused, *others = (
        [stage.phases["step"] for stage in budget_of(request, optimizer_step=step).stages]
        for step in ("fused", "single-tensor", "foreach")
    )
    assert all(not_above(least, more) for other in others for least, more in zip(fused, other, strict=True))


@pytest.mark.parametrize("name", ["llama-2-7b", "llama-3-70b", "gpt2-xl", "mixtral-8x7b"])
@pytest.mark.parametrize("optimizer", ["adamw", "lion", "adafactor"])
def test_a_step_tensor_by_tensor_needs_less_than_foreach(name: str, optimizer: str) -> None:
    """A list as long as the model is larger than what one tensor needs, unless one tensor is most of the model."""
    request = Request(architectures.named(name), optimizer=optimizer)
    single, foreach = (budget_of(request, optimizer_step=step).phases["step"] for step in ("single-tensor", "foreach"))
    assert single < foreach


@given(requests(), any_gpu)
def test_the_largest_micro_batch_fits_and_one_more_does_not(request: Request, gpu: tables.Gpu) -> None:
    """The answer's own budget fits its GPU, and with one more sequence it no longer does."""
    assume(stands_on(request, gpu))
    n = memory.largest_micro_batch(request.architecture, gpu=gpu, seq_len=256, **how(request))
    verdicts = [budget_of(request, micro_batch=batch).verdict(gpu) == "fits" for batch in (n, n + 1) if batch]
    assert verdicts == ([True, False] if n else [False])


@pytest.mark.parametrize(
    ("name", "gpu", "about"),
    [
        ("llama-3.2-1b", "A100-SXM4-80GB", {}),
        ("gpt2-large", "V100-SXM2-32GB", {"precision": "fp16-mixed", "checkpointing": "full"}),
        ("llama-2-7b", "H100-SXM5-80GB", {"stack": "fsdp2", "sharding": Sharding(data=8), "compiled": True}),
        ("llama-3-70b", "H100-SXM5-80GB", {"stack": "megatron", "sharding": Sharding(tensor=8, pipeline=8)}),
        ("mixtral-8x7b", "H200-SXM-141GB", {"stack": "deepspeed", "sharding": Sharding(data=64, zero=3)}),
        ("qwen2.5-7b", "RTX-4090", {"adapters": Adapters(quantized="nf4"), "checkpointing": "full"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_largest_micro_batch_of_usual_runs(name: str, gpu: str, about: dict[str, Any]) -> None:
    """On each stack there is a micro-batch that fits, and it is the last one."""
    shape = architectures.named(name)
    n = memory.largest_micro_batch(shape, gpu=gpu, seq_len=1024, **about)
    verdicts = [memory.budget(shape, micro_batch=m, seq_len=1024, **about).verdict(gpu) for m in (n, n + 1)]
    assert [verdict == "fits" for verdict in verdicts] == [True, False]


def test_the_largest_micro_batch_is_0_where_nothing_fits() -> None:
    """A model whose states alone are too many gets the answer 0, not an error."""
    assert memory.largest_micro_batch(llama, gpu="T4", seq_len=512, precision="fp16-mixed") == 0


@few
@given(requests(), any_gpu)
def test_a_map_gives_the_bytes_of_single_budgets(request: Request, gpu: tables.Gpu) -> None:
    """Swept at once or asked one by one, each point needs the same."""
    assume(stands_on(request, gpu))
    batches, lengths = (1, 2, 7), (128, 256, 512)
    found = memory.fit_map(request.architecture, gpu=gpu, micro_batches=batches, seq_lens=lengths, **how(request))
    points = [[budget_of(request, micro_batch=b, seq_len=s).device_bytes.mid for s in lengths] for b in batches]
    assert found.device_bytes == pytest.approx(np.array(points), rel=1e-9)


@few
@given(requests(), any_gpu)
def test_a_map_gives_the_verdicts_of_single_budgets(request: Request, gpu: tables.Gpu) -> None:
    """Swept at once or asked one by one, each point gets the same verdict."""
    assume(stands_on(request, gpu))
    batches, lengths = (1, 7, 64), (128, 512)
    found = memory.fit_map(request.architecture, gpu=gpu, micro_batches=batches, seq_lens=lengths, **how(request))
    for b, s in ((b, s) for b in batches for s in lengths):
        assert found.verdict(b, s) == budget_of(request, micro_batch=b, seq_len=s).verdict(gpu)


@pytest.mark.parametrize(
    ("gpu", "verdict"),
    [("B200-SXM-180GB", "fits"), ("H200-SXM-141GB", "uncertain"), ("A100-SXM4-80GB", "does not fit")],
)
def test_a_verdict_has_three_words(gpu: str, verdict: str) -> None:
    """Full fine-tuning of 7B in mixed precision fits, may fit, and does not, as memory gets scarcer."""
    assert memory.budget(llama, micro_batch=1, seq_len=2048).verdict(gpu) == verdict


def test_there_is_no_way_where_it_fits() -> None:
    """What fits already is left alone."""
    assert memory.ways_to_fit(memory.budget(llama, micro_batch=1, seq_len=512), "B200-SXM-180GB") == []


@few
@given(requests(), any_gpu)
def test_every_way_needs_less(request: Request, gpu: tables.Gpu) -> None:
    """No change is offered that leaves the device as full as before."""
    assume(stands_on(request, gpu))
    found = budget_of(request, micro_batch=8)
    ways = memory.ways_to_fit(found, gpu)
    assert all(way.budget.device_bytes.mid < found.device_bytes.mid for way in ways)


@few
@given(requests(), any_gpu, st.sampled_from((3, 7, 8, 77)))
def test_a_way_does_what_it_says(request: Request, gpu: tables.Gpu, sequences: int) -> None:
    """Each change in words is in the request of its budget, none undone by another, and the batch is kept."""
    assume(stands_on(request, gpu))
    found = budget_of(request, micro_batch=sequences)
    for way in memory.ways_to_fit(found, gpu):
        changed = way.budget.request
        said = {
            "fused optimizer step": changed.optimizer_step == "fused",
            "flash attention": changed.attention == "flash",
            "loss in chunks": changed.loss == "chunked",
            "fused loss (Liger)": changed.loss == "fused-linear",
            "8-bit AdamW": changed.optimizer == "adamw-8bit",
            "optimizer state in the host's memory": changed.offload_optimizer,
            "distributed optimizer": changed.zero == 1,
            "weights sharded too (ZeRO 3)": changed.zero == 3,
            "sequence parallelism": changed.sharding.sequence_parallel is True,
            f"tensor parallelism over {changed.sharding.tensor} GPUs with twice the accumulation": (
                changed.sharding.tensor == 2 * request.sharding.tensor and changed.accumulates
            ),
            f"{changed.checkpointing} checkpointing": changed.checkpointing != request.checkpointing,
        }
        fewer = f"micro-batch of {way.budget.micro_batch} with "
        assert [words for words in way.changes if not said.get(words) and not words.startswith(fewer)] == []
        assert sequences % way.budget.micro_batch == 0


def test_a_micro_batch_far_too_large_becomes_the_largest_that_fits() -> None:
    """Halving 64 once would not do; the largest divisor that fits would."""
    shape, gpu = architectures.named("llama-3.2-1b"), "A100-SXM4-80GB"
    found = memory.budget(shape, micro_batch=64, seq_len=2048)
    largest = memory.largest_micro_batch(shape, gpu=gpu, seq_len=2048, accumulates=True)
    fewer = max(n for n in (1, 2, 4, 8, 16, 32) if n <= largest)
    alone = [way.changes for way in memory.ways_to_fit(found, gpu) if way.verdict == "fits" and len(way.changes) == 1]
    assert (f"micro-batch of {fewer} with {64 // fewer} times the accumulation",) in alone


@given(requests(), st.integers(1, 64))
def test_no_less_is_reserved_than_allocated(request: Request, micro_batch: int) -> None:
    """At either end of the bands as in the middle, and the device holds more than either."""
    found = budget_of(request, micro_batch=micro_batch)
    for less, more in itertools.pairwise((found.allocated_bytes, found.reserved_bytes, found.device_bytes)):
        assert (less.low <= more.low, less.mid <= more.mid, less.high <= more.high) == (True, True, True)


def test_the_first_way_fits_where_any_does() -> None:
    """Changes are put together until the run fits: 1.2B parameters with a large batch on 32 GB."""
    found = memory.budget(
        architectures.named("llama-3.2-1b"), micro_batch=8, seq_len=2048, precision="fp16-mixed", attention="eager"
    )
    assert memory.ways_to_fit(found, "V100-SXM2-32GB")[0].verdict == "fits"


def test_no_choice_beats_one_on_the_frontier() -> None:
    """A choice on the frontier has no other that fits with less memory and more speed."""
    found = memory.choices(architectures.named("llama-3.2-1b"), gpu="A100-SXM4-80GB", seq_len=2048)
    able = [choice for choice in found if choice.verdict != "does not fit"]
    best = [choice for choice in able if choice.on_frontier]
    beaten = [
        (one, other)
        for one in best
        for other in able
        if other.throughput.mid > one.throughput.mid and other.budget.device_bytes.mid < one.budget.device_bytes.mid
    ]
    assert (bool(best), beaten) == (True, [])


@pytest.mark.parametrize("kind", ["allocated_bytes", "reserved_bytes", "device_bytes"])
@few
@given(requests())
def test_measuring_the_estimate_leaves_it(kind: str, request: Request) -> None:
    """A run that needed exactly what was estimated does not move the estimate."""
    found = budget_of(request)
    estimate = getattr(found, kind).mid
    again = found.calibrated(memory.calibrate(found, **{kind: estimate}))
    assert getattr(again, kind).mid == pytest.approx(estimate, rel=1e-9)


@given(st.floats(0.5, 2.0))
def test_a_measured_ratio_carries_over(ratio: float) -> None:
    """What one run needed more, another micro-batch of the same model needs more too."""
    run, other = (memory.budget(llama, micro_batch=batch, seq_len=1024) for batch in (1, 8))
    calibration = memory.calibrate(run, allocated_bytes=ratio * run.peak_bytes)
    assert other.calibrated(calibration).allocated_bytes.mid == pytest.approx(ratio * other.peak_bytes)


def test_statistics_of_pytorch_are_read() -> None:
    """Both peaks of torch.cuda.memory_stats() count as if given one by one."""
    run = memory.budget(llama, micro_batch=1, seq_len=1024)
    stats = {"allocated_bytes.all.peak": 130_000_000_000, "reserved_bytes.all.peak": 140_000_000_000, "num_ooms": 0}
    by_hand = memory.calibrate(run, allocated_bytes=130_000_000_000, reserved_bytes=140_000_000_000)
    assert memory.calibrate(run, stats=stats) == by_hand


@pytest.mark.parametrize("missing", ["effective", "micro_batch", "accumulation", "data"])
@given(micro_batch=st.integers(1, 999), accumulation=st.integers(1, 999), data=st.integers(1, 999))
def test_a_batch_follows_from_any_three_numbers(missing: str, micro_batch: int, accumulation: int, data: int) -> None:
    """Whichever of the four is left out is found."""
    whole = memory.Batch(micro_batch * accumulation * data, micro_batch, accumulation, data)
    given_ = {name: value for name, value in dataclasses.asdict(whole).items() if name != missing}
    assert memory.batch(**given_) == whole


@given(requests())
def test_no_moment_needs_less_for_more_sequences(request: Request) -> None:
    """The amount for each sequence of a micro-batch is at least 0 at every moment."""
    one, two = (every_moment(request, micro_batch=batch) for batch in (1, 2))
    assert all(not_above(first, second) for first, second in zip(one, two, strict=True))


@pytest.mark.parametrize("kind", ["allocated_bytes", "reserved_bytes", "device_bytes"])
@few
@given(requests())
def test_measuring_the_estimate_never_widens_its_band(kind: str, request: Request) -> None:
    """A run that needed exactly what was estimated leaves the band as wide as it was, or narrower."""
    found = budget_of(request)
    before = getattr(found, kind)
    after = getattr(found.calibrated(memory.calibrate(found, **{kind: before.mid})), kind)
    assert not_above(after.high - after.low, before.high - before.low)


@few
@given(requests())
def test_stages_left_out_do_not_need_most(request: Request) -> None:
    """The quick look at the peak finds what the look at every stage does."""
    found, quick = budget_of(request), budget_of(request).changed(fullest=True)
    assert (quick.peak_bytes, quick.device_bytes) == (found.peak_bytes, found.device_bytes)


@pytest.mark.parametrize(("tensor", "expert"), [(1, 8), (2, 4), (4, 2), (8, 8), (8, 1), (2, 8)])
def test_experts_get_every_token_however_they_are_divided(tensor: int, expert: int) -> None:
    """Over 8 GPUs, with 8 sequences in all, each keeps the same of the experts' width, and inputs for all that share.

    An expert that several GPUs share needs each of its tokens whole on every one of them.
    """
    shape, sharding = architectures.named("mixtral-8x7b"), Sharding(data=8 // tensor, tensor=tensor, expert=expert)
    found = memory.budget(shape, micro_batch=tensor, seq_len=1024, stack="megatron", sharding=sharding)
    rows = 1024 * shape.n_experts_per_token
    kept = 2 * rows * (shape.hidden * sharding.expert_tensor + 3 * shape.ffn) * shape.n_layers
    assert found.fullest.phase_parts["forward"]["experts"] == pytest.approx(kept)


def test_the_embedding_waits_for_micro_batches_in_flight() -> None:
    """On the first of 16 stages its gradient stands beside what the other 15 micro-batches keep."""
    found = memory.budget(
        architectures.named("llama-3.2-1b"),
        micro_batch=1,
        seq_len=1024,
        stack="fsdp2",
        sharding=Sharding(data=8, pipeline=16),
    )
    first = found.stages[0].phase_parts["backward"]
    kept = found.stages[0].phase_parts["forward"]
    assert all(first[part] >= kept[part] * 15 / 16 for part in ("attention", "feed-forward"))


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_zero_on_one_gpu_divides_nothing(zero: int) -> None:
    """There is nobody to share with."""
    shape, alone = architectures.named("llama-3.2-1b"), Sharding(zero=zero)
    divided, plain = (memory.budget(shape, micro_batch=1, seq_len=1024, sharding=one) for one in (alone, Sharding()))
    assert divided.phases == plain.phases


def test_an_offloaded_step_makes_no_copies_of_gradients() -> None:
    """DeepSpeed's FP32 copies are in the host's memory, as the state is."""
    about: dict[str, Any] = {"micro_batch": 1, "seq_len": 1024, "stack": "deepspeed"}
    found = memory.budget("llama-2-7b", sharding=Sharding(data=8, zero=2), offload_optimizer=True, **about)
    assert "optimizer step" not in found.fullest.phase_parts["step"]


@pytest.mark.parametrize("optimizer", ["adafactor", "lion", "muon", "adamw-8bit"])
def test_optimizers_without_a_foreach_step_need_no_list(optimizer: str) -> None:
    """Their step goes tensor by tensor unless another is asked for."""
    assert Request(architectures.named("gpt2"), optimizer=optimizer).step_name == "single-tensor"


def test_choices_keep_the_effective_batch() -> None:
    """Micro-batches that can't make it up are left out, and gradients stay where they are added up."""
    found = memory.choices(
        "llama-3.2-1b", gpu="A100-SXM4-80GB", seq_len=512, sharding=Sharding(data=8), effective_batch=64
    )
    steps = {(one.budget.micro_batch, one.budget.request.accumulates) for one in found}
    assert steps == {(1, True), (2, True), (4, True), (8, False)}


def test_choices_of_unknown_speed_are_refused() -> None:
    """A sharding of other degrees has no measured ratio."""
    with pytest.raises(ValueError, match=r"differs from .* in more than zero"):
        memory.choices("gpt2", gpu="T4", seq_len=512, precision="fp32", shardings=[Sharding(data=2)])


def test_the_fastest_that_fits_is_on_the_frontier() -> None:
    """A setting that may fail does not take the place of one that fits, though it needs less and is as fast."""
    about: dict[str, Any] = {"stack": "huggingface", "sharding": Sharding(data=32), "checkpointing": "none"}
    found = memory.choices("qwen3-30b-a3b", gpu="A100-SXM4-40GB", seq_len=1024, **about)
    best = found[0]
    beaten = [one for one in found if one.verdict == "uncertain" and one.throughput.mid >= best.throughput.mid]
    assert (best.verdict, best.on_frontier, bool(beaten)) == ("fits", True, True)


@pytest.mark.parametrize(("zero", "bytes_per_param"), [(0, 4), (1, 2)])
def test_deepspeed_adds_up_gradients_in_fp32_without_zero(zero: int, bytes_per_param: int) -> None:
    """BF16 gradients are accumulated in FP32 at stage 0, and in their own format from stage 1 on."""
    shape, sharding = architectures.named("llama-2-7b"), Sharding(data=8, zero=zero)
    found = memory.budget(shape, micro_batch=1, seq_len=512, stack="deepspeed", sharding=sharding, accumulates=True)
    assert found.fullest.phase_parts["step"]["gradients"] == pytest.approx(bytes_per_param * shape.n_params)


def test_an_attention_mask_is_divided_and_can_be_left_out() -> None:
    """Megatron-LM's data loader makes one byte a score, context parallelism divides it, a switch leaves it out."""
    about: dict[str, Any] = {"micro_batch": 1, "seq_len": 131072, "stack": "megatron"}
    sizes = [
        memory.budget("llama-3.1-8b", sharding=Sharding(context=context), padded=padded, **about).parts["inputs"]
        for context, padded in ((1, None), (8, None), (8, False))
    ]
    masks = [size - 28 * 131072 / context for size, context in zip(sizes, (1, 8, 8), strict=True)]
    assert masks == pytest.approx([131072**2, 131072**2 / 8, 0.0])


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"effective_batch": 0}, "effective_batch is 0; it must be a whole number"),
        ({"micro_batches": []}, "micro_batches is empty"),
        ({"checkpointing": "some"}, "no checkpointing 'some'"),
    ],
)
def test_choices_of_nothing_are_refused(about: dict[str, Any], sentence: str) -> None:
    """One sentence, not an empty list."""
    with pytest.raises((ValueError, tables.UnknownName), match=sentence):
        memory.choices("gpt2", gpu="T4", seq_len=512, precision="fp32", **about)
