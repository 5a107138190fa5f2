"""What do the published figures of a run imply? Those on the command line, over those of a plan, audited as one.

- A plan's hours are its case's, or those of the published run that it is, or its GPUs for the published days.
- Days or GPUs on the command line take the place of hours that the plan states.
"""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from costkit import plan, training
from costkit.cli.amounts import plan_of, read
from costkit.cli.output import json_text
from costkit.plan.published import published
from costkit.plan.reached import n_active_params
from costkit.plan.schema import kind
from costkit.training.stated import BILL, FLOP_OVERCOUNT
from costkit.units import gpu_hours, percent, usd, usd_rate

_KEYS = {
    "n_params": "model.n_params",
    "n_active_params": "model.n_params",
    "n_tokens": "data.n_tokens",
    "gpu_hours": "case.published_gpu_hours",
    "n_gpus": "hardware.n_gpus",
    "days": "case.published_days",
    "usd": "case.published_usd",
    "usd_per_gpu_hour": "hardware.usd_per_gpu_hour",
    "gpus_per_node": "market.gpus_per_node",
    "mfu_published": "case.published_mfu",
    "seq_len": "training.seq_len",
}
"""The key of a plan by whose rules each amount is read."""
_SAME = 0.005
_NAMES = ("gpu", "kind", "precision")
_HOURS = "the hours (--gpu-hours, or --n-gpus and --days, or --usd and --usd-per-gpu-hour)"
_DECISIVE = {
    "n_params": ("model.n_params", "model size"),
    "n_tokens": ("data.n_tokens", "tokens"),
    "gpu": ("hardware.gpu", "GPU"),
    "n_gpus": ("hardware.n_gpus", "number of GPUs"),
    "precision": ("memory.precision", "precision"),
}
"""What the MFU and its bounds can rest on: the key of a plan that says it, and its name in a sentence."""

Figures = dict[str, Any]


def audited(arguments: Namespace) -> str:
    """The answer of `costkit audit`; a ValueError of one sentence where figures are missing or no amounts."""
    chosen, given = plan_of(arguments), _given(arguments)
    figures = _together({} if chosen is None else _planned(chosen), given)
    _require_enough(figures, has_plan=chosen is not None)
    found = training.audit(**figures)
    notes = [*_bill(found, figures), *_others(found, figures)]
    notes += () if chosen is None else _of_plan(chosen, found, figures, given)
    if arguments.json:
        told = {"headline": found.headline, "verdict": found.verdict, **dataclasses.asdict(found)}
        return json_text({**told, "notes": notes, "figures": figures})
    return "\n".join([found.headline, *map(str, found.flags), *notes]) + "\n"


def _given(arguments: Namespace) -> Figures:
    """The figures of the command line, each an argument of `training.audit`."""
    texts = {name: getattr(arguments, name) for name in (*_KEYS, *_NAMES)}
    found = {name: _read(name, text) for name, text in texts.items() if text is not None}
    return found | ({"pretrained": True} if arguments.pretrained else {})


def _read(name: str, text: str) -> Any:
    return text if name in _NAMES else read(_option(name), text, kind(_KEYS[name]))


def _option(name: str) -> str:
    return f"--{name.removesuffix('_published').replace('_', '-')}"


def _planned(chosen: plan.Plan) -> Figures:
    """What the plan states, and what its case says was published."""
    known = published(chosen)
    run_kind = known.run.kind if known.run and known.run.kind in FLOP_OVERCOUNT else None
    found = {
        "n_params": chosen.model.n_params,
        "n_active_params": n_active_params(chosen),
        "n_tokens": chosen.data.n_tokens,
        "gpu": chosen.hardware.gpu,
        "gpu_hours": known.gpu_hours,
        "n_gpus": chosen.hardware.n_gpus,
        "days": known.days,
        "usd": known.usd,
        "usd_per_gpu_hour": chosen.hardware.usd_per_gpu_hour,
        "gpus_per_node": chosen.market.gpus_per_node,
        "mfu_published": known.mfu,
        "seq_len": chosen.training.seq_len,
        "kind": run_kind,
        "precision": chosen.memory.precision,
        "pretrained": chosen.model.pretrained,
    }
    return {name: value for name, value in found.items() if value is not None}


def _together(planned: Figures, given: Figures) -> Figures:
    """What is given before what is planned; a plan's figure that follows from one that is given no longer holds."""
    found = {**planned, **given}
    dropped = []
    if "n_params" in given:
        dropped.append("n_active_params")
    if given.keys() & {"days", "n_gpus"} and found.keys() >= {"days", "n_gpus"}:
        dropped.append("gpu_hours")
    return {name: value for name, value in found.items() if name in given or name not in dropped}


def _require_enough(figures: Figures, *, has_plan: bool) -> None:
    missing = [_option(name) for name in ("n_params", "n_tokens", "gpu") if name not in figures]
    if not _has_hours(figures) and not figures.keys() >= {"usd", "usd_per_gpu_hour"}:
        missing.append(_HOURS)
    if missing:
        needed = " and ".join(part for part in (", ".join(missing[:-1]), missing[-1]) if part)
        where = "which the plan does not say" if has_plan else "or a plan (--plan) that says what was published"
        raise ValueError(f"an audit needs {needed}, {where}")


def _has_hours(figures: Figures) -> bool:
    return "gpu_hours" in figures or figures.keys() >= {"days", "n_gpus"}


def _bill(found: training.Audit, figures: Figures) -> Iterator[str]:
    """The hours at their price beside the bill, where the hours are known without it and no flag says so already."""
    is_told = any(flag.way == BILL for flag in found.flags)
    if is_told or not _has_hours(figures) or not figures.keys() >= {"usd", "usd_per_gpu_hour"}:
        return
    price, paid = figures["usd_per_gpu_hour"], figures["usd"]
    more = paid / (found.gpu_hours * price) - 1
    beside = f", {percent(abs(more))} {'more' if more > 0 else 'less'}" if abs(more) >= _SAME else ""
    bought = f"{gpu_hours(found.gpu_hours)} GPU-hours at {usd_rate(price)} are {usd(found.gpu_hours * price)}"
    yield f"bill: {bought}; what was paid is {usd(paid)}{beside}"


def _others(found: training.Audit, figures: Figures) -> Iterator[str]:
    """What published runs like it took, where it is known on how many GPUs it ran."""
    if "n_gpus" not in figures or figures.get("pretrained"):
        return
    n_params: float = figures["n_active_params"] if "n_active_params" in figures else figures["n_params"]
    like = training.efficiency(
        gpu=figures["gpu"],
        n_params=n_params,
        n_gpus=figures["n_gpus"],
        seq_len=figures.get("seq_len"),
        precision=figures.get("precision", "bf16-mixed"),
    )
    slow, fast = (gpu_hours(found.gpu_hours * found.mfu / mfu) for mfu in (like.mfu.low, like.mfu.high))
    reached = f"{percent(like.mfu.low)} to {percent(like.mfu.high)}"
    yield f"others: published runs like it reached {reached} over all hours, which takes {fast} to {slow} GPU-hours"


def _of_plan(chosen: plan.Plan, found: training.Audit, figures: Figures, given: Figures) -> Iterator[str]:
    """What else the plan's case has, and which of its figures nobody published."""
    busy = chosen.case.gpu_utilisation_fraction
    if busy is not None:
        counter = f"the driver's {percent(busy)} is how much of the time any kernel ran"
        yield f"utilisation: {counter}, not how much of the peak was reached: that is the {percent(found.mfu)}"
    assumed = {row.key for row in plan.inputs(chosen) if row.basis == "assumed"}
    words = [word for name, (key, word) in _DECISIVE.items() if key in assumed and _counts(name, figures, given)]
    if words:
        yield f"assumed: the plan has no published source for {', '.join(words)}; the MFU and its bounds rest on that"


def _counts(name: str, figures: Figures, given: Figures) -> bool:
    """Whether the audit rests on the plan's word for this figure."""
    if name == "precision":
        return name not in given and not figures[name].startswith(("bf16", "fp16"))
    return name not in given and (name != "n_gpus" or "gpu_hours" not in figures)
