"""How is a frontier told? Its headline, key numbers, warnings and rows; every number in them is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from costkit import scaling
from costkit.units import HOUR, count, duration, flop, gpu_hours, number, percent, usd

if TYPE_CHECKING:
    from costkit.plan.schema import Plan
    from costkit.plan.sizing.answer import Frontier, Quality
    from costkit.plan.sizing.bands import Interval

NOTHING_FRACTION = 5e-4
"""Overheads below 0.05% are not worth a word."""

_LEAST_NATS = 1e-4


def headline(answer: Frontier) -> str:
    """The answer in one sentence, with the quality, the split, the time, and how much the size matters."""
    if answer.plan.model.pretrained:
        return _fine_tune_headline(answer)
    time = f"in {duration(answer.run.wall_s.mid)} on {_gpus(answer)}"
    return f"{_opening(answer)} {model(answer.choice)}, {time}{_closing(answer)}."


def _opening(answer: Frontier) -> str:
    training, quality = answer.plan.training, answer.quality
    if quality is None:
        size = "" if training.size_fraction == 1 else f" at {percent(training.size_fraction)} of the best size"
        return f"{budget(answer.plan)} buys, by {answer.law.title}{size},"
    reached = f"a loss of {number(quality.loss)}"
    if answer.demand.served_tokens:
        reached = f"{reached} and {count(answer.demand.served_tokens)} tokens served"
    if training.target_loss is not None:
        return f"{reached[0].upper()}{reached[1:]} takes {usd(answer.lifetime_usd(answer.choice))}:"
    if answer.demand.served_tokens:
        size = "" if training.size_fraction == 1 else f" {percent(training.size_fraction)} of the best size:"
        return f"For the quality that {budget(answer.plan)} of training buys, {reached}, train{size}"
    if training.size_fraction != 1:
        size, cost = percent(training.size_fraction), usd(answer.usd(answer.choice))
        return f"At {size} of the best size, {reached} takes {cost}:"
    return f"{budget(answer.plan)} reaches {reached}:"


def _closing(answer: Frontier) -> str:
    if answer.quality is None:
        return "; this law predicts no loss"
    if answer.demand.served_tokens:
        spent, lifetime = answer.usd(answer.choice), answer.lifetime_usd(answer.choice)
        return f"; training then costs {usd(spent)}, with serving {usd(lifetime)}, {_saved(answer)}"
    if answer.is_used_up and answer.plan.training.size_fraction == 1:
        return f"; more than {usd(answer.usd(answer.choice))} buys nothing on so little data"
    if answer.plan.training.size_fraction == 1:
        return f"; any size from {flat_zone(answer.quality)} costs at most 1% more"
    if answer.overhead_fraction < NOTHING_FRACTION:
        return ", as cheap as the best size"
    return f", {percent(answer.overhead_fraction)} more than the best size costs"


def _fine_tune_headline(answer: Frontier) -> str:
    """What a fine-tune costs as it is planned; no law says how well it will do."""
    run = answer.planned_run
    return (
        f"Fine-tuning {model(answer.planned)} takes {flop(float(answer.planned.flop))}, {usd(run.usd.mid)} and "
        f"{duration(run.wall_s.mid)} on {_gpus(answer)}; laws of training from scratch say nothing of its quality."
    )


def budget(plan: Plan) -> str:
    """What may be spent, in the unit in which the plan says it."""
    training = plan.training
    return usd(training.budget_usd) if training.budget_flop is None else flop(training.budget_flop)


def model(split: scaling.Split) -> str:
    """A split in words: size, tokens, and epochs where data repeats."""
    epochs = f" ({number(float(split.epochs))} epochs)" if float(split.epochs) > 1 else ""
    return f"{count(float(split.n_params))} parameters on {count(float(split.n_tokens))} tokens{epochs}"


def flat_zone(quality: Quality) -> str:
    """The sizes that cost at most 1% more, in words."""
    small, large = quality.flat_zone
    return f"{count(float(small.n_params))} to {count(float(large.n_params))}"


def _gpus(answer: Frontier) -> str:
    hardware = answer.plan.hardware
    return f"{hardware.n_gpus:,} {hardware.gpu}"


def facts(answer: Frontier) -> tuple[tuple[str, str], ...]:
    """Key numbers as (label, text), in the order of the sentence."""
    if answer.plan.model.pretrained:
        return _fine_tune_facts(answer)
    choice, quality, known = answer.choice, answer.quality, answer.intervals
    size, tokens, loss = (known.n_params, known.n_tokens, known.loss) if known else (None, None, None)
    reached = f"{_nats(quality.loss)}{_range(answer, loss, _nats)}" if quality else ""
    served = _serving(answer) if quality and answer.demand.served_tokens else ""
    limited = f"{number(float(choice.epochs))} over {count(answer.demand.unique_tokens)} unique tokens"
    found = (
        ("Compute", f"{flop(float(choice.flop))} for {usd(answer.usd(choice))}"),
        ("Model size", f"{count(float(choice.n_params))} parameters{_range(answer, size, count)}"),
        ("Training data", f"{count(float(choice.n_tokens))} tokens{_range(answer, tokens, count)}"),
        ("Tokens per parameter", number(float(choice.tokens_per_param))),
        ("Loss", reached),
        ("Time", f"{duration(answer.run.wall_s.mid)}, {gpu_hours(answer.run.gpu_hours.mid)} GPU-hours"),
        ("Serving", served),
        ("Epochs", limited if answer.demand.is_limited else ""),
        ("The plan's own split", planned(answer)),
    )
    return tuple((label, text) for label, text in found if text)


def _fine_tune_facts(answer: Frontier) -> tuple[tuple[str, str], ...]:
    """A fine-tune as it is planned."""
    split, run = answer.planned, answer.planned_run
    return (
        ("Compute", f"{flop(float(split.flop))} for {usd(run.usd.mid)}"),
        ("Model size", f"{count(float(split.n_params))} parameters"),
        ("Training data", f"{count(float(split.n_tokens))} tokens"),
        ("Time", f"{duration(run.wall_s.mid)}, {gpu_hours(run.gpu_hours.mid)} GPU-hours"),
    )


def _nats(loss: float) -> str:
    """A loss to three decimals: laws and refits differ in the third."""
    return f"{loss:.3f}"


def _range(answer: Frontier, interval: Interval | None, written: Callable[[float], str]) -> str:
    if interval is None or answer.plan.training.size_fraction != 1:
        return ""
    return f" (80%: {written(interval.low)} to {written(interval.high)})"


def _serving(answer: Frontier) -> str:
    spent = usd(answer.lifetime_usd(answer.choice) - answer.usd(answer.choice))
    return f"{spent} for {count(answer.demand.served_tokens)} tokens, {_saved(answer)}"


def _saved(answer: Frontier) -> str:
    """The lifetime cost of the choice against the model that is best for training alone."""
    unique = answer.demand.unique_tokens
    alone = scaling.cheapest_for_loss(answer.law, loss=scaling.loss_of(answer.choice), unique_tokens=unique)
    saving = 1 - answer.lifetime_usd(answer.choice) / answer.lifetime_usd(alone)
    if abs(saving) < NOTHING_FRACTION:
        return "as much as the best model for training alone"
    return f"{percent(abs(saving))} {'less' if saving > 0 else 'more'} than the best model for training alone"


def planned(answer: Frontier) -> str:
    """The plan's own size and tokens, and what they give away."""
    split = answer.planned
    if answer.quality is None or split.loss is None:
        return f"{model(split)}, {usd(answer.usd(split))}"
    wasted = float(answer.quality.planned_regret.overhead_fraction)
    needed = f"{percent(wasted)} more than its loss of {number(float(scaling.loss_of(split)))} needs"
    verdict = needed if wasted >= NOTHING_FRACTION else "on the frontier"
    return f"{model(split)}: {usd(answer.lifetime_usd(split))}, {verdict}"


def flatness(answer: Frontier) -> str:
    """How much the exact size matters, and where the plan's own split stands."""
    if answer.plan.model.pretrained:
        return "The valley on the right is of training from scratch; a fine-tune has no best size in it."
    own = f"The plan's own split: {planned(answer)}"
    if answer.quality is None:
        return f"{answer.law.title} can't say what another size costs. {own}."
    zone, most = flat_zone(answer.quality), usd(0.01 * answer.least_usd)
    same = f"Any size from {zone} reaches the same loss for at most {most} more."
    return f"{same} {own}{_given_away(answer, answer.quality.planned_regret)}{_left(answer)}."


def _left(answer: Frontier) -> str:
    """What the plan's own split leaves of the budget, or takes beyond it."""
    left = answer.plan.training.budget_usd - answer.usd(answer.planned)
    if budget_is_idle(answer.plan) or abs(left) < NOTHING_FRACTION * answer.plan.training.budget_usd:
        return ""
    whole = usd(answer.plan.training.budget_usd)
    return f"; of the {whole} it leaves {usd(left)}" if left > 0 else f"; that is {usd(-left)} beyond the {whole}"


def budget_is_idle(plan: Plan) -> bool:
    """Whether something else than the budget in dollars decides."""
    return plan.training.target_loss is not None or plan.training.budget_flop is not None


def _given_away(answer: Frontier, regret: scaling.Regret) -> str:
    if float(regret.overhead_fraction) < NOTHING_FRACTION:
        return ""
    wasted, nats = float(regret.wasted_flop), float(regret.nats)
    lost = f", or {number(nats, digits=2)} nats at its own compute" if nats >= _LEAST_NATS else ""
    return f"; that gives away {flop(wasted)}, {usd(wasted * answer.usd_per_flop)}{lost}"


def certainty(answer: Frontier) -> str:
    """What the refits leave open, and what it would cost to be wrong about it."""
    known, quality = answer.intervals, answer.quality
    if known is None or quality is None:
        return f"{answer.law.title} comes without refits, so only the spread between laws shows how sure the size is."
    size, loss = known.n_params, known.loss
    ends, unique = np.array([size.low, size.high]), answer.demand.unique_tokens
    tokens = scaling.tokens_for_loss(answer.law, n_params=ends, loss=quality.loss, unique_tokens=unique)
    costs = np.asarray(scaling.Split(ends, tokens).lifetime_flop(answer.demand.equivalent_tokens))
    most = float(costs.max()) * answer.usd_per_flop / answer.least_usd - 1
    wrong = f"costs at most {percent(max(most, 0.0))} more" if np.isfinite(most) else "may mean never to reach the loss"
    return (
        f"Refits put the best size between {count(size.low)} and {count(size.high)} (middle 80%) and the loss between "
        f"{loss.low:.3f} and {loss.high:.3f}; taking either end for the truth {wrong}."
    )


def warnings(answer: Frontier) -> tuple[str, ...]:
    """Sentences on where the answer stops being reliable."""
    if answer.plan.model.pretrained:
        found: tuple[str, ...] = (_fine_tune(), _experts(answer), _repetition(answer.planned))
    else:
        found = (
            _experts(answer),
            _extrapolation(answer),
            _repetition(answer.choice),
            _own_count(answer),
            _unused_budget(answer),
        )
    return tuple(sentence for sentence in found if sentence)


def _fine_tune() -> str:
    return "This plan starts from a trained model, which no law here describes: read its compute and dollars only."


def _experts(answer: Frontier) -> str:
    total, counted = answer.plan.model.n_params, float(answer.planned.n_params)
    if counted >= total:
        return ""
    return (
        f"The plan's model is a mixture of experts: its {count(counted)} active parameters are counted, not all "
        f"{count(total)}; the laws here are of dense models."
    )


def _extrapolation(answer: Frontier) -> str:
    spent, size, law = float(answer.choice.flop), float(answer.choice.n_params), answer.law
    outside = law.outside(flop=spent, n_params=size)
    if not outside:
        return ""
    value, (low, high) = (spent, law.flop_range) if outside == "compute" else (size, law.n_params_range)
    told, what = (flop(value), "run") if outside == "compute" else (f"{count(value)} parameters", "model")
    verb = "is" if outside == "compute" else "are"
    if value > high:
        return f"{told} {verb} {number(value / high)} times the largest {what} behind this law: an extrapolation."
    return f"{told} {verb} {number(low / value)} times less than the smallest {what} behind this law: an extrapolation."


def _repetition(split: scaling.Split) -> str:
    epochs = float(split.epochs)
    if epochs <= scaling.MAX_TESTED_EPOCHS:
        return ""
    return (
        f"{number(epochs)} epochs are past {scaling.MAX_TESTED_EPOCHS:g}: repeated tokens are then worth little "
        f"and can do harm, which no law here counts."
    )


def _own_count(answer: Frontier) -> str:
    if answer.law.n_params_kind == "total":
        return ""
    return f"{answer.law.title} counts parameters its own way ({answer.law.n_params_kind})."


def _unused_budget(answer: Frontier) -> str:
    training = answer.plan.training
    if not budget_is_idle(answer.plan):
        return ""
    goal = "compute budget" if training.target_loss is None else "target loss"
    return f"A {goal} is set, so the budget of {usd(training.budget_usd)} decides nothing here."


def rows(answer: Frontier) -> list[dict[str, object]]:
    """One row a quantity: quantity, value, low and high of the middle 80% (empty where unknown), unit."""
    if answer.plan.model.pretrained:
        return _fine_tune_rows(answer)
    choice, known, law = answer.choice, answer.intervals, answer.law
    spans = {"n_params": known.n_params, "n_tokens": known.n_tokens, "loss": known.loss} if known else {}
    unit = law.loss_unit if isinstance(law, scaling.ScalingLaw) else "nats per token"
    values = (
        _goal(answer),
        ("training_flop", choice.flop, "FLOP"),
        ("n_params", choice.n_params, "parameters"),
        ("n_tokens", choice.n_tokens, "tokens"),
        ("epochs", choice.epochs, "epochs"),
        ("loss", choice.loss, unit),
        ("training_usd", answer.usd(choice), "USD"),
        ("lifetime_usd", answer.lifetime_usd(choice), "USD"),
        ("overhead_fraction", answer.overhead_fraction, "fraction"),
        ("gpu_hours", answer.run.gpu_hours.mid, "GPU-hours"),
        ("wall_hours", answer.run.wall_s.mid / HOUR, "hours"),
        ("optimal_n_params", answer.optimum.n_params, "parameters"),
        ("optimal_n_tokens", answer.optimum.n_tokens, "tokens"),
        ("planned_n_params", answer.planned.n_params, "parameters"),
        ("planned_n_tokens", answer.planned.n_tokens, "tokens"),
        ("planned_loss", answer.planned.loss, unit),
    )
    best = answer.plan.training.size_fraction == 1
    return [_row(name, value, spans.get(name) if best else None, unit) for name, value, unit in values]


def _fine_tune_rows(answer: Frontier) -> list[dict[str, object]]:
    """A fine-tune as it is planned: no law says which size or loss is best."""
    split, run = answer.planned, answer.planned_run
    values = (
        ("training_flop", split.flop, "FLOP"),
        ("n_params", split.n_params, "parameters"),
        ("n_tokens", split.n_tokens, "tokens"),
        ("training_usd", run.usd.mid, "USD"),
        ("gpu_hours", run.gpu_hours.mid, "GPU-hours"),
        ("wall_hours", run.wall_s.mid / HOUR, "hours"),
    )
    return [_row(name, value, None, unit) for name, value, unit in values]


def _goal(answer: Frontier) -> tuple[str, object, str]:
    """The one number that decides."""
    training = answer.plan.training
    if training.target_loss is not None:
        return "target_loss", training.target_loss, "nats per token"
    if training.budget_flop is not None:
        return "budget_flop", training.budget_flop, "FLOP"
    return "budget_usd", training.budget_usd, "USD"


def _row(quantity: str, value: object, span: Interval | None, unit: str) -> dict[str, object]:
    shown = "" if value is None else value
    low, high = (span.low, span.high) if span else ("", "")
    return {"quantity": quantity, "value": shown, "low_80": low, "high_80": high, "unit": unit}
