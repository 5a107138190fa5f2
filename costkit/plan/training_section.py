"""Which keys say what a run should reach, how fast it goes, and how it saves its state? The section `[training]`."""

from __future__ import annotations

from typing import Annotated

from costkit import tables
from costkit.plan.kinds import Choice, Number
from costkit.plan.section import Section

OWN_RUNS = "own-runs"


def laws() -> tuple[str, ...]:
    """The scaling laws a plan may name: those of the table, and a fit to the plan's own runs."""
    return (*(row["name"] for row in tables.rows("scaling_laws.csv")), OWN_RUNS)


def _share(label: str, about: str) -> Number:
    return Number(label, "fraction", 0, 0.3, 0, 0.95, about, scale="linear", fraction=True)


class TrainingSection(Section):
    """What it should reach, and how well the hardware is used."""

    budget_usd: Annotated[
        float, Number("Budget", "USD", 100, 1e8, 0.01, 1e12, "What may be spent on the compute of the training run.")
    ]
    target_loss: Annotated[
        float | None,
        Number(
            "Target loss",
            "nats per token",
            1.7,
            4,
            0.01,
            20,
            "The loss to reach; left out: the budget decides.",
            "linear",
        ),
    ] = None
    budget_flop: Annotated[
        float | None,
        Number("Compute budget", "FLOP", 1e18, 1e26, 1e9, 1e35, "Compute to spend instead of the budget in dollars."),
    ] = None
    law: Annotated[
        str,
        Choice(
            "Scaling law",
            laws,
            "Which law turns compute into loss; own-runs: fitted to the CSV of data.runs.",
            table="law",
        ),
    ] = "besiroglu-2024"
    size_fraction: Annotated[
        float,
        Number(
            "Size against optimum",
            "fraction of the compute-optimal size",
            0.1,
            3,
            0.1,
            3,
            "Model size as a share of the compute-optimal one; below 1 the model is smaller and trains for longer.",
        ),
    ] = 1.0
    mfu: Annotated[
        float | None,
        Number(
            "MFU",
            "fraction of the dense 16-bit peak",
            0.05,
            0.7,
            0.001,
            1,
            "Model FLOP utilisation while training goes on: 6ND FLOP per second and GPU over the GPU's dense 16-bit"
            " peak; left out: what published runs of that size, chip and scale reached.",
            scale="linear",
            fraction=True,
        ),
    ] = None
    tokens_per_s_per_gpu: Annotated[
        float | None,
        Number(
            "Measured rate",
            "tokens per second and GPU",
            10,
            1e6,
            1e-3,
            1e9,
            "Tokens per second of one GPU, as a run of your own trained; takes the place of an MFU.",
        ),
    ] = None
    step_s: Annotated[
        float | None,
        Number(
            "Measured step",
            "seconds",
            0.05,
            120,
            1e-6,
            1e6,
            "Seconds of one optimizer step of training.batch_tokens on the plan's GPUs; takes the place of an MFU.",
        ),
    ] = None
    loader_wait_s: Annotated[
        float | None,
        Number(
            "Waiting for input",
            "seconds",
            0.001,
            10,
            0,
            1e6,
            "Seconds of each step in which GPUs wait for their input.",
        ),
    ] = None
    batch_tokens: Annotated[
        float | None,
        Number(
            "Batch",
            "tokens",
            1e5,
            1e8,
            1,
            1e12,
            "Tokens of one optimizer step over all GPUs; left out: memory.effective_batch sequences, or one micro-batch"
            " a GPU.",
        ),
    ] = None
    goodput_fraction: Annotated[
        float | None,
        Number(
            "Goodput",
            "fraction of the paid hours",
            0.5,
            1,
            0.01,
            1,
            "Share of the paid hours in which that MFU is reached: 1 less restarts, lost steps and idle nodes; left"
            " out: what published runs kept.",
            scale="linear",
            fraction=True,
        ),
    ] = None
    evaluation_fraction: Annotated[
        float, _share("Evaluation", "Share of the time in which training stands still for evaluation.")
    ] = 0.0
    ramp_fraction: Annotated[
        float, _share("Ramp", "Share of the GPUs' time lost because fewer of them work at first.")
    ] = 0.0
    spare_fraction: Annotated[
        float, _share("Spares", "GPUs that are paid for and stand ready, over those that work.")
    ] = 0.0
    seq_len: Annotated[
        int, Number("Sequence length", "tokens", 512, 131072, 1, 1e8, "Tokens in one training sequence.", whole=True)
    ] = 2048
    checkpoint_every_min: Annotated[
        float,
        Number(
            "Checkpoint every",
            "minutes",
            5,
            1440,
            1e-2,
            1e7,
            "Training time between two checkpoints; inf: none is written.",
            unlimited=True,
        ),
    ] = 60.0
    checkpoint_write_min: Annotated[
        float | None,
        Number(
            "Writing one takes",
            "minutes",
            0.05,
            60,
            0,
            1e5,
            "How long training stands still for it; left out: its size over the rate of writing.",
        ),
    ] = None
    checkpoint_gb: Annotated[
        float | None,
        Number(
            "Size of a checkpoint",
            "GB",
            0.1,
            1e4,
            0,
            1e9,
            "Left out: weights, master weights and optimizer state of the whole model.",
        ),
    ] = None
    checkpoint_gb_per_s: Annotated[
        float,
        Number(
            "Rate of writing",
            "GB a second",
            0.1,
            100,
            1e-4,
            1e6,
            "How fast all GPUs together write a checkpoint; for one written in the background, as if it stood still.",
        ),
    ] = 1.0
    restart_min: Annotated[
        float,
        Number(
            "Restart",
            "minutes",
            1,
            120,
            0,
            1e5,
            "From machines that run to the first new step: loading, compiling, skipping data.",
        ),
    ] = 10.0
