"""Which keys say what is paid for besides the final run? The section `[scope]` of a plan.

- Shares are of the final run's GPU-hours: they are bought like these. What is left out is not planned for, and costs 0.
"""

from __future__ import annotations

from typing import Annotated

from costkit.plan.kinds import Number
from costkit.plan.section import Section


def _share(label: str, about: str) -> Number:
    return Number(label, "fraction of the final run", 0, 3, 0, 20, about, scale="linear", fraction=True)


class ScopeSection(Section):
    """What is paid for besides the final run."""

    failed_runs_fraction: Annotated[float, _share("Failed runs", "Runs that were stopped, reset or thrown away.")] = 0.0
    ablations_fraction: Annotated[
        float, _share("Ablations", "Smaller runs that choose data, architecture and settings before the final one.")
    ] = 0.0
    post_training_fraction: Annotated[
        float, _share("Post-training", "Context extension, fine-tuning, preference training after it.")
    ] = 0.0
    idle_fraction: Annotated[
        float, _share("Reserved and idle", "GPUs that are reserved and paid for before, between and after the runs.")
    ] = 0.0
    data_usd: Annotated[
        float, Number("Data", "USD", 100, 1e7, 0, 1e12, "Licences, cleaning, labelling: dollars as they are.")
    ] = 0.0
    dataset_gb: Annotated[
        float | None,
        Number(
            "Size of the data",
            "GB",
            1,
            1e6,
            0,
            1e12,
            "Stored while the run lasts; left out: 4 bytes for each different token.",
        ),
    ] = None
    egress_gb: Annotated[
        float, Number("Moved out", "GB", 1, 1e6, 0, 1e12, "Data and checkpoints that leave the provider or the region.")
    ] = 0.0
