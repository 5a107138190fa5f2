"""What does a command print? For the tests of the command line."""

from __future__ import annotations

import pytest

from costkit.cli import main


def told(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    """What the command prints on standard output; with another status, its sentence on standard error."""
    assert main(argv) == status
    out, err = capsys.readouterr()
    if status == 0:
        assert err == ""
        return out
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("costkit: ")
    return err.removeprefix("costkit: ").strip()
