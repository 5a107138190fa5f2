"""Whose turn is it? One change at a time: JupyterLab calls the parts of one panel from more than one thread.

- What is heard while another change is drawn waits for it and is drawn after it, first come first served. In which
  order two threads hear what was done within one redraw is the kernel's to say.
- All panels of a kernel share the turns, as does a cell that sets one: no two are drawn at once.
- A reader may interrupt the kernel at any point, and only a `with` on a lock of Python's own surely gives it back.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Turn:
    """One change: locked until it is over, with the one `before` it while it has to wait for that."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.before: _Turn | None = None


class Turns:
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    `threading.RLock` promises no order: who gives it back may have it again before one who waits, and an older change
    would be drawn last. Here everyone waits for the one who came just before.
    """

    def __init__(self) -> None:
        self._guard, self._own = threading.Lock(), threading.local()
        self._last: _Turn | None = None

    def run(self, work: Callable[[], _R]) -> _R:
        """Do the work when its turn has come; what it calls in turn is part of it."""
        own: _Turn | None = getattr(self._own, "turn", None)
        if own is not None and own.lock.locked():
            return work()
        self._own.turn = turn = _Turn()
        with turn.lock:
            with self._guard:
                turn.before = self._last
                self._last = turn
            self._wait_for(turn.before)
            turn.before = None
            return work()

    def _wait_for(self, before: _Turn | None) -> None:
        """Wait for a turn, and, as it may have been given up while it waited, for the one that it waited for."""
        while before is not None:
            with before.lock:
                before = before.before


_TURNS = Turns()


def in_turn(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """The method, which waits for its turn."""

    @functools.wraps(method)
    def waiting(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return _TURNS.run(functools.partial(method, *args, **kwargs))

    return waiting
