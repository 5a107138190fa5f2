import csv
import functools
import io
import itertools
import math
import re
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from costkit import figures, plan, training
from costkit.figures import Table
from costkit.figures.dollars import round_top
from costkit.panels.views import PageView
from costkit.plan import Page, costing
from costkit.units import usd

GPUS, PRICE, PURCHASE, MFU, GOODPUT = (
    "hardware.n_gpus",
    "hardware.usd_per_gpu_hour",
    "market.purchase",
    "training.mfu",
    "training.goodput_fraction",
)
SITUATIONS: dict[str, tuple[str, dict[str, object]]] = {
    **{name: (name, {}) for name in plan.names()},
    "no MFU": ("case-50k", {MFU: None, GOODPUT: None}),
    "scope": ("mpt-7b", {"scope.ablations_fraction": 2, "scope.data_usd": 5e5, "scope.egress_gb": 1e6}),
    "spot": ("mpt-7b", {PURCHASE: "spot", PRICE: 0.9, "market.node_life_h": 1000}),
    "hopeless": ("llama-3-8b", {PURCHASE: "spot", PRICE: 1.2, "market.node_life_h": 0.01}),
    "deadline": ("mpt-7b", {"market.deadline_days": 12}),
    "million GPUs": ("llama-3-8b", {GPUS: 1_000_000}),
    "one GPU": ("finetune-7b", {GPUS: 1}),
    "B200": ("mpt-7b", {"hardware.gpu": "B200-SXM-180GB", PRICE: 5}),
    "tiny": ("case-50k", {"model.n_params": 6e6, "data.n_tokens": 1e6}),
    "vast": ("case-50k", {"model.n_params": 1e13, "data.n_tokens": 1e15}),
    "far below": ("case-50k", {MFU: 0.001}),
}
DRAWN: dict[str, Callable[[Page], Figure]] = {
    "bill": lambda found: figures.costing.bill(found),  # noqa: PLW0108 - the keyword is not for the caller
    "tornado": figures.costing.tornado,
    "scale": lambda found: figures.costing.scale(costing.fleets(found)),
    "runs": figures.costing.runs,
}
PICTURES = [
    *((name, situation) for name in ("bill", "tornado", "scale") for situation in SITUATIONS),
    *(("runs", situation) for situation in ("case-50k", "llama-3-8b", "B200")),
]
TABLED: dict[str, Callable[[Page], Table]] = {
    "bill": figures.costing.bill_table,
    "facts": figures.costing.facts_table,
    "swings": figures.costing.swings_table,
    "programmes": figures.costing.programmes_table,
    "goodput": figures.costing.goodput_table,
    "hardware": lambda found: figures.costing.hardware_table(costing.hardware(found)),
}
every_picture = pytest.mark.parametrize(("name", "situation"), PICTURES)
every_figure = pytest.mark.parametrize("name", DRAWN)
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


@functools.cache
def answer(situation: str) -> Page:
    """The page of one of the situations, computed once."""
    name, overrides = SITUATIONS[situation]
    return plan.page(plan.read(name, overrides))


@functools.cache
def drawn_once(name: str, situation: str) -> tuple[Figure, bytes]:
    """A picture and its first print."""
    made = DRAWN[name](answer(situation))
    return made, figures.png(made)


def shown(made: Figure) -> list[str]:
    """Every text of a figure that holds something."""
    found = made.findobj(lambda artist: isinstance(artist, Text))
    return [text.get_text() for text in found if isinstance(text, Text) and text.get_text()]


@every_picture
def test_a_picture_has_an_alternative_text(name: str, situation: str) -> None:
    """Its label is at least one whole sentence, without a number that is none."""
    label = str(drawn_once(name, situation)[0].get_label())
    assert (label.endswith("."), re.findall(r"\bnan\b|\binf\b|None(?! of)", label)) == (True, [])


@every_picture
def test_a_title_fits_its_picture(name: str, situation: str) -> None:
    """The finding ends before the right edge."""
    made = drawn_once(name, situation)[0]
    title = next(text for text in made.texts if text.get_fontweight() == "bold")
    assert title.get_window_extent().x1 <= made.bbox.width


@every_picture
def test_no_text_of_a_picture_is_a_number_that_is_none(name: str, situation: str) -> None:
    """Neither nan nor inf is printed."""
    assert [text for text in shown(drawn_once(name, situation)[0]) if re.search(r"\bnan\b|\binf\b", text)] == []


@every_figure
def test_a_picture_gives_the_same_bytes_twice(name: str) -> None:
    """The same answer drawn again and printed again is the same file."""
    assert figures.png(DRAWN[name](answer("mpt-7b"))) == drawn_once(name, "mpt-7b")[1]


@every_situation
def test_the_bill_drawn_again_in_place_is_the_same(situation: str) -> None:
    """A figure that drew another plan before gives the bytes of a fresh one."""
    made = figures.costing.bill(answer("mpt-7b"))
    figures.png(made)
    again = figures.costing.bill(answer(situation), reuse=made)
    assert figures.png(again) == drawn_once("bill", situation)[1]


def test_the_bill_is_drawn_in_place_where_its_axes_hold() -> None:
    """A little more of the same keeps the figure, ten times as much makes a new one."""
    made = figures.costing.bill(answer("mpt-7b"))
    near, far = (plan.page(plan.read("mpt-7b", {PRICE: price})) for price in (2.001, 6.0))
    assert figures.costing.bill(near, reuse=made) is made
    assert figures.costing.bill(far, reuse=made) is not made


def test_the_bars_of_the_bill_are_as_long_as_its_ends() -> None:
    """Each row ends at the low, the middle and the high bill."""
    found = answer("scope")
    (ax,) = drawn_once("bill", "scope")[0].axes
    bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    ends = [max(bar.get_x() + bar.get_width() for bar in bars if round(bar.get_y() + 0.31) == row) for row in range(3)]
    assert ends == pytest.approx([found.usd.low, found.usd.mid, found.usd.high])


def test_a_bill_without_a_range_has_one_bar_and_that_of_others() -> None:
    """The case states MFU and goodput: one bar, and a hollow one at the MFU of published runs."""
    rows = [label.get_text() for label in drawn_once("bill", "case-50k")[0].axes[0].get_yticklabels()]
    assert rows == ["as the plan has it", "at the MFU of\npublished runs like it"]


def test_what_a_published_run_took_is_a_line() -> None:
    """At the plan's price, named."""
    truth = answer("mpt-7b").truth
    assert truth is not None
    assert f"the run took {usd(truth.usd)} at this price" in shown(drawn_once("bill", "mpt-7b")[0])


@every_situation
def test_the_key_of_the_bill_stays_in_the_picture(situation: str) -> None:
    """However many kinds of line there are, their words end before the edge and do not meet."""
    made = drawn_once("bill", situation)[0]
    keys = [text.get_window_extent() for text in made.texts if text.get_fontsize() == figures.style.NORMAL]
    assert all(box.x1 <= made.bbox.width for box in keys)
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(keys))


def test_the_tornado_names_what_moves_the_bill() -> None:
    """Every swing that is drawn stands with its name."""
    found = answer("mpt-7b")
    assert [one.what for one in found.swings[:7]] == [
        label.get_text() for label in drawn_once("tornado", "mpt-7b")[0].axes[0].get_yticklabels()
    ]


def test_the_plan_is_among_the_published_runs_of_its_chip() -> None:
    """On H100 the plan's diamond stands in the right panel, and none where no run is on its chip."""
    texts = [[text.get_text() for text in ax.texts] for ax in drawn_once("runs", "llama-3-8b")[0].axes]
    assert ["this plan" in of_panel for of_panel in texts] == [False, True]
    other = [text.get_text() for ax in drawn_once("runs", "B200")[0].axes for text in ax.texts]
    assert "this plan" not in other


@pytest.mark.parametrize("name", TABLED)
@every_situation
def test_a_table_can_be_written(name: str, situation: str) -> None:
    """Every table has rows, text without nan, and a CSV without infinities where they are unknown."""
    table = TABLED[name](answer(situation))
    assert table.rows or name == "swings"
    assert "nan" not in repr(table).replace("finance", "")
    cells = [cell for row in csv.reader(io.StringIO(table.csv())) for cell in row]
    assert [cell for cell in cells if cell in ("inf", "-inf", "nan")] == []


def test_the_bills_table_ends_with_its_sum() -> None:
    """The last row is the whole bill."""
    rows = figures.costing.bill_table(answer("scope")).rows
    assert rows[-1]["usd_mid"] == pytest.approx(sum(row["usd_mid"] for row in rows[:-1]))


def test_every_anomalous_run_is_named() -> None:
    """No run with an anomaly is left out of the table, and what misses by more than half is in it too."""
    rows = {row["run"] for row in figures.costing.runs_table().rows}
    named = {one.run.name for one in training.anomalous_runs()}
    far = {one.run.name for one in training.scored() if one.factor_error > training.FAR_FACTOR}
    assert rows == named | far


def test_scores_stand_beside_the_planners_of_others() -> None:
    """Three planners for each chip, of rows that were read and of those that were recalled."""
    planners = {row["planner"] for row in figures.costing.scores_table().rows}
    assert planners == {"costkit", "median of other runs", "40% MFU"}


@pytest.mark.parametrize(
    ("value", "top"), [(42_279, 45_000), (999, 1_000), (1_000, 1_000), (0.03, 0.03), (1.2e9, 1.5e9)]
)
def test_an_axis_ends_at_a_round_number(value: float, top: float) -> None:
    """The next half power of ten step above."""
    assert math.isclose(round_top(value), top)


@every_situation
def test_the_panels_picture_is_that_of_the_page(situation: str) -> None:
    """Panel and notebook show the same bytes."""
    view = PageView()
    view(plan.read("mpt-7b"))
    name, overrides = SITUATIONS[situation]
    assert figures.png(view(plan.read(name, overrides)).figure) == drawn_once("bill", situation)[1]


@every_situation
def test_every_fact_of_the_page_has_a_place(situation: str) -> None:
    """The facts and their places go by the same names, in the same order."""
    found = PageView()(plan.read(*SITUATIONS[situation]))
    labels = [label for label, _ in found.facts]
    assert labels == [label for label in found.places if label in labels]
