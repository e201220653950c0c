"""Scenes drawn from a stream of random numbers: a state that the family accepts, its units, the names of its objects, and
an object that takes no part."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import NamedTuple

from tasks.traces.family import BODIES, BYSTANDER, Family, State
from tasks.traces.record import Thing, Value, canonical, significant, snake, stated

ATTEMPTS = 2000
LATERAL = {
    "left_of": "to the left of",
    "right_of": "to the right of",
    "touching": "in contact with",
    "apart": "apart from",
}


class Bystander(NamedTuple):
    """An object that takes no part, and how it stands to the subject: a key of LATERAL."""

    name: str
    relation: str
    mass: Value


@dataclass(frozen=True)
class Scene:
    """`state` is in canonical units, `units` says in which unit each quantity is stated, `names` maps roles to objects (the
    bystander among them)."""

    family: Family
    state: State
    units: dict[str, str]
    names: dict[str, str]
    bystander: Bystander | None

    @functools.cached_property
    def solved(self) -> State:
        return self.family.solve(self.state)

    @property
    def outcome(self) -> str:
        return str(self.solved[self.family.outcome.key])

    @property
    def subject(self) -> str:
        return self.names[self.family.subject]

    @property
    def conditions(self) -> dict[str, str]:
        return {key: str(self.state[key]) for key in self.family.conditions}

    def value(self, key: str) -> Value:
        """A quantity as the trace states it."""
        return stated(float(self.solved[key]), self.units[key])

    def owner(self, key: str) -> str:
        """The object that a quantity belongs to; empty where it belongs to none."""
        owner = self.family.quantities[key].owner
        return self.names[owner] if owner else ""

    def phrase(self, key: str, owner: str | None = None) -> str:
        """`mass of the block`; `owner` may stand for the object's name, as `{owner}` does in a template."""
        name, told_of = self.family.quantities[key].name, self.owner(key)
        return f"{name} of the {owner or told_of}" if told_of else name

    def objects(self) -> list[Thing]:
        """Every object with the first given quantity that it has."""
        things = []
        for role, name in self.names.items():
            if role == BYSTANDER and self.bystander:
                things.append(Thing(name, (("mass", self.bystander.mass),)))
                continue
            owned = (key for key in self.family.givens if self.owner(key) == name)
            key = next(owned, None)
            quantity = ((snake(self.family.quantities[key].name), self.value(key)),) if key else ()
            things.append(Thing(name, quantity))
        return things


def draw_scene(family: Family, rng: random.Random, level: str) -> Scene:
    """A scene of a level of difficulty: mixed units and a bystander in all but the easy ones."""
    state, units = _draw_state(family, rng, mixed=level != "easy")
    names = _draw_names(family, rng)
    bystander = None
    if level != "easy" or rng.random() < 0.3:
        bystander = _draw_bystander(family, rng, names)
        names[BYSTANDER] = bystander.name
    return Scene(family, state, units, names, bystander)


def _draw_state(family: Family, rng: random.Random, mixed: bool) -> tuple[State, dict[str, str]]:
    """A state that the family accepts, and the unit in which each quantity is stated. Numbers are drawn as they will be
    stated, so that the statement is exact."""
    units = {
        key: rng.choice(quantity.spellings) if mixed else quantity.spellings[0]
        for key, quantity in family.quantities.items()
    }
    for _ in range(ATTEMPTS):
        state: State = {key: canonical(draw_given(family, key, units[key], rng)) for key in family.givens}
        state |= family.constants
        state |= {key: rng.choice(options) for key, options in family.conditions.items()}
        solved = family.solve(state)
        if all(key in solved for key in family.targets) and family.accept(solved):
            return state, units
    raise RuntimeError(f"{family.name}: no scene accepted in {ATTEMPTS} draws")


def draw_given(family: Family, key: str, unit: str, rng: random.Random) -> Value:
    """A value of a given quantity from its range, as it is stated in `unit`."""
    quantity = family.quantities[key]
    assert quantity.low is not None and quantity.high is not None
    drawn = rng.uniform(quantity.low, quantity.high)
    return stated(float(round(drawn)) if quantity.whole else drawn, unit)


def _draw_names(family: Family, rng: random.Random) -> dict[str, str]:
    names: dict[str, str] = {}
    for role, pool in family.roles.items():
        names[role] = rng.choice([name for name in pool if name not in names.values()])
    return names


def _draw_bystander(family: Family, rng: random.Random, names: dict[str, str]) -> Bystander:
    pool = family.roles.get(family.subject, BODIES)
    pool = pool if len(pool) > 3 else BODIES
    name = rng.choice([name for name in pool if name not in names.values()])
    relation = rng.choice(tuple(LATERAL))
    return Bystander(name, relation, Value(significant(rng.uniform(0.5, 9.5)), "kg"))
