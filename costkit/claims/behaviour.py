"""Does the published code do that? What can be settled without running it: orders of names and events, units.

- The answer is yes or no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from costkit.claims.inputs import Inputs, Kinds, kinds


def _several(given: Inputs, name: str) -> list[str]:
    found = [part.strip() for part in given.word(name).split(",") if part.strip()]
    if not found:
        raise ValueError(f"Claim '{given.word('id')}' needs names with commas between them in {name}.")
    return found


def _newest_is_last_by_name(given: Inputs) -> bool:
    """Whether sorting file names as text puts the newest one last."""
    return max(_several(given, "names")) == given.word("newest")


def _is_measured(given: Inputs) -> bool:
    """Whether an event lies between the first and the second reading of the clock."""
    events, what = _several(given, "events"), given.word("what_is_measured")
    for name in ("start", "stop", what):
        if name not in events:
            raise ValueError(f"Claim '{given.word('id')}' has no '{name}' among its events: {', '.join(events)}.")
    return events.index("start") < events.index(what) < events.index("stop")


def _are_units_equal(given: Inputs) -> bool:
    """Whether two products of units, such as `s * USD/s` and `USD`, are the same."""
    return _unit(given.word("left")) == _unit(given.word("right"))


def _unit(text: str) -> Counter[str]:
    """Exponents by unit; what is only counted has none."""
    found: Counter[str] = Counter()
    for factor in text.split("*"):
        above, *below = (part.strip() for part in factor.split("/"))
        found[above] += 1
        for part in below:
            found[part] -= 1
    for counted in ("1", "requests"):
        found.pop(counted, None)
    return Counter({unit: power for unit, power in found.items() if power})


_FORMULAS: dict[str, Callable[[Inputs], float]] = {
    "newest_is_last_by_name": _newest_is_last_by_name,
    "is_measured": _is_measured,
    "are_units_equal": _are_units_equal,
}

KINDS: Kinds = kinds(_FORMULAS)
