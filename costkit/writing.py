"""How does a file get written? Where a path leads, and whole or not at all: a reader finds the old file or the new.

- A path that leads nowhere (`~nobody/x`, links in a circle, no name) is a `ValueError` of one sentence.
- A failure of the disk is an `OSError` that names the file which was asked for, never the temporary one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

_LONGEST_NAME = 100
_LONGEST_SHOWN = 200


def expanded(path: str | Path) -> Path:
    """The path with a home folder in place of its `~`.

    >>> expanded("plans/mine.toml").as_posix()
    'plans/mine.toml'
    >>> expanded("~no-such-user/mine.toml")
    Traceback (most recent call last):
    ValueError: there is no home folder for '~no-such-user/mine.toml': write ./~ for a name that starts with ~
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ValueError(
            f"there is no home folder for {_shown(path)}: write ./~ for a name that starts with ~"
        ) from None


def resolved(path: str | Path) -> Path:
    """The absolute path behind `~` and links, whether or not there is a file.

    >>> resolved("plans/../mine.toml") == Path.cwd() / "mine.toml"
    True
    """
    found = expanded(path)
    try:
        found.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(f"{_shown(path)} is a link that leads back to itself") from None
    except ValueError:
        raise ValueError(f"{_shown(path)} is no path: it has a character that none may have") from None
    return found.resolve()


def writable(path: str | Path) -> Path:
    """The absolute path of a file that can be written there, or a ValueError that says why there can be none.

    >>> writable("")
    Traceback (most recent call last):
    ValueError: give the name of a file to write, not an empty one
    """
    if not str(path).strip():
        raise ValueError("give the name of a file to write, not an empty one")
    target = resolved(path)
    if target.is_dir() or str(path).endswith(os.sep):
        raise ValueError(f"cannot write {_shown(path)}: it is a folder; give a file name in it")
    if not target.parent.is_dir():
        raise ValueError(f"cannot write {_shown(path)}: there is no folder {_shown(Path(path).parent)}")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {_shown(path)}: it is not a regular file")
    return target


def write_whole(path: str | Path, content: bytes) -> Path:
    """Write under a temporary name beside the target and rename; a failure leaves the old file, and no other."""
    target = writable(path)
    temporary = target.with_name(f".{target.name[:_LONGEST_NAME]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return target


def _shown(path: str | Path) -> str:
    text = str(path)
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")
