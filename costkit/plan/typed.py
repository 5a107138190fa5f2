"""What does a person mean who types an amount? Text to number, by the unit that it is an amount of.

- `15T`, `1.4 T`, `3e9`, `50,000`, `$50,000`, `250k`, `7%`, `unlimited` and `none` are all numbers.
- A price of a GPU-hour may say what it is for: `98.32 per 8-GPU node`.
- Dollar signs belong to money, percent signs to fractions, and a unit may stand behind its number.
- Whether the number is allowed is the plan's to say; here it only has to be one.
"""

from __future__ import annotations

import math
import re

from costkit import training

_POWERS = {
    "": 0,
    **dict.fromkeys(("k", "thousand"), 3),
    **dict.fromkeys(("m", "mn", "million"), 6),
    **dict.fromkeys(("b", "bn", "billion"), 9),
    **dict.fromkeys(("t", "tn", "trillion"), 12),
    "%": -2,
}
_PER_GPU_HOUR = "USD per GPU-hour"
_UNLIMITED = ("inf", "infinity", "infinite", "unlimited", "no limit", "∞")
_NOTHING = ("none", "nothing", "no", "zero")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<dollar>\$?)"
    r"(?P<digits>(?:\d{1,3}(?:[,_ ]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?P<power>e[+-]?\d{1,6})? ?(?P<multiple>[a-z]*|%)"
)


def is_money(unit: str) -> bool:
    """Whether amounts of the unit are US dollars."""
    return unit.startswith("USD")


def is_share(unit: str) -> bool:
    """Whether amounts of the unit are fractions of something, shown in percent."""
    return unit.startswith("fraction")


def is_nothing(text: str) -> bool:
    """Whether the text says that there is none.

    >>> is_nothing(" None "), is_nothing("0"), is_nothing("")
    (True, False, False)
    """
    return " ".join(text.casefold().split()) in _NOTHING


def amount(text: str, unit: str) -> float | None:
    """The number that the text means as an amount of this unit, infinite where it is too large; None where it is none.

    A price of a GPU-hour may be that of a node or an instance; `ValueError` where it does not say of how many GPUs.

    >>> amount("$250k", "USD"), amount("15T tokens", "tokens"), amount("45%", "fraction"), amount("45%", "USD")
    (250000.0, 15000000000000.0, 0.45, None)
    >>> amount("unlimited", "tokens"), amount("none", "tokens"), amount("lots", "tokens")
    (inf, 0.0, None)
    >>> amount("98.32 per 8-GPU node", "USD per GPU-hour"), amount("2.49/gpu", "USD per GPU-hour")
    (12.29, 2.49)
    """
    words = _plain(text, unit)
    if words in _NOTHING:
        return 0.0
    if words in _UNLIMITED:
        return math.inf
    if unit == _PER_GPU_HOUR and any(f" {kind}" in words or f"/{kind}" in words for kind in training.PRICE_UNITS):
        return training.read_price(text).usd_per_gpu_hour
    match = _NUMBER.fullmatch(words)
    if not match or not _belongs(match, unit):
        return None
    digits = re.sub("[,_ ]", "", match["digits"])
    power = int((match["power"] or "e0")[1:]) + _POWERS[match["multiple"]]
    return float(f"{match['sign']}{digits}e{power}")


def _plain(text: str, unit: str) -> str:
    """The text in lower case, with single spaces and without the unit itself at its end."""
    words, unit = " ".join(text.replace("−", "-").casefold().split()), unit.casefold()
    rates = ("/gpu-hour", "/hour", "/h") if " per " in unit else ()
    for ending in (unit, unit.split(" ")[0], "params" if unit == "parameters" else "", *rates):
        if ending and words.endswith(ending) and words != ending:
            words = words.removesuffix(ending).rstrip()
    return re.sub(r"^us ?\$ ?|^\$ ", "$", words)


def _belongs(match: re.Match[str], unit: str) -> bool:
    """Whether the signs around the number are ones that this unit can have."""
    multiple = match["multiple"]
    if multiple not in _POWERS or (multiple == "%" and not is_share(unit)) or (multiple.isalpha() and match["power"]):
        return False
    return not match["dollar"] or is_money(unit)
