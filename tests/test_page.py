import functools
import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import plan, tables, training
from costkit.plan import Page, costing
from costkit.plan.costing.ledger import stored_gb, with_final
from costkit.plan.published import published
from costkit.plan.reached import batch_tokens, reached
from costkit.units import DAY, HOUR, Range

MFU, GOODPUT, GPUS, GPU, PRICE = (
    "training.mfu",
    "training.goodput_fraction",
    "hardware.n_gpus",
    "hardware.gpu",
    "hardware.usd_per_gpu_hour",
)
RATE, STEP, BATCH, WAIT = (
    f"training.{name}" for name in ("tokens_per_s_per_gpu", "step_s", "batch_tokens", "loader_wait_s")
)
PURCHASE, LIFE, EVERY, DEADLINE = (
    "market.purchase",
    "market.node_life_h",
    "training.checkpoint_every_min",
    "market.deadline_days",
)
PRECISION, LENGTH, TOKENS, SIZE = "memory.precision", "training.seq_len", "data.n_tokens", "model.n_params"
ABLATIONS = "scope.ablations_fraction"

Situation = tuple[str, dict[str, object]]
SITUATIONS: dict[str, Situation] = {
    **{name: (name, {}) for name in plan.names()},
    "no MFU": ("case-50k", {MFU: None, GOODPUT: None, PRECISION: "bf16-mixed"}),
    "MFU alone": ("case-50k", {GOODPUT: None}),
    "goodput alone": ("case-50k", {MFU: None, GOODPUT: 0.9}),
    "measured rate": ("mpt-7b", {RATE: 3_000}),
    "measured step": ("mpt-7b", {STEP: 3.0, BATCH: 4e6, WAIT: 0.4}),
    "scope": ("mpt-7b", {ABLATIONS: 0.5, "scope.idle_fraction": 0.1, "scope.data_usd": 5e5, "scope.egress_gb": 1e6}),
    "spot": ("mpt-7b", {PURCHASE: "spot", LIFE: 1000, PRICE: 0.9}),
    "hopeless spot": ("llama-3-8b", {PURCHASE: "spot", LIFE: 0.01, PRICE: 1.2}),
    "no checkpoints": ("mpt-7b", {EVERY: math.inf}),
    "late": ("mpt-7b", {DEADLINE: 2}),
    "maybe late": ("mpt-7b", {DEADLINE: 12}),
    "in time": ("mpt-7b", {DEADLINE: 100}),
    "dated": ("mpt-7b", {"market.starts_on": "2027-01-30", "market.ends_by": "2027-02-20"}),
    "TPU": ("mpt-7b", {GPU: "TPU-v5e", PRECISION: "bf16", PRICE: 1.2}),
    "B200": ("mpt-7b", {GPU: "B200-SXM-180GB", PRICE: 5}),
    "one T4": ("case-50k", {GPU: "T4", GPUS: 1, MFU: None, GOODPUT: None, PRICE: 0.35}),
    "million GPUs": ("llama-3-8b", {GPUS: 1_000_000}),
    "tiny": ("case-50k", {SIZE: 6e6, TOKENS: 1e6, MFU: None, GOODPUT: None}),
    "vast": ("case-50k", {SIZE: 1e13, TOKENS: 1e15, MFU: None, GOODPUT: None}),
    "evaluation": ("mpt-7b", {"training.evaluation_fraction": 0.2, "training.spare_fraction": 0.1}),
    "no loss": ("mpt-7b", {"training.law": "deepseek-2024"}),
    "limited data": ("mpt-7b", {"data.unique_tokens": 1e11}),
    "hopeless spot that waits": (
        "mpt-7b",
        {PURCHASE: "spot", LIFE: 0.01, PRICE: 0.9, STEP: 3.0, BATCH: 4e6, WAIT: 0.4},
    ),
    "batch below one sequence a GPU": ("finetune-7b", {BATCH: 2048, GPUS: 32}),
    "adapters": ("lora-7b-a100", {GOODPUT: 1.0}),
    "edited": ("mpt-7b", {TOKENS: 2e12}),
}
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


def page(name: str, overrides: dict[str, object] | None = None) -> Page:
    """The page of a packaged plan with overrides."""
    return plan.page(plan.read(name, overrides))


@functools.cache
def answer(situation: str) -> Page:
    """The page of one of the situations, computed once."""
    return page(*SITUATIONS[situation])


def is_ordered(value: Range) -> bool:
    """Whether low, middle and high are in that order."""
    return value.low <= value.mid <= value.high


@every_situation
def test_a_bill_is_the_sum_of_its_lines(situation: str) -> None:
    """The whole is its parts, at each end."""
    found = answer(situation)
    for end in ("low", "mid", "high"):
        assert getattr(found.usd, end) == pytest.approx(sum(getattr(line.usd, end) for line in found.lines), rel=1e-12)


@every_situation
def test_a_range_is_in_order(situation: str) -> None:
    """Low, middle and high of dollars, hours and time do not cross."""
    run = answer(situation).final.run
    assert all(map(is_ordered, (answer(situation).usd, run.usd, run.gpu_hours, run.wall_s, run.mfu)))


@every_situation
def test_a_sentence_holds_numbers_that_are_some(situation: str) -> None:
    """Nothing that is told holds `nan`, `inf` or a name of Python's."""
    found = answer(situation)
    sentences = [found.headline, found.drivers, found.risk, found.rules_of_thumb, found.programme, *found.warnings]
    told = " ".join([*sentences, *(text for _, text in found.facts)])
    assert not any(word in told.split() for word in ("nan", "inf", "None", "Range"))
    assert all(sentence.endswith((".", "?")) and "  " not in sentence for sentence in sentences)


@every_situation
def test_a_swing_is_around_the_bill(situation: str) -> None:
    """What moves the bill has the plan's own between its ends, and the widest comes first."""
    found = answer(situation)
    assert all(
        one.low_usd <= found.usd.mid * (1 + 1e-9) and one.high_usd >= found.usd.mid * (1 - 1e-9) for one in found.swings
    )
    assert [one.width_usd for one in found.swings] == sorted((one.width_usd for one in found.swings), reverse=True)


@every_situation
def test_numbers_are_what_json_can_hold(situation: str) -> None:
    """Every number is finite or None."""
    values = [
        *answer(situation).numbers().values(),
        *(cell for row in answer(situation).rows() for cell in row.values()),
    ]
    flat = [item for value in values for item in (value.values() if isinstance(value, dict) else [value])]
    assert all(not isinstance(item, float) or math.isfinite(item) for item in flat)


@every_situation
def test_more_gpus_take_less_time_until_the_batch_is_too_large(situation: str) -> None:
    """On halves and doubles of the plan's GPUs time falls while the tokens stay the same, and dollars never fall."""
    points = costing.fleets(answer(situation)).points
    pairs = list(itertools.pairwise(points))
    assert all(b.wall_s.mid < a.wall_s.mid or math.isinf(a.wall_s.mid) for a, b in pairs if b.tokens_ratio == 1)
    assert all(b.usd.mid >= a.usd.mid * (1 - 1e-12) for a, b in pairs)


@every_situation
def test_the_plans_own_gpus_are_among_the_numbers(situation: str) -> None:
    """The point of the plan itself is the plan's final run."""
    found = answer(situation)
    own, run = costing.fleets(found).own, found.final.run
    assert own.n_gpus == found.plan.hardware.n_gpus
    assert [own.usd.mid, own.wall_s.mid] == pytest.approx([run.usd.mid, run.wall_s.mid])


# What the MFU comes from.


def test_the_case_is_told_as_it_was() -> None:
    """Its MFU follows from its 18 days, so the page gives them back, and the $42,275 that they cost."""
    found = answer("case-50k")
    assert (round(found.final_usd), round(found.wall_s.mid / DAY, 1)) == (42_275, 18.0)
    assert found.headline.startswith(
        "Training a model of 3.00B parameters on 60.0B tokens costs $42,279 and takes 18.0 days"
    )


def test_a_plan_without_mfu_has_that_of_published_runs() -> None:
    """The run's MFU is `training.efficiency`'s, end by end."""
    found = answer("no MFU")
    like = training.efficiency(gpu="A100-SXM4-80GB", n_params=3e9, n_gpus=32, seq_len=2048)
    assert found.final.run.mfu == like.mfu
    assert found.final.reached.basis == "published runs"


def test_goodput_of_the_plans_own_takes_the_place_of_theirs() -> None:
    """With a goodput of 90% the hours are those of the steady MFU over 0.9."""
    both = answer("goodput alone").final.reached
    assert both.run_mfu.mid == pytest.approx(training.steady_mfu(both.published.mfu).mid * 0.9)


def test_a_measured_rate_narrows_the_range() -> None:
    """What is left open is goodput, which is less than what published runs differ by."""
    width = [answer(name).usd.high / answer(name).usd.low for name in ("measured rate", "mpt-7b")]
    assert width[0] < width[1]
    assert answer("measured rate").final.reached.mfu.mid == pytest.approx(6 * 6.65e9 * 3_000 / 312e12)


def test_a_measured_step_is_a_rate() -> None:
    """4M tokens every 3 seconds on 440 GPUs are 3,030 tokens per second and GPU."""
    by_step, by_rate = (
        reached(plan.read("mpt-7b", how)).mfu.mid for how in ({STEP: 3.0, BATCH: 4e6}, {RATE: 4e6 / 3 / 440})
    )
    assert by_step == pytest.approx(by_rate)


def test_a_rate_of_all_gpus_is_asked_about() -> None:
    """A rate that one GPU cannot reach is refused with the rate that it can."""
    with pytest.raises(ValueError, match=r"training\.tokens_per_s_per_gpu: .* are they those of all GPUs together\?"):
        page("mpt-7b", {RATE: 1_300_000})


def test_without_a_batch_one_micro_batch_a_copy_is_counted() -> None:
    """440 GPUs with one sequence of 2,048 tokens each."""
    assert batch_tokens(plan.read("mpt-7b", {BATCH: None})) == 440 * 2048


def test_what_is_set_aside_lengthens_the_run() -> None:
    """A fifth for evaluation and a tenth of spares leave 0.8 / 1.1 of the paid time."""
    assert answer("evaluation").final.run.mfu.mid == pytest.approx(answer("mpt-7b").final.run.mfu.mid * 0.8 / 1.1)


def test_a_run_that_never_saves_is_held_up_by_its_settings() -> None:
    """Without checkpoints a failure costs all that was done, and that is what is counted."""
    found = answer("no checkpoints")
    assert found.final.is_held_up_by_its_settings
    assert found.final_usd > 2 * answer("mpt-7b").final_usd
    assert any("Failures and checkpoints as the plan sets them leave" in text for text in found.warnings)


def test_fp32_of_the_lesson_is_slower_than_its_18_days() -> None:
    """An A100 without tensor cores does not reach the MFU that 18 days imply, and the page says so first."""
    assert (
        "an MFU of 6.96% is more than FP32 can give on A100-SXM4-80GB, 6.25% of the 16-bit peak"
        in answer("case-50k").risk
    )


# Published runs.


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.xfail(
                reason="llm.c's hand-written kernels on one node beat nine in ten of the runs like it", strict=True
            )
            if name == "gpt2-124m-one-node"
            else (),
        )
        for name in plan.names()
        if plan.read(name).case.published_run
    ],
)
def test_what_a_published_run_took_lies_in_its_band(name: str) -> None:
    """The estimate without the run's team holds what happened."""
    truth = answer(name).truth
    assert truth is not None
    assert truth.is_inside


def test_adapters_compute_two_thirds() -> None:
    """Frozen weights need no gradients of their own, on the page as in notebook 03."""
    found = answer("adapters")
    assert found.final.flop == pytest.approx(2 / 3 * 6 * found.n_active_params * 50e6)


def test_a_published_run_is_not_told_its_own_answer() -> None:
    """Without the case's name the family is learned from, and the estimate moves towards what it took."""
    blind, told = (reached(plan.read("llama-2-7b", how)).run_mfu.mid for how in ({}, {"case.published_run": None}))
    truth = 6 * 6.738415616e9 * 2e12 / (184_320 * HOUR * 312e12)
    assert abs(math.log(told / truth)) < abs(math.log(blind / truth))


def test_an_edited_run_has_no_truth_beside_it() -> None:
    """Twice the tokens are another run than the one that was published."""
    assert answer("edited").truth is None


def test_the_hours_of_a_published_run_are_those_of_its_row() -> None:
    """MPT-7B's 100,320 hours at its $2 are the $200,000 that were published."""
    truth = answer("mpt-7b").truth
    assert truth is not None
    assert (truth.gpu_hours, truth.usd) == (tables.published_run("MPT-7B").gpu_hours, 200_640)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, (100_320, 9.5, 200_000)),
        ({"case.published_gpu_hours": 5e4}, (5e4, 9.5, 200_000)),
        ({"case.published_run": None}, (None, None, 200_000)),
    ],
    ids=["of the row", "of both", "of the case"],
)
def test_a_cases_own_figures_come_before_its_rows(
    changed: dict[str, object], expected: tuple[float | None, ...]
) -> None:
    """What the case says counts, one figure at a time, and the row of the published run has the others."""
    known = published(plan.read("mpt-7b", changed))
    assert (known.gpu_hours, known.days, known.usd) == expected


# Scope, spot, price, deadline.


def test_scope_moves_with_the_run() -> None:
    """Half of the run's hours in ablations cost half of the run."""
    found = answer("scope")
    line = next(line for line in found.lines if line.name == "Ablations")
    assert line.usd.mid == pytest.approx(found.final_usd / 2)


def test_a_programme_is_another_line_of_the_table() -> None:
    """SmolLM3's programme was 1.58 times its final run: 437,760 hours around 276,480."""
    (smollm,) = [one for one in costing.programmes() if one.name == "SmolLM3"]
    assert smollm.multiple == pytest.approx(437_760 / 276_480, abs=0.005)


def test_spot_costs_what_notebook_02_says_and_what_runs_lose_besides() -> None:
    """The middle of the run's bill is the mean of the simulated ones over the goodput that is left for other losses."""
    found = answer("spot")
    simulated = plan.savings(found.plan).usd.mid
    assert found.final_usd == pytest.approx(simulated / found.final.reached.goodput.mid, rel=0.01)


def test_spot_without_interruptions_costs_what_on_demand_does() -> None:
    """At the same price, machines that are hardly ever taken away are worth the same."""
    spot = page("mpt-7b", {PURCHASE: "spot", LIFE: 1e6})
    assert spot.final_usd == pytest.approx(answer("mpt-7b").final_usd, rel=0.01)


def test_a_run_that_failures_outpace_has_no_end_on_demand_either() -> None:
    """Ten million GPUs fail faster than a checkpoint is written."""
    found = page("llama-3-8b", {GPUS: 10_000_000})
    assert found.final.is_endless
    assert "failures come too often for its checkpoints" in found.headline


def test_a_short_run_without_checkpoints_is_a_short_run() -> None:
    """Two hours without a failure need no checkpoint."""
    bill = page("gpt2-124m-one-node", {EVERY: math.inf}).usd.mid
    assert bill == pytest.approx(answer("gpt2-124m-one-node").usd.mid, rel=0.05)


def test_spares_are_paid_for_and_lengthen_nothing() -> None:
    """Half as many GPUs again stand beside: dollars rise by half, days do not."""
    own, spared = answer("mpt-7b"), page("mpt-7b", {"training.spare_fraction": 0.5})
    assert spared.final_usd == pytest.approx(1.5 * own.final_usd)
    assert spared.wall_s.mid == pytest.approx(own.wall_s.mid)


def test_what_it_took_does_not_follow_the_plan_s_gpus() -> None:
    """The lesson's run had 32 GPUs for 18 days, however many are planned now."""
    truth = page("case-50k", {GPUS: 256}).truth
    assert truth is not None
    assert truth.gpu_hours == 32 * 18 * 24


def test_a_run_that_the_plan_is_not_has_no_truth_beside_it() -> None:
    """Naming somebody's run does not make a 3B plan one of 405B."""
    assert page("case-50k", {"case.published_run": "Llama 3.1 405B"}).truth is None


def test_fleets_meet_the_failures_of_their_own_number() -> None:
    """Each point's goodput is that of a plan with so many GPUs."""
    found = answer("llama-3-1-405b")
    points = {point.n_gpus: point for point in costing.fleets(found).points}
    there = page("llama-3-1-405b", {GPUS: 32768})
    tax = training.weak_scaling().mid
    assert points[32768].gpu_hours.mid * tax == pytest.approx(
        found.final.run.gpu_hours.mid * found.final.kept_fraction / there.final.kept_fraction
    )


def test_milliseconds_for_seconds_are_asked_about() -> None:
    """A step of 3,000 seconds is an MFU that no run had, and a warning says so."""
    assert any("are its seconds" in text for text in page("mpt-7b", {STEP: 3_000.0, BATCH: 4e6}).warnings)


def test_a_plan_whose_spot_market_cannot_be_is_answered_on_demand() -> None:
    """A hypothetical way of buying that has no price of its own is no alternative, and no error."""
    assert "Buying on spot" not in {one.what for one in page("mpt-7b", {PRICE: 0.002}).swings}


def test_hopeless_spot_has_no_bill() -> None:
    """A run that never finishes has no end of dollars, and the headline says so."""
    found = answer("hopeless spot")
    assert math.isinf(found.usd.mid)
    assert "practically never finishes" in found.headline


@pytest.mark.parametrize(
    ("situation", "lateness"), [("late", "late"), ("maybe late", "maybe late"), ("in time", "in time")]
)
def test_a_deadline_is_held_against_the_range(situation: str, lateness: str) -> None:
    """Late in the middle, late at the slow end, or in time even then."""
    assert answer(situation).lateness == lateness


def test_a_deadline_by_day_counts_from_the_first_day() -> None:
    """From 30 January to 20 February are 21 days."""
    assert answer("dated").deadline_s == 21 * DAY


def test_a_deadline_before_the_start_is_past() -> None:
    """The sentence names both days."""
    with pytest.raises(plan.PlanError, match="the deadline is past before the run starts"):
        plan.read("mpt-7b", {"market.starts_on": "2027-01-30", "market.ends_by": "2027-01-29"})


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_the_price_multiplies_the_final_run(factor: float) -> None:
    """Another price changes dollars alone, and by as much."""
    own, changed = answer("mpt-7b").final.run, page("mpt-7b", {PRICE: 2.0 * factor}).final.run
    assert changed.gpu_hours == own.gpu_hours
    assert changed.usd.mid == pytest.approx(own.usd.mid * factor)


@pytest.mark.parametrize("situation", ["llama-2-7b", "case-50k", "measured rate"])
def test_a_flip_price_makes_two_gpus_equal(situation: str) -> None:
    """At the price that a table names, the plan's own GPU costs as much as the other one."""
    found = answer(situation)
    other = next(one for one in costing.hardware(found) if not one.is_own)
    name, overrides = SITUATIONS[situation]
    changed = page(name, {**overrides, PRICE: other.flip_usd_per_gpu_hour})
    assert changed.final_usd == pytest.approx(other.run.usd.mid)


def test_the_plan_s_own_gpu_is_the_plan_s_own_run() -> None:
    """Among other GPUs the plan's own stands at its own price and MFU."""
    (own,) = [one for one in costing.hardware(answer("case-50k")) if one.is_own]
    assert (own.run, own.flip_usd_per_gpu_hour) == (answer("case-50k").final.run, None)


def test_another_gpu_that_is_advised_may_have_the_memory() -> None:
    """What does not fit is no alternative, however cheap."""
    for situation in SITUATIONS:
        named = [one.low_label for one in answer(situation).swings if one.what == "Another GPU"]
        placed = {f"{one.on.gpu.name} at": one.verdict for one in costing.hardware(answer(situation))}
        verdicts = [verdict for name, verdict in placed.items() for label in named if label.startswith(name)]
        assert "does not fit" not in verdicts


@given(factor=st.floats(0.1, 10))
def test_what_the_final_run_costs_moves_the_bill_with_its_scope(factor: float) -> None:
    """Half as much again in ablations moves with it; data and storage do not."""
    found = answer("scope")
    fixed = sum(line.usd.mid for line in found.lines if line.gpu_hours is None)
    expected = fixed + factor * (found.usd.mid - fixed)
    assert with_final(found, factor * found.final_usd) == pytest.approx(expected)


# Other GPUs.


@every_situation
def test_hardware_is_sorted_by_its_bill(situation: str) -> None:
    """The cheapest comes first, each with a verdict of memory."""
    placed = costing.hardware(answer(situation))
    bills = [one.run.usd.mid for one in placed]
    assert bills == sorted(bills)
    assert {one.verdict for one in placed} <= {"fits", "uncertain", "does not fit", "cannot be said"}


def test_a_stall_is_priced_over_the_run() -> None:
    """0.4 of 3 seconds are 13% of what computing costs: stops don't wait for input."""
    found = answer("measured step")
    assert found.stall is not None
    assert found.stall.usd == pytest.approx(found.lines[0].usd.mid * 0.4 / 3.0)


def test_no_stall_is_made_up() -> None:
    """A plan that measured none has none."""
    assert answer("mpt-7b").stall is None


def test_a_price_outside_all_quotes_is_told() -> None:
    """Cheaper than anybody on the list, and the list is named."""
    assert any("is outside them" in text for text in page("new-run", {PRICE: 1.9}).warnings)


@pytest.mark.parametrize(("n_gpus", "days"), [(96, 20), (128, 20), (128, 28), (8, 30)])
def test_a_deadline_names_the_fewest_nodes_that_meet_it(n_gpus: int, days: int) -> None:
    """A plan of so many GPUs is in time at its slow end, a node less is late; doubles alone would be far too many."""
    found = costing.fleets(page("new-run", {GPUS: n_gpus, DEADLINE: days})).in_time
    assert found is not None
    assert found.n_gpus & (found.n_gpus - 1)
    assert found.wall_s.high <= days * DAY
    one_less = costing.fleets(page("new-run", {GPUS: n_gpus, DEADLINE: found.wall_s.high * (1 - 1e-9) / DAY})).in_time
    assert one_less is not None
    assert one_less.n_gpus == found.n_gpus + 8


def test_fleets_on_spot_wait_for_machines_as_their_number_does() -> None:
    """Each point is late by the waits of a plan with so many GPUs, not by those of the plan's own."""
    on_spot = {PURCHASE: "spot", LIFE: 1000, "market.capacity_wait_min": 600.0}
    found = page("mpt-7b", on_spot)
    point = next(point for point in costing.fleets(found).points if point.n_gpus == 2 * found.plan.hardware.n_gpus)
    there = page("mpt-7b", {**on_spot, GPUS: point.n_gpus}).final.run
    assert there.waiting_ratio(point.n_gpus) > 1.01 * found.final.run.waiting_ratio(found.plan.hardware.n_gpus)
    assert point.wall_s.mid * point.n_gpus / (point.gpu_hours.mid * HOUR) == pytest.approx(
        there.waiting_ratio(point.n_gpus)
    )


def test_the_spot_swing_is_told_at_the_price_that_it_pays(tmp_path: Path) -> None:
    """A record of prices takes the discount's place in the bill, and in the words beside it."""
    record = tmp_path / "prices.csv"
    stamps = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3))
    lines = [f"us-east-1a,p4d.24xlarge,Linux/UNIX,8.0,{stamp}" for stamp in stamps]
    record.write_text("\n".join(("AvailabilityZone,InstanceType,ProductDescription,SpotPrice,Timestamp", *lines)))
    found = page("mpt-7b", {"market.price_history": str(record), LIFE: 1000})
    told = next(one for one in found.swings if one.what == "Buying on spot")
    assert told.low_label.startswith("$1.00,")


def test_goodput_is_no_swing_where_the_plans_settings_hold_it_down() -> None:
    """What checkpoints and failures leave is not what published runs would change."""
    held_up = page("mpt-7b", {MFU: 0.4, EVERY: math.inf, "market.failures_per_gpu_day": 2e-4})
    assert held_up.final.is_held_up_by_its_settings
    assert not held_up.final.is_endless
    assert "Goodput" not in {one.what for one in held_up.swings}
    assert "Goodput" in {one.what for one in page("mpt-7b", {MFU: 0.4}).swings}


def test_what_machines_lose_on_spot_is_not_given_back_twice() -> None:
    """However much of a plan's losses are its machines', no more than all of the time computes."""
    found = page("mpt-7b", {PURCHASE: "spot", LIFE: 1000, MFU: 0.4, "training.restart_min": 600.0, PRICE: 0.9})
    assert found.final.reached.goodput.high == pytest.approx(1.0)
    assert found.final.run.gpu_hours.low >= found.final.computing.gpu_hours.low


def test_data_that_repeats_is_stored_once() -> None:
    """A tenth of the tokens, read ten times over, are a tenth of the data."""
    once, repeated = (page("mpt-7b", {"data.unique_tokens": tokens}) for tokens in (1e12, 1e11))
    tokens = once.plan.data.n_tokens - 1e11
    assert stored_gb(once.plan) - stored_gb(repeated.plan) == pytest.approx(4 * tokens / 1e9)


def test_a_bill_without_a_range_is_not_said_to_have_a_slow_end() -> None:
    """Where MFU and goodput are the plan's own and plausible, stops are what is left to fear."""
    assert "stops and restarts" in page("mpt-7b", {MFU: 0.3, GOODPUT: 0.9, GPU: "A100-SXM4-80GB"}).risk


def test_no_mfu_above_the_peak_is_held_out() -> None:
    """At 95% of the peak a tenth more cannot be had, and is not promised."""
    found = page("mpt-7b", {MFU: 0.95, GOODPUT: 1.0})
    assert "A tenth more MFU" not in found.rules_of_thumb


def test_a_spot_price_of_its_own_is_paid_everywhere() -> None:
    """The run, its fleets and what it took are at `market.spot_usd_per_gpu_hour`, as in notebook 02."""
    found = page("mpt-7b", {PURCHASE: "spot", LIFE: 1000, "market.spot_usd_per_gpu_hour": 0.5})
    assert found.truth is not None
    assert found.truth.usd == pytest.approx(0.5 * found.truth.gpu_hours)
    assert costing.fleets(found).own.usd.mid == pytest.approx(found.final_usd)
    assert found.final_usd == pytest.approx(0.5 * found.final.run.gpu_hours.mid)
