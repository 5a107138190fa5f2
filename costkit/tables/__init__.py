"""Who says so? GPUs, price quotes, sources, published models and runs, each number with its source and date.

- The only module that knows where data files are: the installed package's `data/` first, the checkout's second.
- Tables hold raw facts in the units of their column names; what comes out of here is in bytes, seconds, FLOP and USD,
  with GPU-hours and days left as published.
- Peak rates are dense. A value nobody could verify says so in its row.
- An unknown name raises `UnknownName` with the nearest names; nothing is guessed silently.
"""

from __future__ import annotations

from costkit.tables.devices import GPUS_PER_NODE, PRECISIONS, Gpu, gpu, gpus
from costkit.tables.files import folder, number, path, rows
from costkit.tables.names import UnknownName, lookup, unknown
from costkit.tables.prices import PURCHASES, Quote, quotes
from costkit.tables.published import PublishedModel, PublishedRun, published_models, published_run, published_runs
from costkit.tables.references import Source, source, sources

__all__ = [
    "GPUS_PER_NODE",
    "PRECISIONS",
    "PURCHASES",
    "Gpu",
    "PublishedModel",
    "PublishedRun",
    "Quote",
    "Source",
    "UnknownName",
    "folder",
    "gpu",
    "gpus",
    "lookup",
    "number",
    "path",
    "published_models",
    "published_run",
    "published_runs",
    "quotes",
    "rows",
    "source",
    "sources",
    "unknown",
]
