import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costkit import architectures, plan, scaling, training
from costkit.plan import Frontier, sizing
from costkit.plan.sizing import Intervals, Quality, words
from costkit.reading import MAX_BYTES
from costkit.units import count, duration, flop, number, percent, usd

BUDGET, LOSS, SIZE = "training.budget_usd", "training.target_loss", "training.size_fraction"
SERVED, UNIQUE, LAW = "data.inference_tokens", "data.unique_tokens", "training.law"
SITUATIONS: dict[str, dict[str, object]] = {
    "budget": {},
    "target": {LOSS: 2.1},
    "smaller": {SIZE: 0.5},
    "served": {SERVED: 1e13},
    "limited": {UNIQUE: 1e10},
    "both": {SERVED: 1e13, UNIQUE: 1e10},
    "everything": {LOSS: 2.4, SERVED: 1e12, UNIQUE: 2e10, SIZE: 1.5},
    "no draws": {LAW: "sardana-2024", SERVED: 1e12},
    "frontier only": {LAW: "deepseek-2024"},
}
PREDICTING = [name for name in SITUATIONS if name != "frontier only"]


@functools.cache
def answered(items: tuple[tuple[str, Any], ...]) -> Frontier:
    """The answer to the default plan with these overrides, computed once."""
    return plan.frontier(plan.read("case-50k", dict(items)))


def answer(overrides: dict[str, object] | None = None) -> Frontier:
    """The answer to the default plan with overrides."""
    return answered(tuple((overrides or {}).items()))


def law_of(found: Frontier) -> scaling.ScalingLaw:
    """The law of an answer that has a loss."""
    assert isinstance(found.law, scaling.ScalingLaw)
    return found.law


def quality(found: Frontier) -> Quality:
    """The quality of an answer whose law predicts a loss."""
    assert found.quality is not None
    return found.quality


def known(found: Frontier) -> Intervals:
    """The intervals of an answer whose law has draws."""
    assert found.intervals is not None
    return found.intervals


def table(tmp_path: Path, text: str | bytes, name: str = "runs.csv") -> Path:
    """A file of runs."""
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


situations = pytest.mark.parametrize("situation", SITUATIONS)
predicting = pytest.mark.parametrize("situation", PREDICTING)


def test_the_budget_is_spent_on_training() -> None:
    """With nothing served the best model costs the budget."""
    assert answer().usd(answer().choice) == pytest.approx(50_000, rel=1e-9)


def test_the_compute_of_the_budget_is_that_of_training() -> None:
    """The same price, MFU and goodput turn dollars into FLOP as `training` does."""
    hardware, how = answer().plan.hardware, answer().plan.training
    assert how.mfu is not None
    assert how.goodput_fraction is not None
    flop = training.budget_flop(
        usd=50_000,
        gpu=hardware.gpu,
        usd_per_gpu_hour=hardware.usd_per_gpu_hour,
        mfu=how.mfu,
        goodput_fraction=how.goodput_fraction,
    )
    assert answer().budget_flop == pytest.approx(flop, rel=1e-12)


def test_the_budget_s_split_is_the_law_s() -> None:
    """The plan's answer is `scaling.optimal_split` for the plan's compute."""
    found = answer()
    assert found.optimum == scaling.optimal_split(found.law, flop=found.budget_flop)


def test_the_run_of_the_answer_costs_what_the_answer_says() -> None:
    """GPU-hours times the price are the training dollars."""
    found = answer()
    assert found.run.usd.mid == pytest.approx(found.usd(found.choice), rel=1e-12)


def test_a_target_loss_is_reached() -> None:
    """The chosen split has the loss that was asked for."""
    split = answer({LOSS: 2.1}).choice
    assert scaling.loss(answer().law, n_params=split.n_params, n_tokens=split.n_tokens) == pytest.approx(2.1, abs=1e-9)


def test_a_target_loss_undoes_the_budget() -> None:
    """Asking for the loss that the budget reaches costs the budget."""
    found = answer({LOSS: quality(answer()).loss})
    assert found.usd(found.choice) == pytest.approx(50_000, rel=1e-6)


def test_a_target_loss_makes_the_budget_idle() -> None:
    """A larger budget changes nothing then."""
    assert answer({LOSS: 2.1, BUDGET: 1e6}).choice == answer({LOSS: 2.1}).choice


def test_a_target_loss_says_that_the_budget_is_idle() -> None:
    """And the warning says so, with the budget."""
    assert "A target loss is set, so the budget of $50,000 decides nothing here." in answer({LOSS: 2.1}).warnings


@pytest.mark.parametrize("fraction", [0.5, 0.7, 2.0])
@pytest.mark.parametrize("base", [{}, {UNIQUE: 1e10}, {SERVED: 1e11}], ids=["alone", "limited", "served"])
def test_another_size_reaches_the_same_loss(fraction: float, base: dict[str, object]) -> None:
    """The dial changes size, tokens and cost, never the quality."""
    found = answer({**base, SIZE: fraction})
    split, limit = found.choice, found.plan.data.unique_tokens
    again = scaling.loss(found.law, n_params=split.n_params, n_tokens=split.n_tokens, unique_tokens=limit)
    assert again == pytest.approx(quality(found).loss, abs=1e-8)


def test_another_size_is_the_fraction_of_the_best() -> None:
    """Half the size is half the optimum's parameters."""
    found = answer({SIZE: 0.5})
    assert found.choice.n_params == pytest.approx(0.5 * float(found.optimum.n_params), rel=1e-12)


def test_another_size_costs_what_overtraining_says() -> None:
    """The overhead is the closed form's."""
    expected = scaling.overtraining(answer().law, size_fraction=0.5).overhead_fraction
    assert answer({SIZE: 0.5}).overhead_fraction == pytest.approx(expected, rel=1e-6)


def test_a_size_that_never_gets_there_is_refused() -> None:
    """A tenth of the best size never reaches the loss; the sentence names the key to raise."""
    with pytest.raises(ValueError, match=r"never reaches a loss of 2\.28.*raise training\.size_fraction"):
        answer({SIZE: 0.1})


def test_serving_makes_a_smaller_model_best() -> None:
    """Ten trillion tokens to serve shrink the best size and lengthen its training."""
    alone, served = answer().optimum, answer({SERVED: 1e13}).optimum
    assert (served.n_params < alone.n_params, served.n_tokens > alone.n_tokens) == (True, True)


def test_serving_keeps_the_quality() -> None:
    """The budget sets the loss, whatever is served."""
    assert quality(answer({SERVED: 1e13})).loss == quality(answer()).loss


def test_serving_is_never_dearer_than_the_training_optimum() -> None:
    """Over its life the answer costs no more than the model that would be best for training alone."""
    found = answer({SERVED: 1e13})
    alone = scaling.cheapest_for_loss(found.law, loss=quality(found).loss)
    assert found.lifetime_usd(found.choice) < found.lifetime_usd(alone)


def test_the_lifetime_is_training_and_serving() -> None:
    """6ND + 2N times the tokens served, at the plan's price."""
    found = answer({SERVED: 1e13})
    serving = 2 * float(found.choice.n_params) * 1e13 * found.usd_per_flop
    assert found.lifetime_usd(found.choice) == pytest.approx(found.usd(found.choice) + serving, rel=1e-12)


def test_dearer_serving_is_more_serving() -> None:
    """Twice the price of a serving FLOP is twice the tokens."""
    dear = answer({SERVED: 1e13, "data.serving_cost_ratio": 2.0}).optimum
    assert dear.n_params == pytest.approx(answer({SERVED: 2e13}).optimum.n_params, rel=1e-12)


def test_limited_data_repeats() -> None:
    """10B unique tokens are seen several times, and the loss suffers."""
    found = answer({UNIQUE: 1e10})
    worse = quality(found).loss > quality(answer()).loss
    assert (float(found.choice.epochs) > 1, worse) == (True, True)


def test_plenty_of_data_is_no_limit_worth_a_word() -> None:
    """A limit far above the tokens used moves the best size by less than a per cent."""
    assert answer({UNIQUE: 1e13}).optimum.n_params == pytest.approx(answer().optimum.n_params, rel=0.01)


@pytest.mark.parametrize("name", plan.names())
@pytest.mark.parametrize("limit", [1e8, 1e9])
def test_the_low_end_of_the_data_limit_has_an_answer(name: str, limit: float) -> None:
    """The slider of unique tokens starts at 1e8: to repeat them a thousand times is wasteful, not an error."""
    assert float(plan.frontier(plan.read(name, {UNIQUE: limit})).choice.epochs) > 1


@pytest.mark.parametrize("low_or_high", ["low", "high"])
@pytest.mark.parametrize("key", [BUDGET, UNIQUE, SERVED, "data.serving_cost_ratio", "model.n_params", "data.n_tokens"])
def test_both_ends_of_a_slider_have_an_answer(key: str, low_or_high: str) -> None:
    """Every control can be pushed to its end under the default plan."""
    end = float(getattr(plan.fields()[key], low_or_high))
    found = answer({key: end})
    assert math.isfinite(found.usd(found.choice))


def test_serving_and_limited_data_are_solved_together() -> None:
    """No split of the same loss on the same limited data costs less over its life, by brute force."""
    found = answer({SERVED: 1e13, UNIQUE: 1e10})
    tokens = float(found.optimum.n_tokens) * np.geomspace(0.01, 100, 4001)
    sizes = np.asarray(
        scaling.params_for_loss(found.law, n_tokens=tokens, loss=quality(found).loss, unique_tokens=1e10)
    )
    assert float(np.min(sizes * (6 * tokens + 2e13))) * found.usd_per_flop >= found.least_usd * (1 - 1e-9)


@predicting
def test_the_flat_zone_really_costs_one_per_cent(situation: str) -> None:
    """Its ends, recomputed through the loss, reach the same quality for 1% more dollars."""
    found = answer(SITUATIONS[situation])
    loss, limit, costs = quality(found).loss, found.demand.unique_tokens, []
    for end in quality(found).flat_zone:
        tokens = scaling.tokens_for_loss(found.law, n_params=end.n_params, loss=loss, unique_tokens=limit)
        costs.append(found.lifetime_usd(scaling.Split(end.n_params, tokens)))
    assert costs == pytest.approx([1.01 * found.least_usd] * 2, rel=1e-5)


@pytest.mark.parametrize("situation", ["budget", "target", "served", "limited", "both"])
def test_the_intervals_hold_the_answer(situation: str) -> None:
    """The middle 80% of size and tokens contain the point."""
    found = answer(SITUATIONS[situation])
    size, tokens = known(found).n_params, known(found).n_tokens
    held = (
        size.low < float(found.optimum.n_params) < size.high,
        tokens.low < float(found.optimum.n_tokens) < tokens.high,
    )
    assert held == (True, True)


def test_the_interval_of_the_loss_holds_the_answer() -> None:
    """So does that of the loss at the default budget."""
    found = answer()
    assert known(found).loss.low < quality(found).loss < known(found).loss.high


def test_an_interval_is_the_middle_80_per_cent_of_the_draws() -> None:
    """It is recomputed from the draws one by one."""
    found, law = answer(), law_of(answer())
    sizes = [
        float(scaling.optimal_split(law.with_coefficients(*draw), flop=found.budget_flop).n_params)
        for draw in law.draws
    ]
    ends = [known(found).n_params.low, known(found).n_params.high]
    assert ends == pytest.approx(np.percentile(sizes, (10, 90)).tolist())


def test_a_law_without_draws_has_no_interval() -> None:
    """No interval is better than an invented one."""
    assert answer({LAW: "sardana-2024"}).intervals is None


def test_the_curve_passes_through_the_answer() -> None:
    """The frontier drawn is the frontier answered."""
    found = answer()
    at = np.interp(np.log(float(found.choice.flop)), np.log(found.curve.flop), np.log(found.curve.mid))
    assert math.exp(at) == pytest.approx(float(found.choice.n_params), rel=1e-3)


@pytest.mark.parametrize("situation", ["budget", "served", "limited", "both"])
def test_the_band_of_the_curve_is_a_band(situation: str) -> None:
    """Its lower edge lies below its upper edge everywhere."""
    curve = answer(SITUATIONS[situation]).curve
    assert bool(np.all(curve.low <= curve.high))


@predicting
def test_the_least_of_the_size_costs_is_the_least_cost(situation: str) -> None:
    """The curve of cost by size touches the best cost and never passes below it."""
    found = answer(SITUATIONS[situation])
    assert 1 - 1e-9 <= quality(found).size_cost.lifetime_usd.min() / found.least_usd < 1.01


def test_a_frontier_law_answers_without_a_loss() -> None:
    """It gives size and tokens for the budget, and nothing that would need a loss."""
    found = answer({LAW: "20-tokens-per-parameter"})
    assert (found.quality, found.intervals) == (None, None)
    assert found.choice.tokens_per_param == pytest.approx(20)


@pytest.mark.parametrize("overrides", [{LOSS: 2.1}, {SERVED: 1e12}, {UNIQUE: 1e10}], ids=["loss", "served", "limited"])
def test_a_frontier_law_refuses_what_needs_a_loss(overrides: dict[str, object]) -> None:
    """The sentence names a law that could answer."""
    with pytest.raises(ValueError, match=r"'deepseek-2024' gives the best size but no loss.*'besiroglu-2024'"):
        answer({LAW: "deepseek-2024", **overrides})


def test_a_frontier_law_resizes_at_equal_compute() -> None:
    """Half the size takes twice the tokens where no loss can be held."""
    half, whole = (answer({LAW: "deepseek-2024", SIZE: fraction}).choice for fraction in (0.5, 1.0))
    expected = [float(whole.flop), 0.5 * float(whole.n_params)]
    assert [float(half.flop), float(half.n_params)] == pytest.approx(expected)


def test_the_plan_s_own_split_is_judged() -> None:
    """What the plan wastes is the regret of its size and tokens."""
    found = answer()
    assert quality(found).planned_regret == scaling.regret(found.law, n_params=3e9, n_tokens=60e9)


@pytest.mark.parametrize("law", ["besiroglu-2024", "refit-245", "sardana-2024", "deepseek-2024"])
def test_a_budget_too_small_for_any_model_is_refused(law: str) -> None:
    """One cent at a bad utilisation buys no model; the sentence says what the least one needs."""
    with pytest.raises(ValueError, match=r"A budget of \$0\.01 is too small for any model.* needs about \$"):
        answer({BUDGET: 0.01, "hardware.usd_per_gpu_hour": 15.0, "training.mfu": 0.01, LAW: law})


@pytest.mark.parametrize("law", ["besiroglu-2024", "refit-245", "sardana-2024", "deepseek-2024"])
def test_a_budget_too_small_for_any_model_is_told_a_larger_one(law: str) -> None:
    """What the least model needs is more than what was given."""
    with pytest.raises(ValueError, match="too small") as error:
        answer({BUDGET: 0.01, "hardware.usd_per_gpu_hour": 15.0, "training.mfu": 0.01, LAW: law})
    assert float(str(error.value).split("needs about $")[1].rstrip(".").replace(",", "")) > 0.01


def test_serving_that_leaves_no_model_is_told_apart_from_a_small_budget() -> None:
    """Where the tokens to serve shrink the best model to nothing the sentence names them and the way out."""
    with pytest.raises(ValueError, match=r"1,000T tokens served.*lower data\.inference_tokens or raise the budget\.$"):
        answer({BUDGET: 0.01, SERVED: 1e15})


def test_a_loss_too_easy_for_any_model_does_not_blame_the_budget() -> None:
    """A target loss that a toy reaches is refused for what it is: the budget decides nothing there."""
    with pytest.raises(ValueError, match=r"target_loss|loss of 20"):
        answer({LOSS: 20.0})


@pytest.mark.parametrize("loss", [1.0, 1.8172])
def test_a_loss_below_the_floor_is_refused(loss: float) -> None:
    """The sentence names the law and its floor."""
    with pytest.raises(ValueError, match=r"can't be reached under 'besiroglu-2024': its floor is 1\.8172"):
        answer({LOSS: loss})


def test_a_loss_below_the_floor_of_the_data_is_refused() -> None:
    """With limited data the floor is higher, and the sentence says why."""
    with pytest.raises(ValueError, match=r"with this much unique data, however often it is repeated"):
        answer({LOSS: 2.0, UNIQUE: 1e10})


def test_extrapolation_is_a_warning() -> None:
    """Past the largest run the answer says by how much."""
    found = answer({BUDGET: 1e7})
    times = number(float(found.choice.flop) / found.law.flop_range[1])
    assert any(f"is {times} times the largest run behind this law" in line for line in found.warnings)


def test_extrapolation_downwards_is_a_warning() -> None:
    """Below the smallest run too."""
    found = answer({BUDGET: 10.0})
    times = number(found.law.flop_range[0] / float(found.choice.flop))
    assert any(f"{times} times less than the smallest run behind this law" in line for line in found.warnings)


def test_no_extrapolation_is_no_warning() -> None:
    """Within the runs and with fresh data there is nothing to warn of."""
    assert answer().warnings == ()


def test_more_than_sixteen_epochs_are_a_warning() -> None:
    """Past what was tested the answer says how often each token is seen."""
    found = answer({UNIQUE: 1e9})
    epochs = number(float(found.choice.epochs))
    assert any(line.startswith(f"{epochs} epochs are past 16") for line in found.warnings)


def test_up_to_sixteen_epochs_are_no_warning() -> None:
    """Eight epochs were tested."""
    found = answer({UNIQUE: 1e10})
    assert (1 < float(found.choice.epochs) < 16, found.warnings) == (True, ())


def test_a_law_that_states_sizes_only_is_held_to_them() -> None:
    """Muennighoff et al. state no compute, but no model beyond nine billion parameters: past that is a warning."""
    found = answer({LAW: "muennighoff-2023", BUDGET: 1e7})
    size = float(found.choice.n_params)
    expected = f"{count(size)} parameters are {number(size / 9e9)} times the largest model behind this law"
    assert [line for line in found.warnings if line.startswith(expected)] == [f"{expected}: an extrapolation."]


def test_a_law_that_states_sizes_only_says_nothing_within_them() -> None:
    """The same law warns of nothing at a size among its runs."""
    found = answer({LAW: "muennighoff-2023"})
    assert (7e6 < float(found.choice.n_params) < 9e9, found.warnings) == (True, ())


def test_another_way_to_count_parameters_is_a_warning() -> None:
    """Kaplan et al. leave out embeddings, and the answer says so."""
    assert any("non-embedding" in line for line in answer({LAW: "kaplan-2020"}).warnings)


@situations
def test_the_headline_holds_size_tokens_and_dollars(situation: str) -> None:
    """The sentence carries the numbers of the answer, computed."""
    found = answer(SITUATIONS[situation])
    expected = [count(float(found.choice.n_params)), count(float(found.choice.n_tokens))]
    if found.demand.served_tokens:
        expected.append(usd(found.lifetime_usd(found.choice)))
    elif found.plan.training.target_loss is not None or found.plan.training.size_fraction != 1:
        expected.append(usd(found.usd(found.choice)))
    else:
        expected.append("$50,000")
    assert [text for text in expected if text not in found.headline] == []


@situations
def test_the_headline_is_one_sentence(situation: str) -> None:
    """It starts with a capital or an amount and ends with its only full stop."""
    headline = answer(SITUATIONS[situation]).headline
    assert (headline[-1], headline[0].isupper() or headline[0] == "$", ". " in headline) == (".", True, False)


@predicting
def test_the_headline_names_the_loss(situation: str) -> None:
    """Quality is always said."""
    found = answer(SITUATIONS[situation])
    assert f"a loss of {number(quality(found).loss)}" in found.headline.replace("A loss", "a loss")


def test_the_headline_names_the_flat_zone() -> None:
    """How much the exact size matters is a part of the default sentence."""
    found = answer()
    small, large = (count(float(end.n_params)) for end in quality(found).flat_zone)
    assert f"any size from {small} to {large} costs at most 1% more" in found.headline


@situations
def test_the_facts_agree_with_the_answer(situation: str) -> None:
    """Size, data and the plan's own split are in the key numbers as the answer has them."""
    found = answer(SITUATIONS[situation])
    facts = dict(found.facts)
    starts = (
        facts["Model size"].startswith(count(float(found.choice.n_params))),
        facts["Training data"].startswith(count(float(found.choice.n_tokens))),
        facts["The plan's own split"].startswith("3.00B parameters on 60.0B tokens"),
    )
    assert starts == (True, True, True)


@situations
def test_the_rows_are_the_answer_at_full_precision(situation: str) -> None:
    """A row's value is the number itself."""
    found = answer(SITUATIONS[situation])
    rows = {str(row["quantity"]): row["value"] for row in found.rows()}
    assert (rows["n_params"], rows["n_tokens"], rows["training_usd"], rows["optimal_n_params"]) == (
        found.choice.n_params,
        found.choice.n_tokens,
        found.usd(found.choice),
        found.optimum.n_params,
    )


def test_the_rows_have_the_intervals() -> None:
    """Low and high of the middle 80% stand beside the value."""
    found = answer()
    row = next(row for row in found.rows() if row["quantity"] == "n_params")
    assert (row["low_80"], row["high_80"]) == (known(found).n_params.low, known(found).n_params.high)


def test_the_rows_of_another_size_have_no_interval() -> None:
    """An interval of the best size is none of a size that was chosen."""
    assert {row["low_80"] for row in answer({SIZE: 0.5}).rows()} == {""}


def test_flatness_says_what_one_per_cent_is() -> None:
    """One per cent in dollars, and the plan's own regret."""
    found = answer()
    assert f"for at most {usd(0.01 * found.least_usd)} more" in found.flatness


def test_certainty_holds_the_interval() -> None:
    """Both ends of the size's interval are in the sentence."""
    found = answer()
    size = known(found).n_params
    assert f"between {count(size.low)} and {count(size.high)}" in found.certainty


def test_certainty_prices_the_worse_end() -> None:
    """What it costs to take an end of the interval for the truth is the overhead of that size."""
    found, law = answer(), law_of(answer())
    ends = [known(found).n_params.low, known(found).n_params.high]
    fractions = np.array(ends) / float(found.optimum.n_params)
    worst = float(np.max(np.asarray(scaling.overtraining(law, size_fraction=fractions).overhead_fraction)))
    assert f"costs at most {percent(worst)} more" in found.certainty


def test_serving_s_sentence_holds_its_own_optimum() -> None:
    """For ten times the tokens trained on, the cheapest size and what it saves."""
    found = answer()
    tokens = 10 * float(found.optimum.n_tokens)
    best = scaling.cheapest_for_loss(found.law, loss=quality(found).loss, inference_tokens=tokens)
    assert words.model(best) in sizing.serving(found).sentence


def test_data_limit_s_sentence_holds_the_epochs() -> None:
    """How often each token is seen, and the loss with and without the limit."""
    found = answer({UNIQUE: 1e10})
    text = sizing.data_limit(found).sentence
    limited, free = quality(found).loss, quality(answer()).loss
    expected = (number(float(found.choice.epochs)), f"{limited:.3f}", f"{free:.3f}")
    assert [part for part in expected if part not in text] == []


SAID: dict[str, Callable[[Frontier], str]] = {
    "flatness": lambda found: found.flatness,
    "certainty": lambda found: found.certainty,
    "doubt": lambda found: sizing.doubt(found).sentence,
    "serving": lambda found: sizing.serving(found).sentence,
    "data limit": lambda found: sizing.data_limit(found).sentence,
}
FOUND: dict[str, Callable[[Frontier], str]] = {
    "doubt": lambda found: sizing.doubt(found).finding,
    "serving": lambda found: sizing.serving(found).finding,
    "data limit": lambda found: sizing.data_limit(found).finding,
}
NEEDS_A_LOSS = ("serving", "data limit")


def told(what: dict[str, Callable[[Frontier], str]]) -> list[tuple[str, str]]:
    """Every pair of a text and a situation in which it can be told."""
    return [(name, each) for name in what for each in (PREDICTING if name in NEEDS_A_LOSS else SITUATIONS)]


def holes(text: str) -> list[str]:
    """Words of a text that stand for a number that is none."""
    return [word for word in ("nan", "inf ", "None", "unknown") if word in text]


@pytest.mark.parametrize(("name", "situation"), told(SAID))
def test_every_sentence_is_one(name: str, situation: str) -> None:
    """No sentence is empty, unfinished or holds a number that is none, whatever the plan."""
    text = SAID[name](answer(SITUATIONS[situation]))
    assert (text[-1], holes(text)) == (".", [])


@pytest.mark.parametrize(("name", "situation"), told(FOUND))
def test_every_finding_is_a_title(name: str, situation: str) -> None:
    """A finding starts with a capital, has no full stop of its own and holds no number that is none."""
    text = FOUND[name](answer(SITUATIONS[situation]))
    assert (text[0].isupper(), text[-1] == ".", holes(text)) == (True, False, [])


@pytest.mark.parametrize("ask", [sizing.serving, sizing.data_limit], ids=["serving", "data limit"])
@pytest.mark.parametrize("law", ["deepseek-2024", "kaplan-2020", "20-tokens-per-parameter"])
def test_what_needs_a_loss_is_unanswered_by_a_law_without_one(ask: Callable[[Frontier], object], law: str) -> None:
    """Serving and a limit of data hold a quality, which a law of the best size alone doesn't have: it says so."""
    found = ask(answer({LAW: law}))
    assert isinstance(found, sizing.Unanswered)
    assert "no loss" in found.sentence


def test_a_fine_tune_s_headline_is_what_it_costs() -> None:
    """The compute, dollars and time of the plan as it is, and that no law speaks of its quality."""
    found = plan.frontier(plan.read("finetune-7b"))
    spent, run = float(found.planned.flop), found.planned_run
    assert found.headline == (
        f"Fine-tuning {words.model(found.planned)} takes {flop(spent)}, {usd(run.usd.mid)} and "
        f"{duration(run.wall_s.mid)} on 8 A100-SXM4-80GB; laws of training from scratch say nothing of its quality."
    )


def test_a_fine_tune_is_a_warning() -> None:
    """The law's split is none for a trained model, and the answer says so first."""
    assert plan.frontier(plan.read("finetune-7b")).warnings[0].startswith("This plan starts from a trained model")


# The ways to hold one number.


@predicting
def test_the_ways_share_the_limit_of_data(situation: str) -> None:
    """Whatever is held, each split meets the plan's own limit of unique tokens."""
    found = answer(SITUATIONS[situation])
    assert {way.split.unique_tokens for way in sizing.ways(found)} == {found.demand.unique_tokens}


def test_the_ways_lose_what_the_limit_costs() -> None:
    """The loss beside each way is that of its split on the limited data."""
    found = answer({UNIQUE: 1e10})
    again = [
        scaling.loss(found.law, n_params=split.n_params, n_tokens=split.n_tokens, unique_tokens=1e10)
        for split in (way.split for way in sizing.ways(found))
    ]
    assert [way.split.loss for way in sizing.ways(found)] == pytest.approx(again, abs=1e-9)


def test_the_ways_hold_what_they_say() -> None:
    """The plan's size, its tokens, its budget and its loss each stand unchanged in one of the splits."""
    found = answer()
    ways = {way.question: way.split for way in sizing.ways(found)}
    held = (
        found.usd(ways["its budget, best split"]),
        ways["its size, best tokens for it"].n_params,
        ways["its tokens, best size for them"].n_tokens,
        ways["its loss, least cost"].loss,
    )
    assert held == pytest.approx((50_000, 3e9, 60e9, found.planned.loss))


@situations
def test_no_way_of_equal_loss_costs_more_than_the_plan(situation: str) -> None:
    """The least cost for the plan's own loss is no more than what the plan spends over its life."""
    found = answer(SITUATIONS[situation])
    least = [way.split for way in sizing.ways(found) if way.question == "its loss, least cost"]
    dearer = [split for split in least if found.lifetime_usd(split) > found.lifetime_usd(found.planned) * (1 + 1e-9)]
    assert (len(least), dearer) == (int(found.quality is not None), [])


@situations
def test_the_snapped_model_can_be_built(situation: str) -> None:
    """The architecture's exact count is the split's."""
    found = sizing.snapped(answer(SITUATIONS[situation]))
    assert float(found.architecture.n_params) == found.split.n_params


@predicting
def test_the_snapped_model_reaches_the_same_loss(situation: str) -> None:
    """Its tokens are solved anew for its exact size."""
    found = answer(SITUATIONS[situation])
    split, limit = sizing.snapped(found).split, found.plan.data.unique_tokens
    again = scaling.loss(found.law, n_params=split.n_params, n_tokens=split.n_tokens, unique_tokens=limit)
    assert again == pytest.approx(quality(found).loss, abs=1e-7)


@situations
def test_the_snapped_model_is_near_the_chosen_size(situation: str) -> None:
    """Within five per cent."""
    found = answer(SITUATIONS[situation])
    assert sizing.snapped(found).split.n_params == pytest.approx(float(found.choice.n_params), rel=0.05)


def test_the_snapped_model_is_the_plan_s_where_it_is_the_plan_s_size() -> None:
    """A plan that names an architecture of the chosen size gets that one."""
    overrides = {"model.architecture": "llama-2-7b", "model.n_params": None}
    target = architectures.named("llama-2-7b").n_params
    flop = scaling.split_for_params(answer().law, n_params=float(target)).flop
    found = answer({**overrides, BUDGET: float(flop) * answer().usd_per_flop})
    assert sizing.snapped(found).architecture.n_params == target


def test_an_opinion_says_what_lies_beyond_its_law_s_runs() -> None:
    """Compute, size or nothing, by the law's own ranges."""
    found = answer({BUDGET: 1e6})
    outside = {opinion.law.name: opinion.outside for opinion in sizing.doubt(found).opinions}
    expected = {
        opinion.law.name: opinion.law.outside(flop=found.budget_flop, n_params=float(opinion.split.n_params))
        for opinion in sizing.doubt(found).opinions
    }
    assert (outside, set(outside.values())) == (expected, {"compute", "size"})


def test_opinions_start_with_the_plan_s_law() -> None:
    """And hold every other law of the table once."""
    found = [opinion.law.name for opinion in sizing.doubt(answer()).opinions]
    assert (found[0], sorted(found)) == ("besiroglu-2024", sorted(scaling.names()))


# Own runs.


def test_own_runs_give_the_law() -> None:
    """The example's runs, made of the default law and noise, answer like the default law within a tenth."""
    runs = str(sizing.example_runs())
    found = answer({LAW: "own-runs", "data.runs": runs})
    assert found.optimum.n_params == pytest.approx(answer().optimum.n_params, rel=0.1)


def test_own_runs_give_an_interval() -> None:
    """Their bootstrap is the plan's uncertainty."""
    found = answer({LAW: "own-runs", "data.runs": str(sizing.example_runs())})
    assert known(found).n_params.low < float(found.optimum.n_params) < known(found).n_params.high


def test_the_rule_of_the_plan_leaves_runs_out() -> None:
    """`data.n_runs_left_out` is passed to the fit."""
    runs = {LAW: "own-runs", "data.runs": str(sizing.example_runs()), "data.n_runs_left_out": 5}
    law = sizing.fit_runs(sizing.example_runs(), n_left_out=5).law
    assert answer(runs).law == law


def test_own_runs_that_give_no_law_are_refused(tmp_path: Path) -> None:
    """Sizes and tokens that grow together can't choose a size; the sentence says why and names the file."""
    lines = [
        f"{N:.6g},{20 * N:.6g},{scaling.loss(answer().law, n_params=N, n_tokens=20 * N)}"
        for N in np.geomspace(1e8, 1e10, 12).tolist()
    ]
    file = table(tmp_path, "\n".join(["params,tokens,loss", *lines]))
    with pytest.raises(ValueError, match=r"^Your runs in 'runs\.csv' can't give a law: alpha and beta can't be told"):
        answer({LAW: "own-runs", "data.runs": str(file)})


def test_own_runs_need_a_file() -> None:
    """The law of one's own runs without runs names the key that is missing."""
    with pytest.raises(ValueError, match=r"data\.runs"):
        answer({LAW: "own-runs"})


def test_a_plan_without_runs_shows_the_example() -> None:
    """The room of one's own runs is never empty, and says whose runs these are."""
    own = sizing.own_runs(answer().plan)
    assert (own.is_example, "Made-up runs" in own.caption) == (True, True)


def test_the_fits_are_shown_under_each_outlier_rule() -> None:
    """None, one and five left out, each with its own number of runs."""
    rows = sizing.own_runs(answer().plan).fit_rows()
    assert [(row["left_out"], row["n_runs"]) for row in rows] == [(0, 48), (1, 47), (5, 43)]


def test_the_same_file_is_fitted_once() -> None:
    """A redraw does not fit again."""
    assert sizing.fit_runs(sizing.example_runs()) is sizing.fit_runs(sizing.example_runs())


def test_an_edited_file_is_fitted_anew(tmp_path: Path) -> None:
    """A change of the file is seen."""
    import os

    file = table(tmp_path, sizing.example_runs().read_bytes())
    before = sizing.fit_runs(file, n_bootstrap=0)
    file.write_text("\n".join(file.read_text(encoding="utf-8").splitlines()[:-4]), encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert len(sizing.fit_runs(file, n_bootstrap=0).residuals) == len(before.residuals) - 4


# Files of runs.


@pytest.mark.parametrize(
    "text",
    [
        "params,tokens,loss\n1e9,2e10,2.5\n",
        "N,D,loss\n1e9,2e10,2.5\n",
        "n_params,n_tokens,final_loss\n1e9,2e10,2.5\n",
        "Parameters, Tokens ,LOSS\n1e9, 2e10 ,2.5\n",
        "\ufeffparams,tokens,loss\n1e9,2e10,2.5\n",
        "# how these came about\nparams,tokens,loss\n# a series\n1e9,2e10,2.5\n",
        "\ufeff# a remark first\nparams,tokens,loss\n1e9,2e10,2.5\n",
        "params,tokens,loss\n\n1e9,2e10,2.5\n,,\n",
        "params,tokens,loss\r\n1e9,2e10,2.5\r\n",
        "note,loss,params,tokens\nfirst,2.5,1e9,2e10\n",
        "params,flop,loss\n1e9,1.2e20,2.5\n",
        "params,C,loss\n1e9,1.2e20,2.5\n",
        "params,tokens,flop,loss\n1e9,2e10,7,2.5\n",
        '"params","tokens","loss"\n"1000000000","20000000000","2.5"\n',
    ],
)
def test_runs_are_read_in_any_common_form(tmp_path: Path, text: str) -> None:
    """Aliases in any case, a byte order mark, remarks, blank lines, other columns, FLOP in place of tokens, quotes."""
    runs = sizing.read_runs(table(tmp_path, text))
    assert [runs.n_params.tolist(), runs.n_tokens.tolist(), runs.loss.tolist()] == [[1e9], [2e10], [2.5]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("params,loss\n1e9,2.5\n", r"has no column tokens \(or flop\); it has params, loss"),
        ("tokens,loss\n1e9,2.5\n", "has no column params; it has tokens, loss"),
        ("params,tokens\n1e9,2e10\n", "has no column loss; it has params, tokens"),
        ("a;b;c\n1;2;3\n", r"has no column params and no column tokens \(or flop\) and no column loss"),
        ("params,tokens,loss\n", "has a header but no runs"),
        ("", "is empty"),
        ("# only a remark\n", "is empty"),
        ("params,tokens,loss\n1e9,2e10,2.5\n1e9,many,2.5\n", "run 2, column tokens: 'many' is not a positive number"),
        ("params,tokens,loss\n1e9,2e10,nan\n", "run 1, column loss: 'nan' is not a positive number"),
        ("params,tokens,loss\n1e9,2e10,inf\n", "run 1, column loss: 'inf' is not a positive number"),
        ("params,tokens,loss\n1e9,-2e10,2.5\n", "run 1, column tokens: '-2e10' is not a positive number"),
        ("params,tokens,loss\n0,2e10,2.5\n", "run 1, column params: '0' is not a positive number"),
        ("params,tokens,loss\n1e9,2e10\n", "run 1, column loss: '' is not a positive number"),
        ("params,tokens,loss\n1e400,2e10,2.5\n", "run 1, column params: '1e400' is not a positive number"),
        ('params,tokens,loss\n"1e9,2e10,2.5\n', "can't be read as a table"),
    ],
)
def test_a_table_that_is_none_is_refused_by_its_cell(tmp_path: Path, text: str, sentence: str) -> None:
    """One sentence names the file and the column or the run that is wrong."""
    with pytest.raises(ValueError, match=rf"^'runs\.csv'.*{sentence}"):
        sizing.read_runs(table(tmp_path, text))


def test_a_directory_is_no_table(tmp_path: Path) -> None:
    """The sentence says what it is."""
    with pytest.raises(ValueError, match="is a directory; give the CSV file"):
        sizing.read_runs(tmp_path)


def test_no_file_is_no_table(tmp_path: Path) -> None:
    """The sentence says what columns a file would need."""
    with pytest.raises(ValueError, match=r"There is no file .* with columns params, tokens \(or flop\), loss"):
        sizing.read_runs(tmp_path / "runs.csv")


def test_a_binary_file_is_no_table(tmp_path: Path) -> None:
    """Bytes that are no text are refused in one line."""
    with pytest.raises(ValueError, match=r"^'runs\.csv' is not text in UTF-8; save your runs as a CSV file"):
        sizing.read_runs(table(tmp_path, bytes(range(256)) * 4))


def test_a_huge_file_is_no_table(tmp_path: Path) -> None:
    """Past 10 MiB a file is not even opened."""
    file = table(tmp_path, b"")
    with file.open("wb") as stream:
        stream.truncate(int(MAX_BYTES) + 1)
    with pytest.raises(ValueError, match=r"^'runs\.csv' has 10 MiB; a CSV file has 10 at most\.$"):
        sizing.read_runs(file)


def test_two_rows_are_read_and_give_no_law(tmp_path: Path) -> None:
    """Two runs are a table, but not enough for five coefficients."""
    file = table(tmp_path, "params,tokens,loss\n1e9,2e10,2.5\n2e9,4e10,2.3\n")
    with pytest.raises(ValueError, match=r"^2 runs, 2 of them different, can't determine five"):
        sizing.fit_runs(file)


def test_identical_rows_give_no_law(tmp_path: Path) -> None:
    """Copies of a run say nothing more than the run."""
    file = table(tmp_path, "params,tokens,loss\n" + "1e9,2e10,2.5\n" * 20)
    with pytest.raises(ValueError, match=r"^20 runs, 1 of them different, can't determine five"):
        sizing.fit_runs(file)


def test_a_refused_file_is_left_as_it_was(tmp_path: Path) -> None:
    """Reading writes nothing."""
    file = table(tmp_path, "params,tokens,loss\n1e9,many,2.5\n")
    before = file.read_bytes(), file.stat().st_mtime_ns
    with pytest.raises(ValueError, match="many"):
        sizing.read_runs(file)
    assert (file.read_bytes(), file.stat().st_mtime_ns, [path.name for path in tmp_path.iterdir()]) == (
        *before,
        ["runs.csv"],
    )


def test_a_mixture_of_experts_counts_what_a_token_passes_through() -> None:
    """Compute and loss of the plan are those of the active parameters, and the answer says so."""
    found, mixtral = answer({"model.architecture": "mixtral-8x7b"}), architectures.named("mixtral-8x7b")
    assert found.planned.n_params == mixtral.n_active_params
    assert any("12.9B active parameters are counted, not all 46.7B" in warning for warning in found.warnings)
    assert sizing.ways(found)[0].split.n_params == mixtral.n_active_params


def test_a_dense_model_counts_whole() -> None:
    """Without experts there is nothing to warn of."""
    found = answer({"model.architecture": "llama-3.1-8b"})
    assert found.planned.n_params == architectures.named("llama-3.1-8b").n_params
    assert not any("experts" in warning for warning in found.warnings)


def test_a_fine_tune_has_one_way_and_no_best_size() -> None:
    """No law of training from scratch is read out for a trained model: not in facts, table, valley or picture."""
    found = answer({"model.pretrained": True})
    assert [(way.question, way.split.loss) for way in sizing.ways(found)] == [("the plan as it is", None)]
    assert [label for label, _ in found.facts] == ["Compute", "Model size", "Training data", "Time"]
    assert dict(found.facts)["Model size"] == "3.00B parameters"
    assert "a fine-tune has no best size" in found.flatness
    assert len(found.warnings) == 1
    rows = {row["quantity"]: row["value"] for row in found.rows()}
    assert rows["wall_hours"] == pytest.approx(18 * 24, rel=1e-3)
    assert not {name for name in rows if "loss" in str(name) or "optimal" in str(name)}


@pytest.mark.parametrize(("unique", "epochs"), [(1e9, 60), (3e10, 2)])
def test_a_fine_tune_is_warned_of_its_own_epochs(unique: float, epochs: int) -> None:
    """Sixty epochs are told, two are not, whatever a model trained from scratch would do with the budget."""
    found = answer({"model.pretrained": True, UNIQUE: unique})
    assert found.planned.epochs == epochs
    assert [f"{epochs}" in text for text in found.warnings[1:]] == ([True] if epochs > 16 else [])


def test_too_few_unique_tokens_are_named_as_the_cause() -> None:
    """Where the data and not the budget make the model so small, the sentence says so."""
    with pytest.raises(ValueError, match=r"^1\.00K unique tokens are too few to train any model on"):
        plan.frontier(plan.read("case-50k", {UNIQUE: 1000}))


def test_the_example_runs_say_what_follows() -> None:
    """Below the picture of own runs stands what they ask for at their largest compute."""
    own = sizing.own_runs(plan.read("case-50k"))
    spent = own.fit.law.flop_range[1]
    ratio = number(float(scaling.optimal_split(own.fit.law, flop=spent).tokens_per_param))
    said = f"These made-up runs ask for {ratio} tokens per parameter at {flop(spent)}, their largest compute."
    assert own.sentence == said


def test_a_real_shape_is_told_in_words() -> None:
    """The nearest architecture is said as layers, width, heads, parameters and tokens."""
    real = sizing.snapped(answer())
    shape = real.architecture
    assert f"{shape.n_layers} layers of width {shape.hidden:,} with {shape.n_heads} heads" in real.sentence
    assert f"{shape.n_params:,} parameters and takes {count(float(real.split.n_tokens))} tokens" in real.sentence
