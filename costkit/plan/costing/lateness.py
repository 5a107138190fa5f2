"""Will the run be done in time? Its range held against the deadline."""

from __future__ import annotations

from costkit.units import Range

IN_TIME, MAYBE_LATE, LATE = "in time", "maybe late", "late"


def lateness(wall_s: Range, deadline_s: float) -> str:
    """Whether it is done in time: even where slow, only where all goes well, or not even in the middle.

    >>> [lateness(Range(1.0, 2.0, 3.0), deadline_s) for deadline_s in (3.0, 2.0, 1.0)]
    ['in time', 'maybe late', 'late']
    """
    if wall_s.mid > deadline_s:
        return LATE
    return MAYBE_LATE if wall_s.high > deadline_s else IN_TIME
