"""What does a reader hear when something goes wrong? One sentence, and whether the fault is theirs or ours.

Panels and the command line end in it; nothing else catches what it does not mend.
"""

from __future__ import annotations

_FAULT = "This is a fault in costkit"


def is_answer(error: Exception) -> bool:
    """Whether the error speaks to the reader; a bare KeyError or IndexError is a slip of ours.

    >>> is_answer(ValueError("give more")), is_answer(KeyError("x")), is_answer(TypeError("no"))
    (True, False, False)
    """
    return isinstance(error, (ValueError, LookupError, OSError)) and not isinstance(error, (KeyError, IndexError))


def sentence(error: Exception) -> str:
    """The error as the reader is told of it.

    >>> sentence(ValueError("give more")), sentence(FileNotFoundError(2, "No such file", "runs.csv"))
    ('give more', 'runs.csv: no such file')
    >>> sentence(ZeroDivisionError("division by zero"))
    'This is a fault in costkit: ZeroDivisionError: division by zero'
    """
    words = " ".join(str(error).split())
    if not is_answer(error):
        return f"{_FAULT}: {type(error).__name__}{words and f': {words}'}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    return words or f"{_FAULT}: {type(error).__name__}"
