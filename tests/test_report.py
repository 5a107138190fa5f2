from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import nbformat
import pytest
from bs4 import BeautifulSoup
from bs4.element import Tag

from costkit import plan, report, tables
from costkit.figures import Said, Table
from costkit.report import cleaning, kernel, markdown, notebooks, page, pdf, rendering

OLD_PAGE = "<html><footer>\n<p>Made by costkit 0.1.0 from the notebook <b>01_broken</b>.</p>\n</footer></html>"
HOSTILE = "<img src=x onerror=alert(1)>"
EXTERNAL = re.compile(
    r"""(?:src|href|srcset|action|data|xmlns|poster)\s*=\s*["']?\s*(?:https?:)?//|url\(|@import""", re.IGNORECASE
)

TITLE = "# How much, and *when*?\n\nIt costs \\$5 and then \\$6, see [Hoffmann 2022](https://arxiv.org/abs/2203.15556)."
PARAMETERS = 'plan_file: str = "case-50k"  # a name\noverrides: dict = {}  # e.g. {"hardware.n_gpus": 64}'
IMPORTS = "from matplotlib.figure import Figure\nfrom costkit import figures, plan"
PLAN = """p = plan.read(plan_file, overrides)
figures.Said(f"{p.name} ({p.title}) uses {p.hardware.n_gpus} GPUs for $5 to $6.")"""
PICTURE = """figure = Figure((3, 2), label="Cost falls. It falls fast.")
figure.add_subplot().plot([1, 2], [2, 1])
figures.show(figure, name="cost")"""
TABLE = 'figures.Table([{"gpu": p.title, "usd": 1 / 3}], "costs", caption="What it costs.")'
FRAME = 'import pandas as pd\npd.DataFrame({"model": ["a", "b"], "loss": [2.5, 12.25]})'
OUTPUT_WIDGET = """import ipywidgets as widgets
out = widgets.Output()
with out:
    print("captured")
widgets.VBox([widgets.FloatSlider(), out])"""


def cell(source: str, *tags: str) -> Any:
    """A code cell with tags."""
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})  # type: ignore[no-untyped-call]


def text(source: str) -> Any:
    """A Markdown cell."""
    return nbformat.v4.new_markdown_cell(source)  # type: ignore[no-untyped-call]


def store(path: Path, *cells: Any) -> Path:
    """A notebook of these cells as a file, with ids that do not change."""
    book = nbformat.v4.new_notebook(cells=list(cells))  # type: ignore[no-untyped-call]
    for n, one in enumerate(book.cells):
        one.id = f"cell-{n}"
    path.write_text(nbformat.v4.writes(book), encoding="utf-8")  # type: ignore[no-untyped-call]
    return path


def stand_in(folder: Path) -> Path:
    """A notebook that holds one of everything a report must deal with."""
    return store(
        folder / "01_stand_in.ipynb",
        text(TITLE),
        cell(PARAMETERS, "parameters"),
        cell(IMPORTS),
        cell(PLAN),
        text("## How flat?\n\nFrom $E + A/N^\\alpha$, at $5 or $6.\n\n$$\nL = E\n+ 1\n$$"),
        cell(PICTURE),
        cell(OUTPUT_WIDGET, "panel"),
        text("### In numbers\n\n| a | b |\n|---|---|\n| x | 1 |"),
        cell(TABLE),
        cell(FRAME),
        text("## Where from?"),
        cell(OUTPUT_WIDGET),
        cell("import sys\nprint('said'); print('warned', file=sys.stderr)"),
    )


def hostile_plan(folder: Path) -> Path:
    """The default plan, whose title, name and note are markup."""
    path = folder / "mine.toml"
    plan.replace(plan.read("case-50k"), {"title": HOSTILE, "name": HOSTILE, "note": HOSTILE}).save(path)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A report made from the stand-in notebook and a plan with markup in it, where the installed kernel is broken."""
    folder, broken = tmp_path_factory.mktemp("report"), tmp_path_factory.mktemp("jupyter") / "kernels" / "python3"
    broken.mkdir(parents=True)
    (broken / "kernel.json").write_text('{"argv": ["false"], "display_name": "x", "language": "python"}')
    notebook, assumed = stand_in(folder), hostile_plan(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(broken.parents[1]))
        patch.setattr(kernel, "CELL_TIMEOUT_S", 60)
        files = report.render(notebook, plan=assumed, overrides={"hardware.n_gpus": 64}, out_dir=folder / "out")
    return folder, files


@pytest.fixture
def soup(made: tuple[Path, list[Path]]) -> BeautifulSoup:
    """The page, parsed."""
    return BeautifulSoup(made[1][0].read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting a kernel is an error."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("a kernel was started")

    monkeypatch.setattr(kernel, "run", started)


def found(soup: BeautifulSoup, name: str) -> Tag:
    """The first element of that name, which must be there."""
    tag = soup.find(name)
    assert isinstance(tag, Tag)
    return tag


# ---- the page


def test_the_page_loads_nothing_and_runs_nothing(made: tuple[Path, list[Path]]) -> None:
    """No script, no handler, and no address in anything that a browser fetches."""
    html = made[1][0].read_text(encoding="utf-8")
    tags = BeautifulSoup(html, "html.parser").find_all(True)
    assert EXTERNAL.findall(html) == []
    assert {tag.name for tag in tags} & {"script", "link", "iframe", "object", "embed", "form", "base"} == set()
    assert [name for tag in tags for name in tag.attrs if name.startswith("on")] == []
    assert all(str(tag["href"]).startswith("#") for tag in tags if tag.has_attr("href"))
    assert all(str(tag["src"]).startswith("data:image/") for tag in tags if tag.has_attr("src"))


def test_every_picture_has_its_alternative_text_and_caption(soup: BeautifulSoup) -> None:
    """The figure's label is read aloud in full; its first sentence stands under the picture."""
    assert [image["alt"] for image in soup.find_all("img")] == ["Cost falls. It falls fast."]
    assert found(soup, "figcaption").get_text() == "Figure 1. Cost falls."


def test_the_title_is_the_question_and_the_plan(soup: BeautifulSoup) -> None:
    """A tab, a bookmark and a printed page say which question was asked of which plan."""
    assert found(soup, "title").get_text() == f"How much, and when? – {HOSTILE}"
    assert [h1.get_text() for h1 in soup.find_all("h1")] == ["How much, and when?"]


def test_text_of_a_plan_appears_as_the_text_it_is(soup: BeautifulSoup) -> None:
    """Markup in a plan's title, name and note is shown in head, sentence, table and foot, never obeyed."""
    for name in ("header", "footer", "table"):
        assert HOSTILE in " ".join(tag.get_text() for tag in soup.find_all(name))
    assert f"{HOSTILE} ({HOSTILE}) uses 64 GPUs" in found(soup, "main").get_text()
    assert [image for image in soup.find_all("img") if image.get("src") == "x"] == []


def test_formulas_are_mathml_and_dollars_stay(soup: BeautifulSoup) -> None:
    """Formulas need no script; two amounts in one paragraph are no formula."""
    assert [math["alttext"] for math in soup.find_all("math")] == ["E + A/N^\\alpha", "L = E + 1"]
    assert "at $5 or $6." in found(soup, "main").get_text()
    assert "It costs $5 and then $6" in found(soup, "main").get_text()


def test_sources_are_named_without_a_link(soup: BeautifulSoup) -> None:
    """A paper's number is printed where its link stood."""
    assert "see Hoffmann 2022 (arXiv:2203.15556)." in found(soup, "main").get_text()


def test_code_is_folded_away_and_says_what_ran(soup: BeautifulSoup) -> None:
    """All code is there, closed; the parameters are those of this report, without a folder of this machine."""
    folded = soup.find_all("details")
    assert all("open" not in one.attrs for one in folded)
    assert "plan_file = 'mine.toml'\noverrides = {'hardware.n_gpus': 64}" in folded[0].get_text()
    assert soup.find_all("pre") != []
    assert all(pre.find_parent("details") or pre.get_text() in ("said", "captured") for pre in soup.find_all("pre"))


def test_panels_and_warnings_leave_no_trace(soup: BeautifulSoup) -> None:
    """A panel's cell, a widget's output and standard error are for the live notebook only."""
    words = found(soup, "main").get_text()
    assert "warned" not in words.replace("print('warned', file=sys.stderr)", "")
    assert "VBox(" not in words.replace("widgets.VBox([", "")
    assert words.count("widgets.Output()") == 1


def test_the_page_can_be_found_through_without_eyes(soup: BeautifulSoup) -> None:
    """Language, landmarks, contents that lead to headings, and headings of tables that say what they head."""
    assert found(soup, "html")["lang"] == "en"
    assert all(len(soup.find_all(landmark)) == 1 for landmark in ("main", "header", "footer", "nav", "h1"))
    links = [(str(a["href"]), a.get_text()) for a in found(soup, "nav").find_all("a")]
    assert links == [("#how-flat", "How flat?"), ("#in-numbers", "In numbers"), ("#where-from", "Where from?")]
    assert all(soup.find(id=target[1:]) for target, _ in links)
    assert found(soup, "nav").select_one("ol ol a") is not None
    assert {str(head.get("scope")) for head in soup.find_all("th")} == {"col", "row"}
    assert [caption.get_text() for caption in soup.find_all("caption")] == [
        "Table 1",
        "Table 2. What it costs.",
        "Table 3",
    ]


def test_the_page_says_what_made_it(soup: BeautifulSoup) -> None:
    """A program can tell our pages from others'."""
    made_by = soup.find("meta", attrs={"name": "generator"})
    assert isinstance(made_by, Tag)
    assert str(made_by["content"]).startswith("costkit ")


def test_the_page_says_what_was_changed(soup: BeautifulSoup) -> None:
    """Under a plan's title stand the values that are no longer the plan's own."""
    lines = [line.get_text() for line in found(soup, "header").find_all("p")]
    assert lines[:2] == [f"Plan: {HOSTILE}", "Changed: GPUs 64 (was 32)."]


def test_a_changed_text_is_escaped_and_no_change_is_not_mentioned(tmp_path: Path) -> None:
    """What an override holds of markup is shown; a plan as it stands has no such line."""
    (tmp_path / HOSTILE).write_text("params,tokens,loss", encoding="utf-8")
    plan.read("case-50k").save(tmp_path / "mine.toml")
    base = plan.read(tmp_path / "mine.toml")
    changed = plan.replace(base, {"data.runs": HOSTILE})
    read = page.Page(tmp_path)
    text = rendering._write_page(read, changed, "x", plan.changes(base, changed))
    assert "<b>Changed:</b> Own runs &lt;img src=x onerror=alert(1)&gt; (was not set)." in text
    assert "Changed:" not in rendering._write_page(read, base, "x", plan.changes(base, base))


def test_contents_stand_between_the_answer_and_the_first_table(tmp_path: Path) -> None:
    """A reader sees the answer, then what is on the page, and only then long tables."""
    cells = [
        text("# Why?\n\nWords."),
        output(Said("It is $5.", ["But <i>beware</i>."])),
        output(Table([{"x": 1}], "t")),
    ]
    book = nbformat.v4.new_notebook(cells=[*cells, text("## How?"), text("## Where?")])  # type: ignore[no-untyped-call]
    base = plan.read("case-50k")
    soup = BeautifulSoup(rendering._write_page(page.read(book, folder=tmp_path), base, "x", []), "html.parser")
    order = [tag.name for tag in found(soup, "main").find_all(["p", "ul", "nav", "table", "h2"]) if not _in_nav(tag)]
    assert order == ["p", "p", "ul", "nav", "table", "h2", "h2"]
    assert found(soup, "ul")["class"] == ["notes"]
    assert found(soup, "ul").get_text() == "But <i>beware</i>."


def _in_nav(tag: Tag) -> bool:
    return tag.find_parent("nav") is not None


def output(value: Any) -> Any:
    """A code cell that has shown the value."""
    shown = nbformat.v4.new_output(  # type: ignore[no-untyped-call]
        "execute_result", data={"text/html": value._repr_html_()}
    )
    return nbformat.v4.new_code_cell("x", outputs=[shown])  # type: ignore[no-untyped-call]


# ---- the files


def test_everything_stands_beside_the_page(made: tuple[Path, list[Path]]) -> None:
    """The page, the plan, a CSV for every table and two files for every figure: nothing else is left behind."""
    folder, files = made
    assert [str(file.relative_to(folder / "out")) for file in files] == [
        "01_stand_in.html",
        "01_stand_in/figures/01-cost.png",
        "01_stand_in/figures/01-cost.svg",
        "01_stand_in/plan.toml",
        "01_stand_in/tables/01-in-numbers.csv",
        "01_stand_in/tables/02-costs.csv",
        "01_stand_in/tables/03-in-numbers.csv",
    ]
    assert sorted(path for path in (folder / "out").rglob("*") if path.is_file()) == sorted(files)
    assert sorted(path.name for path in folder.iterdir()) == ["01_stand_in.ipynb", "mine.toml", "out"]


def test_a_table_keeps_its_full_precision(made: tuple[Path, list[Path]]) -> None:
    """The page rounds; the CSV holds the number that was computed."""
    with made[1][5].open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["gpu", "usd"], [HOSTILE, str(1 / 3)]]


def test_a_plain_data_frame_has_its_csv_too(made: tuple[Path, list[Path]]) -> None:
    """Of a table that we know only as markup, the CSV holds what it shows."""
    with made[1][6].open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["", "model", "loss"], ["0", "a", "2.50"], ["1", "b", "12.25"]]


def test_figures_are_whole_pictures(made: tuple[Path, list[Path]]) -> None:
    """The PNG is the page's own picture; the SVG is well formed and carries the alternative text."""
    assert made[1][1].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.parse(made[1][2]).getroot()  # noqa: S314 - our own file
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Cost falls. It falls fast."


def test_the_effective_plan_reads_back(made: tuple[Path, list[Path]]) -> None:
    """The plan beside the page is the one that was asked for, overrides included."""
    folder, files = made
    assert plan.read(files[3]) == plan.read(folder / "mine.toml", {"hardware.n_gpus": 64})


def test_the_same_plan_gives_the_same_bytes(made: tuple[Path, list[Path]]) -> None:
    """A second run over the first replaces every file by an equal one."""
    folder, files = made
    before = [file.read_bytes() for file in files]
    again = report.render(
        folder / "01_stand_in.ipynb",
        plan=folder / "mine.toml",
        overrides={"hardware.n_gpus": 64},
        out_dir=folder / "out",
    )
    assert again == files
    assert [file.read_bytes() for file in again] == before


@pytest.mark.skipif(not any(map(shutil.which, pdf.BROWSERS)), reason="no Chromium or Chrome on PATH")
def test_a_browser_prints_the_page(made: tuple[Path, list[Path]], tmp_path: Path) -> None:
    """The PDF is a PDF, and nothing else is written."""
    printed = pdf.write(made[1][0], tmp_path / "page.pdf")
    assert printed.read_bytes()[:5] == b"%PDF-"
    assert list(tmp_path.iterdir()) == [printed]


def test_without_a_browser_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a PDF and has no browser is told so in one sentence."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        report.ReportError, match=r"^no Chromium or Chrome on PATH .*or print .*a\.html from any browser\.$"
    ):
        pdf.write(tmp_path / "a.html", tmp_path / "a.pdf")
    assert list(tmp_path.iterdir()) == []


# ---- what goes wrong


@pytest.fixture
def old_report(tmp_path: Path) -> Iterator[Path]:
    """An earlier report, which must survive whatever happens."""
    old = tmp_path / "out" / "01_broken"
    (old / "tables").mkdir(parents=True)
    (old / "plan.toml").write_text("old", encoding="utf-8")
    old.with_name("01_broken.html").write_text(OLD_PAGE, encoding="utf-8")
    yield tmp_path
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == [
        "01_broken",
        "01_broken.html",
        "plan.toml",
        "tables",
    ]
    assert old.with_name("01_broken.html").read_text(encoding="utf-8") == OLD_PAGE


def test_a_failing_cell_is_named_and_leaves_the_old_report(old_report: Path) -> None:
    """The error says which cell failed, under which heading, and why; what stood there stands there still."""
    notebook = store(
        old_report / "01_broken.ipynb",
        text("# Why?\n\n## How flat?"),
        cell(PARAMETERS, "parameters"),
        cell('raise ValueError("the budget is too small.\\nSecond line")'),
        cell(PICTURE),
    )
    with pytest.raises(report.ReportError) as caught:
        report.render(notebook, out_dir=old_report / "out")
    assert str(caught.value) == "01_broken stopped at cell 3, under 'How flat?': ValueError: the budget is too small."


def test_a_notebook_without_a_picture_makes_no_report(old_report: Path) -> None:
    """A run that succeeds and shows nothing is a failure, not an empty report."""
    notebook = store(old_report / "01_broken.ipynb", text("# Why?"), cell(PARAMETERS, "parameters"))
    with pytest.raises(report.ReportError, match=r"^01_broken ran, but showed no figure"):
        report.render(notebook, out_dir=old_report / "out")


def test_a_dead_kernel_is_named(tmp_path: Path) -> None:
    """A cell that kills its kernel is named like one that raises, and leaves no folder behind."""
    notebook = store(
        tmp_path / "01_dead.ipynb", text("# Why?"), cell(PARAMETERS, "parameters"), cell("import os; os._exit(9)")
    )
    with pytest.raises(report.ReportError, match=r"^01_dead stopped at cell 3, under 'Why\?': its kernel died"):
        report.render(notebook, out_dir=tmp_path / "new" / "out")
    assert not (tmp_path / "new").exists()


def strangers(folder: Path) -> None:
    """Files of somebody else's, under the names that a report would take."""
    for name in (
        "a_file",
        "foreign/01_stand_in/thesis.txt",
        "paper/01_stand_in/figures/01-cost.png",
        "mixed/01_stand_in/figures/me.png",
        "mixed/01_stand_in/plan.toml",
        "file/01_stand_in",
        "page/01_stand_in.html",
        "page_folder/01_stand_in.html/index.html",
        "pdf/01_stand_in.pdf",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>mine</p>", encoding="utf-8")


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.parametrize(
    ("asked", "error", "sentence"),
    [
        ({"plan": "case-50"}, tables.UnknownName, "Did you mean 'case-50k'?"),
        ({"overrides": {"hardware.n_gpu": 1}}, plan.PlanError, "Did you mean 'hardware.n_gpus'?"),
        ({"overrides": {"hardware.n_gpus": -1}}, plan.PlanError, "hardware.n_gpus"),
        ({"out_dir": "a_file"}, report.ReportError, "cannot write a report into"),
        ({"out_dir": "a_file/below"}, report.ReportError, "cannot write a report into"),
        ({"out_dir": "foreign"}, report.ReportError, "holds 'thesis.txt', which no report wrote"),
        ({"out_dir": "paper"}, report.ReportError, "holds 'figures', which no report wrote"),
        ({"out_dir": "mixed"}, report.ReportError, "holds 'figures/me.png', which no report wrote"),
        ({"out_dir": "file"}, report.ReportError, "01_stand_in is there already, and no report wrote it"),
        ({"out_dir": "page"}, report.ReportError, "01_stand_in.html is there already, and no report wrote it"),
        ({"out_dir": "page_folder"}, report.ReportError, "01_stand_in.html is there already, and no report wrote it"),
        ({"out_dir": "pdf", "pdf": True}, report.ReportError, "01_stand_in.pdf is there already, and no report"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    tmp_path: Path, asked: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    """A misspelt plan or key, or a place where nothing can be written, costs no kernel and changes no file."""
    notebook = stand_in(tmp_path)
    strangers(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error, match=re.escape(sentence)) as caught:
        report.render(notebook, **{**asked, "out_dir": tmp_path / asked.get("out_dir", "out")})
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("no_kernel")
def test_a_notebook_that_takes_no_plan_is_refused(tmp_path: Path) -> None:
    """Without a parameters cell the report would silently be about another plan."""
    notebook = store(tmp_path / "01_x.ipynb", cell('plan_file = "case-50k"', "parameters"), cell(PICTURE))
    with pytest.raises(report.ReportError, match="tagged 'parameters' that sets overrides"):
        report.render(notebook, out_dir=tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff\xfe", b'{"nbformat": 4}', b'{"nbformat": 4, "cells": [1]}', b"[1]", b"print(1)"]
)
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, content: bytes) -> None:
    """Whatever a file holds, the error is one sentence with its path."""
    path = tmp_path / "odd.ipynb"
    path.write_bytes(content)
    with pytest.raises(report.ReportError, match=r"odd\.ipynb is no notebook that can be read: [^\n]+\.$"):
        notebooks.load(path)


@pytest.fixture
def workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workbook of two notebooks, in place of ours."""
    for name in ("01_chinchilla_frontier", "02_spot_savings"):
        store(tmp_path / f"{name}.ipynb", text("# Why?"))
    monkeypatch.setattr(tables, "folder", lambda _: tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["01", "1", "01_chinchilla_frontier", "01_chin"])
def test_a_notebook_is_found_by_the_beginning_of_its_name(workbook: Path, name: str) -> None:
    """The number is enough."""
    assert report.find(name) == workbook / "01_chinchilla_frontier.ipynb"


@pytest.mark.parametrize(
    ("name", "near"), [("01_chinchila_frontier", "01_chinchilla_frontier"), ("0", "02_spot_savings"), ("", "Known: 01")]
)
def test_an_unknown_notebook_gets_the_nearest_names(workbook: Path, name: str, near: str) -> None:
    """A misspelt, ambiguous or empty name is answered with names that exist."""
    assert workbook.is_dir()
    with pytest.raises(tables.UnknownName, match=near):
        report.find(name)


def test_a_path_that_is_not_there_gets_its_neighbours(workbook: Path) -> None:
    """A mistyped path is answered with a notebook of that folder."""
    with pytest.raises(tables.UnknownName, match="Did you mean"):
        report.find(workbook / "01_chinchilla_frontie.ipynb")


# ---- formulas, cleaning, page


@pytest.mark.parametrize(
    "money",
    [
        "$5 and $6",
        "($5) or ($6)",
        "US$50,000 to US$11,800",
        "$50k–$60k",
        "from $5/h, to $6/h",
        "$5\nand $6",
        r"\$5 and x\$ more",
        "`$x$`",
    ],
)
def test_money_is_no_formula(money: str) -> None:
    """Amounts, escaped dollars and code stay text."""
    assert "<math" not in markdown.to_html(money)


@pytest.mark.parametrize(
    "formula", ["$6ND$", "$N^\\alpha$ and $D$", "$$L$$", "- a\n- $x$", "$$\na\n+ b\n$$", "| $x$ |\n|---|"]
)
def test_formulas_are_read(formula: str) -> None:
    """Inline, displayed, in lists and in tables."""
    assert "<math" in markdown.to_html(formula)


@pytest.mark.parametrize(
    "markup",
    [
        HOSTILE,
        "<script>alert(1)</script>",
        "<svg onload=alert(1)>",
        "<p onclick=alert(1)>x</p>",
        "<a href='javascript:alert(1)'>x</a>",
        "<iframe src=//x.y></iframe>",
        "<!--><img src=x onerror=alert(1)>-->",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        '<img src="data:text/html,x">',
        "<p style='background:url(//x.y)'>x</p>",
        markdown.mathml(r"\text{<img src=x onerror=alert(1)>}"),
        markdown.mathml(r"\href{https://x.y}{z}"),
    ],
)
def test_nothing_that_runs_or_loads_passes_the_cleaning(markup: str) -> None:
    """Whatever markup a notebook's output holds, the page neither runs nor fetches it."""
    tags = BeautifulSoup(cleaning.clean(markup).decode(), "html.parser").find_all(True)
    assert {tag.name for tag in tags} <= {"p", "math", "mrow", "mtext", "mi"}
    assert {name for tag in tags for name in tag.attrs} <= {"alttext", "display"}


def test_a_picture_beside_the_notebook_is_embedded(tmp_path: Path) -> None:
    """A Markdown picture of the notebook's own folder travels along; one from outside it does not."""
    (tmp_path / "nb").mkdir()
    for place in (tmp_path / "nb" / "a.png", tmp_path / "b.png"):
        place.write_bytes(b"picture")
    inside = cleaning.clean('<img src="a.png" alt="A">', folder=tmp_path / "nb")
    outside = cleaning.clean('<img src="../b.png" alt="B">', folder=tmp_path / "nb")
    assert found(inside, "img")["src"] == "data:image/png;base64,cGljdHVyZQ=="
    assert outside.find("img") is None


def test_headings_of_the_same_words_get_addresses_of_their_own(tmp_path: Path) -> None:
    """Contents lead to the heading that they name."""
    book = nbformat.v4.new_notebook(cells=[text("## Why?\n\n## Why?"), text("# Late title")])  # type: ignore[no-untyped-call]
    read = page.read(book, folder=tmp_path)
    assert [(heading.id, heading.text) for heading in read.contents] == [("why", "Why?"), ("why-2", "Why?")]


def test_only_a_picture_that_is_wide_scrolls(tmp_path: Path) -> None:
    """On a narrow screen a wide picture keeps a size at which it can be read; a small one needs none."""
    shown = [
        nbformat.v4.new_output(  # type: ignore[no-untyped-call]
            "display_data", data={"image/png": "AAAA"}, metadata={"image/png": {"width": width, "height": 9}}
        )
        for width in (300, 1040)
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=shown)])  # type: ignore[no-untyped-call]
    images = BeautifulSoup("".join(page.read(book, folder=tmp_path).body), "html.parser").find_all("img")
    assert [image.get("class") for image in images] == [None, ["wide"]]


def test_numbers_of_a_plain_table_stand_to_the_right(tmp_path: Path) -> None:
    """A column of numbers lines up; a column of words does not."""
    book = nbformat.v4.new_notebook(cells=[text("| a | b |\n|---|---|\n| x | $5 |\n| y | 6.5e9 |")])  # type: ignore[no-untyped-call]
    cells = BeautifulSoup("".join(page.read(book, folder=tmp_path).body), "html.parser").find_all("td")
    assert [cell.get("class") for cell in cells] == [None, ["number"], None, ["number"]]


# ---- what a notebook shows


def test_a_sentence_may_hold_any_number_of_dollars() -> None:
    """JupyterLab and GitHub read `$..$` in HTML as a formula unless its element says that it holds none."""
    assert Said("$5 < $6")._repr_html_() == '<p class="said mathjax_ignore tex2jax_ignore">$5 &lt; $6</p>'


def test_a_table_escapes_its_cells() -> None:
    """Text of a plan in a table is text."""
    assert HOSTILE not in Table([{"x": HOSTILE}], "t")._repr_html_()


def test_a_table_of_no_rows_still_has_its_head() -> None:
    """An empty answer is a table with headings, on the page and in the CSV."""
    table = Table([], "t", columns={"gpu": "GPU"})
    assert (repr(table), table.csv()) == ("GPU", "gpu\n")


def test_a_live_notebook_stores_no_copies() -> None:
    """CSV and SVG travel only in a report's kernel: committed notebooks hold what they show."""
    data, metadata = Table([{"x": 1}], "t")._repr_mimebundle_()
    assert (sorted(data), metadata) == (["text/html", "text/plain"], {})


# ---- committed notebooks


def test_a_notebook_is_kept_without_traces_of_its_run(tmp_path: Path) -> None:
    """Outputs, ids and tags stay; run times, widget state and widget links go; a second run changes nothing."""
    path = stand_in(tmp_path)
    assert not report.normalise(path)
    stored = path.read_text(encoding="utf-8")
    book = json.loads(stored)
    assert report.normalise(path, check=True)
    assert path.read_text(encoding="utf-8") == stored
    assert set(book["metadata"]) == {"kernelspec", "language_info"}
    assert "version" not in book["metadata"]["language_info"]
    assert [one["id"] for one in book["cells"]] == [f"cell-{n}" for n in range(13)]
    assert book["cells"][1]["metadata"] == {"tags": ["parameters"]}
    assert book["cells"][2]["metadata"] == {}
    assert [one["execution_count"] for one in book["cells"] if "execution_count" in one] == list(range(1, 10))
    outputs = [output for one in book["cells"] for output in one.get("outputs", [])]
    assert "image/png" in {kind for output in outputs for kind in output.get("data", {})}
    assert not any(notebooks.WIDGET_VIEW in output.get("data", {}) for output in outputs)


def test_the_check_writes_nothing(tmp_path: Path) -> None:
    """Asked only whether a notebook is in order, we leave it as it is."""
    path = stand_in(tmp_path)
    before = path.read_bytes()
    assert not report.normalise(path, run=False, check=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_importing_the_report_loads_nothing_heavy() -> None:
    """What runs and reads notebooks loads with the first report, not with `import costkit`."""
    code = (
        "import sys; from costkit import report; print({'papermill', 'bs4', 'mistune', 'nbformat'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_a_plan_is_named_so_that_the_notebook_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and tokens pass as they are; a path is made absolute, as the notebook runs in its own folder."""
    monkeypatch.chdir(tmp_path)
    token = plan.read("case-50k").token()
    assert [rendering._anywhere(given) for given in ("case-50k", token, "mine.toml")] == [
        "case-50k",
        token,
        str(tmp_path / "mine.toml"),
    ]


@pytest.mark.slow
def test_the_workbook_renders_under_a_law_without_a_loss(tmp_path: Path) -> None:
    """What such a law can't say is said in its place; the report is whole."""
    files = report.render("01", overrides={"training.law": "kaplan-2020"}, out_dir=tmp_path)
    assert "Kaplan et al. 2020 gives the best size but predicts no loss" in files[0].read_text(encoding="utf-8")
