"""The `costkit` command: reports, plans, the frontier, memory, fits, and the tables behind them.

Exit status: 0 done, 1 failed, 2 the input or the usage was wrong; what is wrong is one sentence on standard error.
A fault of ours is neither: it is raised as it is, and Python prints it and exits with 1.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from costkit import troubles
from costkit.cli import output
from costkit.cli.parser import parse

__all__ = ["main"]

DONE, FAILED, BAD_INPUT = 0, 1, 2
INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143
"""What a shell reports for a program that SIGINT, SIGPIPE or SIGTERM ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    >>> main(["plan", "token", "llama-2-7b", "--set", "hardware.n_gpus=many"])
    2
    """
    output.prepare("stdout", "stderr")
    with _terminable():
        return _status_of(sys.argv[1:] if argv is None else list(argv))


def _status_of(argv: list[str]) -> int:
    try:
        arguments = parse(argv)
        output.check_target(arguments)
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except SystemExit as asked:
        status = int(asked.code or DONE)
    except BrokenPipeError:
        _drop_output()
        status = PIPE_CLOSED
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        if not troubles.is_answer(error):
            raise
        status = _complain(troubles.sentence(error), getattr(error, "exit_status", _status(error)))
    return status


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that what it made for the time being is taken away again."""
    try:
        before = signal.getsignal(signal.SIGTERM)
        if before == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _terminate)
    except ValueError:  # only the main thread may set handlers; from any other, the signal is not ours
        before = None
    try:
        yield
    finally:
        if before == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit(TERMINATED)


def _complain(what: object, status: int) -> int:
    sys.stderr.write(output.printable(f"costkit: {' '.join(str(what).split())}\n"))
    return status


def _status(error: Exception) -> int:
    return FAILED if isinstance(error, OSError) else BAD_INPUT


def _drop_output() -> None:
    """Let the interpreter flush into nothing when it exits, instead of complaining about the closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
