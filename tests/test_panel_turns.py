from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pytest
from matplotlib.figure import Figure

from costkit import claims, plan
from costkit.panels import Ledger, Panel, View, replan
from costkit.panels.turns import Turns, in_turn
from costkit.plan import Plan

KEYS = ("training.budget_usd", "training.law", "model.architecture", "levers.order")
WAITS_S = 10.0
OVERTAKES_WITHIN_S = 0.3


class SlowView:
    """A view that, once armed, gives what comes meanwhile the time to overtake it."""

    def __init__(self) -> None:
        self.armed, self.drawing, self.overtaken = False, threading.Event(), threading.Event()
        self.at_work, self.most_at_work, self.interrupted = 0, 0, False

    def __call__(self, plan: Plan) -> View:
        """The plan's keys as a sentence."""
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt
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


def until(happened: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    deadline = time.monotonic() + WAITS_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


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


def test_an_older_change_does_not_have_the_last_word(panel: Panel, view: SlowView) -> None:
    """A second Reset comes after what was typed during the first, although its thread has just had the turn."""
    box = panel.controls["training.budget_usd"].box
    for budget in ("80k", "70k", "60k", "40k"):
        meanwhile(view, lambda: (panel.reset(), panel.reset()), lambda typed=budget: box.set_state({"value": typed}))  # type: ignore[misc]
        assert panel.plan == plan.read("case-50k")


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


@pytest.mark.parametrize("method", ["reset", "choose", "save", "show_token", "export_csv", "export_figure", "new"])
def test_whatever_a_panel_is_asked_for_waits(
    panel: Panel, view: SlowView, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in another panel, or by one that is only opened: they may share fonts and caches."""
    monkeypatch.chdir(tmp_path)
    other, at_work = Panel(plan.read("new-run"), view, KEYS), []
    calls: dict[str, Callable[[], object]] = {
        "choose": lambda: other.choose("llama-2-7b"),
        "new": lambda: Panel(plan.read("new-run"), view, KEYS),
    }

    def ask() -> None:
        calls.get(method, getattr(other, method, None) or other.reset)()
        at_work.append(view.at_work)

    meanwhile(view, panel.reset, ask)
    assert (at_work, view.most_at_work, other.fault) == ([0], 1, None)


def test_who_waits_longest_is_next() -> None:
    """Also before one who has just given the turn back, and although others came since."""
    turns, order = Turns(), []

    def wait_for_one(name: str) -> threading.Thread:
        last = turns._last
        thread = threading.Thread(target=turns.run, args=(lambda: order.append(name),))
        thread.start()
        until(lambda: turns._last is not last)
        return thread

    threads = turns.run(lambda: [wait_for_one(name) for name in "abcdef"])
    turns.run(lambda: order.append("last"))
    for thread in threads:
        thread.join(WAITS_S)
    assert order == [*"abcdef", "last"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system to interrupt with")
def test_one_who_is_interrupted_holds_nobody_up() -> None:
    """A reader may interrupt the kernel at any point: while a change waits, when its turn comes, when it is over."""
    turns, done = Turns(), threading.Event()
    busy = threading.Thread(target=lambda: [turns.run(lambda: None) for _ in iter(done.is_set, True)], daemon=True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    busy.start()
    try:
        for microseconds in range(300):
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, (50 + microseconds) * 1e-6)
                while True:
                    turns.run(lambda: None)
            last = turns._last
            until(lambda: turns._last is not last)  # noqa: B023  # the other thread goes on
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        done.set()
    busy.join(WAITS_S)
    assert not busy.is_alive()


def test_who_comes_after_one_who_gave_up_waits_for_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt ends the waiting of one, and lets no other in between."""
    turns, order, threads = Turns(), [], []

    def give_up(_: object) -> None:
        raise KeyboardInterrupt

    def come(name: str) -> None:
        with suppress(KeyboardInterrupt):
            turns.run(lambda: order.append(name))

    def first() -> None:
        for name, is_patient in (("impatient", False), ("patient", True)):
            with monkeypatch.context() as patched:
                if not is_patient:
                    patched.setattr(turns, "_wait_for", give_up)
                threads.append(threading.Thread(target=come, args=(name,)))
                threads[-1].start()
                threads[-1].join(OVERTAKES_WITHIN_S)
        order.append("first")

    turns.run(first)
    threads[-1].join(WAITS_S)
    assert order == ["first", "patient"]
    turns.run(lambda: None)
    assert turns._last is not None
    assert turns._last.before is None  # or all turns that ever were would be kept


def test_an_interrupted_change_leaves_controls_and_picture_agreeing(panel: Panel, view: SlowView) -> None:
    """What was not drawn is not shown as set either, and the next change is answered."""
    view.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        panel.set("levers.order", "flash")
    order = panel.controls["levers.order"]
    assert order.value == panel.plan.value("levers.order") == plan.read("case-50k").levers.order == order.box.value
    assert not order.boxes["flash"].value
    panel.set("levers.order", "flash")
    assert panel.plan.levers.order == "flash"


def test_an_interrupted_choice_of_a_plan_names_the_plan_that_is_shown(panel: Panel, view: SlowView) -> None:
    """The list of plans goes back, too."""
    view.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        panel.presets.value = "new-run"
    assert (panel.presets.value, panel.plan) == ("case-50k", plan.read("case-50k"))


def test_a_turn_within_a_turn_does_not_wait_for_itself() -> None:
    """What a change sets off is part of it."""
    assert in_turn(in_turn(lambda: "done"))() == "done"


def test_a_turn_that_fails_is_over(panel: Panel) -> None:
    """The next one, in another thread, is not kept waiting."""
    with pytest.raises(ZeroDivisionError):
        in_turn(lambda: 1 / 0)()
    done = threading.Thread(target=panel.reset, daemon=True)
    done.start()
    done.join(WAITS_S)
    assert not done.is_alive()


def test_every_part_that_a_reader_moves_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control that listens past the turn would be drawn by two threads at once."""
    heard: list[Any] = []
    observe = widgets.Widget.observe

    def watched(widget: Any, handler: Any, *names: Any, **options: Any) -> None:
        heard.append(handler)
        observe(widget, handler, *names, **options)

    monkeypatch.setattr(widgets.Widget, "observe", watched)
    replan("case-50k")
    Ledger(claims.ledger()[:1])
    ours = [handler for handler in heard if "costkit" in repr(getattr(handler, "__wrapped__", handler))]
    assert len(ours) > 30
    assert [handler for handler in ours if not hasattr(handler, "__wrapped__")] == []
