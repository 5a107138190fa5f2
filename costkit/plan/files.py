"""Which plan is meant? Reads plans by name, path or token, applies overrides, and says plainly what is wrong.

- Names are those of the packaged plans; a path or a token is taken wherever a name is.
- An override of a model's size drops the architecture that the plan names, and an override of the architecture drops
  the size, unless both are given. An overridden value loses the source that the plan states for the old one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from costkit import tables
from costkit.plan import documents, typed
from costkit.plan.kinds import PlanError, nearest, shown
from costkit.plan.schema import Plan, fields, keys, kind

_EXCLUSIVE = (
    ("model.n_params", "model.architecture"),
    ("training.mfu", "training.tokens_per_s_per_gpu", "training.step_s"),
    ("market.deadline_days", "market.ends_by"),
)
"""Keys of which a plan has one at most: one that is set takes the others out."""


def names() -> tuple[str, ...]:
    """The names of the plans that come with costkit.

    >>> "case-50k" in names()
    True
    """
    return tuple(sorted(file.stem for file in (tables.folder("data") / "plans").glob("*.toml")))


def read(plan: str | Path | Plan, overrides: Mapping[str, object] | None = None) -> Plan:
    """The plan of that name, path or token, with the overrides applied.

    >>> read("case-50k", {"hardware.n_gpus": 64}).hardware.n_gpus
    64
    >>> read("case-50")
    Traceback (most recent call last):
    costkit.tables.UnknownName: no plan 'case-50'. Did you mean 'case-50k'? `costkit plan list` lists all.
    """
    found = plan if isinstance(plan, Plan) else _read(plan)
    return replace(found, overrides) if overrides else found


def _read(plan: str | Path) -> Plan:
    if isinstance(plan, Path):
        return _from_file(plan)
    if not isinstance(plan, str):
        raise PlanError(f"a plan is given by its name, path or token, not as {shown(plan)}")
    if plan.strip().startswith("costkit:"):
        return from_dict(documents.from_token(plan))
    if plan in names():
        return _from_file(tables.path(f"plans/{plan}.toml"))
    if plan.endswith(".toml") or "/" in plan or "\\" in plan or _exists(plan):
        return _from_file(Path(plan))
    raise tables.unknown("plan", plan, names())


def _exists(path: str) -> bool:
    try:
        return documents.expanded(path).exists() and path != ""
    except (OSError, ValueError):
        return False


def _from_file(path: Path) -> Plan:
    where = documents.expanded(path)
    values = documents.load(where)
    values.setdefault("name", where.stem)
    return from_dict(values, origin=where.absolute())


def from_dict(values: Mapping[str, Any], *, origin: Path | None = None, folder: Path | None = None) -> Plan:
    """The plan that nested values describe.

    `origin` is the file they came from, whose comments a save keeps; relative paths are relative to its folder, or to
    `folder` where there is no file.
    """
    beside = folder if origin is None else origin.parent
    try:
        plan = Plan.model_validate(values, context={"folder": beside})
    except ValidationError as error:
        sentences = [_sentence(found) for found in sorted(map(dict, error.errors(include_url=False)), key=_is_no_typo)]
        more = f" ({len(sentences) - 1} more to correct after this one.)" if len(sentences) > 1 else ""
        named = f"{origin.name}: " if origin is not None else ""
        raise PlanError(f"{named}{sentences[0]}{more}") from None
    return plan.located(origin, beside)


def _is_no_typo(error: Mapping[str, Any]) -> bool:
    """Whether a problem comes after the unknown keys: a mistyped name is often why another one is missing."""
    return bool(error["type"] != "extra_forbidden")


def _sentence(error: Mapping[str, Any]) -> str:
    """One problem that pydantic found, as a sentence that names the key."""
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, PlanError):
        return str(cause)
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return _missing(key)
    if error["type"] == "extra_forbidden":
        return unknown_key(key)
    if isinstance(cause, ValueError):
        return f"{key} {cause}"
    if error["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return f"{key} must be a section, [{key}], not {shown(error['input'])}"
    return f"{key}: {error['msg'].lower()}, not {shown(error.get('input'))}"


def _missing(key: str) -> str:
    if key not in keys():
        needed = (name for name in keys() if name.startswith(f"{key}.") and fields()[name].required)
        return f"section [{key}] is missing: it needs {', '.join(needed)}"
    field = fields()[key]
    unit = f" ({field.unit})" if field.unit else ""
    usual = f", usually from {field.low:g} to {field.high:g}" if field.low and field.high else ""
    return f"{key} is missing: give the {field.label}{unit}{usual}"


def unknown_key(key: str) -> str:
    """What to say of a key that a plan does not have: the key it probably means, in whichever section that is."""
    return f"no key {shown(key)} in a plan.{_meant(key) or ' `costkit plan show` prints them all.'}"


def _meant(key: str) -> str:
    section, _, last = key.rpartition(".")
    by_last = {known.rpartition(".")[2]: known for known in keys()}
    if last in by_last:
        return f" It is {by_last[last]!r}."
    siblings = tuple(known for known in keys() if known.startswith(f"{section}."))
    sections = tuple(dict.fromkeys(known.partition(".")[0] for known in keys() if "." in known))
    near = nearest(last, tuple(known.rpartition(".")[2] for known in siblings) or (*sections, *by_last))
    if near is None:
        return f" [{section}] has {', '.join(siblings)}." if siblings else ""
    if near in sections and not siblings:
        return f" Did you mean the section [{near}]?"
    return f" Did you mean '{f'{section}.{near}' if siblings else by_last[near]}'?"


def replace(plan: Plan, overrides: Mapping[str, object]) -> Plan:
    """The plan with some values changed, checked as a whole; keys are dotted.

    >>> replace(read("case-50k"), {"hardware.n_gpu": 64})
    Traceback (most recent call last):
    costkit.plan.kinds.PlanError: no key 'hardware.n_gpu' in a plan. Did you mean 'hardware.n_gpus'?
    """
    values = copy.deepcopy(plan.as_dict())
    for key, value in _complete(overrides).items():
        _put(values, key, value)
        if value != plan.value(key):
            values.get("sources", {}).pop(key, None)
    return from_dict(values, folder=plan.folder).located(plan.origin, plan.folder)


def anchored(overrides: Mapping[str, object]) -> dict[str, object]:
    """The overrides with the paths of files in the current folder made whole, since that is where they were written.

    >>> anchored({"data.runs": "no-such-file.csv", "hardware.n_gpus": 64})
    {'data.runs': 'no-such-file.csv', 'hardware.n_gpus': 64}
    """
    found = dict(overrides)
    for section, name in documents.PATH_KEYS:
        given = found.get(f"{section}.{name}")
        if isinstance(given, str) and given and _exists(given):
            found[f"{section}.{name}"] = str(documents.expanded(given).absolute())
    return found


def _complete(overrides: Mapping[str, object]) -> dict[str, object]:
    """The overrides, and what each of them takes out of the plan."""
    complete = anchored(overrides)
    for key, value in overrides.items():
        if key not in keys():
            raise PlanError(unknown_key(str(key)))
        if value not in ("", None):
            for other in _others(key):
                complete.setdefault(other, None)
    return complete


def _others(key: str) -> list[str]:
    """The keys that can't stand beside that one."""
    return [other for group in _EXCLUSIVE if key in group for other in group if other != key]


def _put(values: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key, or take it out where the value is None."""
    section, _, name = key.rpartition(".")
    place = values.setdefault(section, {}) if section else values
    if value is None:
        place.pop(name, None)
    else:
        place[name] = value


def parse_overrides(texts: Iterable[str]) -> dict[str, object]:
    """The overrides that `--set key=value` texts mean, each value typed as the plan's schema says.

    >>> parse_overrides(["hardware.n_gpus=64", "training.budget_usd=$250k", "hardware.gpu=H100-SXM5-80GB"])
    {'hardware.n_gpus': 64.0, 'training.budget_usd': 250000.0, 'hardware.gpu': 'H100-SXM5-80GB'}
    """
    found: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise PlanError(f"an override is written key=value, e.g. hardware.n_gpus=64, not {shown(text)}")
        if key not in keys():
            raise PlanError(unknown_key(key))
        if key in found:
            raise PlanError(f"{key} is set twice: give it once")
        found[key] = _parsed(key, value)
    return found


def _unquoted(text: str) -> str:
    """Text without the quotes that a plan file would have around it."""
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else text


def _parsed(key: str, text: str) -> object:
    field = fields()[key]
    if field.kind in ("text", "choice", "names"):
        text = _unquoted(text)
    if field.optional and (not text.strip() or (field.kind in ("int", "float") and typed.is_nothing(text))):
        return None
    try:
        return kind(key).parse(text)
    except ValueError as error:
        raise PlanError(f"{key} {error}") from None
