"""What does a reader of the report see? A run notebook as one page, and the tables and figures that stand beside it.

- A picture needs its alternative text; a table gets headings that a screen reader can follow; both are numbered.
- Code is folded away, panels are left out: the picture above a panel shows what the panel shows at first.
- What the run printed to standard error stays out: it names files and lines of the machine that ran it.
"""

from __future__ import annotations

import base64
import csv
import functools
import html
import io
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from bs4 import BeautifulSoup
from bs4.element import Tag
from nbformat import NotebookNode

from costkit.report import cleaning, markdown
from costkit.report.notebooks import INJECTED, WIDGET_VIEW

PANEL = "panel"
_NUMERIC = re.compile(r"[-+−~≈<>]*\$?[\d.,]+(e[-+]?\d+)?\s?[%xKMBT]?|")
_BREAKS = re.compile(r"(?<=[._/])(?=\w)")
_TABLE = re.compile('<div [^>]*class="table"')
_SCROLLS_FROM = 700
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True)
class Beside:
    """A file that goes beside the page."""

    name: str
    content: bytes


@dataclass
class Heading:
    """A heading of the page, with those under it."""

    level: int
    id: str
    text: str
    under: list[Heading] = field(default_factory=list)


@dataclass
class Page:
    """The page while it is read from a notebook, cell by cell."""

    folder: Path
    title: str = ""
    body: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    figures: list[Beside] = field(default_factory=list)
    tables: list[Beside] = field(default_factory=list)
    n_figures: int = 0
    n_tables: int = 0

    @property
    def contents(self) -> list[Heading]:
        """The headings below the title, nested."""
        top: list[Heading] = []
        for heading in self.headings:
            if heading.level == 2 or not top:
                top.append(Heading(heading.level, heading.id, heading.text))
            elif heading.level == 3:
                top[-1].under.append(heading)
        return top


def read(notebook: NotebookNode, *, folder: Path) -> Page:
    """The page of a notebook that has been run."""
    page, sources = Page(folder), list[str]()
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", ())
        if PANEL in tags or INJECTED in tags:
            continue
        if cell.cell_type == "markdown":
            page.body += [_code(sources), _text(page, cell.source)]
            sources = []
        elif cell.cell_type == "code":
            sources.append(cell.source)
            shown = [part for output in cell.outputs for part in _output(page, output)]
            if shown:
                page.body += [_code(sources), *shown]
                sources = []
    page.body.append(_code(sources))
    return page


def write(page: Page, **context: Any) -> str:
    """The whole page as HTML; the context names the plan and the program in its head and foot."""
    before, after = _around_contents(page)
    return _template().render(page=page, before=before, after=after, **context)


def _around_contents(page: Page) -> tuple[str, str]:
    """The body before and after its contents: they stand before the first heading, and before the first table."""
    parts = [part for part in page.body if part]
    first = f'<h{page.contents[0].level} id="{page.contents[0].id}"' if page.contents else ""
    for n, part in enumerate(parts):
        words, mark, rest = part.partition(first) if first else (part, "", "")
        if mark and not _TABLE.search(words):
            return "\n".join([*parts[:n], words]), "\n".join([mark + rest, *parts[n + 1 :]])
        if _TABLE.search(words):
            return "\n".join(parts[:n]), "\n".join(parts[n:])
    return "\n".join(parts), ""


@functools.cache
def _template() -> jinja2.Template:
    folder = Path(__file__).parent / "templates"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html.j2")


def _code(sources: list[str]) -> str:
    """The code of some cells, folded away."""
    if not any(source.strip() for source in sources):
        return ""
    parts = "".join(f"<pre><code>{html.escape(source)}</code></pre>" for source in sources if source.strip())
    return f'<details class="code"><summary>Code</summary>{parts}</details>'


def _text(page: Page, source: str) -> str:
    """A Markdown cell: its first title becomes the page's, its headings enter the contents."""
    soup = cleaning.clean(markdown.to_html(source), folder=page.folder)
    for heading in soup.find_all(re.compile("^h[1-6]$")):
        if heading.name == "h1" and not page.title:
            page.title = _words(heading)
            heading.decompose()
            continue
        _enter(page, heading)
    for link in soup.find_all("a"):
        link["href"] = f"#{slug(str(link['href']))}"
    return _with_tables(page, soup, {})


def _enter(page: Page, heading: Tag) -> None:
    """Give a heading its own id, and a place in the contents."""
    text = _words(heading)
    wanted, n = slug(text) or "section", 1
    taken = {other.id for other in page.headings}
    identity = wanted
    while identity in taken:
        n += 1
        identity = f"{wanted}-{n}"
    heading["id"] = identity
    page.headings.append(Heading(int(heading.name[1]), identity, text))


def _words(tag: Tag) -> str:
    return " ".join(tag.get_text().split())


def _output(page: Page, output: NotebookNode) -> Iterator[str]:
    """What a reader sees of one output of a cell; nothing of a widget."""
    if output.output_type == "stream":
        if output.name == "stdout" and output.text.strip():
            yield _plain(output.text)
        return
    data = output.get("data", {})
    kind = next((kind for kind in _SHOWN if kind in data), None)
    if kind is not None and WIDGET_VIEW not in data:
        yield _SHOWN[kind](page, data, output.metadata.get(kind, {}), kind)


def _html(page: Page, data: NotebookNode, about: dict[str, Any], kind: str) -> str:
    return _with_tables(page, cleaning.clean(data[kind], folder=page.folder), about.get("costkit", {}))


def _plain(text: str) -> str:
    return f"<pre>{html.escape(_ANSI.sub('', text).rstrip())}</pre>"


def _figure(page: Page, data: NotebookNode, about: dict[str, Any], kind: str) -> str:
    """A numbered picture with its alternative text and caption; its files go beside the page."""
    page.n_figures += 1
    ours = about.get("costkit", {})
    alt = " ".join(str(about.get("alt") or data.get("text/plain", "")).split()) or "A picture without a description."
    name = f"{page.n_figures:02d}-{slug(ours.get('name', '')) or _section(page) or 'figure'}"
    source = _address(data, kind)
    page.figures += [Beside(f"{name}.{end}", content) for end, content in _files(data)]
    size = "".join(f' {side}="{int(about[side])}"' for side in ("width", "height") if side in about)
    wide = ' class="wide"' if int(about.get("width", 0)) > _SCROLLS_FROM else ""
    caption = html.escape(ours.get("caption") or _first_sentence(alt))
    return (
        f'<figure><div class="picture" role="region" tabindex="0" aria-label="Figure {page.n_figures}">'
        f'<img src="{source}" alt="{html.escape(alt)}"{size}{wide}></div>'
        f"<figcaption><b>Figure {page.n_figures}.</b> {caption}</figcaption></figure>"
    )


def _address(data: NotebookNode, kind: str) -> str:
    if kind == "image/svg+xml":
        return cleaning.data_address(kind, data[kind].encode("utf-8"))
    return f"data:{kind};base64,{''.join(data[kind].split())}"


def _files(data: NotebookNode) -> Iterator[tuple[str, bytes]]:
    """A picture's files, by their ending."""
    if "image/svg+xml" in data:
        yield "svg", data["image/svg+xml"].encode("utf-8")
    for kind, end in (("image/png", "png"), ("image/jpeg", "jpg")):
        if kind in data:
            yield end, base64.b64decode(data[kind])


def _section(page: Page) -> str:
    """What a figure or table without a name is called after: the heading above it."""
    return page.headings[-1].id if page.headings else ""


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", text, maxsplit=1)[0]


def _with_tables(page: Page, soup: BeautifulSoup, ours: dict[str, str]) -> str:
    """The markup with its tables numbered and readable, and each one's CSV beside the page."""
    for n, table in enumerate(soup.find_all("table")):
        page.n_tables += 1
        about = ours if n == 0 else {}
        stem = f"{page.n_tables:02d}-{slug(about.get('name', '')) or _section(page) or 'table'}"
        page.tables.append(Beside(f"{stem}.csv", (about.get("csv") or _csv(table)).encode("utf-8")))
        _describe(soup, table, f"Table {page.n_tables}")
    return soup.decode().strip()


def _csv(table: Tag) -> str:
    """The CSV of a table of which only the markup is known: what it shows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([cell.get_text(" ", strip=True) for cell in _cells(row)] for row in table.find_all("tr"))
    return buffer.getvalue()


def _cells(row: Tag) -> list[Tag]:
    return [cell for cell in row.find_all(["th", "td"]) if cell.find_parent("tr") is row]


def _describe(soup: BeautifulSoup, table: Tag, number: str) -> None:
    """Number a table in its caption, say what each heading heads, align numbers, and let a wide one scroll."""
    caption = table.caption or soup.new_tag("caption")
    words = caption.decode_contents()
    caption.clear()
    caption.append(cleaning.clean(f"<span><b>{number}.</b> {words}</span>" if words else f"<b>{number}</b>"))
    table.insert(0, caption.extract())
    for head in table.find_all("th"):
        first_row = head.find_parent("thead") is not None or head.find_parent("tr") is table.find("tr")
        head["scope"] = head.get("scope") or ("col" if first_row else "row")
    for code in table.find_all("code"):
        code.replace_with(cleaning.clean(f"<code>{_BREAKS.sub('<wbr>', html.escape(code.get_text()))}</code>"))
    if not table.find(style=True):
        _align(table)
    table.wrap(soup.new_tag("div", attrs={"class": "table", "role": "region", "tabindex": "0", "aria-label": number}))


def _align(table: Tag) -> None:
    """Numbers to the right, column by column."""
    rows = [_cells(row) for row in table.find_all("tr")]
    body = rows[1:]
    for n, head in enumerate(rows[0] if rows else []):
        column = [row[n] for row in body if len(row) == len(rows[0])]
        if column and all(_NUMERIC.fullmatch(cell.get_text().strip()) for cell in column):
            for cell in (head, *column):
                cell["class"] = "number"


def slug(text: str) -> str:
    """The text as part of a file name or an address.

    >>> slug("How flat is the optimum, at $50,000?")
    'how-flat-is-the-optimum-at-50-000'
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].rstrip("-")


# What a reader sees of an output that comes in several forms: the first that is there.
_SHOWN: dict[str, Callable[[Page, NotebookNode, dict[str, Any], str], str]] = {
    "image/png": _figure,
    "image/jpeg": _figure,
    "image/svg+xml": _figure,
    "text/html": _html,
    "text/markdown": lambda page, data, _, kind: _text(page, data[kind]),
    "text/latex": lambda _page, data, _, kind: f"<p>{markdown.mathml(data[kind].strip('$ '), display=True)}</p>",
    "text/plain": lambda _page, data, _, kind: _plain(data[kind]),
}
