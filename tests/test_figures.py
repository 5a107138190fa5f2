import dataclasses
import functools
import io
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from PIL import Image

from costkit import claims, figures, plan, scaling, tables
from costkit.figures import style
from costkit.figures.layers import Layered
from costkit.panels.views import FrontierView
from costkit.plan import Frontier, sizing
from costkit.units import count

Draw = Callable[[Frontier], Figure]

SITUATIONS: dict[str, dict[str, object]] = {
    "budget": {},
    "target": {"training.target_loss": 2.1},
    "smaller": {"training.size_fraction": 0.5},
    "served": {"data.inference_tokens": 1e13},
    "limited": {"data.unique_tokens": 1e10},
    "both": {"data.inference_tokens": 1e13, "data.unique_tokens": 1e10},
    "far": {"training.budget_usd": 1e8},
    "tiny": {"training.budget_usd": 100.0},
    "beyond the axes": {"training.budget_usd": 1e11, "model.n_params": 2e13, "data.n_tokens": 2e15},
    "no draws": {"training.law": "sardana-2024"},
    "range of sizes": {"training.law": "muennighoff-2023"},
    "frontier only": {"training.law": "deepseek-2024"},
    "frontier only, range of sizes": {"training.law": "kaplan-2020"},
}


@functools.cache
def answered(items: tuple[tuple[str, Any], ...]) -> Frontier:
    """The answer to the default plan with these overrides, computed once."""
    return plan.frontier(plan.read("case-50k", dict(items)))


def answer(overrides: dict[str, object] | None = None) -> Frontier:
    """The answer to the default plan with overrides."""
    return answered(tuple((overrides or {}).items()))


@functools.cache
def example() -> sizing.OwnRuns:
    """The example's runs and their fit."""
    return sizing.own_runs(answer().plan)


def drawn(make: Callable[..., Figure], *given: object) -> Figure:
    """A picture, of its type."""
    return make(*given)


DRAWN: dict[str, Draw] = {
    "map": lambda found: drawn(figures.frontier.map, found),
    "serving": lambda found: drawn(figures.frontier.serving, sizing.serving(found)),
    "data_limit": lambda found: drawn(figures.frontier.data_limit, sizing.data_limit(found)),
    "doubt": lambda found: drawn(figures.frontier.doubt, sizing.doubt(found)),
    "own_runs": lambda _: drawn(figures.frontier.own_runs, example()),  # the same under every plan
}
FEWER = ("budget", "both", "far", "range of sizes")
PICTURES = [
    *(("map", situation) for situation in SITUATIONS),
    *((name, situation) for name in ("serving", "data_limit", "doubt") for situation in FEWER),
    ("doubt", "frontier only, range of sizes"),  # a law without a loss can say nothing of serving or repeated data
    ("own_runs", "budget"),
]
every_picture = pytest.mark.parametrize(("name", "situation"), PICTURES)
every_figure = pytest.mark.parametrize("name", DRAWN)
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


@functools.cache
def drawn_once(name: str, situation: str) -> tuple[Figure, bytes]:
    """A picture and its first print."""
    made = DRAWN[name](answer(SITUATIONS[situation]))
    return made, figures.png(made)


def picture(name: str, situation: str) -> Figure:
    """A picture to look at, drawn once and printed once."""
    return drawn_once(name, situation)[0]


def printed(name: str) -> bytes:
    """The first print of the default plan's picture."""
    return drawn_once(name, "budget")[1]


@functools.cache
def vector(name: str) -> str:
    """The default plan's picture as SVG, saved once."""
    return figures.svg(picture(name, "budget"))


def texts(made: Figure) -> list[Text]:
    """Every text of a figure that holds something."""
    found = made.findobj(lambda artist: isinstance(artist, Text))
    return [text for text in found if isinstance(text, Text) and text.get_text()]


def title(made: Figure) -> str:
    """The title of a figure."""
    return made.texts[0].get_text()


def markers(ax: Axes, marker: str) -> list[tuple[float, float]]:
    """Where lone markers of this form stand."""
    lines = [line for line in ax.lines if line.get_marker() == marker and len(np.asarray(line.get_xdata())) == 1]
    return [point(line) for line in lines]


def point(line: Line2D) -> tuple[float, float]:
    """Where a line of one point stands."""
    return float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])


def hatches(ax: Axes) -> list[tuple[float, float]]:
    """The lower left corners of hatched regions, in the units of the axes."""
    corners = [patch.get_window_extent().p0 for patch in ax.patches if patch.get_hatch()]
    return [(float(x), float(y)) for x, y in (ax.transData.inverted().transform(corner) for corner in corners)]


def beyond(name: str, law: scaling.Law, ax: Axes) -> list[tuple[float, float]]:
    """Where the region without runs has to begin: past the law's compute, else past its sizes where these are drawn."""
    end, most = np.log10(law.flop_range[1]), np.log10(law.n_params_range[1])
    if np.isfinite(end):
        return [(float(end), ax.get_ylim()[0])]
    return [(ax.get_xlim()[0], float(most))] if np.isfinite(most) and name == "map" else []


@every_picture
def test_a_picture_has_an_alternative_text(name: str, situation: str) -> None:
    """Its label is at least one whole sentence, without a number that is none."""
    label = str(picture(name, situation).get_label())
    assert (label.endswith("."), re.findall(r"\bnan\b|\binf\b|None", label)) == (True, [])


@every_figure
def test_a_picture_gives_the_same_bytes_twice(name: str) -> None:
    """The same answer drawn again and printed again is the same file."""
    again = DRAWN[name](answer(SITUATIONS["budget"]))
    assert figures.png(again) == printed(name)


@every_figure
def test_a_picture_printed_again_is_the_same(name: str) -> None:
    """Printing leaves nothing behind in the figure."""
    assert figures.png(picture(name, "budget")) == printed(name)


@every_figure
def test_a_picture_as_svg_is_the_same_twice(name: str) -> None:
    """No date and no random identifier."""
    assert figures.svg(DRAWN[name](answer(SITUATIONS["budget"]))) == vector(name)


@every_figure
def test_a_vector_picture_leaves_the_pixels_alone(name: str) -> None:
    """Saving SVG between two prints changes neither."""
    assert (bool(vector(name)), figures.png(picture(name, "budget")) == printed(name)) == (True, True)


@every_figure
def test_a_vector_picture_holds_its_title(name: str) -> None:
    """The finding is drawn in the SVG too, and not only named in its metadata."""
    assert f"<!-- {title(picture(name, 'budget'))} -->" in vector(name)


def test_a_vector_picture_holds_what_moves() -> None:
    """The SVG of the map names the chosen size, the plan's own and the flat zone beside their marks."""
    texts = ("3.15B", "the plan: 3.00B", "$50,000")
    assert [text for text in texts if f"<!-- {text} -->" not in vector("map")] == []


@every_figure
def test_a_picture_has_its_size_in_pixels(name: str) -> None:
    """1,040 by 460, whatever is in it: no tight bounding box."""
    assert Image.open(io.BytesIO(printed(name))).size == (1040, 460)


@pytest.mark.parametrize(("name", "situation"), [one for one in PICTURES if one[0] != "map"])
def test_the_label_starts_with_the_title(name: str, situation: str) -> None:
    """Who hears the picture hears its finding first."""
    made = picture(name, situation)
    assert str(made.get_label()).startswith(title(made))


@every_situation
def test_the_title_of_the_map_is_the_finding(situation: str) -> None:
    """It states the chosen size and tokens."""
    found = answer(SITUATIONS[situation])
    text = title(picture("map", situation))
    parts = [count(float(found.choice.n_params)), count(float(found.choice.n_tokens))]
    assert [part for part in parts if part not in text] == []


@every_situation
def test_the_label_of_the_map_is_the_headline_and_the_plan(situation: str) -> None:
    """With every warning that goes with the answer."""
    found = answer(SITUATIONS[situation])
    label = str(picture("map", situation).get_label())
    assert [part for part in (found.headline, *found.warnings) if part not in label] == []


@every_picture
def test_a_title_fits_its_picture(name: str, situation: str) -> None:
    """The finding ends before the right edge."""
    made = picture(name, situation)
    assert made.texts[0].get_window_extent().x1 <= made.bbox.width


@every_situation
def test_the_choice_lies_at_its_compute_and_size(situation: str) -> None:
    """The blue marker stands at log10(6ND) and log10(N)."""
    found = answer(SITUATIONS[situation])
    N, D = float(found.choice.n_params), float(found.choice.n_tokens)
    assert markers(picture("map", situation).axes[0], "o")[-1] == pytest.approx((np.log10(6 * N * D), np.log10(N)))


@every_situation
def test_the_plan_lies_at_its_compute_and_size(situation: str) -> None:
    """The red diamond stands at the plan's own log10(6ND) and log10(N)."""
    found = answer(SITUATIONS[situation])
    N, D = found.plan.model.n_params, found.plan.data.n_tokens
    assert markers(picture("map", situation).axes[0], "D") == [pytest.approx((np.log10(6 * N * D), np.log10(N)))]


@every_situation
def test_both_markers_lie_on_the_map(situation: str) -> None:
    """The axes widen for what would fall off them."""
    ax = picture("map", situation).axes[0]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    points = [markers(ax, "o")[-1], *markers(ax, "D")]
    assert [left <= x <= right and low <= y <= high for x, y in points] == [True, True]


@pytest.mark.parametrize("overrides", [{}, {"training.budget_usd": 2e5}, {"data.inference_tokens": 1e13}])
def test_the_axes_of_the_map_stand_still(overrides: dict[str, object]) -> None:
    """A plan that lies on the usual map does not move it."""
    ax = figures.frontier.map(answer(overrides)).axes[0]
    assert (ax.get_xlim(), ax.get_ylim()) == ((18.0, 27.0), (7.0, 13.0))


def test_published_models_lie_at_their_compute_and_size() -> None:
    """The grey dots are the table of models, each at log10 of 6ND and N."""
    line = picture("map", "budget").axes[0].lines[0]
    models = tables.published_models()
    expected = np.log10([6 * model.n_active_params * model.n_tokens for model in models])
    assert np.asarray(line.get_xdata()) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "situation"), [one for one in PICTURES if one[0] in ("map", "doubt")])
def test_what_no_run_supports_is_hatched(name: str, situation: str) -> None:
    """From the most compute behind the law to the right edge, or from the largest model up where it states no more."""
    ax, law = picture(name, situation).axes[0], answer(SITUATIONS[situation]).law
    assert hatches(ax) == [pytest.approx(corner, abs=1e-9) for corner in beyond(name, law, ax)]


@pytest.mark.parametrize(("name", "situation"), [one for one in PICTURES if one[0] in ("map", "doubt")])
def test_what_no_run_supports_is_named(name: str, situation: str) -> None:
    """The hatched region has its words where there is one, and they are absent where there is none."""
    ax, law = picture(name, situation).axes[0], answer(SITUATIONS[situation]).law
    named = "beyond the runs behind the law" in [text.get_text() for text in texts(picture(name, situation))]
    assert named == bool(beyond(name, law, ax))


def test_a_law_that_states_no_range_has_nothing_hatched() -> None:
    """Neither compute nor sizes are bounded then."""
    found = answer()
    law = dataclasses.replace(found.law, flop_range=(0.0, np.inf), n_params_range=(0.0, np.inf))
    assert hatches(figures.frontier.map(dataclasses.replace(found, law=law)).axes[0]) == []


def test_many_epochs_are_named_on_the_map() -> None:
    """Limited data has its region, with its own number of tokens."""
    found = [text.get_text() for text in texts(picture("map", "limited"))]
    assert "more than 16 epochs of 10B tokens" in found


@pytest.mark.parametrize("situation", ["budget", "served", "both", "target"])
def test_the_flat_zone_is_drawn_where_it_is(situation: str) -> None:
    """The green band spans the sizes that cost at most 1% more, as multiples of the best."""
    found = answer(SITUATIONS[situation])
    assert found.quality is not None
    ax = picture("map", situation).axes[1]
    (zone,) = [patch for patch in ax.patches if np.isclose(patch.get_alpha() or 0, 0.18)]
    spans = np.unique(np.round(np.asarray(zone.get_path().vertices, float)[:, 0], 9)).tolist()
    expected = [np.log10(float(end.n_params) / float(found.optimum.n_params)) for end in found.quality.flat_zone]
    assert spans == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("situation", ["budget", "served", "limited", "both"])
def test_the_band_of_the_map_holds_its_frontier(situation: str) -> None:
    """Uncertainty is always drawn where it is known."""
    heading = [text.get_text() for text in texts(picture("map", situation))]
    assert "Best size for every amount of compute (band: middle 80% of refits)" in heading


def test_a_law_without_refits_says_so_on_the_map() -> None:
    """No band is no certainty."""
    heading = [text.get_text() for text in texts(picture("map", "no draws"))]
    assert "Best size for every amount of compute (no refits of this law are known)" in heading


@every_figure
def test_a_dollar_sign_is_no_formula(name: str) -> None:
    """A law whose name holds dollar signs is printed as it is named: no text of a picture is set as mathematics."""
    found = answer()
    law = dataclasses.replace(found.law, title="$x^2$ of $1")
    made = DRAWN[name](dataclasses.replace(found, law=law))
    figures.png(made)
    risky = [text for text in texts(made) if re.search(r"(?<!\\)\$.*(?<!\\)\$", text.get_text())]
    assert [text.get_text() for text in risky if text.get_parse_math()] == []


def test_ticks_hold_dollars() -> None:
    """The dollar amounts of an axis are escaped once, so that they read as dollars."""
    ax = picture("serving", "budget").axes[1]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert {label[:2] for label in labels} == {r"\$"}


@every_picture
def test_tick_labels_differ(name: str, situation: str) -> None:
    """Two places of one axis never carry the same label."""
    axes = picture(name, situation).axes
    labels = [[label.get_text() for label in axis.get_ticklabels()] for ax in axes for axis in (ax.xaxis, ax.yaxis)]
    assert [len(set(names)) for names in labels] == [len(names) for names in labels]


def walk(n_steps: int) -> list[dict[str, object]]:
    """Plans as a reader's hand would reach them, one control moved at a time, there and back."""
    rng = np.random.default_rng(11)
    moves: dict[str, list[object]] = {
        "training.budget_usd": [2e3, 5e4, 1e6, 1e8, 1e10],
        "data.inference_tokens": [0.0, 1e11, 1e13],
        "data.unique_tokens": [1e10, 1e12, float("inf")],
        "training.size_fraction": [0.7, 1.0, 2.0],
        "training.law": ["besiroglu-2024", "refit-245", "muennighoff-2023", "sardana-2024"],
        "model.n_params": [3e9, 7e10, 2e13],
    }
    plans, now = [], dict[str, object]()
    for _ in range(n_steps):
        key = str(rng.choice(list(moves)))
        now = {**now, key: moves[key][int(rng.integers(len(moves[key])))]}
        plans.append(now)
    return plans


def test_a_figure_used_again_gives_the_bytes_of_a_fresh_one() -> None:
    """Along a random walk of plans the moving layer over a kept still layer is the whole picture, to the last byte."""
    made: Figure | None = None
    same = []
    for overrides in walk(8):
        found = plan.frontier(plan.read("case-50k", overrides))
        made = figures.frontier.map(found, reuse=made)
        same.append(figures.png(made) == figures.png(figures.frontier.map(found)))
    assert same == [True] * 8


def test_a_figure_is_used_again_where_its_axes_hold() -> None:
    """Another budget on the same map is drawn into the same figure."""
    made = figures.frontier.map(answer())
    assert figures.frontier.map(answer({"training.budget_usd": 2e5}), reuse=made) is made


def test_a_figure_is_not_used_again_for_another_range() -> None:
    """A law of another fitted range needs another still layer."""
    made = figures.frontier.map(answer())
    assert figures.frontier.map(answer({"training.law": "muennighoff-2023"}), reuse=made) is not made


def test_a_stranger_s_figure_is_not_used() -> None:
    """A figure that the map did not make is left as it is."""
    stranger = Figure(label="mine")
    assert (figures.frontier.map(answer(), reuse=stranger) is stranger, stranger.get_label()) == (False, "mine")


def test_what_moves_is_taken_off_before_it_is_drawn_anew() -> None:
    """A figure used twenty times holds no more artists than a fresh one."""
    made = figures.frontier.map(answer())
    fresh = len(made.findobj())
    for _ in range(20):
        made = figures.frontier.map(answer(), reuse=made)
    assert len(made.findobj()) == fresh


def test_a_layered_figure_draws_what_moves_over_what_stands() -> None:
    """A moving line covers a still one, whatever their order of depth."""
    made = Layered((1, 1), "test")
    ax = made.add_axes((0, 0, 1, 1))
    ax.axhline(0.5, color="red", linewidth=20, zorder=10)
    made.move(ax.axhline(0.5, color="blue", linewidth=20, zorder=1))
    pixels = np.asarray(Image.open(io.BytesIO(figures.png(made))))
    assert pixels[50, 50].tolist() == [0, 0, 255]


def test_a_cleared_figure_holds_only_what_stands() -> None:
    """What was marked as moving is gone."""
    made = Layered((1, 1), "test")
    ax = made.add_axes((0, 0, 1, 1))
    made.move(ax.axhline(0.5))
    made.clear_moving()
    assert (len(ax.lines), made.moving) == (0, [])


def test_the_panel_s_view_is_the_picture() -> None:
    """Panel, notebook and report print the same bytes for the same plan."""
    view = FrontierView()
    for budget in (1e5, 50_000.0):
        shown = view(plan.read("case-50k", {"training.budget_usd": budget}))
    assert figures.png(shown.figure) == figures.png(figures.frontier.map(answer({"training.budget_usd": 50_000.0})))


def test_two_views_do_not_share_a_figure() -> None:
    """Each panel draws into its own."""
    plans = plan.read("case-50k")
    assert FrontierView()(plans).figure is not FrontierView()(plans).figure


@pytest.mark.parametrize("situation", ["budget", "range of sizes"])
def test_the_doubt_names_every_law(situation: str) -> None:
    """Each law of the table has its row at the plan's compute."""
    labels = picture("doubt", situation).axes[1].get_yticklabels()
    assert len({label.get_text() for label in labels}) == len(tables.rows("scaling_laws.csv"))


def test_the_doubt_s_finding_counts_only_laws_that_were_fitted_there() -> None:
    """Where no law's runs reach, the title claims no spread."""
    far = "; none was fitted there"
    ends = {situation: title(picture("doubt", situation)).endswith(far) for situation in ("budget", "far")}
    assert ends == {
        "budget": False,
        "far": all(one.outside for one in sizing.doubt(answer(SITUATIONS["far"])).opinions),
    }


@pytest.mark.parametrize("name", ["serving", "data_limit"])
@pytest.mark.parametrize("situation", ["frontier only", "frontier only, range of sizes"])
def test_a_law_without_a_loss_has_a_picture_that_says_so(name: str, situation: str) -> None:
    """No axes, a title that says what the law can't say, and the reason as alternative text: a report still renders."""
    made = DRAWN[name](answer(SITUATIONS[situation]))
    assert (made.axes, "can't say" in title(made), "no loss" in str(made.get_label())) == ([], True, True)


def test_made_up_runs_are_called_so() -> None:
    """Nobody takes the example for their own: its title says what it is, and that of one's own runs does not."""
    own = figures.frontier.own_runs(dataclasses.replace(example(), is_example=False))
    assert title(picture("own_runs", "budget")) == f"Example (made up): {title(own)}"


def test_runs_that_give_no_law_get_a_picture_that_says_so() -> None:
    """The title says that they determine nothing, the label says why."""
    own = example()
    refused = dataclasses.replace(own.fit, identifiable=False, warnings=("Because.",))
    made = figures.frontier.own_runs(dataclasses.replace(own, fit=refused, is_example=False))
    assert (title(made), made.get_label()) == (
        "48 runs can't determine a law",
        "48 runs can't determine a law. Because.",
    )


def test_no_picture_needs_pyplot() -> None:
    """Every picture is drawn and printed in a fresh process without matplotlib's global state."""
    code = (
        "import sys; from costkit import figures, plan; from costkit.plan import sizing; f = figures.frontier\n"
        "a = plan.frontier(plan.read('case-50k')); doubt = sizing.doubt(a)\n"
        "served, limited, file = sizing.serving(a), sizing.data_limit(a), sizing.example_runs()\n"
        "own = sizing.OwnRuns('', True, 0, sizing.read_runs(file), sizing.fit_runs(file, n_bootstrap=2))\n"
        "made = [f.map(a), f.serving(served), f.data_limit(limited), f.doubt(doubt), f.own_runs(own)]\n"
        "[figures.png(one) for one in made]; figures.svg(made[0]); print('matplotlib.pyplot' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_colours_are_okabe_and_ito_s() -> None:
    """The words of the picture for colours are the palette that readers with any colour vision can tell apart."""
    palette = {"#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"}
    assert {style.BLUE, style.ORANGE, style.GREEN, style.RED} <= palette


def few() -> sizing.OwnRuns:
    """Eight of the example's runs, of which one rule only can leave enough to fit."""
    runs = example().runs
    return dataclasses.replace(
        example(), runs=sizing.Runs(*(column[::6] for column in (runs.n_params, runs.n_tokens, runs.loss)))
    )


TABLES: dict[str, Callable[[], Any]] = {
    "architecture": lambda: figures.frontier.architecture_table(answer(), sizing.snapped(answer())),
    "checks": lambda: figures.frontier.checks_table(claims.scaling_checks(), "checks", "Worked numbers"),
    "fits": lambda: figures.frontier.fits_table(few()),
    "laws": figures.frontier.laws_table,
    "ways": lambda: figures.frontier.ways_table(answer()),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_table_has_a_caption_and_rows(make: Callable[[], Any]) -> None:
    """What stands behind the pictures is named."""
    made = make()
    assert (bool(made.caption), bool(made.rows)) == (True, True)


def test_the_table_of_laws_holds_every_law() -> None:
    """Each law once, whichever the plan takes."""
    assert [row["name"] for row in figures.frontier.laws_table().rows] == list(scaling.names())
