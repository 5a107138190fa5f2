"""Which keys say how a run is to become cheaper? The section `[levers]` of a plan."""

from __future__ import annotations

from typing import Annotated

from costkit.plan.lists import Names, lever_names
from costkit.plan.section import Section


class LeversSection(Section):
    """What is pulled to make the run cheaper."""

    order: Annotated[
        str,
        Names(
            "Levers, in their order",
            "What is done to make the run cheaper, in that order; empty: all that pays, the least effort first.",
            suggest=lever_names,
            table="lever",
        ),
    ] = ""
