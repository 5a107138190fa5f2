"""Which plan was this? The file that a plan came from, as it stands there, or the packaged plan of its name."""

from __future__ import annotations

import functools
from pathlib import Path

from costkit.plan import files
from costkit.plan.schema import Plan


def original(plan: Plan) -> Plan | None:
    """The plan before anything was changed in it; None where that is not known.

    >>> changed = files.read("case-50k", {"hardware.n_gpus": 64})
    >>> found = original(changed)
    >>> found is not None and found.hardware.n_gpus
    32
    """
    if plan.origin is not None:
        return _from_file(plan.origin, _changed_ns(plan.origin))
    return files.read(plan.name) if plan.name in files.names() else None


def _changed_ns(origin: Path) -> int:
    try:
        return origin.stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=64)
def _from_file(origin: Path, _changed: int) -> Plan | None:
    """The file's plan, read once as long as the file stays as it is."""
    try:
        return files.read(origin)
    except (OSError, ValueError):
        return None
