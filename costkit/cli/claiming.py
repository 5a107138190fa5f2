"""Is what they printed true? The ledger of claims, or a reader's own, as rows and as text."""

from __future__ import annotations

import difflib
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from costkit import claims
from costkit.claims import Checked
from costkit.cli.output import table
from costkit.units import finite

ORDERS = ("off", "id", "source")
_HEADINGS = ("Claim", "What", "Printed", "Ours", "Unit", "Verdict", "Why")


def found(arguments: Namespace) -> list[Checked]:
    """The claims that the arguments ask for, in the order asked for."""
    verdicts = list(arguments.verdicts)
    for word in verdicts:
        if word not in claims.VERDICTS:
            near = difflib.get_close_matches(word, claims.VERDICTS, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(claims.VERDICTS)}"
            raise ValueError(f"--verdict cannot be {word!r}; {meant}")
    chosen = claims.ledger() if arguments.claims is None else claims.check(arguments.claims)
    chosen = [one for one in chosen if not verdicts or one.verdict in verdicts]
    if arguments.by == "off":
        return claims.by_off(chosen)
    return sorted(chosen, key=lambda one: (one.source if arguments.by == "source" else "", one.id))


def rows(checks: Sequence[Checked]) -> list[dict[str, Any]]:
    """A row a claim, at full precision; spans of ours by their ends."""
    return [
        {
            "id": one.id,
            "what": one.what,
            "printed": one.printed,
            "recomputed": finite(one.recomputed),
            "recomputed_low": finite(min(one.readings)),
            "recomputed_high": finite(max(one.readings)),
            "unit": one.unit,
            "ratio": finite(one.ratio),
            "off": finite(one.off),
            "verdict": one.verdict,
            "is_judgement": one.is_judgement,
            "why": one.why,
            "source": one.source,
        }
        for one in checks
    ]


def as_text(checks: Sequence[Checked], *, cut: bool) -> str:
    """A line a claim, and the count by verdict."""
    cells = [(one.id, one.what, one.theirs, one.ours, one.unit, one.verdict, one.why) for one in checks]
    return f"{table(_HEADINGS, cells, cut=cut)}\n\n{claims.tally(checks)}\n"
