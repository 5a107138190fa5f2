import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from costkit import architectures, memory, plan, tables
from costkit.plan import Footprint, fitting
from costkit.plan.fitting import Compared, words
from costkit.units import GIB, gib, number

GPUS, GPU, SHAPE, LENGTH = "hardware.n_gpus", "hardware.gpu", "model.architecture", "training.seq_len"
MICRO, BATCH, PRECISION = "memory.micro_batch", "memory.effective_batch", "memory.precision"
ALLOCATED, RESERVED = "memory.allocated_ratio", "memory.reserved_ratio"
TENSOR, PIPELINE, CONTEXT = (f"memory.{name}_parallel" for name in ("tensor", "pipeline", "context"))

Situation = tuple[str, dict[str, object]]
SITUATIONS: dict[str, Situation] = {
    **{name: (name, {}) for name in plan.names()},
    "one GPU": ("finetune-7b", {GPUS: 1}),
    "16384 GPUs": ("finetune-7b", {GPUS: 16384}),
    "experts": ("finetune-7b", {SHAPE: "mixtral-8x7b", "memory.expert_parallel": 8}),
    "V100": ("case-50k", {GPU: "V100-SXM2-16GB", PRECISION: "fp16-mixed"}),
    "TPU": ("finetune-7b", {GPU: "TPU-v5e", PRECISION: "bf16"}),
    "MI300X": ("finetune-7b", {GPU: "MI300X"}),
    "FP8": ("llama-3-8b", {PRECISION: "fp8-mixed"}),
    "eager": ("case-50k", {"memory.attention": "eager", LENGTH: 131072}),
    "pipeline": ("finetune-7b", {PIPELINE: 2, MICRO: 4}),
    "every degree": ("llama-3-8b", {TENSOR: 8, PIPELINE: 4, CONTEXT: 2, "memory.stack": "megatron"}),
    "deepspeed": ("finetune-7b", {"memory.stack": "deepspeed"}),
    "batch": ("finetune-7b", {BATCH: 64}),
    "calibrated": ("finetune-7b", {ALLOCATED: 1.05, RESERVED: 1.06}),
    "offloaded": ("finetune-7b", {"memory.offload_optimizer": True}),
    "compiled": ("finetune-7b", {"memory.compiled": True}),
    "405B": ("finetune-7b", {SHAPE: "llama-3.1-405b"}),
    "ten trillion": ("finetune-7b", {"model.n_params": 1e13}),
    "five million": ("case-50k", {"model.n_params": 6e6, MICRO: 128}),
    "a million by a million": ("finetune-7b", {MICRO: 1_000_000, LENGTH: 1_000_000}),
    "one token": ("finetune-7b", {LENGTH: 1}),
}
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


def footprint(name: str, overrides: dict[str, object] | None = None) -> Footprint:
    """The answer to a packaged plan with overrides."""
    return plan.footprint(plan.read(name, overrides))


@functools.cache
def answer(situation: str) -> Footprint:
    """The answer to one of the situations, computed once."""
    return footprint(*SITUATIONS[situation])


@functools.cache
def compared(situation: str) -> Compared:
    """The settings of one of the situations, computed once."""
    return fitting.settings(answer(situation))


SAID: dict[str, Callable[[str], str]] = {
    "headline": lambda situation: answer(situation).headline,
    "reading": lambda situation: answer(situation).reading,
    "way out": lambda situation: answer(situation).way_out,
    "room": lambda situation: answer(situation).room,
    "settings": lambda situation: compared(situation).sentence,
}


@every_situation
@pytest.mark.parametrize("name", SAID)
def test_what_is_said_is_a_sentence(name: str, situation: str) -> None:
    """It is one line that starts with a capital, ends with a full stop, and holds no number that is none."""
    text = SAID[name](situation)
    assert re.fullmatch(r"[A-Z][^\n]*[^.\s]\.", text)
    assert re.findall(r"\bnan\b|\binf\b|None(?! of)|  |\(\)|, ,|-\d+(?:\.\d+)? GiB", text) == []


@every_situation
def test_facts_and_warnings_hold_no_hole(situation: str) -> None:
    """Every key number has a text, every warning is a sentence, and none holds a number that is none."""
    found = answer(situation)
    texts = [*(text for _, text in found.facts), *found.warnings]
    assert [text for text in texts if not text or re.search(r"\bnan\b|\binf\b|None", text)] == []
    assert [text for text in found.warnings if not text.endswith(".")] == []


@every_situation
def test_the_headline_holds_the_answer(situation: str) -> None:
    """Model, precision, verdict, need with its band, what the GPU offers, the phase and the largest micro-batch."""
    found = answer(situation)
    needed, usable = found.budget.device_bytes, found.gpu.usable_bytes
    verdict = {"fits": " fits: ", "uncertain": " may or may not fit: ", "does not fit": " does not fit: "}
    parts = [
        f"{found.architecture.name} in {found.budget.request.precision} with ",
        verdict[found.verdict],
        f"{gib(needed.mid)} ({number(needed.low / GIB)} to {number(needed.high / GIB)})",
        f"the {gib(usable)} that {found.gpu.name} offers",
        words.PHASES[found.budget.peak_phase],
        f"fits with its band is {found.largest:,}." if found.largest else "no micro-batch fits with its band.",
    ]
    assert [part for part in parts if part not in found.headline] == []


@every_situation
def test_the_verdict_is_that_of_the_numbers(situation: str) -> None:
    """It fits where even the upper end does, and what does not fit needs more than the GPU offers."""
    found = answer(situation)
    needed, usable = found.budget.device_bytes, found.gpu.usable_bytes
    assert (found.verdict == "fits") == (needed.high <= usable)
    assert found.verdict != "does not fit" or needed.mid > usable


@every_situation
def test_the_rows_are_the_phases_at_full_precision(situation: str) -> None:
    """The parts of each phase sum to it, none is below nothing, and those at the peak to the peak."""
    found = answer(situation)
    sums: dict[object, float] = {}
    for row in found.rows():
        amount = float(str(row["bytes"]))
        assert amount >= 0
        sums[row["phase"]] = sums.get(row["phase"], 0.0) + amount
    assert sums == pytest.approx(dict(found.budget.phases), rel=1e-9)
    peak = [float(str(row["bytes"])) for row in found.rows() if row["at_peak"]]
    assert sum(peak) == pytest.approx(found.budget.peak_bytes, rel=1e-9)


@every_situation
def test_the_map_holds_the_plan(situation: str) -> None:
    """The cell of the plan's own micro-batch and length needs what the plan does without a run of one's own."""
    found = answer(situation)
    fits, request = found.map, found.budget.request
    y = int(np.flatnonzero(fits.micro_batches == found.budget.micro_batch)[0])
    x = int(np.flatnonzero(fits.seq_lens == found.budget.seq_len)[0])
    own = memory.budget(
        request.architecture, micro_batch=found.budget.micro_batch, seq_len=found.budget.seq_len, **request.details
    )
    assert fits.device_bytes[y, x] == pytest.approx(own.device_bytes.mid, rel=1e-9)
    assert ("fits", "uncertain", "does not fit")[fits.verdicts[y, x]] == own.verdict(found.gpu)


@every_situation
def test_more_sequences_or_tokens_never_need_less(situation: str) -> None:
    """The map grows to the right and upwards."""
    needed = answer(situation).map.device_bytes
    assert bool(np.all(np.diff(needed, axis=0) >= 0))
    assert bool(np.all(np.diff(needed, axis=1) >= 0))


@pytest.mark.parametrize("name", plan.names())
def test_every_packaged_plan_answers(name: str) -> None:
    """Each plan that ships passes its own micro-batch and sequence length on, and has a verdict."""
    found, asked = answer(name), plan.read(name)
    assert (found.budget.micro_batch, found.budget.seq_len) == (asked.memory.micro_batch, asked.training.seq_len)
    assert found.verdict in ("fits", "uncertain", "does not fit")


def test_every_verdict_is_met() -> None:
    """The situations of these tests hold all three verdicts, so that each is told."""
    assert {answer(situation).verdict for situation in SITUATIONS} == {"fits", "uncertain", "does not fit"}


def test_a_footprint_is_the_budget_of_memory() -> None:
    """The plan's numbers are those of `memory.budget` with the same words."""
    found = answer("finetune-7b")
    ours = memory.budget(
        "llama-2-7b",
        micro_batch=1,
        seq_len=4096,
        precision="bf16-mixed",
        checkpointing="full",
        stack="fsdp2",
        sharding=memory.Sharding(data=8),
    )
    assert found.budget.device_bytes == ours.device_bytes


def test_every_key_of_memory_reaches_the_request() -> None:
    """What the plan says of precision, optimizer, loss, step, attention and padding is what is counted."""
    asked: dict[str, object] = {
        PRECISION: "bf16",
        "memory.optimizer": "lion",
        "memory.optimizer_step": "fused",
        "memory.loss": "chunked",
        "memory.attention": "eager",
        "memory.checkpointing": "full",
        "memory.padded": False,
        "memory.offload_optimizer": True,
        "memory.zero_stage": 2,
    }
    found = footprint("gpt2-124m-one-node", asked).budget.request
    told = (found.precision, found.optimizer, found.optimizer_step, found.loss, found.attention, found.checkpointing)
    assert told == ("bf16", "lion", "fused", "chunked", "eager", "full")
    assert (found.padded, found.offload_optimizer, found.zero) == (False, True, 2)


def test_gpus_that_nothing_else_takes_hold_copies() -> None:
    """Data parallelism is the GPUs over tensor, pipeline and context parallelism."""
    found = answer("every degree").budget.request.sharding
    assert (found.data, found.tensor, found.pipeline, found.context) == (8192 // 64, 8, 4, 2)


def test_the_division_is_told() -> None:
    """Copies and degrees stand in the key numbers, and ones don't."""
    facts = [dict(answer(name).facts).get("Divided by") for name in ("every degree", "experts", "one GPU")]
    assert facts == ["128 whole copies, tensor 8, pipeline 4, context 2", "8 copies, ZeRO 3, expert 8", None]


def test_adapters_are_those_of_the_plan() -> None:
    """Rank, matrices and the format of the frozen weights are counted, and the headline says which of the two it is."""
    quantized, plain = answer("qlora-7b-t4"), answer("lora-7b-a100")
    adapters = [found.budget.request.adapters for found in (quantized, plain)]
    assert adapters == [
        memory.Adapters(rank=16, targets="attention", quantized="nf4"),
        memory.Adapters(rank=8, targets="query-value"),
    ]
    assert [found.headline.split(" on ")[0] for found in (quantized, plain)] == ["QLoRA", "LoRA"]


def test_a_plan_without_an_architecture_gets_a_shape_of_its_size() -> None:
    """The shape has about the plan's parameters, and the first warning says that it is one of many."""
    found = answer("case-50k")
    assert found.architecture.n_params == pytest.approx(found.plan.model.n_params, rel=0.1)
    assert f"{found.architecture.name} is a plausible shape of its size." in found.warnings[0]


def test_a_batch_is_made_up_by_accumulation() -> None:
    """64 sequences on 8 GPUs with one each take 8 micro-batches a step, whose gradients then stay."""
    found = answer("batch")
    assert found.batch == memory.Batch(effective=64, micro_batch=1, accumulation=8, data=8)
    assert (found.budget.request.accumulates, dict(found.facts)["Batch"].split(" steps")[0]) == (True, "64 = 1 x 8")


def test_a_batch_of_one_micro_batch_accumulates_nothing() -> None:
    """It needs what a plan without a batch does."""
    found = footprint("finetune-7b", {BATCH: 8})
    assert found.budget.device_bytes == answer("finetune-7b").budget.device_bytes


def test_a_plan_without_a_batch_tells_none() -> None:
    """There is no accumulation to speak of."""
    found = answer("finetune-7b")
    assert (found.batch, "Batch" in dict(found.facts)) == (None, False)


def test_a_measured_peak_moves_the_estimate() -> None:
    """The middle of allocated and of reserved is then what the run had."""
    budget = answer("calibrated").budget
    plain = answer("finetune-7b").budget
    ratios = [
        budget.allocated_bytes.mid / plain.allocated_bytes.mid,
        budget.reserved_bytes.mid / plain.reserved_bytes.mid,
    ]
    assert ratios == pytest.approx([1.05, 1.06])


def test_a_measured_peak_narrows_the_band() -> None:
    """From the lower to the upper end of allocated bytes it is less of a factor than before."""
    measured, before = (answer(name).budget.allocated_bytes for name in ("calibrated", "finetune-7b"))
    assert measured.high / measured.low < before.high / before.low


def test_a_measured_peak_moves_the_largest_micro_batch() -> None:
    """A plan that a measured peak lets fit has a largest micro-batch of at least its own."""
    found = footprint("gpt2-124m-one-node", {RESERVED: 0.8})
    assert (found.verdict, found.largest >= found.budget.micro_batch) == ("fits", True)


@pytest.mark.parametrize("situation", ["finetune-7b", "gpt2-124m-one-node", "qlora-7b-t4", "llama-2-7b", "experts"])
def test_the_largest_micro_batch_is_the_last_that_fits(situation: str) -> None:
    """The plan with it fits with its band, with one more it does not."""
    name, overrides = SITUATIONS[situation]
    largest = answer(situation).largest
    tried = [footprint(name, {**overrides, MICRO: n}).verdict == "fits" for n in (largest, largest + 1) if n]
    assert tried == ([True, False] if largest else [False])


def test_more_gpus_never_need_more() -> None:
    """From one GPU to 16,384 each holds no more than before, communicators aside."""
    needed = [footprint("finetune-7b", {GPUS: n}).budget.peak_bytes for n in (1, 8, 64, 512, 4096, 16384)]
    assert [more for less, more in itertools.pairwise(needed) if more > less] == []


def test_a_published_peak_is_compared_with_what_it_is_of() -> None:
    """Allocated with allocated, reserved with reserved, and nothing where nothing is published."""
    allocated, reserved, none = (answer(name) for name in ("qlora-7b-t4", "torchtitan-8b", "finetune-7b"))
    assert (allocated.compared_bytes, reserved.compared_bytes) == (
        allocated.budget.allocated_bytes,
        reserved.budget.reserved_bytes,
    )
    assert (allocated.measured_bytes, none.measured_bytes) == (5.914 * GIB, None)


@pytest.mark.parametrize(("name", "within"), [("torchtitan-8b", 0.02), ("qlora-7b-t4", 0.01), ("lora-7b-a100", 0.02)])
def test_measured_plans_are_met(name: str, within: float) -> None:
    """The plans whose peak is published are within two per cent of it, and the key number says by how much."""
    found = answer(name)
    assert found.measured_bytes is not None
    assert found.compared_bytes.mid == pytest.approx(found.measured_bytes, rel=within)
    assert dict(found.facts)["Measured"].startswith(f"{gib(found.measured_bytes)} {found.measured_metric}, estimate ")


@every_situation
def test_what_fits_needs_no_way_out(situation: str) -> None:
    """Who has room is told how much, who has none is told the first way that fits, if there is one."""
    found = answer(situation)
    fitting_ways = [way for way in found.ways if way.verdict == "fits"]
    if found.verdict == "fits":
        expected = f"{gib(found.gpu.usable_bytes - found.budget.device_bytes.mid)} are left."
    else:
        expected = ", ".join(fitting_ways[0].changes) if fitting_ways else "Use more GPUs, or larger ones."
    assert expected in found.way_out


@pytest.mark.parametrize("situation", ["finetune-7b", "gpt2-124m-one-node", "405B", "one GPU"])
def test_every_way_needs_less(situation: str) -> None:
    """No change is listed that does not help; behind the best of all single ones stand cheapest first."""
    found = answer(situation)
    alone = [way for way in found.ways if len(way.changes) == 1]
    speeds = [way.throughput.mid for way in (alone if found.verdict == "fits" else alone[1:])]
    assert speeds == sorted(speeds, reverse=True)
    assert [way for way in found.ways if way.budget.device_bytes.mid >= found.budget.device_bytes.mid] == []


def test_the_room_is_what_the_map_says() -> None:
    """The lengths of the sentence are the last that fit, in the row of one sequence and in the plan's own."""
    found = answer("pipeline")
    fits = found.map
    ends = [int(fits.seq_lens[fits.verdicts[fits.micro_batches == n][0] == 0].max()) for n in (1, 4)]
    assert found.room == (
        f"Of these lengths, one sequence fits with its band up to {ends[0]:,} tokens, 4 up to {ends[1]:,}."
    )


def test_the_map_stays_within_learned_positions() -> None:
    """A model that has learned 1,024 positions is asked for no more."""
    assert answer("gpt2-124m-one-node").map.seq_lens.max() == 1024


def test_the_map_holds_lengths_that_can_be_divided() -> None:
    """Under context parallelism each length is a multiple of its degree."""
    lengths = footprint("finetune-7b", {CONTEXT: 8, LENGTH: 1000}).map.seq_lens
    assert (1000 in lengths, set((lengths % 8).tolist())) == (True, {0})


def test_formats_hold_the_plan_as_it_is() -> None:
    """The row of the plan's own format has the plan's own numbers."""
    found = answer("finetune-7b")
    (own,) = [one for one in fitting.formats(found) if (one.precision, one.optimizer) == ("bf16-mixed", "adamw")]
    assert (own.budget.device_bytes, own.verdict, own.largest) == (
        found.budget.device_bytes,
        found.verdict,
        found.largest,
    )


@pytest.mark.parametrize(("precision", "n_bytes"), [("fp32", 16), ("bf16-mixed", 16), ("bf16", 8)])
def test_bytes_of_a_parameter_are_the_well_known_ones(precision: str, n_bytes: float) -> None:
    """Weights, gradients and two moments: 16 bytes in FP32 and mixed precision, 8 in pure BF16."""
    found = {(one.precision, one.optimizer): one for one in fitting.formats(answer("finetune-7b"))}
    assert found[precision, "adamw"].bytes_per_param == pytest.approx(n_bytes, abs=0.01)


def test_formats_that_the_gpu_does_not_have_are_left_out() -> None:
    """A V100 has neither BF16 nor FP8."""
    assert {one.precision for one in fitting.formats(answer("V100"))} == {"fp32", "fp16-mixed"}


@pytest.mark.parametrize("situation", ["finetune-7b", "gpt2-124m-one-node", "V100", "qlora-7b-t4"])
def test_the_best_setting_is_the_fastest_that_fits(situation: str) -> None:
    """No other setting that fits with its band is faster."""
    found = compared(situation)
    assert found.best is not None
    assert found.best.throughput.mid == max(one.throughput.mid for one in found.choices if one.verdict == "fits")


def test_no_setting_that_fits_is_said_so() -> None:
    """There is no best then, and the sentence counts what was tried."""
    found = compared("405B")
    assert (found.best, found.sentence) == (
        None,
        f"None of these {len(found.choices)} settings fits with its band on A100-SXM4-80GB.",
    )


def test_ways_and_settings_agree() -> None:
    """Where a setting fits with its band the way out does not say that nothing does."""
    assert compared("V100").best is not None
    assert not answer("V100").way_out.startswith("Nothing listed fits")


@pytest.mark.parametrize(
    ("situation", "sentence"),
    [
        ("case-50k", "The plan names no architecture"),
        ("FP8", "FP8 saves next to nothing here"),
        ("eager", "Eager attention writes out every score"),
        ("experts", "Experts get uneven shares"),
        ("pipeline", "Pipeline parallelism under FSDP2 was not scored"),
        ("deepspeed", "its one table does not say what it measured"),
        ("gpt2-124m-one-node", "what the allocator wastes on top decides"),
    ],
)
def test_what_must_be_known_is_a_warning(situation: str, sentence: str) -> None:
    """Each doubt has its sentence, once, and a plain plan has none."""
    assert len([text for text in answer(situation).warnings if sentence in text]) == 1
    assert [text for text in answer("finetune-7b").warnings if sentence in text] == []


REFUSED: dict[str, tuple[str, dict[str, object], str]] = {
    "batch": ("finetune-7b", {BATCH: 12}, "memory.effective_batch is 12, no multiple of 8 .*: use 8 or 16$"),
    "batch too small": ("finetune-7b", {BATCH: 4}, "memory.effective_batch is 4, no multiple of 8 .*: use 8$"),
    "tensor": ("finetune-7b", {TENSOR: 3}, "hardware.n_gpus is 8, .* tensor 3 .*: use a multiple of 3,"),
    "more than there are": ("finetune-7b", {TENSOR: 4, PIPELINE: 4}, "hardware.n_gpus is 8, .*: use a multiple of 16,"),
    "context": (
        "finetune-7b",
        {CONTEXT: 8, LENGTH: 1001},
        "training.seq_len is 1,001, which memory.context_parallel 8 does not divide: use 1,000$",
    ),
    "positions": ("gpt2-124m-one-node", {LENGTH: 2048}, "gpt2 has 1,024 learned positions: use at most 1,024 tokens$"),
    "experts": (
        "finetune-7b",
        {SHAPE: "mixtral-8x7b", "memory.expert_parallel": 3},
        "memory.expert_parallel is 3; experts are spread over",
    ),
    "no such format": ("case-50k", {GPU: "V100-SXM2-16GB", PRECISION: "bf16-mixed"}, "V100-SXM2-16GB does not have"),
    "adapters elsewhere": (
        "finetune-7b",
        {"memory.adapter_rank": 16},
        "memory.adapter_rank is given, but adapters are modelled for stack 'huggingface'",
    ),
    "adapters on gpt2": ("qlora-7b-t4", {SHAPE: "gpt2"}, "not for gpt2 .*leave them out"),
    "zero": ("finetune-7b", {"memory.zero_stage": 1}, "memory.zero_stage is 1, but FSDP2 always shards"),
    "compiled": ("case-50k", {"memory.compiled": True}, "memory.compiled is True, .* 'fsdp2', not 'huggingface'"),
    "too small a model": ("case-50k", {"model.n_params": 1e6}, "it must be a number from 5.00M"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_t_be_together_is_one_sentence(case: str) -> None:
    """The error is one line that names what was given and what can be."""
    name, overrides, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as error:
        footprint(name, overrides)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in (MICRO, BATCH, TENSOR, GPUS) for value in (0, -1, 1.5, float("nan"))),
        (PRECISION, "fp4"),
        ("memory.zero_stage", 4),
        ("memory.stack", "jax"),
        ("memory.adapter_targets", "everything"),
        (ALLOCATED, 0.0),
        ("memory.compiled", "maybe"),
    ],
)
def test_a_value_of_memory_that_is_none_is_refused_by_its_key(key: str, value: Any) -> None:
    """The plan itself is refused, in a sentence that starts with the key."""
    with pytest.raises(plan.PlanError, match=rf"^{re.escape(key)} ") as error:
        plan.read("case-50k", {key: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("gpu", tables.gpus())
def test_every_gpu_has_an_answer(gpu: str) -> None:
    """Each GPU of the table can be asked with a format that it has, and its headline names it."""
    precision = "fp16-mixed" if "fp16" in tables.gpu(gpu).peak_flop_per_s else "bf16-mixed"
    assert f" that {gpu} offers" in footprint("finetune-7b", {GPU: gpu, PRECISION: precision}).headline


@pytest.mark.parametrize("shape", architectures.names())
def test_every_architecture_has_an_answer(shape: str) -> None:
    """Each named shape fits into a budget whose parts are those of its model."""
    found = footprint("finetune-7b", {SHAPE: shape, LENGTH: 512})
    assert (found.architecture.name, found.budget.peak_bytes > 0) == (shape, True)


@pytest.mark.parametrize(
    "overrides", [{MICRO: 4}, {LENGTH: 1024}, {"memory.checkpointing": "none"}, {PRECISION: "fp32"}, {GPUS: 16}]
)
def test_a_ratio_carries_over_to_other_settings(overrides: dict[str, object]) -> None:
    """Whatever is changed after it was measured, the estimate is that of the settings times the ratio."""
    mine = plan.fitting.measured(plan.read("finetune-7b"), reserved_gib=18.5)
    moved, plain = (plan.footprint(plan.replace(one, overrides)) for one in (mine, plan.read("finetune-7b")))
    assert mine.memory.reserved_ratio == pytest.approx(
        18.5 * GIB / answer("finetune-7b").budget.reserved_bytes.mid, rel=1e-3
    )
    assert moved.budget.reserved_bytes.mid / plain.budget.reserved_bytes.mid == pytest.approx(
        mine.memory.reserved_ratio
    )


def test_a_peak_of_its_own_is_met() -> None:
    """The plan with the ratios says what was measured, and measuring it again changes nothing."""
    mine = plan.fitting.measured(plan.read("finetune-7b"), allocated_gib=15.0, reserved_gib=18.5)
    budget = plan.footprint(mine).budget
    assert [budget.allocated_bytes.mid / GIB, budget.reserved_bytes.mid / GIB] == pytest.approx([15.0, 18.5], rel=1e-3)
    assert plan.fitting.measured(mine, allocated_gib=15.0, reserved_gib=18.5) == mine


@pytest.mark.parametrize(
    ("peaks", "sentence"),
    [
        ({"reserved_gib": 90.0}, "reserved_gib is 90, more than the 79.1 GiB that A100-SXM4-80GB offers"),
        ({"allocated_gib": 1.0}, "allocated_bytes is 1.00 GiB, where 14.4 GiB are expected"),
        ({"allocated_gib": 20.0, "reserved_gib": 15.0}, "which it is part of"),
        ({}, "nothing was measured"),
        ({"reserved_gib": "18"}, "reserved_gib is '18'; it must be a number of GiB"),
        ({"reserved_gib": float("nan")}, "reserved_bytes is nan"),
    ],
)
def test_what_can_t_be_a_peak_is_refused(peaks: dict[str, Any], sentence: str) -> None:
    """More than there is, far from what is expected, or not of one run."""
    with pytest.raises(ValueError, match=sentence):
        plan.fitting.measured(plan.read("finetune-7b"), **peaks)


def test_ratios_outside_the_band_are_doubted() -> None:
    """A run of this stack never was so far off."""
    near, far = (footprint("finetune-7b", {RESERVED: ratio}).warnings for ratio in (1.05, 1.6))
    assert ["make sure" in " ".join(texts) for texts in (near, far)] == [False, True]


def test_a_published_peak_is_of_the_plan_as_it_is() -> None:
    """Another model, GPU, length or setting is another run; the price of an hour, or going back, is not."""
    changes: list[dict[str, object]] = [{MICRO: 2}, {SHAPE: "llama-2-7b"}, {GPU: "L4"}, {LENGTH: 512}]
    same: list[dict[str, object]] = [{}, {"hardware.usd_per_gpu_hour": 1.0}, {"memory.zero_stage": 0}]
    told = [footprint("qlora-7b-t4", changed).measured_bytes for changed in (*changes, *same)]
    assert told == [None] * 4 + [5.914 * GIB] * 3
    back = plan.replace(plan.replace(plan.read("qlora-7b-t4"), {MICRO: 2}), {MICRO: 1})
    assert plan.footprint(back).measured_bytes == 5.914 * GIB


@pytest.mark.parametrize("overrides", [{"memory.stack": "megatron"}, {"memory.stack": "deepspeed"}, {GPUS: 1}])
def test_formats_leave_out_what_a_stack_does_not_have(overrides: dict[str, object]) -> None:
    """Every stack has a table of formats, the plan's own first."""
    found = fitting.formats(footprint("llama-3-8b", overrides))
    assert (found[0].precision, found[0].optimizer) == ("bf16-mixed", "adamw")


@pytest.mark.parametrize("overrides", [{"memory.checkpointing": "selective"}, {MICRO: 24}, {"memory.zero_stage": 3}])
def test_the_plan_is_among_its_settings(overrides: dict[str, object]) -> None:
    """Its own speed is the measure of the others."""
    found = fitting.settings(footprint("case-50k", overrides))
    assert found.speed(found.own) == 1.0


def test_the_answer_as_numbers() -> None:
    """Verdict, largest micro-batch and bytes, as a program reads them."""
    found = answer("finetune-7b")
    numbers = found.numbers()
    assert (numbers["verdict"], numbers["largest_micro_batch"]) == (found.verdict, found.largest)
    assert numbers["device_bytes"] == {
        "low": found.budget.device_bytes.low,
        "mid": found.budget.device_bytes.mid,
        "high": found.budget.device_bytes.high,
    }


@every_situation
def test_the_table_of_phases_is_whole(situation: str) -> None:
    """A row for each part that lives at some time, and their sum."""
    rows = answer(situation).phase_table()
    parts = {part for of_phase in answer(situation).budget.fullest.phase_parts.values() for part in of_phase}
    assert ({row["GiB"] for row in rows}, rows[-1]["GiB"]) == (parts | {"all"}, "all")


def test_adapters_cost_two_thirds_a_token() -> None:
    """Frozen weights have no gradients of their own to compute: 4 FLOP a parameter and token, not 6."""
    plain: dict[str, object] = {
        "memory.adapter_rank": None,
        "memory.frozen_weights": "16-bit",
        "memory.adapter_targets": "attention",
    }
    usd = [
        found.usd_per_billion_tokens(found.own)
        for found in (fitting.settings(answer("lora-7b-a100")), fitting.settings(footprint("lora-7b-a100", plain)))
    ]
    assert usd[0] / usd[1] == pytest.approx(2 / 3)
