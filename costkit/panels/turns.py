"""Whose turn is it? One change at a time: JupyterLab calls the parts of one panel from more than one thread.

- What comes while another change is drawn waits for it and is drawn after it, first come first served.
- All panels of a kernel share the turn, as does a cell that sets one: no two are drawn at once.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Turn:
    """A lock that a thread may take again while it has it, and that goes to whoever has waited longest.

    `threading.RLock` promises no order: who gives it back may have it again before one who waits, and an older change
    would be drawn last.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._owner, self._depth = 0, 0
        self._waiting: deque[tuple[int, threading.Event]] = deque()

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._guard:
            if self._owner in (0, me):
                self._owner, self._depth = me, self._depth + 1
                return
            called = threading.Event()
            self._waiting.append((me, called))
        try:
            called.wait()
        except BaseException:  # an interrupt of the kernel: the place in the queue, or the turn itself, is given up
            self._leave(me, called)
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._depth -= 1
            if self._depth == 0:
                self._call_next()

    def _leave(self, me: int, called: threading.Event) -> None:
        with self._guard:
            if (me, called) in self._waiting:
                self._waiting.remove((me, called))
            else:
                self._call_next()

    def _call_next(self) -> None:
        self._owner, self._depth = 0, 0
        if self._waiting:
            self._owner, called = self._waiting.popleft()
            self._depth = 1
            called.set()


_TURN = Turn()


def in_turn(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """The method, which waits for its turn; what it calls itself is part of it."""

    @functools.wraps(method)
    def waiting(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _TURN:
            return method(*args, **kwargs)

    return waiting
