"""What came of a published figure? Ours beside it, how far off it is, and how many there are of each verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from costkit.claims.printed import figure, numbers
from costkit.claims.verdicts import CLOSE, DEPENDS, HOLDS, VERDICTS, WRONG

YES, NO = "yes", "no"


@dataclass(frozen=True)
class Checked:
    """A published figure, ours, and what comes of it.

    `published` and `recomputed` are middles, not-a-number where there is none; `printed` is the figure as printed,
    `readings` every value of ours. `assumption` names what was left open, `is_judgement` says that no formula decides.
    """

    id: str
    source: str
    what: str
    published: float
    recomputed: float
    unit: str
    verdict: str
    why: str
    printed: str = ""
    readings: tuple[float, ...] = ()
    assumption: str = ""
    is_judgement: bool = False
    topic: str = ""

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.recomputed / self.published if self.published else math.inf

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the greatest of ours over theirs: of a printed span end by end, and 1 for what lies inside.

        Not-a-number where words were printed.
        """
        ends = numbers(self.printed) or (self.published, self.published)
        if not math.isfinite(self.ratio) or 0 in ends:
            return self.ratio, self.ratio
        low, high = min(self.readings, default=self.recomputed), max(self.readings, default=self.recomputed)
        if low == high:
            ratio = low / min(max(low, ends[0]), ends[-1])
            return ratio, ratio
        found = low / ends[0], high / ends[-1]
        return min(found), max(found)

    @property
    def off(self) -> float:
        """How far off, as a factor of 1 or more: 1 for what holds, inf for a word that is wrong."""
        if self.verdict == HOLDS or self.is_judgement or (self.verdict == DEPENDS and math.isnan(self.published)):
            return 1.0
        if not math.isfinite(self.ratio) or self.ratio <= 0:
            return math.inf
        ends = numbers(self.printed) or (self.published,)
        return max(min(_factor(ours, end) for ours in self._compared(end, ends)) for end in ends)

    def _compared(self, end: float, ends: tuple[float, ...]) -> tuple[float, ...]:
        """What of ours one printed end is held against: its own end of a span, or the nearest reading."""
        if len(ends) == 2 and not self.assumption and self.readings:
            return (min(self.readings),) if end == ends[0] else (max(self.readings),)
        return self.readings or (self.recomputed,)

    @property
    def ours(self) -> str:
        """Ours in words."""
        if math.isnan(self.recomputed):
            words = dict.fromkeys(YES if value else NO for value in self.readings)
            return " or ".join(words)
        low, high = min(self.readings, default=self.recomputed), max(self.readings, default=self.recomputed)
        return figure(self.recomputed) if low == high else f"{figure(low)} to {figure(high)}"

    @property
    def theirs(self) -> str:
        """Theirs, written as ours is."""
        ends = numbers(self.printed)
        if not ends:
            return figure(self.published) if math.isfinite(self.published) else self.printed
        return " to ".join(figure(end) for end in ends)


def by_off(found: Iterable[Checked]) -> list[Checked]:
    """The most wrong first: wrong ones, then what depends, what is close and what holds, each by how far off."""
    return sorted(found, key=lambda one: (-VERDICTS.index(one.verdict), -one.off, one.id))


def tally(found: Sequence[Checked]) -> str:
    """How many there are of each verdict, in a sentence.

    >>> from costkit.claims import ledger
    >>> tally(ledger())
    'Of 92 claims 30 hold, 7 are close, 13 depend on what is not said and 42 are wrong.'
    """
    n = {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
    words = ((HOLDS, "holds", "hold"), (CLOSE, "is close", "are close"), (WRONG, "is wrong", "are wrong"))
    told = {verdict: f"{n[verdict]} {one if n[verdict] == 1 else several}" for verdict, one, several in words}
    depends = f"{n[DEPENDS]} depend{'s' if n[DEPENDS] == 1 else ''} on what is not said"
    claims = "1 claim" if len(found) == 1 else f"{len(found):,} claims"
    return f"Of {claims} {told[HOLDS]}, {told[CLOSE]}, {depends} and {told[WRONG]}."


def _factor(ours: float, theirs: float) -> float:
    ratio = ours / theirs if theirs else math.inf
    return math.inf if ratio <= 0 or not math.isfinite(ratio) else max(ratio, 1 / ratio)
