import dataclasses
import functools
import re
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from costkit import figures, memory, plan, tables
from costkit.figures import Table
from costkit.figures.fitting.groups import GROUPS, grouped
from costkit.memory import parts
from costkit.panels.views import MemoryView
from costkit.plan import Footprint, fitting
from costkit.units import GIB, gib

MICRO, LENGTH, GPUS, GPU = "memory.micro_batch", "training.seq_len", "hardware.n_gpus", "hardware.gpu"
SITUATIONS: dict[str, tuple[str, dict[str, object]]] = {
    **{name: (name, {}) for name in plan.names()},
    "one GPU": ("finetune-7b", {GPUS: 1}),
    "16384 GPUs": ("finetune-7b", {GPUS: 16384}),
    "experts": ("finetune-7b", {"model.architecture": "mixtral-8x7b"}),
    "pipeline": ("finetune-7b", {"memory.pipeline_parallel": 2, MICRO: 4}),
    "V100": ("case-50k", {GPU: "V100-SXM2-16GB", "memory.precision": "fp16-mixed"}),
    "TPU": ("finetune-7b", {GPU: "TPU-v5e", "memory.precision": "bf16"}),
    "405B": ("finetune-7b", {"model.architecture": "llama-3.1-405b"}),
    "eager": ("case-50k", {"memory.attention": "eager", LENGTH: 131072}),
    "odd": ("finetune-7b", {MICRO: 3, LENGTH: 5000}),
    "one token": ("finetune-7b", {LENGTH: 1}),
    "vast": ("finetune-7b", {MICRO: 100_000, LENGTH: 1_000_000}),
}
DRAWN: dict[str, Callable[[Footprint], Figure]] = {
    "phases": lambda found: figures.fitting.phases(found),  # noqa: PLW0108 - the keyword is not for the caller
    "map": figures.fitting.map,
    "settings": lambda found: figures.fitting.settings(fitting.settings(found)),
}
PICTURES = [
    *(("phases", situation) for situation in SITUATIONS),
    *(("map", situation) for situation in ("finetune-7b", "gpt2-124m-one-node", "odd", "vast", "eager", "405B")),
    *(("settings", situation) for situation in ("finetune-7b", "case-50k", "V100", "405B", "one token")),
]
every_picture = pytest.mark.parametrize(("name", "situation"), PICTURES)
every_figure = pytest.mark.parametrize("name", DRAWN)
every_situation = pytest.mark.parametrize("situation", SITUATIONS)


def footprint(name: str, overrides: dict[str, object] | None = None) -> Footprint:
    """The answer to a packaged plan with overrides."""
    return plan.footprint(plan.read(name, overrides))


@functools.cache
def answer(situation: str) -> Footprint:
    """The answer to one of the situations, computed once."""
    return footprint(*SITUATIONS[situation])


@functools.cache
def drawn_once(name: str, situation: str) -> tuple[Figure, bytes]:
    """A picture and its first print."""
    made = DRAWN[name](answer(situation))
    return made, figures.png(made)


def picture(name: str, situation: str) -> Figure:
    """A picture to look at, drawn once and printed once."""
    return drawn_once(name, situation)[0]


def texts(made: Figure) -> list[Text]:
    """Every text of a figure that holds something."""
    found = made.findobj(lambda artist: isinstance(artist, Text))
    return [text for text in found if isinstance(text, Text) and text.get_text()]


def title(made: Figure) -> str:
    """The title of a figure."""
    return made.texts[0].get_text()


def cells(made: Figure, axes: int) -> PolyCollection:
    """The one collection of filled shapes of some axes."""
    (found,) = [one for one in made.axes[axes].collections if isinstance(one, PolyCollection)]
    return found


def heights(made: Figure) -> dict[str, float]:
    """The top of the stack of each phase, in GiB, as it is drawn."""
    found: dict[str, float] = {}
    for path in cells(made, 0).get_paths():
        corners = np.asarray(path.vertices, float)
        phase = memory.PHASES[round(float(corners[:, 0].min() + corners[:, 0].max()) / 2)]
        found[phase] = max(found.get(phase, 0.0), float(corners[:, 1].max()))
    return found


def diamonds(made: Figure) -> list[tuple[float, float]]:
    """Where measured peaks stand."""
    lines = [line for line in made.axes[1].lines if line.get_marker() == "D"]
    return [(float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])) for line in lines]


@every_picture
def test_a_picture_has_an_alternative_text(name: str, situation: str) -> None:
    """Its label is at least one whole sentence, without a number that is none."""
    label = str(picture(name, situation).get_label())
    assert (label.endswith("."), re.findall(r"\bnan\b|\binf\b|None(?! of)", label)) == (True, [])


@every_situation
def test_the_label_of_the_phases_says_all(situation: str) -> None:
    """Headline, reading, every phase and every warning are in the words for who cannot see them."""
    found, label = answer(situation), str(picture("phases", situation).get_label())
    phases = [f"{name} {gib(value)}" for name, value in found.budget.phases.items()]
    assert [part for part in (found.headline, found.reading, *phases, *found.warnings) if part not in label] == []


@every_picture
def test_a_title_fits_its_picture(name: str, situation: str) -> None:
    """The finding ends before the right edge."""
    made = picture(name, situation)
    assert made.texts[0].get_window_extent().x1 <= made.bbox.width


@every_figure
def test_a_picture_gives_the_same_bytes_twice(name: str) -> None:
    """The same answer drawn again and printed again is the same file."""
    assert figures.png(DRAWN[name](answer("finetune-7b"))) == drawn_once(name, "finetune-7b")[1]


@every_figure
def test_a_picture_printed_again_is_the_same(name: str) -> None:
    """Printing, as pixels or as SVG, leaves nothing behind in the figure."""
    made, first = drawn_once(name, "finetune-7b")
    assert (f"<!-- {title(made)} -->" in figures.svg(made), figures.png(made) == first) == (True, True)


@every_figure
def test_a_picture_as_svg_is_the_same_twice(name: str) -> None:
    """No date and no random identifier."""
    assert figures.svg(DRAWN[name](answer("finetune-7b"))) == figures.svg(picture(name, "finetune-7b"))


@every_picture
def test_tick_labels_differ(name: str, situation: str) -> None:
    """Two places of one axis never carry the same label."""
    axes = picture(name, situation).axes
    labels = [[label.get_text() for label in axis.get_ticklabels()] for ax in axes for axis in (ax.xaxis, ax.yaxis)]
    shown = [[text for text in names if text] for names in labels]
    assert [len(set(names)) for names in shown] == [len(names) for names in shown]


@pytest.mark.parametrize("stage", ["finetune-7b", "experts", "qlora-7b-t4", "case-50k", "pipeline", "16384 GPUs"])
def test_groups_sum_to_the_parts(stage: str) -> None:
    """What the picture stacks is all that lives in each phase."""
    for found in answer(stage).budget.fullest.phase_parts.values():
        assert sum(grouped(found).values()) == pytest.approx(sum(found.values()), rel=1e-12)


@every_situation
def test_every_part_has_a_group_of_its_own(situation: str) -> None:
    """No part of a budget falls among the buffers because nobody thought of it."""
    known = [part for _, members in GROUPS.values() for part in members]
    named = {part for parts in answer(situation).budget.fullest.phase_parts.values() for part in parts}
    assert (sorted(named - set(known)), len(known)) == ([], len(set(known)))


def test_every_part_is_in_one_group() -> None:
    """Each name that a budget can give a part, so that a bar is whole whatever is new."""
    named = sorted(value for name, value in vars(parts).items() if name.isupper())
    assert sorted(part for _, members in GROUPS.values() for part in members) == named


@every_situation
def test_bars_are_as_high_as_their_phases(situation: str) -> None:
    """The top of each stack is the phase's live bytes in GiB."""
    expected = {phase: value / GIB for phase, value in answer(situation).budget.phases.items()}
    assert heights(picture("phases", situation)) == pytest.approx(expected, rel=1e-6)


@every_situation
def test_everything_of_the_phases_is_within_their_axes(situation: str) -> None:
    """Bars, bands and the GPU's line lie below the top."""
    found, made = answer(situation), picture("phases", situation)
    needed = max(found.budget.device_bytes.high, found.gpu.usable_bytes, found.measured_bytes or 0.0) / GIB
    assert [ax.get_ylim()[1] > needed for ax in made.axes] == [True, True]


@every_situation
def test_both_axes_of_the_phases_are_one_scale(situation: str) -> None:
    """The GPU's line is at the same height left and right."""
    left, right = picture("phases", situation).axes
    usable = answer(situation).gpu.usable_bytes / GIB
    assert left.get_ylim() == right.get_ylim()
    assert [float(np.asarray(ax.lines[-1].get_ydata())[0]) for ax in (left, right)] == pytest.approx([usable] * 2)


@every_situation
def test_the_title_of_the_phases_is_the_finding(situation: str) -> None:
    """It states the verdict, the need and what there is."""
    found, text = answer(situation), title(picture("phases", situation))
    verdict = {"fits": "It fits: ", "uncertain": "It may or may not fit: ", "does not fit": "It does not fit: "}
    needed, usable = gib(found.budget.device_bytes.mid), gib(found.gpu.usable_bytes)
    assert text.startswith(f"{verdict[found.verdict]}{needed} of {usable}, the peak at ")


@every_situation
def test_a_diamond_stands_only_where_a_peak_is_published(situation: str) -> None:
    """It stands at the published number, over the one of the three that it is."""
    found = answer(situation)
    if found.measured_bytes is None:
        expected = []
    else:
        place = {"allocated": 0, "reserved": 1, "device": 2}[found.measured_metric]
        expected = [pytest.approx((place, found.measured_bytes / GIB))]
    assert diamonds(picture("phases", situation)) == expected


@pytest.mark.parametrize("metric", ["allocated", "reserved", "device"])
def test_a_diamond_stands_on_its_own_number(metric: str) -> None:
    """Each of the three can be what was published."""
    published = {"case.published_peak_gib": 17.0, "case.published_peak_metric": metric}
    made = figures.fitting.phases(footprint("finetune-7b", published))
    assert diamonds(made) == [pytest.approx((("allocated", "reserved", "device").index(metric), 17.0))]


def test_the_axes_stand_still_while_the_micro_batch_moves() -> None:
    """From one sequence to all that fit, and a little beyond, the scale is the GPU's."""
    limits = {figures.fitting.phases(footprint("finetune-7b", {MICRO: n})).axes[0].get_ylim() for n in (1, 8, 20, 24)}
    assert len(limits) == 1


def walk() -> list[tuple[str, dict[str, object]]]:
    """Plans as a reader's hand would reach them, there and back."""
    controls: list[dict[str, object]] = [
        {},
        {MICRO: 8},
        {MICRO: 64},
        {MICRO: 8},
        {GPU: "H100-SXM5-80GB"},
        {"memory.checkpointing": "none"},
        {},
    ]
    return [*(("finetune-7b", one) for one in controls), ("torchtitan-8b", {}), ("finetune-7b", {})]


def test_a_figure_used_again_gives_the_bytes_of_a_fresh_one() -> None:
    """Along a walk of plans the moving layer over a kept still layer is the whole picture, to the last byte."""
    made: Figure | None = None
    same = []
    for step in walk():
        found = footprint(*step)
        made = figures.fitting.phases(found, reuse=made)
        same.append(figures.png(made) == figures.png(figures.fitting.phases(found)))
    assert same == [True] * len(walk())


def test_a_figure_is_used_again_where_its_axes_hold() -> None:
    """Another micro-batch on the same GPU is drawn into the same figure, another GPU is not."""
    made = figures.fitting.phases(footprint("finetune-7b"))
    assert figures.fitting.phases(footprint("finetune-7b", {MICRO: 8}), reuse=made) is made
    assert figures.fitting.phases(footprint("finetune-7b", {GPU: "A100-SXM4-40GB"}), reuse=made) is not made


def test_a_stranger_s_figure_is_not_used() -> None:
    """A figure that another picture made is left as it is."""
    stranger = figures.frontier.map(plan.frontier(plan.read("case-50k")))
    label = stranger.get_label()
    assert (figures.fitting.phases(answer("finetune-7b"), reuse=stranger) is stranger, stranger.get_label()) == (
        False,
        label,
    )


def test_what_moves_is_taken_off_before_it_is_drawn_anew() -> None:
    """A figure used ten times holds no more artists than a fresh one."""
    made = figures.fitting.phases(answer("torchtitan-8b"))
    fresh = len(made.findobj())
    for _ in range(10):
        made = figures.fitting.phases(answer("torchtitan-8b"), reuse=made)
    assert len(made.findobj()) == fresh


def test_the_panel_s_view_is_the_picture() -> None:
    """Panel, notebook and report print the same bytes for the same plan."""
    view = MemoryView()
    for micro_batch in (16, 1):
        shown = view(plan.read("finetune-7b", {MICRO: micro_batch}))
    assert figures.png(shown.figure) == drawn_once("phases", "finetune-7b")[1]


def test_two_views_do_not_share_a_figure() -> None:
    """Each panel draws into its own."""
    chosen = plan.read("finetune-7b")
    assert MemoryView()(chosen).figure is not MemoryView()(chosen).figure


@pytest.mark.parametrize("published_gib", [float(f"{value:.3g}") for value in np.geomspace(100, 1000, 24)])
def test_any_need_has_its_ticks(published_gib: float) -> None:
    """Wherever within a decade the top of the axis falls, it has from four to eleven ticks, each a number."""
    made = figures.fitting.phases(footprint("finetune-7b", {"case.published_peak_gib": published_gib}))
    labels = [label.get_text() for label in made.axes[0].get_yticklabels()]
    assert (4 <= len(labels) <= 11, [text for text in labels if not re.fullmatch(r"[\d.,]+[KM]?", text)]) == (True, [])


@pytest.mark.parametrize("gpu", tables.gpus())
def test_any_gpu_has_its_ticks(gpu: str) -> None:
    """So has an axis that only the GPU decides."""
    precision = "fp16-mixed" if "fp16" in tables.gpu(gpu).peak_flop_per_s else "bf16"
    made = figures.fitting.phases(footprint("gpt2-124m-one-node", {GPU: gpu, "memory.precision": precision, MICRO: 1}))
    assert 4 <= len(made.axes[0].get_yticklabels()) <= 11


def test_a_phase_that_a_stage_does_not_have_is_said_so() -> None:
    """The first pipeline stage computes no loss: a word in its place, not 0 GiB."""
    found = footprint("finetune-7b", {"memory.stack": "megatron", "memory.pipeline_parallel": 8, MICRO: 4})
    texts = [text.get_text() for text in figures.fitting.phases(found).axes[0].texts]
    assert ("loss" in found.budget.phases, "not on\nthis stage" in texts, "0 GiB" in texts) == (False, True, False)


MAPS = [situation for name, situation in PICTURES if name == "map"]


@pytest.mark.parametrize("situation", MAPS)
def test_the_map_frames_the_plan(situation: str) -> None:
    """The frame is around the cell of the plan's own micro-batch and sequence length."""
    found = answer(situation)
    (frame,) = [patch for patch in picture("map", situation).axes[0].patches if isinstance(patch, Rectangle)]
    x, y = (int(value) for value in frame.get_xy())
    fits = found.map
    assert (int(fits.seq_lens[x]), int(fits.micro_batches[y])) == (found.budget.seq_len, found.budget.micro_batch)


@pytest.mark.parametrize("situation", MAPS)
def test_the_colours_of_the_map_are_its_verdicts(situation: str) -> None:
    """There is a cell for every combination, and those of one verdict share a colour that no other has."""
    codes = answer(situation).map.verdicts.ravel().tolist()
    fills = [tuple(color) for color in np.asarray(cells(picture("map", situation), 0).get_facecolor()).tolist()]
    assert len(fills) == len(codes)
    assert len(set(zip(codes, fills, strict=True))) == len(set(codes)) == len(set(fills))


@pytest.mark.parametrize("situation", MAPS)
def test_the_map_counts_what_fits(situation: str) -> None:
    """The words for who cannot see it say what fits, of how many."""
    found = answer(situation)
    fitting_cells, label = int((found.map.verdicts == 0).sum()), str(picture("map", situation).get_label())
    assert label.startswith(found.room)
    assert f"Of {found.map.verdicts.size} combinations of micro-batch and sequence length {fitting_cells} " in label


@pytest.mark.parametrize("situation", MAPS)
def test_the_numbers_of_the_map_fit_their_cells(situation: str) -> None:
    """There is one for each combination, and none is wider than its cell."""
    ax, verdicts = picture("map", situation).axes[0], answer(situation).map.verdicts
    numbers = [text for text in ax.texts if re.fullmatch(r">?[\d.,]+", text.get_text())]
    assert len(numbers) == verdicts.size
    assert max(text.get_window_extent().width for text in numbers) <= ax.bbox.width / verdicts.shape[1]


@pytest.mark.parametrize("situation", [situation for name, situation in PICTURES if name == "settings"])
def test_the_title_of_the_settings_is_the_finding(situation: str) -> None:
    """It names the best setting, or that there is none."""
    best, text = fitting.settings(answer(situation)).best, title(picture("settings", situation))
    if best is None:
        assert text == "None of these settings fits with its band"
    else:
        assert f"checkpointing with a micro-batch of {best.budget.micro_batch} is the fastest" in text
        assert text.casefold().startswith(best.budget.request.checkpointing.replace("none", "no"))


TABLES: dict[str, Callable[[Footprint], Table]] = {
    "parts": figures.fitting.parts_table,
    "stages": figures.fitting.stages_table,
    "ways": figures.fitting.ways_table,
    "formats": lambda found: figures.fitting.formats_table(fitting.formats(found)),
    "scores": lambda _: figures.fitting.scores_table(),
    "misses": lambda _: figures.fitting.misses_table(),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("situation", ["finetune-7b", "pipeline", "405B"])
def test_a_table_has_a_caption_and_rows(make: Callable[[Footprint], Table], situation: str) -> None:
    """What stands behind the pictures is named, and holds no number that is none."""
    made = make(answer(situation))
    assert (bool(made.caption), bool(made.rows), re.findall(r"\bnan\b|\binf\b", made.csv())) == (True, True, [])


def test_the_parts_are_whole() -> None:
    """Their shares sum to one, and the largest stands first."""
    shares = [float(str(row["share"])) for row in figures.fitting.parts_table(answer("finetune-7b")).rows]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)


def test_every_stage_has_its_row() -> None:
    """Two pipeline stages are two rows; the loss is where the last one is."""
    rows = figures.fitting.stages_table(answer("pipeline")).rows
    assert [row["stage"] for row in rows] == [1, 2]
    assert [sorted(set(memory.PHASES) - set(row)) for row in rows] == [["loss"], []]


def test_a_phase_of_the_last_stage_has_its_column() -> None:
    """What the first stage does not have is a column of the file nevertheless."""
    header, _, last = figures.fitting.stages_table(answer("pipeline")).csv().splitlines()
    budget = answer("pipeline").budget
    told = dict(zip(header.split(","), last.split(","), strict=True))
    assert float(told["loss"]) == budget.stages[-1].phases["loss"]


def test_the_misses_are_those_of_the_scores() -> None:
    """Each row is one of `memory.misses`, in its order and with its reason."""
    listed = [(row["id"], row["metric"], row["why"]) for row in figures.fitting.misses_table().rows]
    assert listed == [(score.id, score.metric, why) for score, why in memory.misses(0.15)]


def test_a_dollar_sign_is_no_formula() -> None:
    """An architecture whose name holds dollar signs is printed as it is named."""
    found = answer("finetune-7b")
    shape = dataclasses.replace(found.architecture, name="$x^2$ of $1")
    request = found.budget.request.with_changes(architecture=shape)
    renamed = dataclasses.replace(found, budget=dataclasses.replace(found.budget, request=request))
    for make in DRAWN.values():
        made = make(renamed)
        figures.png(made)
        risky = [text for text in texts(made) if re.search(r"(?<!\\)\$.*(?<!\\)\$", text.get_text())]
        assert [text.get_text() for text in risky if text.get_parse_math()] == []


def test_a_table_of_no_ways_says_so() -> None:
    """Where no known change leaves more room the table has a row that says it, not headings alone."""
    assert answer("qlora-7b-t4").ways == []
    assert "nothing that is known here" in repr(figures.fitting.ways_table(answer("qlora-7b-t4")))
