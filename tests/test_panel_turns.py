from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import pytest
from matplotlib.figure import Figure

from costkit import claims, plan
from costkit.panels import Ledger, Panel, View, replan
from costkit.panels.turns import hear, in_turn
from costkit.plan import Plan

KEYS = ("training.budget_usd", "training.law", "model.architecture", "levers.order")
WAITS_S = 10.0
OVERTAKES_WITHIN_S = 0.3


class SlowView:
    """A view that, once armed, gives what comes meanwhile the time to overtake it."""

    def __init__(self) -> None:
        self.armed, self.drawing, self.overtaken = False, threading.Event(), threading.Event()
        self.at_work, self.most_at_work = 0, 0

    def __call__(self, plan: Plan) -> View:
        """The plan's keys as a sentence."""
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        if self.armed:
            self.armed = False
            self.drawing.set()
            self.overtaken.wait(OVERTAKES_WITHIN_S)
        self.at_work -= 1
        return View(" / ".join(str(plan.value(key)) for key in KEYS), (), Figure((1, 1), label="Nothing."), [])


@pytest.fixture
def view() -> SlowView:
    """A view that is not armed yet."""
    return SlowView()


@pytest.fixture
def panel(view: SlowView) -> Panel:
    """A panel with a control of each kind."""
    return Panel(plan.read("case-50k"), view, KEYS)


def meanwhile(view: SlowView, first: Callable[[], object], second: Callable[[], object]) -> None:
    """Do the second in another thread while the first is being drawn."""
    view.armed = True

    def overtake() -> None:
        assert view.drawing.wait(WAITS_S)
        second()
        view.overtaken.set()

    other = threading.Thread(target=overtake)
    other.start()
    first()
    other.join(WAITS_S)
    assert not other.is_alive()


@pytest.mark.parametrize(
    ("key", "part", "state", "expected"),
    [
        ("training.budget_usd", "box", {"value": "80k"}, 80_000.0),
        ("training.budget_usd", "slider", {"value": 0}, None),
        ("training.law", "box", {"index": 0}, None),
        ("model.architecture", "box", {"value": "llama-2-7b"}, "llama-2-7b"),
        ("levers.order", "box", {"value": "flash"}, "flash"),
        ("levers.order", "tags", {"value": ["flash"]}, "flash"),
    ],
    ids=["number", "slider", "list", "text", "order", "tags"],
)
def test_what_comes_while_another_change_is_drawn_is_drawn_after_it(
    panel: Panel, view: SlowView, key: str, part: str, state: dict[str, Any], expected: object
) -> None:
    """The screen tells of a change in a thread of its own; Reset, which came before, does not undo it."""
    before = panel.plan.value(key)
    widget = getattr(panel.controls[key], part)
    meanwhile(view, panel.reset, lambda: widget.set_state(state))
    assert panel.plan.value(key) == panel.controls[key].value != before
    assert expected is None or panel.plan.value(key) == expected
    assert (view.most_at_work, panel.fault, panel.message) == (1, None, "")


def test_a_slider_stands_where_it_was_put(panel: Panel, view: SlowView) -> None:
    """Also where Reset moved it back in between."""
    slider = panel.controls["training.budget_usd"].slider
    meanwhile(view, panel.reset, lambda: slider.set_state({"value": 3}))
    assert slider.value == 3


def test_a_refusal_is_not_taken_back_by_what_came_before_it(panel: Panel, view: SlowView) -> None:
    """Reset ends what was refused before it, not what is typed after it."""
    box = panel.controls["levers.order"].box
    meanwhile(view, panel.reset, lambda: box.set_state({"value": "flsh"}))
    assert "no lever 'flsh'" in panel.message
    assert box.value == "flsh"


def test_a_change_that_waited_is_told_to_the_screen_again(
    panel: Panel, view: SlowView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reset may have sent the older text; the last that the screen hears is what was typed."""
    box, sent = panel.controls["levers.order"].box, []
    monkeypatch.setattr(box, "_send", lambda message, **_: sent.append(message["state"].get("value")))
    meanwhile(view, panel.reset, lambda: box.set_state({"value": "flash, spot"}))
    assert sent[-1] == "flash, spot"


def test_a_cell_that_sets_a_panel_waits_too(panel: Panel, view: SlowView) -> None:
    """Cells run in one thread and callbacks in another."""
    meanwhile(view, panel.reset, lambda: panel.set("training.budget_usd", 70_000.0))
    assert (panel.plan.training.budget_usd, view.most_at_work) == (70_000.0, 1)


def test_two_panels_do_not_draw_at_once(panel: Panel, view: SlowView) -> None:
    """They may share a figure's fonts and caches."""
    other = Panel(plan.read("new-run"), view, KEYS)
    meanwhile(view, panel.reset, other.reset)
    assert view.most_at_work == 1


def test_a_turn_within_a_turn_does_not_wait_for_itself() -> None:
    """What a change sets off is part of it."""
    assert in_turn(in_turn(lambda: "done"))() == "done"


def _fail(change: dict[str, Any]) -> None:
    raise RuntimeError(change["new"])


def test_a_turn_that_fails_is_over(panel: Panel) -> None:
    """The next one, in another thread, is not kept waiting."""
    text = widgets.Text()
    hear(text, "value", _fail)
    with pytest.raises(RuntimeError, match="a"):
        text.value = "a"
    done = threading.Thread(target=panel.reset, daemon=True)
    done.start()
    done.join(WAITS_S)
    assert not done.is_alive()


def test_every_part_that_a_reader_moves_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control that listens past the turn would be drawn by two threads at once."""
    turns: list[object] = []
    observe = widgets.Widget.observe

    def watched(widget: Any, handler: Any, *names: Any, **options: Any) -> None:
        if getattr(handler, "__module__", "").startswith("costkit"):
            turns.append(handler.__module__)
        observe(widget, handler, *names, **options)

    monkeypatch.setattr(widgets.Widget, "observe", watched)
    replan("case-50k")
    Ledger(claims.ledger()[:1])
    assert set(turns) == {"costkit.panels.turns"}
