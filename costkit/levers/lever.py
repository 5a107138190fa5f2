"""What does a measure change? The share of each component's time, of the price or of the work that is left with it.

- What is left is a range: about eight of ten times it lies between low and high.
- Effects in one slot do the same thing by different means: of those that are on, one counts.
- An effect that needs another lever is there only while that one is on too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real

from costkit import tables
from costkit.levers.baseline import COMPONENTS, PRICE, TIME, WORK, Baseline, component
from costkit.units import Range, percent

GROUPS = ("price", "engineering", "work")
_LEAST_KEPT = 1e-15


@dataclass(frozen=True)
class Effect:
    """What is left of a target once a lever is on, and the levers that it `needs` with it.

    `slot` names what does the same thing by other means: of what is on in a slot the highest `rank` counts, and of
    equal ranks what leaves least.
    """

    target: str
    keep: Range
    slot: str = ""
    rank: float = 0.0
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lever:
    """A measure that saves, or is meant to, and its effects; without any it changes nothing.

    Raises `ValueError` of one sentence for a factor of zero or below, or a range that is upside down, and `UnknownName`
    for a target that there is not.
    """

    name: str
    effects: tuple[Effect, ...]
    group: str = "engineering"

    def __post_init__(self) -> None:
        tables.lookup("group of levers", self.group, dict.fromkeys(GROUPS))
        for effect in self.effects:
            if effect.target not in (TIME, PRICE, WORK):
                tables.lookup("component", component(effect.target), COMPONENTS)
            self._check(effect)

    def _check(self, effect: Effect) -> None:
        low, mid, high = effect.keep.low, effect.keep.mid, effect.keep.high
        if not all(_LEAST_KEPT <= keep <= 1 / _LEAST_KEPT for keep in (low, mid, high)):
            raise ValueError(
                f"lever '{self.name}' leaves {mid:g} of {effect.target} (from {low:g} to {high:g}); what is left must"
                " be above 0 and finite: 0.5 halves it, 1 changes nothing"
            )
        if not low <= mid <= high:
            raise ValueError(
                f"lever '{self.name}' leaves {low:g}, {mid:g}, {high:g} of {effect.target}; low, mid and high must rise"
            )


def lever(
    name: str,
    keeps: Mapping[str, Range | float],
    *,
    slot: str = "",
    group: str = "engineering",
    needs: Iterable[str] = (),
) -> Lever:
    """A lever from what it leaves of each target: a component, a part of one, `time`, `price` or `work`.

    >>> lever("flash", {"attention": Range(0.2, 0.3, 0.5)}).effects[0].keep.mid
    0.3
    """
    ranges = {target: _range(keep, f"lever '{name}' leaves of {target}") for target, keep in keeps.items()}
    effects = tuple(Effect(target, keep, slot, needs=_names(needs)) for target, keep in ranges.items())
    return Lever(name, effects, group)


def measured_lever(name: str, speedup: Range | float, *, of: str, baseline: Baseline, slot: str = "") -> Lever:
    """A lever from a measured speed-up of a whole run like the baseline, which acts on one component of it.

    With a share s of the time, a run that is f times as fast leaves k of the component: 1/f = 1 - s + s k.

    Raises `ValueError` of one sentence where the run would save more than the component's whole share, where that takes
    no time, and for a speed-up that is not above 0 or is upside down.

    >>> run = Baseline(50_000, shares={"attention": 0.5, "matmul": 0.5})
    >>> measured_lever("flash", 1.6, of="attention", baseline=run).effects[0].keep.mid
    0.25
    """
    factor = _range(speedup, f"lever '{name}' has as its speed-up")
    share = baseline.share(of)
    if not factor.low > 0:
        raise ValueError(f"lever '{name}' has a speed-up of {factor.low:g}; it must be above 0: 1 changes nothing")
    if not factor.low <= factor.mid <= factor.high:
        raise ValueError(
            f"lever '{name}' has a speed-up of {factor.low:g}, {factor.mid:g}, {factor.high:g}; low, mid and high must"
            " rise"
        )
    _require(name, of, baseline)
    if share == 0:
        raise ValueError(f"lever '{name}' acts on {of}, which takes none of the baseline's time: no speed-up is there")
    saved = 1 - 1 / factor.high
    if saved >= share:
        raise ValueError(
            f"lever '{name}' is said to make the run {factor.high:g} times as fast, which saves {percent(saved)} of its"
            f" time; {of} is {percent(share)} of it, and no more than that can be saved there"
        )
    return lever(name, {of: factor.map(lambda f: (1 / f - 1 + share) / share)}, slot=slot)


def _range(value: Range | float, what: str) -> Range:
    """The range as it is, a number as one without width."""
    if isinstance(value, Range):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"what {what} must be a number or a Range, not {value!r}")
    return Range.exact(float(value))


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in their order; a text is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_levers(baseline: Baseline, levers: Iterable[Lever]) -> list[Lever]:
    """The levers, each once; a ValueError of one sentence where two differ under one name or act on what is not there.

    A lever that stands there twice changes nothing the second time.
    """
    found: dict[str, Lever] = {}
    for one in levers:
        if found.setdefault(one.name, one) != one:
            raise ValueError(f"two levers are called '{one.name}' and differ; give each a name of its own")
        for effect in one.effects:
            _require(one.name, effect.target, baseline)
    return list(found.values())


def _require(name: str, target: str, baseline: Baseline) -> None:
    if target in (TIME, PRICE, WORK) or any(target in (one, component(one)) for one in baseline.shares):
        return
    has = ", ".join(dict.fromkeys(component(one) for one in baseline.shares if one != TIME)) or "no components at all"
    raise ValueError(f"lever '{name}' acts on {target}, which the baseline does not have; it has {has}")


def in_order(levers: Iterable[Lever], order: Iterable[str] | None) -> list[Lever]:
    """The levers in the order of these names, those that it does not name left out; as they come without an order.

    Raises `ValueError` of one sentence for a lever that is named twice, `UnknownName` for one that there is not.
    """
    by_name = {one.name: one for one in levers}
    if order is None:
        return list(by_name.values())
    names = _names(order)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the order names '{twice}' {names.count(twice)} times; name each lever once")
    return [tables.lookup("lever", name, by_name) for name in names]
