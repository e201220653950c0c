"""What a trace states, each statement bound to a quantity and an owner or left open. Nothing here judges.

A text becomes the numbers in it; a label, a phrase and a number are bound by `binding`. A trace of an unknown family is
read as far as no family is needed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.traces.family import Family
from tasks.traces.record import snake
from tasks.verification.binding import Binding, bind
from tasks.verification.calculations import calculations, consistent
from tasks.verification.fields import Fields, as_text, as_unit, as_word, fields_of
from tasks.verification.lexicon import Lexicon, TextNumber
from tasks.verification.quantities import Stated, quantity
from tasks.verification.words import DIRECTIONS, force_name, relation_type, response_of

_CONCLUSION = re.compile(r"(?:answer|result) (?:is|=|would be)(\s*:?\s*)", re.I)
LONGEST_VALUE = 200  # characters of a value that may state an outcome


class BoundNumber(NamedTuple):
    """A number in a text and the quantity that it is told of; `key` None where that is open."""

    key: str | None
    number: TextNumber


@dataclass(frozen=True)
class Text:
    """A sentence and the numbers in it."""

    text: str = ""
    numbers: tuple[BoundNumber, ...] = ()

    def around(self, number: TextNumber) -> str:
        """The number with the words before it, as a check shows it."""
        return self.text[max(0, number.start - 30) : number.end]


class Placed(NamedTuple):
    """A stated number, the JSON pointer of its place, and the quantities that its label may mean: one where it is `firm`."""

    stated: Stated
    pointer: str
    keys: tuple[str, ...] = ()
    firm: bool = True

    @property
    def of_object(self) -> bool:
        return "/objects/" in self.pointer


class Attribute(NamedTuple):
    """A number that an object carries, and that is no quantity of the family."""

    owner: str
    label: str
    stated: Stated
    pointer: str


class StatedRelation(NamedTuple):
    """`kind` is None where the type is none of the known ones, or where the two sides are not given."""

    kind: str | None
    args: tuple[str, ...]


class StatedForce(NamedTuple):
    """`name` is a known name where there is one; `target` is in lower case, `direction` as the trace gives it."""

    name: str
    target: str
    direction: Any
    magnitude: Stated | None


class Result(NamedTuple):
    """A new variable: a number and the quantities that it may be (one where it is `firm`), or the outcome that it claims, or
    neither."""

    pointer: str
    value: Any
    keys: tuple[str, ...] = ()
    number: Stated | None = None
    claim: str | None = None
    firm: bool = True


class StatedIntervention(NamedTuple):
    variable: Any
    change: str
    response: str | None  # increases, decreases, stays the same
    new_value: Stated | None


class StatedAnswer(NamedTuple):
    """`number` is what value and unit state as a quantity; `word` is the value as a word."""

    value: Any
    unit: str | None
    number: Stated | None
    word: str


@dataclass(frozen=True)
class Reading:
    """`quantities` are the numbers of the initial state by quantity, `open_units` (pointer, unit) those whose unit is not
    known; `conditions` maps a condition to (value, pointer). The last nine fields need a family."""

    objects: tuple[str, ...]
    question: str
    initial_words: str  # assumptions and variables in words
    assumptions: tuple[str, ...]
    relation_words: tuple[str, ...]  # how each relation is told
    relations: tuple[StatedRelation, ...]
    forces: tuple[StatedForce, ...]
    rule: str
    equation: str
    effect: Text
    change: Text
    derivation: Text
    explanation: Text
    evidence: tuple[Text, ...]
    conclusion: str | None  # what the derivation says that the answer is
    answer: StatedAnswer
    intervention: StatedIntervention | None = None
    scene_words: str = ""  # names and words of the initial state, in lower case
    quantities: Mapping[str, tuple[Placed, ...]] = field(default_factory=dict)
    open_units: tuple[tuple[str, Any], ...] = ()
    attributes: tuple[Attribute, ...] = ()
    conditions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    listed: Mapping[str, Any] = field(default_factory=dict)  # variables and new variables, as they are written

    @functools.cached_property
    def result_numbers(self) -> dict[str, Stated]:
        """The new variables that are quantities, by key; the first where one is stated twice."""
        numbers: dict[str, Stated] = {}
        for result in self.results:
            if result.keys and result.firm and result.number is not None:
                numbers.setdefault(result.keys[0], result.number)
        return numbers

    @functools.cached_property
    def computed(self) -> tuple[float, ...]:
        """The results of the trace's own calculations that are right."""
        texts = [self.equation, self.derivation.text, self.explanation.text, self.effect.text, self.change.text]
        texts += [fact.text for fact in self.evidence]
        chains = (chain for text in texts for chain in calculations(text) if consistent(chain))
        return tuple(spread.value for chain in chains for side in chain for spread in side.values)

    @property
    def result_outcome(self) -> str | None:
        """The outcome that the new variables claim; the last where they claim several."""
        return next((result.claim for result in reversed(self.results) if result.claim), None)


def read(
    trace: Mapping[str, Any], family: Family | None, names: Mapping[str, str] | None = None, use_question: bool = True
) -> tuple[Reading, Binding | None]:
    """What a trace states, and how it was bound (None for an unknown family). `names`: the objects by role, where known."""
    fields = fields_of(trace, use_question)
    if family is None:
        return _read_any(fields), None
    binding = bind(fields, family, names)
    return _read_known(fields, binding), binding


def _read_any(fields: Fields) -> Reading:
    """What can be read without a family."""
    return Reading(
        **_common(fields),
        effect=Text(fields.effect),
        change=Text(fields.change),
        derivation=Text(fields.derivation),
        explanation=Text(fields.explanation),
        evidence=tuple(map(Text, fields.evidence)),
    )


def _read_known(fields: Fields, binding: Binding) -> Reading:
    family = binding.family
    change = family.change
    quantities, attributes, conditions, open_units = _initial_state(fields, binding)
    return Reading(
        **_common(fields),
        effect=_text(fields.effect, binding, (*family.derived, *family.givens), (family.headline,)),
        change=_text(fields.change, binding, None, change or ()),
        derivation=_text(fields.derivation, binding),
        explanation=_text(fields.explanation, binding),
        evidence=tuple(_text(fact, binding) for fact in fields.evidence),
        intervention=_intervention(fields),
        scene_words=_scene_words(fields) if family.implausible else "",
        quantities=quantities,
        open_units=open_units,
        attributes=attributes,
        conditions=conditions,
        results=tuple(_result(label, value, binding) for label, value in fields.new_variables.items()),
        listed={**fields.new_variables, **fields.variables},
    )


def _common(fields: Fields) -> dict[str, Any]:
    return {
        "objects": fields.names,
        "question": fields.question,
        "initial_words": " ".join([*fields.assumptions, *map(as_text, fields.variables.values())]),
        "assumptions": fields.assumptions,
        "relation_words": tuple(f"{' '.join(args[:1])} {kind} {' '.join(args[1:])}" for kind, args in fields.relations),
        "relations": tuple(
            StatedRelation(relation_type(kind) if len(args) >= 2 else None, args) for kind, args in fields.relations
        ),
        "forces": tuple(map(_force, fields.forces)),
        "rule": fields.rule,
        "equation": fields.equation,
        "conclusion": _conclusion(fields.derivation),
        "answer": _answer(fields.answer),
    }


def read_answer(trace: Mapping[str, Any]) -> StatedAnswer:
    """The answer of a trace of any family."""
    return _answer(fields_of(trace, False).answer)


def _answer(answer: Mapping[str, Any]) -> StatedAnswer:
    value, unit = answer.get("value"), as_unit(answer.get("unit"))
    return StatedAnswer(value, unit, quantity(value, unit), as_word(value))


def _text(text: str, binding: Binding, among: Collection[str] | None = None, usual: Collection[str] = ()) -> Text:
    """A text with its numbers bound, to quantities `among` those where given; a number that stays open, yet may be told of
    one of the `usual` quantities, is taken to be."""
    numbers = []
    for number in binding.lexicon.numbers(text, binding.objects):
        key = binding.number(number, among)
        if key is None and usual:
            key = next((candidate for candidate in number.candidates if candidate in usual), None)
        numbers.append(BoundNumber(key, number))
    return Text(text, tuple(numbers))


def _conclusion(derivation: str) -> str | None:
    """What follows `the answer is`, without its full stop; None where nothing does."""
    match = _CONCLUSION.search(derivation)
    if match is None or match.end(1) == len(derivation) == match.start(1):
        return None
    said = derivation[match.end() :].rstrip()
    if said.endswith(".") and len(said) > 1:
        said = said[:-1]
    return said.strip().strip('"')


def _force(force: Mapping[str, Any]) -> StatedForce:
    return StatedForce(
        force_name(as_text(force.get("name"))),
        as_text(force.get("target")).lower(),
        as_text(force.get("direction")) or None,
        quantity(force.get("magnitude"), as_unit(force.get("unit"))),
    )


def _scene_words(fields: Fields) -> str:
    words = [*fields.names, *(value for value in fields.variables.values() if isinstance(value, str))]
    words += [as_text(value) for _, attributes in fields.objects for value in attributes.values()]
    return " ".join(words).lower()


def _intervention(fields: Fields) -> StatedIntervention | None:
    stated = fields.intervention
    if not stated:
        return None
    response = response_of(as_text(stated.get("response")))
    return StatedIntervention(
        stated.get("variable"), as_text(stated.get("change")), response, quantity(stated.get("new_value"))
    )


_State = tuple[
    dict[str, tuple[Placed, ...]],
    tuple[Attribute, ...],
    dict[str, tuple[str, str]],
    tuple[tuple[str, Any], ...],
]


def _initial_state(fields: Fields, binding: Binding) -> _State:
    """Variables and attributes: the numbers by quantity, loose attributes, conditions, numbers of unknown units."""
    quantities: dict[str, list[Placed]] = {}
    attributes: list[Attribute] = []
    conditions: dict[str, tuple[str, str]] = {}
    open_units: list[tuple[str, Any]] = []
    for label, value in fields.variables.items():
        pointer = f"/state_0/variables/{label}"
        condition = binding.condition(label)
        bound = binding.label(label, value)
        if condition is None and not bound.keys and isinstance(value, str):
            condition = binding.condition_by_value(value)
        if condition is not None and isinstance(value, str):
            conditions[condition] = (value, pointer)
        elif bound.keys and bound.number is not None:
            placed = Placed(bound.number, pointer, bound.keys, bound.firm)
            quantities.setdefault(bound.keys[0], []).append(placed)
        elif bound.keys and isinstance(value, dict) and isinstance(value.get("value"), int | float):
            open_units.append((pointer, value.get("unit")))
    for i, (name, given) in enumerate(fields.objects):
        role = binding.role(name)
        for label, value in given.items():
            number = quantity(value, as_unit(given.get(f"{label}_unit")))
            if number is None:
                continue
            pointer = f"/state_0/objects/{i}/attributes/{label}"
            key, firm = binding.attribute(label, role, number)
            if key is None:
                attributes.append(Attribute(name, label, number, pointer))
                continue
            if not number.dimension:
                number = binding.label(label, value).number or number
            quantities.setdefault(key, []).append(Placed(number, pointer, (key,), firm))
    voices = {key: tuple(placed) for key, placed in quantities.items()}
    return voices, tuple(attributes), conditions, tuple(open_units)


def _result(label: str, value: Any, binding: Binding) -> Result:
    pointer = f"/state_1/new_variables/{label}"
    bound = binding.label(label, value)
    if bound.keys and bound.number is not None:
        return Result(pointer, value, bound.keys, bound.number, firm=bound.firm)
    return Result(pointer, value, claim=_claim(label, value, binding.lexicon))


def _claim(label: str, value: Any, lexicon: Lexicon) -> str | None:
    """The outcome that a new variable claims: by its words, or by its label where it is yes or no."""
    if isinstance(value, bool):
        claim = lexicon.outcome(label.replace("_", " "))
        if value or claim is None:
            return claim
        others = [outcome for outcome in lexicon.outcomes if outcome != claim]
        return others[0] if len(others) == 1 else None
    if not isinstance(value, str) or len(value) >= LONGEST_VALUE:
        return None
    elsewhere = snake(lexicon.family.outcome.key) != label and not DIRECTIONS.isdisjoint(lexicon.outcomes)
    return None if elsewhere else lexicon.outcome(value)  # a direction may be that of something else
