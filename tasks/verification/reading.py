"""Quantities, directions and words out of what traces say: one reader a family, its tables built once.

A text gives `Told` numbers: value, unit, the quantity that the words before it name, the object it is told of. Numbers
may be plain, with thousands separators, in scientific notation or in words; units as in `traces.units`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tasks.traces.families import FAMILIES
from tasks.traces.family import Family
from tasks.traces.record import key_name, snake
from tasks.traces.units import SUPERSCRIPTS, Unit, unit

_WORDS = {
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

_TOKEN = (
    r"(?:kilo|centi|milli|mega|micro|k(?=ohm))?(?:met(?:er|re)|gram|second|newton|joule|pascal|volt|ampere|amp|watt|tesla|weber|ohm"
    r"|lit(?:er|re)|kelvin|radian)s?\b|hertz\b|degrees?(?: celsius| C\b)?|deg\b|°\s?[CF]|°|%"
    r"|(?:[kcmMGµμ](?=[gmsNJPVAWTHLΩ]))?(?:Wb|Pa|Hz|Ω|Ω|rad|kg|min|[gmsNJVAWTLKhC])(?![a-zA-Zα-ωΑ-Ψ])"
)
_POWER = r"(?:\s?squared|\s?cubed|\*\*-?\d|\^\{?-?\d\}?|[⁻]?[²³¹]|-?[1-4](?![\d.]))?"
_UNIT = (
    rf"(?:{_TOKEN}){_POWER}(?:\s?(?:/|·|⋅|\*|\bper\b)\s?\(?(?:{_TOKEN}){_POWER}\)?(?:[·⋅*](?:{_TOKEN}){_POWER}\)?)?)*"
)
_NUMBER = (
    r"(?<![\w.])[-−+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
    r"(?:[eE][-+]?\d+|\s?(?:×|x|\*|·|\\times)\s?10\s?(?:\^|\*\*)?\s?\{?(?:[-−+]?\d+|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?)?"
)
QUANTITY = re.compile(rf"({_NUMBER})(?:\s?({_UNIT}))?")
_POWER_OF_TEN = re.compile(r"\s?(?:×|x|\*|·|\\times)\s?10\s?(?:\^|\*\*)?\s?\{?([-−+]?\d+|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?$")
_LONELY_UNIT = re.compile(rf"^{_UNIT}$")
_WORD_NUMBER = re.compile(rf"\b({'|'.join(_WORDS)})\b(?=\s+(?:{_UNIT}))", re.IGNORECASE)


def number(text: str) -> tuple[float, int] | None:
    """The value of a number as people write it, and how many decimals it shows; None where it is none."""
    text = text.strip()
    if text.isascii() and (text.isdigit() or text.replace(".", "", 1).isdigit()):
        return float(text), len(text.partition(".")[2])
    lowered = text.lower()
    if lowered in _WORDS:
        return _WORDS[lowered], 0
    power = 0
    if match := _POWER_OF_TEN.search(text):
        power = int(match[1].translate(SUPERSCRIPTS).replace("−", "-"))
        text = text[: match.start()]
    text = text.replace(",", "").replace("−", "-")
    try:
        value = float(text) * 10.0**power
    except (ValueError, OverflowError):
        return None
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return value, decimals - power - (int(exponent) if exponent else 0)


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
    given). `raw` is the number as written."""

    value: float
    rounding: float
    dimension: str
    raw: float
    unit: str

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
    if isinstance(value, dict):
        inner = value.get("unit")
        return quantity(value.get("value"), inner if isinstance(inner, str) else spelled)
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not abs(value) < 1e300:
            return None
        if isinstance(value, int):
            return stated(float(value), 0, spelled or "")
        text = repr(value)
        if "e" in text:
            decimals = number(text)[1]  # type: ignore[index]
        else:
            decimals = len(text.partition(".")[2]) if not float(value).is_integer() else 0
        return stated(float(value), decimals, spelled or "")
    if isinstance(value, str) and len(value) < 200:
        match = QUANTITY.match(value.strip())
        if match and match.end() >= len(value.strip()) - 1:
            found = number(match[1])
            own = match[2] or ""
            return stated(*found, own or spelled or "") if found else None
        found = number(value)
        if found:
            return stated(*found, spelled or "")
        words = value.strip().lower().split(" ", 1)
        if len(words) == 2 and words[0] in _WORDS and _LONELY_UNIT.match(words[1]):
            return stated(_WORDS[words[0]], 0, words[1])
    return None


class Told(NamedTuple):
    """A number in a text, the canonical keys that the words before it may mean (empty: nothing named), the name of the
    object it is told of ("" where none is named)."""

    keys: tuple[str, ...]
    owner: str
    stated: Stated
    start: int
    end: int


_SUFFIXES = (
    ("_kg_m3", "kg/m^3"), ("_kg_per_m3", "kg/m^3"), ("_m_per_s2", "m/s^2"), ("_m_s2", "m/s^2"), ("_m_per_s", "m/s"),
    ("_m_s", "m/s"), ("_km_h", "km/h"), ("_n_per_m", "N/m"), ("_n_m", "N*m"), ("_j_kgk", "J/(kg*K)"), ("_j_kg_k", "J/(kg*K)"),
    ("_deg", "deg"), ("_ohm", "ohm"), ("_hz", "Hz"), ("_kpa", "kPa"), ("_pa", "Pa"), ("_kg", "kg"), ("_cm", "cm"), ("_mm", "mm"),
    ("_m3", "m^3"), ("_m2", "m^2"), ("_kj", "kJ"), ("_wb", "Wb"), ("_ms", "ms"), ("_m", "m"), ("_s", "s"), ("_n", "N"),
    ("_j", "J"), ("_c", "degC"), ("_k", "K"), ("_v", "V"), ("_a", "A"), ("_t", "T"), ("_w", "W"), ("_g", "g"),
)  # fmt: skip
SYNONYMS = {
    "starting": "initial", "original": "initial", "begin": "initial", "ending": "final", "resulting": "final",
    "velocity": "speed", "coefficient_of_friction": "friction_coefficient", "spring_constant": "stiffness",
    "coefficient_of_static_friction": "static_friction_coefficient", "time_elapsed": "elapsed_time",
    "coefficient_of_kinetic_friction": "kinetic_friction_coefficient", "incline_angle": "slope_angle",
    "angle_of_incline": "slope_angle", "angle_of_the_slope": "slope_angle", "rate_of_acceleration": "acceleration",
}  # fmt: skip

FORCE_NAMES = (
    ("gravity", r"grav|weight"),
    ("normal", r"normal|support|reaction"),
    ("friction", r"friction"),
    ("tension", r"tension|centripetal|string"),
    ("buoyancy", r"buoy|upthrust|archimed"),
    ("spring force", r"spring|restoring|elastic"),
    ("push", r"push|appl|pull"),
)
_FORCES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in FORCE_NAMES)


@functools.lru_cache(maxsize=2048)
def force_name(text: str) -> str:
    """One name for a force, whatever the trace calls it; the text itself where it is none of the known ones."""
    for name, pattern in _FORCES:
        if pattern.search(text):
            return name
    return text.lower()


_NEGATION = re.compile(
    r"\b(?:not|n't|never|no longer|without|neither|cannot|isn't|doesn't|won't|fails? to)\b[^.;,]{0,24}$", re.IGNORECASE
)


def negated(text: str, position: int) -> bool:
    """Whether a negation stands before `position` in the same clause."""
    return bool(_NEGATION.search(text[max(0, position - 40) : position]))


@functools.lru_cache(maxsize=4096)
def direction(text: str) -> tuple[float | None, float | None] | None:
    """A direction as (x, y), each -1, 0, 1 or None where the words leave it open; None where they say nothing usable.
    `up the incline` has an upward part whatever side it leads to."""
    lowered = text.lower().replace("_", " ").replace("-", " ")
    flip = (
        -1.0 if negated(lowered + " ", len(lowered)) or re.search(r"\b(?:not|opposite (?:to|of))\b", lowered) else 1.0
    )
    slope = re.search(r"\b(up|down)(?:ward)?s?\s+(?:along )?(?:the )?(?:incline|slope|ramp|plane)", lowered)
    if slope:
        return None, flip * (1.0 if slope[1] == "up" else -1.0)
    if re.search(r"\binto (?:the )?(?:surface|incline|plane|ramp|floor|table)", lowered):
        return None, -flip
    if re.search(r"perpendicular|normal to|away from (?:the )?(?:surface|incline)|along (?:the )?string", lowered):
        return None, flip
    x = -1.0 if re.search(r"\bleft(?:ward)?s?\b|\bwest|\bnegative x|[-−]x\b", lowered) else 0.0
    x = 1.0 if re.search(r"\bright(?:ward)?s?\b|\beast|\bpositive x|\+x\b", lowered) else x
    y = -1.0 if re.search(r"\bdown(?:ward)?s?\b|\bdescend", lowered) else 0.0
    y = 1.0 if re.search(r"\bup(?:ward)?s?\b|\bascend", lowered) else y
    return (flip * x, flip * y) if x or y else None


def opposed(one: tuple[float | None, float | None], other: tuple[float | None, float | None]) -> bool | None:
    """Whether two directions cannot be the same; None where their known parts do not meet."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    return any(a != b for a, b in pairs)


class Reader:
    """How texts and keys of one family are read."""

    def __init__(self, family: Family):
        self.family = family
        names: dict[str, list[str]] = {}
        symbols: dict[str, list[str]] = {}
        self.aliases: dict[str, list[str]] = {}
        for key, item in family.quantities.items():
            for name in (item.name, *item.aliases):
                spoken = name.replace("_", " ")
                if name == item.name or (len(spoken) > 3 and not any(char.isdigit() for char in spoken)):
                    names.setdefault(spoken.lower(), [])
                    if key not in names[spoken.lower()]:
                        names[spoken.lower()].append(key)
                else:
                    symbols.setdefault(name, []).append(key)
                self.aliases.setdefault(snake(name.lower()), []).append(key)
            symbols.setdefault(item.symbol, [])
            if key not in symbols[item.symbol]:
                symbols[item.symbol].insert(0, key)
            self.aliases.setdefault(key.lower(), []).append(key)
            self.aliases.setdefault(item.symbol.lower(), []).append(key)
        if "gravitational acceleration" in names:
            names["g"] = ["g"]
            symbols["g"] = ["g"]
        spoken_names = sorted((name for name in names if len(name) > 1), key=len, reverse=True)
        self.names = {name: tuple(keys) for name, keys in names.items()}
        self.symbols = {name: tuple(keys) for name, keys in symbols.items()}
        self.name_pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, spoken_names)) + r")\b")  # on lower case
        self.symbol_pattern = re.compile(r"(?<![\w])([^\W\d_][\w']{0,8})\s?(?:=|≈|:)\s?$")
        self.condition_patterns = {
            key: _condition_pattern(family, key, options) for key, options in family.conditions.items()
        }
        self.outcomes = {value: re.compile(pattern) for value, pattern in family.outcome.words.items()}  # on lower case
        self.recognize = {role: re.compile(pattern, re.IGNORECASE) for role, pattern in family.recognize.items()}
        self.rule = re.compile(family.rule_words, re.IGNORECASE)
        self.dimensions = {
            key: (unit(item.unit) or Unit(1, 0, "unknown")).dimension for key, item in family.quantities.items()
        }
        order = re.findall(r"\{(\w+)\}", family.setting)
        self.role_order = list(dict.fromkeys([*(role for role in order if role in family.roles), *family.roles]))

    def key(self, label: str, names: Mapping[str, str]) -> tuple[str | None, str]:
        """(canonical key, unit that the label itself states) of a variable's name; key None where it is unknown."""
        table = _labels(self.family.name, tuple(names.items()))
        if (found := table.get(label)) is not None:
            return found, ""
        lowered = snake(label.strip().lower())
        if lowered in table:
            return table[lowered], ""
        if lowered in self.aliases:
            return self.aliases[lowered][0], ""
        for old, new in SYNONYMS.items():
            if old in lowered:
                swapped = lowered.replace(old, new)
                if swapped in table:
                    return table[swapped], ""
                if swapped in self.aliases:
                    return self.aliases[swapped][0], ""
        if lowered.replace("speed", "velocity") in table:
            return table[lowered.replace("speed", "velocity")], ""
        for suffix, spelled in _SUFFIXES:
            if lowered.endswith(suffix):
                stem = lowered[: -len(suffix)]
                for candidate in (stem, SYNONYMS.get(stem, stem)):
                    if candidate in table:
                        return table[candidate], spelled
                    for key in self.aliases.get(candidate, ()):
                        known = spelled_unit(spelled)
                        if known is not None and self.dimensions[key] == known.dimension:
                            return key, spelled
        return None, ""

    def told(self, text: str, objects: Iterable[str] = ()) -> list[Told]:
        """All numbers of a text that stand for a quantity."""
        return _told(self.family.name, text, tuple(objects))

    def stated_outcomes(self, text: str) -> set[str]:
        """The outcomes that a text claims; a negated one counts as its only alternative."""
        return set(_outcomes(self.family.name, text))

    def read_outcomes(self, text: str) -> set[str]:
        found, text = set(), text.lower()
        for value, pattern in self.outcomes.items():
            for match in pattern.finditer(text):
                if negated(text, match.start()):
                    others = [other for other in self.outcomes if other != value]
                    if len(others) == 1:
                        found.add(others[0])
                else:
                    found.add(value)
        return found


def _condition_pattern(family: Family, key: str, options: tuple[str, ...]) -> re.Pattern[str]:
    """The condition as the family's own question words it: the words around its place in the setting."""
    match = re.search(r"(\S+\s)?\{" + key + r"\}(\S*\s?\w*)", family.setting)
    before, after = (
        (re.escape(match[1] or ""), re.escape(match[2] or "")) if match and "{" not in (match[1] or "") else ("", "")
    )
    if match and match[1] and "{" in match[1]:
        before = ""
    choice = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    return re.compile(rf"{before}\b({choice}){after}")


@functools.lru_cache(maxsize=4096)
def _labels(family_name: str, names: tuple[tuple[str, str], ...]) -> dict[str, str]:
    family, roles = FAMILIES[family_name], dict(names)
    table: dict[str, str] = {}
    for key, item in family.quantities.items():
        if item.owner and item.owner not in roles:
            continue
        table.setdefault(key_name(family, key, roles).lower(), key)
    return table


@functools.lru_cache(maxsize=1024)
def _written(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(how a lower-case text may write it, name) of every object."""
    forms = [(form, name) for name in names for form in dict.fromkeys((name.lower(), name.lower().replace("_", " ")))]
    return tuple(form for form in forms if form[0])


def occurrences(text: str, names: Iterable[str]) -> list[tuple[int, int, str]]:
    """(start, end, name) of every whole-word mention of the objects in a lower-case text, in order; where two names
    overlap the longer one counts."""
    found: list[tuple[int, int, str]] = []
    for form, name in _written(tuple(names)):
        start = text.find(form)
        while start >= 0:
            end = start + len(form)
            before, after = text[start - 1 : start], text[end : end + 1]
            if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
                found.append((start, end, name))
            start = text.find(form, end)
    if len(found) > 1:
        found.sort(key=lambda item: (item[0], -item[1]))
        found = [
            item for i, item in enumerate(found) if i == 0 or item[0] >= found[i - 1][1] or item[1] > found[i - 1][1]
        ]
    return found


_EQUALS = frozenset("=≈:")
_OPERATORS = frozenset("·⋅*×/√^+(")
_OPERATOR_AFTER = re.compile(r"\s?[·⋅*×/√π^+²³(]|[α-ωa-zA-Z]")
_UNIT_PATTERN = re.compile(_UNIT)


@functools.lru_cache(maxsize=4096)
def _outcomes(family_name: str, text: str) -> frozenset[str]:
    return frozenset(reader_of(family_name).read_outcomes(text))


@functools.lru_cache(maxsize=4096)
def _told(family_name: str, text: str, objects: tuple[str, ...]) -> list[Told]:
    reader = reader_of(family_name)
    found: list[Told] = []
    matches = [(match.start(), match.end(), match[1], match[2] or "") for match in QUANTITY.finditer(text)]
    lowered = text.lower()
    if not _WORDS.keys().isdisjoint(lowered.split()):
        for match in _WORD_NUMBER.finditer(text):
            rest = _UNIT_PATTERN.match(text, match.end() + 1)
            if rest:
                matches.append((match.start(), rest.end(), match[1], rest[0]))
        matches.sort()
    if not matches:
        return found
    previous, owner = 0, ""
    mentions = occurrences(lowered, objects)
    for start, end, digits, spelled in matches:
        parsed = number(digits)
        if parsed is None:
            continue
        if not spelled and (
            _OPERATOR_AFTER.match(text, end) or text[max(0, start - 2) : start].rstrip()[-1:] in _OPERATORS
        ):
            previous = end
            continue  # a number within a formula
        segment = text[previous:start]
        stop = max(segment.rfind(". "), segment.rfind("; "))
        named = [name for first, last, name in mentions if previous <= first and last <= start]
        if named:
            owner = named[-1]
        keys: tuple[str, ...] = ()
        symbol = reader.symbol_pattern.search(segment) if segment.rstrip()[-1:] in _EQUALS else None
        if symbol and symbol[1] in reader.symbols:
            keys = reader.symbols[symbol[1]]
        else:
            spoken = reader.name_pattern.findall(lowered, previous + max(stop, 0), start)
            if spoken:
                keys = reader.names[spoken[-1]]
        item = stated(*parsed, spelled)
        previous = end
        if item is None:
            continue
        found.append(Told(keys, owner, item, start, end))
    return found


@functools.cache
def reader_of(family_name: str) -> Reader:
    return Reader(FAMILIES[family_name])


def forget() -> None:
    """Drop the texts that were read, as a measurement of speed needs."""
    _told.cache_clear()
    _outcomes.cache_clear()
