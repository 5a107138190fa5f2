"""How is a frontier told? Its headline, key numbers, warnings and rows; every number in them is computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from costkit import scaling
from costkit.units import HOUR, count, duration, flop, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.answer import Frontier
    from costkit.plan.bands import Interval
    from costkit.plan.schema import Plan


def headline(answer: Frontier) -> str:
    """The answer in one sentence, with the quality, the split, the time, and how much the size matters."""
    sentence = f"{_opening(answer)} {model(answer.choice)}, in {duration(answer.run.wall_s.mid)} on {_gpus(answer)}"
    if answer.serving_tokens:
        return f"{sentence}; training costs {usd(answer.training_usd)}, with serving {usd(answer.lifetime_usd)}."
    return f"{sentence}{_closing(answer)}."


def _opening(answer: Frontier) -> str:
    plan = answer.plan
    if answer.loss is None:
        return f"{budget(plan)} buys, by {answer.law.title},"
    quality = f"a loss of {number(answer.loss)}"
    if plan.training.size_fraction != 1 and not answer.serving_tokens:
        return (
            f"At {percent(plan.training.size_fraction)} of the best size, {quality} takes {usd(answer.training_usd)}:"
        )
    if answer.serving_tokens:
        quality = f"{quality} and {count(plan.data.inference_tokens)} tokens served"
    if plan.training.target_loss is not None:
        return f"{quality[0].upper()}{quality[1:]} takes {usd(answer.lifetime_usd)}:"
    if answer.serving_tokens:
        return f"For the quality that {budget(plan)} of training buys, {quality}, train"
    return f"{budget(plan)} reaches {quality}:"


def budget(plan: Plan) -> str:
    """What may be spent, in the unit in which the plan says it."""
    training = plan.training
    return usd(training.budget_usd) if training.budget_flop is None else flop(training.budget_flop)


def _closing(answer: Frontier) -> str:
    if answer.loss is None:
        return "; this law predicts no loss"
    if answer.plan.training.size_fraction != 1:
        more = f", {percent(answer.overhead_fraction)} more than the best size costs"
        return more if answer.overhead_fraction >= 5e-4 else ", as cheap as the best size"
    return f"; any size from {flat_zone(answer)} costs at most 1% more"


def model(split: scaling.Split) -> str:
    """A split in words: size, tokens, and epochs where data repeats."""
    epochs = f" ({number(float(split.epochs))} epochs)" if float(split.epochs) > 1 else ""
    return f"{count(float(split.n_params))} parameters on {count(float(split.n_tokens))} tokens{epochs}"


def flat_zone(answer: Frontier) -> str:
    """The sizes that cost at most 1% more, in words."""
    if answer.flat_zone is None:
        return "unknown"
    small, large = answer.flat_zone
    return f"{count(float(small.n_params))} to {count(float(large.n_params))}"


def _gpus(answer: Frontier) -> str:
    hardware = answer.plan.hardware
    return f"{hardware.n_gpus:,} {hardware.gpu}"


def facts(answer: Frontier) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text), in the order of the sentence."""
    choice, plan = answer.choice, answer.plan
    found = [
        ("Compute", f"{flop(float(choice.flop))} for {usd(answer.training_usd)}"),
        ("Model size", f"{count(float(choice.n_params))} parameters{_range(answer, answer.n_params_interval, count)}"),
        ("Training data", f"{count(float(choice.n_tokens))} tokens{_range(answer, answer.n_tokens_interval, count)}"),
        ("Tokens per parameter", number(float(choice.tokens_per_param))),
        ("Time", f"{duration(answer.run.wall_s.mid)}, {number(answer.run.gpu_hours.mid)} GPU-hours"),
    ]
    if answer.loss is not None:
        found.insert(4, ("Loss", f"{number(answer.loss)}{_range(answer, answer.loss_interval, number)}"))
    if answer.serving_tokens:
        found.append(("Serving", _serving(answer)))
    if math.isfinite(plan.data.unique_tokens):
        found.append(("Epochs", f"{number(float(choice.epochs))} over {count(plan.data.unique_tokens)} unique tokens"))
    found.append(("The plan's own split", planned(answer)))
    return tuple(found)


def _range(answer: Frontier, interval: Interval | None, text: object) -> str:
    if interval is None or answer.plan.training.size_fraction != 1 or not callable(text):
        return ""
    return f" (80%: {text(interval.low)} to {text(interval.high)})"


def _serving(answer: Frontier) -> str:
    saving = 1 - answer.lifetime_usd / answer.lifetime_usd_if_trained_alone
    spent = usd(answer.lifetime_usd - answer.training_usd)
    against = f", {percent(abs(saving))} {'less' if saving >= 0 else 'more'} over its life than the training optimum"
    return f"{spent} for {count(answer.plan.data.inference_tokens)} tokens{against}"


def planned(answer: Frontier) -> str:
    """The plan's own size and tokens, and what they give away."""
    split, regret = answer.planned, answer.planned_regret
    if regret is None:
        return f"{model(split)}, {usd(float(split.flop) * answer.usd_per_flop)}"
    spent = usd(float(regret.flop) * answer.usd_per_flop)
    wasted = float(regret.overhead_fraction)
    verdict = f"{percent(wasted)} more than its loss of {number(float(split.loss or 0))} needs"
    return f"{model(split)}: {spent}, {verdict if wasted >= 5e-4 else 'on the frontier'}"


def flatness(answer: Frontier) -> str:
    """How much the exact size matters, and where the plan's own split stands."""
    if answer.flat_zone is None:
        return f"{answer.law.title} can't say what another size costs. The plan's own split: {planned(answer)}."
    return (
        f"Any size from {flat_zone(answer)} reaches the same loss for at most {usd(0.01 * answer.least_usd)} more. "
        f"The plan's own split: {planned(answer)}{_given_away(answer)}."
    )


def _given_away(answer: Frontier) -> str:
    regret = answer.planned_regret
    if regret is None or float(regret.overhead_fraction) < 5e-4:
        return ""
    wasted = float(regret.wasted_flop)
    nats = number(float(regret.nats), digits=2)
    return f"; that gives away {flop(wasted)}, {usd(wasted * answer.usd_per_flop)}, or {nats} nats at its own compute"


def certainty(answer: Frontier) -> str:
    """What the refits leave open, and what it would cost to be wrong about it."""
    size, loss, cost = answer.n_params_interval, answer.loss_interval, answer.size_cost
    if size is None or loss is None or cost is None:
        return f"{answer.law.title} comes without refits, so only the spread between laws shows how sure the size is."
    order = np.argsort(cost.n_params)
    ends = np.interp([size.low, size.high], cost.n_params[order], cost.lifetime_usd[order])
    wrong = percent(max(float(ends.max()) / answer.least_usd - 1, 0.0))
    return (
        f"Refits put the best size between {count(size.low)} and {count(size.high)} (middle 80%) and the loss between "
        f"{loss.low:.3f} and {loss.high:.3f}; taking either end for the truth costs at most {wrong} more."
    )


def serving(answer: Frontier) -> str:
    """What serving does to the best size: for the plan's tokens, or for ten times those of its training."""
    if answer.loss is None:
        return f"{answer.law.title} predicts no loss, so serving can't be weighed against it."
    ratio, limit = answer.plan.data.serving_cost_ratio, answer.plan.data.unique_tokens
    alone = scaling.cheapest_for_loss(answer.law, loss=answer.loss, unique_tokens=limit)
    served = answer.plan.data.inference_tokens or 10 * float(alone.n_tokens)
    best = scaling.cheapest_for_loss(answer.law, loss=answer.loss, inference_tokens=served * ratio, unique_tokens=limit)
    saved = 1 - float(best.lifetime_flop(served * ratio)) / float(alone.lifetime_flop(served * ratio))
    whose = "" if answer.plan.data.inference_tokens else ", ten times those it trains on"
    return (
        f"With {count(served)} tokens served{whose}, {model(best)} are cheapest: training costs "
        f"{usd(float(best.flop) * answer.usd_per_flop)} instead of {usd(float(alone.flop) * answer.usd_per_flop)}, "
        f"and training with serving {percent(saved)} less."
    )


def data_limit(answer: Frontier) -> str:
    """How many different tokens the answer needs, or what the plan's limit costs."""
    if not isinstance(answer.law, scaling.ScalingLaw):
        return f"{answer.law.title} predicts no loss, so a limit of data can't be priced by it."
    unique = answer.plan.data.unique_tokens
    if math.isinf(unique):
        return f"No limit is set: the answer takes {count(float(answer.choice.n_tokens))} different tokens, each once."
    free = float(scaling.optimal_split(answer.law, flop=answer.budget_flop).loss or 0)
    return (
        f"With {count(unique)} different tokens each is seen {number(float(answer.choice.epochs))} times, "
        f"and the budget reaches a loss of {answer.loss:.3f} instead of {free:.3f} on unlimited data."
    )


def warnings(answer: Frontier) -> tuple[str, ...]:
    """Sentences on where the answer stops being reliable."""
    found = [
        _fine_tune(answer),
        _extrapolation(answer),
        _repetition(answer),
        _own_count(answer),
        _unused_budget(answer),
    ]
    return tuple(sentence for sentence in found if sentence)


def _fine_tune(answer: Frontier) -> str:
    if not answer.plan.model.pretrained:
        return ""
    return (
        "This plan starts from a trained model, which no scaling law here describes: read its compute and dollars only."
    )


def _extrapolation(answer: Frontier) -> str:
    spent, (low, high) = float(answer.choice.flop), answer.law.flop_range
    if answer.law.covers(flop=spent):
        return ""
    if spent > high:
        return f"{flop(spent)} is {number(spent / high)} times the largest run behind this law: an extrapolation."
    return f"{flop(spent)} is {number(low / spent)} times less than the smallest run behind this law: an extrapolation."


def _repetition(answer: Frontier) -> str:
    epochs = float(answer.choice.epochs)
    if epochs <= scaling.MAX_TESTED_EPOCHS:
        return ""
    most = f"{scaling.MAX_TESTED_EPOCHS:g}"
    return (
        f"{number(epochs)} epochs are past {most}: repeated tokens are then worth little and can do harm, "
        f"which no law here counts."
    )


def _own_count(answer: Frontier) -> str:
    if answer.law.n_params_kind == "total":
        return ""
    return f"{answer.law.title} counts parameters its own way ({answer.law.n_params_kind})."


def _unused_budget(answer: Frontier) -> str:
    training = answer.plan.training
    if training.target_loss is None and training.budget_flop is None:
        return ""
    goal = "compute budget" if training.target_loss is None else "target loss"
    return f"A {goal} is set, so the budget of {usd(training.budget_usd)} decides nothing here."


def rows(answer: Frontier) -> list[dict[str, object]]:
    """One row a quantity: quantity, value, low and high of the middle 80% (empty where unknown), unit."""
    choice, best = answer.choice, answer.plan.training.size_fraction == 1
    spans = {
        "n_params": answer.n_params_interval,
        "n_tokens": answer.n_tokens_interval,
        "loss": answer.loss_interval,
    }
    values = (
        ("budget_usd", answer.plan.training.budget_usd, "USD"),
        ("training_flop", choice.flop, "FLOP"),
        ("n_params", choice.n_params, "parameters"),
        ("n_tokens", choice.n_tokens, "tokens"),
        ("epochs", choice.epochs, "epochs"),
        ("loss", choice.loss, "nats per token"),
        ("training_usd", answer.training_usd, "USD"),
        ("lifetime_usd", answer.lifetime_usd, "USD"),
        ("overhead_fraction", answer.overhead_fraction, "fraction"),
        ("gpu_hours", answer.run.gpu_hours.mid, "GPU-hours"),
        ("wall_hours", answer.run.wall_s.mid / HOUR, "hours"),
        ("optimal_n_params", answer.optimum.n_params, "parameters"),
        ("optimal_n_tokens", answer.optimum.n_tokens, "tokens"),
        ("planned_n_params", answer.planned.n_params, "parameters"),
        ("planned_n_tokens", answer.planned.n_tokens, "tokens"),
        ("planned_loss", answer.planned.loss, "nats per token"),
    )
    return [_row(name, value, spans.get(name) if best else None, unit) for name, value, unit in values]


def _row(quantity: str, value: object, span: Interval | None, unit: str) -> dict[str, object]:
    shown = "" if value is None else value
    low, high = (span.low, span.high) if span else ("", "")
    return {"quantity": quantity, "value": shown, "low_80": low, "high_80": high, "unit": unit}
