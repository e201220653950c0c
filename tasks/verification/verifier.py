"""The verifier: V(trace) = (z_schema, z_state, z_trans, z_ans, z_faith, labels), with one row for each check.

The trace is read into statements; a reference state is taken from the gold state where there is one, else from the
question, else from what most of the trace's own statements say; the family solves the reference, and every statement is
held against the result. What cannot be decided abstains and says why (paper 2, sections 3 and 4, appendix on the
verifier; the recomputation goes beyond it).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.traces.equations import NotMath, evaluate
from tasks.traces.families import FAMILIES, Family, State
from tasks.traces.record import Record, Value, canonical, snake
from tasks.traces.schema import problems
from tasks.traces.units import dimension as dimension_of
from tasks.traces.units import from_canonical
from tasks.verification import decode as decoding
from tasks.verification.reading import (
    Reader,
    Stated,
    Told,
    direction,
    force_name,
    negated,
    occurrences,
    opposed,
    quantity,
    reader_of,
)

VALID, INVALID, ABSTAIN = "valid", "invalid", "abstain"
LABELS = (
    "object",
    "state",
    "relation",
    "force",
    "transition",
    "intervention",
    "temporal",
    "unit_scale",
    "faithfulness",
)
RELATIVE = 0.012  # the tolerance of a stated number: 1 % (paper 2, state verifier) and three-digit rounding
ROUNDING_CAP = 0.025  # a number's own decimals excuse no more than this
KELVIN = 0.8  # the tolerance of a temperature
_SPEED = dimension_of("m/s")
_POSITIVE = frozenset(map(dimension_of, ("kg", "kg/m³", "s", "m³", "m²")))
LONGEST = 20_000  # characters of one field that are read

RESPONSES = {
    "increases": re.compile(r"\bincreas|\bris(?:es?|ing)\b|\bgrow|\blarger\b|\bbigger\b|\bgreater\b|\bhigher\b|\bgoes up\b|\blonger\b", re.I),
    "decreases": re.compile(r"\bdecreas|\bfall(?:s|ing)?\b|\bshrink|\bsmaller\b|\bless\b|\blower\b|\breduc|\bgoes down\b|\bdrops?\b|\bshorter\b", re.I),
    "stays the same": re.compile(r"\bsame\b|\bunchanged\b|\bno change\b|\bconstant\b|\bunaffected\b|\bnot change\b|n't change\b|\bnot affect", re.I),
}  # fmt: skip
FACTOR_WORDS = {"doubled": 2.0, "twice": 2.0, "tripled": 3.0, "quadrupled": 4.0, "halved": 0.5, "half": 0.5}
_IF = re.compile(
    r"\bif (?:the |its )?(.+?) (?:were|was|is|are|had been) (doubled|tripled|quadrupled|halved|twice|half)", re.I
)
_WOULD = re.compile(r"would (?:the |its )?(.+?) (?:increase|decrease|change|be\b|rise|grow|stay)", re.I)
_WOULD_BE = re.compile(r"(?:^|, )(?:the )?([^,;]+?) would be\b", re.I)
_EQUALS = re.compile(r"^(?:the )?([^,;=]+?) (?:equals|is|=)\b", re.I)
_DECIMAL = re.compile(r"\d\.\d|\d{3}")
_PLACED = re.compile(r"(to the left of|to the right of|in contact with|apart from|touching)\b")
_SENTENCE = re.compile(r"(?<=[.!;])\s+(?=[A-Z])")
_CONCLUSION = re.compile(r"(?:answer|result) (?:is|=|would be)\s*:?\s*(.+?)\s*\.?\s*$", re.I | re.S)
_AFTER = re.compile(
    r"\b(?:post[- ]?(?:collision|impact|transition)|final state|after the (?:collision|impact))\b", re.I
)
_BEFORE = re.compile(
    r"\b(?:pre[- ]?(?:collision|impact|transition)|initial state|before the (?:collision|impact))\b", re.I
)
GENERIC = re.compile(
    r"ground|surface|incline|slope|ramp|floor|table|wall|ceiling|earth|air|water|fluid|liquid|oil|track|system|pivot|center|centre"
    r"|rope|string|support|field|medium|page|universe|environment|plane|horizontal|image",
    re.I,
)
_RELATION_WORDS = (
    ("left_of", r"to_the_left|left"),
    ("right_of", r"to_the_right|right"),
    ("touching", r"touch|contact|adjacent"),
    ("apart", r"apart|separat|away"),
    ("attached_to", r"attach|tied|fasten|hang"),
    ("connected_to", r"connect|wired|linked"),
    ("above", r"above|over"),
    ("below", r"below|under|beneath"),
    ("in", r"^in$|inside|within|submerged|immersed|contain"),
    ("on", r"^on$|rest|support|on_top|upon"),
)
_RELATIONS = tuple((name, re.compile(pattern)) for name, pattern in _RELATION_WORDS)
_TURNED = {"left_of": "right_of", "right_of": "left_of", "above": "below", "below": "above"}
_BOTH_WAYS = ("touching", "apart", "attached_to", "connected_to")
_EXCLUSIVE = {frozenset(pair) for pair in (
    ("touching", "apart"), ("on", "apart"), ("in", "apart"), ("attached_to", "apart"), ("connected_to", "apart"),
    ("left_of", "right_of"), ("above", "below"), ("on", "below"),
)}  # fmt: skip


class Check(NamedTuple):
    """One check: `area` is schema, state, trans, ans or faith; `label` is the failure it stands for when invalid."""

    name: str
    area: str
    status: str
    label: str
    pointer: str
    expected: str
    found: str
    rule: str


@dataclass(frozen=True)
class Verdict:
    """Each z is valid, invalid or abstain; `labels` are in the order of Table 1."""

    z_schema: str
    z_state: str
    z_trans: str
    z_ans: str
    z_faith: str
    labels: tuple[str, ...]
    checks: tuple[Check, ...] = field(repr=False)
    family: str | None = None

    @property
    def valid(self) -> bool | None:
        """Whether nothing is invalid; None where nothing could be decided."""
        zs = (self.z_state, self.z_trans, self.z_ans, self.z_faith)
        if INVALID in zs or self.z_schema == INVALID:
            return False
        return None if all(z == ABSTAIN for z in zs) else True


@dataclass(frozen=True)
class Gold:
    """What is known of the scene beside the trace. `relations` are (type, first, second), `attributes` are numbers in
    canonical units by object and attribute."""

    state: State
    names: dict[str, str]
    target: str
    question_type: str
    intervened: tuple[str, float] | None
    relations: tuple[tuple[str, str, str], ...]
    attributes: dict[str, dict[str, float]]


def gold_of(record: Record) -> Gold:
    return Gold(
        state=record.state,
        names=record.names,
        target=record.target,
        question_type=record.question_type,
        intervened=record.intervened,
        relations=tuple((r.type, r.first, r.second) for r in record.relations),
        attributes={
            thing.name: {key: canonical(value) for key, value in thing.attributes if isinstance(value, Value)}
            for thing in record.objects
        },
    )


def relation_type(text: str) -> str | None:
    """The kind of a relation, whatever the trace calls it; None where it is none of the known ones."""
    lowered = snake(text.strip().lower())
    for name, pattern in _RELATIONS:
        if lowered == name or pattern.search(lowered):
            return name
    return None


def same(stated: Stated, expected: float, dimension: str) -> bool:
    """Whether a stated number is `expected` within the tolerance."""
    if dimension == "temperature":
        return abs(stated.value - expected) <= KELVIN
    margin = max(RELATIVE * abs(expected), min(stated.rounding, ROUNDING_CAP * abs(expected)))
    return abs(stated.value - expected) <= margin or (
        abs(expected) < 1e-9 and abs(stated.value) <= max(stated.rounding, 1e-6)
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""


class _Case:
    """One trace under examination."""

    def __init__(self, trace: Mapping[str, Any], gold: Gold | None, family: Family | None, use_question: bool):
        self.checks: list[Check] = []
        self.gold, self.family = gold, family
        self.s0, self.tr, self.s1 = (
            _dict(trace.get("state_0")),
            _dict(trace.get("transition")),
            _dict(trace.get("state_1")),
        )
        answer = trace.get("answer")
        self.answer: dict[str, Any] = answer if isinstance(answer, dict) else {"value": answer}
        self.question = _text(trace.get("question")) if use_question else ""
        self.derivation = _text(trace.get("derivation"))
        self.effect = _text(self.tr.get("effect"))
        self.change = _text(self.s1.get("predicted_change"))
        self.explanation = _text(self.answer.get("explanation"))
        evidence = self.tr.get("evidence")
        self.evidence = [_text(fact) for fact in evidence] if isinstance(evidence, list) else [_text(evidence)]
        self.objects = [_text(_dict(item).get("name")) for item in _list(self.s0.get("objects"))]
        self.variables = _dict(self.s0.get("variables"))
        self.new = _dict(self.s1.get("new_variables"))

    def add(
        self, name: str, area: str, ok: bool | None, label: str, pointer: str, expected: Any, found: Any, rule: str
    ) -> None:
        status = ABSTAIN if ok is None else VALID if ok else INVALID
        self.checks.append(Check(name, area, status, label, pointer, str(expected), str(found)[:200], rule))

    # --- what needs no family: paper 2, state checks 1 and 2, transition check 4 ------------------------------------------

    def entities(self) -> None:
        known = {name.lower().replace("_", " ") for name in self.objects if name}
        for i, force in enumerate(_list(self.s0.get("forces"))):
            target = _text(_dict(force).get("target")).lower().replace("_", " ")
            if target:
                ok = target in known or bool(GENERIC.search(target)) or any(target in n or n in target for n in known)
                if not ok:
                    self.add("entity", "state", False, "object", f"/state_0/forces/{i}/target", "an object of the scene", target, "every force acts on an object")  # fmt: skip
        for i, relation in enumerate(_list(self.s0.get("relations"))):
            for j, arg in enumerate(_list(_dict(relation).get("args"))):
                name = _text(arg).lower().replace("_", " ")
                ok = (
                    name in known or bool(GENERIC.search(name)) or any(name and (name in n or n in name) for n in known)
                )
                if not ok:
                    self.add("entity", "state", False, "object", f"/state_0/relations/{i}/args/{j}", "an object of the scene", name, "every relation is between objects")  # fmt: skip
        if not known:
            self.add(
                "entity", "state", None, "object", "/state_0/objects", "objects", "none", "the state names no object"
            )
        elif not any(check.name == "entity" for check in self.checks):
            self.add("entity", "state", True, "object", "/state_0/objects", "known objects", "known objects", "forces and relations name objects of the scene")  # fmt: skip

    def plays(self, name: str) -> bool:
        """Whether an object is known to have a part in the scene."""
        return False

    def stated_relations(self) -> list[tuple[str, str, str, int]]:
        found = []
        for i, relation in enumerate(_list(self.s0.get("relations"))):
            kind = relation_type(_text(_dict(relation).get("type")))
            args = [_text(arg) for arg in _list(_dict(relation).get("args"))]
            if kind and len(args) >= 2:
                found.append((kind, args[0], args[1], i))
        return found

    def relations(self, reference: Iterable[tuple[str, str, str]]) -> None:
        stated = self.stated_relations()
        wanted = [(kind, one, two) for kind, one, two in reference]
        for n, (kind, one, two, i) in enumerate(stated):
            pointer = f"/state_0/relations/{i}"
            for other, first, second, _ in stated[:n]:
                if _contradicts((kind, one, two), (other, first, second)):
                    self.add("relations agree", "state", False, "relation", pointer, f"{other}({first}, {second})", f"{kind}({one}, {two})", "two relations of one pair exclude each other")  # fmt: skip
            verdict: bool | None = None
            for other, first, second in wanted:
                if {one, two} != {first, second}:
                    continue
                if _contradicts((kind, one, two), (other, first, second)):
                    verdict = False
                    self.add("relation", "state", False, "relation", pointer, f"{other}({first}, {second})", f"{kind}({one}, {two})", "the scene has the contrary relation")  # fmt: skip
                    break
                if kind == other:
                    verdict = True
            if verdict:
                self.add("relation", "state", True, "relation", pointer, kind, kind, "the scene has this relation")
        have = {form for kind, one, two, _ in stated for form in _forms(kind, one, two)}
        should = {form for kind, one, two in wanted for form in _forms(kind, one, two)}
        for kind, first, second in wanted:
            if (kind, first, second) in have:
                continue
            for other, one, two, i in stated:
                replaced = other == kind and (one == first) != (two == second) and (other, one, two) not in should
                stranger = two if one == first else one
                known = self.gold is not None or not self.plays(stranger)
                if replaced and known and stranger in self.objects:
                    self.add("relation holder", "state", False, "relation", f"/state_0/relations/{i}", f"{kind}({first}, {second})", f"{other}({one}, {two})", "the relation is told of another object")  # fmt: skip

    def temporal_words(self) -> None:
        early = " ".join([*map(_text, _list(self.s0.get("assumptions"))), *(_text(v) for v in self.variables.values())])
        if _AFTER.search(early):
            self.add("temporal words", "state", False, "temporal", "/state_0", "the state before", _AFTER.search(early)[0], "the initial state is told of the later moment")  # type: ignore[index]  # fmt: skip
        if _BEFORE.search(self.change) and not re.search(r"\bfrom\b", self.change):
            self.add("temporal words", "trans", False, "temporal", "/state_1/predicted_change", "the state after", _BEFORE.search(self.change)[0], "the result is told of the earlier moment")  # type: ignore[index]  # fmt: skip

    def faith_words(self) -> None:
        """The conclusion of the derivation against the answer, for any family."""
        match = _CONCLUSION.search(self.derivation)
        value = self.answer.get("value")
        if not match or value is None:
            return
        concluded = match[1].strip().strip('"')
        ok = self.answers_agree(concluded, None, value, self.answer.get("unit"))
        self.add(
            "conclusion",
            "faith",
            ok,
            "faithfulness",
            "/answer/value",
            concluded,
            value,
            "the derivation concludes the answer",
        )

    def answers_agree(self, one: Any, one_unit: Any, other: Any, other_unit: Any) -> bool | None:
        """Whether two statements of an answer say the same; None where that cannot be told."""
        first, second = quantity(one, _unit(one_unit)), quantity(other, _unit(other_unit))
        if first and second:
            if first.dimension and second.dimension and first.dimension != second.dimension:
                return False
            if not first.dimension or not second.dimension:
                return _near(first.raw, second.raw) or _near(first.value, second.value)
            return same(first, second.value, second.dimension) or same(second, first.value, first.dimension)
        if (first is None) != (second is None):
            return None
        return self.words_agree(_word(one), _word(other))

    def words_agree(self, one: str, other: str) -> bool | None:
        if one.strip(" .\"'").lower() == other.strip(" .\"'").lower():
            return True
        for read in (self.outcome_of, response_of):
            first, second = read(one), read(other)
            if first and second:
                return first == second
        return None

    def outcome_of(self, text: str) -> str | None:
        if self.family is None:
            return None
        found = reader_of(self.family.name).stated_outcomes(text)
        return found.pop() if len(found) == 1 else None


def _unit(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else str(value)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= RELATIVE * max(abs(one), abs(other)) + 1e-12


def response_of(text: str) -> str | None:
    """increases, decreases or stays the same, with negation understood; None where the text says none or several."""
    if RESPONSES["stays the same"].search(text):
        return "stays the same"
    found = set()
    for name in ("increases", "decreases"):
        for match in RESPONSES[name].finditer(text):
            if not negated(text, match.start()):
                found.add(name)
    return found.pop() if len(found) == 1 else None


def _forms(kind: str, one: str, two: str) -> tuple[tuple[str, str, str], ...]:
    if kind in _BOTH_WAYS:
        return (kind, one, two), (kind, two, one)
    if kind in _TURNED:
        return (kind, one, two), (_TURNED[kind], two, one)
    return ((kind, one, two),)


def _contradicts(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether two relations cannot hold of one pair."""
    if {one[1], one[2]} != {other[1], other[2]} or one[1] == one[2]:
        return False
    kind, second = one[0], other[0]
    turned = one[1] != other[1]
    if turned and kind in _TURNED:
        kind, turned = _TURNED[kind], False
    if turned and second in _TURNED:
        second, turned = _TURNED[second], False
    if frozenset((kind, second)) in _EXCLUSIVE and (not turned or kind in _BOTH_WAYS or second in _BOTH_WAYS):
        return True
    return kind == second and turned and kind in ("on", "in")


class _Physics(_Case):
    """The checks that need the family."""

    family: Family

    def __init__(self, trace: Mapping[str, Any], gold: Gold | None, family: Family, use_question: bool):
        super().__init__(trace, gold, family, use_question)
        self.reader: Reader = reader_of(family.name)
        self.givens = frozenset(family.givens)
        self.names = gold.names if gold else self.assign_roles()
        self.role_of = {name.lower(): role for role, name in self.names.items()}
        self.listed = tuple(self.objects)
        self.own: dict[str, list[tuple[Stated, str]]] = {}  # what the initial state says, by key
        self.read_own()
        self.extra: dict[str, dict[str, float]] = dict(gold.attributes) if gold else {}
        self.asked = self.ask()
        self.reference: State = self.build_reference()
        self.solved: State = family.solve(self.reference)
        self.fill_from_own()
        self.pending: list[tuple[str, Stated]] = []

    def plays(self, name: str) -> bool:
        return self.role_of.get(name.lower()) not in (None, "bystander")

    # --- reading ------------------------------------------------------------------------------------------------------

    def assign_roles(self) -> dict[str, str]:
        """Which object plays which role: by the names that the family gives, in the order in which the question mentions
        them; else by the words that people use for that role."""
        free = [name for name in self.objects if name]
        roles: dict[str, str] = {}
        if self.question:
            text, order = self.question.lower(), self.reader.role_order
            rank = {name: (_position(text, name.lower()), 0) for name in free}
        else:  # the effect is told of the subject; what takes part is spoken of more often than what stands by
            text, subject = self.effect.lower(), self.family.subject
            order = [subject, *(role for role in self.reader.role_order if role != subject)]
            told = [self.change, self.derivation, *self.evidence]
            told += [_text(_dict(force).get("target")) for force in _list(self.s0.get("forces"))]
            counts = [name for _, _, name in occurrences(" ; ".join(told).lower(), free)]
            keys = " ; ".join(self.variables).replace("_", " ").lower()
            rank = {name: (_position(keys, name.lower()), -counts.count(name)) for name in free}
            for _, _, name in occurrences(text, free)[:1]:
                if subject in ("a", "body") or subject == order[0]:
                    rank[name] = (-1, 0)
        for role in order:
            pool = [name for name in free if name.lower() in self.family.roles[role]]
            if pool:
                roles[role] = min(pool, key=rank.__getitem__)
                free.remove(roles[role])
        for role in self.reader.role_order:
            if role not in roles and role in self.reader.recognize:
                match = next((name for name in free if self.reader.recognize[role].search(name)), None)
                if match:
                    roles[role] = match
                    free.remove(match)
        return roles

    def read_own(self) -> None:
        self.conditions: dict[str, tuple[str, str]] = {}
        self.unread: list[str] = []
        self.foreign: list[tuple[str, str, Stated, str]] = []  # (object, attribute, value, pointer) without a key
        for label, value in self.variables.items():
            pointer = f"/state_0/variables/{label}"
            condition = next((key for key in self.family.conditions if snake(key) == label), None)
            key, implied = self.reader.key(label, self.names)
            number = quantity(value, implied)
            if condition is None and key is None and isinstance(value, str):
                condition = self.loose_condition(label, value)
            if condition is not None and isinstance(value, str):
                self.conditions[condition] = (value, pointer)
            elif key is not None and number is not None:
                self.own.setdefault(key, []).append((number, pointer))
            elif key is not None and isinstance(value, dict) and isinstance(value.get("value"), int | float):
                self.add(
                    "unit known",
                    "state",
                    None,
                    "unit_scale",
                    pointer,
                    "a unit",
                    value.get("unit"),
                    "the unit is not known",
                )
            else:
                self.unread.append(label)
        for i, item in enumerate(_list(self.s0.get("objects"))):
            name = _text(_dict(item).get("name"))
            attributes = _dict(_dict(item).get("attributes"))
            role = self.role_of.get(name.lower())
            for label, value in attributes.items():
                pointer = f"/state_0/objects/{i}/attributes/{label}"
                number = quantity(value, _unit(attributes.get(f"{label}_unit")))
                if number is None:
                    continue
                key = self.owned_key(label, role)
                if key is not None:
                    if not number.dimension:
                        number = quantity(value, self.reader.key(label, self.names)[1]) or number
                    self.own.setdefault(key, []).append((number, pointer))
                else:
                    self.foreign.append((name, label, number, pointer))

    def loose_condition(self, label: str, value: str) -> str | None:
        """The condition that a stranger's variable states, where its value is one of the family's options."""
        for key, options in self.family.conditions.items():
            if value.lower() in options and not set(options) <= {"left", "right", "up", "down"}:
                return key
        return None

    def owned_key(self, label: str, role: str | None) -> str | None:
        """The quantity that an object's attribute states: one that belongs to the object's role, or to nobody."""
        lowered = snake(label.lower())
        candidates = [
            key
            for key, item in self.family.quantities.items()
            if (item.owner == role and role is not None) and (snake(item.name) == lowered or lowered in item.aliases)
        ]
        if candidates:
            return candidates[0]
        if role is None:
            return None
        key = self.reader.key(label, {})[0]
        if key is None and lowered in ("mass", "mass_kg"):
            return None
        return key if key and self.family.quantities[key].owner in ("", role) else None

    def resolve(self, told: Told, among: Iterable[str] | None = None) -> str | None:
        """The one quantity that a number in a text is told of; None where it stays open."""
        keys = [key for key in told.keys if among is None or key in among]
        keys = [
            key
            for key in keys
            if not told.stated.dimension
            or self.reader.dimensions[key] == told.stated.dimension
            or (self.reader.dimensions[key] == "number" and not told.stated.dimension)
        ]
        if not keys:
            return None
        owner = told.owner.lower().replace("_", " ")
        if owner:
            role = self.role_of.get(owner) or self.role_of.get(owner.replace(" ", "_"))
            mine = [key for key in keys if self.family.quantities[key].owner == role and role]
            if mine:
                return mine[0]
            if role is None or role == "bystander":
                return None
        if len(keys) == 1:
            return keys[0]
        return None

    def ask(self) -> dict[str, Any]:
        """What is asked: `type`, `target` (a quantity, or the outcome's key), `parameter` and `factor` of a change."""
        if self.gold is not None:
            parameter, factor = self.gold.intervened or (None, 1.0)
            return {
                "type": self.gold.question_type,
                "target": self.gold.target,
                "parameter": parameter,
                "factor": factor,
                "objects": set(),
            }
        sentence = _SENTENCE.split(self.question.strip())[-1] if self.question else ""
        found: dict[str, Any] = {
            "type": None,
            "target": None,
            "parameter": None,
            "factor": 1.0,
            "objects": self.mentioned(sentence),
        }
        if not sentence:
            stated = _dict(self.tr.get("intervention"))
            if stated:
                word = next((w for w in FACTOR_WORDS if w in _text(stated.get("change")).lower()), None)
                found |= {"type": "counterfactual", "parameter": self.named(_text(stated.get("variable")))}
                found["factor"] = FACTOR_WORDS[word] if word else 1.0
            match = _WOULD_BE.search(self.explanation) or _EQUALS.search(self.explanation)
            found["target"] = self.named(match[1]) if match else None
            return found
        change = _IF.search(sentence)
        if change:
            found |= {
                "type": "counterfactual",
                "parameter": self.named(change[1]),
                "factor": FACTOR_WORDS[change[2].lower()],
            }
            would = _WOULD.search(sentence)
            found["target"] = self.named(would[1]) if would else None
            return found
        found["target"] = self.named(sentence)
        numeric = quantity(self.answer.get("value"), _unit(self.answer.get("unit"))) is not None
        if (found["target"] is None and not numeric) or (
            not numeric and self.outcome_of(_word(self.answer.get("value"))) is not None
        ):
            found["target"] = self.family.outcome.key
        found["type"] = "numeric" if numeric else "qualitative"
        return found

    def mentioned(self, text: str) -> set[str]:
        return {name for _, _, name in occurrences(text.lower(), self.objects)}

    def named(self, text: str) -> str | None:
        """The quantity that a phrase names, by its longest name and its owner."""
        matches = [match[0].lower() for match in self.reader.name_pattern.finditer(text)]
        if not matches:
            return None
        keys = self.reader.names[max(matches, key=len)]
        owners = {self.role_of.get(name.lower()) for name in self.mentioned(text)}
        mine = [key for key in keys if self.family.quantities[key].owner in owners]
        return mine[0] if mine else keys[0] if len(keys) == 1 else None

    # --- the reference --------------------------------------------------------------------------------------------------

    def build_reference(self) -> State:
        family = self.family
        if self.gold is not None:
            return {**family.constants, **self.gold.state}
        state: State = {}
        if self.question:
            loose: list[Told] = []
            for told in self.reader.told(self.question, self.listed):
                key = self.resolve(told, (*family.givens, *(k for k in self.own if k not in family.givens)))
                if key is not None:
                    state.setdefault(key, told.stated.value)
                elif told.owner and told.keys and self.role_of.get(told.owner.lower()) is None:
                    name = family.quantities[told.keys[0]].name
                    self.extra.setdefault(told.owner, {}).setdefault(snake(name), told.stated.value)
                elif told.owner and not told.keys and "mass" in self.question[max(0, told.start - 12) : told.start]:
                    self.extra.setdefault(told.owner, {}).setdefault("mass", told.stated.value)
                elif not told.keys:
                    loose.append(told)
            for told in loose:
                fits = [
                    key
                    for key in self.own
                    if key not in state and key not in family.constants and told.stated.dimension
                    and self.reader.dimensions[key] == told.stated.dimension
                ]  # fmt: skip
                if len(fits) == 1:
                    state[fits[0]] = told.stated.value
            for key, options in family.conditions.items():
                match = self.reader.condition_patterns[key].search(self.question)
                if match:
                    state[key] = match[1]
                    continue
                mentioned = sorted({name for _, _, name in occurrences(self.question.lower(), options)})
                if len(mentioned) == 1:
                    state[key] = mentioned[0]
        facts: dict[str, list[Stated]] = {}
        for fact in self.evidence:
            for told in self.reader.told(fact, self.listed):
                key = self.resolve(told, family.givens)
                if key is not None:
                    facts.setdefault(key, []).append(told.stated)
        for key in family.givens:
            if key not in state:
                voices = [stated for stated, _ in self.own.get(key, ())] + facts.get(key, [])
                if voices:
                    state[key] = self.majority(key, voices)
        for key, (value, _) in self.conditions.items():
            if key not in state and value.lower() in family.conditions[key]:
                state[key] = value.lower()
        for key, usual in family.defaults.items():
            state.setdefault(key, usual)
        for key, usual_number in family.constants.items():
            told_own = self.own.get(key)
            near = told_own and told_own[0][0].value
            state[key] = near if near and 9.7 <= near <= 10.1 else usual_number
        return state

    def majority(self, key: str, voices: list[Stated]) -> float:
        """The value that most statements share; the first of them where none is ahead."""
        dimension = self.reader.dimensions[key]
        best = max(voices, key=lambda voice: sum(same(other, voice.value, dimension) for other in voices))
        return best.value

    def fill_from_own(self) -> None:
        """What the trace states as given although our families derive it (a final temperature, say)."""
        grew = False
        for key, voices in self.own.items():
            if key not in self.solved:
                self.reference[key] = voices[0][0].value
                grew = True
        if grew:
            self.solved = self.family.solve(self.reference)

    # --- judging a number -----------------------------------------------------------------------------------------------

    def fits(self, stated: Stated, key: str) -> bool | None:
        """Whether a stated number is the quantity `key`; None where that quantity is not known."""
        expected = self.solved.get(key)
        if not isinstance(expected, int | float):
            return None
        dimension = self.reader.dimensions[key]
        if stated.value < 0 < expected and self.family.quantities[key].either_sign:
            stated = stated._replace(value=-stated.value, raw=-stated.raw)
        if stated.dimension and stated.dimension != dimension:
            if self.family.quantities[key].difference and stated.dimension == "temperature":
                return same(stated._replace(value=stated.raw), expected, "temperature")
            return False
        if self.family.quantities[key].difference and stated.unit in ("°C", "degC"):
            stated = stated._replace(value=stated.raw)
        if not stated.dimension:
            return any(
                same(stated, from_canonical(expected, spelled), "") for spelled in self.family.quantities[key].spellings
            ) or same(stated, expected, dimension)
        return same(stated, expected, dimension)

    def reason(self, stated: Stated, key: str, default: str) -> tuple[str, str]:
        """(label, rule) for a number that is not what it should be."""
        expected = float(self.solved[key])
        item = self.family.quantities[key]
        dimension = self.reader.dimensions[key]
        if stated.dimension and stated.dimension != dimension:
            return "unit_scale", f"a {item.name} is not measured in {stated.unit}"
        change = self.family.change
        if change and key in change:
            other = self.solved.get(change[1] if key == change[0] else change[0])
            if isinstance(other, float | int) and same(stated, float(other), dimension):
                return "temporal", "this is the value of the other moment"
        if expected and dimension != "temperature":
            ratio = stated.value / expected
            if ratio > 0 and any(_near(ratio, 10.0**k) for k in (-6, -4, -3, -2, -1, 1, 2, 3, 4, 6)):
                return "unit_scale", "off by a power of ten"
            if _near(ratio, -1.0):
                return "unit_scale", "the sign is reversed"
        for spelled in (*item.spellings, "km/h", "m/s"):
            known = self.reader.dimensions[key] == (quantity(1.0, spelled) or stated).dimension
            if (
                known
                and spelled != stated.unit
                and same(
                    stated._replace(value=stated.raw),
                    from_canonical(expected, spelled),
                    "" if dimension != "temperature" else dimension,
                )
            ):
                return (
                    "unit_scale",
                    f"the number is right in {spelled or 'plain units'}, not in {stated.unit or 'plain units'}",
                )
        return default, "not the value that the scene implies"

    def judge(self, name: str, area: str, stated: Stated, key: str, pointer: str, default: str) -> bool | None:
        ok = self.fits(stated, key)
        if ok is None:
            self.add(
                name,
                area,
                None,
                default,
                pointer,
                key,
                f"{stated.raw:g} {stated.unit}",
                f"{key} cannot be derived: {self.why_open(key)}",
            )
            return None
        label, rule = (default, "equals the recomputed value") if ok else self.reason(stated, key, default)
        expected = self.solved[key]
        shown = from_canonical(float(expected), self.family.quantities[key].unit)
        self.add(
            name,
            area,
            ok,
            label,
            pointer,
            f"{key} = {shown:.4g} {self.family.quantities[key].unit}",
            f"{stated.raw:g} {stated.unit}",
            rule,
        )
        return ok

    def why_open(self, key: str) -> str:
        missing = self.family.missing(self.reference, key)
        return f"{', '.join(missing)} not given" if missing else "no solution"

    # --- state ------------------------------------------------------------------------------------------------------------

    def state(self) -> None:
        self.entities()
        self.relations(self.reference_relations())
        self.temporal_words()
        for key, voices in self.own.items():
            for stated, pointer in voices:
                if "/objects/" in pointer:
                    self.attribute(stated, key, pointer)
                elif key in self.family.constants:
                    near = 9.7 <= stated.value <= 10.1
                    self.add(
                        "variable",
                        "state",
                        near,
                        "state",
                        pointer,
                        "9.8 m/s²",
                        f"{stated.raw:g} {stated.unit}",
                        "gravitational acceleration near the ground",
                    )
                elif (
                    self.judge("variable", "state", stated, key, pointer, "state") is None
                    and not self.within_bounds(stated, key)
                ) or not self.within_bounds(stated, key):
                    self.add(
                        "bounds",
                        "state",
                        False,
                        "state",
                        pointer,
                        "a possible value",
                        f"{stated.raw:g} {stated.unit}",
                        "outside of physical bounds",
                    )
        for name, label, stated, pointer in self.foreign:
            expected = self.extra.get(name, {}).get(snake(label))
            if expected is not None:
                ok = same(stated, expected, "")
                others = [
                    v
                    for other, table in self.all_attributes().items()
                    if other != name
                    for k, v in table.items()
                    if k == snake(label)
                ]
                label_ = "object" if not ok and any(same(stated, v, "") for v in others) else "state"
                self.add(
                    "attribute",
                    "state",
                    ok,
                    label_,
                    pointer,
                    f"{expected:.4g}",
                    f"{stated.raw:g} {stated.unit}",
                    "the attribute as the question gives it",
                )
        for key, (value, pointer) in self.conditions.items():
            expected = self.reference.get(key)
            options = self.family.conditions[key]
            said = value.lower() if value.lower() in options else self.option_of(key, value)
            if said is None or expected is None:
                self.add(
                    "condition",
                    "state",
                    None,
                    "state",
                    pointer,
                    str(expected),
                    value,
                    "the wording is not one that is read",
                )
            else:
                self.add(
                    "condition",
                    "state",
                    said == expected,
                    "state",
                    pointer,
                    str(expected),
                    value,
                    "the condition of the scene",
                )
        words = " ".join([*self.objects, *(str(v) for v in self.variables.values() if isinstance(v, str))]).lower()
        words += " ".join(
            _text(v) for item in _list(self.s0.get("objects")) for v in _dict(_dict(item).get("attributes")).values()
        ).lower()
        complaint = self.family.implausible(self.solved, words)
        if complaint:
            self.add(
                "plausible",
                "state",
                False,
                "state",
                "/state_0",
                "a state that can exist",
                complaint,
                "phase of the substance",
            )
        self.forces()

    def option_of(self, key: str, value: str) -> str | None:
        found = [o for o in self.family.conditions[key] if re.search(rf"\b{re.escape(o)}(?:ward)?s?\b", value.lower())]
        return found[0] if len(found) == 1 else None

    def all_attributes(self) -> dict[str, dict[str, float]]:
        """Numbers that belong to objects, by name: those of the question and those of the solved state."""
        found: dict[str, dict[str, float]] = {name: dict(table) for name, table in self.extra.items()}
        for key, item in self.family.quantities.items():
            value = self.solved.get(key)
            if item.owner in self.names and isinstance(value, float | int):
                found.setdefault(self.names[item.owner], {}).setdefault(snake(item.name), float(value))
        return found

    def attribute(self, stated: Stated, key: str, pointer: str) -> None:
        ok = self.fits(stated, key)
        if ok is False:
            item = self.family.quantities[key]
            own = self.names.get(item.owner)
            for other, table in self.all_attributes().items():
                if other != own and same(
                    stated, table.get(snake(item.name), float("nan")), self.reader.dimensions[key]
                ):
                    self.add(
                        "attribute",
                        "state",
                        False,
                        "object",
                        pointer,
                        f"{self.solved[key]:.4g}",
                        f"{stated.raw:g} {stated.unit}",
                        f"this is the {item.name} of the {other}",
                    )
                    return
        self.judge("attribute", "state", stated, key, pointer, "state")

    def within_bounds(self, stated: Stated, key: str) -> bool:
        value, dimension = stated.value, self.reader.dimensions[key]
        if dimension == _SPEED:
            return abs(value) <= 3e8
        if dimension == "temperature":
            return value >= -0.01
        if dimension in _POSITIVE:
            return 0 <= value <= 1e9
        return abs(value) < 1e15

    def reference_relations(self) -> list[tuple[str, str, str]]:
        if self.gold is not None:
            return list(self.gold.relations)
        try:
            pairs = self.family.relations(self.solved)
        except (KeyError, TypeError):
            pairs = ()
        found = [(kind, self.names[a], self.names[b]) for kind, a, b in pairs if a in self.names and b in self.names]
        lowered = self.question.lower()
        mentions = occurrences(lowered, self.objects)
        for match in _PLACED.finditer(lowered):
            kind = relation_type(match[1])
            clause = max(
                lowered.rfind(". ", 0, match.start()), lowered.rfind("; ", 0, match.start()), match.start() - 60
            )
            before = [name for start, end, name in mentions if clause <= start and end <= match.start()]
            after = [name for start, _, name in mentions if match.end() <= start <= match.end() + 5]
            if kind and before and after and before[-1] != after[0]:
                found.append((kind, before[-1], after[0]))
        return found

    def forces(self) -> None:
        stated = [_dict(force) for force in _list(self.s0.get("forces"))]
        if not stated:
            return
        try:
            specs = list(self.family.forces(self.solved))
        except (KeyError, TypeError):
            specs = []
        expected = [(spec, force_name(spec.name), self.names.get(spec.target, "").lower()) for spec in specs]
        known_names = {name for _, name, _ in expected}
        left = list(expected)
        unmatched: list[tuple[int, dict[str, Any], str, str]] = []
        for i, force in enumerate(stated):
            name, target = force_name(_text(force.get("name"))), _text(force.get("target")).lower()
            match = next((e for e in left if e[1] == name and e[2] == target), None)
            if match is None:
                unmatched.append((i, force, name, target))
                continue
            left.remove(match)
            self.force(i, force, match[0])
        for i, force, name, target in unmatched:
            pointer = f"/state_0/forces/{i}/target"
            match = next((e for e in left if e[1] == name), None)
            bodies = {
                n.lower() for n in self.objects if self.role_of.get(n.lower()) in ("a", "b", "body", "bystander", None)
            }
            if match is not None and target in bodies and match[2] in bodies:
                left.remove(match)
                self.add(
                    "force body", "state", False, "force", pointer, match[2], target, f"{name} acts on another body"
                )
            elif (
                name in known_names
                and target in self.role_of
                and any(e[1] == name and e[2] == target for e in expected)
            ):
                self.add(
                    "force body",
                    "state",
                    False,
                    "force",
                    pointer,
                    f"one {name} on the {target}",
                    "two",
                    "a force is told twice of one body",
                )
            else:
                way = direction(_text(force.get("direction")))
                if name == "gravity" and way is not None and way[1] is not None:
                    self.add(
                        "force direction",
                        "state",
                        way[1] < 0,
                        "force",
                        f"/state_0/forces/{i}/direction",
                        "down",
                        force.get("direction"),
                        "gravity points down",
                    )
                else:
                    self.add(
                        "force",
                        "state",
                        None,
                        "force",
                        pointer,
                        "a force of the family",
                        f"{name} on {target}",
                        "the family does not speak of this force",
                    )
        if self.gold is not None:
            for spec, name, target in left:
                self.add(
                    "force missing",
                    "state",
                    False,
                    "force",
                    "/state_0/forces",
                    f"{name} on {target}",
                    "none",
                    f"the {spec.name} is missing",
                )

    def force(self, i: int, force: dict[str, Any], spec: Any) -> None:
        pointer = f"/state_0/forces/{i}"
        way, right = direction(_text(force.get("direction"))), direction(spec.direction)
        clash = opposed(way, right) if way and right else None
        if (
            way is None
            and spec.name == "tension"
            and re.search(r"away from (?:the )?cent", _text(force.get("direction")), re.I)
        ):
            clash = True
        self.add(
            "force direction",
            "state",
            None if clash is None else not clash,
            "force",
            f"{pointer}/direction",
            spec.direction,
            force.get("direction"),
            f"the {spec.name} in this scene",
        )
        magnitude = quantity(force.get("magnitude"), _unit(force.get("unit")))
        if magnitude is None:
            return
        ok = self.fits(magnitude, spec.magnitude)
        if ok is None and spec.magnitude in self.solved:
            return
        if ok is not None:
            expected = self.solved[spec.magnitude]
            self.add(
                "force magnitude",
                "state",
                ok,
                "force",
                f"{pointer}/magnitude",
                f"{expected:.4g} N",
                f"{magnitude.raw:g} {magnitude.unit}",
                f"the {spec.name} from the state",
            )

    # --- transition -------------------------------------------------------------------------------------------------------

    def transition(self) -> None:
        rule = _text(self.tr.get("rule"))
        if rule:
            self.add(
                "rule",
                "trans",
                True if self.reader.rule.search(rule) else None,
                "transition",
                "/transition/rule",
                "the family's law",
                rule,
                "the rule names the law",
            )
        self.effect_checks()
        self.equations()
        self.facts()
        self.told_change()
        self.results()
        self.intervention()

    def effect_checks(self) -> None:
        family = self.family
        outcome = self.solved.get(family.outcome.key)
        said = self.reader.stated_outcomes(self.effect)
        if len(said) == 1:
            claim = said.pop()
            if outcome is None:
                self.add(
                    "effect",
                    "trans",
                    None,
                    "transition",
                    "/transition/effect",
                    family.outcome.key,
                    claim,
                    f"the outcome cannot be derived: {self.why_open(family.outcome.key)}",
                )
            else:
                self.add(
                    "effect",
                    "trans",
                    claim == outcome,
                    "transition",
                    "/transition/effect",
                    outcome,
                    claim,
                    "the outcome that follows from the state",
                )
        mentioned = self.mentioned(self.effect)
        subject = self.names.get(family.subject)
        if mentioned and subject and subject not in mentioned:
            strangers = {name for name in mentioned if self.role_of.get(name.lower()) in (None, "bystander")}
            other = (
                family.subject == "a"
                and self.names.get("b") in mentioned
                and (self.gold is not None or self.names.get("b") not in self.asked["objects"])
            )
            ours = subject.lower() in family.roles[family.subject]
            if (strangers or other) and ours:
                self.add(
                    "subject",
                    "trans",
                    False,
                    "object",
                    "/transition/effect",
                    subject,
                    ", ".join(sorted(mentioned)),
                    "the effect is told of another object",
                )
        elif subject and subject in mentioned:
            self.add(
                "subject",
                "trans",
                True,
                "object",
                "/transition/effect",
                subject,
                subject,
                "the effect is told of the object in question",
            )
        for told in self.reader.told(self.effect, self.listed):
            key = self.resolve(told, (*family.derived, *family.givens))
            if key is None and told.keys:
                key = next((k for k in told.keys if k == family.headline), None)
            if key is not None:
                self.judge("effect value", "trans", told.stated, key, "/transition/effect", "transition")
            else:
                self.unnamed(told, "effect value", "/transition/effect")

    def unnamed(self, told: Told, name: str, pointer: str) -> None:
        """A number without a name may be any known quantity of its dimension."""
        if not told.stated.dimension or told.stated.dimension == "number":
            return
        keys = [
            key
            for key, dimension in self.reader.dimensions.items()
            if dimension == told.stated.dimension and key in self.solved
        ]
        if not keys:
            return
        ok = any(self.fits(told.stated, key) for key in keys)
        if ok:
            self.add(
                name,
                "trans",
                True,
                "transition",
                pointer,
                "a known quantity",
                f"{told.stated.raw:g} {told.stated.unit}",
                "equals a recomputed value",
            )
            return
        near = next((k for k in (self.asked["target"], self.family.headline) if k in keys), None)
        if near is not None:
            self.judge(name, "trans", told.stated, near, pointer, "transition")

    def facts(self) -> None:
        for i, fact in enumerate(self.evidence):
            self.owned_facts(fact, f"/transition/evidence/{i}")
        self.owned_facts(self.derivation, "/derivation", given_only=True)

    def owned_facts(self, text: str, pointer: str, given_only: bool = False) -> None:
        for told in self.reader.told(text, self.listed):
            if given_only and not any(key in self.givens for key in told.keys):
                continue
            key = self.resolve(told)
            if key is not None and not (told.owner and self.misowned(told, key)):
                ok = self.fits(told.stated, key)
                if ok is not None:
                    label, rule = (
                        ("transition", "the fact as the state has it") if ok else self.reason(told.stated, key, "state")
                    )
                    others = self.holders(told, key) if ok is False else []
                    if others:
                        label, rule = "object", f"this is true of the {others[0]}"
                    self.add(
                        "evidence",
                        "trans",
                        ok,
                        label,
                        pointer,
                        f"{key} = {self.solved[key]:.4g}",
                        text[max(0, told.start - 30) : told.end],
                        rule,
                    )
            elif told.owner and told.keys:
                self.stray_fact(told, text, pointer)

    def misowned(self, told: Told, key: str) -> bool:
        owner = self.family.quantities[key].owner
        role = self.role_of.get(told.owner.lower())
        return (
            bool(owner) and role is not None and role != owner and role in ("a", "b", "bystander", self.family.subject)
        )

    def holders(self, told: Told, key: str) -> list[str]:
        name = snake(self.family.quantities[key].name)
        return [
            other
            for other, table in self.all_attributes().items()
            if other.lower() != told.owner.lower()
            and name in table
            and same(told.stated, table[name], self.reader.dimensions[key])
        ]

    def stray_fact(self, told: Told, text: str, pointer: str) -> None:
        """A named quantity, told of an object that is not known to have it."""
        item = self.family.quantities[told.keys[0]]
        known = self.extra.get(told.owner, {}).get(snake(item.name))
        if known is not None and same(told.stated, known, ""):
            self.add(
                "evidence",
                "trans",
                True,
                "object",
                pointer,
                f"{known:.4g}",
                text[max(0, told.start - 30) : told.end],
                "a fact of another object",
            )
            return
        holders = self.holders(told, told.keys[0])
        sure = bool(self.question or self.gold) or "a" not in self.family.roles
        if holders and sure:
            self.add(
                "evidence",
                "trans",
                False,
                "object",
                pointer,
                f"the {item.name} of the {holders[0]}",
                text[max(0, told.start - 30) : told.end],
                "the fact belongs to another object",
            )
        else:
            self.add(
                "evidence",
                "trans",
                None,
                "object",
                pointer,
                item.name,
                text[max(0, told.start - 30) : told.end],
                "nothing is known of this",
            )

    def told_change(self) -> None:
        change = self.family.change
        for told in self.reader.told(self.change, self.listed):
            key = self.resolve(told)
            if key is None and change and told.keys:
                key = next((k for k in told.keys if k in change), None)
            if key is not None:
                self.judge("predicted change", "trans", told.stated, key, "/state_1/predicted_change", "transition")
            elif not told.owner or not told.keys:
                self.unnamed(told, "predicted change", "/state_1/predicted_change")
        outcome = self.solved.get(self.family.outcome.key)
        said = self.reader.stated_outcomes(self.change)
        if outcome is not None and len(said) == 1 and not set(self.reader.outcomes) & {"left", "right", "up", "down"}:
            claim = said.pop()
            self.add(
                "predicted change",
                "trans",
                claim == outcome,
                "transition",
                "/state_1/predicted_change",
                outcome,
                claim,
                "the outcome that follows from the state",
            )

    def results(self) -> None:
        self.results_by_key: dict[str, Stated] = {}
        for label, value in self.new.items():
            pointer = f"/state_1/new_variables/{label}"
            key, implied = self.reader.key(label, self.names)
            number = quantity(value, implied)
            if key is not None and number is not None:
                self.results_by_key.setdefault(key, number)
                self.judge("new variable", "trans", number, key, pointer, "transition")
                continue
            if isinstance(value, bool):
                said = self.reader.stated_outcomes(label.replace("_", " "))
                claim = said.pop() if len(said) == 1 else None
                others = [o for o in self.reader.outcomes if o != claim]
                claim = claim if value or claim is None else others[0] if len(others) == 1 else None
            else:
                claim = self.outcome_of(value) if isinstance(value, str) and len(value) < 200 else None
                if (
                    claim
                    and snake(self.family.outcome.key) != label
                    and set(self.reader.outcomes) & {"left", "right", "up", "down"}
                ):
                    claim = None
            outcome = self.solved.get(self.family.outcome.key)
            if claim is not None:
                self.new_outcome = claim
                self.add(
                    "new variable",
                    "trans",
                    None if outcome is None else claim == outcome,
                    "transition",
                    pointer,
                    outcome,
                    value,
                    "the outcome that follows from the state",
                )

    def intervention(self) -> None:
        stated = _dict(self.tr.get("intervention"))
        self.stated_response = response_of(_text(stated.get("response"))) if stated else None
        self.response: str | None = None
        self.after: State = {}
        if self.asked["type"] != "counterfactual":
            return
        parameter, factor, target = self.asked["parameter"], self.asked["factor"], self.asked["target"]
        if target is None:
            target = next((key for key in self.results_by_key if key not in (self.family.change or ())), None)
            self.asked["target"] = target
        if parameter is None or parameter not in self.reference or target is None:
            self.add(
                "intervention",
                "trans",
                None,
                "intervention",
                "/transition/intervention",
                "a known parameter",
                str(stated.get("variable")),
                "the change is not one that can be recomputed",
            )
            return
        before = self.solved.get(target)
        self.after = self.family.solve({**self.reference, parameter: float(self.reference[parameter]) * factor})
        after = self.after.get(target)
        if not isinstance(before, float | int) or not isinstance(after, float | int):
            self.add(
                "intervention",
                "trans",
                None,
                "intervention",
                "/transition/intervention",
                target,
                "",
                f"{target} cannot be derived: {self.why_open(target)}",
            )
            return
        self.response = (
            "stays the same" if _near(before, after) else "increases" if abs(after) > abs(before) else "decreases"
        )
        if self.stated_response is not None:
            self.add(
                "intervention",
                "trans",
                self.stated_response == self.response,
                "intervention",
                "/transition/intervention/response",
                self.response,
                self.stated_response,
                f"{target} solved again with {parameter} times {factor:g}",
            )
        new = quantity(stated.get("new_value"))
        dimension = self.reader.dimensions[target]
        if new is not None:
            ok = same(new, after, dimension) if new.dimension in ("", dimension) else False
            self.add(
                "intervention size",
                "trans",
                ok,
                "intervention",
                "/transition/intervention/new_value",
                f"{after:.4g}",
                f"{new.raw:g} {new.unit}",
                f"{target} solved again with {parameter} times {factor:g}",
            )

    def equations(self) -> None:
        text = _text(self.tr.get("equation"))[:2000]
        if not text:
            return
        values: dict[str, float] = {}
        for symbol, keys in self.reader.symbols.items():
            known = [float(self.solved[key]) for key in keys if isinstance(self.solved.get(key), float | int)]
            if len(known) == 1 or (known and len(set(known)) == 1):
                angle = self.reader.dimensions[keys[0]] == "angle"
                values[symbol] = known[0] * (0.017453292519943295 if angle else 1.0)
        decided = False
        for clause in re.split(r"[;\n]|→|⇒|=>|\\Rightarrow|,\s(?=[A-Za-z])", text):
            decided = self.clause(clause, values) or decided
        if not decided:
            self.add(
                "equation",
                "trans",
                None,
                "transition",
                "/transition/equation",
                "an equation that can be evaluated",
                text,
                "not read as mathematics",
            )

    def clause(self, clause: str, values: dict[str, float]) -> bool:
        """One chain of equalities: every part that has a value must have the same."""
        parts = [part.strip() for part in re.split(r"(?<![<>!])[=≈]|\\approx", clause) if part.strip()]
        if len(parts) < 2:
            return False
        key = next(iter(self.reader.symbols.get(parts[0], ())), None)
        keys = [k for k in self.reader.symbols.get(parts[0], ()) if k in self.solved]
        if self.asked["target"] in keys:
            key = self.asked["target"]
        elif len(keys) == 1:
            key = keys[0]
        elif len(keys) > 1:
            key = None
        found: list[tuple[str, tuple[float, ...], bool]] = []  # (text, values it may stand for, needs symbols)
        result: Stated | None = None
        for part in parts:
            item = quantity(part)
            if item is not None:
                result = item
                found.append((part, (item.value, item.raw), False))
                continue
            try:
                found.append((part, (evaluate(part, {}),), False))
            except NotMath:
                try:
                    if part != parts[0] and not _DECIMAL.search(part):  # else its units are open
                        found.append((part, (evaluate(part, values),), True))
                except NotMath:
                    continue
        decided = False
        numeric = [entry for entry in found if not entry[2]]
        for (one, first, _), (other, second, _) in itertools.pairwise(numeric):
            ok = any(
                abs(a - b) <= 0.012 * max(abs(a), abs(b)) + 1e-9 or self.rounded(a, b, result)
                for a in first
                for b in second
            )
            if result is not None and result.dimension == "temperature":
                ok = any(abs(a - b) <= KELVIN for a in first for b in second)
            self.add(
                "equation",
                "trans",
                ok,
                "transition",
                "/transition/equation",
                f"{one} = {first[0]:.5g}",
                f"{other}",
                "both sides have one value",
            )
            decided = True
        for one, first, _ in (entry for entry in found if entry[2]):
            for other, second, symbolic in found:
                if symbolic or decided is None:
                    continue
                ok = any(
                    abs(a - b) <= 0.012 * max(abs(a), abs(b)) + 1e-9 or self.rounded(a, b, result)
                    for a in first
                    for b in second
                )
                if result is not None and result.dimension == "temperature":
                    ok = any(abs(a - b) <= KELVIN for a in first for b in second)
                self.add(
                    "formula",
                    "trans",
                    ok,
                    "transition",
                    "/transition/equation",
                    f"{one} = {first[0]:.5g}",
                    f"{other}",
                    "the formula with the values of the state",
                )
                decided = True
                break
        if key is not None and result is not None and self.fits(result, key) is not None:
            self.judge("equation result", "trans", result, key, "/transition/equation", "transition")
            decided = True
        return decided

    def rounded(self, one: float, other: float, result: Stated | None) -> bool:
        return result is not None and abs(one - other) <= min(result.rounding, ROUNDING_CAP * max(abs(one), abs(other)))

    # --- answer and faithfulness ----------------------------------------------------------------------------------------

    def answers(self) -> None:
        value, spelled = self.answer.get("value"), _unit(self.answer.get("unit"))
        if value is None:
            self.add("answer", "ans", None, "faithfulness", "/answer/value", "an answer", "none", "no answer is given")
            return
        target, number = self.asked["target"], quantity(value, spelled)
        if target is None and number is not None:  # what the trace itself gives with this value
            target = next(
                (
                    k
                    for k, r in self.results_by_key.items()
                    if r.dimension == number.dimension and _near(r.value, number.value)
                ),
                None,
            )
            self.asked["target"] = target
        own = self.own_answers()
        agree = [self.answers_agree(statement, unit, value, spelled) for statement, unit in own]
        yes, no = agree.count(True), agree.count(False)
        faithful = None if not yes and not no else yes >= no
        if own:
            self.add(
                "answer in trace",
                "faith",
                faithful,
                "faithfulness",
                "/answer/value",
                ", ".join(f"{s} {u or ''}".strip() for s, u in own[:3]),
                value,
                "what most of the trace says",
            )
        truth: bool | None = None
        expected: Any = None
        if self.asked["type"] == "counterfactual" and (number is None or self.response):
            said = response_of(_word(value))
            expected = self.response
            truth = None if said is None or expected is None else said == expected
        elif number is not None and target in self.family.quantities:
            expected = self.solved.get(target)
            truth = self.fits(number, target)
        elif number is not None:
            keys = [
                k
                for k, d in self.reader.dimensions.items()
                if k in self.solved and d == number.dimension and number.dimension
            ]
            if keys and self.asked["type"] != "qualitative":
                truth = True if any(self.fits(number, key) for key in keys) else None
        else:
            said_outcome = self.outcome_of(_word(value))
            expected = self.solved.get(self.family.outcome.key)
            truth = None if said_outcome is None or expected is None else said_outcome == expected
            if said_outcome is None and isinstance(value, bool | str) and expected is not None:
                lowered = _word(value).lower()
                if lowered in ("yes", "no") and self.question:
                    asked = self.reader.stated_outcomes(self.question.rsplit(".", 1)[-1])
                    if len(asked) == 1:
                        truth = (asked.pop() == expected) == (lowered == "yes")
        wrong = "transition" if faithful else "faithfulness"
        if self.asked["type"] == "counterfactual" and faithful:
            wrong = "intervention"
        if (
            truth is False
            and number is not None
            and target in self.solved
            and isinstance(self.solved[target], float | int)
        ):
            label, _ = self.reason(number, target, wrong)
            wrong = label if label == "unit_scale" and faithful else wrong
        rule = "the answer solved again" if truth is not None else self.open_answer(target)
        shown = f"{expected:.4g}" if isinstance(expected, float | int) else str(expected)
        self.add("answer", "ans", truth, wrong, "/answer/value", shown, f"{value} {spelled or ''}".strip(), rule)
        self.explain()

    def open_answer(self, target: str | None) -> str:
        if target is None:
            return "what is asked is not known"
        return f"the answer cannot be derived: {self.why_open(target)}"

    def own_answers(self) -> list[tuple[Any, str | None]]:
        """What the trace itself gives as the quantity asked for: result, explanation, conclusion."""
        target = self.asked["target"]
        found: list[tuple[Any, str | None]] = []
        if self.asked["type"] == "counterfactual":
            if self.stated_response is not None:
                found.append((self.stated_response, None))
        elif target in self.family.quantities:
            if target in self.results_by_key:
                result = self.results_by_key[target]
                found.append((result.raw, result.unit or None))
            for text in (self.explanation, self.derivation):
                for told in self.reader.told(text, self.listed)[::-1]:
                    if target in told.keys:
                        found.append((told.stated.raw, told.stated.unit or None))
                        break
        else:
            if getattr(self, "new_outcome", None):
                found.append((self.new_outcome, None))
            if claim := self.outcome_of(self.effect):
                found.append((claim, None))
        match = _CONCLUSION.search(self.derivation)
        if match:
            found.append((match[1].strip().strip('"'), None))
        return found

    def explain(self) -> None:
        """Named numbers of the explanation and of the derivation."""
        for text, pointer in ((self.explanation, "/answer/explanation"), (self.derivation, "/derivation")):
            for told in self.reader.told(text, self.listed):
                key = self.resolve(told)
                if key is None or key not in self.solved or (key in self.givens and pointer == "/derivation"):
                    continue
                ok = self.fits(told.stated, key)
                if ok is False and self.after and isinstance(self.after.get(key), float | int):
                    ok = same(told.stated, float(self.after[key]), self.reader.dimensions[key])
                    if not ok:
                        self.add(
                            "explanation",
                            "trans",
                            False,
                            "intervention",
                            pointer,
                            f"{key} = {self.after[key]:.4g}",
                            text[max(0, told.start - 30) : told.end],
                            "solved again with the change",
                        )
                        continue
                label, rule = ("transition", "as recomputed") if ok else self.reason(told.stated, key, "transition")
                self.add(
                    "explanation",
                    "trans",
                    ok,
                    label,
                    pointer,
                    f"{key} = {self.solved[key]:.4g}",
                    text[max(0, told.start - 30) : told.end],
                    rule,
                )


def _position(text: str, name: str) -> int:
    found = occurrences(text, (name,))
    return found[0][0] if found else len(text) + 1


_AREAS = ("state", "trans", "ans", "faith")
_SUBSTANTIAL = frozenset(("variable", "attribute", "condition", "relation", "force direction", "force magnitude", "force body", "effect", "effect value", "equation", "formula", "equation result", "new variable", "predicted change", "answer", "answer in trace", "conclusion", "intervention", "entity"))  # fmt: skip


def _zs(checks: list[Check]) -> dict[str, str]:
    found = {}
    for area in _AREAS:
        statuses = {
            check.status
            for check in checks
            if check.area == area and (check.status == INVALID or check.name in _SUBSTANTIAL)
        }
        found[area] = INVALID if INVALID in statuses else VALID if VALID in statuses else ABSTAIN
    return found


def verify(trace: Any, gold: Gold | None = None, *, question: bool = True) -> Verdict:
    """The verdict on one trace (a JSON object). `question=False` leaves the question text out of the evidence.

    Never raises on content: what cannot be read abstains, what breaks the schema is z_schema invalid.
    """
    if not isinstance(trace, dict):
        check = Check(
            "schema", "schema", INVALID, "", "/", "an object", type(trace).__name__, "a trace is a JSON object"
        )
        return Verdict(INVALID, ABSTAIN, ABSTAIN, ABSTAIN, ABSTAIN, (), (check,))
    complaints = problems(trace)
    name = trace.get("scenario_family")
    family = FAMILIES.get(name) if isinstance(name, str) else None
    case: _Case
    if family is not None:
        physics = _Physics(trace, gold, family, question)
        physics.state()
        physics.transition()
        physics.faith_words()
        physics.answers()
        case = physics
    else:
        case = _Case(trace, None, None, question)
        case.entities()
        case.relations(())
        case.temporal_words()
        case.faith_words()
        for area in _AREAS:
            case.add(
                "family",
                area,
                None,
                "",
                "/scenario_family",
                "a known family",
                name,
                "the physics of an unknown family is not recomputed",
            )
    checks = [
        Check(
            "schema",
            "schema",
            INVALID,
            "",
            text.split(": ", 1)[0],
            "the trace schema",
            text.split(": ", 1)[-1][:200],
            "JSON Schema Draft 7",
        )
        for text in complaints
    ]
    for pointer in decoding.control_characters(trace.get("transition", {}), "/transition"):
        checks.append(
            Check(
                "control characters",
                "schema",
                INVALID,
                "",
                pointer,
                "text",
                "control characters",
                "a backslash was lost in decoding",
            )
        )
    z_schema = INVALID if checks else VALID
    checks += case.checks
    zs = _zs(case.checks)
    labels = {check.label for check in case.checks if check.status == INVALID}
    return Verdict(
        z_schema, zs["state"], zs["trans"], zs["ans"], zs["faith"],
        tuple(label for label in LABELS if label in labels), tuple(checks), family.name if family else None,
    )  # fmt: skip
