"""What a trusted trace tells and no solution of its physics gives: forces, contacts, and the words of what happens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.verification.fields import as_text
from tasks.verification.quantities import is_slip_of_units, same
from tasks.verification.reading import Reading, StatedForce
from tasks.verification.reference import Reference
from tasks.verification.verdict import Check, ToldForce, check
from tasks.verification.words import OPPOSITES, direction, negated, opposed

_OPPOSED_WAYS = (("toward", "away"), ("perpendicular", "parallel"), ("into", "out of"))
_TOUCHING = frozenset(("on", "in", "touching", "attached_to", "connected_to"))
_SATISFIED_BY = {
    "in": frozenset(("in",)),
    **dict.fromkeys(_TOUCHING - {"in"}, _TOUCHING),
}  # the weakest words for a contact
_HELD = frozenset(("on", "in", "attached_to"))  # contacts that bind two objects
_WORD = re.compile(r"[a-z]{3,}")


def forces(reading: Reading, reference: Reference) -> Iterator[Check]:
    """The forces against those that the trusted trace tells, by name and body."""
    if reference.told is None:
        return
    left = list(enumerate(reading.forces))
    for told in reference.told.forces:
        named = [place for place in left if place[1].name == told.name]
        place = next((one for one in named if one[1].target == told.target), None)
        if place is not None:
            left.remove(place)
            yield from _force(told, place[1], f"/state_0/forces/{place[0]}")
        elif named:
            left.remove(named[0])
            pointer, rule = f"/state_0/forces/{named[0][0]}/target", f"{told.name} acts on another body"
            yield check("force body", False, pointer, told.target, named[0][1].target, rule)
        else:
            expected, rule = f"{told.name} on {told.target}", f"the {told.name} is missing"
            yield check("force missing", False, "/state_0/forces", expected, "none", rule)


def _force(told: ToldForce, force: StatedForce, pointer: str) -> Iterator[Check]:
    """Direction and magnitude."""
    stated, due = direction(as_text(force.direction)), direction(told.direction)
    clash = opposed(stated, due) if stated and due else None
    if clash is None and told.direction and force.direction:
        clash = _opposed_in_words(as_text(force.direction).lower(), told.direction.lower())
    ok = None if clash is None else not clash
    yield check("force direction", ok, f"{pointer}/direction", told.direction, force.direction, told.name)
    if told.magnitude is not None and force.magnitude is not None:
        ok = same(force.magnitude, told.magnitude, "")
        slip = not ok and bool(told.magnitude) and is_slip_of_units(force.magnitude.value / told.magnitude)
        expected, label = f"{told.magnitude:.4g} N", "unit_scale" if slip else None
        yield check("force magnitude", ok, f"{pointer}/magnitude", expected, force.magnitude, told.name, label)


def _opposed_in_words(one: str, other: str) -> bool | None:
    """Whether two directions that are no vectors exclude each other; None where that cannot be told."""
    for first, second in _OPPOSED_WAYS:
        if (first in one and second in other) or (second in one and first in other):
            return True
    return False if one == other else None


def contacts(reading: Reading, reference: Reference) -> Iterator[Check]:
    """Of two objects, a contact that the trusted trace tells and of which the trace tells no more than a place (a body that is
    above a floor need not lie on it; paper 2, Table 1: the trace misses that the block is on an incline); and a contact that
    the trace tells where the trusted one tells a place only."""
    if reference.told is None:
        return
    stated = [(i, r.kind, frozenset(r.args[:2])) for i, r in enumerate(reading.relations) if r.kind and len(r.args) > 1]
    due: dict[frozenset[str], set[str]] = {}
    for kind, one, two in reference.relations:
        due.setdefault(frozenset((one, two)), set()).add(kind)
    for pair, kinds in due.items():
        told = {kind: i for i, kind, objects in stated if objects == pair}
        names = ", ".join(sorted(pair))
        for kind in kinds & _TOUCHING:
            if told and not told.keys() & _SATISFIED_BY[kind]:
                found, i = next(iter(told.items()))
                yield _contact(i, f"{kind}: {names}", f"{found}: {names}", "the trace misses the contact")
        if not kinds & (_TOUCHING - {"touching"}):
            for kind in told.keys() & (_HELD if "touching" in kinds else _TOUCHING):
                expected = f"{', '.join(sorted(kinds))}: {names}"
                yield _contact(told[kind], expected, f"{kind}: {names}", "there is no such contact")


def _contact(place: int, expected: str, found: str, rule: str) -> Check:
    return check("relation", False, f"/state_0/relations/{place}", expected, found, rule)


def words(reading: Reading, reference: Reference) -> Iterator[Check]:
    """What happens, told with the opposite of the word that the trusted trace uses of the same thing."""
    if reference.told is None:
        return
    for name, pointer, told, text in (
        ("effect", "/transition/effect", reference.told.effect, reading.effect.text),
        ("predicted change", "/state_1/predicted_change", reference.told.change, reading.change.text),
    ):
        for one, other in OPPOSITES:
            for due, contrary in ((one, other), (other, one)):
                if contrary.search(told) or due.search(text):
                    continue
                right, wrong = due.search(told), contrary.search(text)
                if right and wrong and not negated(text, wrong.start()) and _of_one_thing(told, right, text, wrong):
                    yield check(name, False, pointer, right[0], wrong[0], "the opposite of what happens")


def _of_one_thing(told: str, right: re.Match[str], text: str, wrong: re.Match[str]) -> bool:
    """Whether the words before two expressions share one."""
    one, other = (
        set(_WORD.findall(words[: match.start()].lower())[-4:]) for words, match in ((told, right), (text, wrong))
    )
    return not one.isdisjoint(other)
