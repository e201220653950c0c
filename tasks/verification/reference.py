"""The world that a trace is held against: gold where there is one, else what the question says, else what most of the
trace's own statements say. The family solves it."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tasks.traces.family import Family, ForceSpec, State
from tasks.traces.record import snake
from tasks.verification.asked import COUNTERFACTUAL, Asked, asked_of
from tasks.verification.binding import Binding
from tasks.verification.lexicon import Lexicon, TextNumber
from tasks.verification.quantities import Stated, near, same
from tasks.verification.reading import Reading
from tasks.verification.verdict import Gold, Told
from tasks.verification.words import occurrences, relation_type

Relations = tuple[tuple[str, str, str], ...]
_PLACED = re.compile(r"(to the left of|to the right of|in contact with|apart from|touching)\b")


@dataclass(frozen=True)
class Counterfactual:
    """The scene solved again with `parameter` multiplied. `after` is empty where the change cannot be recomputed, `response`
    (of `target`: increases, decreases, stays the same) None where it cannot be called."""

    target: str | None
    after: State
    response: str | None


@dataclass(frozen=True)
class Reference:
    """`state` is what is known of the scene, `solved` all that follows from it. `gold`: it is known, not made out.
    `given_attributes` are numbers of objects that are no quantities of the family, by object and attribute; `told` is what a trusted trace
    tells."""

    family: Family
    lexicon: Lexicon
    binding: Binding
    gold: bool
    asked: Asked
    state: State
    solved: State
    relations: Relations
    given_attributes: Mapping[str, Mapping[str, float]]
    counterfactual: Counterfactual | None
    told: Told | None = None

    @property
    def outcome(self) -> float | str | None:
        """The qualitative consequence; None where it cannot be derived."""
        return self.solved.get(self.family.outcome.key)

    @property
    def subject(self) -> str | None:
        """The object that the question tracks."""
        return self.binding.names.get(self.family.subject)

    @functools.cached_property
    def forces(self) -> tuple[ForceSpec, ...]:
        """The forces that act; none where too little is known of the scene."""
        try:
            return tuple(self.family.forces(self.solved))
        except (KeyError, TypeError):
            return ()

    @functools.cached_property
    def attributes(self) -> dict[str, dict[str, float]]:
        """All numbers that belong to objects, by object and name: the given ones and those of the solved state."""
        table = {name: dict(given) for name, given in self.given_attributes.items()}
        for key, item in self.family.quantities.items():
            value, holder = self.solved.get(key), self.binding.names.get(item.owner)
            if holder is not None and isinstance(value, float | int):
                table.setdefault(holder, {}).setdefault(snake(item.name), float(value))
        return table


def refer(reading: Reading, binding: Binding, gold: Gold | None) -> Reference:
    """The reference of a trace of a known family."""
    family = binding.family
    asked = asked_of(reading, binding, gold)
    if gold is not None:
        state: State = {**family.constants, **gold.state}
        attributes: Mapping[str, Mapping[str, float]] = gold.attributes
    else:
        state, attributes = _reconstructed(reading, binding)
    solved = family.solve(state)
    if stated := _stated_only(reading, solved):
        state |= stated
        solved = family.solve(state)
    relations = gold.relations if gold is not None else _relations(reading, binding, solved)
    counterfactual = _counterfactual(reading, family, asked, state, solved)
    return Reference(
        family=family,
        lexicon=binding.lexicon,
        binding=binding,
        gold=gold is not None,
        asked=asked,
        state=state,
        solved=solved,
        relations=relations,
        given_attributes=attributes,
        counterfactual=counterfactual,
        told=gold.told if gold is not None else None,
    )


def _reconstructed(reading: Reading, binding: Binding) -> tuple[State, dict[str, dict[str, float]]]:
    """The state by the question, then by the trace's own statements, then by what goes without saying; and the numbers of
    objects that the question gives."""
    family = binding.family
    state, attributes = _by_question(reading, binding) if reading.question else (State(), dict[str, dict[str, float]]())
    facts = _facts(reading, binding)
    for key in family.givens:
        if key not in state:
            voices = [placed.stated for placed in reading.quantities.get(key, ())] + facts.get(key, [])
            if voices:
                state[key] = _majority(voices, binding.lexicon.dimensions[key])
    for key, (value, _) in reading.conditions.items():
        if key not in state and value.lower() in family.conditions[key]:
            state[key] = value.lower()
    for key, usual in family.defaults.items():
        state.setdefault(key, usual)
    for key in family.constants:
        state[key] = _constant(key, reading, family)
    return state, attributes


def _by_question(reading: Reading, binding: Binding) -> tuple[State, dict[str, dict[str, float]]]:
    """What the question gives: numbers bound to quantities, numbers of other objects, conditions."""
    family, own = binding.family, reading.quantities
    state: State = {}
    attributes: dict[str, dict[str, float]] = {}
    loose: list[TextNumber] = []
    known = (*family.givens, *(key for key in own if key not in family.givens))
    for number in binding.lexicon.numbers(reading.question, binding.objects):
        key = binding.number(number, known)
        if key is not None:
            state.setdefault(key, number.stated.value)
        elif name := _attribute_name(number, reading.question, binding):
            attributes.setdefault(number.owner, {}).setdefault(name, number.stated.value)
        elif not number.candidates:
            loose.append(number)
    for number in loose:
        fits = _unnamed_fits(number.stated, own, state, binding)
        if len(fits) == 1:
            state[fits[0]] = number.stated.value
    return state | _conditions_asked(reading.question, binding), attributes


def _attribute_name(number: TextNumber, question: str, binding: Binding) -> str | None:
    """The attribute that a number of the question gives of an object that plays no part in the family."""
    if not number.owner:
        return None
    if number.candidates:
        is_stranger = binding.role(number.owner) is None
        return snake(binding.family.quantities[number.candidates[0]].name) if is_stranger else None
    return "mass" if "mass" in question[max(0, number.start - 12) : number.start] else None


def _unnamed_fits(stated: Stated, own: Collection[str], state: State, binding: Binding) -> list[str]:
    """The quantities that the trace states, the question has not given yet, and an unnamed number of it may be."""
    dimensions, constants = binding.lexicon.dimensions, binding.family.constants
    return [
        key
        for key in own
        if key not in state and key not in constants and stated.dimension and dimensions[key] == stated.dimension
    ]


def _conditions_asked(question: str, binding: Binding) -> State:
    conditions: State = {}
    for key, options in binding.family.conditions.items():
        match = binding.lexicon.condition_patterns[key].search(question)
        if match:
            conditions[key] = match[1]
            continue
        mentioned = {name for _, _, name in occurrences(question.lower(), options)}
        if len(mentioned) == 1:
            conditions[key] = mentioned.pop()
    return conditions


def _facts(reading: Reading, binding: Binding) -> dict[str, list[Stated]]:
    """What the evidence says of the givens."""
    facts: dict[str, list[Stated]] = {}
    for fact in reading.evidence:
        for _, number in fact.numbers:
            key = binding.number(number, binding.family.givens)
            if key is not None:
                facts.setdefault(key, []).append(number.stated)
    return facts


def _majority(voices: list[Stated], dimension: str) -> float:
    """The value that most statements share; the first of them where none is ahead."""
    return max(voices, key=lambda voice: sum(same(other, voice.value, dimension) for other in voices)).value


def _constant(key: str, reading: Reading, family: Family) -> float:
    """The constant as the trace rounds it, where it does so within reason."""
    constant = family.quantities[key].constant
    assert constant is not None
    placed = reading.quantities.get(key)
    own = placed[0].stated.value if placed else 0.0
    return own if constant.low <= own <= constant.high else constant.value


def _stated_only(reading: Reading, solved: State) -> State:
    """What the trace states as given although the family derives it (a final temperature, say)."""
    return {key: placed[0].stated.value for key, placed in reading.quantities.items() if key not in solved}


def _relations(reading: Reading, binding: Binding, solved: State) -> Relations:
    """The relations of the solved scene, and those that the question tells."""
    names = binding.names
    try:
        pairs = binding.family.relations(solved)
    except (KeyError, TypeError):
        pairs = ()
    known = [(kind, names[one], names[two]) for kind, one, two in pairs if one in names and two in names]
    return (*known, *_relations_asked(reading.question.lower(), binding.objects))


def _relations_asked(question: str, objects: tuple[str, ...]) -> Relations:
    placed: list[tuple[str, str, str]] = []
    mentions: list[tuple[int, int, str]] | None = None
    for match in _PLACED.finditer(question):
        if mentions is None:
            mentions = occurrences(question, objects)
        kind, start, end = relation_type(match[1]), match.start(), match.end()
        clause = max(question.rfind(". ", 0, start), question.rfind("; ", 0, start), start - 60)
        before = [name for first, last, name in mentions if clause <= first and last <= start]
        after = [name for first, _, name in mentions if end <= first <= end + 5]
        if kind and before and after and before[-1] != after[0]:
            placed.append((kind, before[-1], after[0]))
    return tuple(placed)


def _counterfactual(
    reading: Reading, family: Family, asked: Asked, state: State, solved: State
) -> Counterfactual | None:
    """None where no change is asked for."""
    if asked.kind != COUNTERFACTUAL:
        return None
    target = asked.target
    if target is None:  # then what the trace gives as its result
        target = next((key for key in reading.result_numbers if key not in (family.change or ())), None)
    if asked.parameter is None or asked.parameter not in state or target is None:
        return Counterfactual(target, {}, None)
    changed = family.solve({**state, asked.parameter: float(state[asked.parameter]) * asked.factor})
    before, after = solved.get(target), changed.get(target)
    if not isinstance(before, float | int) or not isinstance(after, float | int):
        return Counterfactual(target, changed, None)
    if near(before, after):
        return Counterfactual(target, changed, "stays the same")
    return Counterfactual(target, changed, "increases" if abs(after) > abs(before) else "decreases")
