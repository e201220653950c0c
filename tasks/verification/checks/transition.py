"""The transition and the resulting state, with the physics solved again: rule, effect, equation, evidence, predicted change,
new variables, intervention, explanation (paper 2, transition verifier)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tasks.traces.equations import NotMath, evaluate
from tasks.traces.family import BYSTANDER, FIRST, SECOND
from tasks.traces.record import snake
from tasks.verification.judging import fits, judge, reason, truth, why_open
from tasks.verification.lexicon import TextNumber
from tasks.verification.quantities import KELVIN, RELATIVE, ROUNDING_CAP, Stated, quantity, same
from tasks.verification.reading import BoundNumber, Reading, Text
from tasks.verification.reference import Reference
from tasks.verification.verdict import Check, check
from tasks.verification.words import DIRECTIONS, moment_words

LONGEST_EQUATION = 2000
_DECIMAL = re.compile(r"\d\.\d|\d{3}")
_CLAUSE = re.compile(r"[;\n]|→|⇒|=>|\\Rightarrow|,\s(?=[A-Za-z])")
_EQUALS = re.compile(r"(?<![<>!])[=≈]|\\approx")
_FROM = re.compile(r"\bfrom\b")


def moment(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """The result is not told of the earlier moment (`from ... to ...` names both)."""
    before, _ = moment_words(reference.family.event if reference else "")
    match = before.search(reading.change.text)
    if match and not _FROM.search(reading.change.text):
        pointer, rule = "/state_1/predicted_change", "the result is told of the earlier moment"
        yield check("temporal words after", False, pointer, "the state after", match[0], rule)


def rule(reading: Reading, reference: Reference) -> Iterator[Check]:
    if reading.rule:
        named = True if reference.lexicon.rule.search(reading.rule) else None
        yield check("rule", named, "/transition/rule", "the family's law", reading.rule, "the rule names the law")


def effect(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The outcome that the effect claims."""
    claim = reference.lexicon.outcome(reading.effect.text)
    if claim is None:
        return
    key, outcome = reference.family.outcome.key, reference.outcome
    if outcome is None:
        why = f"the outcome cannot be derived: {why_open(reference, key)}"
        yield check("effect", None, "/transition/effect", key, claim, why)
    else:
        why = "the outcome that follows from the state"
        yield check("effect", claim == outcome, "/transition/effect", outcome, claim, why)


def subject(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The effect is told of the object that the question tracks."""
    binding, family, tracked = reference.binding, reference.family, reference.subject
    mentioned = binding.mentioned(reading.effect.text)
    if not mentioned or not tracked:
        return
    if tracked in mentioned:
        why = "the effect is told of the object in question"
        yield check("subject", True, "/transition/effect", tracked, tracked, why)
        return
    strangers = any(binding.role(name) in (None, BYSTANDER) for name in mentioned)
    second = binding.names.get(SECOND)
    of_second = family.subject == FIRST and second in mentioned
    other = of_second and (reference.gold or second not in reference.asked.objects)
    if (strangers or other) and tracked.lower() in family.roles[family.subject]:
        names, why = ", ".join(sorted(mentioned)), "the effect is told of another object"
        yield check("subject", False, "/transition/effect", tracked, names, why)


def effect_values(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The numbers of the effect."""
    for key, number in reading.effect.numbers:
        if key is not None:
            yield judge(reference, "effect value", number.stated, key, "/transition/effect")
        else:
            yield from _unnamed(reference, number.stated, "effect value", "/transition/effect")


def _unnamed(reference: Reference, stated: Stated, name: str, pointer: str) -> Iterator[Check]:
    """A number without a name may be any known quantity of its dimension."""
    if not stated.dimension or stated.dimension == "number":
        return
    dimensions = reference.lexicon.dimensions
    keys = [key for key, kind in dimensions.items() if kind == stated.dimension and key in reference.solved]
    if any(fits(reference, stated, key) for key in keys):
        yield check(name, True, pointer, "a known quantity", stated, "equals a recomputed value", "transition")
        return
    likely = next((key for key in (reference.asked.target, reference.family.headline) if key in keys), None)
    if likely is not None:
        yield judge(reference, name, stated, likely, pointer)


def equations(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Every chain of equalities of the equation; it abstains where none can be evaluated."""
    text = reading.equation[:LONGEST_EQUATION]
    if not text:
        return
    values, decided = _Symbols(reference), False
    for clause in _CLAUSE.split(text):
        for made in _clause(clause, values, reference):
            decided = True
            yield made
    if not decided:
        expected, why = "an equation that can be evaluated", "not read as mathematics"
        yield check("equation", None, "/transition/equation", expected, text, why)


class _Symbols(dict[str, float]):
    """The values of the symbols of a family in a solved state, looked up as an equation asks for them; angles in radians.
    KeyError where a symbol stands for several quantities that differ, or for none that is known."""

    def __init__(self, reference: Reference):
        self.solved, self.lexicon = reference.solved, reference.lexicon

    def __missing__(self, symbol: str) -> float:
        keys = self.lexicon.symbols[symbol]
        known = {float(value) for key in keys if isinstance(value := self.solved.get(key), int | float)}
        if len(known) != 1:
            raise KeyError(symbol)
        value = known.pop()
        return math.radians(value) if self.lexicon.dimensions[keys[0]] == "angle" else value


class _Side(NamedTuple):
    """A part of a chain of equalities: its text, the values it may stand for, whether it needs the values of symbols."""

    text: str
    values: tuple[float, ...]
    symbolic: bool


def _clause(clause: str, values: Mapping[str, float], reference: Reference) -> Iterator[Check]:
    """One chain of equalities: every part that has a value must have the same, and the last number is the result."""
    parts = [part.strip() for part in _EQUALS.split(clause) if part.strip()]
    if len(parts) < 2:
        return
    sides, result = _sides(parts, values)
    numeric = [side for side in sides if not side.symbolic]
    for one, other in itertools.pairwise(numeric):
        agree, why = _agree(one.values, other.values, result), "both sides have one value"
        yield check("equation", agree, "/transition/equation", f"{one.text} = {one.values[0]:.5g}", other.text, why)
    if numeric:
        other = numeric[0]
        for one in (side for side in sides if side.symbolic):
            agree, why = _agree(one.values, other.values, result), "the formula with the values of the state"
            yield check("formula", agree, "/transition/equation", f"{one.text} = {one.values[0]:.5g}", other.text, why)
    key = _quantity_of(parts[0], reference)
    if key is not None and result is not None and fits(reference, result, key) is not None:
        yield judge(reference, "equation result", result, key, "/transition/equation")


def _sides(parts: list[str], values: Mapping[str, float]) -> tuple[list[_Side], Stated | None]:
    """The parts that have a value, and the last one that is a plain quantity."""
    sides: list[_Side] = []
    result: Stated | None = None
    for part in parts:
        item = quantity(part)
        if item is not None:
            result = item
            sides.append(_Side(part, (item.value, item.raw), False))
        elif (value := _value(part, {})) is not None:
            sides.append(_Side(part, (value,), False))
        elif part == parts[0] or _DECIMAL.search(part):
            continue  # the quantity itself, or a formula with decimals, whose units are open
        elif (value := _value(part, values)) is not None:
            sides.append(_Side(part, (value,), True))
    return sides, result


def _value(text: str, values: Mapping[str, float]) -> float | None:
    try:
        return evaluate(text, values)
    except NotMath:
        return None


def _quantity_of(symbol: str, reference: Reference) -> str | None:
    """The quantity that the left side of an equation names: what is asked for, or the only known one."""
    keys = [key for key in reference.lexicon.symbols.get(symbol, ()) if key in reference.solved]
    if reference.asked.target in keys:
        return reference.asked.target
    return keys[0] if len(keys) == 1 else None


def _agree(first: tuple[float, ...], second: tuple[float, ...], result: Stated | None) -> bool:
    """Whether some reading of one side equals some reading of the other, within the tolerance of the result."""
    pairs = itertools.product(first, second)
    if result is not None and result.dimension == "temperature":
        return any(abs(a - b) <= KELVIN for a, b in pairs)
    return any(abs(a - b) <= RELATIVE * max(abs(a), abs(b)) + 1e-9 or _rounded(a, b, result) for a, b in pairs)


def _rounded(one: float, other: float, result: Stated | None) -> bool:
    return result is not None and abs(one - other) <= min(result.rounding, ROUNDING_CAP * max(abs(one), abs(other)))


def evidence(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The facts of the evidence, and those of the derivation that are given."""
    for i, fact in enumerate(reading.evidence):
        for bound in fact.numbers:
            yield from _fact(reading, reference, fact, bound, f"/transition/evidence/{i}")
    givens = reference.family.givens
    for bound in reading.derivation.numbers:
        if any(candidate in givens for candidate in bound.number.candidates):
            yield from _fact(reading, reference, reading.derivation, bound, "/derivation")


def _fact(reading: Reading, reference: Reference, text: Text, bound: BoundNumber, pointer: str) -> Iterator[Check]:
    key, number = bound
    if key is None or _misowned(reference, number, key):
        if number.owner and number.candidates:
            yield _stray_fact(reading, reference, text, number, pointer)
        return
    ok = fits(reference, number.stated, key)
    if ok is None:
        return
    label, why = "transition", "the fact as the state has it"
    if not ok:
        label, why = reason(reference, number.stated, key, "state")
        if others := _holders(reference, number, key):
            label, why = "object", f"this is true of the {others[0]}"
    yield check("evidence", ok, pointer, truth(reference, key), text.around(number), why, label)


def _misowned(reference: Reference, number: TextNumber, key: str) -> bool:
    """Whether a fact is told of an object that could have such a quantity, and has another one."""
    owner = reference.family.quantities[key].owner
    role = reference.binding.role(number.owner) if number.owner else None
    return bool(owner) and role != owner and role in (FIRST, SECOND, BYSTANDER, reference.family.subject)


def _holders(reference: Reference, number: TextNumber, key: str) -> list[str]:
    """The other objects of which the number would be true."""
    name, dimension = snake(reference.family.quantities[key].name), reference.lexicon.dimensions[key]
    return [
        other
        for other, table in reference.attributes.items()
        if other.lower() != number.owner.lower() and name in table and same(number.stated, table[name], dimension)
    ]


def _stray_fact(reading: Reading, reference: Reference, text: Text, number: TextNumber, pointer: str) -> Check:
    """A named quantity, told of an object that is not known to have it."""
    item, shown = reference.family.quantities[number.candidates[0]], text.around(number)
    known = reference.given_attributes.get(number.owner, {}).get(snake(item.name))
    if known is not None and same(number.stated, known, ""):
        return check("evidence", True, pointer, f"{known:.4g}", shown, "a fact of another object", "object")
    holders = _holders(reference, number, number.candidates[0])
    sure = bool(reading.question) or reference.gold or FIRST not in reference.family.roles
    if holders and sure:
        expected, why = f"the {item.name} of the {holders[0]}", "the fact belongs to another object"
        return check("evidence", False, pointer, expected, shown, why, "object")
    return check("evidence", None, pointer, item.name, shown, "nothing is known of this", "object")


def change(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The predicted change: its numbers, and the outcome that it claims."""
    pointer = "/state_1/predicted_change"
    for key, number in reading.change.numbers:
        if key is not None:
            yield judge(reference, "predicted change", number.stated, key, pointer)
        elif not number.owner or not number.candidates:
            yield from _unnamed(reference, number.stated, "predicted change", pointer)
    outcome, claim = reference.outcome, reference.lexicon.outcome(reading.change.text)
    if outcome is not None and claim is not None and DIRECTIONS.isdisjoint(reference.lexicon.outcomes):
        why = "the outcome that follows from the state"
        yield check("predicted change", claim == outcome, pointer, outcome, claim, why)


def results(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The new variables: quantities, and the outcome that they claim."""
    outcome = reference.outcome
    for result in reading.results:
        if result.key is not None and result.number is not None:
            yield judge(reference, "new variable", result.number, result.key, result.pointer)
        elif result.claim is not None:
            ok, why = None if outcome is None else result.claim == outcome, "the outcome that follows from the state"
            yield check("new variable", ok, result.pointer, outcome, result.value, why)


def intervention(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The stated effect of the change that is asked for."""
    again, asked, stated = reference.counterfactual, reference.asked, reading.intervention
    if again is None:
        return
    pointer = "/transition/intervention"
    if not again.after:
        variable, why = str(stated.variable if stated else None), "the change is not one that can be recomputed"
        yield check("intervention", None, pointer, "a known parameter", variable, why)
        return
    target = str(again.target)
    if again.response is None:
        why = f"{target} cannot be derived: {why_open(reference, target)}"
        yield check("intervention", None, pointer, target, "", why)
        return
    why = f"{target} solved again with {asked.parameter} times {asked.factor:g}"
    if stated is not None and stated.response is not None:
        ok = stated.response == again.response
        yield check("intervention", ok, f"{pointer}/response", again.response, stated.response, why)
    if stated is not None and stated.new_value is not None:
        new, after, dimension = stated.new_value, float(again.after[target]), reference.lexicon.dimensions[target]
        ok = new.dimension in ("", dimension) and same(new, after, dimension)
        yield check("intervention size", ok, f"{pointer}/new_value", f"{after:.4g}", new, why)


def explanation(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Named numbers of the explanation and of the derivation, where there is an answer to explain."""
    if reading.answer.value is None:
        return
    givens = reference.family.givens
    for text, pointer, skipped in (
        (reading.explanation, "/answer/explanation", ()),
        (reading.derivation, "/derivation", givens),  # its facts are checked as evidence
    ):
        for key, number in text.numbers:
            if key is not None and key in reference.solved and key not in skipped:
                yield _explained(reference, text, key, number, pointer)


def _explained(reference: Reference, text: Text, key: str, number: TextNumber, pointer: str) -> Check:
    """A number that explains: true of the scene, or of the scene with the change that is asked for."""
    ok, shown = fits(reference, number.stated, key), text.around(number)
    again = reference.counterfactual.after.get(key) if reference.counterfactual else None
    if ok is False and isinstance(again, float | int):
        ok = same(number.stated, float(again), reference.lexicon.dimensions[key])
        if not ok:
            expected, why = f"{key} = {again:.4g}", "solved again with the change"
            return check("explanation", False, pointer, expected, shown, why, "intervention")
    label, why = ("transition", "as recomputed") if ok else reason(reference, number.stated, key, "transition")
    return check("explanation", ok, pointer, truth(reference, key), shown, why, label)
