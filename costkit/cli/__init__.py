"""The `costkit` command: reports, plans, the frontier, fits, and the tables behind them.

Exit status: 0 done, 1 failed, 2 the input or the usage was wrong; what is wrong is one sentence on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

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
    except OSError as error:
        status = _complain(_sentence(error), FAILED)
    except (ValueError, LookupError) as error:
        status = _complain(error, FAILED if type(error).__name__ == "ReportError" else BAD_INPUT)
    return status


def _complain(what: object, status: int) -> int:
    sys.stderr.write(f"costkit: {' '.join(str(what).split())}\n")
    return status


def _sentence(error: OSError) -> str:
    """The operating system's reason, without its number."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()


def _drop_output() -> None:
    """Let the interpreter flush into nothing when it exits, instead of complaining about the closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
