"""How is a price history written down? Three forms, each as rows of text.

- JSON as `aws ec2 describe-spot-price-history --output json` prints it, one page or several, or a list of its rows.
- The same as text: zone, type, product, price and time between tabs, without a header.
- CSV with a header: `zone`, `usd_per_hour`, `timestamp` and perhaps `instance_type` and `product`, or AWS's names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from costkit import reading
from costkit.spot import files

_NAMES = {
    "zone": ("zone", "AvailabilityZone", "availability_zone", "AvailabilityZoneId"),
    "price": ("usd_per_hour", "price", "SpotPrice", "spot_price"),
    "timestamp": ("timestamp", "time"),
    "instance_type": ("instance_type", "InstanceType"),
    "product": ("product", "ProductDescription", "product_description"),
}
_COMMAND = "aws ec2 describe-spot-price-history --output json"
_TEXT_TAG = "SPOTPRICEHISTORY"
_TEXT_FORM = "zone, instance type, product, price and time between tabs"


@dataclass(frozen=True)
class PriceRow:
    """A price from a time on, as the file has it; `where` names its place there."""

    where: str
    zone: str
    instance_type: str
    product: str
    price: object
    timestamp: object


def rows_of(name: str, text: str) -> tuple[list[PriceRow], bool]:
    r"""The rows of a price history, and whether all its pages are there.

    >>> rows, is_whole = rows_of("mine.csv", "zone,usd_per_hour,timestamp\nus-east-1a,2.5,2026-01-01T00:00:00Z\n")
    >>> rows[0].zone, rows[0].price, is_whole
    ('us-east-1a', '2.5', True)
    """
    if text.lstrip()[0] in "{[":
        return _of_json(name, text)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "\t" in first and _NAMES["timestamp"][0] in first.casefold().split("\t"):
        return _of_table(name, reading.rows_of(name, text, delimiter="\t")), True
    if "\t" in first:
        return _of_text(name, text), "NEXTTOKEN" not in text.upper()
    return _of_table(name, reading.rows_of(name, text)), True


def _of_json(name: str, text: str) -> tuple[list[PriceRow], bool]:
    rows: list[PriceRow] = []
    token: object = ""
    for page in _pages(name, text):
        entries = page.get("SpotPriceHistory") if isinstance(page, dict) and "SpotPriceHistory" in page else [page]
        if not isinstance(entries, list):
            raise ValueError(f"'{name}': SpotPriceHistory is {files.quoted(entries)}; it must be a list of prices.")
        token = page.get("NextToken", "") if isinstance(page, dict) else ""
        rows += [_of_entry(f"'{name}', SpotPriceHistory[{len(rows) + i}]", entry) for i, entry in enumerate(entries)]
    return rows, not token


def _pages(name: str, text: str) -> list[Any]:
    """The pages, whether one, a list of them or one written after the other."""
    try:
        text, decoder, at, found = text.strip(), json.JSONDecoder(), 0, []
        while at < len(text):
            page, at = decoder.raw_decode(text, at)
            while text[at : at + 1].isspace():
                at += 1
            found += page if isinstance(page, list) else [page]
    except (ValueError, RecursionError):
        files.json_of(f"'{name}'", text)
        raise
    return found


def _of_entry(where: str, entry: object) -> PriceRow:
    cells = {what: _first(entry, names) for what, names in _NAMES.items()} if isinstance(entry, dict) else {}
    missing = next((_NAMES[what] for what in ("zone", "price", "timestamp") if cells.get(what) is None), None)
    if missing is not None:
        wanted = next(alias for alias in missing if alias in ("AvailabilityZone", "SpotPrice", "timestamp"))
        raise ValueError(f"{where} has no {wanted.replace('timestamp', 'Timestamp')}; give what `{_COMMAND}` prints.")
    texts = {what: str(cells[what] or "").strip() for what in ("zone", "instance_type", "product")}
    return PriceRow(where, **texts, price=cells["price"], timestamp=cells["timestamp"])


def _first(entry: Mapping[str, object], names: tuple[str, ...]) -> object:
    folded = {str(key).casefold(): value for key, value in entry.items()}
    there = [folded[alias.casefold()] for alias in names if alias.casefold() in folded]
    return next((value for value in there if value is not None), "" if there else None)


def _of_text(name: str, text: str) -> list[PriceRow]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells) or cells[0].upper() == "NEXTTOKEN":
            continue
        if cells[0].upper() == _TEXT_TAG:  # the untouched form, where a zone's identifier may follow its name
            cells = cells[1:2] + cells[-4:]
        where = f"'{name}', line {number}"
        if len(cells) != 5:
            raise ValueError(f"{where}: has {len(cells)} cells; each line must be {_TEXT_FORM}.")
        zone, instance_type, product, price, timestamp = cells
        rows.append(PriceRow(where, zone, instance_type, product, price, timestamp))
    return rows


def _of_table(name: str, table: list[reading.Row]) -> list[PriceRow]:
    if not table:
        raise ValueError(f"'{name}' has no rows; a price history needs zone, usd_per_hour and timestamp.")
    header = [cell.casefold() for cell in table[0][1]]
    at = {
        what: next(header.index(alias.casefold()) for alias in names if alias.casefold() in header)
        for what, names in _NAMES.items()
        if any(alias.casefold() in header for alias in names)
    }
    for what, column in (("zone", "zone"), ("price", "usd_per_hour"), ("timestamp", "timestamp")):
        if what not in at:
            raise ValueError(f"'{name}' has no column {column}; it has {files.few(table[0][1])}.")

    def of(number: int, cells: list[str]) -> PriceRow:
        found = {what: cells[at[what]] if what in at and at[what] < len(cells) else "" for what in _NAMES}
        return PriceRow(f"'{name}', line {number}", **found)

    return [of(number, cells) for number, cells in table[1:]]
