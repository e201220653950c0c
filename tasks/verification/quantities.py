"""Numbers and quantities as people write them: with thousands separators, in scientific notation or in words, units as in
`traces.units`; and when two numbers are the same."""

from __future__ import annotations

import functools
import math
import re
from typing import Any, NamedTuple

from tasks.traces import latex
from tasks.traces.remembered import remembered
from tasks.traces.units import SUPERSCRIPTS, Unit, unit

RELATIVE = 0.012  # the tolerance of a stated number: 1 % (paper 2, state verifier) and three-digit rounding
ROUNDING_CAP = 0.025  # a number's own decimals excuse no more than this
_POWERS_OF_TEN = tuple(10.0**k for k in (-6, -4, -3, -2, -1, 1, 2, 3, 4, 6))  # by which slips of units are off
KELVIN = 0.8  # the tolerance of a temperature

NUMBER_WORDS = {
    word: float(i)
    for i, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {"thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0, "eighty": 80.0, "ninety": 90.0}
_MOST_DECIMALS = 400  # more than a float can tell apart

_TOKEN = (
    r"(?:kilo|centi|milli|mega|micro|k(?=ohm))?(?:met(?:er|re)|gram|second|newton|joule|pascal|volt|ampere|amp|watt|tesla|weber|ohm"
    r"|lit(?:er|re)|kelvin|radian)s?\b|hertz\b|degrees?(?: celsius| C\b)?|deg\b|°\s?[CF]|°|%"
    r"|(?:[kcmMGµμ](?=[gmsNJPVAWTHLΩ]))?(?:Wb|Pa|Hz|Ω|Ω|rad|kg|min|[gmsNJVAWTLKhC])(?![a-zA-Zα-ωΑ-Ψ])"
)
_POWER = r"(?:\s?squared|\s?cubed|\*\*-?\d|\^\{?-?\d\}?|[⁻]?[²³¹]|-?[1-4](?![\d.]))?"
UNIT = (
    rf"(?:{_TOKEN}){_POWER}(?:\s?(?:/|·|⋅|\*|\bper\b)\s?\(?(?:{_TOKEN}){_POWER}\)?(?:[·⋅*](?:{_TOKEN}){_POWER}\)?)?)*"
)
_NUMBER = (
    r"(?<![\w.])[-−+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
    r"(?:[eE][-+]?\d+|\s?(?:×|x|\*|·|\\times)\s?10\s?(?:\^|\*\*)?\s?\{?(?:[-−+]?\d+|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?)?"
)
QUANTITY = re.compile(rf"({_NUMBER})(?:\s?({UNIT}))?")
_POWER_OF_TEN = re.compile(r"\s?(?:×|x|\*|·|\\times)\s?10\s?(?:\^|\*\*)?\s?\{?([-−+]?\d+|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?$")
_NAMED_FIRST = re.compile(r"^[^\W\d][^=≈:<>]{0,24}(?:=|≈|:)\s*(?=[-+−\d])")
_BEHIND = re.compile(
    r"\s*(?:[=≈(,;]|\b(?:to|toward|towards|in|on|up|upward|upwards|down|downward|downwards|left|leftward|leftwards|right|rightward"
    r"|rightwards|clockwise|counterclockwise|anticlockwise|vertically|horizontally|along|at|or|away|pointing|into|out|above|below)\b|[↑↓←→])"
)
_DECIMAL_COMMA = re.compile(rf"(?<![\d.,])(\d+),(\d{{1,2}}|\d{{4,}})(?=\s?(?:{UNIT}))")
_LONELY_UNIT = re.compile(rf"^{UNIT}$")
WORD_NUMBER = re.compile(rf"\b({'|'.join(NUMBER_WORDS)})\b(?=\s+(?:{UNIT}))", re.IGNORECASE)


@remembered(4096)
def number(text: str) -> tuple[float, int] | None:
    """The value of a number as people write it, and how many decimals it shows; None where it is none, or is beyond what a
    float holds."""
    text = text.strip()
    if text.isascii() and (text.isdigit() or text.replace(".", "", 1).isdigit()):
        value = float(text)
        return (value, len(text.partition(".")[2])) if value < math.inf else None
    lowered = text.lower()
    if lowered in NUMBER_WORDS:
        return NUMBER_WORDS[lowered], 0
    try:
        return _scientific(text)
    except (ValueError, OverflowError):  # no number, or an exponent that no float has
        return None


def _scientific(text: str) -> tuple[float, int] | None:
    power = 0
    if match := _POWER_OF_TEN.search(text):
        power = int(match[1].translate(SUPERSCRIPTS).replace("−", "-"))
        text = text[: match.start()]
    text = text.replace(",", "").replace("−", "-")
    value = float(text) * 10.0**power
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - power - (int(exponent) if exponent else 0)
    return value, min(decimals, _MOST_DECIMALS)


@functools.lru_cache(maxsize=4096)
def spelled_unit(text: str) -> Unit | None:
    """A unit in words or symbols."""
    text = text.strip().replace("metre", "meter").replace("litre", "liter")
    text = re.sub(r"degrees? (celsius|C)", "°C", text).replace("° C", "°C")
    text = re.sub(r"\s?squared", "**2", text)
    text = re.sub(r"\s?cubed", "**3", text)
    text = re.sub(r"\s?\bper\b\s?", "/", text)
    return unit(text)


class Stated(NamedTuple):
    """A number in canonical units, what it may be off by its own rounding, and its dimension ("" where no unit is
    given). `raw` is the number as written, `told` what is said behind it (`to the left`)."""

    value: float
    rounding: float
    dimension: str
    raw: float
    unit: str
    told: str = ""

    def __str__(self) -> str:
        return f"{self.raw:g} {self.unit}".rstrip()


def stated(value: float, decimals: int, spelled: str) -> Stated | None:
    """None where `spelled` is no unit."""
    rounding = 0.505 * 10.0**-decimals if decimals > 0 or abs(value) >= 10 else 0.0
    if not spelled:
        return Stated(value, rounding, "", value, "")
    known = spelled_unit(spelled)
    if known is None:
        return None
    return Stated(value * known.factor + known.offset, rounding * abs(known.factor), known.dimension, value, spelled)


def quantity(value: Any, spelled: str | None = None) -> Stated | None:
    """The number that a JSON value states: a number, `{"value", "unit"}`, or a text such as `6.31 m/s²`."""
    while isinstance(value, dict):
        inner = value.get("unit")
        value, spelled = value.get("value"), inner if isinstance(inner, str) else spelled
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value, spelled or "") if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 200:
        return _of_text(value, spelled or "")
    return None


@remembered(4096, typed=True)  # a trace states one number in many places
def _of_number(value: float, spelled: str) -> Stated | None:
    decimals = 0
    if isinstance(value, float):
        text = repr(value)
        if "e" in text:
            read = number(text)
            decimals = read[1] if read else 0
        elif not value.is_integer():
            decimals = len(text.partition(".")[2])
    return stated(float(value), decimals, spelled)


@remembered(4096)
def _of_text(text: str, spelled: str) -> Stated | None:
    text = point_for_comma(latex.plain(text.strip()))
    match = QUANTITY.match(text)
    if match and match.end() >= len(text) - 1:
        read = number(match[1])
        return stated(*read, match[2] or spelled) if read else None
    read = number(text)
    if read:
        return stated(*read, spelled)
    words = text.lower().split(" ", 1)
    if len(words) == 2 and words[0] in NUMBER_WORDS and _LONELY_UNIT.match(words[1]):
        return stated(NUMBER_WORDS[words[0]], 0, words[1])
    return _of_phrase(text, spelled)


def _of_phrase(text: str, spelled: str) -> Stated | None:
    """The number of `W = 24.6 N`, `4.06 L = 4.06×10⁻³ m³`, `7.25 W (7250 mW)`, `5.93 m/s to the left`; None where what stands
    before or behind the number may change it."""
    text = _NAMED_FIRST.sub("", text)
    match = QUANTITY.match(text)
    if match is None or not (match.end() == len(text) or (match[2] and _BEHIND.match(text, match.end()))):
        return None
    read = number(match[1])
    said = stated(*read, match[2] or spelled) if read else None
    return said._replace(told=text[match.end() :].strip()) if said else None


def point_for_comma(text: str) -> str:
    """The text with a decimal point where a comma can be nothing else: before one, two or more than three digits and a unit."""
    return _DECIMAL_COMMA.sub(r"\1.\2", text) if "," in text else text


def same(stated: Stated, expected: float, dimension: str) -> bool:
    """Whether a stated number is `expected` within the tolerance."""
    if dimension == "temperature":
        return abs(stated.value - expected) <= KELVIN
    margin = max(RELATIVE * abs(expected), min(stated.rounding, ROUNDING_CAP * abs(expected)))
    return abs(stated.value - expected) <= margin or (
        abs(expected) < 1e-9 and abs(stated.value) <= max(stated.rounding, 1e-6)
    )


def near(one: float, other: float) -> bool:
    return abs(one - other) <= RELATIVE * max(abs(one), abs(other)) + 1e-12


def is_slip_of_units(ratio: float) -> bool:
    """Whether a number that is off by this factor is off by a power of ten."""
    return any(near(ratio, power) for power in _POWERS_OF_TEN)
