"""Scenes drawn from a seed, and the canonical trace of each.

Every trace has a random stream of its own, seeded by (seed, family, index): trace 7 of a family is the same whatever
else is generated, in any process.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

from tasks.errors import BadInput
from tasks.traces.families import FAMILIES, Family, State
from tasks.traces.families.base import BODIES
from tasks.traces.record import (
    Force,
    Intervention,
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
    stated,
)

SEED = 2026
TRACES = 200
QUESTION_TYPES = ("numeric", "qualitative", "counterfactual")
LEVELS = ("easy", "medium", "hard")
FACTORS = {2.0: "doubled", 3.0: "tripled", 0.5: "halved"}
RESPONSES = ("increases", "decreases", "stays the same")
LATERAL = {
    "left_of": "to the left of",
    "right_of": "to the right of",
    "touching": "in contact with",
    "apart": "apart from",
}
BYSTANDER = "bystander"  # the role of an object that takes no part; it is in the picture and in the question


def identity(*parts: object) -> str:
    """Twelve hex digits that depend on nothing but `parts`."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:12]


def stream(*parts: object) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big"))


def counts(n: int, families: tuple[str, ...] = tuple(FAMILIES)) -> dict[str, int]:
    """`n` traces over the families as evenly as possible."""
    unknown = [name for name in families if name not in FAMILIES]
    if unknown:
        raise BadInput(f"unknown family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    if n < 1:
        raise BadInput(f"cannot generate {n} traces; ask for at least 1")
    return {name: n // len(families) + (i < n % len(families)) for i, name in enumerate(families)}


def generate(n: int = TRACES, seed: int = SEED, families: tuple[str, ...] = tuple(FAMILIES)) -> Iterator[Record]:
    """`n` records, family by family, the same for the same arguments."""
    for name, count in counts(n, families).items():
        for index in range(count):
            yield trace(FAMILIES[name], index, seed)


def _scene(family: Family, rng: random.Random, mixed: bool) -> tuple[State, dict[str, str]]:
    """A state that the family accepts, and the unit in which each quantity is stated. Numbers are drawn as they will be
    stated, so that the statement is exact."""
    units = {
        key: rng.choice(quantity.spellings) if mixed else quantity.spellings[0]
        for key, quantity in family.quantities.items()
    }
    for _ in range(2000):
        state: State = {}
        for key in family.givens:
            quantity = family.quantities[key]
            assert quantity.low is not None and quantity.high is not None
            drawn = rng.uniform(quantity.low, quantity.high)
            if key == "N":
                drawn = float(round(drawn))
            state[key] = canonical(stated(drawn, units[key]))
        state |= dict(family.constants)
        state |= {key: rng.choice(options) for key, options in family.conditions.items()}
        solved = family.solve(state)
        if all(key in solved for key in family.targets) and family.accept(solved):
            return state, units
    raise RuntimeError(f"{family.name}: no scene accepted in 2000 draws")


def _of(name: str, owner: str) -> str:
    return f"{name} of the {owner}" if owner else name


def _owner(family: Family, key: str, names: dict[str, str]) -> str:
    owner = family.quantities[key].owner
    return names[owner] if owner else ""


def _equation(family: Family, key: str, solved: State, value: Value) -> Sentence:
    """`symbol = formula = the same with numbers = result`. Operands are in canonical units, to four digits."""
    template = family.equations(solved)[key]
    keys = [name for name in family.quantities if "{" + name + "}" in template]
    symbols = {name: family.quantities[name].symbol for name in keys}
    symbolic = template.replace("°", "").format_map(symbols)
    slots: list[tuple[str, Slot]] = []
    for name in keys:
        number = plain(float(solved[name]), 4)
        slots.append((name, f"({number})" if number.startswith("-") else number))
    slots.append(("result", value))
    return Sentence(f"{family.quantities[key].symbol} = {symbolic} = {template} = {{result}}", tuple(slots))


def trace(family: Family, index: int, seed: int = SEED) -> Record:
    """The record `index` of a family. Question type, level and scene vary with the index and the family's stream."""
    rng = stream("trace", seed, family.name, index)
    question_type = QUESTION_TYPES[index % 3]
    level = LEVELS[index // 3 % 3]
    state, units = _scene(family, rng, mixed=level != "easy")
    solved = family.solve(state)
    names: dict[str, str] = {}
    for role, pool in family.roles.items():
        names[role] = rng.choice([name for name in pool if name not in names.values()])
    objects = [Thing(name, ()) for name in names.values()]
    bystander_relation: list[Relation] = []
    tail = ""
    bystander_slots: list[tuple[str, Slot]] = []
    if level != "easy" or rng.random() < 0.3:
        pool = family.roles.get(family.subject, BODIES)
        pool = pool if len(pool) > 3 else BODIES
        names[BYSTANDER] = rng.choice([name for name in pool if name not in names.values()])
        kind = rng.choice(tuple(LATERAL))
        mass = Value(significant(rng.uniform(0.5, 9.5)), "kg")
        objects.append(Thing(names[BYSTANDER], (("mass", mass),)))
        bystander_relation.append(Relation(kind, names[BYSTANDER], names[family.subject]))
        tail = (
            f" Nearby is a {names[BYSTANDER]} of mass {{bystander_mass}}, {LATERAL[kind]} the {names[family.subject]}."
        )
        bystander_slots.append(("bystander_mass", mass))

    def value(key: str) -> Value:
        return stated(float(solved[key]), units[key])

    words: dict[str, Slot] = {**names, **{key: str(state[key]) for key in family.conditions}}
    said: dict[str, Slot] = {**words, **{key: value(key) for key in family.givens}}
    outcome = str(solved[family.outcome.key])

    # what is asked
    intervened: tuple[str, float] | None = None
    intervention: Intervention | None = None
    if question_type == "numeric":
        target = rng.choice(family.targets)
        ask = rng.choice(("What is the {0}?", "Find the {0}.", "How large is the {0}?")).format(
            _of(family.quantities[target].name, _owner(family, target, names))
        )
        answer: Slot = value(target)
    elif question_type == "qualitative":
        target = family.outcome.key
        ask = family.outcome.question.format_map({key: str(word) for key, word in words.items()})
        answer = outcome
    else:
        choices = [(p, f, t) for p in family.interventions for f in FACTORS for t in family.targets]
        rng.shuffle(choices)
        responses = ((choice, *respond(family, state, *choice)) for choice in choices)
        (parameter, factor, target), response, after = next(found for found in responses if found[1])
        intervened = (parameter, factor)
        name = _of(family.quantities[parameter].name, _owner(family, parameter, names))
        asked = _of(family.quantities[target].name, _owner(family, target, names))
        ask = f"If the {name} were {FACTORS[factor]}, would the {asked} increase, decrease or stay the same?"
        answer = response
        intervention = Intervention(name, FACTORS[factor], response, stated(after, units[target]))

    stated_key = target if target in family.quantities else family.headline
    before_after = family.change
    evidence_keys = [key for key in family.givens if "{" + key + "}" in family.equations(solved)[stated_key]]
    if not evidence_keys:
        evidence_keys = list(family.givens)
    evidence_keys = rng.sample(evidence_keys, min(3, len(evidence_keys)))
    evidence = [
        Sentence(
            _of(family.quantities[key].name, "{owner}" if family.quantities[key].owner else "") + " = {value}",
            (("owner", _owner(family, key, names)), ("value", value(key))),
        )
        for key in evidence_keys
    ]
    if before_after:
        first, second = (family.quantities[key] for key in before_after)
        change = Sentence(
            f"The {{owner}} goes from a {first.name} of {{before}} to a {second.name} of {{after}}",
            (
                ("owner", _owner(family, before_after[1], names) or names[family.subject]),
                ("before", value(before_after[0])),
                ("after", value(before_after[1])),
            ),
        )
    else:
        shown = next(key for key in (*family.targets, family.headline) if key != stated_key)
        owner = _owner(family, shown, names)
        change = Sentence(
            "The " + _of(family.quantities[shown].name, "{owner}" if owner else "") + " becomes {after}",
            (("owner", owner), ("after", value(shown))),
        )
    effect_slots = {**said, **{key: value(key) for key in (family.headline,)}, family.outcome.key: outcome}
    effect = Sentence(family.effect, tuple((k, v) for k, v in effect_slots.items() if "{" + k + "}" in family.effect))
    rule = rng.choice(family.rules)
    lead = Sentence("")  # the derivation's own facts
    asked = _of(family.quantities[stated_key].name, "{owner}" if _owner(family, stated_key, names) else "")
    if evidence_keys:
        lead = evidence[0]
    conclusion = rng.choice(
        ("Therefore the answer is: {answer}.", "So the answer is: {answer}.", "Hence the answer is: {answer}.")
    )
    derivation = Sentence(
        f"The rule is: {rule}. With the {lead.template.replace('{owner}', '{lead_owner}').replace('{value}', '{lead_value}')} "
        f"this gives: the {asked} is {{value}}. {conclusion}",
        (
            ("lead_owner", lead.get("owner") or ""),
            ("lead_value", lead.get("value") or ""),
            ("owner", _owner(family, stated_key, names)),
            ("value", value(stated_key)),
            ("answer", answer),
        ),
    )
    if intervention is not None:
        explanation = Sentence(
            f"With the {intervention.variable} {intervention.change}, the {asked} would be {{new}} instead of {{value}}",
            (
                ("owner", _owner(family, stated_key, names)),
                ("new", intervention.new_value),
                ("value", value(stated_key)),
            ),
        )
    else:
        explanation = Sentence(
            f"The {asked} equals {{value}}",
            (("owner", _owner(family, stated_key, names)), ("value", value(stated_key))),
        )

    variables: list[tuple[str, Slot]] = [
        (key_name(family, key, names), value(key)) for key in (*family.givens, *family.initial, *family.constants)
    ]
    variables += [(snake(key), str(state[key])) for key in family.conditions]
    new_keys = list(dict.fromkeys([stated_key, *([before_after[1]] if before_after else []), family.headline]))
    new_variables: list[tuple[str, Slot]] = [(key_name(family, key, names), value(key)) for key in new_keys]
    new_variables.append((snake(family.outcome.key), outcome))
    objects = [
        Thing(
            thing.name,
            thing.attributes
            or tuple(
                (snake(family.quantities[key].name), value(key))
                for key in family.givens
                if family.quantities[key].owner and names[family.quantities[key].owner] == thing.name
            )[:1],
        )
        for thing in objects
    ]
    assumptions = list(family.assumptions)
    rng.shuffle(assumptions)
    rng.shuffle(objects)
    relations = [
        *(Relation(kind, names[first], names[second]) for kind, first, second in family.relations(solved)),
        *bystander_relation,
    ]
    rng.shuffle(relations)
    question = Sentence(
        family.setting + tail + " " + ask,
        tuple((k, v) for k, v in {**said, **dict(bystander_slots)}.items() if "{" + k + "}" in family.setting + tail),
    )
    return Record(
        trace_id=f"{family.name}_{identity('trace', seed, family.name, index)}",
        family=family,
        index=index,
        question_type=question_type,
        level=level,
        state=state,
        names=names,
        units=units,
        target=target,
        intervened=intervened,
        question=question,
        objects=tuple(objects),
        relations=tuple(relations),
        forces=tuple(
            Force(spec.name, names[spec.target], spec.direction, value(spec.magnitude), spec.reversible)
            for spec in family.forces(solved)
        ),
        variables=tuple(variables),
        assumptions=tuple(assumptions),
        rule=rule,
        effect=effect,
        equation=_equation(family, stated_key, solved, value(stated_key)),
        evidence=tuple(evidence),
        change=change,
        new_variables=tuple(new_variables),
        derivation=derivation,
        answer=answer,
        explanation=explanation,
        intervention=intervention,
    )


def respond(family: Family, state: State, parameter: str, factor: float, target: str) -> tuple[str, float]:
    """(response, new value) of `target` when `parameter` is multiplied by `factor`; the response is empty where the
    change leaves the family's range or is too small to call."""
    before = family.solve(state)
    changed: State = {**state, parameter: float(state[parameter]) * factor}
    after = family.solve(changed)
    if target not in after or target not in before:
        return "", 0.0
    if any(float(after.get(key, 1.0)) <= 0 for key in ("v1", "y", "h1") if key in family.derived):
        return "", 0.0  # it would have turned round or landed before the elapsed time
    old, new = float(before[target]), float(after[target])
    if abs(new - old) <= 1e-9 * max(abs(old), abs(new)):
        return RESPONSES[2], new
    if new * old <= 0 or abs(new / old - 1) < 0.1 or not 1e-3 < abs(new / old) < 1e3:
        return "", 0.0
    return (RESPONSES[0] if abs(new) > abs(old) else RESPONSES[1]), new
