"""What stands behind the pictures? Tables of a memory budget: parts, stages, ways, formats, scores."""

from __future__ import annotations

from collections.abc import Sequence

from costkit import memory, tables
from costkit.figures.shown import Format, Table
from costkit.plan.fitting import Compared, Footprint, words
from costkit.plan.fitting import Format as NumberFormat
from costkit.units import gib, percent, usd

Columns = dict[str, str | tuple[str, Format]]


def parts_table(answer: Footprint) -> Table:
    """Every part at the peak: bytes, and its share."""
    budget = answer.budget
    rows = [
        {"part": name, "bytes": amount, "share": amount / budget.peak_bytes}
        for name, amount in sorted(budget.parts.items(), key=lambda item: -item[1])
    ]
    columns: Columns = {"part": "Part", "bytes": ("Live", gib), "share": ("Share", percent)}
    return Table(rows, "parts", caption=f"What lives at {words.PHASES[budget.peak_phase]}", columns=columns)


def stages_table(answer: Footprint) -> Table:
    """One row for each pipeline stage: its peak phase, and live bytes by phase."""
    rows = [
        {
            "stage": stage.stage + 1,
            "peak_phase": words.SHORT_PHASES[stage.peak_phase],
            "peak": stage.peak_bytes,
            **dict(stage.phases),
        }
        for stage in answer.budget.stages
    ]
    columns: Columns = {"stage": ("Stage", str), "peak_phase": "Peak at", "peak": ("Peak", gib)}
    columns |= {phase: (words.SHORT_PHASES[phase].capitalize(), gib) for phase in memory.PHASES}
    return Table(rows, "stages", caption="Live tensors on one GPU of each pipeline stage", columns=columns)


def ways_table(answer: Footprint) -> Table:
    """What would make it fit, or leave more room: the change, what it then needs, the verdict, the speed left."""
    rows = [
        {
            "changes": ", ".join(way.changes),
            "device": way.budget.device_bytes.mid,
            "device_high": way.budget.device_bytes.high,
            "verdict": way.verdict,
            "speed": way.throughput.mid,
            "speed_low": way.throughput.low,
            "speed_high": way.throughput.high,
            "cost": 1 / way.throughput.mid,
            "basis": "; ".join(way.basis),
        }
        for way in answer.ways
    ]
    columns: Columns = {
        "changes": "Change",
        "device": ("On the device", gib),
        "device_high": ("At most", gib),
        "verdict": "Verdict",
        "speed": ("Speed left", percent),
        "speed_low": ("at least", percent),
        "speed_high": ("at most", percent),
        "cost": ("Dollars per token", lambda ratio: f"x {ratio:.2f}"),
        "basis": "The speed's basis",
    }
    caption = "What would leave more room" if answer.verdict == "fits" else "What would make it fit"
    nothing: list[dict[str, object]] = [{"changes": "nothing that is known here"}]
    return Table(rows or nothing, "ways", caption=f"{caption}, cheapest first", columns=columns)


def formats_table(found: Sequence[NumberFormat]) -> Table:
    """Precision and optimizer: bytes a parameter that always live, the peak, the verdict, the largest micro-batch."""
    rows = [
        {
            "precision": one.precision,
            "optimizer": one.optimizer,
            "bytes_per_param": one.bytes_per_param,
            "peak": one.budget.allocated_bytes.mid,
            "device": one.budget.device_bytes.mid,
            "verdict": one.verdict,
            "largest": one.largest,
        }
        for one in found
    ]
    scored = " and ".join(words.SCORED_OPTIMIZERS)
    columns: Columns = {
        "precision": "Precision",
        "optimizer": "Optimizer",
        "bytes_per_param": ("States, bytes a parameter", lambda value: f"{value:.2f}"),
        "peak": ("Allocated", gib),
        "device": ("On the device", gib),
        "verdict": "Verdict",
        "largest": ("Largest micro-batch", str),
    }
    return Table(
        rows,
        "formats",
        caption=f"The same plan in other number formats; only {scored} are among the scored runs",
        columns=columns,
    )


def settings_table(compared: Compared) -> Table:
    """The settings that no other beats: checkpointing, micro-batch, memory, verdict, speed and dollars."""
    rows = [
        {
            "checkpointing": one.budget.request.checkpointing,
            "micro_batch": one.budget.micro_batch,
            "zero": one.budget.request.zero,
            "device": one.budget.device_bytes.mid,
            "verdict": one.verdict,
            "speed": compared.speed(one),
            "usd_per_billion_tokens": compared.usd_per_billion_tokens(one),
        }
        for one in compared.choices
        if one.on_frontier
    ]
    columns: Columns = {
        "checkpointing": "Checkpointing",
        "micro_batch": ("Micro-batch", str),
        "zero": ("ZeRO stage", str),
        "device": ("On the device", gib),
        "verdict": "Verdict",
        "speed": ("Speed, to the plan's", percent),
        "usd_per_billion_tokens": ("A billion tokens", usd),
    }
    caption = "Settings that no other beats in memory and speed, at the plan's price and MFU"
    return Table(rows, "settings", caption=caption, columns=columns)


def scores_table() -> Table:
    """Our errors by source, stack and what was measured."""
    rows = [
        {
            "source": _source(one.source),
            "stack": one.stack if one.scored_as == one.stack else f"{one.stack}, as {one.scored_as}",
            "metric": one.metric,
            "n": one.n,
            "median_error": one.median_error,
            "mean_absolute_error": one.mean_absolute_error,
            "n_held_out": one.n_held_out or None,
            "held_out_error": one.held_out_error,
            "within_band": one.within_band,
            "worst_error": one.worst.error_fraction,
            "worst_id": one.worst.id,
        }
        for one in memory.summaries()
    ]
    columns: Columns = {
        "source": "Measured by",
        "stack": "Stack",
        "metric": "What",
        "n": ("Runs", str),
        "median_error": ("Median error", _signed),
        "mean_absolute_error": ("Mean absolute error", percent),
        "n_held_out": ("of them with their model held out", str),
        "held_out_error": ("their error", percent),
        "within_band": ("Within the band", percent),
        "worst_error": ("Worst", _signed),
    }
    return Table(rows, "scores", caption="This calculator against measured runs", columns=columns)


def unscored_table() -> Table:
    """Why runs have neither an error nor a verdict, and how many."""
    rows = [{"why": why, "n": n} for why, n in memory.unscored()]
    columns: Columns = {"why": "Why", "n": ("Runs", str)}
    return Table(rows, "unscored", caption="Runs that can't be scored", columns=columns)


def misses_table(beyond: float = 0.15) -> Table:
    """Every scored run that is missed by more than that: measured, ours, by how much, and why."""
    rows = [
        {
            "id": one.id,
            "metric": one.metric,
            "measured": one.measured_bytes,
            "estimated": one.estimated_bytes,
            "error": one.error_fraction,
            "why": why,
        }
        for one, why in memory.misses(beyond)
    ]
    columns: Columns = {
        "id": "Run",
        "metric": "What",
        "measured": ("Measured", gib),
        "estimated": ("Ours", gib),
        "error": ("Error", _signed),
        "why": "Why, as far as we know",
    }
    return Table(rows, "misses", caption=f"Runs that are missed by more than {percent(beyond)}", columns=columns)


def _signed(error: float) -> str:
    return f"{100 * error:+.1f}%"


def _source(key: str) -> str:
    found = tables.source(key)
    return f"{found.authors}, {found.title}"
