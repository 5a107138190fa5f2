"""Has a file changed since it was read? Its time stamp, by which what was read of it is kept."""

from __future__ import annotations

from pathlib import Path


def changed_ns(path: Path) -> int:
    """When a file was last changed, so that it is read anew; 0 where it is gone, which its reader will say."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
