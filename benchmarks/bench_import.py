"""What does `import costkit` cost, beside `import numpy`? Paired fresh interpreters, ratio of the medians."""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.row import row

PAIRS = 15
TIMED = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"


def import_s(module: str) -> float:
    """Seconds that one import takes in an interpreter that has just started."""
    result = subprocess.run([sys.executable, "-c", TIMED.format(module=module)], capture_output=True, check=True)
    return float(result.stdout)


def main() -> None:
    """Take turns, so that what else the machine does falls on both."""
    pairs = [(import_s("numpy"), import_s("costkit")) for _ in range(PAIRS + 1)][1:]
    numpy_s, costkit_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    row("import numpy", f"{1000 * numpy_s:.0f} ms", "")
    row("import costkit", f"{1000 * costkit_s:.0f} ms", "")
    row("import costkit / import numpy", f"{costkit_s / numpy_s:.2f}", "<= 1.5")


if __name__ == "__main__":
    main()
