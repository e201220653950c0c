"""A trace under examination, and the checks that need no family: entities, relations that exclude each other, words of the
wrong moment, the conclusion against the answer (paper 2, appendix on the verifier: state checks 1 and 2, transition check 4)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tasks.traces.family import Family
from tasks.traces.record import snake
from tasks.verification.reading import Stated, negated, occurrences, quantity, reader_of
from tasks.verification.verdict import ABSTAIN, CHECKS, INVALID, VALID, Check, Gold

RELATIVE = 0.012  # the tolerance of a stated number: 1 % (paper 2, state verifier) and three-digit rounding
ROUNDING_CAP = 0.025  # a number's own decimals excuse no more than this
KELVIN = 0.8  # the tolerance of a temperature
LONGEST = 20_000  # characters of one field that are read
RESPONSES = {
    "increases": re.compile(
        r"\bincreas|\bris(?:es?|ing)\b|\bgrow|\blarger\b|\bbigger\b|\bgreater\b|\bhigher\b|\bgoes up\b|\blonger\b", re.I
    ),
    "decreases": re.compile(
        r"\bdecreas|\bfall(?:s|ing)?\b|\bshrink|\bsmaller\b|\bless\b|\blower\b|\breduc|\bgoes down\b|\bdrops?\b|\bshorter\b",
        re.I,
    ),
    "stays the same": re.compile(
        r"\bsame\b|\bunchanged\b|\bno change\b|\bconstant\b|\bunaffected\b|\bnot change\b|n't change\b|\bnot affect",
        re.I,
    ),
}
CONCLUSION = re.compile(r"(?:answer|result) (?:is|=|would be)\s*:?\s*(.+?)\s*\.?\s*$", re.I | re.S)
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
_EXCLUSIVE = {
    frozenset(pair)
    for pair in (
        ("touching", "apart"),
        ("on", "apart"),
        ("in", "apart"),
        ("attached_to", "apart"),
        ("connected_to", "apart"),
        ("left_of", "right_of"),
        ("above", "below"),
        ("on", "below"),
    )
}


@functools.lru_cache(maxsize=2048)
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


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""


def as_unit(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else str(value)


def near(one: float, other: float) -> bool:
    return abs(one - other) <= RELATIVE * max(abs(one), abs(other)) + 1e-12


def first_mentions(text: str, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Where a lower-case text first speaks of each name; behind its end where it does not."""
    found = {name: (len(text) + 1, 0) for name in names}
    for start, _, name in reversed(occurrences(text, found)):
        found[name] = (start, 0)
    return found


@functools.lru_cache(maxsize=2048)
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


def forms(kind: str, one: str, two: str) -> tuple[tuple[str, str, str], ...]:
    if kind in _BOTH_WAYS:
        return (kind, one, two), (kind, two, one)
    if kind in _TURNED:
        return (kind, one, two), (_TURNED[kind], two, one)
    return ((kind, one, two),)


def contradicts(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
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


class Case:
    """One trace and its checks so far."""

    def __init__(self, trace: Mapping[str, Any], gold: Gold | None, family: Family | None, use_question: bool):
        self.checks: list[Check] = []
        self.gold, self.family = gold, family
        self.s0, self.tr, self.s1 = (
            as_dict(trace.get("state_0")),
            as_dict(trace.get("transition")),
            as_dict(trace.get("state_1")),
        )
        answer = trace.get("answer")
        self.answer: dict[str, Any] = answer if isinstance(answer, dict) else {"value": answer}
        self.question = as_text(trace.get("question")) if use_question else ""
        self.derivation = as_text(trace.get("derivation"))
        self.effect = as_text(self.tr.get("effect"))
        self.change = as_text(self.s1.get("predicted_change"))
        self.explanation = as_text(self.answer.get("explanation"))
        evidence = self.tr.get("evidence")
        self.evidence = [as_text(fact) for fact in evidence] if isinstance(evidence, list) else [as_text(evidence)]
        self.objects = [as_text(as_dict(item).get("name")) for item in as_list(self.s0.get("objects"))]
        self.variables = as_dict(self.s0.get("variables"))
        self.new = as_dict(self.s1.get("new_variables"))

    def add(
        self, name: str, ok: bool | None, pointer: str, expected: Any, found: Any, rule: str, label: str | None = None
    ) -> None:
        """One check: `ok` None abstains. Area and label are those of the table CHECKS unless `label` says otherwise."""
        area, usual = CHECKS[name]
        status = ABSTAIN if ok is None else VALID if ok else INVALID
        self.checks.append(Check(name, area, status, label or usual, pointer, expected, found, rule))

    def entities(self) -> None:
        known = {name.lower().replace("_", " ") for name in self.objects if name}
        for i, force in enumerate(as_list(self.s0.get("forces"))):
            target = as_text(as_dict(force).get("target")).lower().replace("_", " ")
            if target:
                ok = target in known or bool(GENERIC.search(target)) or any(target in n or n in target for n in known)
                if not ok:
                    self.add(
                        "entity",
                        False,
                        f"/state_0/forces/{i}/target",
                        "an object of the scene",
                        target,
                        "every force acts on an object",
                    )
        for i, relation in enumerate(as_list(self.s0.get("relations"))):
            for j, arg in enumerate(as_list(as_dict(relation).get("args"))):
                name = as_text(arg).lower().replace("_", " ")
                ok = (
                    name in known or bool(GENERIC.search(name)) or any(name and (name in n or n in name) for n in known)
                )
                if not ok:
                    self.add(
                        "entity",
                        False,
                        f"/state_0/relations/{i}/args/{j}",
                        "an object of the scene",
                        name,
                        "every relation is between objects",
                    )
        if not known:
            self.add("entity", None, "/state_0/objects", "objects", "none", "the state names no object")
        elif not any(check.name == "entity" for check in self.checks):
            self.add(
                "entity",
                True,
                "/state_0/objects",
                "known objects",
                "known objects",
                "forces and relations name objects of the scene",
            )

    def plays(self, name: str) -> bool:
        """Whether an object is known to have a part in the scene."""
        return False

    def stated_relations(self) -> list[tuple[str, str, str, int]]:
        found = []
        for i, relation in enumerate(as_list(self.s0.get("relations"))):
            kind = relation_type(as_text(as_dict(relation).get("type")))
            args = [as_text(arg) for arg in as_list(as_dict(relation).get("args"))]
            if kind and len(args) >= 2:
                found.append((kind, args[0], args[1], i))
        return found

    def relations(self, reference: Iterable[tuple[str, str, str]]) -> None:
        stated = self.stated_relations()
        wanted = [(kind, one, two) for kind, one, two in reference]
        for n, (kind, one, two, i) in enumerate(stated):
            pointer = f"/state_0/relations/{i}"
            for other, first, second, _ in stated[:n]:
                if contradicts((kind, one, two), (other, first, second)):
                    self.add(
                        "relations agree",
                        False,
                        pointer,
                        f"{other}({first}, {second})",
                        f"{kind}({one}, {two})",
                        "two relations of one pair exclude each other",
                    )
            verdict: bool | None = None
            for other, first, second in wanted:
                if {one, two} != {first, second}:
                    continue
                if contradicts((kind, one, two), (other, first, second)):
                    verdict = False
                    self.add(
                        "relation",
                        False,
                        pointer,
                        f"{other}({first}, {second})",
                        f"{kind}({one}, {two})",
                        "the scene has the contrary relation",
                    )
                    break
                if kind == other:
                    verdict = True
            if verdict:
                self.add("relation", True, pointer, kind, kind, "the scene has this relation")
        have = {form for kind, one, two, _ in stated for form in forms(kind, one, two)}
        should = {form for kind, one, two in wanted for form in forms(kind, one, two)}
        for kind, first, second in wanted:
            if (kind, first, second) in have:
                continue
            for other, one, two, i in stated:
                replaced = other == kind and (one == first) != (two == second) and (other, one, two) not in should
                stranger = two if one == first else one
                known = self.gold is not None or not self.plays(stranger)
                if replaced and known and stranger in self.objects:
                    self.add(
                        "relation holder",
                        False,
                        f"/state_0/relations/{i}",
                        f"{kind}({first}, {second})",
                        f"{other}({one}, {two})",
                        "the relation is told of another object",
                    )

    def temporal_words(self) -> None:
        early = " ".join(
            [*map(as_text, as_list(self.s0.get("assumptions"))), *(as_text(v) for v in self.variables.values())]
        )
        if match := _AFTER.search(early):
            rule = "the initial state is told of the later moment"
            self.add("temporal words", False, "/state_0", "the state before", match[0], rule)
        if (match := _BEFORE.search(self.change)) and not re.search(r"\bfrom\b", self.change):
            rule = "the result is told of the earlier moment"
            self.add("temporal words after", False, "/state_1/predicted_change", "the state after", match[0], rule)

    def faith_words(self) -> None:
        """The conclusion of the derivation against the answer, for any family."""
        match = CONCLUSION.search(self.derivation)
        value = self.answer.get("value")
        if not match or value is None:
            return
        concluded = match[1].strip().strip('"')
        ok = self.answers_agree(concluded, None, value, self.answer.get("unit"))
        self.add("conclusion", ok, "/answer/value", concluded, value, "the derivation concludes the answer")

    def answers_agree(self, one: Any, one_unit: Any, other: Any, other_unit: Any) -> bool | None:
        """Whether two statements of an answer say the same; None where that cannot be told."""
        first, second = quantity(one, as_unit(one_unit)), quantity(other, as_unit(other_unit))
        if first and second:
            if first.dimension and second.dimension and first.dimension != second.dimension:
                return False
            if not first.dimension or not second.dimension:
                return near(first.raw, second.raw) or near(first.value, second.value)
            return same(first, second.value, second.dimension) or same(second, first.value, first.dimension)
        if (first is None) != (second is None):
            return None
        return self.words_agree(as_word(one), as_word(other))

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
