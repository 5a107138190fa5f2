"""Which keys does a plan have? Its sections, each key with its label, unit, usual range and meaning.

- Every key is checked on its own here and against the others in `checks`; a key that is not here is an error.
- Units are in the key. Parameters and tokens are plain numbers, money is US dollars, fractions are 0 to 1.
- MFU is always against the GPU's dense 16-bit peak, whatever precision the run uses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ValidationInfo, model_validator

from costkit import architectures, tables
from costkit.plan.kinds import Choice, Flag, Number, PlanError, Text
from costkit.plan.lists import Amounts, lever_names
from costkit.plan.section import Section, kind_of
from costkit.plan.shapes import architecture

BASES = ("measured", "published", "assumed")
PEAK_METRICS = ("allocated", "reserved", "device")


def _gpus() -> tuple[str, ...]:
    return tuple(tables.gpus())


def _published_runs() -> tuple[str, ...]:
    return tuple(run.name for run in tables.published_runs())


def _usd(label: str, about: str, high: float = 1e6) -> Number:
    return Number(label, "USD", 100, high, 0.01, 1e12, about)


def _fraction(label: str, about: str, *, low: float = 0.0, least: float = 0.0, unit: str = "fraction") -> Number:
    return Number(label, unit, low, 1, least, 1, about, scale="linear", fraction=True)


class ModelSection(Section):
    """The model that is to be trained."""

    architecture: Annotated[
        str,
        Text(
            "Architecture",
            "A name of the architectures table, or the path of a Hugging Face config.json; empty: only size counts.",
            suggest=architectures.names,
        ),
    ] = ""
    n_params: Annotated[
        float,
        Number(
            "Model size",
            "parameters",
            1e7,
            1e12,
            1e3,
            1e15,
            "Parameters, embeddings included. Left out where an architecture is named: its exact count is used.",
        ),
    ]
    pretrained: Annotated[
        bool, Flag("Starts from a trained model", "Whether this is a fine-tune, which no law of training describes.")
    ] = False

    @model_validator(mode="before")
    @classmethod
    def _size_of_architecture(cls, given: Any, info: ValidationInfo) -> Any:
        """Fill in the size; an architecture that is no text is refused here, or its size would be called missing."""
        named = given.get("architecture") if isinstance(given, Mapping) else None
        if named is None or named == "" or given.get("n_params") is not None:
            return given
        kind = kind_of(cls, "architecture")
        try:
            text = str(kind.check(named)) if kind else str(named)
        except ValueError as error:
            raise PlanError(f"model.architecture {error}") from None
        folder = (info.context or {}).get("folder")
        return {**given, "n_params": float(architecture(text, folder).n_params)}


class DataSection(Section):
    """What it is trained on, and what it will serve."""

    n_tokens: Annotated[
        float,
        Number("Training tokens", "tokens", 1e8, 1e14, 1e3, 1e18, "Tokens processed in training, repeats included."),
    ]
    unique_tokens: Annotated[
        float,
        Number(
            "Unique tokens",
            "tokens",
            1e8,
            1e14,
            1e3,
            1e18,
            "Different tokens that can be had; past these, epochs repeat. inf: as many as needed.",
            unlimited=True,
        ),
    ] = math.inf
    inference_tokens: Annotated[
        float,
        Number(
            "Tokens served",
            "tokens",
            1e9,
            1e15,
            0,
            1e20,
            "Tokens that the model will serve in its lifetime; 0: not counted.",
        ),
    ] = 0.0
    serving_cost_ratio: Annotated[
        float,
        Number(
            "Serving FLOP against training FLOP",
            "times the price",
            0.1,
            100,
            1e-4,
            1e6,
            "Dollars per FLOP of serving over dollars per FLOP of training: other GPUs, lower utilisation.",
        ),
    ] = 1.0
    runs: Annotated[
        str,
        Text(
            "Own runs",
            "A CSV of your own small runs (params, tokens or flop, loss) to fit a law to; relative to the plan file.",
        ),
    ] = ""
    n_runs_left_out: Annotated[
        int,
        Number(
            "Runs left out",
            "runs of the highest losses",
            0,
            50,
            0,
            1e6,
            "How many of your own runs, those of the highest losses, the fit leaves out; 0 keeps all.",
            "linear",
            whole=True,
        ),
    ] = 0


class HardwareSection(Section):
    """What it runs on, and what an hour of that costs."""

    gpu: Annotated[str, Choice("GPU", _gpus, "The GPU, as `costkit gpus` lists it.", table="GPU")]
    n_gpus: Annotated[
        int, Number("GPUs", "GPUs", 1, 16384, 1, 1e7, "GPUs that work on the run at the same time.", whole=True)
    ]
    usd_per_gpu_hour: Annotated[
        float,
        Number("Price", "USD per GPU-hour", 0.1, 20, 0.001, 1000, "Price of one GPU (not of a node) for one hour."),
    ]
    node_gbit_per_s: Annotated[
        float,
        Number(
            "Network of a node",
            "Gbit/s",
            10,
            3200,
            0.1,
            1e5,
            "What a node sends to others at most; GPUs of several nodes exchange their gradients over it.",
        ),
    ] = 400.0


class CaseSection(Section):
    """What was published about this run, to check the plan against; every key may be left out."""

    published_run: Annotated[
        str | None,
        Choice(
            "Published run",
            _published_runs,
            "The row of the published runs that this plan is: it and its family are not learned from.",
            table="published run",
        ),
    ] = None
    published_usd: Annotated[float | None, _usd("Published bill", "The bill that was published for the run.")] = None
    published_final_usd: Annotated[
        float | None, _usd("Published bill afterwards", "The bill published after the improvements.")
    ] = None
    listed_savings: Annotated[
        str,
        Amounts(
            "Listed savings",
            "What each lever is said to have saved, in US dollars: spot=25000, bf16=8000.",
            suggest=lever_names,
            table="lever",
        ),
    ] = ""
    published_days: Annotated[
        float | None,
        Number("Published duration", "days", 0.1, 365, 1e-3, 1e5, "How long the run is said to have taken."),
    ] = None
    published_gpu_hours: Annotated[
        float | None, Number("Published GPU-hours", "GPU-hours", 1, 1e8, 1e-3, 1e12, "GPU-hours published for the run.")
    ] = None
    published_flop: Annotated[
        float | None, Number("Published compute", "FLOP", 1e17, 1e26, 1e9, 1e35, "Compute published for the run.")
    ] = None
    published_loss: Annotated[
        float | None, Number("Published loss", "nats per token", 1.5, 4, 0.01, 20, "Final loss published.", "linear")
    ] = None
    published_mfu: Annotated[
        float | None, _fraction("Published MFU", "MFU published for the run.", low=0.05, least=0.001)
    ] = None
    published_peak_gib: Annotated[
        float | None,
        Number(
            "Published peak memory", "GiB", 1, 300, 1e-3, 1e4, "Peak memory published for the run, on its fullest GPU."
        ),
    ] = None
    published_peak_metric: Annotated[
        str | None,
        Choice("What was measured", lambda: PEAK_METRICS, "Which of the three numbers the published peak is."),
    ] = None
    gpu_utilisation_fraction: Annotated[
        float | None, _fraction("GPU utilisation", "The busy share that the driver's utilisation counter showed.")
    ] = None
    tf32_enabled: Annotated[bool | None, Flag("TF32 on", "Whether FP32 matrix products ran on TF32 tensor cores.")] = (
        None
    )
    n_restarts: Annotated[
        int | None, Number("Restarts", "restarts", 0, 100, 0, 1e6, "Restarts during the run.", "linear", whole=True)
    ] = None
    restart_gpu_hours: Annotated[
        float | None, Number("Lost per restart", "GPU-hours", 1, 1e4, 0, 1e9, "GPU-hours that each restart wasted.")
    ] = None
    spot_restarts: Annotated[
        int | None,
        Number("Restarts on spot", "restarts", 0, 100, 0, 1e6, "Preemptions that are told of.", "linear", whole=True),
    ] = None
    spot_lost_h: Annotated[
        float | None,
        Number("Lost per preemption", "hours", 0.1, 24, 0, 1e4, "Hours that each is said to cost the run."),
    ] = None
    overhead_fraction: Annotated[float | None, _fraction("Overhead", "Share of the bill that is not GPU time.")] = None


class SourceEntry(Section):
    """Where one value of the plan comes from."""

    basis: Annotated[str, Choice("Basis", lambda: BASES, "How sure it is: measured, published or assumed.")] = "assumed"
    source: Annotated[str, Text("Source", "A key of sources.csv, or your own words.")] = ""
    as_of: Annotated[str, Text("As of", "The date of the value, e.g. 2024-04.", longest=40)] = ""
    note: Annotated[str, Text("Note", "What a reader should know about it.")] = ""
