"""One line of the table that `make bench` prints."""

from __future__ import annotations

HEADER = ("what", "measured", "wanted")


def row(what: str, measured: str, wanted: str) -> None:
    """Print what was measured beside what is wanted."""
    print(f"{what:<66} {measured:>16} {wanted:>16}", flush=True)


if __name__ == "__main__":
    row(*HEADER)
    row("-" * 66, "-" * 16, "-" * 16)
