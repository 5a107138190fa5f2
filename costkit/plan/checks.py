"""Do the values of a plan fit each other? Names that tables must know, and values that cannot both be meant."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from costkit import memory, tables
from costkit.plan.documents import beside
from costkit.plan.kinds import PlanError, shown, suggestion
from costkit.plan.shapes import architecture

if TYPE_CHECKING:
    from costkit.plan.schema import Plan

NODE_PRICE_FACTOR = 3
GPUS_PER_NODE = 8
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


@functools.cache
def _dearest_quote(gpu: str) -> float | None:
    return max((quote.usd_per_gpu_hour for quote in tables.quotes(gpu=gpu)), default=None)


def _check_price(plan: Plan) -> None:
    """A price that is a multiple of every quote is a node's; a plan that states its source is believed."""
    price, gpu = plan.hardware.usd_per_gpu_hour, plan.hardware.gpu
    dearest = _dearest_quote(gpu)
    entry = plan.sources.get("hardware.usd_per_gpu_hour")
    if dearest is None or price <= NODE_PRICE_FACTOR * dearest or (entry and entry.source):
        return
    raise PlanError(
        f"hardware.usd_per_gpu_hour is {price:g}, more than {NODE_PRICE_FACTOR} times the dearest quote for {gpu} "
        f"({dearest:.3g} USD per GPU-hour): if it is the price of a node of {GPUS_PER_NODE} GPUs, "
        f"write {price / GPUS_PER_NODE:.4g}, else name its source under [sources]"
    )


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
