"""What does a plan on a page cost to compute: all layers of one plan, and a thousand plans?"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.row import row
from costkit import plan

REPEATS, PLANS = 20, 1000


def seconds(work: Callable[[], object]) -> float:
    """How long something takes, once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def everything(chosen: plan.Plan) -> None:
    """All layers: scaling, memory, spot and training, in full."""
    plan.frontier(chosen)
    plan.footprint(chosen)
    plan.savings(chosen)
    page = plan.page(chosen)
    page.headline, page.facts  # noqa: B018 - computed when they are asked for


def main() -> None:
    """First use, a full plan, the page alone, and a thousand different plans."""
    chosen = plan.read("case-50k")
    row(
        "the page, first use (published runs are learned from)",
        f"{1000 * seconds(lambda: plan.page(chosen)):.0f} ms",
        "",
    )
    everything(chosen)
    whole = statistics.median(seconds(lambda: everything(chosen)) for _ in range(REPEATS))
    page = statistics.median(seconds(lambda: plan.page(chosen)) for _ in range(REPEATS))
    row(f"a full plan, all layers, median of {REPEATS}", f"{1000 * whole:.1f} ms", "<= 20 ms")
    swings = statistics.median(seconds(lambda: plan.page(chosen).swings) for _ in range(REPEATS))
    row(f"the page of it with what moves its bill, median of {REPEATS}", f"{1000 * swings:.1f} ms", "")
    row(f"the page of it alone, median of {REPEATS}", f"{1000 * page:.1f} ms", "")
    rng = np.random.default_rng(0)
    changes = [{"model.n_params": float(n), "hardware.n_gpus": int(g)} for n, g in _random(rng)]
    blind = plan.replace(chosen, {"training.mfu": None, "training.goodput_fraction": None})
    taken = seconds(lambda: [plan.page(plan.replace(blind, change)).usd for change in changes])
    row(f"{PLANS:,} different plans, changed and evaluated", f"{taken:.1f} s", "<= 5 s")


def _random(rng: np.random.Generator) -> list[tuple[float, int]]:
    """Sizes and numbers of GPUs, spread over powers of ten."""
    sizes, gpus = 10 ** rng.uniform(8, 11, PLANS), 8 * 2 ** rng.integers(0, 8, PLANS)
    return [(float(n), int(g)) for n, g in zip(sizes, gpus, strict=True)]


if __name__ == "__main__":
    main()
