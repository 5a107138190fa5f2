"""Whose turn is it? One change at a time: JupyterLab calls the parts of one panel from more than one thread.

- What comes while another change is drawn waits for it and is drawn after it; nothing is lost or mixed.
- All panels of a kernel share the turn, as does a cell that sets one: a figure is never drawn by two.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_TURN = threading.RLock()


def in_turn(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """The method, which waits for its turn; what it calls itself is part of it."""

    @functools.wraps(method)
    def waiting(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _TURN:
            return method(*args, **kwargs)

    return waiting


def hear(part: Any, trait: str, method: Callable[[Any], None]) -> None:
    """Call the method in its turn whenever the widget's trait changes.

    A change that had to wait is shown once more: meanwhile the screen may have been told an older value, and ipywidgets
    does not send back what the screen itself had sent.
    """

    def heard(change: Any) -> None:
        at_once = _TURN.acquire(blocking=False)
        if not at_once:
            _TURN.acquire()
        try:
            method(change)
            if not at_once:
                part.send_state(trait)
        finally:
            _TURN.release()

    part.observe(heard, trait)
