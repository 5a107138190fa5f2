"""What was assumed? A plan: its sections together, where it came from, and how its fields are described."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import PrivateAttr, ValidationInfo, model_validator

from costkit import architectures
from costkit.plan import documents
from costkit.plan.checks import FILE_KEYS, check_consistent
from costkit.plan.kinds import Field, Kind, Number, Text
from costkit.plan.levers_section import LeversSection
from costkit.plan.market_section import MarketSection
from costkit.plan.memory_section import MemorySection
from costkit.plan.scope_section import ScopeSection
from costkit.plan.section import Section, kind_of
from costkit.plan.sections import (
    CaseSection,
    DataSection,
    HardwareSection,
    ModelSection,
    SourceEntry,
)
from costkit.plan.shapes import architecture
from costkit.plan.training_section import OWN_RUNS, TrainingSection

__all__ = ["OWN_RUNS", "Plan", "fields", "keys", "kind"]


class Plan(Section):
    """One plan: what is to be trained, on what, for how much. `plan.read` reads one, `plan.replace` changes values."""

    name: Annotated[str, Text("Name", "The plan's short name; the file's name where it is left out.", longest=80)] = ""
    title: Annotated[str, Text("Title", "What the plan is, in a line.", longest=200)] = ""
    note: Annotated[str, Text("Note", "What a reader should know about it.", longest=2000)] = ""
    model: ModelSection
    data: DataSection
    hardware: HardwareSection
    training: TrainingSection
    market: MarketSection = MarketSection()
    memory: MemorySection = MemorySection()
    scope: ScopeSection = ScopeSection()
    levers: LeversSection = LeversSection()
    case: CaseSection = CaseSection()
    sources: dict[str, SourceEntry] = {}  # noqa: RUF012 - pydantic copies a default

    _origin: Path | None = PrivateAttr(default=None)
    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Self:
        check_consistent(self, keys(), (info.context or {}).get("folder"))
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return False
        return self.model_dump() == other.model_dump() and self._files == other._files

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    @property
    def origin(self) -> Path | None:
        """The file that the plan came from; None for a token or a mapping."""
        return self._origin

    @property
    def folder(self) -> Path | None:
        """What the plan's relative paths are relative to; None: the current folder."""
        return self._folder

    def located(self, origin: Path | None, folder: Path | None) -> Self:
        """The plan, told where it came from."""
        self._origin, self._folder = origin, folder
        return self

    @property
    def runs_path(self) -> Path | None:
        """Where the CSV of `data.runs` lies: relative to the plan's own folder; None where no runs are named."""
        return self.path_of("data.runs")

    @property
    def _files(self) -> list[Path | None]:
        """Where the files lie that the plan names."""
        return [self.path_of(key) for key in FILE_KEYS]

    def path_of(self, key: str) -> Path | None:
        """Where the file of that key lies, relative to the plan's own folder; None where the plan names none."""
        named = str(self.value(key))
        return documents.beside(self._folder, named) if named else None

    @property
    def target_architecture(self) -> architectures.Architecture | None:
        """The architecture that the plan names, or None where only its size counts."""
        named = self.model.architecture
        return architecture(named, self._folder) if named else None

    def value(self, key: str) -> object:
        """The value of a dotted key.

        >>> from costkit import plan
        >>> plan.read("case-50k").value("hardware.n_gpus")
        32
        """
        found: object = self
        for part in key.split("."):
            found = getattr(found, part)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The plan as nested plain values: what differs from the defaults, and nothing that follows from the rest."""
        values = self.model_dump(exclude_defaults=True)
        named = self.target_architecture
        if named is not None and named.n_params == self.model.n_params:
            del values["model"]["n_params"]
        return values

    def token(self) -> str:
        """The whole plan as one line of text for a message; `plan.read` takes it wherever it takes a path."""
        return documents.to_token(self.as_dict())

    def save(self, path: str | Path) -> Path:
        """Write the plan as TOML, keeping the comments of the file it came from; returns the path.

        It is written under a temporary name and renamed when whole, so that a failure leaves the old file as it was.
        """
        return documents.save(
            self.as_dict(),
            Path(path),
            full=self.model_dump(),
            origin=self._origin,
            folder=self._folder,
            comments={key: field.unit for key, field in fields().items()},
        )

    def __repr__(self) -> str:
        return f"<Plan {self.name!r}: {self.title}>"

    __str__ = __repr__


@functools.cache
def keys() -> tuple[str, ...]:
    """Every dotted key of a plan, in the order of the file; `sources` is not a value and not among them."""
    found = []
    for name, info in Plan.model_fields.items():
        section = info.annotation
        if isinstance(section, type) and issubclass(section, Section):
            found += [f"{name}.{key}" for key in section.model_fields]
        elif name != "sources":
            found.append(name)
    return tuple(found)


def kind(key: str) -> Kind:
    """How the value of a dotted key is checked and parsed."""
    section, _, name = key.rpartition(".")
    owner: Any = Plan.model_fields[section].annotation if section else Plan
    found = kind_of(owner, name)
    if found is None:
        raise KeyError(key)
    return found


@functools.cache
def fields() -> Mapping[str, Field]:
    """Every key of a plan with its label, unit, usual range, choices and meaning; panels and tables are built from it.

    >>> field = fields()["hardware.n_gpus"]
    >>> field.label, field.unit, field.kind, field.low, field.high, field.scale
    ('GPUs', 'GPUs', 'int', 1, 16384, 'log')
    """
    return MappingProxyType({key: _field(key) for key in keys()})


def _field(key: str) -> Field:
    section, _, name = key.rpartition(".")
    owner: Any = Plan.model_fields[section].annotation if section else Plan
    info, about = owner.model_fields[name], kind(key)
    return Field(
        key=key,
        label=about.label,
        unit=about.unit,
        kind=about.kind,
        low=about.low,
        high=about.high,
        scale=about.scale,
        choices=about.choices,
        default=None if info.is_required() else info.default,
        help=about.help,
        required=info.is_required(),
        optional=not info.is_required() and info.default is None,
        least=about.least,
        most=about.most,
        unlimited=isinstance(about, Number) and about.unlimited,
    )
