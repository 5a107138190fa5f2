"""Who gets the credit? What each lever saves first, last, and on average over all orders.

- The Shapley share of a lever is its saving averaged over every order; the shares sum to the whole drop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costkit.levers.baseline import Baseline
from costkit.levers.bills import Flags, Floats, bills
from costkit.levers.lever import Lever, check_levers

MOST_LEVERS = 16
SHARED_FRACTION = 0.1


@dataclass(frozen=True)
class Credit:
    """What a lever saves in US dollars when it comes first, last, and on average over all orders."""

    name: str
    group: str
    first_usd: float
    last_usd: float
    shapley_usd: float

    @property
    def is_shared(self) -> bool:
        """Whether first and last differ by more than a tenth of the larger: the credit is shared with other levers."""
        return abs(self.first_usd - self.last_usd) > SHARED_FRACTION * max(abs(self.first_usd), abs(self.last_usd))


def shapley(baseline: Baseline, levers: Iterable[Lever]) -> dict[str, float]:
    """US dollars of the drop by lever, averaged over every order; they sum to the drop.

    phi_i = sum over sets S without i of |S|! (n - |S| - 1)! / n! (bill(S) - bill(S and i)); Shapley 1953.

    Raises:
        ValueError: There are more than 16 levers, or they are not what `waterfall` takes.

    >>> from costkit.levers import lever
    >>> halves = [lever("a", {"time": 0.5}), lever("b", {"price": 0.5})]
    >>> shapley(Baseline(100), halves)
    {'a': 37.5, 'b': 37.5}
    """
    return {one.name: one.shapley_usd for one in attribution(baseline, levers)}


def attribution(baseline: Baseline, levers: Iterable[Lever]) -> list[Credit]:
    """What each lever saves first, last and on average; raises as `shapley` does.

    >>> from costkit.levers import lever
    >>> halves = [lever(name, {"time": 0.5}, slot="the same half") for name in "ab"]
    >>> one, other = attribution(Baseline(100), halves)
    >>> one.first_usd, one.last_usd, one.shapley_usd, one.is_shared
    (50.0, 0.0, 25.0, True)
    """
    chosen = check_levers(baseline, levers)
    n = len(chosen)
    if n > MOST_LEVERS:
        raise ValueError(f"there are {n} levers; the average over all orders is computed for at most {MOST_LEVERS}")
    on = sets_of(n)
    bill = bills(baseline, chosen, on)[:, 0]
    return [_credit(one, index, on, bill) for index, one in enumerate(chosen)]


def further(baseline: Baseline, pulled: Iterable[Lever], others: Iterable[Lever]) -> list[float]:
    """What each other lever would save after all that are pulled, alone beside them, in the middle, in US dollars.

    >>> from costkit.levers import lever
    >>> half, third = lever("half", {"time": 0.5}), lever("a third off", {"price": 2 / 3})
    >>> [round(usd, 2) for usd in further(Baseline(90), [half], [third, half])]
    [15.0, 0.0]
    """
    here, rest = check_levers(baseline, pulled), list(others)
    chosen = check_levers(baseline, [*here, *rest])
    on = np.array([[one in here or one == more for one in chosen] for more in (None, *rest)], dtype=bool)
    bill = bills(baseline, chosen, on.reshape(len(rest) + 1, len(chosen)))[:, 0]
    return [float(saved) for saved in bill[0] - bill[1:]]


def _credit(one: Lever, index: int, on: Flags, bill: Floats) -> Credit:
    n = on.shape[1]
    without = np.flatnonzero(~on[:, index])
    saved = bill[without] - bill[without | 1 << index]
    sizes = on[without].sum(axis=1)
    weights = np.array([math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n) for size in range(n)])
    average = float(np.sum(weights[sizes] * saved))
    return Credit(one.name, one.group, float(saved[0]), float(saved[-1]), average)


def sets_of(n_levers: int) -> Flags:
    """Every set of that many levers, row by row: set k has lever i where bit i of k is 1."""
    found: Flags = (np.arange(2**n_levers)[:, None] >> np.arange(n_levers)) % 2 == 1
    return found
