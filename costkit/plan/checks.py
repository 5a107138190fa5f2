"""Do the values of a plan fit each other? Names that tables must know, and values that cannot both be meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from costkit import levers, memory, tables, training
from costkit.plan.documents import beside
from costkit.plan.kinds import PlanError, shown, suggestion
from costkit.plan.lists import amounts
from costkit.plan.shapes import architecture
from costkit.units import count

if TYPE_CHECKING:
    from costkit.plan.schema import Plan

SIZE_TOLERANCE = 0.01
FILE_KEYS = ("data.runs", "market.trace", "market.price_history")


def check_consistent(plan: Plan, keys: Sequence[str], folder: Path | None) -> None:
    """Raise PlanError for the first pair of values that do not fit each other."""
    _check_size(plan, folder)
    _check_price(plan)
    _check_precision(plan)
    _check_own_runs(plan)
    _check_files(plan, folder)
    _check_one_goal(plan)
    _check_elastic(plan)
    _check_rate(plan)
    _check_batch(plan)
    _check_deadline(plan)
    _check_listed(plan)
    _check_sources(plan, keys)


def _check_elastic(plan: Plan) -> None:
    """What a run that goes on with fewer nodes can't be simulated with."""
    if not plan.market.elastic:
        return
    given = {key: plan.value(key) for key in ("market.trace", "market.price_history", "market.keeps_survivors")}
    for key, value in given.items():
        if value:
            raise PlanError(
                f"market.elastic and {key} are both set, and a run that goes on with fewer nodes is simulated without:"
                " leave one of the two out"
            )


def _check_one_goal(plan: Plan) -> None:
    if plan.training.target_loss is not None and plan.training.budget_flop is not None:
        raise PlanError("training.target_loss and training.budget_flop are both set: keep the one that decides")


def _check_size(plan: Plan, folder: Path | None) -> None:
    if not plan.model.architecture:
        return
    exact = architecture(plan.model.architecture, folder).n_params
    if abs(plan.model.n_params / exact - 1) > SIZE_TOLERANCE:
        raise PlanError(
            f"model.n_params is {plan.model.n_params:,.0f}, but model.architecture {plan.model.architecture!r} has "
            f"{exact:,.0f} parameters: leave one of the two out"
        )


def _check_price(plan: Plan) -> None:
    """A price that is a multiple of every quote is a node's; a plan that states its source is believed."""
    price, gpu = plan.hardware.usd_per_gpu_hour, plan.hardware.gpu
    entry = plan.sources.get("hardware.usd_per_gpu_hour")
    if entry and entry.source:
        return
    per_node = plan.market.gpus_per_node
    for doubt in training.price_doubts(gpu, usd_per_gpu_hour=price, gpus_per_node=per_node):
        if doubt.kind == "low":
            continue
        way_out = f"write {doubt.usd_per_gpu_hour:.4g}, or" if doubt.kind == "node price" else "check it, or"
        raise PlanError(
            f"hardware.usd_per_gpu_hour is {price:g}: {doubt.sentence.rstrip('.')}; {way_out} name its source under"
            " [sources] if it is right"
        )


def _check_rate(plan: Plan) -> None:
    """At most one of the ways to say how fast the run goes, and a wait for input that is part of a step."""
    asked = plan.training
    ways = ("mfu", "tokens_per_s_per_gpu", "step_s")
    given = [f"training.{name}" for name in ways if getattr(asked, name) is not None]
    if len(given) > 1:
        raise PlanError(
            f"{' and '.join(given)} are both set, and each says how fast the run goes: keep the measured one"
        )
    parts = ("evaluation_fraction", "ramp_fraction", "spare_fraction")
    apart = next((f"training.{name}" for name in parts if getattr(asked, name)), None)
    if asked.goodput_fraction is not None and apart:
        raise PlanError(
            f"training.goodput_fraction and {apart} are both set, and the first holds the second: keep one of them"
        )
    if asked.step_s is not None and asked.batch_tokens is None and plan.memory.effective_batch is None:
        raise PlanError(
            "training.step_s is the time of a batch: give training.batch_tokens, the tokens of one step, as well"
        )
    if asked.loader_wait_s is None:
        return
    if asked.step_s is None:
        raise PlanError("training.loader_wait_s is a part of a step: give training.step_s as well")
    if asked.loader_wait_s >= asked.step_s:
        raise PlanError(
            f"training.loader_wait_s is {asked.loader_wait_s:g} seconds, which is no part of a step of"
            f" {asked.step_s:g} seconds: were milliseconds meant?"
        )


def _check_batch(plan: Plan) -> None:
    batch, tokens, effective = plan.training.batch_tokens, plan.data.n_tokens, plan.memory.effective_batch
    if batch is not None and effective is not None and abs(batch / (effective * plan.training.seq_len) - 1) > 0.01:
        raise PlanError(
            f"training.batch_tokens is {count(batch)}, and memory.effective_batch makes"
            f" {count(effective * plan.training.seq_len)} tokens: leave one of the two out"
        )
    if batch is not None and tokens < batch:
        raise PlanError(
            f"data.n_tokens is {count(tokens)}, less than one batch of {count(batch)} tokens (training.batch_tokens):"
            " not one step could be made"
        )


def _check_deadline(plan: Plan) -> None:
    """A deadline by day needs a first day before it, and takes the place of one in days."""
    market = plan.market
    if market.starts_on and not market.ends_by:
        raise PlanError("market.starts_on alone says nothing: give market.ends_by as well, the last day")
    if not market.ends_by:
        return
    if market.deadline_days is not None:
        raise PlanError("market.deadline_days and market.ends_by are both set: keep the one that decides")
    if not market.starts_on:
        raise PlanError("market.ends_by is a day: give market.starts_on as well, the day on which the run starts")
    if market.ends_by <= market.starts_on:
        raise PlanError(
            f"market.ends_by is {market.ends_by}, not after market.starts_on, {market.starts_on}: the deadline is past"
            " before the run starts"
        )


def _check_listed(plan: Plan) -> None:
    """Listed savings are of a published bill, and less than it; a bill is not all overhead."""
    case = plan.case
    if case.overhead_fraction == 1:
        raise PlanError("case.overhead_fraction is 1: then nothing of the bill is GPU time; give a share below 1")
    if not case.listed_savings:
        return
    if case.published_usd is None:
        raise PlanError("case.listed_savings are of a bill: give case.published_usd as well, the bill before them")
    try:
        levers.listed(case.published_usd, amounts(case.listed_savings))
    except ValueError as error:
        raise PlanError(f"case.listed_savings: {error}") from None


def _check_precision(plan: Plan) -> None:
    wanted, possible = plan.memory.precision, memory.precisions_of(tables.gpu(plan.hardware.gpu))
    if wanted in possible:
        return
    raise PlanError(
        f"memory.precision is {wanted!r}, which {plan.hardware.gpu} does not have: "
        f"use one of {', '.join(map(repr, possible))}"
    )


def _check_own_runs(plan: Plan) -> None:
    if plan.training.law == "own-runs" and not plan.data.runs:
        raise PlanError(
            "training.law is 'own-runs', but data.runs names no CSV of runs: give its path in the plan, or as "
            'overrides = {"data.runs": "runs.csv"}'
        )


def _check_files(plan: Plan, folder: Path | None) -> None:
    """Files that a plan names are there, whether or not the answer at hand reads them."""
    where = "the plan file" if folder is not None else "the current folder"
    for key in FILE_KEYS:
        named = str(plan.value(key))
        if not named:
            continue
        try:
            found = beside(folder, named).is_file()
        except OSError as error:
            raise PlanError(f"{key}: cannot read {shown(named)}: {error.strerror or error}") from None
        except ValueError as error:
            raise PlanError(f"{key}: {error}") from None
        if not found:
            raise PlanError(f"{key}: no file {shown(named)} (a path is relative to {where})")


def _check_sources(plan: Plan, keys: Sequence[str]) -> None:
    for key in plan.sources:
        if key not in keys:
            raise PlanError(f"[sources] names {shown(key)}, which is no key of a plan.{suggestion(key, tuple(keys))}")
