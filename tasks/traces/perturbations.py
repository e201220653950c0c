"""25 typed perturbations over the nine labels of paper 2, Table 1: 15 seen, 10 held out.

A perturbation takes a record and yields records that differ from it by one violation. What it writes is drawn from what
valid traces say at that place (a side from the other side, a parameter from its own range, a unit from the spellings in
use, a name from the objects of the scene), so that no single word gives a rejected trace away: only the physics does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from tasks.traces.bank import RESPONSES
from tasks.traces.equations import NotMath, evaluate
from tasks.traces.family import BYSTANDER, FIRST, OPPOSITES, SECOND
from tasks.traces.record import (
    Record,
    Relation,
    Sentence,
    Slot,
    Thing,
    Value,
    canonical,
    key_name,
    plain,
    significant,
    snake,
)
from tasks.traces.scenes import draw_given
from tasks.traces.units import dimension

Label = Literal[
    "object", "state", "relation", "force", "transition", "intervention", "temporal", "unit_scale", "faithfulness"
]
LABELS: tuple[Label, ...] = (
    "object", "state", "relation", "force", "transition", "intervention", "temporal", "unit_scale", "faithfulness",
)  # fmt: skip
Candidates = Iterator[Record]

# Where a violation of each label may show: JSON pointers begin with one of these.
PLACES: dict[Label, tuple[str, ...]] = {
    "object": ("/state_0/objects", "/transition/effect", "/transition/evidence"),
    "state": ("/state_0/variables",),
    "relation": ("/state_0/relations",),
    "force": ("/state_0/forces",),
    "transition": ("/transition/effect", "/transition/equation"),
    "intervention": ("/transition/intervention", "/answer", "/derivation"),
    "temporal": ("/state_0/variables", "/state_1"),
    "unit_scale": ("/state_0/variables", "/state_1/new_variables"),
    "faithfulness": ("/answer/value", "/derivation"),
}
CONTRARY = {
    "left_of": "right_of",
    "right_of": "left_of",
    "touching": "apart",
    "apart": "touching",
}  # only kinds that scenes hold both ways: `on` turned into `apart` could be told from its rare words
FOREIGN_UNITS = {
    "m/s": ("m/s²", "m"),
    "km/h": ("km", "m/s²"),
    "m/s²": ("m/s", "N"),
    "kg": ("N", "kg/m³"),
    "g": ("N", "cm³"),
    "N": ("kg", "J"),
    "J": ("N", "W"),
    "kJ": ("kPa", "kg"),
    "s": ("m", "m/s"),
    "ms": ("mV", "m"),
    "m": ("s", "m²"),
    "cm": ("s", "cm²"),
    "Pa": ("N", "J"),
    "kPa": ("kJ", "N"),
    "V": ("A", "Ω"),
    "mV": ("mA", "ms"),
    "A": ("V", "Ω"),
    "mA": ("mV", "ms"),
    "Ω": ("V", "A"),
    "kΩ": ("V", "kHz"),
    "W": ("J", "V"),
    "T": ("V", "Wb"),
    "mT": ("mV", "mWb"),
    "Wb": ("T", "V"),
    "mWb": ("mT", "mV"),
    "Hz": ("m/s", "s"),
    "kHz": ("m/s", "ms"),
    "kg/m³": ("kg", "N/m"),
    "g/cm³": ("g", "kg"),
    "N/m": ("N", "N·m"),
    "N·m": ("N", "N/m"),
}


@dataclass(frozen=True)
class Perturbation:
    name: str
    label: Label
    held_out: bool
    apply: Callable[[Record, random.Random], Candidates]


PERTURBATIONS: dict[str, Perturbation] = {}


Apply = Callable[[Record, random.Random], Candidates]
T = TypeVar("T")


def _register(label: Label, held_out: bool = False) -> Callable[[Apply], Apply]:
    def wrap(function: Apply) -> Apply:
        name = function.__name__
        PERTURBATIONS[name] = Perturbation(name, label, held_out, function)
        return function

    return wrap


def _shuffled(items: Iterable[T], rng: random.Random) -> list[T]:
    mixed = list(items)
    rng.shuffle(mixed)
    return mixed


def _apart(one: Value, other: Value, by: float = 0.15) -> bool:
    """Whether two statements of one dimension differ by more than `by` of the larger."""
    first, second = canonical(one), canonical(other)
    if dimension(one.unit) == "temperature":
        return abs(first - second) > 8
    return abs(first - second) > by * max(abs(first), abs(second))


def _other_number(value: Value, rng: random.Random) -> Value:
    """Another number of the same size: 0.4 to 0.75 or 1.35 to 2.2 times the value (12 to 40 K for a temperature)."""
    if dimension(value.unit) == "temperature":
        return Value(significant(value.number + rng.choice((-1, 1)) * rng.uniform(12, 40)), value.unit)
    factor = rng.uniform(0.4, 0.75) if rng.random() < 0.5 else rng.uniform(1.35, 2.2)
    return Value(significant(value.number * factor), value.unit)


def _peers(record: Record, name: str) -> list[str]:
    """Objects of the scene that could be mistaken for `name`: the other body, the bystander."""
    roles = [role for role in (FIRST, SECOND, record.family.subject, BYSTANDER) if role in record.names]
    return [other for other in dict.fromkeys(record.names[role] for role in roles) if other != name]


def _variables(record: Record, keys: tuple[str, ...] | None = None) -> list[tuple[int, str, Value]]:
    """(position, canonical key, value) of the numbers among the initial variables."""
    wanted = keys or (*record.family.givens, *record.family.initial)
    by_name = {key_name(record.family, key, record.names): key for key in wanted}
    return [
        (i, by_name[name], value)
        for i, (name, value) in enumerate(record.variables)
        if name in by_name and isinstance(value, Value)
    ]


def _put(pairs: tuple[tuple[str, Slot], ...], position: int, value: Slot) -> tuple[tuple[str, Slot], ...]:
    return (*pairs[:position], (pairs[position][0], value), *pairs[position + 1 :])


def _slot_value(sentence: Sentence, key: str) -> Value | None:
    value = sentence.get(key)
    return value if isinstance(value, Value) else None


# --- object -------------------------------------------------------------------------------------------------------


@_register("object")
def object_tracked(record: Record, rng: random.Random) -> Candidates:
    """The effect is told of another object."""
    subject = record.family.subject
    others = [record.names[BYSTANDER]] if BYSTANDER in record.names else []
    if subject == FIRST and not record.family.shared_outcome(record.state):
        others.append(record.names[SECOND])
    for other in _shuffled(others, rng):
        yield replace(record, effect=record.effect.put(**{subject: other}))


@_register("object")
def attribute_exchange(record: Record, rng: random.Random) -> Candidates:
    """Two objects carry each other's attribute."""
    things = list(enumerate(record.objects))
    pairs = [
        (i, j, k)
        for i, one in things
        for j, other in things[i + 1 :]
        for k, (key, value) in enumerate(one.attributes)
        if (key, k) in [(name, n) for n, (name, _) in enumerate(other.attributes)] and isinstance(value, Value)
    ]
    for i, j, k in _shuffled(pairs, rng):
        mine, theirs = record.objects[i].attributes[k][1], record.objects[j].attributes[k][1]
        if not (isinstance(mine, Value) and isinstance(theirs, Value) and _apart(mine, theirs)):
            continue
        changed = list(record.objects)
        changed[i] = Thing(changed[i].name, _put(changed[i].attributes, k, theirs))
        changed[j] = Thing(changed[j].name, _put(changed[j].attributes, k, mine))
        yield replace(record, objects=tuple(changed))


@_register("object", held_out=True)
def evidence_owner(record: Record, rng: random.Random) -> Candidates:
    """A fact is credited to another object, which does not have it."""
    for i in _shuffled(range(len(record.evidence)), rng):
        owner = record.evidence[i].get("owner")
        if not isinstance(owner, str) or not owner or owner not in _peers(record, ""):
            continue
        for other in _shuffled(_peers(record, owner), rng):
            facts = (*record.evidence[:i], record.evidence[i].put(owner=other), *record.evidence[i + 1 :])
            yield replace(record, evidence=facts)


# --- state ----------------------------------------------------------------------------------------------------------


@_register("state")
def variable_misread(record: Record, rng: random.Random) -> Candidates:
    """A parameter is read as another value of its own range."""
    sites = _variables(record, record.family.givens)
    for _ in range(4):
        for i, key, value in _shuffled(sites, rng):
            for _ in range(20):
                other = draw_given(record.family, key, value.unit, rng)
                if _apart(value, other, 0.25) and abs(canonical(other) / canonical(value)) < 8:
                    break
            else:
                continue
            yield replace(record, variables=_put(record.variables, i, other))


@_register("state")
def condition_flipped(record: Record, rng: random.Random) -> Candidates:
    """A condition of the scene is stated as its alternative."""
    by_name = {snake(key): options for key, options in record.family.conditions.items()}
    for i in _shuffled(range(len(record.variables)), rng):
        name, value = record.variables[i]
        for other in by_name.get(name, ()):
            if other != value:
                yield replace(record, variables=_put(record.variables, i, other))


@_register("state", held_out=True)
def variables_exchanged(record: Record, rng: random.Random) -> Candidates:
    """Two parameters of one kind carry each other's value."""
    family = record.family
    sites = [site for site in _variables(record, family.givens) if site[1] not in family.two_moments]
    pairs = [
        (one, other)
        for n, one in enumerate(sites)
        for other in sites[n + 1 :]
        if dimension(one[2].unit) == dimension(other[2].unit) and _apart(one[2], other[2])
    ]
    for (i, _, first), (j, _, second) in _shuffled(pairs, rng):
        yield replace(record, variables=_put(_put(record.variables, i, second), j, first))


# --- relation -------------------------------------------------------------------------------------------------------


@_register("relation")
def relation_contrary(record: Record, rng: random.Random) -> Candidates:
    """Contact, support or order is stated as its contrary."""
    for i in _shuffled(range(len(record.relations)), rng):
        kind, first, second = record.relations[i]
        if kind in CONTRARY:
            changed = (*record.relations[:i], Relation(CONTRARY[kind], first, second), *record.relations[i + 1 :])
            yield replace(record, relations=changed)


@_register("relation")
def relation_turned(record: Record, rng: random.Random) -> Candidates:
    """The two sides of an order are exchanged."""
    for i in _shuffled(range(len(record.relations)), rng):
        kind, first, second = record.relations[i]
        if kind in ("left_of", "right_of"):
            changed = (*record.relations[:i], Relation(kind, second, first), *record.relations[i + 1 :])
            yield replace(record, relations=changed)


@_register("relation", held_out=True)
def relation_argument(record: Record, rng: random.Random) -> Candidates:
    """A relation that the scene needs is told of an object that does not stand in it."""
    bystander = record.names.get(BYSTANDER)
    for i in _shuffled(range(len(record.relations)), rng):
        kind, first, second = record.relations[i]
        if bystander is None or bystander in (first, second):
            continue
        bodies = _peers(record, bystander)
        for place in _shuffled([p for p, name in enumerate((first, second)) if name in bodies], rng):
            args = (bystander, second) if place == 0 else (first, bystander)
            yield replace(record, relations=(*record.relations[:i], Relation(kind, *args), *record.relations[i + 1 :]))


# --- force ----------------------------------------------------------------------------------------------------------


@_register("force")
def force_reversed(record: Record, rng: random.Random) -> Candidates:
    """A force points the other way."""
    for i in _shuffled(range(len(record.forces)), rng):
        force = record.forces[i]
        if force.reversible and force.direction in OPPOSITES:
            turned = force._replace(direction=OPPOSITES[force.direction])
            yield replace(record, forces=(*record.forces[:i], turned, *record.forces[i + 1 :]))


@_register("force")
def force_magnitude(record: Record, rng: random.Random) -> Candidates:
    """A force is stated too weak or too strong."""
    for _ in range(3):
        for i in _shuffled(range(len(record.forces)), rng):
            force = record.forces[i]._replace(magnitude=_other_number(record.forces[i].magnitude, rng))
            yield replace(record, forces=(*record.forces[:i], force, *record.forces[i + 1 :]))


@_register("force", held_out=True)
def force_body(record: Record, rng: random.Random) -> Candidates:
    """A force is assigned to a body on which it does not act."""
    for i in _shuffled(range(len(record.forces)), rng):
        for other in _shuffled(_peers(record, record.forces[i].target), rng):
            force = record.forces[i]._replace(target=other)
            yield replace(record, forces=(*record.forces[:i], force, *record.forces[i + 1 :]))


# --- transition -----------------------------------------------------------------------------------------------------


@_register("transition")
def effect_reversed(record: Record, rng: random.Random) -> Candidates:
    """The predicted change has the wrong sense."""
    key = record.family.outcome.key
    for other in record.family.outcome.words:
        if other != record.effect.get(key):
            yield replace(record, effect=record.effect.put(**{key: other}))


def _result(equation: Sentence) -> float | None:
    try:
        return evaluate(str(equation).split(" = ")[2], {})
    except NotMath:
        return None


@_register("transition")
def substitution_swapped(record: Record, rng: random.Random) -> Candidates:
    """Two numbers change places in the equation, or one is taken from another quantity; it no longer holds."""
    truth = _result(record.equation)
    slots = [
        (key, str(value))
        for key, value in record.equation.slots
        if key != "result" and key not in record.family.constants
    ]
    solved = record.family.solve(record.state)
    spare = [plain(float(solved[key]), 4) for key in record.family.givens if key not in dict(slots)]
    options = [{a: y, b: x} for n, (a, x) in enumerate(slots) for b, y in slots[n + 1 :] if x != y]
    options += [{key: number} for key, old in slots for number in spare if number != old]
    for option in _shuffled(options, rng):
        changed = record.equation.put(**{k: f"({v})" if v.startswith("-") else v for k, v in option.items()})
        result = _result(changed)
        if truth is None or result is None or abs(result - truth) < 0.1 * max(abs(result), abs(truth)):
            continue
        if 0.02 < abs(result / truth) < 50:
            yield replace(record, equation=changed)


@_register("transition", held_out=True)
def effect_value(record: Record, rng: random.Random) -> Candidates:
    """The predicted change has the wrong size."""
    value = _slot_value(record.effect, record.family.headline)
    for _ in range(3):
        if value is not None:
            yield replace(record, effect=record.effect.put(**{record.family.headline: _other_number(value, rng)}))


@_register("transition", held_out=True)
def equation_result(record: Record, rng: random.Random) -> Candidates:
    """The equation is given another result."""
    value = _slot_value(record.equation, "result")
    for _ in range(3):
        if value is not None:
            yield replace(record, equation=record.equation.put(result=_other_number(value, rng)))


# --- intervention ---------------------------------------------------------------------------------------------------


@_register("intervention")
def response_reversed(record: Record, rng: random.Random) -> Candidates:
    """The effect of the action has the wrong sense, wherever it is told."""
    if record.intervention is None:
        return
    for other in _shuffled(RESPONSES, rng):
        if other != record.intervention.response:
            yield replace(
                record,
                intervention=record.intervention._replace(response=other),
                answer=other,
                derivation=record.derivation.put(answer=other),
            )


@_register("intervention", held_out=True)
def response_size(record: Record, rng: random.Random) -> Candidates:
    """The effect of the action has the wrong size."""
    if record.intervention is None:
        return
    for _ in range(3):
        other = _other_number(record.intervention.new_value, rng)
        yield replace(
            record,
            intervention=record.intervention._replace(new_value=other),
            explanation=record.explanation.put(new=other),
        )


# --- temporal -------------------------------------------------------------------------------------------------------


@_register("temporal")
def frames_swapped(record: Record, rng: random.Random) -> Candidates:
    """The value after is given as the value before, and the other way round."""
    if record.family.change is None:
        return
    before, after = (key_name(record.family, key, record.names) for key in record.family.change)
    i = next((n for n, (name, _) in enumerate(record.variables) if name == before), None)
    j = next((n for n, (name, _) in enumerate(record.new_variables) if name == after), None)
    if i is None or j is None:
        return
    first, second = record.variables[i][1], record.new_variables[j][1]
    yield replace(
        record, variables=_put(record.variables, i, second), new_variables=_put(record.new_variables, j, first)
    )


@_register("temporal", held_out=True)
def change_reversed(record: Record, rng: random.Random) -> Candidates:
    """The predicted change runs from the later value to the earlier."""
    before, after = _slot_value(record.change, "before"), _slot_value(record.change, "after")
    if before is not None and after is not None and _apart(before, after, 0.1):
        yield replace(record, change=record.change.put(before=after, after=before))


# --- unit and scale ---------------------------------------------------------------------------------------------------


def _number_sites(record: Record) -> list[tuple[str, int, str, Value]]:
    """(field, position, canonical key, value) of the numbers among initial and new variables."""
    sites = [("variables", i, key, value) for i, key, value in _variables(record)]
    by_name = {key_name(record.family, key, record.names): key for key in record.family.quantities}
    sites += [
        ("new_variables", i, by_name[name], value)
        for i, (name, value) in enumerate(record.new_variables)
        if isinstance(value, Value) and name in by_name
    ]
    return sites


def _at(record: Record, field: str, position: int, value: Value) -> Record:
    if field == "variables":
        return replace(record, variables=_put(record.variables, position, value))
    return replace(record, new_variables=_put(record.new_variables, position, value))


@_register("unit_scale")
def unit_replaced(record: Record, rng: random.Random) -> Candidates:
    """The number stays, its unit becomes another of the same dimension: centimeters taken for meters."""
    for field, i, key, value in _shuffled(_number_sites(record), rng):
        for unit in _shuffled(record.family.quantities[key].spellings, rng):
            other = Value(value.number, unit)
            if unit != value.unit and _apart(value, other):
                yield _at(record, field, i, other)


@_register("unit_scale")
def power_of_ten(record: Record, rng: random.Random) -> Candidates:
    """The unit stays, the decimal point moves."""
    for field, i, _, value in _shuffled(_number_sites(record), rng):
        if dimension(value.unit) in ("temperature", "angle"):
            continue
        for factor in _shuffled((0.1, 10.0), rng):
            other = Value(significant(value.number * factor), value.unit)
            if 1e-3 < abs(other.number) < 1e5:
                yield _at(record, field, i, other)


@_register("unit_scale", held_out=True)
def dimension_replaced(record: Record, rng: random.Random) -> Candidates:
    """The number stays, its unit becomes one of another dimension: a velocity given as an acceleration."""
    for field, i, _, value in _shuffled(_number_sites(record), rng):
        for unit in _shuffled(FOREIGN_UNITS.get(value.unit, ()), rng):
            yield _at(record, field, i, Value(value.number, unit))


# --- faithfulness -----------------------------------------------------------------------------------------------------


def _other_answers(record: Record, rng: random.Random) -> Iterator[Slot]:
    if isinstance(record.answer, Value):
        for _ in range(4):
            yield _other_number(record.answer, rng)
        return
    options = RESPONSES if record.intervention is not None else tuple(record.family.outcome.words)
    yield from (other for other in _shuffled(options, rng) if other != record.answer)


@_register("faithfulness")
def answer_contradicts(record: Record, rng: random.Random) -> Candidates:
    """The answer is not the one that the trace derives."""
    for other in _other_answers(record, rng):
        yield replace(record, answer=other)


@_register("faithfulness", held_out=True)
def conclusion_contradicts(record: Record, rng: random.Random) -> Candidates:
    """The derivation concludes another answer than the one given."""
    for other in _other_answers(record, rng):
        yield replace(record, derivation=record.derivation.put(answer=other))


SEEN = tuple(name for name, p in PERTURBATIONS.items() if not p.held_out)
HELD_OUT = tuple(name for name, p in PERTURBATIONS.items() if p.held_out)
