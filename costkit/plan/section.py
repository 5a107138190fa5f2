"""What is a section of a plan? Values that are frozen, known by name, and each checked by its kind."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from costkit.plan.kinds import Kind


class Section(BaseModel):
    """A section of a plan: frozen, no unknown keys, each value checked by the kind that annotates its field."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    @field_validator("*", mode="before")
    @classmethod
    def _check_kind(cls, value: object, info: ValidationInfo) -> object:
        kind = kind_of(cls, info.field_name or "")
        if kind is None or (value is None and cls.model_fields[info.field_name or ""].default is None):
            return value
        return kind.check(value)


def kind_of(section: type[BaseModel], name: str) -> Kind | None:
    """How the field of that name is checked; None for a field that is a section itself."""
    kinds = (entry for entry in section.model_fields[name].metadata if isinstance(entry, Kind))
    return next(kinds, None)
