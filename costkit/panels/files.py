"""What does a panel leave on disk? Files that are whole or not there, and none over what somebody else wrote.

- A file is written under a temporary name in its own folder, then renamed.
- An existing file is kept unless the caller says to replace it; an export without a name takes the next free one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from costkit import writing

_LONGEST_STEM = 60
KINDS: Mapping[str, str] = {
    ".csv": "text/csv",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
}


@dataclass(frozen=True)
class Written:
    """A file that was written, and what is in it."""

    path: Path
    content: bytes

    @property
    def kind(self) -> str:
        """The media type."""
        return KINDS[self.path.suffix.lower()]


def stem(*names: str) -> str:
    """A file's name without its ending, from words that may hold anything.

    >>> stem("case-50k", "frontier"), stem("<b>Größe</b> / 7", "map"), stem("", "map")
    ('case-50k-frontier', 'b-Größe-b-7-map', 'map')
    """
    words = (re.sub(r"[^\w.-]+", "-", name).strip("-._")[:_LONGEST_STEM] for name in names)
    return "-".join(word for word in words if word)


def plan_path(name: str | Path) -> Path:
    """Where a plan of that name or path is saved: a `.toml` file, here unless the path says where.

    >>> plan_path("my plan").name, plan_path("runs/a.toml").as_posix()
    ('my plan.toml', 'runs/a.toml')
    """
    text = str(name).strip()
    if not text or text.endswith(("/", "\\")):
        raise ValueError("the plan needs a name to be saved under, for example my-plan")
    path = writing.expanded(text)
    return path if path.suffix.lower() == ".toml" else path.with_name(f"{path.name}.toml")


def export_paths(path: str | Path | None, default: str, kinds: Sequence[str], *, replace: bool) -> list[Path]:
    """The files an export writes: one of the given name and kind, or one of each kind under the next free name."""
    if path is None:
        return free(default, kinds)
    target = writing.expanded(path)
    target = target if target.suffix else target.with_name(target.name + kinds[0])
    if target.suffix.lower() not in kinds:
        raise ValueError(f"{target.name} would be of another kind: the name must end in {' or '.join(kinds)}")
    if not replace:
        keep_existing(target)
    return [target]


def keep_existing(path: Path) -> None:
    """Refuse to write over a file."""
    if path.exists():
        folder = writing.resolved(path).parent
        raise ValueError(f"{path.name} exists already in {folder}: tick Replace, or choose another name")


def write(path: Path, content: bytes) -> Written:
    """Write the file whole or not at all."""
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder '{path.parent}' to write {path.name} in")
    return Written(writing.write_whole(path, content), content)


def free(default: str, kinds: Sequence[str]) -> list[Path]:
    """One path of each kind under the next name that none of them has yet."""
    number, name = 1, default
    while any(Path(name + kind).exists() for kind in kinds):
        number += 1
        name = f"{default}-{number}"
    return [Path(name + kind) for kind in kinds]
