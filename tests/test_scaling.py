import functools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from costkit import scaling, tables
from costkit.scaling import FrontierLaw, ScalingLaw, Split

LAWS = [scaling.law(name) for name in scaling.names()]
PREDICTING = [law for law in LAWS if isinstance(law, ScalingLaw)]
BESIROGLU = next(law for law in PREDICTING if law.name == "besiroglu-2024")
FRONTIERS = [law for law in LAWS if isinstance(law, FrontierLaw)]

by_name = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
by_predicting = pytest.mark.parametrize("law", PREDICTING, ids=lambda law: law.name)
by_frontier = pytest.mark.parametrize("law", FRONTIERS, ids=lambda law: law.name)
any_law = st.sampled_from(PREDICTING)
compute, served, unique = st.floats(1e16, 1e29), st.floats(1e9, 1e15), st.floats(1e8, 1e14)
above_floor = st.floats(1e-2, 5.0)

Array = npt.NDArray[np.float64]


def value(number: scaling.Numbers | None) -> float:
    """One number of a result that holds one."""
    assert number is not None
    return float(number)


def least_loss(law: ScalingLaw, *, flop: float, inference_tokens: float, unique_tokens: float) -> float:
    """The lowest loss for a budget, by brute force and scipy's bounded search."""
    top = math.log((flop - 2 * inference_tokens) / 6)

    def losses(log_tokens: Array) -> Array:
        tokens = np.exp(log_tokens)
        sizes = flop / (6 * tokens + 2 * inference_tokens)
        return np.asarray(scaling.loss(law, n_params=sizes, n_tokens=tokens, unique_tokens=unique_tokens))

    def loss(log_tokens: float) -> float:
        return float(losses(np.asarray(log_tokens)))

    grid = np.linspace(top - 70, top, 2001)
    best = int(np.argmin(losses(grid)))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    return float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9}).fun)


def least_flop(law: ScalingLaw, *, loss: float, inference_tokens: float, unique_tokens: float, near: float) -> float:
    """The least lifetime compute for a loss, by brute force over sixty factors of e of tokens around `near`."""
    tokens = near * np.exp(np.concatenate([np.linspace(-30, 30, 6001), np.linspace(-0.1, 0.1, 2001)]))
    sizes = np.asarray(scaling.params_for_loss(law, n_tokens=tokens, loss=loss, unique_tokens=unique_tokens))
    return float(np.min(sizes * (6 * tokens + 2 * inference_tokens)))


@by_predicting
def test_loss_is_the_sum_of_its_three_terms(law: ScalingLaw) -> None:
    """Without a limit of data the loss is E + A/N^alpha + B/D^beta."""
    terms = (law.E, law.A / 7e9**law.alpha, law.B / 2e12**law.beta)
    assert scaling.loss(law, n_params=7e9, n_tokens=2e12) == pytest.approx(float(sum(terms)), rel=1e-12)


@by_predicting
def test_loss_tends_to_its_floor(law: ScalingLaw) -> None:
    """An endless model on endless data has the loss E."""
    assert scaling.loss(law, n_params=1e60, n_tokens=1e60) == pytest.approx(float(law.E), abs=1e-6)


@given(law=any_law, n_params=st.floats(1e6, 1e13), n_tokens=st.floats(1e8, 1e15), factor=st.floats(1.01, 100))
def test_loss_falls_with_size_and_with_tokens(law: ScalingLaw, n_params: float, n_tokens: float, factor: float) -> None:
    """More parameters or more different tokens never hurt under these laws."""
    loss = value(scaling.loss(law, n_params=n_params, n_tokens=n_tokens))
    more = [
        value(scaling.loss(law, n_params=n_params * factor, n_tokens=n_tokens)),
        value(scaling.loss(law, n_params=n_params, n_tokens=n_tokens * factor)),
    ]
    assert max(more) < loss


@given(
    law=any_law,
    n_params=st.floats(1e6, 1e13),
    n_tokens=st.floats(1e8, 1e15),
    limit=unique,
    factor=st.floats(1, 100),
)
def test_a_tighter_limit_of_data_never_lowers_the_loss(
    law: ScalingLaw, n_params: float, n_tokens: float, limit: float, factor: float
) -> None:
    """Repeating tokens is at best as good as having as many different ones."""
    tight, wide = (
        value(scaling.loss(law, n_params=n_params, n_tokens=n_tokens, unique_tokens=tokens))
        for tokens in (limit, limit * factor)
    )
    assert tight >= wide - 1e-12


@by_predicting
def test_a_limit_beyond_the_tokens_leaves_the_optimum_alone(law: ScalingLaw) -> None:
    """More unique tokens than the best split uses change nothing on the frontier."""
    best = scaling.optimal_split(law, flop=1e21)
    limited = scaling.loss(law, n_params=best.n_params, n_tokens=best.n_tokens, unique_tokens=1e18)
    assert limited == pytest.approx(best.loss, abs=1e-9)


@given(law=any_law, limit=unique)
def test_no_repetition_reaches_below_the_lowest_loss(law: ScalingLaw, limit: float) -> None:
    """With limited data even a huge model after a million epochs ends on the floor that `lowest_loss` names."""
    reached = scaling.loss(law, n_params=1e30, n_tokens=1e6 * limit, unique_tokens=limit)
    assert reached == pytest.approx(scaling.lowest_loss(law, unique_tokens=limit), rel=1e-12)


@by_name
def test_a_split_spends_its_budget(law: scaling.Law) -> None:
    """6ND is the compute that was asked for."""
    assert scaling.optimal_split(law, flop=5.76e23).flop == pytest.approx(5.76e23, rel=1e-12)


@by_predicting
@pytest.mark.parametrize("flop", [1e3, 1e12, 1e18, 5.76e23, 1e30])
def test_the_closed_form_is_where_a_search_ends(law: ScalingLaw, flop: float) -> None:
    """Equation 4 and a search along 6ND = C find the same size."""
    found = minimize_scalar(
        lambda log_size: value(scaling.loss(law, n_params=math.exp(log_size), n_tokens=flop / 6 / math.exp(log_size))),
        bounds=(math.log(flop) / 2 - 12, math.log(flop) / 2 + 8),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert scaling.optimal_split(law, flop=flop).n_params == pytest.approx(math.exp(found.x), rel=1e-4)


@by_predicting
def test_the_limits_that_do_not_bind_give_the_closed_form(law: ScalingLaw) -> None:
    """One served token sends the question through the search, which returns what the formula gives."""
    alone, searched = (scaling.optimal_split(law, flop=1e21, inference_tokens=tokens) for tokens in (0.0, 1.0))
    assert searched.n_params == pytest.approx(alone.n_params, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(law=any_law, flop=compute, tokens=served, limit=unique, limited=st.booleans())
def test_the_optimal_split_is_as_good_as_brute_force(
    law: ScalingLaw, flop: float, tokens: float, limit: float, *, limited: bool
) -> None:
    """With serving and a limit of data together no grid of splits of the same budget reaches a lower loss."""
    limits = {"inference_tokens": tokens, "unique_tokens": limit if limited else math.inf}
    assume(flop > 4 * tokens)
    found = scaling.optimal_split(law, flop=flop, **limits)
    assert value(found.loss) <= least_loss(law, flop=flop, **limits) + 1e-9


@settings(max_examples=60, deadline=None)
@given(law=any_law, above=above_floor, tokens=served, limit=unique, limited=st.booleans())
def test_the_cheapest_split_is_as_good_as_brute_force(
    law: ScalingLaw, above: float, tokens: float, limit: float, *, limited: bool
) -> None:
    """With serving and a limit of data together no grid of splits of the same loss costs less."""
    limits = {"inference_tokens": tokens, "unique_tokens": limit if limited else math.inf}
    loss = value(scaling.lowest_loss(law, unique_tokens=limits["unique_tokens"])) + above
    found = scaling.cheapest_for_loss(law, loss=loss, **limits)
    least = least_flop(law, loss=loss, **limits, near=value(found.n_tokens))
    assert value(found.lifetime_flop(tokens)) <= least * (1 + 1e-8)


@settings(max_examples=60, deadline=None)
@given(law=any_law, above=above_floor, tokens=served, limit=unique)
def test_the_cheapest_split_reaches_its_loss(law: ScalingLaw, above: float, tokens: float, limit: float) -> None:
    """What is answered for a target loss has that loss."""
    loss = value(scaling.lowest_loss(law, unique_tokens=limit)) + above
    found = scaling.cheapest_for_loss(law, loss=loss, inference_tokens=tokens, unique_tokens=limit)
    again = scaling.loss(law, n_params=found.n_params, n_tokens=found.n_tokens, unique_tokens=limit)
    assert again == pytest.approx(loss, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(law=any_law, flop=compute, tokens=served)
def test_budget_and_loss_ask_the_same_question(law: ScalingLaw, flop: float, tokens: float) -> None:
    """The cheapest split for the loss of a lifetime budget spends that budget."""
    assume(flop > 4 * tokens)
    loss = scaling.optimal_split(law, flop=flop, inference_tokens=tokens).loss
    back = scaling.cheapest_for_loss(law, loss=value(loss), inference_tokens=tokens)
    assert back.lifetime_flop(tokens) == pytest.approx(flop, rel=1e-6)


@given(law=any_law, flop=compute)
def test_flop_for_loss_undoes_the_optimal_split(law: ScalingLaw, flop: float) -> None:
    """The compute for the loss that a budget reaches is the budget."""
    assert scaling.flop_for_loss(law, loss=value(scaling.optimal_split(law, flop=flop).loss)) == pytest.approx(
        flop, rel=1e-6
    )


@by_name
def test_the_split_of_a_size_is_the_optimum_of_its_compute(law: scaling.Law) -> None:
    """From a size to its tokens and from their compute back to the size."""
    split = scaling.split_for_params(law, n_params=70e9)
    assert scaling.optimal_split(law, flop=split.flop).n_params == pytest.approx(70e9, rel=1e-9)


@by_name
def test_the_split_of_tokens_is_the_optimum_of_its_compute(law: scaling.Law) -> None:
    """From tokens to the size they suit and from their compute back to the tokens."""
    split = scaling.split_for_tokens(law, n_tokens=1.4e12)
    assert scaling.optimal_split(law, flop=split.flop).n_tokens == pytest.approx(1.4e12, rel=1e-9)


@given(law=any_law, n_params=st.floats(1e6, 1e12), n_tokens=st.floats(1e8, 1e14))
def test_tokens_for_loss_undoes_the_loss(law: ScalingLaw, n_params: float, n_tokens: float) -> None:
    """The tokens for the loss of a run are the run's."""
    loss = scaling.loss(law, n_params=n_params, n_tokens=n_tokens)
    assert scaling.tokens_for_loss(law, n_params=n_params, loss=loss) == pytest.approx(n_tokens, rel=1e-6)


@given(law=any_law, n_params=st.floats(1e6, 1e12), n_tokens=st.floats(1e8, 1e14))
def test_params_for_loss_undoes_the_loss(law: ScalingLaw, n_params: float, n_tokens: float) -> None:
    """The size for the loss of a run is the run's."""
    loss = scaling.loss(law, n_params=n_params, n_tokens=n_tokens)
    assert scaling.params_for_loss(law, n_tokens=n_tokens, loss=loss) == pytest.approx(n_params, rel=1e-6)


@given(law=any_law, limit=unique, epochs=st.floats(0.1, 40), excess=st.floats(0.1, 10))
@example(law=BESIROGLU, limit=1e8, epochs=1.0, excess=2.0)
def test_tokens_for_loss_undoes_the_loss_of_repeated_data(
    law: ScalingLaw, limit: float, epochs: float, excess: float
) -> None:
    """With limited data too the tokens reach the loss, and are never more than those of the run that had it."""
    n_tokens = limit * epochs
    n_params = value(scaling.split_for_tokens(law, n_tokens=min(n_tokens, limit)).n_params) * excess
    loss = scaling.loss(law, n_params=n_params, n_tokens=n_tokens, unique_tokens=limit)
    again = value(scaling.tokens_for_loss(law, n_params=n_params, loss=loss, unique_tokens=limit))
    assert again <= n_tokens * (1 + 1e-5)
    reached = value(scaling.loss(law, n_params=n_params, n_tokens=again, unique_tokens=limit))
    assert reached == pytest.approx(value(loss), rel=1e-9)


@pytest.mark.parametrize("limit", [math.inf, 1e14, 1e10, 1e8])
def test_a_model_too_small_for_a_loss_never_reaches_it(limit: float) -> None:
    """No number of tokens is enough, with a limit of data or without: infinite, not an error and not a wrong number."""
    assert scaling.tokens_for_loss(BESIROGLU, n_params=1e6, loss=2.0, unique_tokens=limit) == math.inf


@pytest.mark.parametrize("limit", [math.inf, 1e10])
def test_a_loss_below_the_floor_is_never_reached(limit: float) -> None:
    """However large the model: infinite as well."""
    assert scaling.tokens_for_loss(BESIROGLU, n_params=1e15, loss=1.8, unique_tokens=limit) == math.inf


def test_tokens_too_few_for_a_loss_have_no_model() -> None:
    """No size is enough: infinite."""
    assert scaling.params_for_loss(BESIROGLU, n_tokens=1e6, loss=2.0) == math.inf


@pytest.mark.parametrize("limit", [math.inf, 1e10])
def test_a_sweep_of_sizes_has_the_loss_it_was_asked_for(limit: float) -> None:
    """Each size with its tokens for a loss has that loss, wherever it ever gets there."""
    sizes = np.geomspace(1e7, 1e12, 121)
    tokens = np.asarray(scaling.tokens_for_loss(BESIROGLU, n_params=sizes, loss=2.6, unique_tokens=limit))
    real = np.isfinite(tokens)
    losses = scaling.loss(BESIROGLU, n_params=sizes[real], n_tokens=tokens[real], unique_tokens=limit)
    assert (losses == pytest.approx(2.6, abs=1e-7), 0 < real.sum() < len(sizes)) == (True, True)


def test_a_sweep_of_sizes_touches_the_frontier_and_stays_above_it() -> None:
    """No split of a loss takes less compute than the cheapest, and one takes hardly more."""
    sizes = np.geomspace(1e8, 1e11, 121)
    tokens = scaling.tokens_for_loss(BESIROGLU, n_params=sizes, loss=2.2)
    ratios = np.asarray(Split(sizes, tokens).flop) / scaling.flop_for_loss(BESIROGLU, loss=2.2)
    assert 1 - 1e-9 < ratios.min() < 1.01


@settings(max_examples=30, deadline=None)
@given(law=any_law, flop=compute, tokens=served, factor=st.floats(1.1, 1000))
def test_more_tokens_served_make_a_smaller_model_cheapest(
    law: ScalingLaw, flop: float, tokens: float, factor: float
) -> None:
    """The size for a loss falls, and its training compute grows, with the tokens to serve."""
    loss = value(scaling.optimal_split(law, flop=flop).loss)
    few, many = (
        scaling.cheapest_for_loss(law, loss=loss, inference_tokens=amount) for amount in (tokens, tokens * factor)
    )
    assert value(many.n_params) <= value(few.n_params) * (1 + 1e-6)


@settings(max_examples=30, deadline=None)
@given(law=any_law, flop=compute, limit=unique, factor=st.floats(1.1, 1000))
def test_more_unique_tokens_never_raise_the_loss(law: ScalingLaw, flop: float, limit: float, factor: float) -> None:
    """The same budget does at least as well on more different tokens."""
    few, many = (scaling.optimal_split(law, flop=flop, unique_tokens=tokens) for tokens in (limit, limit * factor))
    assert value(many.loss) <= value(few.loss) + 1e-9


@given(law=any_law, flop=compute, factor=st.floats(1.01, 100))
def test_more_compute_lowers_the_loss(law: ScalingLaw, flop: float, factor: float) -> None:
    """The frontier falls."""
    less, more = (scaling.optimal_split(law, flop=amount) for amount in (flop, flop * factor))
    assert value(more.loss) < value(less.loss)


@given(law=any_law, flop=compute)
def test_the_optimum_wastes_nothing(law: ScalingLaw, flop: float) -> None:
    """On the frontier the regret is zero."""
    best = scaling.optimal_split(law, flop=flop)
    assert scaling.regret(law, n_params=best.n_params, n_tokens=best.n_tokens).overhead_fraction == pytest.approx(
        0, abs=1e-6
    )


@given(law=any_law, n_params=st.floats(1e7, 1e12), n_tokens=st.floats(1e9, 1e14))
def test_regret_is_never_negative(law: ScalingLaw, n_params: float, n_tokens: float) -> None:
    """No split beats the best, in nats as in FLOP."""
    found = scaling.regret(law, n_params=n_params, n_tokens=n_tokens)
    assert min(value(found.overhead_fraction), value(found.nats)) > -1e-9


@pytest.mark.parametrize(("n_params", "n_tokens", "limit"), [(3e9, 60e9, 1e8), (70e9, 1.4e12, 1e9), (7e9, 2e12, 4e8)])
def test_a_run_far_past_all_use_of_its_data_has_a_regret(n_params: float, n_tokens: float, limit: float) -> None:
    """Where repetition has run dry a run wastes nearly everything, which is an answer and not an error."""
    found = scaling.regret(BESIROGLU, n_params=n_params, n_tokens=n_tokens, unique_tokens=limit)
    assert value(found.overhead_fraction) > 1


@pytest.mark.parametrize("flop", [1e24, 1e27, 1e30])
def test_a_budget_past_all_use_of_its_data_still_has_a_cheapest_split(flop: float) -> None:
    """The loss that a budget reaches can be asked for again, however little data there is."""
    loss = value(scaling.optimal_split(BESIROGLU, flop=flop, unique_tokens=1e9).loss)
    found = scaling.cheapest_for_loss(BESIROGLU, loss=loss, unique_tokens=1e9)
    assert value(found.flop) <= flop * (1 + 1e-6)


@by_predicting
@pytest.mark.parametrize(
    "limits",
    [{}, {"inference_tokens": 1e13}, {"unique_tokens": 1e10}, {"inference_tokens": 1e13, "unique_tokens": 1e10}],
    ids=["alone", "served", "limited", "both"],
)
def test_the_ends_of_the_flat_zone_cost_one_per_cent_more(law: ScalingLaw, limits: dict[str, float]) -> None:
    """Both ends reach the same loss at exactly the tolerated cost, on either side of the optimum."""
    best = scaling.cheapest_for_loss(law, loss=2.6, **limits)
    least = value(best.lifetime_flop(limits.get("inference_tokens", 0.0)))
    ends = scaling.flat_zone(law, loss=2.6, tolerance=0.01, **limits)
    ratios = [value(end.lifetime_flop(limits.get("inference_tokens", 0.0))) / least for end in ends]
    assert ratios == pytest.approx([1.01, 1.01], rel=1e-7)


@by_predicting
def test_the_flat_zone_holds_the_optimum(law: ScalingLaw) -> None:
    """The smallest model of the zone is smaller than the best, the largest larger."""
    small, large = (value(split.n_params) for split in scaling.flat_zone(law, loss=2.4))
    assert small < value(scaling.cheapest_for_loss(law, loss=2.4).n_params) < large


@pytest.mark.parametrize(("served_tokens", "limit"), [(1e18, 1e8), (1e20, 1e9), (1e20, 1e10)])
def test_serving_that_dwarfs_training_still_has_a_flat_zone(served_tokens: float, limit: float) -> None:
    """Where a thousand times more training hardly shows in the lifetime cost the zone is wide, not an error."""
    ends = scaling.flat_zone(BESIROGLU, loss=4.5, inference_tokens=served_tokens, unique_tokens=limit)
    assert value(ends[0].n_params) < value(ends[1].n_params)


@given(law=any_law, fraction=st.floats(0.2, 5))
def test_overtraining_is_the_ratio_to_the_optimum_whatever_the_budget(law: ScalingLaw, fraction: float) -> None:
    """The closed form and the tokens for the same loss agree."""
    best = scaling.optimal_split(law, flop=1e23)
    tokens = scaling.tokens_for_loss(law, n_params=value(best.n_params) * fraction, loss=value(best.loss))
    assert scaling.overtraining(law, size_fraction=fraction).tokens_factor == pytest.approx(
        value(tokens) / value(best.n_tokens), rel=1e-6
    )


def test_overtraining_of_the_optimal_size_costs_nothing() -> None:
    """At a fraction of one the tokens are the optimal ones."""
    found = scaling.overtraining(BESIROGLU, size_fraction=1.0)
    assert (found.tokens_factor, found.overhead_fraction) == (1.0, 0.0)


@by_predicting
def test_overtraining_below_its_limit_is_infinite(law: ScalingLaw) -> None:
    """A model smaller than (1 + alpha/beta)^(-1/alpha) of the best never gets there; one a little larger does."""
    least = (1 + law.alpha / law.beta) ** (-1 / law.alpha)
    factors = [value(scaling.overtraining(law, size_fraction=least * (1 + d)).tokens_factor) for d in (-1e-6, 1e-6)]
    assert np.isinf(factors).tolist() == [True, False]


@by_frontier
def test_a_frontier_law_refuses_to_predict_a_loss(law: FrontierLaw) -> None:
    """The error names the law and a way out."""
    with pytest.raises(ValueError, match=rf"'{law.name}' gives the best size but no loss.*besiroglu-2024"):
        scaling.loss(law, n_params=1e9, n_tokens=1e10)


@by_frontier
def test_a_frontier_law_follows_its_power(law: FrontierLaw) -> None:
    """Ten times the compute multiplies what the law gives by ten to its exponent."""
    low, high = (scaling.optimal_split(law, flop=flop) for flop in (1e21, 1e22))
    assert value(getattr(high, law.of)) / value(getattr(low, law.of)) == pytest.approx(10**law.exponent, rel=1e-9)


def test_arrays_give_what_scalars_give() -> None:
    """A sweep is its points one by one, for a budget with serving and a limit of data."""
    flop = np.geomspace(1e20, 1e26, 7)
    limits = {"inference_tokens": 1e12, "unique_tokens": 1e10}
    swept = scaling.optimal_split(BESIROGLU, flop=flop, **limits)
    single = [scaling.optimal_split(BESIROGLU, flop=float(one), **limits).n_params for one in flop]
    assert swept.n_params == pytest.approx(single, rel=1e-12)


def test_a_sweep_of_losses_gives_what_scalars_give() -> None:
    """The same for target losses."""
    losses = np.array([2.4, 2.6, 3.0])
    limits = {"inference_tokens": 1e12, "unique_tokens": 1e10}
    swept = scaling.cheapest_for_loss(BESIROGLU, loss=losses, **limits)
    single = [scaling.cheapest_for_loss(BESIROGLU, loss=float(one), **limits).n_params for one in losses]
    assert swept.n_params == pytest.approx(single, rel=1e-12)


def test_a_limit_for_each_point_of_a_sweep_may_be_infinite() -> None:
    """An array of limits with no limit among them gives at that place what no limit gives."""
    swept = scaling.optimal_split(BESIROGLU, flop=1e24, unique_tokens=np.array([1e10, np.inf]))
    alone = scaling.optimal_split(BESIROGLU, flop=1e24).n_params
    assert np.asarray(swept.n_params)[1] == pytest.approx(alone, rel=1e-6)


def test_a_number_in_is_a_number_out() -> None:
    """Scalars come back as plain floats, not as arrays of none."""
    split = scaling.optimal_split(BESIROGLU, flop=1e21, inference_tokens=1e10, unique_tokens=1e10)
    assert [type(part) for part in (split.n_params, split.n_tokens, split.loss)] == [float, float, float]


def test_sampled_laws_give_one_row_a_draw() -> None:
    """Draws run along the first axis and compute along the last."""
    split = scaling.optimal_split(BESIROGLU.sampled(), flop=np.array([1e20, 1e21, 1e22]))
    assert np.shape(split.n_params) == (1000, 3)


def test_a_sampled_law_is_its_draws_one_by_one() -> None:
    """The answer of a draw is the answer of a law with that draw's coefficients."""
    limits = {"inference_tokens": 1e12, "unique_tokens": 1e10}
    swept = scaling.optimal_split(BESIROGLU.sampled(5), flop=1e22, **limits)
    single = [
        scaling.optimal_split(BESIROGLU.with_coefficients(*draw), flop=1e22, **limits).n_params
        for draw in BESIROGLU.draws[:5]
    ]
    assert np.ravel(swept.n_params) == pytest.approx(single, rel=1e-9)


def test_the_draws_are_joint() -> None:
    """The logarithm of A and alpha move together in them, as in any fit of this form: correlation above 0.99."""
    columns = np.log(BESIROGLU.draws[:, 1]), BESIROGLU.draws[:, 3]
    assert np.corrcoef(*columns)[0, 1] > 0.99


def test_the_draws_cannot_be_changed() -> None:
    """What one caller writes into them would move every interval after it: it is refused."""
    with pytest.raises(ValueError, match="read-only"):
        BESIROGLU.draws[0, 0] = 2.0


def test_a_law_without_draws_gives_no_interval() -> None:
    """Asking for samples of it says so."""
    law = scaling.law("sardana-2024")
    assert isinstance(law, ScalingLaw)
    with pytest.raises(ValueError, match="'sardana-2024' has no bootstrap draws"):
        law.sampled()


@by_name
def test_the_range_of_a_law_is_in_order(law: scaling.Law) -> None:
    """The smallest run behind a law is smaller than the largest."""
    assert 0 <= law.flop_range[0] < law.flop_range[1]


@by_name
def test_a_law_names_its_source(law: scaling.Law) -> None:
    """Every law's source stands in the table of sources."""
    assert law.source in tables.sources()


def test_an_unknown_law_is_refused_with_the_nearest_name() -> None:
    """A misspelt law is told its likely spelling."""
    with pytest.raises(tables.UnknownName, match="Did you mean 'besiroglu-2024'"):
        scaling.law("besiroglu2024")


# What every door refuses: a right value for each argument, and the doors that ask for it.

RIGHT = {
    "n_params": 1e9,
    "n_tokens": 1e10,
    "flop": 1e21,
    "loss": 2.8,
    "inference_tokens": 1e11,
    "unique_tokens": 1e10,
    "tolerance": 0.01,
    "size_fraction": 0.5,
    "input_tokens": 1e12,
    "output_tokens": 1e12,
    "usd_per_input_flop": 1e-18,
    "usd_per_output_flop": 1e-18,
    "usd_per_training_flop": 1e-18,
}
DOORS: dict[Callable[..., object], tuple[str, ...]] = {
    functools.partial(scaling.loss, BESIROGLU): ("n_params", "n_tokens", "unique_tokens"),
    functools.partial(scaling.lowest_loss, BESIROGLU): ("unique_tokens",),
    functools.partial(scaling.optimal_split, BESIROGLU): ("flop", "inference_tokens", "unique_tokens"),
    functools.partial(scaling.optimal_split, FRONTIERS[0]): ("flop",),
    functools.partial(scaling.cheapest_for_loss, BESIROGLU): ("loss", "inference_tokens", "unique_tokens"),
    functools.partial(scaling.flop_for_loss, BESIROGLU): ("loss",),
    functools.partial(scaling.params_for_loss, BESIROGLU): ("n_tokens", "loss", "unique_tokens"),
    functools.partial(scaling.tokens_for_loss, BESIROGLU): ("n_params", "loss", "unique_tokens"),
    functools.partial(scaling.split_for_params, BESIROGLU): ("n_params",),
    functools.partial(scaling.split_for_params, FRONTIERS[0]): ("n_params",),
    functools.partial(scaling.split_for_tokens, BESIROGLU): ("n_tokens",),
    functools.partial(scaling.split_for_tokens, FRONTIERS[0]): ("n_tokens",),
    functools.partial(scaling.regret, BESIROGLU): ("n_params", "n_tokens", "inference_tokens", "unique_tokens"),
    functools.partial(scaling.flat_zone, BESIROGLU): ("loss", "inference_tokens", "unique_tokens", "tolerance"),
    functools.partial(scaling.overtraining, BESIROGLU): ("size_fraction",),
    scaling.equivalent_tokens: (
        "input_tokens",
        "output_tokens",
        "usd_per_input_flop",
        "usd_per_output_flop",
        "usd_per_training_flop",
    ),
}
WRONG = (math.nan, math.inf, -math.inf, -1.0, 0.0, "1e9", None)
MAY_BE = {
    "unique_tokens": (math.inf,),  # no limit
    "inference_tokens": (0.0,),  # nothing served
    "input_tokens": (0.0,),
    "output_tokens": (0.0,),
    "usd_per_input_flop": (0.0,),
    "usd_per_output_flop": (0.0,),
}


def door_name(door: Callable[..., object]) -> str:
    """The function behind a door, with the law it was given where that is no usual one."""
    if not isinstance(door, functools.partial):
        return door.__name__
    return door.func.__name__ + (f" of {door.args[0].name}" if door.args[0] is not BESIROGLU else "")


REFUSED = [
    pytest.param(door, argument, wrong, id=f"{door_name(door)}, {argument} {wrong!r}")
    for door, arguments in DOORS.items()
    for argument in arguments
    for wrong in WRONG
    if wrong not in MAY_BE.get(argument, ())
]


@pytest.mark.parametrize(("door", "argument", "wrong"), REFUSED)
def test_every_door_refuses_what_is_no_number_of_its_kind(
    door: Callable[..., object], argument: str, wrong: object
) -> None:
    """Not-a-number, infinite, negative, zero, text and nothing: one sentence, and no warning of a library before it."""
    given = {name: RIGHT[name] for name in DOORS[door]} | {argument: wrong}
    with pytest.raises(ValueError, match=r"^(?:[^.\n]|\.(?! ))+\.$"):
        door(**given)


@pytest.mark.parametrize("door", DOORS, ids=door_name)
def test_every_door_takes_what_is_right(door: Callable[..., object]) -> None:
    """The values that the wrong ones replace are fine by themselves."""
    assert door(**{name: RIGHT[name] for name in DOORS[door]}) is not None


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "5"])
def test_a_number_of_draws_that_is_none_is_refused(wrong: int) -> None:
    """As many draws as that can't be taken."""
    with pytest.raises(ValueError, match=r"^n_draws must be a positive, finite number of draws, not "):
        BESIROGLU.sampled(wrong)


@pytest.mark.parametrize("wrong", [0, -1e20, math.nan, math.inf, "1e21"])
def test_a_budget_that_is_none_is_refused(wrong: float) -> None:
    """Zero, negative, nan, infinite and text are named as given."""
    with pytest.raises(ValueError, match=r"^flop must be a positive, finite number of FLOP, not "):
        scaling.optimal_split(BESIROGLU, flop=wrong)


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_served_tokens_that_are_none_are_refused(wrong: float) -> None:
    """Negative, nan and infinite; zero is fine."""
    with pytest.raises(ValueError, match=r"^inference_tokens must be a finite number of tokens, zero or more"):
        scaling.optimal_split(BESIROGLU, flop=1e21, inference_tokens=wrong)


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan])
def test_a_limit_that_is_none_is_refused(wrong: float) -> None:
    """Zero, negative and nan; infinite means no limit."""
    with pytest.raises(ValueError, match=r"^unique_tokens must be a positive number of tokens, or infinite"):
        scaling.optimal_split(BESIROGLU, flop=1e21, unique_tokens=wrong)


def test_serving_that_no_budget_pays_is_refused() -> None:
    """Serving a model of one parameter already costs more than the budget."""
    with pytest.raises(ValueError, match="budget is too small"):
        scaling.optimal_split(BESIROGLU, flop=1e12, inference_tokens=1e12)


@pytest.mark.parametrize("loss", [1.0, 1.8172])
def test_a_loss_at_or_below_the_floor_is_refused(loss: float) -> None:
    """The error names the law and its floor."""
    with pytest.raises(ValueError, match=r"can't be reached under 'besiroglu-2024': its floor is 1\.8172"):
        scaling.cheapest_for_loss(BESIROGLU, loss=loss)


def test_a_loss_below_the_floor_of_limited_data_is_refused() -> None:
    """The floor is then that of the data, and the sentence says so."""
    with pytest.raises(ValueError, match=r"with this much unique data, however often it is repeated: its floor is 2\."):
        scaling.cheapest_for_loss(BESIROGLU, loss=1.9, unique_tokens=1e10)


def test_split_counts_epochs_from_one() -> None:
    """Fewer tokens than there are unique ones are one epoch; more are their ratio."""
    assert [Split(1e9, tokens, unique_tokens=1e10).epochs for tokens in (1e9, 1e10, 4e10)] == [1.0, 1.0, 4.0]


def test_equivalent_tokens_of_equal_prices_are_the_tokens() -> None:
    """Where serving and training FLOP cost the same a served token counts once."""
    tokens = scaling.equivalent_tokens(
        input_tokens=3e12,
        output_tokens=1e12,
        usd_per_input_flop=2e-18,
        usd_per_output_flop=2e-18,
        usd_per_training_flop=2e-18,
    )
    assert tokens == pytest.approx(4e12, rel=1e-12)


def test_a_name_is_no_law() -> None:
    """The solvers take the law itself, and say so in one sentence."""
    with pytest.raises(ValueError, match=r"^Give the law itself, scaling\.law\(\.\.\.\), not 'besiroglu-2024'\.$"):
        scaling.optimal_split("besiroglu-2024", flop=1e21)  # type: ignore[arg-type]
