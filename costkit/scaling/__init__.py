"""How good, for how much compute? Scaling laws, the best split of a budget, its uncertainty, and your own runs."""

from costkit.scaling.fitting import Fit, HoldOut, fit, hold_out, without_highest_losses
from costkit.scaling.forms import MAX_TESTED_EPOCHS, above_floor, loss, lowest_loss
from costkit.scaling.huber import MIN_RUNS
from costkit.scaling.laws import FrontierLaw, Law, Numbers, ScalingLaw, law, names
from costkit.scaling.optimum import (
    TRAINING_FLOP_PER_PARAM_TOKEN,
    Split,
    cheapest_for_loss,
    flop_for_loss,
    loss_of,
    optimal_split,
    params_for_loss,
    split_for_params,
    split_for_tokens,
    tokens_for_loss,
)
from costkit.scaling.regret import (
    Overtraining,
    Regret,
    equivalent_tokens,
    flat_zone,
    overtraining,
    regret,
)

__all__ = [
    "MAX_TESTED_EPOCHS",
    "MIN_RUNS",
    "TRAINING_FLOP_PER_PARAM_TOKEN",
    "Fit",
    "FrontierLaw",
    "HoldOut",
    "Law",
    "Numbers",
    "Overtraining",
    "Regret",
    "ScalingLaw",
    "Split",
    "above_floor",
    "cheapest_for_loss",
    "equivalent_tokens",
    "fit",
    "flat_zone",
    "flop_for_loss",
    "hold_out",
    "law",
    "loss",
    "loss_of",
    "lowest_loss",
    "names",
    "optimal_split",
    "overtraining",
    "params_for_loss",
    "regret",
    "split_for_params",
    "split_for_tokens",
    "tokens_for_loss",
    "without_highest_losses",
]
