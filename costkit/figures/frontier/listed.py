"""What stands behind the pictures? Tables of the frontier's notebook: architecture, fits, checks, sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from costkit import scaling, tables
from costkit.claims import Checked
from costkit.figures.shown import Format, Table
from costkit.plan.sizing import Frontier, OwnRuns, Snapped, ways
from costkit.scaling import Split
from costkit.units import DAY, count, number, percent, usd

Columns = dict[str, str | tuple[str, Format]]


def ways_table(answer: Frontier) -> Table:
    """Budget, size, tokens or loss held, and the rest: parameters, tokens, loss, compute, dollars, GPU-hours, days."""
    rows = [
        {
            "held": way.question,
            "n_params": float(way.split.n_params),
            "n_tokens": float(way.split.n_tokens),
            "tokens_per_param": float(way.split.tokens_per_param),
            "epochs": float(way.split.epochs),
            "loss": None if way.split.loss is None else float(way.split.loss),
            "flop": float(way.split.flop),
            "training_usd": way.run.usd.mid,
            "gpu_hours": way.run.gpu_hours.mid,
            "wall_days": way.run.wall_s.mid / DAY,
        }
        for way in ways(answer)
    ]
    columns: Columns = {
        "held": "Held",
        "n_params": ("Parameters", count),
        "n_tokens": ("Tokens", count),
        "tokens_per_param": "Tokens per parameter",
        "epochs": "Epochs",
        "loss": ("Loss", lambda loss: f"{loss:.3f}"),
        "flop": ("FLOP", number),
        "training_usd": ("Training", usd),
        "gpu_hours": "GPU-hours",
        "wall_days": "Days",
    }
    return Table(rows, "ways", caption="Hold one of the plan's numbers, and the rest follows", columns=columns)


def architecture_table(answer: Frontier, found: Snapped) -> Table:
    """A real shape of the chosen size beside the choice: parameters, tokens, cost, and the FLOP that 6N leaves out."""
    shape, split = found.architecture, found.split
    shown = f"{shape.n_layers} layers, width {shape.hidden}, {shape.n_heads} heads of {shape.head_dim}"
    rows = [
        _model_row("the answer above", "", answer.choice, answer, None),
        _model_row(shape.name, shown, split, answer, found.attention_overhead_fraction),
    ]
    columns: Columns = {
        "model": "Model",
        "shape": "Shape",
        "n_params": ("Parameters", lambda value: f"{value:,.0f}"),
        "n_tokens": ("Tokens for the same loss", count),
        "training_usd": ("Training", usd),
        "attention_overhead_fraction": ("FLOP beyond 6N", percent),
    }
    return Table(rows, "architecture", caption="The same loss from a model that can be built", columns=columns)


def _model_row(model: str, shape: str, split: Split, answer: Frontier, overhead: float | None) -> dict[str, object]:
    return {
        "model": model,
        "shape": shape,
        "n_params": float(split.n_params),
        "n_tokens": float(split.n_tokens),
        "training_usd": answer.usd(split),
        "attention_overhead_fraction": overhead,
    }


def fits_table(own: OwnRuns) -> Table:
    """The fit under each outlier rule: coefficients, exponent of the best size, error on the largest runs held out."""
    columns: Columns = {
        "left_out": ("Highest losses left out", str),
        "E": "E",
        "A": "A",
        "B": "B",
        "alpha": "alpha",
        "beta": "beta",
        "size_exponent": "Exponent of the best size",
        "held_out_rms_fraction": ("Error on the largest fifth", percent),
        "verdict": "Verdict",
    }
    return Table(own.fit_rows(), "own-runs", caption=own.caption, columns=columns)


def checks_table(checks: Sequence[Checked], name: str, caption: str) -> Table:
    """Published figures beside ours: theirs, ours, the ratio, the verdict, and one clause why."""
    columns: Columns = {
        "what": "Published figure",
        "theirs": "Theirs",
        "ours": "Ours",
        "unit": "Unit",
        "ratio": ("Ratio", lambda value: f"{value:.3f}"),
        "verdict": "Verdict",
        "why": "Why",
        "source": "Source",
    }
    kept = ("published", "recomputed", "id")
    rows = [{key: getattr(check, key) for key in (*columns, *kept)} for check in checks]
    return Table(rows, name, caption=caption, columns=columns, right=("theirs", "ours"))


def laws_table() -> Table:
    """The laws, the runs behind them, and where each can be read."""
    columns: Columns = {
        "title": "Law",
        "n_runs": "Runs",
        "flop_high": ("Largest run, FLOP", _stated),
        "n_params_kind": "Parameters counted",
        "basis": "Basis",
        "source": "Source",
        "note": "Note",
    }
    rows = [_law_row(scaling.law(name)) for name in scaling.names()]
    return Table(rows, "laws", caption="Laws and where they come from", columns=columns)


def _law_row(law: scaling.Law) -> dict[str, object]:
    source = tables.source(law.source)
    return {
        "name": law.name,
        "title": law.title,
        "n_runs": law.n_runs,
        "flop_high": law.flop_range[1],
        "n_params_kind": law.n_params_kind,
        "basis": law.basis,
        "source": f"{source.authors}, {source.title}, {source.year}",
        "url": source.url,
        "note": law.note,
    }


def _stated(value: float) -> str:
    return number(value) if np.isfinite(value) else "not stated"
