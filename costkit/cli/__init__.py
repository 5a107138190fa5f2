"""The `costkit` command: reports, plans, the frontier, fits, and the tables behind them.

Exit status: 0 done, 1 failed, 2 the input or the usage was wrong; what is wrong is one sentence on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from costkit import troubles
from costkit.cli.parser import parse

__all__ = ["main"]

DONE, FAILED, BAD_INPUT = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 130, 141
"""What a shell reports for a program that SIGINT or SIGPIPE ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    >>> main(["plan", "token", "llama-2-7b", "--set", "hardware.n_gpus=many"])
    2
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else list(argv))
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


def _complain(what: object, status: int) -> int:
    sys.stderr.write(f"costkit: {' '.join(str(what).split())}\n")
    return status


def _status(error: Exception) -> int:
    return FAILED if isinstance(error, OSError) else BAD_INPUT


def _drop_output() -> None:
    """Let the interpreter flush into nothing when it exits, instead of complaining about the closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
