from __future__ import annotations

import base64
import dataclasses
import html
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from costkit import figures, panels, plan
from costkit.panels import Panel, View, stops, typed
from costkit.panels.changes import named
from costkit.panels.controls import Control
from costkit.panels.views import FrontierView, MemoryView, SpotView
from costkit.plan import Field, Plan

BUDGET, GPUS, MFU, UNIQUE = "training.budget_usd", "hardware.n_gpus", "training.mfu", "data.unique_tokens"
KEYS = (BUDGET, GPUS, MFU, UNIQUE, "training.law", "model.architecture")
NUMBERS = [field for field in plan.fields().values() if field.kind in ("int", "float")]
VALUES = st.floats(1e-3, 1e15, allow_nan=False)


class Recorder:
    """A view that is quick to draw, counts its calls, and fails when told to."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None

    def __call__(self, plan: Plan) -> View:
        """The plan's numbers as sentence and picture."""
        self.calls += 1
        if self.error:
            raise self.error
        if plan.training.budget_usd < 1000:
            raise ValueError("the budget is too small for any model: give at least $1,000")
        words = f"{plan.training.budget_usd:.17g} on {plan.hardware.n_gpus} at {plan.training.mfu}: {plan.title}"
        figure = Figure((2, 1), label=f'Map of "{plan.title}"')
        figure.text(0.1, 0.5, words, parse_math=False)
        return View(
            words, (("GPUs <n>", str(plan.hardware.n_gpus)),), figure, [{"budget_usd": plan.training.budget_usd}]
        )


@pytest.fixture
def view() -> Recorder:
    """A view to watch."""
    return Recorder()


@pytest.fixture
def panel(view: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Panel:
    """A panel of six controls on the default plan, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Panel(plan.read("case-50k"), view, KEYS, name="frontier")


def image(panel: Panel) -> bytes:
    """The bytes of the picture on the screen."""
    found = re.search(r'src="data:image/png;base64,([^"]+)"', panel.picture.value)
    assert found
    return base64.b64decode(found[1])


def descendants(widget: Any) -> list[Any]:
    """A widget and all that it holds."""
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in descendants(child))]


def field_of(key: str) -> Field:
    """What the schema says of a key."""
    return plan.fields()[key]


def test_the_first_picture_is_that_of_the_static_figure(panel: Panel) -> None:
    """A reader of the widget and a reader of the page see the same bytes."""
    assert image(panel) == figures.png(Recorder()(plan.read("case-50k")).figure)


def test_opening_calls_the_view_once(panel: Panel, view: Recorder) -> None:
    """Nothing is drawn twice on the way in."""
    assert (view.calls, panel.message, panel.fault) == (1, "", None)


def test_the_picture_has_its_own_size_and_an_alternative_text(panel: Panel) -> None:
    """Nothing moves when the picture arrives, and whoever cannot see it hears what it shows."""
    assert 'width="200" height="100"' in panel.picture.value
    assert 'alt="Map of &quot;' in panel.picture.value


def test_the_answer_stands_above_the_picture_as_text(panel: Panel) -> None:
    """Sentence and key numbers are words, not pixels."""
    assert html.escape(panel.headline) in panel.words.value
    assert "<dt>GPUs &lt;n&gt;</dt> <dd>32</dd>" in panel.words.value
    assert panel.answer.children.index(panel.words) < panel.answer.children.index(panel.picture)


def test_text_of_a_plan_is_escaped(view: Recorder) -> None:
    """A title with HTML in it is shown, not obeyed."""
    hostile = '<img src=x onerror="alert(1)">'
    panel = Panel(plan.replace(plan.read("case-50k"), {"title": hostile}), view, [BUDGET])
    panel.show_token()
    shown = "".join(str(widget.value) for widget in descendants(panel) if isinstance(widget, widgets.HTML))
    assert hostile not in shown
    assert html.escape(hostile) in shown


def test_a_seventh_control_is_refused(view: Recorder) -> None:
    """Six controls are what a reader can survey."""
    with pytest.raises(ValueError, match="at most 6 controls, not 7"):
        Panel(plan.read("case-50k"), view, [*KEYS, "hardware.gpu"])


def test_an_unknown_key_is_refused_with_the_nearest(view: Recorder) -> None:
    """A misspelt key names the one it probably means."""
    with pytest.raises(LookupError, match=r"hardware\.n_gpus"):
        Panel(plan.read("case-50k"), view, ["hardware.n_gpu"])


def test_panels_hold_no_output_widget(panel: Panel) -> None:
    """Output widgets make headless runs hang."""
    assert [widget for widget in descendants(panel) if isinstance(widget, widgets.Output)] == []


@pytest.mark.parametrize("key", KEYS)
def test_every_control_has_a_label_with_its_unit(panel: Panel, key: str) -> None:
    """The label belongs to the box itself, so that a screen reader says it too."""
    field, label = field_of(key), panel.controls[key].box.description
    unit = field.unit.replace("fraction", "%")
    assert field.label in label
    assert unit.casefold() in label.casefold()


def test_the_plain_word_of_a_panel_is_its_sentence(panel: Panel) -> None:
    """Where no widget can be shown, the answer in full is there."""
    assert repr(panel) == f"Panel: {panel.headline}"
    assert panel._repr_mimebundle_()["text/plain"] == repr(panel)


def test_a_slider_changes_plan_box_sentence_and_picture(panel: Panel, view: Recorder) -> None:
    """One step of a slider is one call of the view, and everything follows."""
    before, control = image(panel), panel.controls[BUDGET]
    control.slider.value += 1
    assert view.calls == 2
    assert panel.plan.training.budget_usd == 52_500
    assert (control.box.value, control.value) == ("$52,500", 52_500)
    assert "52500" in panel.headline
    assert image(panel) != before


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("60000", 60_000, "$60,000"),
        ("$60,000", 60_000, "$60,000"),
        ("US$ 60k", 60_000, "$60,000"),
        ("1.4 m", 1.4e6, "$1.40M"),
        ("3e5", 3e5, "$300K"),
        ("60000 USD", 60_000, "$60,000"),
    ],
)
def test_a_typed_number_moves_the_slider_and_redraws_once(
    panel: Panel, view: Recorder, text: str, value: float, shown: str
) -> None:
    """A box takes a number as people write it, and then shows it as the workbook does."""
    control = panel.controls[BUDGET]
    control.box.value = text
    assert view.calls == 2
    assert (panel.plan.training.budget_usd, control.box.value) == (value, shown)
    assert control.stops[control.slider.value] == value


def test_a_typed_value_is_not_rounded(panel: Panel) -> None:
    """Three digits are shown, all of them are used."""
    panel.controls[BUDGET].box.value = "123456.78"
    assert (panel.controls[BUDGET].box.value, panel.plan.training.budget_usd) == ("$123K", 123456.78)


def test_a_value_from_a_plan_is_not_rounded_by_a_look(panel: Panel) -> None:
    """Moving one control leaves the digits of the others alone."""
    odd = plan.replace(plan.read("case-50k"), {BUDGET: 51234.56, MFU: 0.06957})
    panel = Panel(odd, Recorder(), [BUDGET, MFU])
    panel.controls[MFU].slider.value += 1
    panel.controls[MFU].slider.value -= 1
    assert panel.plan == odd


@pytest.mark.parametrize("text", ["fifty", "", "5 apples", "1,5", "12 34", "--3", "nan", "1e999", "5%", "3e9B", "0x10"])
def test_nonsense_in_a_box_gives_one_sentence_and_stays_there(panel: Panel, view: Recorder, text: str) -> None:
    """The reader sees what is wrong beside what they typed; plan and picture stay."""
    before = panel.plan, image(panel), panel.headline
    panel.controls[BUDGET].box.value = text
    assert (panel.plan, image(panel), panel.headline) == before
    assert panel.message.startswith("Budget: ")
    assert f'role="alert">{html.escape(panel.message)}' in panel.alert.value
    assert panel.controls[BUDGET].box.value == text
    assert (view.calls, panel.fault) == (1, None)


def test_the_next_good_number_clears_the_sentence(panel: Panel) -> None:
    """A mended box leaves no trace of the mistake."""
    control = panel.controls[BUDGET]
    control.box.value = "fifty"
    control.box.value = "50000"
    assert (panel.message, panel.alert.value, control.box.value) == ("", "", "$50,000")
    assert "costkit-refused" not in control._dom_classes
    assert "costkit-old" not in panel.picture._dom_classes


def test_another_control_works_while_a_box_holds_nonsense(panel: Panel) -> None:
    """The sentence stays as long as the nonsense does; the rest of the panel goes on."""
    panel.controls[BUDGET].box.value = "fifty"
    panel.controls[GPUS].box.value = "64"
    assert (panel.plan.hardware.n_gpus, panel.plan.training.budget_usd) == (64, 50_000)
    assert panel.message.startswith("Budget: 'fifty'")
    assert panel.controls[BUDGET].box.value == "fifty"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((BUDGET, value) for value in (0, -5.0, math.nan, math.inf, 10**400, [1], None)),
        *((GPUS, value) for value in (1.5, True, "many")),
        (MFU, 7.0),
        *(("training.law", value) for value in ("no-such-law", 3)),
        *(("model.architecture", value) for value in ("gpt-9", 5)),
        ("nowhere.at_all", 1),
    ],
)
def test_a_value_that_no_plan_may_have_is_refused_in_a_sentence(panel: Panel, key: str, value: object) -> None:
    """Whatever is set, the plan stays the last good one and nothing is raised."""
    before = panel.plan, image(panel)
    panel.set(key, value)
    assert (panel.plan, image(panel)) == before
    assert panel.message
    assert panel.fault is None


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        (BUDGET, "0", "Budget must be from $0.01 to $1.00T, not '0'."),
        (BUDGET, "-5", "Budget must be from $0.01 to $1.00T, not '-5'."),
        (MFU, "150%", "MFU must be from 0.1% to 100%, not '150%'."),
        (UNIQUE, "3", "Unique tokens must be from 1,000 to 1.00e18 or unlimited, not '3'."),
        ("model.architecture", "gpt-9", "Architecture: no architecture 'gpt-9'."),
    ],
)
def test_a_refusal_names_the_control(panel: Panel, key: str, text: str, sentence: str) -> None:
    """A reader finds the control that a sentence speaks of: it goes by its label, in the units of its box."""
    panel.controls[key].box.value = text
    assert panel.message.startswith(sentence)
    assert panel.fault is None


def test_a_setting_that_the_view_refuses_keeps_the_last_good_answer(panel: Panel) -> None:
    """A budget that buys nothing is said to, and the answer of before is shown as one of before."""
    before = panel.plan, image(panel)
    panel.controls[BUDGET].box.value = "$500"
    assert panel.message == "the budget is too small for any model: give at least $1,000"
    assert (panel.plan, image(panel)) == before
    assert "costkit-old" in panel.picture._dom_classes
    assert "costkit-refused" in panel.controls[BUDGET]._dom_classes


def test_what_the_controls_say_is_tried_together() -> None:
    """A refused setting is tried again with the next change, as the screen shows both."""
    size = "model.n_params"
    panel = Panel(plan.read("llama-2-7b"), _only_if_small, [BUDGET, size])
    panel.controls[BUDGET].box.value = "2000"
    assert panel.message == "too little for so large a model"
    panel.controls[size].box.value = "1e8"
    assert (panel.message, panel.plan.training.budget_usd, panel.plan.model.n_params) == ("", 2000, 1e8)


def _only_if_small(plan: Plan) -> View:
    if plan.training.budget_usd < 10_000 and plan.model.n_params > 1e9:
        raise ValueError("too little for so large a model")
    return Recorder()(plan)


@pytest.mark.parametrize("error", [ValueError("a <b> sentence"), LookupError("no such thing"), OSError("disk is full")])
def test_an_answer_of_the_view_is_shown_as_it_is(panel: Panel, view: Recorder, error: Exception) -> None:
    """Errors that speak to the reader are shown, escaped, and are no fault of ours."""
    view.error = error
    panel.set(BUDGET, 60_000)
    assert (panel.message, panel.fault) == (str(error), None)
    assert html.escape(str(error)) in panel.alert.value


@pytest.mark.parametrize("error", [TypeError("no"), ZeroDivisionError(), KeyError("x"), AttributeError("<y>")])
def test_a_fault_of_ours_is_said_and_kept(panel: Panel, view: Recorder, error: Exception) -> None:
    """What nobody expected is neither swallowed nor left to a log that nobody reads."""
    view.error = error
    panel.set(BUDGET, 60_000)
    assert panel.message.startswith(f"This is a fault in costkit: {type(error).__name__}")
    assert panel.fault is error
    assert panel.plan.training.budget_usd == 50_000


def test_the_next_good_answer_ends_a_fault(panel: Panel, view: Recorder) -> None:
    """A fault lasts as long as the setting that showed it."""
    view.error = TypeError("no")
    panel.set(BUDGET, 60_000)
    view.error = None
    panel.set(BUDGET, 70_000)
    assert (panel.message, panel.fault) == ("", None)


def test_a_panel_whose_first_view_fails_says_so_and_recovers(view: Recorder) -> None:
    """There is no picture yet, but a sentence, and every control works."""
    view.error = ValueError("nothing to see yet")
    panel = Panel(plan.read("case-50k"), view, [BUDGET])
    assert (panel.message, panel.picture.value, repr(panel)) == (str(view.error), "", f"Panel: {view.error}")
    assert panel.export_csv() is None
    view.error = None
    panel.set(BUDGET, 50_000)
    assert (panel.message, "50000" in panel.headline) == ("", True)


def test_a_list_and_a_text_box_change_the_plan(panel: Panel) -> None:
    """Names are chosen or typed."""
    panel.controls["training.law"].box.index = 0
    panel.controls["model.architecture"].box.value = "llama-2-7b"
    assert panel.message == ""
    assert panel.plan.training.law == field_of("training.law").choices[0]
    assert panel.plan.model.architecture == "llama-2-7b"
    assert panel.controls["training.law"].value == panel.plan.training.law


def test_optional_values_and_flags_can_be_set_and_taken_back(view: Recorder) -> None:
    """An empty box and the entry `not set` mean that the plan says nothing."""
    panel = Panel(plan.read("llama-2-7b"), view, ["training.target_loss", "case.tf32_enabled"])
    loss, flag = panel.controls.values()
    loss.box.value, flag.box.label = "2.1", "yes"
    assert (panel.plan.training.target_loss, panel.plan.case.tf32_enabled) == (2.1, True)
    loss.box.value, flag.box.label = "", "not set"
    assert (panel.plan.training.target_loss, panel.plan.case.tf32_enabled, panel.message) == (None, None, "")


def test_a_control_follows_what_another_one_implies(view: Recorder) -> None:
    """Naming an architecture sets the size, and a size of one's own drops the architecture."""
    panel = Panel(plan.read("case-50k"), view, ["model.architecture", "model.n_params"])
    named, size = panel.controls.values()
    named.box.value = "llama-2-7b"
    assert size.value == panel.plan.model.n_params == plan.read("llama-2-7b").model.n_params
    size.box.value = "3B"
    assert (named.box.value, panel.plan.model.n_params, panel.message) == ("", 3e9, "")


def test_presets_come_first_and_set_every_control_in_one_redraw(panel: Panel, view: Recorder) -> None:
    """Another plan is one choice, one call of the view, and every control shows it."""
    assert panel.presets in panel.children[1].children
    panel.controls[BUDGET].box.value = "fifty"
    panel.presets.value = "llama-2-7b"
    assert (view.calls, panel.message) == (2, "")
    assert panel.plan == plan.read("llama-2-7b")
    for key, control in panel.controls.items():
        assert control.value == panel.plan.value(key)
    assert panel.controls[BUDGET].box.value == typed.shown(panel.plan.training.budget_usd, field_of(BUDGET))


def test_the_list_of_presets_says_when_the_plan_is_none_of_them(panel: Panel) -> None:
    """A changed plan is `current`; changed back, it is the preset again, sources and all."""
    assert (panel.presets.value, panel.presets.options) == ("case-50k", plan.names())
    panel.set(BUDGET, 60_000)
    assert (panel.presets.value, panel.presets.options) == ("current", (*plan.names(), "current"))
    panel.set(BUDGET, 50_000)
    assert (panel.presets.value, panel.plan) == ("case-50k", plan.read("case-50k"))


def test_a_preset_that_the_view_refuses_leaves_everything(panel: Panel, view: Recorder) -> None:
    """The list goes back to the plan that is shown."""
    view.error = ValueError("not for this one")
    panel.presets.value = "llama-2-7b"
    assert (panel.presets.value, panel.message) == ("case-50k", "not for this one")
    assert panel.plan == plan.read("case-50k")
    assert panel.controls[BUDGET].value == panel.plan.training.budget_usd


def test_an_unknown_preset_is_a_sentence(panel: Panel) -> None:
    """A name that is no plan's leaves the panel as it is."""
    panel.choose("case-50")
    assert "Did you mean 'case-50k'" in panel.message


def test_reset_goes_back_to_the_plan_of_the_start(view: Recorder) -> None:
    """All of it, in one redraw, whatever stands in the boxes."""
    start = plan.replace(plan.read("case-50k"), {BUDGET: 77_777.0})
    panel = Panel(start, view, [BUDGET, GPUS])
    panel.presets.value = "llama-2-7b"
    panel.controls[GPUS].box.value = "many"
    calls = view.calls
    panel.buttons["Reset"].click()
    assert (view.calls, panel.plan, panel.message) == (calls + 1, start, "")
    assert (panel.presets.value, panel.controls[GPUS].box.value) == ("current", "32")


def test_the_end_stop_of_a_slider_means_unlimited(panel: Panel) -> None:
    """The far end of the data limit is no limit, and says so."""
    control = panel.controls[UNIQUE]
    assert (control.box.value, control.slider.value) == ("unlimited", control.slider.max)
    control.slider.value -= 1
    assert math.isfinite(panel.plan.data.unique_tokens)
    control.slider.value += 1
    assert (panel.plan.data.unique_tokens, control.box.value) == (math.inf, "unlimited")
    for text, value in {"15T": 15e12, "inf": math.inf, "1.4 T tokens": 1.4e12, "unlimited": math.inf}.items():
        control.box.value = text
        assert panel.plan.data.unique_tokens == value


def test_the_low_end_of_a_slider_can_mean_none(view: Recorder) -> None:
    """Zero on a logarithmic slider is its first stop, and says so."""
    panel = Panel(plan.read("case-50k"), view, ["data.inference_tokens"])
    (control,) = panel.controls.values()
    assert (control.slider.value, control.box.value) == (0, "none")
    control.box.value = "2T"
    assert panel.plan.data.inference_tokens == 2e12
    control.box.value = "none"
    assert (panel.plan.data.inference_tokens, control.slider.value) == (0, 0)


def test_a_value_outside_the_range_widens_the_slider(view: Recorder) -> None:
    """A plan is never changed by being shown."""
    wide = plan.replace(plan.read("case-50k"), {BUDGET: 3e9, GPUS: 100_000, MFU: 0.01})
    panel = Panel(wide, view, [BUDGET, GPUS, MFU])
    assert panel.plan == wide
    for key, control in panel.controls.items():
        assert control.stops[control.slider.value] == wide.value(key)
    panel.controls[GPUS].slider.value -= 1
    assert panel.plan.hardware.n_gpus < 100_000


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: field.key)
def test_every_step_of_every_slider_can_be_seen(field: Field) -> None:
    """No two neighbouring stops are shown alike, and each is what its text means."""
    ladder = stops.stops(field, None)
    texts = [typed.shown(stop, field) for stop in ladder]
    assert list(ladder) == sorted(set(ladder))
    assert len(set(texts)) == len(texts)
    fewest = min(10, (field.high or 0) - (field.low or 0) + 1) if field.kind == "int" else 10
    assert fewest <= len(ladder) <= 800
    assert [typed.parsed(text, field) for text in texts] == pytest.approx(list(ladder), rel=0.005)


@given(st.sampled_from(NUMBERS), VALUES)
def test_a_value_is_always_a_stop(field: Field, value: float) -> None:
    """Whatever the plan says, the handle stands exactly on it."""
    whole = float(round(value)) if field.kind == "int" else value
    ladder = stops.stops(field, whole)
    assert ladder[stops.nearest(ladder, whole)] == whole


@given(st.sampled_from(NUMBERS), VALUES)
def test_what_a_box_shows_it_also_reads(field: Field, value: float) -> None:
    """A box that is left as it is means what it shows, to three digits."""
    whole = float(round(value)) if field.kind == "int" else value
    text = typed.shown(whole, field)
    assert typed.parsed(text, field) == pytest.approx(whole, rel=0.0051, abs=0.0051 if value < 10 else 0)
    assert typed.shown(typed.parsed(text, field), field) == text


@given(st.sampled_from(NUMBERS), st.text(max_size=20))
def test_any_text_is_a_number_or_one_sentence(field: Field, text: str) -> None:
    """No text makes a box fail in any other way."""
    try:
        answer: object = typed.parsed(text, field)
    except ValueError as error:
        answer = str(error)
    if isinstance(answer, str):
        assert answer.startswith(f"{field.label}: ")
        assert "\n" not in answer
    else:
        assert answer is None or (isinstance(answer, int | float) and not math.isnan(answer))


@given(VALUES, st.sampled_from(["", "k", "M", "b", "T", " thousand", " million", "bn"]))
def test_a_suffix_multiplies(value: float, suffix: str) -> None:
    """K, M, B and T are a thousand, a million, a billion and a trillion."""
    multiple = {"": 1, "k": 1e3, "t": 1e12, "m": 1e6, "b": 1e9}[suffix.strip().casefold()[:1]]
    multiple = 1e3 if "thousand" in suffix else multiple
    assert typed.parsed(f"{value:f}{suffix}", field_of(UNIQUE)) == pytest.approx(float(f"{value:f}") * multiple)


@pytest.mark.parametrize(("text", "value"), [("7%", 0.07), ("0.07", 0.07), ("45 %", 0.45), ("40", 0.4), ("1", 1)])
def test_a_share_is_typed_as_fraction_or_percentage(text: str, value: float) -> None:
    """Both spellings mean the same; a number too large for a fraction is in the percent of the box's label."""
    assert typed.parsed(text, field_of(MFU)) == pytest.approx(value)


def test_saving_keeps_the_comments_and_reads_back(panel: Panel, tmp_path: Path) -> None:
    """The file holds what the screen shows, with the words of the file it came from."""
    panel.set(BUDGET, 60_000)
    panel.name_box.value = "mine"
    panel.buttons["Save plan"].click()
    saved = tmp_path / "mine.toml"
    assert plan.read(saved).training.budget_usd == 60_000
    assert "#" in saved.read_text(encoding="utf-8")
    assert str(saved) in panel.notice.value
    assert "costkit-alert" not in panel.notice.value


def test_a_changed_plan_is_saved_under_a_title_of_its_own(panel: Panel, tmp_path: Path) -> None:
    """A plan whose numbers were changed does not go by the title of the plan it came from."""
    panel.set(BUDGET, 250_000)
    panel.set(GPUS, 64)
    panel.save("mine")
    saved, title = plan.read(tmp_path / "mine.toml"), plan.read("case-50k").title
    assert (saved.name, saved.title) == ("mine", f"{title} (changed: GPUs 64, budget $250K)")
    assert html.escape(saved.title) in panel.notice.value
    assert plan.changes(saved, panel.plan) == []


def test_a_plan_that_was_not_changed_is_saved_as_it_is(panel: Panel, tmp_path: Path) -> None:
    """A copy is a copy."""
    panel.set(GPUS, 64)
    panel.set(GPUS, 32)
    panel.save("copy")
    assert plan.read(tmp_path / "copy.toml") == plan.read("case-50k")


def test_a_plan_that_came_with_overrides_is_saved_as_changed(view: Recorder, tmp_path: Path) -> None:
    """What a notebook's parameters changed was changed, too; what is saved again says what came later."""
    panel = Panel(plan.read("case-50k", {GPUS: 64}), view, [BUDGET])
    panel.save(tmp_path / "a.toml")
    again = Panel(tmp_path / "a.toml", view, [BUDGET])
    again.set(BUDGET, 60_000)
    again.save(tmp_path / "b.toml")
    assert plan.read(tmp_path / "a.toml").title.endswith(" (changed: GPUs 64)")
    assert plan.read(tmp_path / "b.toml").title.endswith(" (changed: GPUs 64; then budget $60,000)")
    assert plan.read(tmp_path / "b.toml").name == "b"


def test_a_title_of_ones_own_is_kept(view: Recorder, tmp_path: Path) -> None:
    """Who gave the plan a title meant it."""
    panel = Panel(plan.read("case-50k", {GPUS: 64, "title": "Ours", "name": "ours"}), view, [BUDGET])
    panel.save(tmp_path / "a.toml")
    saved = plan.read(tmp_path / "a.toml")
    assert (saved.title, saved.name) == ("Ours", "ours")


@given(st.text("ab (", max_size=200), st.integers(33, 10_000))
def test_a_changed_title_is_never_too_long(title: str, n_gpus: int) -> None:
    """However long a title is, that of the changed plan fits and says so."""
    source = plan.read("case-50k", {"title": title})
    saved = named(plan.replace(source, {GPUS: n_gpus, BUDGET: 1e9}), source, "x" * 300)
    assert re.search(r" \(changed: (GPUs [\d,.K]+, budget \$1\.00B|2 inputs)\)$", saved.title)


def test_saving_does_not_replace_a_stranger(panel: Panel, tmp_path: Path) -> None:
    """An existing file stays, byte for byte, until the tick says otherwise; one's own may be saved again."""
    stranger = tmp_path / "mine.toml"
    stranger.write_bytes(b"precious = true\n")
    assert panel.save("mine") is None
    assert stranger.read_bytes() == b"precious = true\n"
    assert 'role="alert"' in panel.notice.value
    assert "tick Replace" in panel.notice.value
    panel.replace_box.value = True
    assert panel.save("mine") == stranger
    panel.replace_box.value = False
    panel.set(GPUS, 64)
    assert panel.save("mine") == stranger
    assert tomllib.loads(stranger.read_text(encoding="utf-8"))["hardware"]["n_gpus"] == 64


@pytest.mark.parametrize("name", ["", "   ", "folder/", "nowhere/mine", "a\0b"])
def test_a_name_that_cannot_be_saved_under_is_a_sentence(panel: Panel, tmp_path: Path, name: str) -> None:
    """No file and no fault, but a reason."""
    assert panel.save(name) is None
    assert 'role="alert"' in panel.notice.value
    assert panel.fault is None
    assert list(tmp_path.iterdir()) == []


def test_a_save_beside_a_refused_setting_says_what_it_holds(panel: Panel) -> None:
    """The file has the last good plan, and the notice admits it."""
    panel.controls[BUDGET].box.value = "fifty"
    path = panel.save("mine")
    assert path
    assert plan.read(path).training.budget_usd == 50_000
    assert "without the setting that could not be used" in panel.notice.value


def test_the_token_is_shown_to_copy_and_follows_the_plan(panel: Panel) -> None:
    """The box holds the plan of the screen, whatever is typed into it."""
    assert panel.token_box.layout.display == "none"
    panel.buttons["Copy token"].click()
    assert (panel.token_box.description, panel.token_box.value) == ("Copy this", panel.token)
    panel.set(BUDGET, 60_000)
    panel.token_box.value = "overwritten"
    assert plan.read(panel.token_box.value) == panel.plan


def test_the_rows_are_exported_beside_the_notebook(panel: Panel, tmp_path: Path) -> None:
    """Each export takes a name of its own and offers the same bytes as a link."""
    for name in ("case-50k-frontier.csv", "case-50k-frontier-2.csv"):
        panel.buttons["Export CSV"].click()
        assert (tmp_path / name).read_text() == "budget_usd\n50000.0\n"
        link = base64.b64encode(b"budget_usd\n50000.0\n").decode()
        assert f'download="{name}" href="data:text/csv;base64,{link}"' in panel.notice.value


def test_the_figure_is_exported_as_shown_and_for_print(panel: Panel, tmp_path: Path) -> None:
    """The PNG is the picture on the screen; the SVG stands beside it."""
    panel.buttons["Export figure"].click()
    assert (tmp_path / "case-50k-frontier.png").read_bytes() == image(panel)
    assert (tmp_path / "case-50k-frontier.svg").read_text().count("<svg") == 1
    assert "case-50k-frontier.png and case-50k-frontier.svg" in panel.notice.value


def test_a_drawing_for_print_is_that_of_the_last_good_plan(tmp_path: Path) -> None:
    """A view that draws into one figure may leave it half done; what is exported then is the picture on the screen."""

    class Reusing:
        def __init__(self) -> None:
            self.figure = Figure((2, 1), label="Map")

        def __call__(self, plan: Plan) -> View:
            self.figure.clear()
            self.figure.text(0.1, 0.5, f"{plan.hardware.n_gpus} GPUs")
            if plan.hardware.n_gpus > 64:
                raise ValueError("too many")
            return View("", (), self.figure, [])

    panel = Panel("case-50k", Reusing(), [GPUS])
    panel.set(GPUS, 64)
    good = figures.svg(panel.shown.figure) if panel.shown else ""
    panel.set(GPUS, 128)
    assert panel.message == "too many"
    path = panel.export_figure(tmp_path / "map.svg")
    assert path
    assert path.read_text(encoding="utf-8") == good


def test_the_frontier_is_exported_as_shown_after_a_refusal(tmp_path: Path) -> None:
    """So is the frontier, which is drawn into one figure."""
    panel = panels.frontier("case-50k")
    panel.set(BUDGET, 5e6)
    panel.set(BUDGET, 0.01)
    assert "too small for any model" in panel.message
    path = panel.export_figure(tmp_path / "map.svg")
    assert path
    fresh = FrontierView()(plan.replace(plan.read("case-50k"), {BUDGET: 5e6}))
    assert path.read_text(encoding="utf-8") == figures.svg(fresh.figure)


def test_exports_of_a_changed_plan_are_named_so(panel: Panel, tmp_path: Path) -> None:
    """Files of the plan and of what was made of it cannot be taken for each other."""
    panel.export_csv()
    panel.set(GPUS, 64)
    panel.export_csv()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "case-50k-changed-frontier.csv",
        "case-50k-frontier.csv",
    ]


def test_an_export_to_a_given_path_keeps_what_is_there(panel: Panel, tmp_path: Path) -> None:
    """A named file is not written over unasked, and its ending says what it is."""
    assert panel.export_csv(tmp_path / "rows") == tmp_path / "rows.csv"
    assert panel.export_csv(tmp_path / "rows.csv") is None
    assert panel.export_csv(tmp_path / "rows.csv", replace=True) == tmp_path / "rows.csv"
    assert panel.export_figure(tmp_path / "map.svg") == tmp_path / "map.svg"
    assert panel.export_figure(tmp_path / "map.jpg") is None
    assert panel.export_csv("nowhere/rows.csv") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.svg", "rows.csv"]


def test_a_failed_export_leaves_no_half_file(panel: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last step fails, the folder is as it was."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "rows.csv")

    monkeypatch.setattr(Path, "replace", fail)
    assert panel.export_csv("rows.csv") is None
    assert "rows.csv: no space left on device" in panel.notice.value
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_an_export_is_said_and_kept(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Buttons lose no exception either."""
    monkeypatch.setattr(figures, "svg", lambda _: 1 / 0, raising=False)
    panel.buttons["Export figure"].click()
    assert "This is a fault in costkit: ZeroDivisionError" in panel.notice.value
    assert isinstance(panel.fault, ZeroDivisionError)


@pytest.mark.parametrize("edit", [lambda control: control.put(99_000.0), lambda control: control.accept()])
def test_showing_a_value_is_not_an_edit(panel: Panel, view: Recorder, edit: Callable[[Control], None]) -> None:
    """Programs may set a control quietly."""
    edit(panel.controls[BUDGET])
    assert view.calls == 1


def test_a_redraw_is_timed(panel: Panel) -> None:
    """The time of the last redraw can be read."""
    assert 0 < panel.redraw_s < 10


def test_notes_stand_under_the_sentence(view: Recorder) -> None:
    """What a reader must know before using the answer is marked by a word, and gone when it no longer holds."""

    def noted(plan: Plan) -> View:
        notes = ("beyond <16> epochs",) if plan.hardware.n_gpus > 32 else ()
        return dataclasses.replace(view(plan), notes=notes)

    panel = Panel(plan.read("case-50k"), noted, [GPUS])
    assert "Note:" not in panel.words.value
    panel.set(GPUS, 64)
    said, _, facts = panel.words.value.partition("<dl")
    assert re.search(r"</p><ul [^>]*><li><b>Note:</b> beyond &lt;16&gt; epochs</li></ul></div>$", said)
    assert facts


def test_facts_keep_their_places(view: Recorder) -> None:
    """A fact that comes or goes moves no other one."""

    def placed(plan: Plan) -> View:
        facts = (("Serving", "$5"), ("Time", "3 days")) if plan.hardware.n_gpus > 32 else (("Time", "3 days"),)
        return dataclasses.replace(view(plan), facts=facts, places={"Serving": 2, "Time": 1})

    panel = Panel(plan.read("case-50k"), placed, [GPUS])
    assert re.findall(r'span-(\d)"><dt>(\w+)</dt> <dd>([^<]+)', panel.words.value) == [
        ("2", "Serving", "–"),
        ("1", "Time", "3 days"),
    ]
    panel.set(GPUS, 64)
    assert re.findall(r"<dt>(\w+)</dt> <dd>([^<]+)", panel.words.value) == [("Serving", "$5"), ("Time", "3 days")]


@pytest.mark.parametrize(
    "changes",
    [{}, {"data.inference_tokens": 1e12, UNIQUE: 5e9}, {"training.law": "kaplan-2020"}, {"model.pretrained": True}],
)
def test_every_fact_of_the_frontier_has_a_place(changes: dict[str, object]) -> None:
    """The frontier's facts and their places go by the same names, in the same order."""
    shown = FrontierView()(plan.replace(plan.read("case-50k"), changes))
    labels = [label for label, _ in shown.facts]
    assert labels == [label for label in shown.places if label in labels]


@pytest.mark.parametrize("name", plan.names())
def test_the_frontier_panel_opens_on_every_plan(name: str) -> None:
    """Each plan that ships has an answer, and its panel shows the same picture as the page."""
    panel = panels.frontier(plan.read(name))
    answer = plan.frontier(plan.read(name))
    assert (panel.message, panel.fault, panel.presets.value) == ("", None, name)
    assert panel.headline == answer.headline
    assert image(panel) == figures.png(figures.frontier.map(answer))


def test_the_frontier_panel_answers_each_control_without_fault() -> None:
    """From end to end of every slider and list there is an answer or a sentence, never a fault."""
    panel = panels.frontier("case-50k")
    for control in panel.controls.values():
        scale = getattr(control, "slider", None)
        for position in (0, scale.max // 2, scale.max) if scale else range(len(control.box.options)):
            if scale:
                scale.value = position
            else:
                control.box.index = position
            assert panel.fault is None
        panel.reset()
        assert panel.message == ""


MEMORY_GPU, MICRO, LENGTH = "hardware.gpu", "memory.micro_batch", "training.seq_len"


def test_two_keys_of_a_group_stand_together(view: Recorder) -> None:
    """A group is one box of its controls side by side, in the place of one control."""
    panel = Panel("case-50k", view, [BUDGET, (MEMORY_GPU, GPUS)])
    controls = panel.children[2].children[0].children
    budget, gpu, n_gpus = panel.controls.values()
    assert controls[0] is budget
    assert (controls[1].children, "costkit-group" in controls[1]._dom_classes) == ((gpu, n_gpus), True)


def test_a_group_counts_as_one_control(view: Recorder) -> None:
    """Six groups of two are as many as a reader can survey."""
    groups: list[str | tuple[str, ...]] = [
        (BUDGET, GPUS),
        (MFU, UNIQUE),
        "training.law",
        "model.architecture",
        MEMORY_GPU,
        (MICRO, LENGTH),
    ]
    assert len(Panel("case-50k", view, groups).controls) == 9


def test_a_seventh_group_is_refused(view: Recorder) -> None:
    """A group does not make room for a seventh."""
    with pytest.raises(ValueError, match="at most 6 controls, not 7"):
        Panel("case-50k", view, [*KEYS[:5], (MEMORY_GPU, "model.architecture"), (MICRO, LENGTH)])


def test_an_unknown_key_of_a_group_is_refused_with_the_nearest(view: Recorder) -> None:
    """A group is no place to hide a misspelt key in."""
    with pytest.raises(LookupError, match=r"memory\.micro_batch"):
        Panel("case-50k", view, [BUDGET, (GPUS, "memory.micro_bath")])


def test_each_of_a_group_works_alone(view: Recorder) -> None:
    """Moving one moves only itself, in one call of the view."""
    panel = Panel("case-50k", view, [(BUDGET, GPUS)])
    panel.controls[GPUS].box.value = "64"
    assert (view.calls, panel.plan.hardware.n_gpus, panel.plan.training.budget_usd) == (2, 64, 50_000)


@pytest.mark.parametrize("name", plan.names())
def test_the_memory_panel_opens_on_every_plan(name: str) -> None:
    """Each plan that ships has an answer, and its panel shows the same picture as the page."""
    panel = panels.memory(plan.read(name))
    answer = plan.footprint(plan.read(name))
    assert (panel.message, panel.fault, panel.presets.value) == ("", None, name)
    assert panel.headline == answer.headline
    assert image(panel) == figures.png(figures.fitting.phases(answer))


def test_the_memory_panel_has_six_groups() -> None:
    """Eight keys in six places, GPU and number beside each other, precision and optimizer too."""
    panel = panels.memory("finetune-7b")
    groups = panel.children[2].children[0].children
    sizes = [len(one.children) if "costkit-group" in one._dom_classes else 1 for one in groups]
    assert (len(panel.controls), sizes) == (8, [1, 2, 2, 1, 1, 1])


@pytest.mark.parametrize("name", ["finetune-7b", "qlora-7b-t4"])
def test_the_memory_panel_answers_each_control_without_fault(name: str) -> None:
    """From end to end of every slider and list there is an answer or a sentence, never a fault."""
    panel = panels.memory(name)
    for key, control in panel.controls.items():
        scale = getattr(control, "slider", None)
        if scale:
            for position in (0, scale.max // 2, scale.max):
                scale.value = position
                assert (panel.fault, "\n" in panel.message) == (None, False)
        else:
            for choice in field_of(key).choices[::5]:
                panel.set(key, choice)
                assert (panel.fault, "\n" in panel.message) == (None, False)
        panel.reset()
        assert panel.message == ""


@pytest.mark.parametrize(
    ("name", "key", "value", "sentence"),
    [
        ("finetune-7b", MICRO, "many", "Micro-batch: 'many' is not a number of sequences"),
        ("finetune-7b", MICRO, "0", "Micro-batch must be from 1 to "),
        ("finetune-7b", "model.architecture", "gpt-9", "Architecture: no architecture 'gpt-9'."),
        ("finetune-7b", MEMORY_GPU, "V100-SXM2-16GB", "V100-SXM2-16GB does not have"),
        ("finetune-7b", "memory.precision", "fp8-mixed", "A100-SXM4-80GB does not have"),
        ("gpt2-124m-one-node", LENGTH, "4096", "gpt2 has 1,024 learned positions"),
        ("qlora-7b-t4", "model.architecture", "gpt2", "leave them out"),
        ("qlora-7b-t4", "memory.precision", "fp32", "adapters stand beside 16-bit or NF4 weights"),
    ],
)
def test_what_memory_refuses_keeps_the_last_good_picture(name: str, key: str, value: str, sentence: str) -> None:
    """One sentence, the control marked, the picture of before; the plan as it was."""
    panel = panels.memory(name)
    before = panel.plan, image(panel), panel.headline
    panel.set(key, value)
    assert sentence in panel.message
    assert (panel.plan, image(panel), panel.headline) == before
    assert ("costkit-refused" in panel.controls[key]._dom_classes, panel.fault) == (True, None)
    assert "costkit-old" in panel.picture._dom_classes


def test_memory_answers_a_refused_format_once_the_gpu_has_it() -> None:
    """FP8 on an A100 is refused, and answered as soon as the GPU is an H100."""
    panel = panels.memory("finetune-7b")
    panel.set("memory.precision", "fp8-mixed")
    panel.set(MEMORY_GPU, "H100-SXM5-80GB")
    assert (panel.message, "in fp8-mixed with" in panel.headline) == ("", True)


def test_memory_s_warnings_are_notes() -> None:
    """What must be known before using the answer stands under its sentence."""
    panel = panels.memory("case-50k")
    warnings = plan.footprint(plan.read("case-50k")).warnings
    assert warnings
    assert [text for text in warnings if f"<b>Note:</b> {html.escape(text)}" not in panel.words.value] == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, {}) for name in plan.names()),
        ("finetune-7b", {GPUS: 1}),
        ("finetune-7b", {"memory.pipeline_parallel": 2, MICRO: 4}),
        ("finetune-7b", {"memory.effective_batch": 64}),
    ],
)
def test_every_fact_of_memory_has_a_place(name: str, changes: dict[str, object]) -> None:
    """The facts of memory and their places go by the same names, in the same order."""
    shown = MemoryView()(plan.replace(plan.read(name), changes))
    labels = [label for label, _ in shown.facts]
    assert labels == [label for label in shown.places if label in labels]


def test_the_places_of_memory_are_whole_rows() -> None:
    """Six columns wide and no gap in between: a place never straddles two rows."""
    ends, end = set(), 0
    for columns in MemoryView()(plan.read("finetune-7b")).places.values():
        assert end // 6 == (end + columns - 1) // 6
        end += columns
        ends.add(end)
    assert 6 in ends


def test_memory_is_exported_as_shown_after_a_refusal(tmp_path: Path) -> None:
    """The drawing for print is that of the last good plan, and the rows are its phases and parts."""
    panel = panels.memory("finetune-7b")
    panel.set(MICRO, 8)
    panel.set(MEMORY_GPU, "V100-SXM2-16GB")
    assert "does not have" in panel.message
    drawing, rows = panel.export_figure(tmp_path / "memory.svg"), panel.export_csv(tmp_path / "memory.csv")
    assert drawing
    assert rows
    answer = plan.footprint(plan.replace(plan.read("finetune-7b"), {MICRO: 8}))
    assert drawing.read_text(encoding="utf-8") == figures.svg(figures.fitting.phases(answer))
    assert rows.read_text(encoding="utf-8").count("\n") == len(answer.rows()) + 1


DISCOUNT, LIFE, EVERY, BURST = (
    "market.spot_discount_fraction",
    "market.node_life_h",
    "training.checkpoint_every_min",
    "market.burst_nodes",
)


@pytest.mark.parametrize("name", plan.names())
def test_the_spot_panel_opens_on_every_plan(name: str) -> None:
    """Each plan that ships has an answer, and its panel shows the same picture as the page."""
    panel = panels.spot(plan.read(name))
    answer = plan.savings(plan.read(name))
    assert (panel.message, panel.fault, panel.presets.value) == ("", None, name)
    assert panel.headline == answer.headline
    assert image(panel) == figures.png(figures.buying.bill(answer))


def test_the_spot_panel_has_six_groups_of_keys_of_the_plan() -> None:
    """No more than a reader can survey, and each control is a value that a plan file can hold."""
    panel = panels.spot("case-50k")
    assert len(panel.children[2].children[0].children) == 6
    assert [key for key in panel.controls if key not in plan.fields()] == []
    assert {DISCOUNT, LIFE, EVERY, BURST, "market.deadline_days"} <= set(panel.controls)


@pytest.mark.parametrize(
    ("make", "name", "every"),
    [
        *((panels.spot, name, 8) for name in ("case-50k", "finetune-7b", "smollm3-3b")),
        *((panels.page, name, 4) for name in ("case-50k", "llama-3-8b", "qlora-7b-t4")),
    ],
)
def test_a_panel_answers_each_control_without_fault(make: Callable[[str], Panel], name: str, every: int) -> None:
    """From end to end of every slider and list there is an answer or a sentence, never a fault."""
    panel = make(name)
    for control in panel.controls.values():
        scale = getattr(control, "slider", None)
        for position in (0, scale.max // 2, scale.max) if scale else range(0, len(control.box.options), every):
            if scale:
                scale.value = position
            else:
                control.box.index = position
            assert (panel.fault, "\n" in panel.message) == (None, False)
        panel.reset()
        assert panel.message == ""


def test_going_on_with_fewer_nodes_is_answered_in_no_time() -> None:
    """A tick of one box does not make the reader wait, however many nodes there are."""
    panel = panels.spot("llama-2-7b")
    panel.set("market.elastic", True)
    assert (panel.message, panel.redraw_s < 2.0) == ("", True)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        *((EVERY, text) for text in ("60%", "often", "", "-5", "1e99", "6 apples")),
        *((DISCOUNT, text) for text in ("100%", "all", "-2")),
        *((LIFE, text) for text in ("0", "never", "-1")),
        (BURST, "9"),
        ("market.deadline_days", "soon"),
        ("market.notice_reliability_fraction", "150%"),
    ],
)
def test_what_spot_refuses_keeps_the_last_good_picture(key: str, text: str) -> None:
    """One sentence that names the control, the control marked, the picture of before; the plan as it was."""
    panel = panels.spot("case-50k")
    before = panel.plan, image(panel), panel.headline
    panel.set(key, text)
    assert panel.message.startswith(field_of(key).label)
    assert "\n" not in panel.message
    assert (panel.plan, image(panel), panel.headline) == before
    assert ("costkit-refused" in panel.controls[key]._dom_classes, panel.fault) == (True, None)


@pytest.mark.parametrize("text", ["unlimited", "inf"])
def test_an_interval_without_end_is_told_as_no_checkpoints(text: str) -> None:
    """Who never saves is told what that means, and the box says it back."""
    panel = panels.spot("case-50k")
    panel.controls[EVERY].box.value = text
    assert (panel.plan.training.checkpoint_every_min, panel.controls[EVERY].box.value) == (math.inf, "unlimited")
    assert panel.headline.startswith("Without checkpoints this run practically never finishes")


@pytest.mark.parametrize("text", ["60", "60%", "0.6"])
def test_a_discount_is_typed_as_people_write_it(text: str) -> None:
    """With or without its sign, as a share or in per cent."""
    panel = panels.spot(plan.read("case-50k", {DISCOUNT: 0.3}))
    panel.controls[DISCOUNT].box.value = text
    assert (panel.message, panel.plan.market.spot_discount_fraction) == ("", 0.6)


def test_spot_answers_once_the_nodes_are_enough() -> None:
    """A burst of nine of four nodes is refused, and answered as soon as a smaller one is typed."""
    panel = panels.spot("case-50k")
    panel.set(BURST, "9")
    panel.set(BURST, "3")
    assert (panel.message, panel.plan.market.burst_nodes) == ("", 3)


def test_spot_s_warnings_are_notes() -> None:
    """What must be known before using the answer stands under its sentence."""
    panel = panels.spot("finetune-7b")
    warnings = plan.savings(plan.read("finetune-7b")).warnings
    assert warnings
    assert [text for text in warnings if f"<b>Note:</b> {html.escape(text)}" not in panel.words.value] == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, {}) for name in plan.names()),
        ("case-50k", {"market.deadline_days": 30}),
        ("case-50k", {EVERY: math.inf}),
        ("case-50k", {"market.notice_reliability_fraction": 1.0, "market.failures_per_gpu_day": 0.0}),
    ],
)
def test_every_fact_of_spot_has_a_place(name: str, changes: dict[str, object]) -> None:
    """The facts of spot and their places go by the same names, in the same order."""
    shown = SpotView()(plan.replace(plan.read(name), changes))
    labels = [label for label, _ in shown.facts]
    assert labels == [label for label in shown.places if label in labels]


def test_spot_is_exported_as_shown_after_a_refusal(tmp_path: Path) -> None:
    """The drawing for print is that of the last good plan, and the rows are its percentiles."""
    panel = panels.spot("case-50k")
    panel.set(DISCOUNT, 0.5)
    panel.set(BURST, 9)
    assert panel.message
    drawing, rows = panel.export_figure(tmp_path / "spot.svg"), panel.export_csv(tmp_path / "spot.csv")
    assert drawing
    assert rows
    answer = plan.savings(plan.replace(plan.read("case-50k"), {DISCOUNT: 0.5}))
    assert drawing.read_text(encoding="utf-8") == figures.svg(figures.buying.bill(answer))
    assert rows.read_text(encoding="utf-8").count("\n") == len(answer.rows()) + 1


@pytest.mark.parametrize("purchase", ["commit_1y", "commit_3y"])
def test_however_else_it_is_bought_its_bill_has_a_place(purchase: str) -> None:
    """A plan of reserved machines has the same key numbers under another name, in a place of its own."""
    shown = SpotView()(plan.read("case-50k", {"market.purchase": purchase}))
    labels = [label for label, _ in shown.facts]
    assert [label for label in labels if label not in shown.places] == []


# ---- the plan on a page


@pytest.mark.parametrize("name", plan.names())
def test_the_page_panel_opens_on_every_plan(name: str) -> None:
    """Each plan that ships has an answer, and its panel shows the same picture as the page."""
    panel = panels.page(plan.read(name))
    answer = plan.page(plan.read(name))
    assert (panel.message, panel.fault, panel.presets.value) == ("", None, name)
    assert panel.headline == answer.headline
    assert image(panel) == figures.png(figures.costing.bill(answer))


def test_the_page_panel_has_six_groups_of_keys_of_the_plan() -> None:
    """No more than a reader can survey, and each control is a value that a plan file can hold."""
    panel = panels.page("case-50k")
    assert len(panel.children[2].children[0].children) == 6
    assert [key for key in panel.controls if key not in plan.fields()] == []


def test_taking_the_mfu_away_asks_published_runs() -> None:
    """An empty box is no MFU, and the range is that of other runs."""
    panel = panels.page("case-50k")
    panel.controls[MFU].box.value = ""
    panel.controls["training.goodput_fraction"].box.value = ""
    assert (panel.message, panel.plan.training.mfu) == ("", None)
    assert " to " in panel.headline.split(" and takes ")[0]


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        (MFU, "145%", "MFU"),
        ("hardware.usd_per_gpu_hour", "cheap", "Price"),
        ("market.deadline_days", "-1", "Deadline"),
        ("data.n_tokens", "0", "Training tokens"),
        ("memory.precision", "fp8-mixed", "Precision"),
    ],
)
def test_what_the_page_refuses_keeps_the_last_good_picture(key: str, text: str, said: str) -> None:
    """One sentence that names the control, and the picture of before."""
    panel = panels.page("case-50k")
    before = panel.plan, image(panel), panel.headline
    panel.set(key, text)
    assert panel.message.startswith(said)
    assert "\n" not in panel.message
    assert (panel.plan, image(panel), panel.headline, panel.fault) == (*before, None)


def test_a_node_s_price_is_asked_about_in_the_panel() -> None:
    """$98 for one H100 is outside all quotes: the panel asks, and says what it would be each."""
    panel = panels.page("llama-3-8b")
    panel.set("hardware.usd_per_gpu_hour", 98.32)
    assert "as the price of a node of 8 it is $12 each" in panel.message
