import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costkit import levers, tables
from costkit.levers import Baseline, Effect, Lever, lever
from costkit.units import Range

CHAIN = {"bf16": 1.9, "flash": 1.38, "selective": 1.29, "compile": 1.10, "goodput": 1.08, "loader": 1.05}
STORY = {"spot": 25_000.0, "precision": 8_000.0, "batch": 3_000.0, "optimizer": 2_000.0, "size": 8_000.0}
NAMES = ("matmul", "attention.products", "attention.scores", "communication", "idle")
TARGETS = (*NAMES, "attention", levers.TIME, levers.PRICE, levers.WORK)


def whole(factors: dict[str, float]) -> list[Lever]:
    """Levers on all of the time, from speed-ups."""
    return [lever(name, {levers.TIME: 1 / factor}) for name, factor in factors.items()]


@st.composite
def keeps(draw: st.DrawFn) -> Range:
    """What is left, a cost above 1 among it."""
    return Range(*sorted(draw(st.lists(st.floats(0.05, 1.5), min_size=3, max_size=3))))


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    """A bill of five components."""
    weights = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5)))
    shares = dict(zip(NAMES, (weights / weights.sum()).tolist(), strict=True))
    return Baseline(draw(st.floats(10, 1e9)), shares, draw(st.floats(0.0, 0.9)))


@st.composite
def several(draw: st.DrawFn, *, slots: bool = True, least: int = 0) -> list[Lever]:
    """Up to five levers, with slots that they share and needs of each other."""
    found = []
    for index in range(draw(st.integers(least, 5))):
        effects = tuple(
            Effect(
                target,
                draw(keeps()),
                slot=draw(st.sampled_from(("", "one", "two"))) if slots else "",
                rank=draw(st.sampled_from((0.0, 1.0, 2.0))),
                needs=draw(st.sampled_from(((), ("lever 0",), ("nobody",)))) if slots else (),
            )
            for target in draw(st.lists(st.sampled_from(TARGETS), min_size=1, max_size=3, unique=True))
        )
        found.append(Lever(f"lever {index}", effects, draw(st.sampled_from(levers.GROUPS))))
    return found


# Published.


def test_the_chain_of_six_measured_factors_ends_at_11851_dollars() -> None:
    """50,000 dollars over 1.9 x 1.38 x 1.29 x 1.10 x 1.08 x 1.05."""
    assert round(levers.waterfall(Baseline(50_000), whole(CHAIN)).end_usd.mid) == 11_851


def test_without_the_factor_of_a_run_in_bf16_already_it_ends_at_22500_dollars() -> None:
    """The other five factors alone."""
    rest = {name: factor for name, factor in CHAIN.items() if name != "bf16"}
    assert levers.waterfall(Baseline(50_000), whole(rest)).end_usd.mid == pytest.approx(22_500, rel=0.001)


def test_the_listed_savings_sum_to_more_than_the_bills_differ_by() -> None:
    """46,000 dollars listed, 4,000 left; multiplied, 15,918."""
    found = levers.listed(50_000, STORY)
    by_hand = 50_000 * (1 - 0.5) * (1 - 0.16) * (1 - 0.06) * (1 - 0.04) * (1 - 0.16)
    assert (found.sum_usd, found.added_usd) == (46_000, 4_000)
    assert found.multiplied_usd == pytest.approx(by_hand)


def test_listed_savings_lead_down_a_chain_of_dollars() -> None:
    """50, 25, 17, 14, 12, 4 thousand: 11,800 is about what four of the five leave."""
    ends = [levers.listed(50_000, dict(itertools.islice(STORY.items(), n))).added_usd for n in range(1, 6)]
    assert ends == [25_000, 17_000, 14_000, 12_000, 4_000]


def test_savings_of_50_30_20_and_10_per_cent_are_no_110_but_75() -> None:
    """Each applies to what the others left."""
    found = levers.waterfall(Baseline(100), [lever(str(saved), {"price": 1 - saved}) for saved in (0.5, 0.3, 0.2, 0.1)])
    assert 100 - found.end_usd.mid == pytest.approx(74.8)


# Identities.


@given(baseline=baselines(), found=several())
def test_a_waterfall_ends_at_the_baseline_times_what_each_lever_kept(baseline: Baseline, found: list[Lever]) -> None:
    """No step is lost and none counted twice."""
    waterfall = levers.waterfall(baseline, found, n_draws=8)
    product = baseline.usd * math.prod(step.keep for step in waterfall.steps)
    assert waterfall.end_usd.mid == pytest.approx(product, rel=1e-9)


@given(baseline=baselines(), found=several())
def test_shapley_shares_sum_to_the_drop(baseline: Baseline, found: list[Lever]) -> None:
    """Within a cent, whatever overlaps."""
    drop = baseline.usd - levers.waterfall(baseline, found, n_draws=8).end_usd.mid
    assert sum(levers.shapley(baseline, found).values()) == pytest.approx(drop, abs=0.01, rel=1e-9)


@given(baseline=baselines(), found=several(least=1), data=st.data())
def test_the_order_changes_shares_and_not_the_end(baseline: Baseline, found: list[Lever], data: st.DataObject) -> None:
    """Also where levers overlap, or need each other."""
    names = data.draw(st.permutations([one.name for one in found]))
    one, other = levers.waterfall(baseline, found, n_draws=8), levers.waterfall(baseline, found, names, n_draws=8)
    assert other.end_usd.mid == pytest.approx(one.end_usd.mid, rel=1e-9)
    assert other.order == tuple(names)


@given(baseline=baselines(), found=several(least=1))
def test_a_lever_twice_changes_nothing_the_second_time(baseline: Baseline, found: list[Lever]) -> None:
    """Pulled is pulled."""
    once, twice = (levers.waterfall(baseline, several_, n_draws=8) for several_ in (found, [*found, *found]))
    assert twice.steps == once.steps
    assert levers.shapley(baseline, [*found, found[0]]) == levers.shapley(baseline, found)


@given(baseline=baselines(), found=several(), target=st.sampled_from(TARGETS))
def test_a_lever_of_one_changes_nothing(baseline: Baseline, found: list[Lever], target: str) -> None:
    """No bill, and nobody's credit but its own, which is nothing."""
    more = [*found, lever("nothing", {target: 1.0})]
    before, after = levers.waterfall(baseline, found, n_draws=8), levers.waterfall(baseline, more, n_draws=8)
    assert after.end_usd.mid == pytest.approx(before.end_usd.mid, rel=1e-12)
    credit = levers.shapley(baseline, more)
    assert credit.pop("nothing") == pytest.approx(0, abs=1e-6 * baseline.usd)
    assert credit == pytest.approx(levers.shapley(baseline, found), abs=1e-6 * baseline.usd)


@given(baseline=baselines(), keep=st.floats(1e-6, 1.0), target=st.sampled_from(NAMES), others=several(slots=False))
def test_no_lever_saves_more_than_its_component_s_share(
    baseline: Baseline, keep: float, target: str, others: list[Lever]
) -> None:
    """Alone, and of what the others left: of each bill at most the share that the component then has."""
    alone = levers.waterfall(baseline, [lever("mine", {target: keep})], n_draws=8)
    assert baseline.usd - alone.end_usd.mid <= baseline.share(target) * baseline.usd * (1 + 1e-9)
    rest = [one for one in others if one.name != "mine"]
    before = levers.waterfall(baseline, rest, n_draws=8).end_usd.mid
    gone = levers.waterfall(baseline, [*rest, lever("all of it", {target: 1e-12})], n_draws=8).end_usd.mid
    after = levers.waterfall(baseline, [*rest, lever("mine", {target: keep})], n_draws=8).end_usd.mid
    assert before - after <= (before - gone) * (1 + 1e-9) + 1e-9 * baseline.usd


@given(baseline=baselines(), found=several(least=2))
def test_shapley_is_the_mean_over_all_orders(baseline: Baseline, found: list[Lever]) -> None:
    """By brute force."""
    savings: dict[str, list[float]] = {one.name: [] for one in found}
    for order in itertools.islice(itertools.permutations(found), 120):
        for step in levers.waterfall(baseline, order, n_draws=1).steps:
            savings[step.name].append(step.saved_usd.mid)
    means = {name: float(np.mean(saved)) for name, saved in savings.items()}
    assert levers.shapley(baseline, found) == pytest.approx(means, rel=1e-6, abs=1e-6 * baseline.usd)


@given(baseline=baselines(), found=several(least=1))
def test_first_and_last_are_the_ends_of_an_order(baseline: Baseline, found: list[Lever]) -> None:
    """What a lever saves alone, and what it saves after all others."""
    end = levers.waterfall(baseline, found, n_draws=8).end_usd.mid
    for one in levers.attribution(baseline, found):
        alone = levers.waterfall(baseline, [other for other in found if other.name == one.name], n_draws=8)
        without = levers.waterfall(baseline, [other for other in found if other.name != one.name], n_draws=8)
        assert one.first_usd == pytest.approx(baseline.usd - alone.end_usd.mid, abs=1e-6 * baseline.usd)
        assert one.last_usd == pytest.approx(without.end_usd.mid - end, abs=1e-6 * baseline.usd)


@given(baseline=baselines(), found=several(least=1))
def test_low_middle_and_high_rise(baseline: Baseline, found: list[Lever]) -> None:
    """Of every bill and every saving."""
    for step in levers.waterfall(baseline, found).steps:
        for value in (step.usd, step.saved_usd):
            assert value.low <= value.mid <= value.high


@given(usd=st.floats(0, 60_000), more=st.floats(0, 10_000))
def test_the_chance_rises_with_the_bill(usd: float, more: float) -> None:
    """More money is never less likely to do."""
    found = levers.waterfall(Baseline(50_000), [lever("a", {"time": Range(0.3, 0.5, 0.9)})])
    assert found.chance_at_or_below(usd) <= found.chance_at_or_below(usd + more)


# What effects are.


def test_price_levers_leave_the_overhead_alone() -> None:
    """Of 100 dollars 20 are storage: free GPUs cost 20."""
    found = levers.waterfall(Baseline(100, overhead_fraction=0.2), [lever("spot", {"price": 0.4})])
    assert found.end_usd.mid == pytest.approx(20 + 0.4 * 80)


def test_no_lever_changes_what_is_fixed() -> None:
    """Of 100 dollars 20 are data and 10 storage: half the time at half the price leaves 20, 5 and 17.50."""
    run = Baseline(100, overhead_fraction=0.1, fixed_fraction=0.2)
    found = levers.waterfall(run, [lever("a", {"time": 0.5}), lever("b", {"price": 0.5})])
    assert found.end_usd.mid == pytest.approx(20 + 5 + 17.5)


def test_time_and_work_take_the_overhead_with_them() -> None:
    """Half the days are half of the storage."""
    for target in ("time", "work"):
        assert levers.waterfall(
            Baseline(100, overhead_fraction=0.2), [lever("a", {target: 0.5})]
        ).end_usd.mid == pytest.approx(50)


def test_a_component_is_all_of_its_parts() -> None:
    """A lever on attention acts on its products and its scores."""
    run = Baseline(100, {"attention.products": 0.3, "attention.scores": 0.2, "idle": 0.5})
    assert levers.waterfall(run, [lever("flash", {"attention": 0.5})]).end_usd.mid == pytest.approx(75)


def test_in_a_slot_the_highest_rank_counts_and_of_equals_the_least() -> None:
    """TF32 adds nothing beside BF16, in whichever order."""
    tf32, bf16 = (
        Lever(name, (Effect("matmul", Range.exact(keep), "format", rank),))
        for name, keep, rank in (("tf32", 0.2, 1.0), ("bf16", 0.3, 2.0))
    )
    run = Baseline(100, {"matmul": 1.0})
    assert levers.waterfall(run, [tf32, bf16]).end_usd.mid == pytest.approx(30)
    same = [Lever(name, (Effect("matmul", Range.exact(keep), "format"),)) for name, keep in (("a", 0.2), ("b", 0.3))]
    assert levers.waterfall(run, same).end_usd.mid == pytest.approx(20)


def test_an_effect_waits_for_what_it_needs() -> None:
    """FlashAttention before BF16 does nothing, and both together do both."""
    run = Baseline(100, {"attention": 0.5, "idle": 0.5})
    flash, bf16 = lever("flash", {"attention": 0.2}, needs=["bf16"]), lever("bf16", {"idle": 1.0})
    first, second = levers.waterfall(run, [flash, bf16]).steps
    assert first.saved_usd.mid == 0
    assert second.saved_usd.mid == pytest.approx(40)


def test_effects_of_one_lever_on_two_targets_multiply() -> None:
    """What is on all of the time and on a component acts on the component twice."""
    run = Baseline(100, {"matmul": 1.0})
    assert levers.waterfall(run, [lever("a", {"time": 0.5, "matmul": 0.5})]).end_usd.mid == pytest.approx(25)


def test_eight_of_ten_draws_of_one_lever_lie_between_its_ends() -> None:
    """Low and high are the ends of the middle 80%."""
    found = levers.waterfall(Baseline(100), [lever("a", {"time": Range(0.2, 0.5, 0.9)})], n_draws=100_000)
    assert found.end_usd.low == pytest.approx(20, rel=0.02)
    assert found.end_usd.high == pytest.approx(90, rel=0.02)


def test_two_levers_are_less_uncertain_than_their_ends_multiplied() -> None:
    """They do not fail together: the band is narrower than low by low to high by high."""
    both = [lever(name, {"time": Range(0.25, 0.5, 1.0)}) for name in "ab"]
    end = levers.waterfall(Baseline(100), both).end_usd
    assert 100 * 0.25**2 < end.low < end.mid == 25 < end.high < 100


def test_effects_of_one_lever_vary_together() -> None:
    """Two components of one lever are as uncertain as one."""
    run = Baseline(100, {"matmul": 0.5, "idle": 0.5})
    one = levers.waterfall(run, [lever("a", {"matmul": Range(0.2, 0.5, 0.9), "idle": Range(0.2, 0.5, 0.9)})])
    other = levers.waterfall(run, [lever("a", {"time": Range(0.2, 0.5, 0.9)})])
    assert one.end_draws_usd == pytest.approx(other.end_draws_usd)


def test_draws_follow_the_generator_and_are_the_same_without() -> None:
    """Nothing seeds globally."""
    found = [lever("a", {"time": Range(0.2, 0.5, 0.9)})]
    one, same = (levers.waterfall(Baseline(100), found).end_draws_usd for _ in range(2))
    other = levers.waterfall(Baseline(100), found, rng=np.random.default_rng(7)).end_draws_usd
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_measured_speed_up_becomes_what_is_left_of_its_component() -> None:
    """FlashAttention made a run 1.38 times as fast: of attention at 40% of it, 31% is left."""
    run = Baseline(100, {"attention": 0.4, "matmul": 0.6})
    found = levers.measured_lever("flash", 1.38, of="attention", baseline=run)
    assert levers.waterfall(run, [found]).end_usd.mid == pytest.approx(100 / 1.38)


def test_no_lever_is_the_bill() -> None:
    """Nothing pulled, nothing saved, nobody credited."""
    found = levers.waterfall(Baseline(100), [])
    assert (found.end_usd, found.steps, levers.shapley(Baseline(100), [])) == (Range.exact(100), (), {})


def test_one_part_of_a_component_leaves_the_others() -> None:
    """A lever on the scores does nothing to the products."""
    run = Baseline(100, {"attention.products": 0.3, "attention.scores": 0.2, "idle": 0.5})
    assert levers.waterfall(run, [lever("flash", {"attention.scores": 0.5})]).end_usd.mid == pytest.approx(90)


def test_a_component_may_take_no_time() -> None:
    """A lever on it is allowed, and saves nothing."""
    run = Baseline(100, {"matmul": 1.0, "idle": 0.0})
    assert levers.waterfall(run, [lever("busy", {"idle": 0.2})]).end_usd.mid == 100


def test_levers_made_in_one_slot_count_once() -> None:
    """Also those that come from a measured speed-up."""
    run = Baseline(100, {"matmul": 1.0})
    same = [lever("a", {"matmul": 0.5}, slot="format"), lever("b", {"matmul": 0.5}, slot="format")]
    measured = levers.measured_lever("c", 2.0, of="time", baseline=run, slot="format")
    assert levers.waterfall(run, [*same, measured]).end_usd.mid == pytest.approx(50)


def test_shares_that_were_rounded_leave_the_bill_as_it_is() -> None:
    """They need not sum to 1 to the last digit."""
    run = Baseline(50e6, {"matmul": 0.5, "idle": 0.5 + 9e-7})
    assert levers.waterfall(run, [lever("nothing", {"time": 1.0})]).end_usd.mid == pytest.approx(50e6, rel=1e-12)


@pytest.mark.parametrize(("other_keep", "is_shared"), [(0.95, False), (0.85, True), (1.15, True)])
def test_credit_is_shared_where_first_and_last_differ_by_a_tenth(other_keep: float, *, is_shared: bool) -> None:
    """Whichever of the two is larger."""
    found = [lever("mine", {"time": 0.5}), lever("other", {"price": other_keep})]
    assert levers.attribution(Baseline(100), found)[0].is_shared is is_shared


def test_sixteen_levers_can_be_averaged_over_all_orders() -> None:
    """As many as that still add up to the drop."""
    found = [lever(str(index), {"time": 0.9}) for index in range(16)]
    assert sum(levers.shapley(Baseline(100), found).values()) == pytest.approx(100 * (1 - 0.9**16))


@given(baseline=baselines(), keep=st.lists(st.floats(0.05, 1.0), min_size=4, max_size=4), overlap=st.booleans())
def test_no_credit_is_above_the_share_of_what_a_lever_acts_on(
    baseline: Baseline, keep: list[float], *, overlap: bool
) -> None:
    """First, last or on average, among levers of which none makes anything slower."""
    targets = ("matmul", "attention", "communication", levers.PRICE)
    slot = "same" if overlap else ""
    found = [
        lever("a", {"matmul": keep[0]}, slot=slot),
        lever("b", {"attention": keep[1], "matmul": keep[3]}, slot=slot),
        lever("c", {"communication": keep[2]}),
        lever("d", {levers.PRICE: keep[3]}),
    ]
    at_most = {target: baseline.share(target) for target in targets} | {levers.PRICE: 1 - baseline.overhead_fraction}
    for one, credit in zip(found, levers.attribution(baseline, found), strict=True):
        most = baseline.usd * sum(at_most[effect.target] for effect in one.effects) * (1 + 1e-9)
        assert max(credit.first_usd, credit.last_usd, credit.shapley_usd) <= most


# Draws.


@given(baseline=baselines(), found=several(least=1), data=st.data())
def test_the_order_does_not_change_one_draw_of_the_end(
    baseline: Baseline, found: list[Lever], data: st.DataObject
) -> None:
    """Dragging a lever to another place leaves the band where it is."""
    names = data.draw(st.permutations([one.name for one in found]))
    one, other = levers.waterfall(baseline, found, n_draws=8), levers.waterfall(baseline, found, names, n_draws=8)
    assert other.end_draws_usd == pytest.approx(one.end_draws_usd, rel=1e-9)


def test_a_lever_works_as_well_in_each_draw_whatever_others_there_are() -> None:
    """So that two plans differ by what was changed in them, and not by chance."""
    wide, exact = lever("a", {"time": Range(0.2, 0.5, 0.9)}), lever("b", {"price": 0.5})
    alone = levers.waterfall(Baseline(100), [wide]).end_draws_usd
    beside = levers.waterfall(Baseline(100), [exact, wide]).end_draws_usd
    assert beside == pytest.approx(alone / 2)


def test_two_levers_work_well_or_badly_on_their_own() -> None:
    """Their draws have no correlation, within 4 standard errors."""
    first, second = (
        np.log(levers.waterfall(Baseline(100), [lever(name, {"time": Range(0.25, 0.5, 1.0)})]).end_draws_usd)
        for name in ("lever 1", "lever 2")
    )
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / math.sqrt(len(first))


def test_a_generator_gives_the_same_draws_from_the_same_seed() -> None:
    """And other draws when it is used again."""
    found, rng = [lever("a", {"time": Range(0.2, 0.5, 0.9)})], np.random.default_rng(7)
    one, next_one = (levers.waterfall(Baseline(100), found, rng=rng).end_draws_usd for _ in range(2))
    same = levers.waterfall(Baseline(100), found, rng=np.random.default_rng(7)).end_draws_usd
    assert np.array_equal(one, same)
    assert not np.array_equal(one, next_one)


def test_what_may_be_left_more_is_saved_less() -> None:
    """The band of a saving is that of the bill, seen from the baseline."""
    (step,) = levers.waterfall(Baseline(100), [lever("a", {"time": Range(0.2, 0.5, 0.9)})]).steps
    assert step.saved_usd.low == pytest.approx(100 - step.usd.high)
    assert step.saved_usd.high == pytest.approx(100 - step.usd.low)


@given(name=st.text(min_size=1, max_size=8))
def test_one_draw_still_has_the_middle_within_its_band(name: str) -> None:
    """Wherever it falls."""
    end = levers.waterfall(Baseline(100), [lever(name, {"time": Range(0.2, 0.5, 0.9)})], n_draws=1).end_usd
    assert end.low <= end.mid == 50 <= end.high


@given(keep=keeps(), factor=st.floats(1.0, 3.0))
def test_a_wider_range_has_a_wider_band(keep: Range, factor: float) -> None:
    """On both sides of the middle."""
    wider = Range(keep.low / factor, keep.mid, keep.high * factor)
    one, other = (levers.waterfall(Baseline(100), [lever("a", {"time": left})]).end_usd for left in (keep, wider))
    assert other.low <= one.low * (1 + 1e-9)
    assert other.high >= one.high * (1 - 1e-9)


def test_a_bill_that_is_certain_is_at_or_below_itself() -> None:
    """The chance of exactly that bill is all of it."""
    found = levers.waterfall(Baseline(100), [lever("a", {"time": 0.5})])
    assert [found.chance_at_or_below(usd) for usd in (found.end_usd.mid, 49.99)] == [1.0, 0.0]


# Sentences.

RUN = Baseline(100, {"matmul": 0.6, "idle": 0.4})


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: lever("a", {"time": 0.0}), "lever 'a' leaves 0 of time (from 0 to 0); what is left must be above 0"),
        (lambda: lever("a", {"time": -1.0}), "lever 'a' leaves -1 of time"),
        (lambda: lever("a", {"time": math.nan}), "lever 'a' leaves nan of time"),
        (lambda: lever("a", {"time": math.inf}), "what is left must be above 0 and finite: 0.5 halves it"),
        (
            lambda: lever("a", {"time": Range(0.9, 0.5, 0.2)}),
            "leaves 0.9, 0.5, 0.2 of time; low, mid and high must rise",
        ),
        (lambda: lever("a", {"time": Range(0.0, 0.5, 0.9)}), "lever 'a' leaves 0.5 of time (from 0 to 0.9)"),
        (lambda: lever("a", {"time": Range(0.2, 0.5, math.inf)}), "lever 'a' leaves 0.5 of time (from 0.2 to inf)"),
        (lambda: lever("a", {"time": Range(0.5, 0.4, 0.6)}), "leaves 0.5, 0.4, 0.6 of time; low, mid and high must"),
        (lambda: lever("a", {"time": Range(0.5, 0.7, 0.6)}), "leaves 0.5, 0.7, 0.6 of time; low, mid and high must"),
        (lambda: lever("a", {"matmull": 0.5}), "no component 'matmull'. Did you mean 'matmul'?"),
        (lambda: lever("a", {"time": 0.5}, group="prise"), "no group of levers 'prise'. Did you mean 'price'?"),
        (
            lambda: levers.waterfall(RUN, [lever("flash", {"attention": 0.5})]),
            "lever 'flash' acts on attention, which the baseline does not have; it has matmul, idle",
        ),
        (
            lambda: levers.waterfall(Baseline(100), [lever("flash", {"attention": 0.5})]),
            "lever 'flash' acts on attention, which the baseline does not have; it has no components at all",
        ),
        (
            lambda: levers.waterfall(RUN, [lever("a", {"time": 0.5})], ["a", "a"]),
            "the order names 'a' 2 times; name each lever once",
        ),
        (
            lambda: levers.waterfall(RUN, [lever("bf16", {"time": 0.5})], ["bf17"]),
            "no lever 'bf17'. Did you mean 'bf16'?",
        ),
        (
            lambda: levers.waterfall(RUN, [lever("a", {"time": 0.5}), lever("a", {"time": 0.6})]),
            "two levers are called 'a' and differ; give each a name of its own",
        ),
        (lambda: Baseline(0), "usd must be a positive, finite number of US dollars, not 0"),
        (lambda: Baseline(100, {"matmul": 0.5}), "the shares of the time sum to 0.5; they must sum to 1"),
        (
            lambda: Baseline(100, {"matmul": 1.5, "idle": -0.5}),
            "the share of idle is -0.5; it must be a number, 0 or more",
        ),
        (lambda: Baseline(100, {"matmul": math.nan}), "the share of matmul is nan"),
        (lambda: Baseline(100, {"waiting": 1.0}), "no component 'waiting'"),
        (
            lambda: Baseline(100, overhead_fraction=1.0),
            "overhead_fraction is 1.0; it must be a number from 0",
        ),
        (
            lambda: levers.measured_lever("flash", 1.8, of="idle", baseline=RUN),
            "lever 'flash' is said to make the run 1.8 times as fast, which saves 44% of its time; idle is 40% of it",
        ),
        (
            lambda: levers.measured_lever("flash", 0.0, of="idle", baseline=RUN),
            "a speed-up of 0; it must be above 0",
        ),
        (
            lambda: levers.measured_lever("flash", math.nan, of="idle", baseline=RUN),
            "lever 'flash' has a speed-up of nan; it must be above 0: 1 changes nothing",
        ),
        (
            lambda: levers.measured_lever("flash", Range(-1.0, 1.1, 1.2), of="idle", baseline=RUN),
            "lever 'flash' has a speed-up of -1; it must be above 0: 1 changes nothing",
        ),
        (
            lambda: levers.measured_lever("flash", Range(1.5, 1.2, 1.1), of="idle", baseline=RUN),
            "lever 'flash' has a speed-up of 1.5, 1.2, 1.1; low, mid and high must rise",
        ),
        (
            lambda: levers.measured_lever("flash", Range(1.1, 1.2, 1.8), of="idle", baseline=RUN),
            "which saves 44% of its time; idle is 40% of it, and no more than that can be saved there",
        ),
        (
            lambda: levers.measured_lever("flash", 2.0, of="idle", baseline=Baseline(9, {"matmul": 0.5, "idle": 0.5})),
            "which saves 50% of its time; idle is 50% of it, and no more than that can be saved there",
        ),
        (
            lambda: levers.measured_lever("slow", 0.9, of="idle", baseline=Baseline(9, {"matmul": 1.0, "idle": 0.0})),
            "lever 'slow' acts on idle, which takes none of the baseline's time: no speed-up is there",
        ),
        (
            lambda: levers.measured_lever("spot", 0.9, of="price", baseline=RUN),
            "lever 'spot' acts on price, which takes none of the baseline's time: no speed-up is there",
        ),
        (
            lambda: levers.waterfall(Baseline(9, {"attention": 1.0}), [lever("a", {"attention.scores": 0.5})]),
            "lever 'a' acts on attention.scores, which the baseline does not have; it has attention",
        ),
        (lambda: levers.waterfall(RUN, [], n_draws=0), "n_draws is 0; a band needs 1 draw or more"),
        (lambda: Baseline(100, {"matmul": 0.9999}), "the shares of the time sum to 0.9999; they must sum to 1"),
        (
            lambda: Baseline(100, overhead_fraction=-0.1),
            "overhead_fraction is -0.1; it must be a number from 0 to below 1",
        ),
        (lambda: Baseline(100, fixed_fraction=1.0), "fixed_fraction is 1.0; it must be a number from 0 to below 1"),
        (lambda: Baseline(100, overhead_fraction=0.5, fixed_fraction=0.5), "leaves nothing of the bill for GPU-hours"),
        (
            lambda: levers.listed(46_000, STORY),
            "the listed savings come to $46,000, 100% of the bill of $46,000; savings multiply and never add",
        ),
        (lambda: levers.listed(0, {}), "baseline_usd must be a positive, finite number of US dollars, not 0."),
        (lambda: levers.measured_lever("a", 1.1, of="attention", baseline=RUN), "which the baseline does not have"),
        (lambda: levers.shapley(RUN, [lever(str(n), {"time": 0.9}) for n in range(17)]), "there are 17 levers"),
        (
            lambda: levers.listed(40_000, STORY),
            "the listed savings come to $46,000, 115% of the bill of $40,000; savings multiply and never add",
        ),
        (lambda: levers.listed(40_000, {"a": 0.0}), "the listed saving of 'a' must be a positive, finite number"),
        (
            lambda: lever("a", {"time": "0.5"}),  # type: ignore[dict-item]
            "what lever 'a' leaves of time must be a number or a Range, not '0.5'",
        ),
        (
            lambda: levers.measured_lever("a", "2x", of="idle", baseline=RUN),  # type: ignore[arg-type]
            "what lever 'a' has as its speed-up must be a number or a Range, not '2x'",
        ),
        (
            lambda: Baseline(100, {"matmul": "1"}),  # type: ignore[dict-item]
            "the share of matmul is '1'; it must be a number, 0 or more",
        ),
        (
            lambda: Baseline(100, overhead_fraction="20%"),  # type: ignore[arg-type]
            "overhead_fraction is '20%'; it must be a number from 0 to below 1",
        ),
        (lambda: levers.waterfall(RUN, [lever("a", {"time": 0.5})], order="a, b"), "no lever 'a, b'"),
        (lambda: levers.speedup("fp32 to bf15"), "no measured change 'fp32 to bf15'. Did you mean 'fp32 to bf16'?"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(made: Callable[[], object], sentence: str) -> None:
    """What was given, what is allowed, and the way out."""
    with pytest.raises((ValueError, tables.UnknownName), match=re.escape(sentence)) as error:
        made()
    assert "\n" not in str(error.value)


def test_what_another_lever_would_save_is_its_step_in_the_last_place() -> None:
    """Overlaps and needs counted, without draws."""
    pulled = [lever("spot", {"price": 0.4}), lever("fused", {"attention": 0.5}, slot="scores")]
    others = [
        lever("flash", {"attention": 0.3}, slot="scores"),
        lever("fp8", {"matmul": 0.6}, needs=["bf16"]),
        lever("busy", {"idle": 0.5}),
    ]
    run = Baseline(100, {"matmul": 0.4, "attention": 0.3, "idle": 0.3})
    last = [levers.waterfall(run, [*pulled, one]).steps[-1].saved_usd.mid for one in others]
    assert levers.further(run, pulled, others) == pytest.approx(last)
    assert last[1] == 0 < min(last[0], last[2])
    assert levers.further(run, [], []) == []


def test_a_text_is_one_name() -> None:
    """And not its letters."""
    assert lever("flash", {"time": 0.5}, needs="bf16").effects[0].needs == ("bf16",)
    assert levers.waterfall(RUN, [lever("flash", {"time": 0.5})], order="flash").order == ("flash",)


# Evidence.


def test_every_known_lever_says_what_it_takes_and_overlaps_both_ways() -> None:
    """Effort, group and targets are known words, and an overlap is one from either side."""
    known = levers.known()
    for name, one in known.items():
        assert one.group in levers.GROUPS
        assert set(one.acts_on) <= {*levers.COMPONENTS, levers.PRICE, levers.WORK}
        assert all(name in known[other].overlaps_with for other in one.overlaps_with), name


def test_known_levers_come_with_the_least_effort_first() -> None:
    """A flag before a line before a day before a week."""
    efforts = [one.effort for one in levers.known().values()]
    assert efforts == sorted(efforts, key=["a flag", "a line", "a day", "a week"].index)


@pytest.mark.parametrize(
    ("change", "low", "high"),
    [
        ("tf32 to bf16", 334 / 312, 78 / 41),
        ("fp32 to bf16", 36 / 10, 173 / 42),
        ("full to selective recompute", 1.42 / 1.10, 49.05 / 37.83),
        ("bf16 to fp8", 5856 / 5873, 1.5),
        ("none to full recompute", 19.6 / 27.2, 19.6 / 27.2),
    ],
)
def test_a_measured_speed_up_is_the_ratio_of_its_rows(change: str, low: float, high: float) -> None:
    """Of times the first over the second, of rates the second over the first."""
    found = levers.speedup(change)
    assert found.low == pytest.approx(low)
    assert found.high >= high * (1 - 1e-9)


def test_a_measured_speed_up_has_the_median_of_its_rows_in_the_middle() -> None:
    """One row that is far off does not move it, and a row that is a range counts from its own low."""
    rows = [one.factor for one in levers.evidence() if one.change == "eager to compiled"]
    found = levers.speedup("eager to compiled")
    assert found.mid == np.median([row.mid for row in rows])
    assert (found.low, found.high) == (min(row.low for row in rows), max(row.high for row in rows))


def test_a_range_that_was_measured_has_its_geometric_mean_in_the_middle() -> None:
    """Factors multiply."""
    ranges = [one.factor for one in levers.evidence() if one.before is None]
    assert ranges
    assert all(row.mid == pytest.approx(math.sqrt(row.low * row.high)) for row in ranges)


def test_listed_savings_are_kept_as_they_were_given() -> None:
    """Later changes of the mapping do not reach them."""
    given_usd = {"spot": 25_000.0}
    found = levers.listed(50_000, given_usd)
    given_usd["spot"] = 1.0
    assert found.added_usd == 25_000
