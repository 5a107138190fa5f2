"""How long do the panels take to redraw, in the kernel alone? Every slider is swept from end to end."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.row import row
from costkit import panels
from costkit.panels.controls import NumberControl

STEPS = 25


def positions(control: NumberControl) -> Iterator[int]:
    """Slider positions from one end to the other."""
    last = len(control.stops) - 1
    yield from sorted({round(share * last) for share in np.linspace(0, 1, STEPS)} - {control.slider.value})


def redraws_s(panel: panels.Panel, key: str) -> list[float]:
    """Seconds of each redraw while one slider moves; a setting that the plan refuses draws nothing and is left out."""
    control, taken = panel.controls[key], []
    if isinstance(control, NumberControl):
        for position in positions(control):
            before, start = panel.plan, time.perf_counter()
            control.slider.value = position
            if panel.plan != before:
                taken.append(time.perf_counter() - start)
    panel.reset()
    return taken


def main() -> None:
    """One row a slider, then all of them together, for each panel."""
    for made in (panels.page, panels.frontier, panels.spot, panels.replan):
        measure(made.__name__, made("case-50k"))


def measure(name: str, panel: panels.Panel) -> None:
    """The rows of one panel."""
    by_key = {key: redraws_s(panel, key) for key in panel.controls}
    for key, taken in by_key.items():
        if taken:
            row(f"redraw while {key} moves, median of {len(taken)}", f"{1000 * statistics.median(taken):.0f} ms", "")
    everything = [taken for column in by_key.values() for taken in column]
    row(f"redraw of the {name} panel, median", f"{1000 * statistics.median(everything):.0f} ms", "<= 50 ms")
    row(f"redraw of the {name} panel, worst", f"{1000 * max(everything):.0f} ms", "<= 150 ms")


if __name__ == "__main__":
    main()
