"""The initial state: entities, relations, variables, attributes, conditions, forces (paper 2, state verifier)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tasks.traces.family import BODY, BYSTANDER, FIRST, SECOND, ForceSpec
from tasks.traces.record import snake
from tasks.traces.units import dimension as dimension_of
from tasks.verification.fields import as_text
from tasks.verification.judging import OFF_BY_TEN, fits, judge, judge_told, known_elsewhere, reason, truth
from tasks.verification.quantities import Stated, same
from tasks.verification.reading import Attribute, Placed, Reading, StatedForce
from tasks.verification.reference import Reference
from tasks.verification.verdict import ABSTAIN, Check, check
from tasks.verification.words import (
    CAUSED,
    GENERIC,
    NO_FORCE,
    contradicts,
    direction,
    force_name,
    forms,
    moment_words,
    negated,
    opposed,
)

_SPEED = dimension_of("m/s")
_POSITIVE = frozenset(map(dimension_of, ("kg", "kg/m³", "s", "m³", "m²")))
_SMOOTH = r"^(?:the )?(?:floor|ramp|incline|slope|surface|table|plane)?(?: is)? ?(?:frictionless|smooth)\b|\bno friction\b|friction is (?:negligible|ignored|neglected|zero)"
MOST_RELATIONS = 200  # that are held against each other
_LIGHT = 3e8
Pair = tuple[str, str, str]  # (kind, first, second)


def units(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Numbers whose unit is not known are not judged."""
    for pointer, unit in reading.open_units:
        yield check("unit known", None, pointer, "a unit", unit, "the unit is not known")


def entities(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """Forces and relations name objects of the scene."""
    known = {_spoken(name) for name in reading.objects if name}
    for i, name in enumerate(reading.objects):
        if "+" in name or (name and name in reading.objects[:i]):
            rule = "each object has a name of its own"
            yield check("entity", False, f"/state_0/objects/{i}/name", "one object", name, rule)
    strangers = list(_strangers(reading, known))
    if not known:
        yield from strangers
        yield check("entity", None, "/state_0/objects", "objects", "none", "the state names no object")
    elif strangers:
        yield from strangers
    else:
        rule = "forces and relations name objects of the scene"
        yield check("entity", True, "/state_0/objects", "known objects", "known objects", rule)


def _spoken(name: str) -> str:
    return name.lower().replace("_", " ")


def _strangers(reading: Reading, known: set[str]) -> Iterator[Check]:
    for i, force in enumerate(reading.forces):
        target = _spoken(force.target)
        if target and not _is_entity(target, known):
            pointer, rule = f"/state_0/forces/{i}/target", "every force acts on an object"
            yield check("entity", False, pointer, "an object of the scene", target, rule)
    for i, relation in enumerate(reading.relations):
        for j, arg in enumerate(relation.args):
            name = _spoken(arg)
            if not _is_entity(name, known):
                pointer, rule = f"/state_0/relations/{i}/args/{j}", "every relation is between objects"
                yield check("entity", False, pointer, "an object of the scene", name, rule)


def _is_entity(name: str, known: set[str]) -> bool:
    """An object of the scene, a part of its name, or what every scene has (a floor, the air)."""
    return name in known or bool(GENERIC.search(name)) or any(name and (name in n or n in name) for n in known)


def relations(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """Relations that exclude each other, that are contrary to the scene, or that are told of another object."""
    pairs: list[tuple[int, Pair]] = [
        (i, (relation.kind, relation.args[0], relation.args[1]))
        for i, relation in enumerate(reading.relations[:MOST_RELATIONS])
        if relation.kind is not None
    ]
    if len(reading.relations) > MOST_RELATIONS:
        found, rule = f"{len(reading.relations)} relations", "the rest is not read"
        yield check("relation", None, "/state_0/relations", f"at most {MOST_RELATIONS}", found, rule)
    wanted = reference.relations if reference else ()
    for n, (i, pair) in enumerate(pairs):
        pointer = f"/state_0/relations/{i}"
        for _, earlier in pairs[:n]:
            if contradicts(pair, earlier):
                rule = "two relations of one pair exclude each other"
                yield check("relations agree", False, pointer, _shown(earlier), _shown(pair), rule)
        yield from _against_scene(pair, wanted, pointer)
    if reference:
        yield from _holders(reading, reference, pairs)
        bodies = {reference.binding.names.get(role) for role in (FIRST, SECOND)} - {None}
        for i, pair in pairs:
            if pair[0] == "in" and {pair[1], pair[2]} == bodies and len(bodies) == 2:
                rule = "a solid body is not inside of another"
                yield check("relation", False, f"/state_0/relations/{i}", "two bodies", _shown(pair), rule)


def _shown(pair: Pair) -> str:
    return f"{pair[0]}({pair[1]}, {pair[2]})"


def _against_scene(pair: Pair, wanted: Iterable[Pair], pointer: str) -> Iterator[Check]:
    confirmed = False
    for other in wanted:
        if {pair[1], pair[2]} != {other[1], other[2]}:
            continue
        if contradicts(pair, other):
            rule = "the scene has the contrary relation"
            yield check("relation", False, pointer, _shown(other), _shown(pair), rule)
            return
        confirmed = confirmed or pair[0] == other[0]
    if confirmed:
        yield check("relation", True, pointer, pair[0], pair[0], "the scene has this relation")


def _holders(reading: Reading, reference: Reference, pairs: list[tuple[int, Pair]]) -> Iterator[Check]:
    """A relation that the scene needs, told of an object that does not stand in it."""
    have = {form for _, pair in pairs for form in forms(*pair)}
    should = {form for pair in reference.relations for form in forms(*pair)}
    for wanted in reference.relations:
        if wanted in have:
            continue
        kind, first, second = wanted
        for i, stated in pairs:
            other, one, two = stated
            replaced = other == kind and (one == first) != (two == second) and stated not in should
            stranger = two if one == first else one
            known = reference.gold or not reference.binding.takes_part(stranger)
            if replaced and known and stranger in reading.objects:
                pointer, rule = f"/state_0/relations/{i}", "the relation is told of another object"
                yield check("relation holder", False, pointer, _shown(wanted), _shown(stated), rule)


def moment(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """The initial state is not told of the later moment."""
    _, after = moment_words(reference.family.event if reference else "")
    if match := after.search(reading.initial_words):
        rule = "the initial state is told of the later moment"
        yield check("temporal words", False, "/state_0", "the state before", match[0], rule)


def quantities(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The numbers of the initial state: constants, variables within bounds, quantities that objects carry."""
    for key, voices in reading.quantities.items():
        for placed in voices:
            constant = reference.family.quantities[key].constant is not None and placed.keys == (key,)
            if not (placed.firm and _is_initial(reference, key)) and not constant:
                yield _open(reference, placed)
            elif placed.of_object:
                yield _attribute(reference, placed.stated, key, placed.pointer)
            else:
                yield from _variable(reference, placed.stated, key, placed.pointer)


def _variable(reference: Reference, stated: Stated, key: str, pointer: str) -> Iterator[Check]:
    item = reference.family.quantities[key]
    if item.constant is not None:
        value, low, high, rule = item.constant
        yield check("variable", low <= stated.value <= high, pointer, f"{value:g} {item.unit}", stated, rule)
        return
    yield judge(reference, "variable", stated, key, pointer)
    if not _within_bounds(stated.value, reference.lexicon.dimensions[key]):
        yield check("bounds", False, pointer, "a possible value", stated, "outside of physical bounds")


def _is_initial(reference: Reference, key: str) -> bool:
    """Whether a quantity belongs to the initial state: what is derived may as well be told of another moment there."""
    family = reference.family
    return key not in family.derived or key in family.initial


def _open(reference: Reference, placed: Placed) -> Check:
    """A number whose label leaves open which quantity it is. It is wrong where it is a given but for a power of ten."""
    name, stated = "attribute" if placed.of_object else "variable", placed.stated
    judged = judge_told(reference, name, stated, placed.keys, False, placed.pointer)
    given = [key for key in placed.keys if key in reference.state and fits(reference, stated, key) is False]
    if judged.status != ABSTAIN or not given:
        return judged
    alone = len(placed.keys) == 1 and not known_elsewhere(reference, stated)
    for key in given:
        label, rule = reason(reference, stated, key, "state")
        if rule == OFF_BY_TEN or alone:
            return check(name, False, placed.pointer, truth(reference, key), stated, rule, label)
    return judged


def _within_bounds(value: float, dimension: str) -> bool:
    if dimension == _SPEED:
        return abs(value) <= _LIGHT
    if dimension == "temperature":
        return value >= -0.01
    if dimension in _POSITIVE:
        return 0 <= value <= 1e9
    return abs(value) < 1e15


def _attribute(reference: Reference, stated: Stated, key: str, pointer: str) -> Check:
    """A quantity that an object carries; the one of another object is told apart from a wrong number."""
    if fits(reference, stated, key) is False:
        item, dimension = reference.family.quantities[key], reference.lexicon.dimensions[key]
        name, own = snake(item.name), reference.binding.names.get(item.owner)
        for other, table in reference.attributes.items():
            if other != own and name in table and same(stated, table[name], dimension):
                expected, rule = f"{reference.solved[key]:.4g}", f"this is the {item.name} of the {other}"
                return check("attribute", False, pointer, expected, stated, rule, "object")
    return judge(reference, "attribute", stated, key, pointer)


def attributes(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Attributes that are no quantities of the family, where the question (or gold) gives them."""
    for attribute in reading.attributes:
        expected = reference.given_attributes.get(attribute.owner, {}).get(snake(attribute.label))
        if expected is not None:
            yield _given_attribute(reference, attribute, expected)


def _given_attribute(reference: Reference, attribute: Attribute, expected: float) -> Check:
    label, stated = snake(attribute.label), attribute.stated
    ok = same(stated, expected, "")
    others = (
        table[label] for name, table in reference.attributes.items() if name != attribute.owner and label in table
    )
    swapped = not ok and any(same(stated, value, "") for value in others)
    rule = "the attribute as the question gives it"
    return check("attribute", ok, attribute.pointer, f"{expected:.4g}", stated, rule, "object" if swapped else None)


def conditions(reading: Reading, reference: Reference) -> Iterator[Check]:
    for key, (value, pointer) in reading.conditions.items():
        expected, said = reference.state.get(key), reference.binding.option(key, value)
        known = said is not None and expected is not None
        rule = "the condition of the scene" if known else "the wording is not one that is read"
        yield check("condition", said == expected if known else None, pointer, expected, value, rule)


def contradictions(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Assumptions and relations in words that deny what the scene is."""
    told = [(f"/state_0/assumptions/{i}", text) for i, text in enumerate(reading.assumptions)]
    related = [(f"/state_0/relations/{i}", text) for i, text in enumerate(reading.relation_words)]
    for name, texts in (("assumption", told), ("relation", related)):
        for pointer, text in texts:
            for condition, words in reference.family.contrary.items():
                option = str(reference.state.get(condition))
                if option in words and _claims(words[option], text):
                    yield check(name, False, pointer, option, text, "the scene is another one")
    if not reference.family.smooth and reference.binding.lexicon.has_friction(reference.state):
        for pointer, text in told:
            if _claims(_SMOOTH, text):
                yield check("assumption", False, pointer, "a scene with friction", text, "the scene is another one")


def _claims(words: str, text: str) -> bool:
    """Whether a text says something, and does not deny it."""
    match = re.search(words, text, re.IGNORECASE)
    return match is not None and not negated(text, match.start())


def plausibility(reading: Reading, reference: Reference) -> Iterator[Check]:
    """What the family knows cannot exist."""
    implausible = reference.family.implausible
    if implausible and (complaint := implausible(reference.solved, reading.scene_words)):
        yield check("plausible", False, "/state_0", "a state that can exist", *complaint)


def forces(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Each stated force against the one that acts, by name and body; then what is left over on either side."""
    if reference.told is not None:
        return  # held against what the trusted trace tells
    if not reading.forces:
        return
    acting = [_Acting(reference, spec) for spec in reference.forces]
    left, unmatched = list(acting), list[tuple[int, StatedForce]]()
    for i, stated in enumerate(reading.forces):
        force = _targeted(stated, acting)
        match = next((one for one in left if one.name == force.name and one.target == force.target), None)
        if match is None:
            unmatched.append((i, force))
            continue
        left.remove(match)
        yield from _force(reference, force, match.spec, f"/state_0/forces/{i}")
    bodies = _bodies(reading, reference)
    for i, force in unmatched:
        match = next((one for one in left if one.name == force.name), None)
        if match is not None and force.target in bodies and match.target in bodies:
            left.remove(match)
            pointer, rule = f"/state_0/forces/{i}/target", f"{force.name} acts on another body"
            yield check("force body", False, pointer, match.target, force.target, rule)
        else:
            yield _unmatched(reference, force, acting, f"/state_0/forces/{i}")
    if reference.gold:
        for one in left:
            expected, rule = f"{one.name} on {one.target}", f"the {one.spec.name} is missing"
            yield check("force missing", False, "/state_0/forces", expected, "none", rule)


def _targeted(force: StatedForce, acting: list[_Acting]) -> StatedForce:
    """A force that is told without its body: it acts on the only one on which a force of its name acts."""
    bodies = {one.target for one in acting if one.name == force.name}
    return force._replace(target=bodies.pop()) if not force.target and len(bodies) == 1 else force


class _Acting:
    """A force that acts in the scene, by its known name and its body in lower case."""

    def __init__(self, reference: Reference, spec: ForceSpec):
        self.spec, self.name = spec, force_name(spec.name)
        self.target = reference.binding.names.get(spec.target, "").lower()


def _bodies(reading: Reading, reference: Reference) -> set[str]:
    """The objects on which a force may be told to act by mistake."""
    roles = (FIRST, SECOND, BODY, BYSTANDER, None)
    names = (name for name in reading.objects if reference.binding.role(name) in roles)
    return {name.lower() for name in names if reference.binding.role(name) or not GENERIC.search(name)}


def _unmatched(reference: Reference, force: StatedForce, acting: list[_Acting], pointer: str) -> Check:
    known = any(one.name == force.name and one.target == force.target for one in acting)
    if known and force.target in reference.binding.roles:
        expected = f"one {force.name} on the {force.target}"
        return check("force body", False, f"{pointer}/target", expected, "two", "a force is told twice of one body")
    way = direction(as_text(force.direction))
    if force.name == "gravity" and way is not None and way[1] is not None:
        return check(
            "force direction", way[1] < 0, f"{pointer}/direction", "down", force.direction, "gravity points down"
        )
    if _is_surplus(reference, force):
        found, rule = f"{force.name} on {force.target}", "no such force acts in this scene"
        return check("force surplus", False, pointer, "a force that acts", found, rule)
    found, rule = f"{force.name} on {force.target}", "the family does not speak of this force"
    return check("force", None, f"{pointer}/target", "a force of the family", found, rule)


def _is_surplus(reference: Reference, force: StatedForce) -> bool:
    """Whether a force cannot act in a scene of this family: one that is no force at all, or one whose cause is not there."""
    if force.magnitude is not None and force.magnitude.value == 0:
        return False
    if NO_FORCE.search(force.name):
        return True
    causes = reference.family.causes
    return causes is not None and force.name in CAUSED and force.name not in causes


def _force(reference: Reference, force: StatedForce, spec: ForceSpec, pointer: str) -> Iterator[Check]:
    """Direction and magnitude of a force that acts."""
    text = as_text(force.direction)
    way, right = direction(text), direction(spec.direction)
    clash = opposed(way, right) if way and right else None
    if way is None and spec.contrary and re.search(spec.contrary, text, re.I):
        clash = True
    ok, rule = None if clash is None else not clash, f"the {spec.name} in this scene"
    yield check("force direction", ok, f"{pointer}/direction", spec.direction, force.direction, rule)
    if force.magnitude is not None:
        fitting = fits(reference, force.magnitude, spec.magnitude)
        if fitting is not None:
            expected, rule = f"{reference.solved[spec.magnitude]:.4g} N", f"the {spec.name} from the state"
            yield check("force magnitude", fitting, f"{pointer}/magnitude", expected, force.magnitude, rule)
