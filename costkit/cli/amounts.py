"""What does an option's text mean? An amount as a person types it, read and checked like a value of a plan."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from costkit import plan
from costkit.plan.kinds import Kind


def read(option: str, text: str, kind: Kind) -> Any:
    """The value that the text means; a ValueError of one sentence that begins with the option."""
    try:
        return kind.check(kind.parse(text))
    except ValueError as error:
        raise ValueError(f"{option} {error}") from None


def plan_of(arguments: Namespace) -> plan.Plan | None:
    """The plan of a command that can do without one; None where none is named."""
    if arguments.plan is not None:
        return plan.read(arguments.plan, plan.parse_overrides(arguments.overrides))
    if arguments.overrides:
        raise ValueError("--set changes a value of a plan: name one with --plan")
    return None
