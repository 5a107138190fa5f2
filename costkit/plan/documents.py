"""How is a plan written down? TOML files with their comments, and one-line tokens.

- A file is read whole and checked before anything is believed of it: a regular file, at most 1 MB, UTF-8, TOML.
- A file is written under a temporary name in the same folder and renamed, so that a failure leaves the old one.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from costkit import writing
from costkit.plan.kinds import PlanError, exact_float, shown
from costkit.units import MB, MILLION

TOKEN_START = "costkit:v1:"  # noqa: S105 - a plan's token holds no secret
LARGEST_BYTES = int(MB)
PATH_KEYS = (("data", "runs"), ("market", "trace"), ("market", "price_history"), ("model", "architecture"))


def beside(folder: Path | None, path: str) -> Path:
    """The path, relative to the plan's folder (the current one where the plan has none)."""
    return (folder or Path()) / expanded(path)


def expanded(path: str | Path) -> Path:
    """The path with a home folder in place of its `~`, or PlanError where there is none."""
    try:
        return writing.expanded(path)
    except ValueError as error:
        raise PlanError(str(error)) from None


def load(path: Path) -> dict[str, Any]:
    """The nested values of a plan file, or PlanError with one sentence about what is wrong with it."""
    text = _text(path)
    if not text.strip():
        raise PlanError(
            f"{shown(str(path))} is empty: a plan needs at least [model], [data], [hardware] and [training]"
        )
    try:
        return tomllib.loads(text, parse_float=exact_float)
    except RecursionError:
        raise PlanError(f"{shown(str(path))} is not a plan: its values are nested too deeply") from None
    except ValueError as error:
        raise PlanError(f"{shown(str(path))} is not valid TOML: {_lower(str(error))}") from None


def _text(path: Path) -> str:
    data = _bytes(path)
    if b"\0" in data:
        raise PlanError(f"{shown(str(path))} is a binary file, not a plan (a text file in TOML)")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PlanError(f"{shown(str(path))} is not UTF-8 text: save it as UTF-8") from None


def _bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise PlanError(f"{shown(str(path))} is a folder, not a plan file")
        if not stat.S_ISREG(status.st_mode):
            raise PlanError(f"{shown(str(path))} is not a regular file")
        if status.st_size > LARGEST_BYTES:
            raise PlanError(
                f"{shown(str(path))} has {status.st_size / MB:,.1f} MB; a plan is a short text file of at most 1 MB"
            )
        return path.read_bytes()
    except OSError as error:
        raise PlanError(f"cannot read the plan {shown(str(path))}: {_lower(error.strerror or str(error))}") from None
    except ValueError as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(f"cannot read the plan {shown(str(path))}: {error}") from None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def to_token(values: Mapping[str, Any]) -> str:
    """The values as one line of text."""
    # an unlimited value is written as Infinity, which Python's JSON reads back
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"))
    packed = base64.urlsafe_b64encode(zlib.compress(canonical.encode(), 9))
    return TOKEN_START + packed.decode().rstrip("=")


def from_token(token: str) -> dict[str, Any]:
    """The values of a token, or PlanError where it is damaged, cut short or of another version."""
    words = re.sub(r"\s+", "", token)
    if not words.startswith(TOKEN_START):
        raise PlanError(
            f"the token starts with {shown(words[:14])}, but this costkit reads tokens that start with {TOKEN_START}"
        )
    try:
        values = json.loads(_unpacked(words.removeprefix(TOKEN_START)))
    except (ValueError, zlib.error, RecursionError):
        raise PlanError(
            "the plan token is damaged or cut short: copy it again, from 'costkit:v1:' to its end"
        ) from None
    if not isinstance(values, dict):
        raise PlanError("the plan token does not hold a plan: copy it again, from 'costkit:v1:' to its end")
    return values


def _unpacked(packed: str) -> bytes:
    """The content, of at most a plan's largest size however small the packed form is."""
    if len(packed) > LARGEST_BYTES:
        raise ValueError("too long")
    unpacker = zlib.decompressobj()
    padded = packed + "=" * (-len(packed) % 4)
    content = unpacker.decompress(base64.b64decode(padded, b"-_", validate=True), LARGEST_BYTES)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("incomplete or too long")
    return content


def save(
    values: Mapping[str, Any],
    path: Path,
    *,
    full: Mapping[str, Any],
    origin: Path | None,
    folder: Path | None,
    comments: Mapping[str, str],
) -> Path:
    """Write a plan as TOML over the text of the file it came from, whole or not at all.

    `values` is what a plan must say (what differs from the defaults), `full` everything that it means.
    """
    try:
        target = writing.writable(path)
    except ValueError as error:
        raise PlanError(str(error)) from None
    document = _origin_document(origin)
    here, unnamed = target.parent, "name" not in document and values.get("name") == target.stem
    stated, meant = _moved(values, folder, here), _moved(full, folder, here)
    if unnamed:
        del stated["name"]
    _merge(document, stated, meant, comments)
    try:
        writing.write_whole(target, tomlkit.dumps(document).encode())
    except OSError as error:
        raise PlanError(f"cannot save the plan as {shown(str(path))}: {_lower(error.strerror or str(error))}") from None
    return path


def _moved(values: Mapping[str, Any], old: Path | None, new: Path) -> dict[str, Any]:
    """The values with their relative paths rewritten for the folder they are saved in."""
    moved = {key: dict(value) if isinstance(value, Mapping) else value for key, value in values.items()}
    for section, key in PATH_KEYS:
        given = moved.get(section, {}).get(key, "")
        found = beside(old, given) if given else None
        if found is None or Path(given).is_absolute() or not found.is_file():
            continue
        moved[section][key] = Path(os.path.relpath(found.resolve(), new)).as_posix()
    return moved


def _origin_document(origin: Path | None) -> tomlkit.TOMLDocument:
    if origin is not None:
        with contextlib.suppress(PlanError, TOMLKitError):
            return tomlkit.parse(_text(origin))
    return tomlkit.document()


def _merge(
    table: MutableMapping[str, Any],
    values: Mapping[str, Any],
    full: Mapping[str, Any],
    comments: Mapping[str, str],
    prefix: str = "",
) -> None:
    """Make the table say what the values say, touching only what differs."""
    for key in [key for key in table if full.get(key) is None]:
        del table[key]
    for key, value in full.items():
        if isinstance(value, Mapping):
            if key not in table and values.get(key):
                table[key] = tomlkit.inline_table() if prefix == "sources." else tomlkit.table()
            if key in table:
                _merge(table[key], values.get(key, {}), value, comments, f"{prefix}{key}.")
        elif key in table or key in values:
            _put(table, key, value, comments.get(prefix + key, ""))


def _put(table: MutableMapping[str, Any], key: str, value: object, comment: str) -> None:
    if key not in table:
        table[key] = _commented(value, comment)
    elif _differ(table[key], value):
        table[key] = _item(value)


def _commented(value: object, comment: str) -> Item:
    found = tomlkit.item(_item(value))
    return found.comment(comment) if comment else found


def _differ(old: object, new: object) -> bool:
    plain = old.unwrap() if isinstance(old, Item) else old
    return isinstance(plain, bool) != isinstance(new, bool) or (plain != new and str(plain) != new)


def _item(value: object) -> object:
    """The value as a person would write it: 3e9 rather than 3000000000.0, 8 rather than 8.0."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if abs(value) < MILLION:
        return int(value) if value == int(value) else value
    spellings = (f"{value:.{digits}e}" for digits in range(17))
    mantissa, power = next(text for text in spellings if float(text) == value).split("e")
    return tomlkit.value(f"{mantissa}e{int(power)}")
