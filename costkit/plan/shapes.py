"""Which architecture does a plan name? One of the table, or that of a Hugging Face config.json beside the plan."""

from __future__ import annotations

from pathlib import Path

from costkit import architectures, tables
from costkit.plan.documents import beside
from costkit.plan.kinds import PlanError, shown


def architecture(name: str, folder: Path | None = None) -> architectures.Architecture:
    """The architecture of that name, or of the config.json at that path (relative to the plan's folder)."""
    if not name.endswith(".json") and "/" not in name and "\\" not in name:
        try:
            return architectures.named(name)
        except tables.UnknownName as error:
            raise PlanError(f"model.architecture: {error}") from None
    try:
        return architectures.from_hf_config(beside(folder, name))
    except OSError as error:
        raise PlanError(f"model.architecture: cannot read {shown(name)}: {error.strerror or error}") from None
    except (ValueError, LookupError) as error:
        raise PlanError(f"model.architecture: {error}") from None
