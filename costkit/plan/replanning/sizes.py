"""What does the best size leave of the training? The least compute for the loss of the plan's own split.

- Where tokens are served, the best size is that for training and serving together; the bill is of the training alone.
"""

from __future__ import annotations

import numpy as np

from costkit import scaling
from costkit.levers import WORK, Effect
from costkit.plan.reached import n_active_params
from costkit.plan.replanning.found import COMPUTED, Found, NotOffered
from costkit.plan.replanning.start import Start
from costkit.plan.sizing.answer import law, split_at
from costkit.plan.sizing.bands import has_draws
from costkit.plan.sizing.demand import Demand, Limits
from costkit.units import Range, count, percent

_DRAWS, _LEAST_SAVED = 200, 0.001


def compute_optimal(at: Start) -> Found:
    """The size and data that reach the loss of the plan's own for the least."""
    plan, used = at.plan, law(at.plan)
    if plan.model.pretrained:
        raise NotOffered("a fine-tune has the size of the model that it starts from")
    if not isinstance(used, scaling.ScalingLaw):
        raise NotOffered("the plan's law predicts no loss")
    N, D, limits = n_active_params(plan), plan.data.n_tokens, Demand.of(plan).limits
    over = float(scaling.regret(used, n_params=N, n_tokens=D, **limits).overhead_fraction)
    if 1 / (1 + over) > 1 - _LEAST_SAVED:
        raise NotOffered("the plan's split is the best one already, within a thousandth")
    own = split_at(used, N, D, Demand.of(plan))
    best, keep = _cheapest(used, own, limits), _trained(used, own, limits)
    of_what = "its loss and its serving" if limits["inference_tokens"] else "its loss"
    told = (
        f"{count(N)} on {count(D)} tokens is {percent(over)} over the least for {of_what}:"
        f" {count(float(best.n_params))} on {count(float(best.n_tokens))}"
    )
    more = f", {percent(keep.mid - 1)} more to train" if keep.mid > 1 else ""
    price = "a larger model, dearer to serve" if float(best.n_params) > N else ""
    return Found([Effect(WORK, keep)], COMPUTED, f"{told}{more}{price and f', {price}'}", price=price)


def _cheapest(used: scaling.Law, own: scaling.Split, limits: Limits) -> scaling.Split:
    """The split that reaches a plan's loss for the least, training and serving together; of each draw of a law."""
    unique = limits["unique_tokens"]
    reached = scaling.loss(used, n_params=own.n_params, n_tokens=own.n_tokens, unique_tokens=unique)
    return scaling.cheapest_for_loss(used, loss=scaling.above_floor(used, reached, unique_tokens=unique), **limits)


def _trained(used: scaling.ScalingLaw, own: scaling.Split, limits: Limits) -> Range:
    """What the best split leaves of the training alone: more than all of it where serving wants a smaller model."""
    middle = float(_cheapest(used, own, limits).flop) / float(own.flop)
    if not has_draws(used):
        return Range.exact(middle)
    drawn = np.asarray(_cheapest(used.sampled(_DRAWS), own, limits).flop) / float(own.flop)
    low, high = (float(end) for end in np.quantile(drawn, (0.1, 0.9)))
    return Range(min(low, middle), middle, max(high, middle))
