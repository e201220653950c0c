"""How texts and keys of one family are read: its names, symbols, conditions and outcomes, and the numbers of a text.

A text gives numbers: value, unit, the quantities that the words before it may name, the object it is told of. Which of them
it is, `binding` decides.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tasks.traces.families import FAMILIES
from tasks.traces.family import Family
from tasks.traces.record import key_name, snake
from tasks.traces.remembered import remembered
from tasks.traces.units import Unit, unit
from tasks.verification.quantities import (
    NUMBER_WORDS,
    QUANTITY,
    UNIT,
    WORD_NUMBER,
    Stated,
    number,
    spelled_unit,
    stated,
)
from tasks.verification.words import negated, occurrences


class TextNumber(NamedTuple):
    """A number in a text, the canonical keys of the quantities that the words before it may mean (empty: nothing named), the
    name of the object it is told of ("" where none is named). The words before it begin at `context`."""

    candidates: tuple[str, ...]
    owner: str
    stated: Stated
    start: int
    end: int
    context: int = 0


_SUFFIXES = (
    ("_kg_m3", "kg/m^3"), ("_kg_per_m3", "kg/m^3"), ("_m_per_s2", "m/s^2"), ("_m_s2", "m/s^2"), ("_m_per_s", "m/s"),
    ("_m_s", "m/s"), ("_km_h", "km/h"), ("_n_per_m", "N/m"), ("_n_m", "N*m"), ("_j_kgk", "J/(kg*K)"), ("_j_kg_k", "J/(kg*K)"),
    ("_deg", "deg"), ("_ohm", "ohm"), ("_hz", "Hz"), ("_kpa", "kPa"), ("_pa", "Pa"), ("_kg", "kg"), ("_cm", "cm"), ("_mm", "mm"),
    ("_m3", "m^3"), ("_m2", "m^2"), ("_kj", "kJ"), ("_wb", "Wb"), ("_ms", "ms"), ("_m", "m"), ("_s", "s"), ("_n", "N"),
    ("_j", "J"), ("_c", "degC"), ("_k", "K"), ("_v", "V"), ("_a", "A"), ("_t", "T"), ("_w", "W"), ("_g", "g"),
)  # fmt: skip
SYNONYMS = {
    "starting": "initial", "original": "initial", "begin": "initial", "ending": "final", "resulting": "final",
    "velocity": "speed", "time_elapsed": "elapsed_time", "rate_of_acceleration": "acceleration",
}  # fmt: skip


class Named(NamedTuple):
    """The quantities that a label may mean, the unit that the label states, and whether there is no doubt which it is."""

    keys: tuple[str, ...]
    unit: str
    firm: bool


_BARE = re.compile(r"[\d']+$")
_GREEK = {
    "rho": "ρ",
    "mu": "μ",
    "theta": "θ",
    "lambda": "λ",
    "phi": "φ",
    "omega": "ω",
    "tau": "m",
    "τ": "m",
    "emf": "u",
    "ε": "u",
}
_SHORT = frozenset(("v_0", "v_1", "t_1", "h_1"))


def stems_of(label: str) -> list[tuple[str, str]]:
    """(stem, unit) of a label, with its unit and without."""
    return [(label, ""), *((label[: -len(suffix)], unit) for suffix, unit in _SUFFIXES if label.endswith(suffix))]


class Lexicon:
    """How texts and keys of one family are read."""

    def __init__(self, family: Family):
        self.family = family
        self.synonyms = {**SYNONYMS, **family.synonyms}
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
        for key in family.constants:
            names[key] = symbols[key] = [key]
        spoken_names = sorted((name for name in names if len(name) > 1), key=len, reverse=True)
        self.aliases = {name: list(dict.fromkeys(keys)) for name, keys in self.aliases.items()}
        self.bare: dict[str, list[str]] = {}  # symbol without numbers -> quantities
        for key, item in family.quantities.items():
            self.bare.setdefault(_BARE.sub("", item.symbol.lower()), []).append(key)
        self.full_names = {item.name.lower().replace("_", " ") for item in family.quantities.values()}
        self.names = {name: tuple(keys) for name, keys in names.items()}
        self.symbols = {name: tuple(keys) for name, keys in symbols.items()}
        self.name_pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, spoken_names)) + r")\b")  # on lower case
        self.symbol_pattern = re.compile(r"(?<![\w])([^\W\d_][\w']{0,8})\s?(?:=|≈|:)\s?$")
        self.condition_patterns = {
            key: _condition_pattern(family, key, options) for key, options in family.conditions.items()
        }
        self.options = {
            option: re.compile(rf"\b{re.escape(option)}(?:ward)?s?\b")  # on lower case
            for options in family.conditions.values()
            for option in options
        }
        self.outcomes = {value: re.compile(pattern) for value, pattern in family.outcome.words.items()}  # on lower case
        self.recognize = {role: re.compile(pattern, re.IGNORECASE) for role, pattern in family.recognize.items()}
        self.rule = re.compile(family.rule_words, re.IGNORECASE)
        self.dimensions = {
            key: (unit(item.unit) or Unit(1, 0, "unknown")).dimension for key, item in family.quantities.items()
        }
        order = re.findall(r"\{(\w+)\}", family.setting)
        self.role_order = list(dict.fromkeys([*(role for role in order if role in family.roles), *family.roles]))

    def labels(self, names: Mapping[str, str]) -> dict[str, str]:
        """The keys of the quantities by the labels that the release gives them, where objects have these names by role."""
        return _labels(self.family.name, tuple(names.items()))

    def key(self, label: str, table: Mapping[str, str]) -> tuple[str | None, str]:
        """(canonical key, unit that the label itself states) of a variable's name, with the `labels` of the scene; key None
        where it is unknown."""
        if (exact := table.get(label)) is not None:
            return exact, ""
        lowered = snake(label.strip().lower())
        if lowered in table:
            return table[lowered], ""
        if lowered in self.aliases:
            return self.aliases[lowered][0], ""
        for old, new in self.synonyms.items():
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
                for candidate in (stem, self.synonyms.get(stem, stem)):
                    if candidate in table:
                        return table[candidate], spelled
                    for key in self.aliases.get(candidate, ()):
                        known = spelled_unit(spelled)
                        if known is not None and self.dimensions[key] == known.dimension:
                            return key, spelled
        return None, ""

    def named(self, label: str, table: Mapping[str, str], roles: Mapping[str, str], dimension: str) -> Named:
        """The quantities that a variable's name may mean, for a number of this dimension ("" where it has no unit). `table` holds
        the `labels` of the scene, `roles` the roles of its objects."""
        key, spelled = self.key(label, table)
        lowered = snake(label.strip().lower())
        if key is not None and (label in table or lowered in table or self._is_own_name(lowered, key)):
            return Named((key,), spelled, True)
        for stem, unit_of_label in stems_of(lowered):
            known = dimension or (spelled_unit(unit_of_label) or Unit(1, 0, "")).dimension
            for name, role in self._owned(stem, roles):
                called = self._called(name)
                if role and not any(self.family.quantities[key].owner == role for key in called):
                    called = self.bare.get(_GREEK.get(name, name), [])  # R_lamp, where R alone is the total
                keys = [key for key in called if not known or self.dimensions[key] == known]
                mine = [key for key in keys if not role or self.family.quantities[key].owner == role]
                if mine:
                    return Named(tuple(mine), unit_of_label, bool(known) and self._is_clear(name, mine, keys, role))
        if key is None or (dimension and self.dimensions[key] != dimension):
            return Named((), spelled, False)
        return Named((key,), spelled, False)

    def _is_own_name(self, label: str, key: str) -> bool:
        """Whether a label is the full name of a quantity that no other shares, one of its longer other names, or its symbol with
        the mark of the later moment."""
        item = self.family.quantities[key]
        if label.endswith("'") and label == item.symbol.lower():
            return len(self.aliases[label]) == 1
        names = [
            item.name,
            *(alias for alias in (key, *item.aliases) if "_" in alias.strip("_") and alias not in _SHORT),
        ]
        stems = {stem for stem, _ in stems_of(label)}
        return any(snake(name.lower()) in stems and len(self.aliases[snake(name.lower())]) == 1 for name in names)

    def _is_clear(self, name: str, mine: list[str], keys: list[str], role: str) -> bool:
        """Whether only one quantity of the family has this dimension (and owner): then its symbol is name enough."""
        if len(mine) != 1:
            return False
        if self.family.quantities[mine[0]].constant is not None:
            return True
        dimension = self.dimensions[mine[0]]
        rivals = [
            key
            for key, item in self.family.quantities.items()
            if self.dimensions[key] == dimension and item.constant is None and (not role or item.owner == role)
        ]
        return len(rivals) == 1 and (bool(role) or len(keys) == 1)

    def _called(self, name: str) -> list[str]:
        """The quantities of a name or a symbol, without the numbers and marks that tell symbols apart."""
        if name in self.aliases:
            return self.aliases[name]
        return self.bare.get(_GREEK.get(name, name), [])

    def _owned(self, stem: str, roles: Mapping[str, str]) -> list[tuple[str, str]]:
        """(name, role of the owner) that a label may consist of: `m_case`, `weight of ball`, `v cart after`."""
        found = [(stem, "")]
        for name, role in roles.items():
            spoken = snake(name)
            match = re.search(rf"(?:^|_)(?:of_)?(?:the_)?{re.escape(spoken)}(?:$|_)", stem)
            if match:
                rest = f"{stem[: match.start()]}_{stem[match.end() :]}".strip("_")
                if rest:
                    found.append((rest, role))
        return found

    def numbers(self, text: str, objects: tuple[str, ...] = ()) -> tuple[TextNumber, ...]:
        """All numbers of a text that stand for a quantity."""
        return _numbers(self.family.name, text, objects)

    def candidates(self, text: str, lowered: str, start: int, end: int) -> tuple[str, ...]:
        """The quantities that the last words of text[start:end] name: a symbol before an equals sign, or the last name of the
        sentence."""
        segment = text[start:end]
        symbol = self.symbol_pattern.search(segment) if segment.rstrip()[-1:] in _EQUALS else None
        if symbol and segment[: symbol.start()].rstrip()[-1:] in _JOINED:
            return ()  # the last symbol of an expression
        if symbol and symbol[1] in self.symbols:
            return self.symbols[symbol[1]]
        spoken = self._spoken(lowered, start, end)
        return self.names[spoken[0]] if spoken else ()

    def _spoken(self, lowered: str, start: int, end: int) -> re.Match[str] | None:
        """The last name of a quantity in the sentence that ends at `end`."""
        segment = lowered[start:end]
        sentence = max(segment.rfind(". "), segment.rfind("; "), 0)
        spoken = list(self.name_pattern.finditer(lowered, start + sentence, end))
        return spoken[-1] if spoken else None

    def firmly(self, lowered: str, start: int, end: int, objects: tuple[str, ...]) -> bool:
        """Whether the words of lowered[start:end] say outright of which quantity the number behind them is: its own name (no
        symbol, no short name), not changed by a word before it (`half the heat`, `total mass`), and nothing but `of the crate is`
        between it and the number."""
        spoken = self._spoken(lowered, start, end)
        if spoken is None or spoken[0] not in self.full_names:
            return False
        if _MODIFIED.search(lowered[start : spoken.start()]):
            return False
        between = lowered[spoken.end() : end]
        for first, last, _ in reversed(occurrences(between, objects)):
            between = between[:first] + between[last:]
        return bool(_CONNECTED.match(between))

    def has_friction(self, state: Mapping[str, Any]) -> bool:
        """Whether a state has a coefficient of friction that is not zero."""
        names = (key for key, item in self.family.quantities.items() if item.name.endswith("friction coefficient"))
        return any(isinstance(state.get(key), int | float) and state[key] != 0 for key in names)

    def outcome(self, text: str) -> str | None:
        """The outcome that a text claims, a negated one counting as its only alternative; None where it claims none or
        several."""
        claims = _outcomes(self.family.name, text)
        return next(iter(claims)) if len(claims) == 1 else None

    def outcomes_in(self, text: str) -> set[str]:
        """All outcomes that a text claims."""
        claims, text = set(), text.lower()
        for value, pattern in self.outcomes.items():
            for match in pattern.finditer(text):
                if negated(text, match.start()):
                    others = [other for other in self.outcomes if other != value]
                    if len(others) == 1:
                        claims.add(others[0])
                else:
                    claims.add(value)
        return claims


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


_MODIFIED = re.compile(
    r"(?:\b(?:(?:component|part|share|fraction|portion|rest) of|total|net|combined|sum of|half|double|twice|triple|new|old|other|extra|additional|average|mean|relative|maximum|minimum|maximal"
    r"|minimal|limiting|change (?:of|in)|difference (?:of|in|between)|ratio of|initial|final|first|second|later|earlier|reduced|increased"
    r"|doubled|tripled|halved|effective|vertical|horizontal|times|larger|smaller|own|original|without|if)\b[\s-]*(?:the|its|a|an|of)?[\s-]*|[-+−*/·×]\s*)$"
)
_CONNECTED = re.compile(
    r"^(?:\s|,|=|:|≈|\b(?:of|in|on|for|the|a|an|is|are|was|equals|equal|to|becomes|be|would|will|by|at|about|roughly|approximately|then|now"
    r"|amounts|comes|has|have|value|with)\b|'s)*$"
)
_JOINED = frozenset("·⋅*×/√^+-−–")
_EQUALS = frozenset("=≈:")
_OPERATORS = frozenset("·⋅*×/√^+(")
_OPERATOR_AFTER = re.compile(r"\s?[·⋅*×/√π^+²³(]|[α-ωa-zA-Z]")
_UNIT_PATTERN = re.compile(UNIT)


@remembered(4096)
def _outcomes(family_name: str, text: str) -> frozenset[str]:
    return frozenset(lexicon_of(family_name).outcomes_in(text))


@remembered(4096)
def _numbers(family_name: str, text: str, objects: tuple[str, ...]) -> tuple[TextNumber, ...]:
    lowered = text.lower()
    places = _places_of_numbers(text, lowered)
    if not places:
        return ()
    lexicon = lexicon_of(family_name)
    mentions = occurrences(lowered, objects)
    read: list[TextNumber] = []
    previous, owner = 0, ""
    for start, end, digits, spelled in places:
        parsed = number(digits)
        if parsed is None:
            continue
        if not spelled and _within_formula(text, start, end):
            previous = end
            continue
        named = [name for first, last, name in mentions if previous <= first and last <= start]
        owner = named[-1] if named else owner
        candidates, before = lexicon.candidates(text, lowered, previous, start), previous
        item = stated(*parsed, spelled)
        previous = end
        if item is not None:
            read.append(TextNumber(candidates, owner, item, start, end, before))
    return tuple(read)


def _places_of_numbers(text: str, lowered: str) -> list[tuple[int, int, str, str]]:
    """(start, end, number, unit) of every number of a text, in digits or in words."""
    places = [(match.start(), match.end(), match[1], match[2] or "") for match in QUANTITY.finditer(text)]
    if not NUMBER_WORDS.keys().isdisjoint(lowered.split()):
        for match in WORD_NUMBER.finditer(text):
            rest = _UNIT_PATTERN.match(text, match.end() + 1)
            if rest:
                places.append((match.start(), rest.end(), match[1], rest[0]))
        places.sort()
    return places


def _within_formula(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 2) : start].rstrip()[-1:]
    return bool(_OPERATOR_AFTER.match(text, end)) or before in _OPERATORS


@functools.cache
def lexicon_of(family_name: str) -> Lexicon:
    return Lexicon(FAMILIES[family_name])
