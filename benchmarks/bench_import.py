"""What does `import costkit` cost, beside `import numpy`? Fresh interpreters in turns, ratio of the medians.

The package loads a module when it is first named, so the modules that only compute are timed as well.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.row import row

TURNS = 15
TIMED = "import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
NUMPY, COSTKIT = "import numpy", "import costkit"
CORE = "from costkit import architectures, scaling, tables, training, units"


def import_s(statement: str) -> float:
    """Seconds that one statement takes in an interpreter that has just started."""
    result = subprocess.run([sys.executable, "-c", TIMED.format(statement=statement)], capture_output=True, check=True)
    return float(result.stdout)


def main() -> None:
    """Take turns, so that what else the machine does falls on all; the first turn only warms the disk."""
    turns = [[import_s(statement) for statement in (NUMPY, COSTKIT, CORE)] for _ in range(TURNS + 1)][1:]
    numpy_s, costkit_s, core_s = (statistics.median(column) for column in zip(*turns, strict=True))
    row(NUMPY, f"{1000 * numpy_s:.0f} ms", "")
    row(COSTKIT, f"{1000 * costkit_s:.0f} ms", "")
    row("import of the modules that compute", f"{1000 * core_s:.0f} ms", "")
    row("import costkit / import numpy", f"{costkit_s / numpy_s:.2f}", "<= 1.5")
    row("import of the modules that compute / import numpy", f"{core_s / numpy_s:.2f}", "")


if __name__ == "__main__":
    main()
