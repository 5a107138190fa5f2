"""Who says so? GPUs, price quotes, sources and published models, each number with its source and date.

- The only module that knows where data files are: the installed package's `data/` first, the checkout's second.
- Tables hold raw facts in the units of their column names; what comes out of here is in bytes, seconds, FLOP and USD.
- Peak rates are dense. A value nobody could verify says so in its row.
- An unknown name raises `UnknownName` with the nearest names; nothing is guessed silently.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from costkit.units import GB, GIB, TFLOP

T = TypeVar("T")

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4")
PURCHASES = ("on_demand", "spot", "commit_1y", "commit_3y")

_HERE = Path(__file__).resolve().parent
_LISTED_BY = {"GPU": "costkit gpus", "law": "costkit laws", "plan": "costkit plan list"}
_LONGEST_NAME = 80
_MOST_OPTIONS = 12


class UnknownName(LookupError):
    """A name that no table has; the text is one sentence with the nearest names."""


def unknown(kind: str, name: object, options: Iterable[str]) -> UnknownName:
    """The error for a name that is not among `options`, with the nearest of them.

    >>> print(unknown("GPU", "A100-80", ["A100-SXM4-80GB", "H100-SXM5-80GB"]))
    no GPU 'A100-80'. Did you mean 'A100-SXM4-80GB'? `costkit gpus` lists all.
    """
    known = sorted(options)
    sentence = f"no {kind} {_quoted(name)}."
    near = _nearest(str(name)[:_LONGEST_NAME], known)
    if near:
        sentence += f" Did you mean {near!r}?"
    if kind in _LISTED_BY:
        sentence += f" `{_LISTED_BY[kind]}` lists all."
    elif not near and known:
        sentence += f" Known: {', '.join(known[:_MOST_OPTIONS])}{', ...' if len(known) > _MOST_OPTIONS else ''}."
    return UnknownName(sentence)


def _quoted(name: object) -> str:
    text = repr(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def _nearest(name: str, options: list[str]) -> str:
    """The option that reads most like `name`, by shared words and by spelling; empty where none is near."""
    words = _words(name)

    def likeness(option: str) -> tuple[float, str]:
        shared = sum(any(part.startswith(word) for part in _words(option)) for word in words)
        shared_fraction = shared / len(words) if words else 0.0
        spelling = difflib.SequenceMatcher(None, name.casefold(), option.casefold()).ratio()
        near = shared_fraction >= 0.5 or spelling >= 0.6
        return (shared_fraction + spelling if near else 0.0), option

    score, option = max(map(likeness, options), default=(0.0, ""))
    return option if score else ""


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9.]+", name.casefold()) if len(word) > 1]


def lookup(kind: str, name: object, mapping: Mapping[str, T]) -> T:
    """`mapping[name]`, or `UnknownName` that says what `kind` of thing was sought and what is near.

    >>> lookup("colour", "blue", {"blue": 3})
    3
    """
    if isinstance(name, str) and name in mapping:
        return mapping[name]
    raise unknown(kind, name, mapping)


def folder(kind: str) -> Path:
    """The folder `data` or `notebooks`: the installed package's own, else the checkout's.

    >>> folder("data").name
    'data'
    """
    if kind not in ("data", "notebooks"):
        raise unknown("folder", kind, ("data", "notebooks"))
    for candidate in (_HERE / kind, _HERE.parent / kind):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"costkit's folder {kind!r} is neither in the package nor in a checkout; reinstall costkit")


def path(name: str) -> Path:
    """Where the data file `name` lies, e.g. "gpus.csv" or "plans/case-50k.toml".

    >>> path("gpus.csv").is_file()
    True
    """
    root = folder("data")
    found = root / name
    with contextlib.suppress(OSError):  # a name too long for the file system is no file either
        if found.is_file() and found.resolve().is_relative_to(root.resolve()):
            return found
    raise unknown("data file", name, (str(file.relative_to(root)) for file in root.rglob("*.*")))


@functools.cache
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a table, as text by column name; read once, and read-only.

    >>> rows("gpus.csv")[0]["vendor"]
    'NVIDIA'
    """
    with path(name).open(encoding="utf-8", newline="") as file:
        return tuple(MappingProxyType(row) for row in csv.DictReader(file, strict=True))


@dataclass(frozen=True)
class Source:
    """Where a number comes from. `accessed` is empty where we did not read the page ourselves."""

    key: str
    authors: str
    title: str
    year: str
    url: str
    accessed: str


@functools.cache
def sources() -> Mapping[str, Source]:
    """Every source by its key."""
    columns = ("key", "authors", "title", "year", "url", "accessed")
    listed = (Source(**{name: row[name] for name in columns}) for row in rows("sources.csv"))
    return MappingProxyType({listed_source.key: listed_source for listed_source in listed})


def source(key: str) -> Source:
    """The source behind a key of any table's `source` column.

    >>> source("besiroglu-2024").url
    'https://arxiv.org/abs/2404.10102'
    """
    return lookup("source", key, sources())


@dataclass(frozen=True)
class Gpu:
    """An accelerator, as one device that a framework sees.

    `peak_flop_per_s` holds dense peaks by precision, only those the device has and the source states.
    `memory_bytes` is the size on the sheet, `usable_bytes` what a framework sees in logs.
    `interconnect_bytes_per_s` counts both directions together.
    """

    name: str
    vendor: str
    memory_bytes: float
    usable_bytes: float
    bandwidth_bytes_per_s: float
    peak_flop_per_s: Mapping[str, float] = field(hash=False)
    interconnect_bytes_per_s: float | None
    matmul_flop_per_s: float | None
    verified: str
    source: str
    as_of: str
    note: str = ""

    @property
    def half_precision_flop_per_s(self) -> float:
        """The dense 16-bit peak, against which MFU is counted everywhere: BF16, or FP16 where there is no BF16.

        >>> gpu("V100-SXM2-16GB").half_precision_flop_per_s == 125 * TFLOP
        True
        """
        peaks = self.peak_flop_per_s
        return peaks["bf16"] if "bf16" in peaks else peaks["fp16"]


def number(row: Mapping[str, str], column: str, unit: float = 1.0) -> float | None:
    """A cell as a number, in base units where `unit` is that of the column; None where it is empty.

    >>> number({"mean_life_h": "0.5"}, "mean_life_h", 3600.0), number({"mean_life_h": ""}, "mean_life_h")
    (1800.0, None)
    """
    return float(row[column]) * unit if row[column] else None


def _gpu_of(row: Mapping[str, str]) -> Gpu:
    peaks = {name: number(row, f"peak_{name}_dense_tflop_per_s", TFLOP) for name in PRECISIONS}
    return Gpu(
        name=row["name"],
        vendor=row["vendor"],
        memory_bytes=float(row["memory_gib"]) * GIB,
        usable_bytes=float(row["usable_gib"]) * GIB,
        bandwidth_bytes_per_s=float(row["bandwidth_gb_per_s"]) * GB,
        peak_flop_per_s=MappingProxyType({name: peak for name, peak in peaks.items() if peak is not None}),
        interconnect_bytes_per_s=number(row, "interconnect_bidirectional_gb_per_s", GB),
        matmul_flop_per_s=number(row, "matmul_bf16_measured_tflop_per_s", TFLOP),
        verified=row["verified"],
        source=row["source"],
        as_of=row["as_of"],
        note=row["note"],
    )


@functools.cache
def gpus() -> Mapping[str, Gpu]:
    """Every GPU by its name."""
    return MappingProxyType({row["name"]: _gpu_of(row) for row in rows("gpus.csv")})


def gpu(name: str) -> Gpu:
    """The GPU of that exact name.

    >>> gpu("A100-SXM4-80GB").peak_flop_per_s["bf16"] == 312 * TFLOP
    True
    >>> gpu("V100-32GB")
    Traceback (most recent call last):
    costkit.tables.UnknownName: no GPU 'V100-32GB'. Did you mean 'V100-SXM2-32GB'? `costkit gpus` lists all.
    """
    return lookup("GPU", name, gpus())


@dataclass(frozen=True)
class Quote:
    """One price of one GPU for one hour, as one provider asked for it on one day."""

    provider: str
    gpu: str
    purchase: str
    instance_type: str
    region: str
    usd_per_gpu_hour: float
    as_of: str
    source: str
    zone: str = ""
    url: str = ""
    note: str = ""


def _quote_of(row: Mapping[str, str]) -> Quote:
    texts = {name: text for name, text in row.items() if name != "usd_per_gpu_hour"}
    return Quote(usd_per_gpu_hour=float(row["usd_per_gpu_hour"]), **texts)


@functools.cache
def _all_quotes() -> tuple[Quote, ...]:
    return tuple(sorted(map(_quote_of, rows("quotes.csv")), key=lambda quote: quote.as_of, reverse=True))


def quotes(gpu: str | None = None, purchase: str | None = None, provider: str | None = None) -> list[Quote]:
    """The price quotes that match, newest first.

    >>> latest = quotes(gpu="A100-SXM4-80GB", purchase="on_demand", provider="aws")[0]
    >>> latest.instance_type, latest.usd_per_gpu_hour
    ('p4de.24xlarge', 3.4309)
    """
    if gpu is not None:
        lookup("GPU", gpu, gpus())
    if purchase is not None:
        lookup("purchase", purchase, dict.fromkeys(PURCHASES))
    if provider is not None:
        lookup("provider", provider, {quote.provider: quote for quote in _all_quotes()})
    return [
        quote
        for quote in _all_quotes()
        if gpu in (None, quote.gpu) and purchase in (None, quote.purchase) and provider in (None, quote.provider)
    ]


@dataclass(frozen=True)
class PublishedModel:
    """A published language model: its size, the parameters active per token, and the tokens it was trained on."""

    name: str
    n_params: float
    n_active_params: float
    n_tokens: float
    source: str
    as_of: str
    basis: str
    note: str = ""


def _model_of(row: Mapping[str, str]) -> PublishedModel:
    n_params = float(row["n_params"])
    active = number(row, "n_active_params")
    texts = {name: row[name] for name in ("name", "source", "as_of", "basis", "note")}
    return PublishedModel(
        n_params=n_params,
        n_active_params=n_params if active is None else active,
        n_tokens=float(row["n_tokens"]),
        **texts,
    )


@functools.cache
def published_models() -> tuple[PublishedModel, ...]:
    """Published models, by name.

    >>> [model.n_tokens for model in published_models() if model.name == "Chinchilla 70B"]
    [1400000000000.0]
    """
    return tuple(map(_model_of, rows("published_models.csv")))
