"""How does a notebook show a picture, a table and a sentence, so that every reader gets it?

- A picture leaves PNG with its alternative text as metadata, and that text as one plain line.
- Text is escaped, and marked so that two dollar amounts in one sentence are not read as a formula.
- In a report (the environment variable `COSTKIT_REPORT` is set in its kernel) a picture also leaves SVG and a table its
  CSV, so that a report can be made from the notebook's outputs alone.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from costkit import units

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

DPI = 100.0
IN_REPORT = "COSTKIT_REPORT"
# MathJax in JupyterLab, GitHub and nbviewer leaves elements with these classes alone.
_NOT_MATH = "mathjax_ignore tex2jax_ignore"

Bundle = tuple[dict[str, str], dict[str, Any]]
Format = Callable[[Any], str]


def png(figure: Figure) -> bytes:
    """The figure as PNG at 100 dots per inch: opaque, quick to compress, the same bytes every time.

    >>> from matplotlib.figure import Figure
    >>> png(Figure((2, 1)))[1:4], png(Figure((2, 1))) == png(Figure((2, 1)))
    (b'PNG', True)
    """
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    from costkit.figures.layers import Layered

    if figure.dpi != DPI:
        figure.set_dpi(DPI)
    canvas = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    if isinstance(figure, Layered):
        figure.draw_layers(canvas)
    else:
        canvas.draw()  # type: ignore[no-untyped-call]
    buffer = io.BytesIO()
    rgba = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    pixels = np.ascontiguousarray(rgba[..., :3])
    Image.fromarray(pixels).save(buffer, "png", compress_level=1)
    return buffer.getvalue()


def svg(figure: Figure) -> str:
    """The figure as SVG with its alternative text as title and no date: the same text every time.

    >>> from matplotlib.figure import Figure
    >>> svg(Figure((2, 1), label="Cost falls.")).count("<title>Cost falls.</title>")
    1
    """
    import matplotlib as mpl

    from costkit.figures.layers import Layered

    buffer = io.StringIO()
    one = figure.as_one() if isinstance(figure, Layered) else nullcontext()
    with one, mpl.rc_context({"svg.hashsalt": "costkit", "svg.fonttype": "path", "savefig.bbox": None}):
        metadata = {"Title": _label(figure), "Date": None, "Creator": None}
        figure.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()


def show(figure: Figure, *, name: str = "", caption: str = "") -> Shown:
    """The figure, ready to be the last line of a notebook cell.

    `name` names its files beside a report; `caption` stands under it there (the alternative text's first sentence
    where it is empty). A figure without a label raises `ValueError`: nobody could hear what it shows.
    """
    return Shown(figure, name=name, caption=caption)


def _label(figure: Figure) -> str:
    return " ".join(str(figure.get_label() or "").split())


@dataclass(frozen=True)
class Shown:
    """A figure with its alternative text.

    >>> from matplotlib.figure import Figure
    >>> data, metadata = Shown(Figure((2, 1), label="Cost falls."))._repr_mimebundle_()
    >>> sorted(data), metadata["image/png"]["alt"], metadata["image/png"]["width"]
    (['image/png', 'text/plain'], 'Cost falls.', 200)
    """

    figure: Figure
    name: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        if not _label(self.figure):
            raise ValueError("a figure needs a label as its alternative text: Figure(..., label='What it shows.')")

    @property
    def alt(self) -> str:
        """What the picture shows, in one line."""
        return _label(self.figure)

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, **_limits: object) -> Bundle:
        width, height = (round(inches * DPI) for inches in self.figure.get_size_inches())
        data = {"image/png": base64.b64encode(png(self.figure)).decode("ascii"), "text/plain": self.alt}
        about: dict[str, Any] = {"alt": self.alt, "width": width, "height": height}
        if os.environ.get(IN_REPORT):
            data["image/svg+xml"] = svg(self.figure)
            about["costkit"] = {"name": self.name, "caption": self.caption}
        return data, {"image/png": about}


@dataclass(frozen=True)
class Said:
    """A computed sentence: escaped, and safe to hold any number of dollar amounts.

    >>> print(Said("From $50,000 to <$11,800.")._repr_html_())
    <p class="said mathjax_ignore tex2jax_ignore">From $50,000 to &lt;$11,800.</p>
    """

    text: str
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        return "\n".join([self.text, *(f"Note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        notes = f'<ul class="notes {_NOT_MATH}">{items}</ul>' if items else ""
        return f'<p class="said {_NOT_MATH}">{html.escape(self.text)}</p>{notes}'


@dataclass(frozen=True)
class Table:
    """Rows with one name: rounded to read, and in full precision in the CSV beside a report.

    `columns` gives the heading of each column to show, in order, and optionally how its values are written:
    `{"gpu": "GPU", "usd": ("Cost (USD)", units.usd)}`. Without it, every key of the first row is shown. Numbers
    stand to the right, and so do the columns of `right`, which hold numbers in words.

    >>> table = Table([{"gpu": "A100", "usd": 42301.437}], "costs", columns={"gpu": "GPU", "usd": ("Cost", units.usd)})
    >>> print(table)
    GPU      Cost
    A100  $42,301
    >>> print(table.csv(), end="")
    gpu,usd
    A100,42301.437
    """

    rows: Sequence[Mapping[str, Any]]
    name: str
    caption: str = ""
    columns: Mapping[str, str | tuple[str, Format]] = field(default_factory=dict)
    right: Sequence[str] = ()

    def csv(self) -> str:
        """Every key of the rows, raw: full precision; unknown and infinite values are empty."""
        keys = list(dict.fromkeys(key for row in self.rows for key in row)) or list(self.columns)
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, keys, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _raw(value) for key, value in row.items()} for row in self.rows)
        return buffer.getvalue()

    def frame(self) -> DataFrame:
        """The rows as a pandas data frame, raw, to go on computing with."""
        from pandas import DataFrame

        return DataFrame([dict(row) for row in self.rows])

    def _headings(self) -> dict[str, tuple[str, Format]]:
        shown = self.columns or {key: key.replace("_", " ") for key in (self.rows[0] if self.rows else ())}
        return {key: (what, _written) if isinstance(what, str) else what for key, what in shown.items()}

    def _cells(self) -> list[list[str]]:
        headings = self._headings()
        return [
            ["" if row.get(key) is None else write(row[key]) for key, (_, write) in headings.items()]
            for row in self.rows
        ]

    def _numeric(self) -> list[bool]:
        return [
            key in self.right
            or (
                any(_is_number(row.get(key)) for row in self.rows)
                and all(_is_number(row.get(key)) or row.get(key) is None for row in self.rows)
            )
            for key in self._headings()
        ]

    def __repr__(self) -> str:
        lines = [[heading for heading, _ in self._headings().values()], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        numeric = self._numeric()
        return "\n".join(
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        styles = [f"text-align: {'right' if right else 'left'}" for right in self._numeric()]
        headings = [heading for heading, _ in self._headings().values()]
        head = "".join(
            f'<th scope="col" style="{style}">{html.escape(heading)}</th>'
            for heading, style in zip(headings, styles, strict=True)
        )
        body = "\n".join(f"<tr>{_html_cells(line, styles)}</tr>" for line in self._cells())
        caption = f"<caption>{html.escape(self.caption)}</caption>\n" if self.caption else ""
        return (
            f'<table class="{_NOT_MATH}">\n{caption}<thead>\n<tr>{head}</tr>\n</thead>\n'
            f"<tbody>\n{body}\n</tbody>\n</table>"
        )

    def _repr_mimebundle_(self, **_limits: object) -> Bundle:
        data = {"text/html": self._repr_html_(), "text/plain": repr(self)}
        if not os.environ.get(IN_REPORT):
            return data, {}
        return data, {"text/html": {"costkit": {"name": self.name, "caption": self.caption, "csv": self.csv()}}}


def _html_cells(line: Sequence[str], styles: Sequence[str]) -> str:
    first, *rest = line
    cells = [f'<th scope="row" style="{styles[0]}; font-weight: normal">{html.escape(first)}</th>']
    cells += [f'<td style="{style}">{html.escape(cell)}</td>' for cell, style in zip(rest, styles[1:], strict=True)]
    return "".join(cells)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _raw(value: object) -> object:
    return units.finite(value) if isinstance(value, float) else value


def _written(value: object) -> str:
    return units.number(value) if isinstance(value, float) else str(value)
