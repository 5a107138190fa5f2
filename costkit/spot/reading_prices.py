"""How does a price history get in? What AWS prints, or a CSV, as prices by zone, or one sentence on why it is none.

- What can't be a price (text, nothing above zero, two at once) is an error; what is odd but possible is a warning, and
  stays in. A row without a price is left out, and the price before it is held.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from costkit import tables, units, writing
from costkit.spot import files, price_checks, price_rows
from costkit.spot.price_history import PriceHistory, ZonePrices
from costkit.spot.price_rows import PriceRow


def read_price_history(
    path: str | Path,
    *,
    zone: str | None = None,
    instance_type: str | None = None,
    product: str | None = None,
    on_demand_usd_per_hour: float | None = None,
) -> PriceHistory:
    """Read prices as AWS prints them, or from a CSV; the forms are those of `price_rows`.

    Args:
        path: The file.
        zone: The only zone to take.
        instance_type: The only kind of machine to take, needed where the file has several.
        product: The only product to take (Linux/UNIX, ...), needed where the file has several.
        on_demand_usd_per_hour: What the same machine costs on demand, to hold the prices against.

    Raises:
        ValueError: It is no price history, or holds what can't be a price; one sentence says where.
        UnknownName: It has nothing of the name that was asked for.
        OSError: It can't be read.
    """
    if on_demand_usd_per_hour is not None:
        units.require_positive(on_demand_usd_per_hour, "on_demand_usd_per_hour", "USD per hour")
    name = writing.expanded(path).name
    rows, is_whole = price_rows.rows_of(name, files.text_of(path, of="a price history"))
    if not rows:
        raise ValueError(f"'{name}' has no prices; were the zone, the dates and the type right when it was asked for?")
    for row in rows:
        if not row.zone:
            raise ValueError(f"{row.where}: no zone is named; a price needs one.")
    told = [] if is_whole else [f"'{name}': NextToken is not empty; pages are missing after the last price."]
    wanted = {"zone": zone, "instance_type": instance_type, "product": product}
    for column, value in wanted.items():
        rows = _only(name, rows, column, value)
    zones, odd = _zones_of(name, rows)
    told += [*odd, *price_checks.warnings_on(zones.values(), on_demand_usd_per_hour=on_demand_usd_per_hour)]
    return PriceHistory(name, MappingProxyType(zones), tuple(told))


def _only(name: str, rows: list[PriceRow], column: str, value: str | None) -> list[PriceRow]:
    """The rows of that zone, type or product; without one, there may be several zones, but one type and one product."""
    read = operator.attrgetter(column)
    found = sorted(set(map(read, rows)))
    if value is not None:
        tables.lookup(column.replace("_", " "), value, dict.fromkeys(filter(None, found)))
        return [row for row in rows if read(row) == value]
    if column != "zone" and len(found) > 1:
        listed = files.few([one or "(none)" for one in found])
        raise ValueError(
            f"'{name}' mixes {len(found)} {column.replace('_', ' ')}s: {listed}; choose one with {column}=\"...\"."
        )
    return rows


@dataclass(frozen=True)
class _Point:
    """A change of price that has been read."""

    time_s: float
    usd_per_hour: float
    where: str


def _zones_of(name: str, rows: list[PriceRow]) -> tuple[dict[str, ZonePrices], list[str]]:
    """The prices by zone, in order of time, and what was odd about the rows."""
    points: dict[str, list[_Point]] = {}
    empty: list[tuple[str, float]] = []
    n_naive = 0
    for row in rows:
        time_s, has_zone = files.instant(row.timestamp, where=row.where)
        n_naive += not has_zone
        if row.price is None or not str(row.price).strip():
            empty.append((row.zone, time_s))
        else:
            usd = files.usd(row.price, where=row.where)
            points.setdefault(row.zone, []).append(_Point(time_s, usd, row.where))
    if not points:
        raise ValueError(f"'{name}' has no price in any of its {len(rows)} rows; each needs one in USD per hour.")
    told = [f"'{name}': times without a zone were taken as UTC."] if n_naive else []
    told += _counted(empty, "{n} prices are empty, the first of {at}; the price before each is held.")
    again: list[tuple[str, float]] = []
    zones = {}
    for zone in sorted(points):
        kept = list(_distinct(zone, points[zone], again))
        times_s = np.array([point.time_s for point in kept])
        usd_per_hour = np.array([point.usd_per_hour for point in kept])
        zones[zone] = ZonePrices(zone, rows[0].instance_type, rows[0].product, times_s, usd_per_hour)
    return zones, told + _counted(again, "{n} rows stand there twice, the first of {at}; each counts once.")


def _distinct(zone: str, points: list[_Point], again: list[tuple[str, float]]) -> Iterable[_Point]:
    """The points in order of time, those that stand there twice once."""
    last = None
    for point in sorted(points, key=lambda one: one.time_s):
        if last is None or point.time_s > last.time_s:
            yield point
        elif point.usd_per_hour == last.usd_per_hour:
            again.append((zone, point.time_s))
        else:
            raise ValueError(
                f"{point.where}: {zone} has two prices at {files.day(point.time_s)}, "
                f"{last.usd_per_hour:g} and {point.usd_per_hour:g}; are two kinds of machine mixed?"
            )
        last = point


def _counted(found: list[tuple[str, float]], sentence: str) -> list[str]:
    """One sentence for each zone, with the number of cases and the first of them."""
    by_zone: dict[str, list[float]] = {}
    for zone, time_s in found:
        by_zone.setdefault(zone, []).append(time_s)
    return [
        f"{zone}: {sentence.format(n=len(times), at=files.day(min(times)))}" for zone, times in sorted(by_zone.items())
    ]
