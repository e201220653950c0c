"""Formulas in symbols, with the values of the scene: whether their sides are equal.

A symbol may stand for several quantities of the family (`v` for each of two speeds), so that a side has several values: a
formula is right where some reading of it is, and wrong where no reading of it is although every symbol is known without doubt.
What a trace itself lists under a symbol goes before what the family means by it.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tasks.traces import equations
from tasks.traces.equations import NotMath, evaluate
from tasks.traces.units import from_canonical
from tasks.verification.binding import spelled_label
from tasks.verification.calculations import Side, side_of
from tasks.verification.judging import known_elsewhere
from tasks.verification.lexicon import stems_of
from tasks.verification.quantities import near, quantity
from tasks.verification.reading import Reading
from tasks.verification.reference import Reference

LONGEST_SIDE = 120  # characters
MOST_READINGS = 96  # of one side
LONGEST_GLUED = 6  # characters of symbols written without a sign between them
_NAME = re.compile(r"[^\W\d]\w*'*")
_AT_TIME = re.compile(r"^(\w+'?)\s*\(t\)$")
_GLUED_ANGLE = re.compile(r"\b(sin|cos|tan)([θαβφ])")
_INDEX = re.compile(r"\b([^\W\d])\s(\d)\b(?!\.)")  # λ 2
_NUMBERED = re.compile(r"_\d+'*$")  # m_1
_MEASURED = re.compile(r"\d\.\d|\d\d")
_DIFFERENCE = re.compile(r"(?:Δ|δ|delta_?|d_?)(?=[^\W\d])")
_KNOWN = frozenset(("sin", "cos", "tan", "sqrt", "ln", "log", "exp", "abs", "pi"))


class Symbol(NamedTuple):
    """The values that a symbol may have, in canonical units and as they are where the family's other unit is used (angles in
    radians); `firm` where there is no doubt that it has one of them."""

    values: tuple[float, ...]
    in_other_unit: tuple[float, ...]
    firm: bool


class Values(NamedTuple):
    """The values that a side may have, and whether all of its symbols are known without doubt."""

    values: tuple[float, ...]
    firm: bool


class Compared(NamedTuple):
    """Two sides of a formula with the values of the scene; `ok` None where they differ and it is open what they mean."""

    one: str
    value: float
    other: str
    ok: bool | None
    ratio: float


class Symbols:
    """The symbols of a family's formulas and of a trace, in a solved state."""

    def __init__(self, reading: Reading, reference: Reference):
        self.reading, self.reference, self.lexicon = reading, reference, reference.lexicon
        again = reference.counterfactual.after if reference.counterfactual else {}
        self._moments = [reference.solved, again] if again else [reference.solved]
        self._seen: dict[str, Symbol | None] = {}

    def __call__(self, name: str) -> Symbol | None:
        """What a symbol stands for; None where that is not known."""
        if name not in self._seen:
            made = self._stated(name) or self._meant(name) or self._difference(name)
            if made is None and _NUMBERED.search(name):
                made = self._meant(name.replace("_", ""))
            self._seen[name] = made
        return self._seen[name]

    @functools.cached_property
    def _own(self) -> dict[str, tuple[str, object]]:
        """What the trace lists, by label without its unit."""
        own: dict[str, tuple[str, object]] = {}
        for label, value in self.reading.listed.items():
            for stem, _ in stems_of(spelled_label(label)):
                own.setdefault(stem, (label, value))
        return own

    def _stated(self, name: str) -> Symbol | None:
        if name not in self._own:
            return None
        label, value = self._own[name]
        bound = self.reference.binding.label(label, value)
        number = bound.number or quantity(value)
        made = self._of(bound.keys, firm=True) if bound.keys else None
        if number is None:
            return made
        if made is None:
            return Symbol((number.value,), (number.raw,), known_elsewhere(self.reference, number))
        if known_elsewhere(self.reference, number):  # the letter stands for another quantity here
            return Symbol((*made.values, number.value), (*made.in_other_unit, number.raw), made.firm)
        return made

    def _meant(self, name: str) -> Symbol | None:
        lexicon, binding = self.lexicon, self.reference.binding
        if name in lexicon.symbols:
            return self._of(lexicon.symbols[name], firm=True)
        lowered = name.lower()
        if lowered in lexicon.aliases:
            return self._of(tuple(lexicon.aliases[lowered]), firm=len(lowered) > 1 and lowered == name)
        named = lexicon.named(name, binding.labels, binding.roles, "")
        return self._of(named.keys, firm=False) if named.keys else None

    def _difference(self, name: str) -> Symbol | None:
        """Of a quantity at two moments, or of two bodies: ΔB, delta_p."""
        mark = _DIFFERENCE.match(name)
        if mark is None:
            return None
        keys = self.lexicon.bare.get(name[mark.end() :].lower(), [])
        pairs = [(one, other) for one, other in itertools.combinations(keys, 2)]
        values = tuple(
            abs(float(state[one]) - float(state[other]))
            for one, other in pairs
            for state in self._moments
            if isinstance(state.get(one), int | float) and isinstance(state.get(other), int | float)
        )
        return Symbol(values, values, False) if values else None

    def _of(self, keys: tuple[str, ...], firm: bool) -> Symbol | None:
        values, others = list[float](), list[float]()
        for state, key in itertools.product(self._moments, keys):
            value = state.get(key)
            if not isinstance(value, int | float):
                if state is self.reference.solved:
                    return None
                continue
            if self.lexicon.dimensions[key] == "angle":
                value = math.radians(value)
                spelled = value
            else:
                spelled = from_canonical(float(value), self.reference.family.quantities[key].spellings[-1])
            values.append(float(value))
            others.append(float(spelled))
        return Symbol(tuple(dict.fromkeys(values)), tuple(dict.fromkeys(others)), firm) if values else None

    def glued(self, name: str) -> tuple[str, ...] | None:
        """Symbols that are written without a sign between them (`mgh`); None where a name is none such."""
        if len(name) > LONGEST_GLUED or self(name) is not None:
            return None
        known = [name[:end] for end in range(len(name) - 1, 0, -1) if self(name[:end]) is not None]
        for first in known:
            rest = name[len(first) :]
            if self(rest) is not None:
                return first, rest
            if (more := self.glued(rest)) is not None:
                return first, *more
        return None


def compared(parts: list[str], symbols: Symbols) -> Iterator[Compared]:
    """Each side of a formula (what stands between equals signs) against the next, where both have values and one of them is in
    symbols. A first side that only names the quantity that a chain ends with is left to whoever knows quantities."""
    in_numbers = [side_of(part) for part in parts]
    if _NAME.fullmatch(parts[0]) and any(side is not None and side.alone is not None for side in in_numbers):
        parts, in_numbers = parts[1:], in_numbers[1:]
    if all(in_numbers):
        return
    sides = [side or _in_symbols(part, symbols) for part, side in zip(parts, in_numbers, strict=True)]
    for (text, one), (other_text, other) in itertools.pairwise(zip(parts, sides, strict=True)):
        if one is None or other is None or (isinstance(one, Side) and isinstance(other, Side)):
            continue
        first, second = _values(one), _values(other)
        value = first.values[0]
        unsigned = _NAME.fullmatch(text) or _NAME.fullmatch(other_text)  # a quantity has its sign by convention
        pairs = itertools.product(first.values, second.values)
        if any(near(a, b) or (unsigned and near(a, -b)) for a, b in pairs):
            yield Compared(text, value, other_text, True, 1.0)
        else:
            ratio = second.values[0] / value if value else 0.0
            yield Compared(text, value, other_text, False if first.firm and second.firm else None, ratio)


def _values(side: Side | Values) -> Values:
    if isinstance(side, Values):
        return side
    return Values(tuple(spread.value for spread in side.values), True)


def _in_symbols(part: str, symbols: Symbols) -> Values | None:
    """The values of a side in symbols; None where one of them is not known."""
    if not part or len(part) > LONGEST_SIDE:
        return None
    text = _GLUED_ANGLE.sub(r"\1(\2)", equations.prepare(_AT_TIME.sub(r"\1", spelled_label(part))))
    text = _INDEX.sub(lambda match: match[1] + match[2] if symbols(match[1] + match[2]) else match[0], text)
    text = _NAME.sub(lambda match: _spread_out(match[0], symbols), text)
    names = [name for name in dict.fromkeys(_NAME.findall(text)) if name not in _KNOWN]
    known = {name: symbol for name in names if (symbol := symbols(name)) is not None}
    if not names or len(known) < len(names):
        return None
    firm = all(symbol.firm for symbol in known.values())
    values = list(_readings(text, {name: symbol.values for name, symbol in known.items()}))
    if _MEASURED.search(text):  # its own numbers may be in another unit
        values += _readings(text, {name: symbol.in_other_unit for name, symbol in known.items()})
    return Values(tuple(dict.fromkeys(values)), firm) if values else None


def _spread_out(name: str, symbols: Symbols) -> str:
    parts = None if name in _KNOWN else symbols.glued(name)
    return f"({'*'.join(parts)})" if parts else name


def _readings(text: str, options: Mapping[str, tuple[float, ...]]) -> Iterator[float]:
    for chosen in itertools.islice(itertools.product(*options.values()), MOST_READINGS):
        try:
            yield evaluate(text, dict(zip(options, chosen, strict=True)))
        except NotMath:
            return
