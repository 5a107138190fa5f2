from __future__ import annotations

import csv
import functools
import io
import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from costkit import figures, plan, spot, tables
from costkit.figures import Table, style
from costkit.figures.buying.intervals import expected_usd
from costkit.panels.views import SpotView
from costkit.plan import Savings, buying
from costkit.units import DAY, HOUR, duration, percent, usd

GPUS, TOKENS, DISCOUNT = "hardware.n_gpus", "data.n_tokens", "market.spot_discount_fraction"
LIFE, BURST, LAW, WAIT = "market.node_life_h", "market.burst_nodes", "market.life_law", "market.capacity_wait_min"
NOTICES, ELASTIC, FAILURES = "market.notice_reliability_fraction", "market.elastic", "market.failures_per_gpu_day"
TRACE, HISTORY, DEADLINE, PURCHASE = "market.trace", "market.price_history", "market.deadline_days", "market.purchase"
EVERY, WRITE, RESTART = (f"training.{name}_min" for name in ("checkpoint_every", "checkpoint_write", "restart"))
FILES = (TRACE, HISTORY)
STEP_S = 300

Overrides = dict[str, object]
SITUATIONS: dict[str, tuple[str, Overrides]] = {
    **{name: (name, {}) for name in plan.names()},
    "16384 GPUs": ("llama-3-8b", {GPUS: 16384, LIFE: 1000}),
    "no checkpoints": ("case-50k", {EVERY: math.inf}),
    "hopeless": ("case-50k", {LIFE: 0.1, DEADLINE: 30}),
    "seconds": ("case-50k", {LIFE: 0.002}),
    "seconds with notices": ("case-50k", {LIFE: 0.01, NOTICES: 1.0}),
    "on the edge": ("case-50k", {LIFE: 1.5}),
    "dearer": ("case-50k", {DISCOUNT: -0.5}),
    "almost free": ("case-50k", {DISCOUNT: 0.999}),
    "reserved": ("case-50k", {PURCHASE: "commit_3y", GPUS: 1}),
    "elastic": ("case-50k", {ELASTIC: True, BURST: 2.5}),
    "survivors": ("case-50k", {"market.keeps_survivors": True}),
    "weibull": ("case-50k", {LAW: "weibull", "market.weibull_shape": 0.3}),
    "bathtub": ("case-50k", {LAW: "bathtub", "market.first_hour_free": True}),
    "many failures": ("case-50k", {FAILURES: 1.0}),
    "nothing is lost": ("case-50k", {FAILURES: 0.0, LIFE: 1e6}),
    "deadline met": ("case-50k", {DEADLINE: 40}),
    "deadline missed": ("case-50k", {DEADLINE: 22}),
    "deadline shorter than the run": ("case-50k", {DEADLINE: 5}),
    "write longer than the interval": ("case-50k", {EVERY: 5, WRITE: 10}),
    "interval longer than the run": ("gpt2-124m-one-node", {EVERY: 1000}),
    "nothing to write": ("case-50k", {WRITE: 0}),
    "notices": ("case-50k", {NOTICES: 1.0}),
    "every loss on notice": ("case-50k", {NOTICES: 1.0, FAILURES: 0.0}),
    "long restarts": ("case-50k", {RESTART: 600}),
    "a minute": ("case-50k", {TOKENS: 1e6}),
    "own trace": ("finetune-7b", {TRACE: "market.csv"}),
    "priced trace": ("finetune-7b", {TRACE: "market.json", DEADLINE: 1}),
    "short trace": ("case-50k", {TRACE: "short.csv"}),
    "prices": ("case-50k", {HISTORY: "prices.csv"}),
}
POLICED = (*plan.names(), "hopeless", "deadline missed", "own trace", "priced trace", "short trace", "a minute")
decided = functools.cache(buying.policies)
DRAWN: dict[str, Callable[[Savings], Figure]] = {
    "bill": lambda found: figures.buying.bill(found),  # noqa: PLW0108 - the keyword is not for the caller
    "parts": figures.buying.parts,
    "intervals": figures.buying.intervals,
    "map": figures.buying.map,
    "policies": lambda found: figures.buying.policies(decided(found)),
}
PICTURES = [
    (name, situation)
    for name, situation in itertools.product(DRAWN, SITUATIONS)
    if name != "policies" or situation in POLICED
]
every_picture = pytest.mark.parametrize(("name", "situation"), PICTURES)
every_figure = pytest.mark.parametrize("name", DRAWN)
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of markets and prices."""
    made = tmp_path_factory.mktemp("markets")
    rng, seen = np.random.default_rng(3), [1]
    while len(seen) < 30 * DAY / STEP_S:
        seen += [4] * (1 + int(rng.exponential(60))) + [0] * (1 + int(rng.exponential(12)))
    rows = [f"{STEP_S * i},{n}\n" for i, n in enumerate(seen)]
    market = {
        "metadata": {"gap_seconds": STEP_S},
        "data": seen,
        "prices": [1.0 + i // 288 % 2 for i in range(len(seen))],
    }
    (made / "market.csv").write_text("time_s,available\n" + "".join(rows))
    (made / "short.csv").write_text("time_s,available\n" + "".join(rows[:900]))
    (made / "market.json").write_text(json.dumps(market))
    prices = [
        f"us-east-1a,{price},2026-01-{day:02d}T00:00:00Z\n" for day, price in ((1, 2.5), (3, 5.0), (6, 2.0), (9, 2.0))
    ]
    (made / "prices.csv").write_text("zone,usd_per_hour,timestamp\n" + "".join(prices))
    return made


def savings(overrides: Overrides | None = None, name: str = "case-50k") -> Savings:
    """The answer to a packaged plan with overrides."""
    return plan.savings(plan.read(name, overrides))


@functools.cache
def answer(situation: str, folder: Path) -> Savings:
    """The answer to one of the situations, computed once."""
    name, overrides = SITUATIONS[situation]
    return savings({key: str(folder / str(value)) if key in FILES else value for key, value in overrides.items()}, name)


@functools.cache
def drawn_once(name: str, situation: str, folder: Path) -> tuple[Figure, bytes]:
    """A picture and its first print."""
    made = DRAWN[name](answer(situation, folder))
    return made, figures.png(made)


def picture(name: str, situation: str, folder: Path) -> Figure:
    """A picture to look at, drawn once and printed once."""
    return drawn_once(name, situation, folder)[0]


@functools.cache
def boxes(made: Figure) -> list[tuple[str, Bbox]]:
    """Every text that a reader sees, and where it stands."""
    renderer = made.canvas.get_renderer()  # type: ignore[attr-defined]
    shown = [text for text in texts(made) if text.get_visible() and not _is_clipped(text, renderer)]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown]


def texts(made: Figure) -> list[Text]:
    """Every text of a figure that holds something."""
    found: list[Any] = made.findobj(Text)
    return [text for text in found if text.get_text().strip()]


def _is_clipped(text: Text, renderer: Any) -> bool:
    return isinstance(text, Annotation) and not text._check_xy(renderer)  # type: ignore[attr-defined]


def title(made: Figure) -> str:
    """The title of a figure."""
    return made.texts[0].get_text()


def points(line: Line2D) -> tuple[list[float], list[float]]:
    """The x and the y of a line."""
    return np.asarray(line.get_xdata(), float).tolist(), np.asarray(line.get_ydata(), float).tolist()


def curve(made: Figure) -> tuple[list[float], list[float]]:
    """The x and the y of the one line of many points."""
    (found,) = [line for line in made.axes[0].lines if len(points(line)[0]) > 100]
    return points(found)


def dots(made: Figure, axes: int = 0) -> list[tuple[float, float]]:
    """Where the filled markers of some axes stand."""
    lines = [line for line in made.axes[axes].lines if line.get_marker() == "o"]
    return [one for line in lines for one in zip(*points(line), strict=True)]


def places(made: Figure, axes: int, color: str) -> list[float]:
    """Where the lines of a colour stand along the first axis."""
    return [points(line)[0][0] for line in made.axes[axes].lines if line.get_color() == color]


@every_picture
def test_a_picture_of_spot_is_a_png_of_its_size(name: str, situation: str, folder: Path) -> None:
    """Whatever the plan, it prints, without a warning."""
    made, printed = drawn_once(name, situation, folder)
    width, height = (round(100 * inches) for inches in made.get_size_inches())
    assert printed[:4] == b"\x89PNG"
    assert (int.from_bytes(printed[16:20], "big"), int.from_bytes(printed[20:24], "big")) == (width, height)


@pytest.mark.parametrize(("name", "situation"), [one for one in PICTURES if one[1] in POLICED])
def test_a_picture_of_spot_is_an_svg_with_its_title(name: str, situation: str, folder: Path) -> None:
    """It can be printed large, and printing leaves nothing behind in it."""
    made = picture(name, situation, folder)
    assert f"<!-- {title(made)} -->" in figures.svg(made)


@every_picture
def test_a_picture_of_spot_has_an_alternative_text(name: str, situation: str, folder: Path) -> None:
    """Its label is at least one whole sentence, without a number that is none."""
    label = str(picture(name, situation, folder).get_label())
    assert re.fullmatch(r"[A-Z].*[.?]", label)
    assert re.findall(r"\bnan\b|\binf\b|None(?! of)|  |\n", label) == []


@every_picture
def test_no_text_leaves_a_picture_of_spot(name: str, situation: str, folder: Path) -> None:
    """Titles, labels and ticks are within the edges."""
    made = picture(name, situation, folder)
    out = [
        text
        for text, box in boxes(made)
        if min(box.x0, box.y0) < -0.5 or box.x1 > made.bbox.width + 0.5 or box.y1 > made.bbox.height + 0.5
    ]
    assert out == []


@every_picture
def test_no_text_of_spot_lies_on_another(name: str, situation: str, folder: Path) -> None:
    """Whatever the plan, every word can be read."""
    over = [
        (text, other)
        for (text, box), (other, its) in itertools.combinations(boxes(picture(name, situation, folder)), 2)
        if min(box.x1, its.x1) - max(box.x0, its.x0) > 1 and min(box.y1, its.y1) - max(box.y0, its.y0) > 1.5
    ]
    assert over == []


@every_picture
def test_tick_labels_of_spot_differ(name: str, situation: str, folder: Path) -> None:
    """Two places of one axis never carry the same label."""
    axes = picture(name, situation, folder).axes
    labels = [[label.get_text() for label in axis.get_ticklabels()] for ax in axes for axis in (ax.xaxis, ax.yaxis)]
    shown = [[text for text in names if text] for names in labels]
    assert [len(set(names)) for names in shown] == [len(names) for names in shown]


@every_picture
def test_a_title_of_spot_holds_no_number_that_is_none(name: str, situation: str, folder: Path) -> None:
    """The finding is words and finite numbers."""
    text = title(picture(name, situation, folder))
    assert text[0].isupper() or text[0].isdigit()
    assert re.findall(r"\bnan\b|\binf\b|None(?! of)|unlimited|\.$", text) == []


@every_figure
def test_a_picture_of_spot_gives_the_same_bytes_twice(name: str, folder: Path) -> None:
    """The same answer drawn again and printed again is the same file, pixels and drawing."""
    again = DRAWN[name](answer("finetune-7b", folder))
    made, printed = drawn_once(name, "finetune-7b", folder)
    assert figures.png(again) == printed
    assert figures.svg(again) == figures.svg(made)


@every_figure
def test_a_picture_of_spot_printed_again_is_the_same(name: str, folder: Path) -> None:
    """Printing, as pixels or as SVG, leaves nothing behind in the figure."""
    made, printed = drawn_once(name, "finetune-7b", folder)
    figures.svg(made)
    assert figures.png(made) == printed


@every_figure
def test_no_dollar_sign_of_spot_starts_a_formula(name: str, folder: Path) -> None:
    """Amounts are printed as they are, two of them in one text too."""
    risky = [text.get_text() for text in texts(picture(name, "case-50k", folder)) if text.get_parse_math()]
    assert [text for text in risky if re.search(r"(?<!\\)\$", text)] == []


# The bill.


@every_situation
def test_the_label_of_the_bill_says_all(situation: str, folder: Path) -> None:
    """Headline, parts and every warning are in the words for who cannot see the picture."""
    found, label = answer(situation, folder), str(picture("bill", situation, folder).get_label())
    assert [text for text in (found.headline, found.where_it_goes, *found.warnings) if text not in label] == []


@every_situation
def test_the_dots_of_the_bill_are_the_middle_runs(situation: str, folder: Path) -> None:
    """One over the dollars and one over the days, where the axes reach so far."""
    found, made = answer(situation, folder), picture("bill", situation, folder)
    if not found.finishes:
        assert dots(made) == dots(made, 1) == []
        return
    unit_s = DAY if found.job.ideal_s >= 2 * DAY else HOUR
    for axes, value in ((0, found.usd.mid), (1, found.wall_s.mid / unit_s)):
        ((x, _),) = dots(made, axes)
        assert x == pytest.approx(min(value, 2 * made.axes[axes].get_xlim()[1]))


@every_situation
def test_the_break_even_is_the_bill_on_demand(situation: str, folder: Path) -> None:
    """The line over the dollars stands at the mean bill, within the axis."""
    found, made = answer(situation, folder), picture("bill", situation, folder)
    (even,) = places(made, 0, style.INK)
    assert even == pytest.approx(found.on_demand_usd)
    assert 0 < even < made.axes[0].get_xlim()[1]


@pytest.mark.parametrize("situation", ["deadline met", "deadline missed", "deadline shorter than the run"])
def test_a_deadline_stands_at_its_day(situation: str, folder: Path) -> None:
    """In red over the finishes, and only where the plan names one."""
    assert places(picture("bill", situation, folder), 1, style.RED) == [SITUATIONS[situation][1][DEADLINE]]
    assert places(picture("bill", "case-50k", folder), 1, style.RED) == []


@every_situation
def test_bars_of_the_bill_lie_where_its_runs_do(situation: str, folder: Path) -> None:
    """From the cheapest to the dearest run within the axis, none higher than the tallest."""
    found, ax = answer(situation, folder), picture("bill", situation, folder).axes[0]
    shapes = [one for one in ax.collections if isinstance(one, PolyCollection)]
    corners = np.concatenate([path.vertices for shape in shapes for path in shape.get_paths()])
    assert float(corners[:, 1].max()) == pytest.approx(1.0)
    cheapest = float(found.on_demand.usd.min())
    if found.outcomes is not None and found.outcomes.finished.any():
        cheapest = min(cheapest, float(found.outcomes.usd[found.outcomes.finished].min()))
    width = ax.get_xlim()[1] / 240
    assert float(corners[:, 0].min()) == pytest.approx(cheapest, abs=1.01 * width)


@every_situation
def test_the_axes_of_the_bill_start_at_nothing(situation: str, folder: Path) -> None:
    """Distances are savings."""
    assert [ax.get_xlim()[0] for ax in picture("bill", situation, folder).axes] == [0, 0]


def test_the_axes_of_the_bill_stand_still_while_a_slider_moves(folder: Path) -> None:
    """From a discount of 40% to one of 90%, and from notices to none, the scale stays."""
    some: list[Overrides] = [{DISCOUNT: 0.4}, {DISCOUNT: 0.9}, {NOTICES: 0.5}, {NOTICES: 1.0}]
    limits = {tuple(ax.get_xlim() for ax in figures.buying.bill(savings(one)).axes) for one in some}
    assert limits == {tuple(ax.get_xlim() for ax in picture("bill", "case-50k", folder).axes)}


CONTROLS: dict[str, tuple[object, ...]] = {
    DISCOUNT: (-0.5, 0.0, 0.3, 0.6, 0.9),
    LIFE: (0.5, 2.0, 12.0, 24.0, 500.0),
    BURST: (1.0, 2.0, 4.0),
    EVERY: (5.0, 20.0, 60.0, 1440.0, math.inf),
    RESTART: (1.0, 10.0, 90.0),
    WAIT: (0.0, 30.0, 1440.0),
    DEADLINE: (None, 19.0, 30.0),
    NOTICES: (0.0, 0.5, 1.0),
    LAW: ("exponential", "weibull", "bathtub"),
    PURCHASE: ("on_demand", "commit_1y"),
}


def walk(n_steps: int = 30) -> list[Savings]:
    """Answers as a reader's hand would reach them: one control at a time, to any of its places."""
    rng, overrides, found = np.random.default_rng(11), dict[str, object](), []
    for _ in range(n_steps):
        key = list(CONTROLS)[int(rng.integers(len(CONTROLS)))]
        overrides[key] = CONTROLS[key][int(rng.integers(len(CONTROLS[key])))]
        found.append(savings(overrides))
    return found


def test_a_bill_used_again_gives_the_bytes_of_a_fresh_one() -> None:
    """Along a random walk of thirty changes the moving layer over a kept still one is the whole picture."""
    made: Figure | None = None
    same, kept = [], 0
    for found in walk():
        before, made = made, figures.buying.bill(found, reuse=made)
        kept += made is before
        same.append(figures.png(made) == figures.png(figures.buying.bill(found)))
    assert (same, kept > 5) == ([True] * 30, True)


def test_a_bill_is_used_again_where_its_axes_hold() -> None:
    """A little more or less discount is drawn into the same figure, another number of tokens is not."""
    made = figures.buying.bill(savings())
    assert figures.buying.bill(savings({DISCOUNT: 0.55}), reuse=made) is made
    assert figures.buying.bill(savings({TOKENS: 10e9}), reuse=made) is not made


def test_a_stranger_s_figure_is_not_used_for_the_bill() -> None:
    """A figure that another picture made is left as it is."""
    stranger = figures.fitting.phases(plan.footprint(plan.read("case-50k")))
    label = stranger.get_label()
    assert figures.buying.bill(savings(), reuse=stranger) is not stranger
    assert stranger.get_label() == label


def test_what_moves_in_a_bill_is_taken_off_before_it_is_drawn_anew() -> None:
    """A figure used ten times holds no more artists than a fresh one."""
    found = savings({DEADLINE: 25})
    made = figures.buying.bill(found)
    fresh = len(made.findobj())
    for _ in range(10):
        made = figures.buying.bill(found, reuse=made)
    assert len(made.findobj()) == fresh


def test_the_spot_panel_s_view_is_the_picture(folder: Path) -> None:
    """Panel, notebook and report print the same bytes for the same plan."""
    view = SpotView()
    for discount in (0.5, 0.6):
        shown = view(plan.read("case-50k", {DISCOUNT: discount}))
    assert figures.png(shown.figure) == drawn_once("bill", "case-50k", folder)[1]


# The parts.


def bars(made: Figure) -> list[Rectangle]:
    """The bars of a picture, in order."""
    return [patch for patch in made.axes[0].patches if isinstance(patch, Rectangle)]


@every_situation
def test_the_bars_of_the_parts_are_the_parts(situation: str, folder: Path) -> None:
    """Each stands on the one before; the last two are both bills."""
    found, made = answer(situation, folder), picture("parts", situation, folder)
    parts = [amount for amount in found.parts_usd().values() if amount]
    heights = [bar.get_height() for bar in bars(made)]
    whole = [sum(parts)] if parts else []
    assert heights == pytest.approx([*parts, *whole, found.on_demand_usd])
    starts = [0.0, *itertools.accumulate(parts)][: len(parts)]
    assert [bar.get_y() for bar in bars(made)][: len(parts)] == pytest.approx(starts)


@every_situation
def test_every_bar_is_within_the_axes_of_the_parts(situation: str, folder: Path) -> None:
    """There is room above the tallest for its number."""
    made = picture("parts", situation, folder)
    top = max(max(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars(made))
    assert top < made.axes[0].get_ylim()[1]


@pytest.mark.parametrize("situation", ["case-50k", "bathtub", "survivors", "reserved"])
def test_the_label_of_the_parts_names_each(situation: str, folder: Path) -> None:
    """With its dollars, and the other bill."""
    found, label = answer(situation, folder), str(picture("parts", situation, folder).get_label())
    told = [f"{name} {usd(amount)}" for name, amount in found.parts_usd().items() if amount]
    assert [part for part in (*told, usd(found.on_demand_usd)) if part not in label] == []


# The intervals.


def has_curve(found: Savings) -> bool:
    """Whether some interval within the run is best, and the run saved at it is not hopeless."""
    best, market = found.best_interval_s, found.market
    if not 0 < best < found.job.work_s:
        return False
    segments = found.job.work_s / best
    losses = float(
        spot.mean_losses(
            segment_s=best + found.job.checkpoint_write_s,
            mean_life_s=market.loss_life_s,
            restart_s=found.restart_s,
            notice_success=market.notice_success * market.preempted_fraction,
        )
    )
    paid_s = segments * losses * (market.loss_life_s + market.notice_s * market.preempted_fraction)
    return paid_s / HOUR * market.spot_usd_per_hour <= 100 * found.on_demand_usd


def test_pictures_of_the_intervals_are_of_both_kinds(folder: Path) -> None:
    """Most situations have a curve; a run that is too short, hopeless or free to save has a sentence."""
    without = [name for name in SITUATIONS if not has_curve(answer(name, folder))]
    assert without == [
        "llama-3-1-405b",
        "llama-3-8b",
        "hopeless",
        "seconds",
        "seconds with notices",
        "nothing to write",
        "every loss on notice",
        "a minute",
    ]


@every_situation
def test_the_intervals_frame_the_best(situation: str, folder: Path) -> None:
    """The axis reaches well below and above it, and its line is green."""
    best, made = answer(situation, folder).best_interval_s, picture("intervals", situation, folder)
    if has_curve(answer(situation, folder)):
        (left, right), at = made.axes[0].get_xlim(), math.log10(best)
        assert left + 1 < at < right - 1
        assert places(made, 0, style.GREEN) == [pytest.approx(at)]


@every_situation
def test_the_curve_of_the_intervals_is_least_at_the_best(situation: str, folder: Path) -> None:
    """The expected bill has its bottom where the exact optimum says."""
    best = answer(situation, folder).best_interval_s
    if has_curve(answer(situation, folder)):
        x, y = curve(picture("intervals", situation, folder))
        assert x[y.index(min(y))] == pytest.approx(math.log10(best), abs=0.02)


@pytest.mark.parametrize("situation", ["case-50k", "finetune-7b", "deadline met", "notices", "many failures"])
def test_the_curve_of_the_intervals_meets_the_simulated_bill(situation: str, folder: Path) -> None:
    """At the plan's own interval the expected bill of the machines is the mean of the simulated ones."""
    found = answer(situation, folder)
    assert found.outcomes is not None
    expected = float(expected_usd(found, np.array(found.job.checkpoint_every_s)))
    assert expected == pytest.approx(float(found.outcomes.machine_usd.mean()), rel=0.015)


@pytest.mark.parametrize("situation", ["elastic", "weibull", "bathtub", "own trace"])
def test_a_market_without_a_closed_form_is_simulated_at_a_few_intervals(situation: str, folder: Path) -> None:
    """They stand beside the line as dots of another colour, and the heading says so."""
    made = picture("intervals", situation, folder)
    orange = [line for line in made.axes[0].lines if line.get_color() == style.ORANGE]
    assert sum(len(points(line)[0]) for line in orange) >= 3
    assert any("simulated" in text for text, _ in boxes(made))


@every_situation
def test_where_no_interval_is_best_the_picture_says_so(situation: str, folder: Path) -> None:
    """It holds the sentence instead of a curve, and only there."""
    found, made = answer(situation, folder), picture("intervals", situation, folder)
    texts_shown = [" ".join(text.split()) for text, _ in boxes(made)]
    assert (found.how_often_to_save in texts_shown) == (not has_curve(found))
    assert bool(made.axes[0].lines[:]) == has_curve(found)


# The map.


@every_situation
def test_the_map_marks_the_plan(situation: str, folder: Path) -> None:
    """Its own mean life and price, at the edge where they lie beyond it."""
    found, ax = answer(situation, folder), picture("map", situation, folder).axes[0]
    (left, right), (_, top) = ax.get_xlim(), ax.get_ylim()
    life = found.market.loss_life_s
    x = right if math.isinf(life) else min(max(math.log10(life), left), right)
    assert dots(picture("map", situation, folder)) == [pytest.approx((x, min(found.market.price_ratio, top)))]


@every_situation
def test_the_break_even_of_the_map_rises(situation: str, folder: Path) -> None:
    """The longer machines live the less of a discount is needed, up to the whole price."""
    _, even = curve(picture("map", situation, folder))
    assert [here for here, there in itertools.pairwise(even) if there < here - 1e-9] == []
    assert 0 <= even[0] <= even[-1] <= 1


def test_the_break_even_of_the_map_is_the_one_that_is_told(folder: Path) -> None:
    """Where the line crosses the plan's price is the mean life of the sentence."""
    found = answer("case-50k", folder)
    logs, even = curve(picture("map", "case-50k", folder))
    least = spot.break_even_life_s(
        price_ratio=found.market.price_ratio,
        checkpoint_write_s=found.job.checkpoint_write_s,
        restart_s=found.restart_s,
    )
    assert float(np.interp(found.market.price_ratio, even, logs)) == pytest.approx(math.log10(least), abs=0.01)
    assert duration(least) in found.where_it_pays


def test_measured_zones_stand_on_the_map(folder: Path) -> None:
    """A tick for every V100 zone whose life is known, as four nodes would see it."""
    (line,) = [one for one in picture("map", "case-50k", folder).axes[0].lines if one.get_color() == style.PURPLE]
    lives = [
        math.log10(min(zone.burst_nodes, 4) / 4 * zone.mean_life_s)
        for zone in spot.measured_markets()
        if zone.gpu.startswith("V100") and math.isfinite(zone.mean_life_s)
    ]
    assert sorted(points(line)[0]) == pytest.approx(sorted(lives))


# The policies.


@pytest.mark.parametrize("situation", ["case-50k", "finetune-7b", "deadline missed", "own trace", "priced trace"])
def test_each_policy_has_its_dot(situation: str, folder: Path) -> None:
    """At its mean bill, the dearest at the bottom; the best one in blue, one later than on demand in red."""
    found, made = decided(answer(situation, folder)), picture("policies", situation, folder)
    ordered = sorted(found.outcomes, key=lambda one: -one.mean_usd)
    assert dots(made) == [pytest.approx((one.mean_usd, y)) for y, one in enumerate(ordered)]
    colors = [line.get_color() for line in made.axes[0].lines if line.get_marker() == "o"]
    late = [one.clearly_late_fraction > found.on_demand.late_fraction for one in ordered]
    assert [color == style.RED for color in colors] == late
    assert [one.policy for one, color in zip(ordered, colors, strict=True) if color == style.BLUE] == (
        [found.best.policy] if found.best else []
    )


def test_machines_on_demand_are_not_said_to_save() -> None:
    """Where they are the cheapest that keep the deadline the title says so, and tells no saving of 0%."""
    found = buying.policies(savings({LIFE: 4}))
    assert found.best is found.on_demand
    assert [text for text in (title(figures.buying.policies(found)), found.sentence) if "0%" in text.split()] == []


def test_policies_that_were_not_tried_are_a_sentence(folder: Path) -> None:
    """A trace that is too short gives the reason in the picture."""
    made = picture("policies", "short trace", folder)
    assert any("less than the deadline" in text for text, _ in boxes(made))


# Tables.

TABLES: dict[str, Callable[[Savings], Table]] = {
    "percentiles": figures.buying.percentiles_table,
    "parts": figures.buying.parts_table,
    "derived": figures.buying.derived_table,
    "checks": figures.buying.checks_table,
    "scenarios": lambda found: figures.buying.scenarios_table(buying.scenarios(found)),
    "policies": lambda found: figures.buying.policies_table(decided(found)),
    "markets": lambda _: figures.buying.markets_table(),
    "buckets": lambda _: figures.buying.buckets_table(),
    "failures": lambda _: figures.buying.failures_table(),
    "quotes": lambda found: figures.buying.quotes_table(found.plan.hardware.gpu),
}


@pytest.mark.parametrize("situation", ["case-50k", "qlora-7b-t4", "hopeless", "own trace", "short trace"])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_spot_prints_and_exports(name: str, situation: str, folder: Path) -> None:
    """It has a caption and rows, prints as text and HTML, and its CSV reads back whole, without a hole."""
    made = TABLES[name](answer(situation, folder))
    assert (bool(made.caption), bool(made.rows)) == (True, True)
    assert len(list(csv.DictReader(io.StringIO(made.csv())))) == len(made.rows)
    for text in (repr(made), made._repr_html_(), made.csv()):
        assert re.findall(r"\bnan\b|\binf\b|\bNone\b|unlimited", text) == []


def test_the_percentiles_are_those_of_the_answer(folder: Path) -> None:
    """The table's CSV holds the rows at full precision."""
    found = answer("case-50k", folder)
    rows = list(csv.DictReader(io.StringIO(figures.buying.percentiles_table(found).csv())))
    assert [float(row["spot_usd"]) for row in rows] == [row["spot_usd"] for row in found.rows()]


@pytest.mark.parametrize("situation", ["case-50k", "bathtub", "survivors"])
def test_the_shares_of_the_parts_sum_to_one(situation: str, folder: Path) -> None:
    """A credit is a share below nothing."""
    rows = figures.buying.parts_table(answer(situation, folder)).rows
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)


def test_the_table_of_checks_says_which_market_it_is_of(folder: Path) -> None:
    """Where the plan's own has no closed form it is one like it."""
    captions = [figures.buying.checks_table(answer(name, folder)).caption for name in ("case-50k", "weibull")]
    assert ["like its own" in caption for caption in captions] == [False, True]


def test_the_table_of_failures_is_that_of_the_data() -> None:
    """Each run that told of its failures has its row, per 1,000 GPU-days."""
    rows = figures.buying.failures_table().rows
    (llama,) = [row for row in rows if row["run"] == "llama-3-405b"]
    assert len(rows) == len(tables.rows("hardware_failures.csv"))
    assert llama["per_1000"] == pytest.approx(1000 * 419 / (16384 * 54))


def test_quotes_stand_in_order_of_price() -> None:
    """The cheapest zone first; of a GPU that nobody sells on spot the table says so."""
    prices = [row["usd_per_gpu_hour"] for row in figures.buying.quotes_table("A100-SXM4-80GB").rows]
    assert prices == sorted(prices)
    sold = {quote.gpu for quote in tables.quotes(purchase="spot")}
    other = next(gpu for gpu in tables.gpus() if gpu not in sold)
    assert f"no spot price of {other} is known here" in repr(figures.buying.quotes_table(other))


def test_the_titles_are_findings(folder: Path) -> None:
    """Each holds the number that its picture is about."""
    found = answer("case-50k", folder)
    policies = decided(found)
    assert policies.best is not None
    best = duration(found.best_interval_s)
    wanted = {
        "bill": percent(found.saving_fraction.mid),
        "parts": "buys useful work",
        "intervals": best,
        "map": "from a mean life of",
        "policies": percent(policies.best.saving_fraction),
    }
    assert [name for name, text in wanted.items() if text not in title(picture(name, "case-50k", folder))] == []
