"""Plan what training a model costs: one plan, every question, each number with its source.

`import costkit` loads none of the modules; each loads when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from costkit import (
        architectures,
        claims,
        cli,
        figures,
        levers,
        panels,
        plan,
        report,
        scaling,
        spot,
        tables,
        training,
        troubles,
        units,
    )

__all__ = [
    "architectures",
    "claims",
    "cli",
    "figures",
    "levers",
    "panels",
    "plan",
    "report",
    "scaling",
    "spot",
    "tables",
    "training",
    "troubles",
    "units",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"costkit.{name}")
    raise AttributeError(f"module 'costkit' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
