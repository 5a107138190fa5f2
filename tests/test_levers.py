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


def test_a_waterfall_without_one_lever_keeps_the_order_of_the_others() -> None:
    """What remains is what was there."""
    found = levers.waterfall(Baseline(100), [lever(name, {"time": 0.5}) for name in "abc"])
    assert levers.without(found, "b").order == ("a", "c")


def test_no_lever_is_the_bill() -> None:
    """Nothing pulled, nothing saved, nobody credited."""
    found = levers.waterfall(Baseline(100), [])
    assert (found.end_usd, found.steps, levers.shapley(Baseline(100), [])) == (Range.exact(100), (), {})


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
        (lambda: Baseline(100, {"matmul": 1.5, "idle": -0.5}), "the share of idle is -0.5; it must be a fraction"),
        (lambda: Baseline(100, {"matmul": math.nan}), "the share of matmul is nan"),
        (lambda: Baseline(100, {"waiting": 1.0}), "no component 'waiting'"),
        (
            lambda: Baseline(100, overhead_fraction=1.0),
            "overhead_fraction is 1.0; it must be a fraction",
        ),
        (
            lambda: levers.measured_lever("flash", 1.8, of="idle", baseline=RUN),
            "lever 'flash' is said to make the run 1.8 times as fast, which saves 44% of its time; idle is 40% of it",
        ),
        (
            lambda: levers.measured_lever("flash", 0.0, of="idle", baseline=RUN),
            "a speed-up of 0; it must be above 0",
        ),
        (lambda: levers.measured_lever("a", 1.1, of="attention", baseline=RUN), "which the baseline does not have"),
        (lambda: levers.shapley(RUN, [lever(str(n), {"time": 0.9}) for n in range(17)]), "there are 17 levers"),
        (
            lambda: levers.listed(40_000, STORY),
            "the listed savings come to $46,000, 115% of the bill of $40,000; savings multiply and never add",
        ),
        (lambda: levers.listed(40_000, {"a": 0.0}), "the listed saving of 'a' must be a positive, finite number"),
        (lambda: levers.speedup("fp32 to bf15"), "no measured change 'fp32 to bf15'. Did you mean 'fp32 to bf16'?"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(made: Callable[[], object], sentence: str) -> None:
    """What was given, what is allowed, and the way out."""
    with pytest.raises((ValueError, tables.UnknownName), match=re.escape(sentence)) as error:
        made()
    assert "\n" not in str(error.value)


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
