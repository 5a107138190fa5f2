"""Has a file changed since it was read? Its time stamp, by which what was read of it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from costkit.plan.checks import FILE_KEYS

if TYPE_CHECKING:
    from costkit.plan.schema import Plan


def changed_ns(path: Path) -> int:
    """When a file was last changed, so that it is read anew; 0 where it is gone, which its reader will say."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def files_changed_ns(plan: Plan) -> tuple[int, ...]:
    """When each of the files that a plan names was last changed; what is kept of a plan is kept with it."""
    return tuple(changed_ns(path) for key in FILE_KEYS if (path := plan.path_of(key)) is not None)
