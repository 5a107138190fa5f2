import json
import math
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costkit import cli, figures, levers, panels, plan, scaling, tables, training, units
from costkit.plan import Plan, PlanError, Replan
from costkit.plan.fitting import request
from costkit.plan.replanning import readings
from costkit.plan.replanning.batches import largest, room
from costkit.plan.replanning.start import exchange_s, step_s, update_s
from costkit.plan.replanning.start import settings as start_settings
from tests.commands import told

CASE = plan.read("case-50k")
ANSWER = plan.replan(CASE)
STORY = ("spot", "bf16", "checkpointing", "adamw-8bit", "compute-optimal")


def case(**changes: object) -> Replan:
    """The case with some keys changed: `levers__order` is `levers.order`."""
    return plan.replan(plan.replace(CASE, {key.replace("__", "."): value for key, value in changes.items()}))


def offer(answer: Replan, name: str) -> plan.replanning.Offer:
    """One lever as a plan has it."""
    return next(one for one in answer.offers if one.name == name)


def divided(**changes: object) -> Plan:
    """A new run under Megatron-LM without ZeRO, its GPUs divided in some way."""
    plain = {"memory.stack": "megatron", "memory.zero_stage": 0, "memory.checkpointing": "none"}
    asked = {f"memory.{key}": value for key, value in changes.items()}
    return plan.replace(plan.read("new-run"), {**plain, **asked})


# What is told of the published figures.


def test_days_that_come_to_the_bill_are_told_as_published() -> None:
    """No figure is said to be another figure that reads the same."""
    told = case(case__published_usd=42_301, case__overhead_fraction=0.0, case__listed_savings="").arithmetic
    assert "are $42,301, as published;" in told


def test_an_end_is_told_of_gpus_at_a_price_where_no_days_were_published() -> None:
    """Nobody is "they", and no price "that price", before GPUs and price were named; on spot none is on demand."""
    told = case(case__published_days=None, market__purchase="spot", case__overhead_fraction=0.0).arithmetic
    assert re.search(r"\$11,800 is what 32 GPUs cost for [\d.]+ days at \$3\.06;", told)


def test_one_gpu_is_told_of_in_the_singular() -> None:
    """It costs, they cost."""
    told = case(hardware__n_gpus=1).arithmetic
    assert told.startswith("1 GPU for 18.0 days at $3.06 is $1,322, not $50,000;")
    assert "$11,800 is what it costs for" in told


def test_listed_savings_are_added_up_without_a_published_end() -> None:
    """What they come to needs no second bill, and a bill that rose is no difference that they make."""
    for final_usd in (None, 60_000.0):
        told = case(case__published_final_usd=final_usd).arithmetic
        assert "the listed savings sum to $46,000 and would leave $4,000" in told


@pytest.mark.parametrize("order", ["none", "busy"])
def test_a_bill_that_nothing_changes_is_told_as_certain_and_without_order(order: str) -> None:
    """No levers, or none that the plan has."""
    found = case(levers__order=order, case__gpu_utilisation_fraction=1.0)
    assert found.order_told == "No lever is pulled: there is no order."
    assert found.odds == "Nothing about the end is uncertain here: the bill is $50,000."


def test_without_spot_is_a_reading_only_of_a_plan_with_spot() -> None:
    """It is engineering alone where all others are."""
    assert "Without spot" not in {one.name for one in readings(case(levers__order="bf16"))}
    found = case(levers__order="spot, provider", hardware__usd_per_gpu_hour=6.0, case__overhead_fraction=0.0)
    notes = {one.name: one.note for one in readings(found)}
    assert notes["Without spot"] == "the other levers alone"
    assert {one.name: one.note for one in readings(ANSWER)}["Without spot"] == "what is engineering alone"


# What no lever changes.


def test_what_data_costs_is_no_lever_s_to_save() -> None:
    """A bill with ten million dollars of data falls by as many dollars as the same bill without."""
    asked = plan.replace(plan.read("new-run"), {"levers.order": "restarts, compile, fp8"})
    bought = plan.replace(asked, {"scope.data_usd": 1e7})
    without, beside = (plan.replan(one).waterfall for one in (asked, bought))
    assert without is not None
    assert beside is not None
    assert beside.baseline.usd == pytest.approx(without.baseline.usd + 1e7)
    assert beside.end_usd.mid == pytest.approx(without.end_usd.mid + 1e7)


# The best size.


def test_the_best_size_for_serving_costs_its_training_more() -> None:
    """What a smaller model saves in serving is no saving of the training bill, which the longer training raises."""
    served = case(data__inference_tokens=1e13, levers__order="compute-optimal")
    assert served.waterfall is not None
    assert served.waterfall.end_usd.mid > 3 * 50_000
    assert "its loss and its serving" in offer(served, "compute-optimal").told
    assert "more to train" in offer(served, "compute-optimal").told


def test_the_best_size_without_serving_saves_what_the_split_wastes() -> None:
    """1 - 1 / (1 + r) of the work for a regret r."""
    twice = case(data__n_tokens=240e9, levers__order="compute-optimal")
    assert twice.waterfall is not None
    law = scaling.law(CASE.training.law)
    over = scaling.regret(law, n_params=CASE.model.n_params, n_tokens=240e9).overhead_fraction
    assert twice.waterfall.end_usd.mid == pytest.approx(50_000 / (1 + over))


# What is exchanged and updated.


def test_a_node_sends_the_gradients_of_its_pipeline_stage_only() -> None:
    """8 x 4 GPUs hold a copy: 8 copies, none of them twice in a node, whose 8 GPUs share 400 GB/s."""
    asked = divided(tensor_parallel=8, pipeline_parallel=4)
    n_bytes = 4 * request(asked).architecture.n_params / 32
    assert exchange_s(asked) == pytest.approx(256 * 0.5 * 2 * 7 / 8 * n_bytes / (400 * units.GB / 8))


def test_tensor_parallelism_moves_the_exchange_out_of_the_node() -> None:
    """A node sends all gradients once, however it is divided; what moved within it is gone."""
    whole, shared = exchange_s(divided()), exchange_s(divided(tensor_parallel=8))
    n_bytes = 4 * request(divided()).architecture.n_params
    link = tables.gpu("H100-SXM5-80GB").interconnect_bytes_per_s
    assert link
    assert whole - shared == pytest.approx(256 * 0.5 * 2 * 7 / 8 * n_bytes / (link / 2))


def test_gpus_that_share_a_sequence_sum_their_gradients() -> None:
    """Context parallelism divides sequences, not weights: it changes neither the exchange nor the update."""
    alone, shared = divided(), divided(context_parallel=2)
    assert exchange_s(shared) == pytest.approx(exchange_s(alone))
    assert update_s(shared, "foreach") == pytest.approx(update_s(alone, "foreach"))


@pytest.mark.parametrize(("zero", "stack", "ratio"), [(1, "megatron", 3 / 4), (3, "fsdp2", 1.0)])
def test_zero_gathers_weights_as_they_are_kept_or_multiplied(zero: int, stack: str, ratio: float) -> None:
    """4 bytes of gradients and 2 of weights, or twice 2, where an all-reduce moves 4 and 4."""
    found = exchange_s(divided(zero_stage=zero, stack=stack))
    assert found == pytest.approx(ratio * exchange_s(divided()))


def test_frozen_weights_are_gathered_and_need_no_gradients() -> None:
    """LoRA under ZeRO-3 moves the weights of the model, not their gradients; two thirds of its products are left."""
    whole = plan.replace(plan.read("finetune-7b"), {"memory.stack": "huggingface", "memory.zero_stage": 3})
    lora = plan.replace(whole, {"memory.adapter_rank": 16, "memory.checkpointing": "none"})
    assert 0.4 * exchange_s(whole) < exchange_s(lora) < 0.6 * exchange_s(whole)
    full = plan.replace(whole, {"memory.checkpointing": "none"})
    of_lora, of_all = (step_s(one, start_settings(one))["matmul"] for one in (lora, full))
    assert of_lora == pytest.approx(of_all * 2 / 3)


# The case.


def test_the_case_starts_at_its_published_bill() -> None:
    """50,000 dollars, of which 15.4% are not GPU time."""
    assert ANSWER.at is not None
    assert (ANSWER.usd, ANSWER.at.overhead_fraction, ANSWER.final_usd) == (50_000, 0.154, 11_800)


def test_the_shares_are_what_the_counter_and_the_restarts_leave() -> None:
    """52% busy, three restarts of 18 GPU-hours, the rest idle."""
    assert ANSWER.at is not None
    restarts = 3 * 18 / ANSWER.at.final.run.gpu_hours.mid
    assert ANSWER.at.busy_fraction == pytest.approx(0.52)
    assert ANSWER.at.shares["checkpoint_restart"] == pytest.approx(restarts)
    assert ANSWER.at.shares["idle"] == pytest.approx(1 - 0.52 - restarts)


def test_the_model_of_a_step_agrees_with_the_counter() -> None:
    """Without being told, it finds the GPUs busy for about as long as the driver counted."""
    assert ANSWER.at is not None
    assert ANSWER.at.modelled_fraction == pytest.approx(0.52, rel=0.2)


def test_the_story_s_levers_are_pulled_in_its_order() -> None:
    """Also the one that does nothing here, so that it stands beside what was told of it."""
    assert ANSWER.waterfall is not None
    assert ANSWER.waterfall.order == STORY
    assert ANSWER.waterfall.steps[-1].saved_usd == units.Range.exact(0.0)


def test_the_parts_of_the_drop_sum_to_it() -> None:
    """Price, engineering, size, and what no lever earns."""
    parts = sum(ANSWER.group_usd(group) for group in levers.GROUPS)
    assert parts + (ANSWER.unexplained_usd or 0) == pytest.approx(50_000 - 11_800, abs=0.01)


def test_the_first_sentence_says_price_engineering_and_arithmetic() -> None:
    """With the amounts of the answer."""
    price, engineering = (units.usd(ANSWER.group_usd(group)) for group in ("price", "engineering"))
    assert ANSWER.headline.startswith("Of the $38,200 between $50,000 and $11,800, ")
    assert f"{price} is price and {engineering} is engineering" in ANSWER.headline
    assert f"{units.usd(ANSWER.unexplained_usd or 0)} is arithmetic that no lever earns" in ANSWER.headline


def test_a_story_that_comes_out_is_told_so() -> None:
    """Where the levers end at the published bill or below, nothing is left for arithmetic."""
    found = case(case__published_final_usd=40_000.0)
    assert "at or below the $40,000 that was published: " in found.headline
    assert (found.chance or 0) > 0.9


def test_the_arithmetic_names_each_figure_that_does_not_fit() -> None:
    """GPU-hours times price, whose price that is, five days, and the listed savings added and multiplied."""
    for words in (
        "32 GPUs for 18.0 days at $3.06 are $42,301, not $50,000",
        "$3.06 is a list price of V100-SXM2-16GB, and of no A100-SXM4-80GB",
        "$11,800 is what they cost for 5.02 days at that price",
        "the listed savings sum to $46,000, where the bills differ by $38,200, and would leave $4,000",
        "multiplied, they leave $15,918",
    ):
        assert words in ANSWER.arithmetic


def test_what_ran_for_none_of_the_time_caps_every_software_lever() -> None:
    """All engineering of the plan together saves less than the busy share."""
    found = case(levers__order="bf16, flash, compile, adamw-8bit, checkpointing, fused-adamw")
    assert found.waterfall is not None
    assert found.waterfall.end_usd.mid > (1 - 0.52) * 50_000


def test_the_order_of_the_plan_changes_no_end() -> None:
    """Reversed, the story ends where it did."""
    found = case(levers__order=", ".join(reversed(STORY)))
    assert found.waterfall is not None
    assert ANSWER.waterfall is not None
    assert found.waterfall.end_usd.mid == pytest.approx(ANSWER.waterfall.end_usd.mid, rel=1e-12)


# Levers.


def test_bf16_halves_the_products_of_tf32() -> None:
    """312 TFLOP/s over 156, and less of what is moved."""
    (lever,) = [one.lever for one in ANSWER.offers if one.name == "bf16"]
    assert lever is not None
    keeps = {effect.target: effect.keep.mid for effect in lever.effects}
    assert keeps["matmul"] == pytest.approx(0.5)
    assert 0.5 < keeps["memory_bound"] < keeps["attention.scores"] < 1


def test_a_modelled_effect_is_as_wide_as_measured_gains_are() -> None:
    """The kept share to the powers of the band."""
    band = training.gain_band()
    lever = offer(ANSWER, "bf16").lever
    assert lever is not None
    keep = next(effect.keep for effect in lever.effects if effect.target == "matmul")
    assert keep.low == pytest.approx(keep.mid**band.high)
    assert keep.high == pytest.approx(keep.mid**band.low)


@pytest.mark.parametrize(
    ("changes", "name", "why"),
    [
        ({}, "tf32", "computes in tf32 already"),
        ({"memory.precision": "bf16-mixed"}, "bf16", "computes in bf16-mixed already"),
        ({}, "fp8", "A100-SXM4-80GB has no FP8"),
        ({"memory.precision": "bf16-mixed", "memory.attention": "flash"}, "flash", "has it already"),
        ({"memory.checkpointing": "full"}, "checkpointing", "has it already"),
        ({}, "selective", "does not recompute everything"),
        ({"memory.optimizer": "adamw-8bit"}, "adamw-8bit", "optimizer is adamw-8bit"),
        ({"memory.optimizer_step": "fused"}, "fused-adamw", "has it already"),
        ({"market.purchase": "spot"}, "spot", "bought so already"),
        ({}, "provider", "no more than the middle of its quotes"),
        ({}, "compute-optimal", "best one already"),
        ({"model.pretrained": True}, "compute-optimal", "a fine-tune has the size"),
        ({"training.law": "hoffmann-2022-approach-1"}, "compute-optimal", "predicts no loss"),
    ],
)
def test_a_lever_that_is_not_there_says_why(changes: dict[str, object], name: str, why: str) -> None:
    """What is on already, or what the plan cannot have."""
    found = offer(plan.replan(plan.replace(CASE, changes)), name)
    assert found.lever is None
    assert why in found.told


def test_tf32_is_there_where_the_case_says_that_it_was_off() -> None:
    """The flag is a lever only before it is set, and BF16 is worth more then."""
    found = case(case__tf32_enabled=False, levers__order="tf32, bf16")
    assert found.waterfall is not None
    tf32, bf16 = found.waterfall.steps
    assert tf32.saved_usd.mid > bf16.saved_usd.mid > 0
    assert case(case__tf32_enabled=False, levers__order="bf16, tf32").waterfall.steps[1].saved_usd.mid == 0  # type: ignore[union-attr]


def test_products_in_plain_fp32_cannot_have_been_that_fast() -> None:
    """3B on 60B tokens in 18 days is more than FP32 gives without tensor cores, and the answer says so."""
    assert any("can't all be right" in words for words in case(case__tf32_enabled=False).warnings)


def test_a_run_that_could_not_have_been_done_has_no_chance_and_no_praise() -> None:
    """No saving on an impossible start is told as one that can be had, and no reading of it reaches anything."""
    found = case(case__tf32_enabled=False, case__published_final_usd=40_000.0)
    assert "could not have been done" in found.headline
    assert found.chance is None
    assert any("set case.tf32_enabled to true" in words for words in found.warnings)
    assert {one.name: one.verdict for one in readings(found)}["The plan's levers"] == "impossible"


def test_a_counter_that_disagrees_is_a_warning_and_no_impossibility() -> None:
    """Components that take 46% of the time, counted as 40%: the answer stands, and says so."""
    found = case(case__gpu_utilisation_fraction=0.4)
    assert found.headline.startswith("Of the $38,200")
    assert any("can't all be right" in words for words in found.warnings)


@pytest.mark.parametrize(
    "changes",
    [
        {"market.node_life_h": 300_000.0},
        {"hardware.usd_per_gpu_hour": 0.5, "market.spot_discount_fraction": 0.999},
        {"hardware.usd_per_gpu_hour": 8.0, "market.spot_discount_fraction": -1.0},
    ],
)
def test_no_lever_stops_an_answer(changes: dict[str, object]) -> None:
    """What a lever would make of an allowed value stays within what is allowed."""
    assert plan.replan(plan.replace(CASE, changes)).waterfall is not None


def test_levers_that_cost_are_no_part_of_a_drop() -> None:
    """A bill that rises is told as one."""
    found = case(levers__order="checkpointing", case__listed_savings="")
    assert found.headline.startswith("These levers raise the bill from $50,000 to $54,577")


def test_an_end_above_the_published_one_is_never_told_to_be_at_or_below_it() -> None:
    """However little is missing."""
    assert "at or below" not in case(case__published_final_usd=21_300.0).headline


def test_a_lever_that_waits_for_another_says_for_which() -> None:
    """FlashAttention without BF16."""
    found = case(levers__order="flash")
    assert "FlashAttention does nothing without BF16 mixed precision." in found.warnings


def test_a_bill_that_is_all_overhead_is_refused() -> None:
    """Then nothing of it is GPU time."""
    with pytest.raises(PlanError, match=r"case\.overhead_fraction is 1: then nothing of the bill is GPU time"):
        plan.replace(CASE, {"case.overhead_fraction": 1.0})


def test_restarts_saved_are_a_share_of_the_time_that_is_left() -> None:
    """Half of 16% of a run's time saves at most a twelfth of whatever bill it has."""
    found = plan.replan(plan.read("llama-2-7b"))
    assert found.at is not None
    share = found.at.baseline.share("checkpoint_restart")
    for order in ("restarts", "compute-optimal, restarts"):
        steps = plan.replan(plan.replace(plan.read("llama-2-7b"), {"levers.order": order})).waterfall
        assert steps is not None
        assert steps.steps[-1].keep == pytest.approx(1 - share / 2, rel=0.01)


def test_flash_attention_does_nothing_without_bf16() -> None:
    """Before it nothing, after it something; the end is the same."""
    first, last = case(levers__order="flash, bf16"), case(levers__order="bf16, flash")
    assert first.waterfall is not None
    assert last.waterfall is not None
    assert first.waterfall.steps[0].saved_usd.mid == pytest.approx(0, abs=1e-9)
    assert last.waterfall.steps[1].saved_usd.mid > 0
    assert first.waterfall.end_usd.mid == pytest.approx(last.waterfall.end_usd.mid)


def test_recomputation_alone_costs_and_pays_beside_8_bit_adam() -> None:
    """Its second forward pass is charged, and the micro-batch credited that the memory calculator finds."""
    alone = case(levers__order="checkpointing").waterfall
    assert alone is not None
    assert alone.end_usd.mid > 50_000
    credit = {one.name: one for one in case(levers__order="adamw-8bit, checkpointing").credits}
    assert credit["checkpointing"].last_usd > credit["checkpointing"].first_usd


def test_the_larger_micro_batch_is_one_that_fits() -> None:
    """Never more than the memory calculator allows with the same changes."""
    at = ANSWER.at
    assert at is not None
    adam, again = {"optimizer": "adamw-8bit", "optimizer_step": None}, {"checkpointing": "full"}
    found = room(at, {"adamw-8bit": adam, "checkpointing": again}).together
    assert found is not None
    assert CASE.memory.micro_batch < found.micro_batch <= largest(at, **adam, **again)


def test_a_larger_batch_needs_more_tokens() -> None:
    """1 + B / B_c over what it was: the micro-batch is not free."""
    at = ANSWER.at
    assert at is not None
    found = room(at, {"checkpointing": {"checkpointing": "full", "optimizer": "adamw-8bit", "optimizer_step": None}})
    assert found.together is not None
    assert found.together.tokens_ratio > 1


def test_a_plan_that_names_its_batch_gains_nothing_by_a_larger_micro_batch() -> None:
    """It only replaces accumulation."""
    found = case(memory__effective_batch=256, levers__order="adamw-8bit, checkpointing")
    lever = offer(found, "checkpointing").lever
    assert lever is not None
    assert {effect.target for effect in lever.effects} == {
        "matmul",
        "attention.products",
        "attention.scores",
        "memory_bound",
    }


def test_spot_saves_the_discount_less_interruptions_and_not_of_the_overhead() -> None:
    """60% off, less what is lost, of the 84.6% that are GPU time."""
    found = case(levers__order="spot").waterfall
    assert found is not None
    most = 0.6 * (1 - 0.154) * 50_000
    assert 0.8 * most < found.steps[0].saved_usd.mid < most
    assert found.steps[0].usd.low < found.steps[0].usd.mid < found.steps[0].usd.high


def test_spot_tells_the_discount_of_the_price_that_is_paid() -> None:
    """A price of the plan's own takes the place of its discount, in the sentence too."""
    own = case(market__spot_usd_per_gpu_hour=1.53)
    assert "a discount of 50%" in offer(own, "spot").told
    dearer = case(market__spot_usd_per_gpu_hour=3.672)
    assert offer(dearer, "spot").told.startswith("20% dearer, and what interruptions cost")


def test_spot_on_which_a_run_may_never_finish_has_no_narrow_band() -> None:
    """Where it is given up at a quarter of the nodes' life, the band reaches what it pays until then."""
    found = plan.replan(plan.replace(plan.read("new-run"), {"levers.order": "spot"}))
    lever = offer(found, "spot").lever
    assert lever is not None
    assert "practically never finishes" in offer(found, "spot").told
    (effect,) = lever.effects
    assert effect.keep.high > 2 * effect.keep.mid


def test_a_watched_market_has_lives_of_its_own() -> None:
    """The band over lives that the plan assumes is not told where they were recorded."""
    watched = plan.replace(CASE, {"market.measured": "aws-02-15-2023/us-west-2a_v100_1"})
    assert "quarter" not in offer(plan.replan(watched), "spot").told


def test_flash_attention_works_beside_fp8_too() -> None:
    """It needs 16 bits where the plan has 32, and scores have them beside products in FP8."""
    wide = {"hardware.gpu": "H100-SXM5-80GB", "levers.order": "fp8, flash"}
    found = plan.replan(plan.replace(CASE, wide)).waterfall
    both = plan.replan(plan.replace(CASE, wide | {"levers.order": "bf16, fp8, flash"})).waterfall
    assert found is not None
    assert both is not None
    assert found.steps[1].saved_usd.mid > 0
    assert found.end_usd.mid == pytest.approx(both.end_usd.mid)


def test_flash_attention_is_not_there_without_16_bits_to_turn_on() -> None:
    """A V100 has no BF16: naming both levers saves nothing, and neither is credited."""
    v100 = {"hardware.gpu": "V100-SXM2-32GB", "case.tf32_enabled": False, "levers.order": "bf16, flash"}
    found = plan.replan(plan.replace(CASE, v100))
    assert found.waterfall is not None
    assert found.waterfall.end_usd.mid == pytest.approx(50_000)
    assert "has no BF16" in offer(found, "flash").told


def test_another_provider_and_spot_are_one_way_of_buying() -> None:
    """Both together save what the better one saves."""
    dear = {"hardware.usd_per_gpu_hour": 5.0, "levers.order": "provider"}
    provider, spot, both = (
        plan.replan(plan.replace(CASE, {**dear, "levers.order": order})).waterfall
        for order in ("provider", "spot", "provider, spot")
    )
    assert provider is not None
    assert spot is not None
    assert both is not None
    assert both.end_usd.mid == pytest.approx(min(provider.end_usd.mid, spot.end_usd.mid))


def test_without_an_order_all_that_pays_is_pulled() -> None:
    """The least effort first, none that costs, none that costs elsewhere."""
    found = case(levers__order="")
    assert found.waterfall is not None
    ranks = [levers.known()[name].effort_rank for name in found.waterfall.order]
    assert ranks == sorted(ranks)
    assert all(one.last_usd > 0 for one in found.credits)
    assert not any(offer(found, name).price for name in found.waterfall.order)


def test_a_larger_model_is_no_saving_unless_it_is_asked_for() -> None:
    """Llama 3 8B is over-trained on purpose: the best size for its loss is dearer to serve."""
    found = plan.replan(plan.read("llama-3-8b"))
    assert found.waterfall is not None
    assert "compute-optimal" not in found.waterfall.order
    assert "dearer to serve" in offer(found, "compute-optimal").told


def test_none_pulls_none() -> None:
    """The bill stays, and everything is left to be had."""
    found = case(levers__order="none")
    assert found.headline == "No lever is pulled: the bill stays at $50,000."
    assert {one.offer.name for one in found.left} >= {"spot", "bf16", "busy"}


@pytest.mark.parametrize("order", ["", "none", "spot, bf16", "busy, flash, compile, bf16"])
def test_what_is_next_is_the_first_that_remains_and_pays(order: str) -> None:
    """Half a per cent of the bill or more, at the least effort, and the more of two alike; else nothing is."""
    found = case(levers__order=order)
    assert found.waterfall is not None
    paying = [one for one in found.left if one.saved_usd.mid > 0.005 * found.waterfall.end_usd.mid]
    assert ([] if found.next is None else [found.next[0].name]) == [one.offer.name for one in paying[:1]]
    assert found.next is None or found.next[1] == pytest.approx(paying[0].saved_usd.mid)


def test_what_remains_comes_with_the_least_effort_first() -> None:
    """A flag before a week."""
    ranks = [one.offer.about.effort_rank for one in ANSWER.left]
    assert ranks == sorted(ranks)
    assert "Keep the GPUs busy" in ANSWER.remaining


def test_an_assumed_effect_is_said_to_be_one() -> None:
    """Nobody measured what keeping the GPUs busy brings."""
    assert any("nobody measured them: Keep the GPUs busy" in words for words in case(levers__order="busy").warnings)


def test_a_measured_wait_for_input_is_a_component() -> None:
    """0.4 of 2.0 seconds of a step are a fifth of its time."""
    changes = {
        "training.step_s": 2.0,
        "training.loader_wait_s": 0.4,
        "training.batch_tokens": 2e5,
        "case.gpu_utilisation_fraction": 0.6,
    }
    found = plan.replan(plan.replace(CASE, changes))
    assert found.at is not None
    assert found.at.baseline.share("input_wait") == pytest.approx(0.2, rel=0.02)


def test_a_run_that_never_finishes_has_no_bill_and_no_traceback() -> None:
    """Every sentence and table is there all the same."""
    found = case(market__purchase="spot", market__node_life_h=0.01)
    assert found.waterfall is None
    assert "practically never finishes" in found.headline
    for words in (found.arithmetic, found.time, found.order_told, found.odds, found.remaining, found.readings_told):
        assert words
    assert figures.png(figures.replanning.waterfall(found))
    assert found.rows() == []


def test_a_record_of_prices_that_changes_is_read_anew(tmp_path: Path) -> None:
    """What is kept of a plan is kept with the time stamps of its files."""
    record = tmp_path / "prices.csv"

    def spot_usd(usd_per_hour: float, stamp: int) -> float:
        rows = (f"a,2026-0{month}-01T00:00:00Z,{usd_per_hour}" for month in (1, 2))
        record.write_text("\n".join(["zone,timestamp,usd_per_hour", *rows]) + "\n", encoding="utf-8")
        os.utime(record, ns=(stamp, stamp))
        found = case(market__price_history=str(record), levers__order="spot").waterfall
        assert found is not None
        return found.end_usd.mid

    assert spot_usd(20.0, 10**18) > spot_usd(8.0, 10**18 + 1)


def test_fused_kernels_leave_the_compiler_nothing() -> None:
    """Megatron-LM's norms and softmax are fused already."""
    found = offer(plan.replan(plan.replace(plan.read("new-run"), {"memory.stack": "megatron"})), "compile")
    assert (found.lever, found.told) == (None, "its kernels are fused already")


# Readings.


def test_the_chain_of_the_six_factors_is_a_reading() -> None:
    """11,851 dollars from TF32, about 22,500 had the run been in BF16 already."""
    found = {one.name: one for one in readings(ANSWER)}
    assert round(found["A chain of 6 factors, from TF32"].end_usd.mid) == 11_851
    assert found["The same, had it been in BF16 already"].end_usd.mid == pytest.approx(22_500, rel=0.001)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("Listed savings, added", "reaches it"),
        ("Listed savings, multiplied", "does not"),
        ("A chain of 6 factors, from TF32", "reaches it"),
        ("The same, had it been in BF16 already", "does not"),
        ("The plan's levers", "does not"),
        ("Without spot", "does not"),
        ("TF32 was off", "impossible"),
        ("In BF16 already", "does not"),
        ("Every lever that pays", "may"),
    ],
)
def test_which_readings_reach_the_published_end(name: str, verdict: str) -> None:
    """Arithmetic and a chain of other people's factors do; the story's own levers do not."""
    assert {one.name: one.verdict for one in readings(ANSWER)}[name] == verdict


def test_a_plan_without_a_published_end_has_no_readings() -> None:
    """There is nothing to be reached."""
    found = plan.replan(plan.read("new-run"))
    assert (readings(found), found.readings_told) == ([], "No end was published that a reading could reach.")


# Any plan.


@pytest.mark.parametrize("name", plan.names())
def test_every_plan_has_an_answer(name: str) -> None:
    """Shares sum to one, the bill falls or stays, no number is infinite."""
    found = plan.replan(plan.read(name))
    assert found.at is not None
    assert found.waterfall is not None
    assert math.fsum(found.at.shares.values()) == pytest.approx(1)
    assert found.waterfall.end_usd.mid <= found.at.usd
    assert json.loads(json.dumps(found.numbers(), allow_nan=False))
    assert json.loads(json.dumps(found.rows(), allow_nan=False)) is not None


ODD = st.fixed_dictionaries(
    {},
    optional={
        "hardware.n_gpus": st.sampled_from((1, 7, 8, 1024)),
        "hardware.gpu": st.sampled_from(("H100-SXM5-80GB", "V100-SXM2-32GB", "T4", "MI300X", "TPU-v4")),
        "memory.precision": st.sampled_from(("fp32", "tf32", "bf16-mixed", "fp16-mixed", "fp8-mixed", "bf16")),
        "memory.stack": st.sampled_from(("huggingface", "fsdp2", "megatron", "deepspeed")),
        "memory.checkpointing": st.sampled_from(("none", "selective", "full")),
        "memory.optimizer": st.sampled_from(("adamw", "adamw-8bit", "lion", "muon")),
        "memory.adapter_rank": st.just(16),
        "memory.attention": st.sampled_from(("eager", "flash")),
        "training.mfu": st.sampled_from((None, 0.0001, 0.3, 1.0)),
        "training.goodput_fraction": st.sampled_from((None, 0.01, 1.0)),
        "market.purchase": st.sampled_from(("on_demand", "spot", "reserved")),
        "case.published_usd": st.sampled_from((100.0, 1e9)),
        "case.published_final_usd": st.sampled_from((None, 100.0, 1e9)),
        "case.gpu_utilisation_fraction": st.sampled_from((None, 0.0, 0.01, 1.0)),
        "case.overhead_fraction": st.sampled_from((None, 0.0, 1.0)),
        "case.n_restarts": st.sampled_from((None, 0, 100_000)),
        "case.listed_savings": st.just(""),
        "levers.order": st.sampled_from(("", "none", "spot", "fp8, bf16, tf32", ", ".join(levers.known()))),
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(changes=ODD)
def test_odd_plans_have_an_answer_or_one_sentence(changes: dict[str, object]) -> None:
    """No traceback, no infinite number, shares that sum to one, whatever is put together."""
    try:
        found = plan.replan(plan.replace(CASE, changes))
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017 - both ways out are right
        return
    json.dumps([found.numbers(), found.rows()], allow_nan=False)
    assert found.headline
    assert all(found.facts) or found.waterfall is None
    if found.at is not None:
        assert math.fsum(found.at.shares.values()) == pytest.approx(1)
    for words in (found.arithmetic, found.time, found.order_told, found.odds, found.remaining):
        assert not re.search(r"\b(nan|inf|None)\b", words)


# Keys.


@pytest.mark.parametrize(
    ("key", "given", "sentence"),
    [
        ("levers.order", "spot, flsh", "levers.order names no lever 'flsh'. Did you mean 'flash'?"),
        ("levers.order", "spot, bf16, spot", "levers.order names 'spot' twice: once is enough"),
        ("levers.order", "spot, none", "levers.order is both 'none' and spot: leave one of the two out"),
        ("levers.order", ["spot", 3], "levers.order must be names in quotes, not 3"),
        ("levers.order", 3, "levers.order must be text in quotes, not 3"),
        ("case.listed_savings", "spot", "case.listed_savings is written name=amount, with commas between"),
        ("case.listed_savings", "spott=5", "case.listed_savings names no lever 'spott'. Did you mean 'spot'?"),
        ("case.listed_savings", "spot=5, spot=6", "case.listed_savings names 'spot' twice"),
        (
            "case.listed_savings",
            "spot=much",
            "gives 'much' for spot: it must be US dollars above 0",
        ),
        ("case.listed_savings", "spot=0", "gives '0' for spot: it must be US dollars above 0"),
        ("case.listed_savings", "spot=-5", "gives '-5' for spot: it must be US dollars above 0"),
        (
            "case.listed_savings",
            "spot=60000",
            "case.listed_savings: the listed savings come to $60,000, 120%",
        ),
        ("hardware.node_gbit_per_s", 0, "hardware.node_gbit_per_s must be from 0.1 to 100,000 Gbit/s, not 0"),
    ],
)
def test_a_key_that_is_written_wrong_is_told_in_a_sentence(key: str, given: object, sentence: str) -> None:
    """What, where, allowed, and the nearest right answer."""
    with pytest.raises(PlanError, match=re.escape(sentence)) as error:
        plan.replace(CASE, {key: given})
    assert "\n" not in str(error.value)


def test_listed_savings_need_the_bill_that_they_are_of() -> None:
    """Without a published bill there is nothing that they are a share of."""
    with pytest.raises(PlanError, match=r"give case\.published_usd as well"):
        plan.replace(CASE, {"case.published_usd": None})


def test_an_order_may_be_a_list_and_amounts_may_have_a_sign() -> None:
    """Both are kept in their plain form."""
    found = plan.replace(CASE, {"levers.order": ["spot", "bf16"], "case.listed_savings": "spot=$25k, bf16=8,000"[:17]})
    assert (found.levers.order, found.case.listed_savings) == ("spot, bf16", "spot=25000, bf16=8")


def test_the_order_is_set_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """And the answer follows it."""
    found = json.loads(told(capsys, "levers", "--set", "levers.order=bf16,spot", "--json"))
    assert [row["lever"] for row in found["rows"]] == ["bf16", "spot"]
    assert cli.main(["levers", "--set", "levers.order=bf17"]) == 2
    assert "Did you mean 'bf16'?" in capsys.readouterr().err


def test_the_command_says_what_the_notebook_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Headline, steps, and every sentence."""
    text = told(capsys, "levers")
    for words in (ANSWER.headline, ANSWER.time, ANSWER.arithmetic, ANSWER.remaining, "Spot machines"):
        assert words in text


# The panel.


def test_ticking_a_lever_puts_it_at_the_end_and_unticking_takes_it_out() -> None:
    """The line, the tags and the boxes say the same."""
    panel = panels.replan(CASE)
    control = panel.controls["levers.order"]
    control.boxes["flash"].value = True
    assert panel.plan.levers.order == f"{', '.join(STORY)}, flash"
    control.boxes["spot"].value = False
    assert panel.plan.levers.order == f"{', '.join(STORY[1:])}, flash"
    assert control.tags.value == [*STORY[1:], "flash"]
    assert control.box.value == panel.plan.levers.order


def test_dragging_tags_is_an_order_and_none_is_none() -> None:
    """What the tags say, the plan says; without any it pulls none."""
    panel = panels.replan(CASE)
    control = panel.controls["levers.order"]
    control.tags.value = ["bf16", "spot"]
    assert panel.plan.levers.order == "bf16, spot"
    control.tags.value = []
    assert panel.plan.levers.order == "none"
    assert panel.headline == "No lever is pulled: the bill stays at $50,000."


def test_a_typed_order_is_refused_in_a_sentence_and_loses_nothing() -> None:
    """The picture stays, the text stays, and the sentence names the nearest lever."""
    panel = panels.replan(CASE)
    control = panel.controls["levers.order"]
    control.box.value = "spot, flsh"
    assert panel.message == "Levers, in their order names no lever 'flsh'. Did you mean 'flash'?"
    assert (panel.plan, control.box.value) == (CASE, "spot, flsh")
    control.box.value = "spot, flash"
    assert (panel.message, panel.plan.levers.order) == ("", "spot, flash")


def test_an_empty_order_ticks_nothing_and_stays_empty() -> None:
    """Nothing is written into a plan by showing it."""
    panel = panels.replan("new-run")
    control = panel.controls["levers.order"]
    assert (panel.plan.levers.order, control.tags.value) == ("", [])


def test_every_plan_can_be_chosen_in_the_panel() -> None:
    """No message and no fault."""
    panel = panels.replan(CASE)
    for name in plan.names():
        panel.choose(name)
        assert (panel.message, panel.fault) == ("", None), name


# Pictures and tables.


@pytest.mark.parametrize("name", ["waterfall", "dumbbell", "chances"])
@pytest.mark.parametrize("order", ["", "none", "spot", ", ".join(levers.known())])
def test_a_picture_is_the_same_every_time(name: str, order: str) -> None:
    """Same plan, same bytes, whatever is pulled; its words are not empty."""
    draw = getattr(figures.replanning, name)
    one, other = draw(case(levers__order=order)), draw(case(levers__order=order))
    assert figures.png(one) == figures.png(other)
    assert one.get_label()


def test_a_picture_that_is_drawn_again_is_the_one_that_is_drawn_anew() -> None:
    """The still layer is kept, and the bytes are the same."""
    used = figures.replanning.waterfall(ANSWER)
    figures.png(used)
    other = case(case__gpu_utilisation_fraction=0.6)
    again = figures.replanning.waterfall(other, reuse=used)
    assert again is used
    assert figures.png(again) == figures.png(figures.replanning.waterfall(other))


@pytest.mark.parametrize("told", ["spot=20000", "", "spot=25000, bf16=8000, adamw-8bit=100"])
def test_other_published_savings_are_drawn_where_a_figure_is_used_again(told: str) -> None:
    """What was told stands in the still layer, which is then another."""
    used, told_now = figures.replanning.waterfall(ANSWER), case(case__listed_savings=told)
    before, after = figures.png(used), figures.png(figures.replanning.waterfall(told_now, reuse=used))
    assert after == figures.png(figures.replanning.waterfall(told_now)) != before


def test_the_panel_shows_the_picture_of_the_notebook() -> None:
    """Byte for byte."""
    panel = panels.replan(CASE)
    assert panel.shown is not None
    assert figures.png(panel.shown.figure) == figures.png(figures.replanning.waterfall(ANSWER))


def test_the_tables_say_what_the_answer_says() -> None:
    """A row a step, a share, a reading, a lever; sums that add up."""
    tables = figures.replanning
    assert [row["lever"] for row in tables.steps_table(ANSWER).rows] == [ANSWER.label(name) for name in STORY]
    assert sum(row["share"] for row in tables.shares_table(ANSWER).rows) == pytest.approx(1)
    assert len(tables.levers_table(ANSWER).rows) == len(levers.known())
    assert len(tables.remaining_table(ANSWER).rows) == len(ANSWER.left)
    *rows, total = tables.arithmetic_table(ANSWER).rows
    assert (total["listed_usd"], sum(row["listed_usd"] for row in rows)) == (46_000, 46_000)
    assert len(tables.evidence_table().rows) == len(levers.evidence())
    assert len(tables.readings_table(ANSWER).rows) == len(readings(ANSWER))
