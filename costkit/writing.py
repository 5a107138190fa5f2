"""How does a file get written? Whole or not at all: a reader finds the old content or the new, never a part."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

_LONGEST_NAME = 100


def write_whole(target: Path, content: bytes) -> None:
    """Write under a temporary name beside the target and rename; a failure leaves the old file, and no other."""
    temporary = target.with_name(f".{target.name[:_LONGEST_NAME]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
