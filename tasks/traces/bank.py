"""The canonical trace of each scene of a bank.

Every trace has a random stream of its own, seeded by (seed, family, index): trace 7 of a family is the same whatever
else is generated, in any process.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tasks.errors import BadInput
from tasks.traces.families import FAMILIES
from tasks.traces.family import Family, State
from tasks.traces.record import (
    Force,
    Intervention,
    Record,
    Relation,
    Sentence,
    Slot,
    key_name,
    plain,
    snake,
    stated,
)
from tasks.traces.scenes import LATERAL, Scene, draw_scene

SEED = 2026
TRACES = 200
QUESTION_TYPES = ("numeric", "qualitative", "counterfactual")
LEVELS = ("easy", "medium", "hard")
FACTORS = {2.0: "doubled", 3.0: "tripled", 0.5: "halved"}
RESPONSES = ("increases", "decreases", "stays the same")
QUESTIONS = ("What is the {0}?", "Find the {0}.", "How large is the {0}?")
CONCLUSIONS = ("Therefore the answer is: {answer}.", "So the answer is: {answer}.", "Hence the answer is: {answer}.")
T = TypeVar("T")


def identity(*parts: object) -> str:
    """Twelve hex digits that depend on nothing but `parts`."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:12]


def stream(*parts: object) -> random.Random:
    """A stream of random numbers that depends on nothing but `parts`."""
    return random.Random(int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big"))


def counts(n: int, families: Sequence[str] | None = None) -> dict[str, int]:
    """`n` traces over the families (all there are by default) as evenly as possible."""
    families = tuple(FAMILIES) if families is None else tuple(families)
    unknown = [name for name in families if name not in FAMILIES]
    if unknown:
        raise BadInput(f"unknown family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    if n < 1:
        raise BadInput(f"cannot generate {n} traces; ask for at least 1")
    return {name: n // len(families) + (i < n % len(families)) for i, name in enumerate(families)}


def generate(n: int = TRACES, seed: int = SEED, families: Sequence[str] | None = None) -> Iterator[Record]:
    """`n` records, family by family, the same for the same arguments."""
    for name, count in counts(n, families).items():
        for index in range(count):
            yield trace(FAMILIES[name], index, seed)


def trace(family: Family, index: int, seed: int = SEED) -> Record:
    """The record `index` of a family. Question type, level and scene vary with the index and the family's stream.

    The order of the lines is the order of the draws: another order makes another bank.
    """
    rng = stream("trace", seed, family.name, index)
    question_type, level = QUESTION_TYPES[index % 3], LEVELS[index // 3 % 3]
    scene = draw_scene(family, rng, level)
    asked = _ask(scene, question_type, rng)
    evidence = _evidence(scene, asked, rng)
    rule = rng.choice(family.rules)
    derivation = _derivation(scene, asked, rule, evidence[0], rng)
    assumptions = _shuffled(family.assumptions, rng)
    objects = _shuffled(scene.objects(), rng)
    relations = _shuffled(_relations(scene), rng)
    return Record(
        trace_id=f"{family.name}_{identity('trace', seed, family.name, index)}",
        family=family,
        index=index,
        question_type=question_type,
        level=level,
        state=scene.state,
        names=scene.names,
        units=scene.units,
        target=asked.target,
        intervened=asked.intervened,
        question=_question(scene, asked),
        objects=objects,
        relations=relations,
        forces=_forces(scene),
        variables=_variables(scene),
        assumptions=assumptions,
        rule=rule,
        effect=_effect(scene),
        equation=_equation(scene, asked.key),
        evidence=evidence,
        change=_change(scene, asked),
        new_variables=_new_variables(scene, asked),
        derivation=derivation,
        answer=asked.answer,
        explanation=_explanation(scene, asked),
        intervention=asked.intervention,
    )


@dataclass(frozen=True)
class _Asked:
    """The question's last sentence and its answer. `target` is a quantity, or the outcome's key; `key` is the quantity that
    the trace derives (the headline of the family where the outcome is asked for)."""

    ask: str
    target: str
    key: str
    answer: Slot
    intervened: tuple[str, float] | None = None
    intervention: Intervention | None = None


def _ask(scene: Scene, question_type: str, rng: random.Random) -> _Asked:
    if question_type == "numeric":
        return _ask_number(scene, rng)
    if question_type == "qualitative":
        return _ask_outcome(scene)
    return _ask_counterfactual(scene, rng)


def _ask_number(scene: Scene, rng: random.Random) -> _Asked:
    target = rng.choice(scene.family.targets)
    ask = rng.choice(QUESTIONS).format(scene.phrase(target))
    return _Asked(ask, target, target, scene.value(target))


def _ask_outcome(scene: Scene) -> _Asked:
    family = scene.family
    ask = family.outcome.question.format_map({**scene.names, **scene.conditions})
    return _Asked(ask, family.outcome.key, family.headline, scene.outcome)


def _ask_counterfactual(scene: Scene, rng: random.Random) -> _Asked:
    """The first of the shuffled changes whose effect can be called."""
    family = scene.family
    choices = _shuffled([(p, f, t) for p in family.interventions for f in FACTORS for t in family.targets], rng)
    answered = ((choice, *respond(family, scene.state, *choice)) for choice in choices)
    (parameter, factor, target), response, after = next(answer for answer in answered if answer[1])
    changed = scene.phrase(parameter)
    return _Asked(
        f"If the {changed} were {FACTORS[factor]}, would the {scene.phrase(target)} increase, decrease or stay the same?",
        target,
        target,
        response,
        (parameter, factor),
        Intervention(changed, FACTORS[factor], response, stated(after, scene.units[target])),
    )


def respond(family: Family, state: State, parameter: str, factor: float, target: str) -> tuple[str, float]:
    """(response, new value) of `target` when `parameter` is multiplied by `factor`; the response is empty where the
    change leaves the family's range or is too small to call."""
    before = family.solve(state)
    after = family.solve({**state, parameter: float(state[parameter]) * factor})
    if target not in after or target not in before:
        return "", 0.0
    if any(float(after.get(key, 1.0)) <= 0 for key in family.positive):
        return "", 0.0  # it would have turned round or landed before the elapsed time
    old, new = float(before[target]), float(after[target])
    if abs(new - old) <= 1e-9 * max(abs(old), abs(new)):
        return RESPONSES[2], new
    if new * old <= 0 or abs(new / old - 1) < 0.1 or not 1e-3 < abs(new / old) < 1e3:
        return "", 0.0
    return (RESPONSES[0] if abs(new) > abs(old) else RESPONSES[1]), new


def _question(scene: Scene, asked: _Asked) -> Sentence:
    """The setting, the bystander, and what is asked."""
    template, slots = scene.family.setting, _given_slots(scene)
    if scene.bystander:
        name, relation, mass = scene.bystander
        template += f" Nearby is a {name} of mass {{bystander_mass}}, {LATERAL[relation]} the {scene.subject}."
        slots["bystander_mass"] = mass
    return Sentence(f"{template} {asked.ask}", _used(template, slots))


def _given_slots(scene: Scene) -> dict[str, Slot]:
    """What the question may name: objects, conditions, given quantities."""
    return {**scene.names, **scene.conditions, **{key: scene.value(key) for key in scene.family.givens}}


def _used(template: str, slots: dict[str, Slot]) -> tuple[tuple[str, Slot], ...]:
    return tuple((key, value) for key, value in slots.items() if "{" + key + "}" in template)


def _relations(scene: Scene) -> list[Relation]:
    pairs = scene.family.relations(scene.solved)
    relations = [Relation(kind, scene.names[first], scene.names[second]) for kind, first, second in pairs]
    if scene.bystander:
        relations.append(Relation(scene.bystander.relation, scene.bystander.name, scene.subject))
    return relations


def _forces(scene: Scene) -> tuple[Force, ...]:
    return tuple(
        Force(spec.name, scene.names[spec.target], spec.direction, scene.value(spec.magnitude), spec.reversible)
        for spec in scene.family.forces(scene.solved)
    )


def _variables(scene: Scene) -> tuple[tuple[str, Slot], ...]:
    """The initial state: givens, derived quantities of the first moment, constants, conditions."""
    family = scene.family
    numbers = (*family.givens, *family.initial, *family.constants)
    return (
        *((key_name(family, key, scene.names), scene.value(key)) for key in numbers),
        *((snake(key), option) for key, option in scene.conditions.items()),
    )


def _new_variables(scene: Scene, asked: _Asked) -> tuple[tuple[str, Slot], ...]:
    """The resulting state: what is derived, the later value of what changes, the headline, the outcome."""
    family = scene.family
    later = family.change[1:] if family.change else ()
    keys = dict.fromkeys((asked.key, *later, family.headline))
    return (
        *((key_name(family, key, scene.names), scene.value(key)) for key in keys),
        (snake(family.outcome.key), scene.outcome),
    )


def _effect(scene: Scene) -> Sentence:
    family = scene.family
    slots = {
        **_given_slots(scene),
        family.headline: scene.value(family.headline),
        family.outcome.key: scene.outcome,
    }
    return Sentence(family.effect, _used(family.effect, slots))


def _equation(scene: Scene, key: str) -> Sentence:
    """`symbol = formula = the same with numbers = result`. Operands are in canonical units, to four digits."""
    quantities = scene.family.quantities
    template = scene.family.equations(scene.solved)[key]
    keys = [name for name in quantities if "{" + name + "}" in template]
    symbolic = template.replace("°", "").format_map({name: quantities[name].symbol for name in keys})
    slots: list[tuple[str, Slot]] = []
    for name in keys:
        number = plain(float(scene.solved[name]), 4)
        slots.append((name, f"({number})" if number.startswith("-") else number))
    slots.append(("result", scene.value(key)))
    return Sentence(f"{quantities[key].symbol} = {symbolic} = {template} = {{result}}", tuple(slots))


def _evidence(scene: Scene, asked: _Asked, rng: random.Random) -> tuple[Sentence, ...]:
    """Up to three of the givens that the equation needs."""
    family = scene.family
    equation = family.equations(scene.solved)[asked.key]
    keys = [key for key in family.givens if "{" + key + "}" in equation] or list(family.givens)
    return tuple(
        Sentence(
            scene.phrase(key, "{owner}") + " = {value}", (("owner", scene.owner(key)), ("value", scene.value(key)))
        )
        for key in rng.sample(keys, min(3, len(keys)))
    )


def _change(scene: Scene, asked: _Asked) -> Sentence:
    """The predicted change: from one value to another where the family has two moments, else one derived quantity."""
    family = scene.family
    if family.change:
        before, after = family.change
        first, second = family.quantities[before].name, family.quantities[after].name
        return Sentence(
            f"The {{owner}} goes from a {first} of {{before}} to a {second} of {{after}}",
            (
                ("owner", scene.owner(after) or scene.subject),
                ("before", scene.value(before)),
                ("after", scene.value(after)),
            ),
        )
    shown = next(key for key in (*family.targets, family.headline) if key != asked.key)
    return Sentence(
        f"The {scene.phrase(shown, '{owner}')} becomes {{after}}",
        (("owner", scene.owner(shown)), ("after", scene.value(shown))),
    )


def _derivation(scene: Scene, asked: _Asked, rule: str, lead: Sentence, rng: random.Random) -> Sentence:
    """The rule, the first fact of the evidence, what follows, the answer."""
    fact = lead.template.replace("{owner}", "{lead_owner}").replace("{value}", "{lead_value}")
    result = f"the {scene.phrase(asked.key, '{owner}')} is {{value}}"
    return Sentence(
        f"The rule is: {rule}. With the {fact} this gives: {result}. {rng.choice(CONCLUSIONS)}",
        (
            ("lead_owner", lead.get("owner") or ""),
            ("lead_value", lead.get("value") or ""),
            ("owner", scene.owner(asked.key)),
            ("value", scene.value(asked.key)),
            ("answer", asked.answer),
        ),
    )


def _explanation(scene: Scene, asked: _Asked) -> Sentence:
    phrase = scene.phrase(asked.key, "{owner}")
    owner, value = ("owner", scene.owner(asked.key)), ("value", scene.value(asked.key))
    if asked.intervention is None:
        return Sentence(f"The {phrase} equals {{value}}", (owner, value))
    variable, change, _, new_value = asked.intervention
    return Sentence(
        f"With the {variable} {change}, the {phrase} would be {{new}} instead of {{value}}",
        (owner, ("new", new_value), value),
    )


def _shuffled(items: Sequence[T], rng: random.Random) -> tuple[T, ...]:
    mixed = list(items)
    rng.shuffle(mixed)
    return tuple(mixed)
