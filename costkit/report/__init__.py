"""How does the answer reach whoever signs? A notebook and a plan in, one HTML file that stands alone out.

- `render` runs a notebook with a plan in a fresh kernel of this same Python and writes a page without scripts and
  without addresses, and beside it every table as CSV, every figure as SVG and PNG, and the effective plan.
- The same notebook and the same plan give the same bytes: nothing on the page depends on the hour or the machine.
- `normalise` re-runs a notebook and stores it so that two runs differ only where an answer does.

The libraries behind it load with the first call, not with `import costkit`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costkit.report.notebooks import ReportError as ReportError
    from costkit.report.notebooks import execute as execute
    from costkit.report.notebooks import find as find
    from costkit.report.notebooks import names as names
    from costkit.report.notebooks import normalise as normalise
    from costkit.report.rendering import render as render

_HOME = {
    "ReportError": "notebooks",
    "execute": "notebooks",
    "find": "notebooks",
    "names": "notebooks",
    "normalise": "notebooks",
    "render": "rendering",
}

__all__ = ["ReportError", "execute", "find", "names", "normalise", "render"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'costkit.report' has no attribute {name!r}")
    return getattr(import_module(f"costkit.report.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
