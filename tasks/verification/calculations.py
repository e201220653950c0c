"""The calculations of a text: chains of equalities whose parts are numbers, with or without units.

A part is what stands between two equals signs, as far as it is mathematics; words around it are left out, and a part in words or
symbols ends the chain. Each part has the values that it may stand for: its bare numbers, or its quantities in SI units; angles
under sine, cosine and tangent in degrees where no sign says so. Two parts agree where one reading of each agrees, within what the
rounding of their own numbers allows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tasks.traces.equations import NotMath, Spread, evaluate, spread
from tasks.traces.remembered import remembered
from tasks.verification.quantities import (
    KELVIN,
    RELATIVE,
    UNIT,
    Stated,
    is_slip_of_units,
    number,
    quantity,
    spelled_unit,
)

LONGEST_PART = 200  # characters of one part that are read
MOST_CHAINS = 60  # of one text
CLAUSE = re.compile(r"[;\n]|→|⇒|=>|->|,\s(?=[A-Za-zα-ωΑ-Ω])|,\s(?=[^,=≈]*[=≈])|(?<=[\w°Ω²³)])\.\s+(?=\D)|:\s")
EQUALS = re.compile(r"(?<![<>!=])[=≈≃](?!=)|\\approx")
_NUMBER = r"(?:(?<![\w.])[-−+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_TOKEN = rf"(?:{_NUMBER}(?:\s?(?:{UNIT}))?|\b(?:sqrt|sin|cos|tan|pi|exp|ln|log)\b|[-−–+*/()·⋅×∙÷^√π½²³⁰¹⁴⁵⁶⁷⁸⁹⁻|]|\s)"
_RUN = re.compile(rf"{_TOKEN}+")
_QUANTITY = re.compile(rf"({_NUMBER})(?:\s?({UNIT}))?")
_OPERATOR = re.compile(r"[\w)°Ω²³]\s*(?:[*/·⋅×∙÷^+]|[-−–])|sqrt|sin|cos|tan|√|²|³|\)\s*\(")
_SECOND_FORM = re.compile(r"(?<=[\w°Ω²³])\s*\((?=[^()]*[a-zA-ZΩ°])[^()]*\)?\s*$")  # 0.322 A (322 mA)
_INSIDE = re.compile(r"[\w)\]}'*/·⋅×^+−-]\s*$")
_SPOKEN_OPERATOR = re.compile(
    r"\b(?:times|plus|minus|over|by|of|squared|cubed|per|half|twice|double|triple|from)\s*$", re.I
)
_FUNCTION = re.compile(r"sin|cos|tan")
_TRIGONOMETRY = re.compile(r"\b(sin|cos|tan)\s*\(([^()]*)\)")
_FREE_DIGIT = re.compile(r"(?<![\w.])\d")  # of a number, not of a symbol
_LETTERS = frozenset("mghTtNVA")  # units that may as well be symbols
_OPEN_UNITS = re.compile(r"\d\s?[mghTtNVA](?![\w/·²³^°])")  # of which the letter may be a symbol


class Side(NamedTuple):
    """A part of a chain: its text, the values that it may stand for, the quantity where it is one alone, and whether a letter in it
    may be a symbol as well as a unit."""

    text: str
    values: tuple[Spread, ...]
    alone: Stated | None
    open: bool


Chain = tuple[Side, ...]


@remembered(4096)
def calculations(text: str) -> tuple[Chain, ...]:
    """The chains of a text that compute something: at least two parts, one of them more than a number, or two quantities that
    are said to be the same."""
    first = EQUALS.search(text)
    if first is None:
        return ()
    if not EQUALS.search(text, first.end()) and not _FREE_DIGIT.search(text, 0, first.start()):
        return ()  # `mass = 3 kg`
    chains: list[Chain] = []
    for clause in CLAUSE.split(text):
        parts = EQUALS.split(clause)
        if sum(_FREE_DIGIT.search(part) is not None for part in parts) > 1:
            chains += _chains(parts)
        if len(chains) >= MOST_CHAINS:
            break
    return tuple(chains)


def side_of(part: str) -> Side | None:
    """A part that is mathematics as a whole; None where it is not."""
    return _side(part, False, False)


def consistent(chain: Chain) -> bool:
    """Whether each step of a chain agrees with the next."""
    return all(agree(one, other) for one, other in itertools.pairwise(chain))


def same_kind(one: Side, other: Side) -> bool:
    """Whether two sides are quantities of one dimension, each alone: then one is the other in another unit."""
    return one.alone is not None and other.alone is not None and one.alone.dimension == other.alone.dimension != ""


def label_of_step(one: Side, other: Side) -> str:
    """The failure that a step stands for whose sides differ: of the unit where they are one quantity in two units, or where they
    differ by a power of ten."""
    if same_kind(one, other):
        return "unit_scale"
    ratios = [a.value / b.value for a, b in itertools.product(one.values, other.values) if a.value * b.value > 0]
    return "unit_scale" if any(map(is_slip_of_units, ratios)) else "transition"


def _chains(parts: list[str]) -> list[Chain]:
    """Unbroken rows of parts that have values."""
    chains: list[Chain] = []
    row: list[Side] = []
    last = len(parts) - 1
    for place, part in enumerate(parts):
        side = _side(part, place == 0, place == last)
        if side is not None:
            row.append(side)
        if side is None or place == last:
            if len(row) > 1:
                chains.append(tuple(row))
            row = []
    return chains


@remembered(4096)
def _side(part: str, is_first: bool, is_last: bool) -> Side | None:
    """A part as mathematics: the end of the first part, the beginning of the last, the whole of one between them."""
    if len(part) > LONGEST_PART and not (is_first or is_last):
        return None
    text = part.strip() if not (is_first or is_last) else _math_of(part, is_first)
    if not text or "<" in text or ">" in text:
        return None
    alone = quantity(text)
    if alone is not None:
        if is_first and not alone.dimension:
            return None  # a number with nothing that says of what
        raw, value = Spread(alone.raw, _rounding(text)), alone.value
        scale = value / alone.raw if alone.raw else 0.0
        return Side(text, (raw, Spread(value, abs(scale) * raw.rounding)), alone, alone.unit in _LETTERS)
    if not _OPERATOR.search(text):
        return None
    values = tuple(dict.fromkeys(_values(text, _exact)))
    return Side(text, values, None, bool(_OPEN_UNITS.search(text))) if values else None


def _math_of(part: str, is_first: bool) -> str:
    """The mathematics at the end of a part (where it is the first), or at its beginning; empty where words are part of it."""
    part = part[-LONGEST_PART:] if is_first else part[:LONGEST_PART]
    if is_first:
        runs = [run for run in _RUN.finditer(part) if run.end() >= len(part.rstrip()) and run[0].strip()]
        if not runs:
            return ""
        before = part[: runs[-1].start()]
        glued = _INSIDE.search(before) and not before.endswith(" ") and not runs[-1][0][:1].isspace()
        if glued or _SPOKEN_OPERATOR.search(before):
            return ""
        text = runs[-1][0].strip()
        within = text[:1] in "*/·⋅×∙÷^)+" or (text[:1] in "-−–" and text[1:2] == " " and before.strip())
        return "" if within else text
    run = _RUN.match(part)
    if run is None:
        return ""
    text, after = run[0].rstrip(), part[run.end() :]
    if after[:1].isalnum() and text == run[0]:
        return ""  # a symbol follows at once
    text = _SECOND_FORM.sub("", text.strip()).strip()
    return "" if text[-1:] and text[-1:] in "*/·⋅×∙÷^(+-−–√" else text


def _exact(text: str, values: Mapping[str, float]) -> Spread:
    return Spread(evaluate(text, values), 0.0)


@remembered(1024)
def _rounded(side: Side) -> tuple[Spread, ...]:
    """The values of a side with what they may be off."""
    return side.values if side.alone is not None else tuple(_values(side.text, spread))


def _values(text: str, computed: Callable[[str, Mapping[str, float]], Spread]) -> list[Spread]:
    """The values that an expression may have: with bare numbers, and with its units."""
    factors: dict[str, float] = {}

    def bare(match: re.Match[str]) -> str:
        unit = match[2] or ""
        return match[1] + ("°" if unit in ("°", "deg", "degrees") else "")

    def in_units(match: re.Match[str]) -> str:
        known = spelled_unit(match[2]) if match[2] else None
        if known is None or known.dimension == "temperature":
            return bare(match)
        if known.dimension == "angle":
            return match[1] + ("°" if known.factor == 1.0 else "")
        name = f"u{len(factors)}u"
        factors[name] = known.factor
        return f"({match[1]}*{name})"

    texts = dict.fromkeys((_QUANTITY.sub(bare, text), _QUANTITY.sub(in_units, text)))
    made = []
    for one in texts:
        plain = one.replace("−", "-").replace("–", "-")
        in_degrees = _TRIGONOMETRY.sub(_degrees, plain)
        bare_angles = plain if _FUNCTION.search(plain) else plain.replace("°", "")
        for form in dict.fromkeys((plain, in_degrees, bare_angles)):
            try:
                made.append(computed(form, factors))
            except NotMath:
                continue
    return made


def _degrees(match: re.Match[str]) -> str:
    return match[0] if "°" in match[2] or "pi" in match[2] else f"{match[1]}(({match[2]})*pi/180)"


def _rounding(text: str) -> float:
    """What a number as it is written may be off."""
    match = _QUANTITY.match(text)
    read = number(match[1]) if match else None
    if read is None:
        return 0.0
    return 0.5 * 10.0 ** -read[1] if read[1] > 0 or abs(read[0]) >= 10 else 0.0


def agree(one: Side, other: Side) -> bool:
    """Whether some reading of one side equals some reading of the other."""
    temperature = any(side.alone is not None and side.alone.dimension == "temperature" for side in (one, other))
    for (a, _), (b, _) in itertools.product(one.values, other.values):
        if abs(a - b) <= RELATIVE * max(abs(a), abs(b)) + 1e-9:
            return True
    for (a, off_a), (b, off_b) in itertools.product(_rounded(one), _rounded(other)):
        allowed = RELATIVE * max(abs(a), abs(b)) + off_a + off_b + 1e-9
        if abs(a - b) <= max(allowed, KELVIN if temperature else 0.0):
            return True
    return False
