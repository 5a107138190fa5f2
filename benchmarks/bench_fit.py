"""What does a fit of a scaling law cost, beside the published package `chinchilla` 0.2.0?

Both fit the same runs with the same objective (the sum of Huber losses of log residuals, delta 1e-3) from the same
4,500 starts; what counts is CPU seconds, children included, and the Huber sum that is reached. The other package lives
in an environment of its own, made once under `build/`. Runs: the 240 of the Chinchilla paper where they are at hand
beside the checkout, else the example's.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.elsewhere import BUILD, output, python_with
from benchmarks.row import row
from costkit import plan, scaling

Array = npt.NDArray[np.float64]

YARDSTICK = "chinchilla==0.2.0"
ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = BUILD / "bench-fit"
PUBLISHED_RUNS = ROOT.parent / "shared" / "thirdparty" / "chinchilla_runs.csv"

OTHER = """
import json, os, resource, sys, tempfile
import numpy as np, pandas as pd
from chinchilla import Chinchilla
from chinchilla._metrics import log_huber
folder, runs = tempfile.mkdtemp(), pd.read_csv(sys.argv[1])
grid = dict(e=np.arange(-1, 1.01, .5), a=np.arange(0, 25.1, 5), b=np.arange(0, 25.1, 5),
            alpha=np.arange(0, 2.01, .5), beta=np.arange(0, 2.01, .5))
cc = Chinchilla(folder, param_grid=grid, log_level=40, loss_fn=lambda y, p: log_huber(y, p, delta=1e-3))
cc.database.df = pd.DataFrame({"C": 6 * runs.N * runs.D, "N": runs.N, "D": runs.D, "loss": runs.loss})
cc.visualizer.optim = lambda *a, **k: None
before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
cc.fit()
after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
spent = sum(y.ru_utime + y.ru_stime - x.ru_utime - x.ru_stime for x, y in zip(before, after))
print(json.dumps({"cpu_s": spent, **{k: float(getattr(cc, k)) for k in ("E", "A", "B", "alpha", "beta")}}))
"""


def main() -> None:
    """Print the rows."""
    N, D, loss = _runs()
    ours_s, fit = _timed(lambda: scaling.fit(N, D, loss))
    theirs = _other(N, D, loss)
    reached = _huber_sum(theirs, N, D, loss)
    row(f"fit of {len(loss)} runs: CPU of {YARDSTICK} over ours", f"{theirs['cpu_s'] / ours_s:,.0f} x", ">= 100 x")
    row("  ours, CPU seconds", f"{ours_s:.2f}", "")
    row(f"  {YARDSTICK}, CPU seconds", f"{theirs['cpu_s']:.1f}", "")
    row("  Huber sum, ours over theirs", f"{fit.huber / reached:.7f}", "<= 1")
    boots_s, _ = _timed(lambda: scaling.fit(N, D, loss, n_bootstrap=1000, rng=np.random.default_rng(0)))
    row("1,000 bootstraps, CPU seconds", f"{boots_s:.1f}", "<= 10")


def _runs() -> tuple[Array, Array, Array]:
    if not PUBLISHED_RUNS.exists():
        runs = plan.sizing.read_runs(plan.sizing.example_runs())
        return runs.n_params, runs.n_tokens, runs.loss
    lines = [line for line in PUBLISHED_RUNS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    kept = [line for line in csv.DictReader(lines) if line["in_epoch_240"] == "1"]
    N, D, loss = (np.array([float(line[name]) for line in kept]) for name in ("N", "D", "loss"))
    return N, D, loss


def _timed(work: Callable[[], scaling.Fit]) -> tuple[float, scaling.Fit]:
    work()
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _other(N: Array, D: Array, loss: Array) -> dict[str, float]:
    python = python_with(ENVIRONMENT.name, (YARDSTICK, "pandas"))
    table = ENVIRONMENT / "runs.csv"
    np.savetxt(table, np.column_stack([N, D, loss]), delimiter=",", header="N,D,loss", comments="", fmt="%.17g")
    found = json.loads(output([str(python), "-c", OTHER, str(table)]).splitlines()[-1])
    return {key: float(value) for key, value in found.items()}


def _huber_sum(found: dict[str, float], N: Array, D: Array, loss: Array) -> float:
    predicted = found["E"] + found["A"] / N ** found["alpha"] + found["B"] / D ** found["beta"]
    size = np.abs(np.log(predicted / loss))
    return float(np.where(size <= 1e-3, size**2 / 2, 1e-3 * (size - 5e-4)).sum())


if __name__ == "__main__":
    main()
