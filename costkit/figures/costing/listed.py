"""What stands behind the pictures? Tables of the plan on a page: the bill, other GPUs, goodput, programmes, scores."""

from __future__ import annotations

import math

from costkit import tables, training
from costkit.figures.shown import Format, Table
from costkit.plan import Page
from costkit.plan.costing import Placed, programmes
from costkit.units import DAY, Range, finite, gpu_hours, number, percent, usd

Columns = dict[str, str | tuple[str, Format]]


def facts_table(answer: Page) -> Table:
    """The key numbers of the page."""
    rows = [{"what": label, "value": text} for label, text in answer.facts]
    return Table(rows, "facts", caption="The plan in numbers", columns={"what": "What", "value": "Value"})


def bill_table(answer: Page) -> Table:
    """The bill line by line, what isn't planned for included, and the sum."""
    rows = answer.rows()
    ends = {f"usd_{end}": finite(getattr(answer.usd, end)) for end in ("low", "mid", "high")}
    hours_mid = sum(line.gpu_hours.mid for line in answer.lines if line.gpu_hours)
    whole = {"line": "The whole bill", **ends, "gpu_hours_mid": finite(hours_mid), "basis": ""}
    columns: Columns = {
        "line": "Line",
        "usd_low": ("Low", usd),
        "usd_mid": ("Middle", usd),
        "usd_high": ("High", usd),
        "gpu_hours_mid": ("GPU-hours", gpu_hours),
        "basis": "From",
    }
    return Table([*rows, whole], "bill", caption="The bill, line by line", columns=columns)


def swings_table(answer: Page) -> Table:
    """What moves the bill: both ends in dollars, what they stand for, and the notebook that settles it."""
    rows = [
        {
            "what": one.what,
            "low_usd": one.low_usd,
            "low_label": one.low_label,
            "high_usd": one.high_usd if one.high_label else None,
            "high_label": one.high_label,
            "notebook": one.notebook,
        }
        for one in answer.swings
    ]
    columns: Columns = {
        "what": "What is changed",
        "low_usd": ("Bill", usd),
        "low_label": "at",
        "high_usd": ("Bill at the other end", usd),
        "high_label": "at that",
        "notebook": "Settled in notebook",
    }
    return Table(rows, "swings", caption="What moves the bill, the most first", columns=columns)


def programmes_table(answer: Page) -> Table:
    """The final run, and what it would be a part of if the programme were as published ones."""
    final = answer.final.run
    rows: list[dict[str, object]] = [
        {
            "what": "This plan's final run",
            "multiple": 1.0,
            "gpu_hours": finite(final.gpu_hours.mid),
            "usd": finite(final.usd.mid),
            "scope": "the run alone",
            "source": "",
        }
    ]
    rows += [
        {
            "what": f"A programme like {one.name}'s",
            "multiple": one.multiple,
            "gpu_hours": finite(final.gpu_hours.mid * one.multiple),
            "usd": finite(final.usd.mid * one.multiple),
            "scope": one.scope,
            "source": tables.source(one.source).authors,
        }
        for one in programmes()
    ]
    columns: Columns = {
        "what": "What is counted",
        "multiple": "Times the final run",
        "gpu_hours": ("GPU-hours", gpu_hours),
        "usd": ("Cost", usd),
        "scope": "Which is",
        "source": "Source",
    }
    return Table(rows, "programmes", caption="A final run is a part of what a model costs", columns=columns)


def goodput_table(answer: Page) -> Table:
    """Where the paid time goes by mechanism, beside what published runs kept."""
    kept = training.published_goodput()
    names = {
        "computing": "Computing",
        "checkpoints": "Writing checkpoints",
        "lost": "Work lost to failures",
        "restarts": "Restarts",
        "evaluation": "Evaluation",
        "ramp": "Ramp",
        "spares": "Spares",
    }
    parts = answer.final.mechanism.parts
    rows: list[dict[str, object]] = [{"part": names[name], "fraction": share} for name, share in parts.items()]
    rows.append(
        {"part": "Computing, as published runs kept it", "fraction": kept.mid, "low": kept.low, "high": kept.high}
    )
    columns: Columns = {
        "part": "Of the paid time",
        "fraction": ("Share", percent),
        "low": ("Low", percent),
        "high": ("High", percent),
    }
    caption = "What failures, checkpoints and settings take by themselves, and what whole runs lost"
    return Table(rows, "goodput", caption=caption, columns=columns)


def hardware_table(placed: list[Placed]) -> Table:
    """The run on each GPU that is quoted: dollars, days, MFU, whether it fits, and the price that flips the choice."""
    rows = [_row(one) for one in placed]
    columns: Columns = {
        "gpu": "GPU",
        "usd": ("Cost", usd),
        "usd_low": ("Low", usd),
        "usd_high": ("High", usd),
        "days": "Days",
        "mfu": ("MFU", percent),
        "mfu_from": "From",
        "tuned": ("Tuned benchmark", percent),
        "usd_per_gpu_hour": ("Price", usd),
        "quotes": "Quotes",
        "fits": "Memory",
        "flip": ("Cheaper than the plan's GPU above", usd),
    }
    caption = "The same run on as many other GPUs, at the middle of their newest quotes"
    return Table(rows, "hardware", caption=caption, columns=columns)


def _row(one: Placed) -> dict[str, object]:
    on, run = one.on, one.run
    return {
        "gpu": f"{on.gpu.name} (the plan's)" if one.is_own else on.gpu.name,
        "usd": finite(run.usd.mid),
        "usd_low": finite(run.usd.low),
        "usd_high": finite(run.usd.high),
        "days": finite(run.wall_s.mid / DAY),
        "mfu": run.mfu.mid,
        "mfu_from": f"{on.efficiency.n_runs} runs" if on.efficiency.is_of_chip else "other chips",
        "tuned": None if on.tuned is None else on.tuned.mid,
        "usd_per_gpu_hour": run.usd.mid / run.gpu_hours.mid if math.isfinite(run.usd.mid) else None,
        "quotes": _span(on.usd_per_gpu_hour),
        "fits": one.verdict,
        "flip": one.flip_usd_per_gpu_hour,
    }


def _span(price: Range) -> str:
    return usd(price.low) if price.low == price.high else f"{usd(price.low)} to {usd(price.high)}"


def scores_table() -> Table:
    """Factor errors by chip: ours, the median of other runs, a constant MFU; each family left out in turn."""
    rows = [
        {
            "group": score.group,
            "planner": score.planner,
            "n_runs": score.n_runs,
            "n_families": score.n_families,
            "median_factor": score.median_factor,
            "p80_factor": score.p80_factor,
            "p90_factor": score.p90_factor,
            "inside": score.inside_fraction,
            "under_priced": score.under_priced_fraction,
            "rows": rows_of,
        }
        for recalled, rows_of in ((False, "read"), (True, "recalled"))
        for score in training.scores(recalled=recalled)
    ]
    columns: Columns = {
        "group": "Runs on",
        "rows": "Rows",
        "planner": "Planner",
        "n_runs": "Runs",
        "n_families": "Teams",
        "median_factor": ("Median error, times", _factor),
        "p80_factor": ("80th percentile", _factor),
        "p90_factor": ("90th percentile", _factor),
        "inside": ("Inside the 80% band", percent),
        "under_priced": ("Under-priced", percent),
    }
    caption = "How wrong a prediction of GPU-hours is, each team's runs left out of what it learned from"
    return Table(rows, "scores", caption=caption, columns=columns)


def _factor(value: float) -> str:
    return f"{value:.2f}"


def runs_table() -> Table:
    """Every run with a named anomaly, and every one that is missed by more than half; the rest is in the CSV."""
    rows = [
        {
            "run": one.run.name,
            "group": one.group,
            "mfu": one.mfu,
            "predicted": one.predicted_mfu.mid,
            "low": one.predicted_mfu.low,
            "high": one.predicted_mfu.high,
            "hours_ratio": one.hours_ratio,
            "inside": "yes" if one.is_inside else "no",
            "anomaly": one.run.anomaly.replace("_", " "),
            "note": one.run.note,
            "source": one.run.source,
        }
        for one in sorted(training.scored(), key=lambda one: -one.factor_error)
        if one.run.anomaly or one.factor_error > training.FAR_FACTOR
    ]
    columns: Columns = {
        "run": "Run",
        "group": "On",
        "mfu": ("MFU of its hours", percent),
        "predicted": ("Predicted", percent),
        "hours_ratio": ("Hours, actual over predicted", number),
        "inside": "In the band",
        "anomaly": "Anomaly",
        "note": "What is odd",
    }
    caption = f"Runs with a named anomaly or missed by more than {number(training.FAR_FACTOR)} times, the worst first"
    return Table(rows, "runs", caption=caption, columns=columns)
