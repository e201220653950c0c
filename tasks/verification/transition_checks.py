"""Checks of the transition and the resulting state: effect, equation, evidence, predicted change, new variables,
intervention (paper 2, transition verifier, with the physics solved again)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from tasks.traces.equations import NotMath, evaluate
from tasks.traces.family import State
from tasks.traces.record import snake
from tasks.verification.case import KELVIN, ROUNDING_CAP, as_dict, as_text, near, response_of, same
from tasks.verification.reading import Stated, Told, quantity
from tasks.verification.state_checks import StateChecks

_DECIMAL = re.compile(r"\d\.\d|\d{3}")


_CLAUSE = re.compile(r"[;\n]|→|⇒|=>|\\Rightarrow|,\s(?=[A-Za-z])")
_EQUALS = re.compile(r"(?<![<>!])[=≈]|\\approx")


class _Symbols(dict[str, float]):
    """The values of the symbols of a family in a solved state, looked up as an equation asks for them; angles in radians.
    KeyError where a symbol stands for several quantities that differ, or for none that is known."""

    def __init__(self, case: TransitionChecks):
        self.case = case

    def __missing__(self, symbol: str) -> float:
        solved, reader = self.case.solved, self.case.reader
        keys = reader.symbols[symbol]
        known = {float(value) for key in keys if isinstance(value := solved.get(key), int | float)}
        if len(known) != 1:
            raise KeyError(symbol)
        value = known.pop()
        return math.radians(value) if reader.dimensions[keys[0]] == "angle" else value


class TransitionChecks(StateChecks):
    def transition(self) -> None:
        rule = as_text(self.tr.get("rule"))
        if rule:
            self.add(
                "rule",
                True if self.reader.rule.search(rule) else None,
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
                    None,
                    "/transition/effect",
                    family.outcome.key,
                    claim,
                    f"the outcome cannot be derived: {self.why_open(family.outcome.key)}",
                )
            else:
                self.add(
                    "effect",
                    claim == outcome,
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
                    False,
                    "/transition/effect",
                    subject,
                    ", ".join(sorted(mentioned)),
                    "the effect is told of another object",
                )
        elif subject and subject in mentioned:
            self.add(
                "subject", True, "/transition/effect", subject, subject, "the effect is told of the object in question"
            )
        for told in self.reader.told(self.effect, self.listed):
            key = self.resolve(told, (*family.derived, *family.givens))
            if key is None and told.keys:
                key = next((k for k in told.keys if k == family.headline), None)
            if key is not None:
                self.judge("effect value", told.stated, key, "/transition/effect")
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
                name, True, pointer, "a known quantity", told.stated, "equals a recomputed value", label="transition"
            )
            return
        near = next((k for k in (self.asked["target"], self.family.headline) if k in keys), None)
        if near is not None:
            self.judge(name, told.stated, near, pointer)

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
                        ok,
                        pointer,
                        self.truth(key),
                        text[max(0, told.start - 30) : told.end],
                        rule,
                        label=label,
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
                True,
                pointer,
                f"{known:.4g}",
                text[max(0, told.start - 30) : told.end],
                "a fact of another object",
                label="object",
            )
            return
        holders = self.holders(told, told.keys[0])
        sure = bool(self.question or self.gold) or "a" not in self.family.roles
        if holders and sure:
            self.add(
                "evidence",
                False,
                pointer,
                f"the {item.name} of the {holders[0]}",
                text[max(0, told.start - 30) : told.end],
                "the fact belongs to another object",
                label="object",
            )
        else:
            self.add(
                "evidence",
                None,
                pointer,
                item.name,
                text[max(0, told.start - 30) : told.end],
                "nothing is known of this",
                label="object",
            )

    def told_change(self) -> None:
        change = self.family.change
        for told in self.reader.told(self.change, self.listed):
            key = self.resolve(told)
            if key is None and change and told.keys:
                key = next((k for k in told.keys if k in change), None)
            if key is not None:
                self.judge("predicted change", told.stated, key, "/state_1/predicted_change")
            elif not told.owner or not told.keys:
                self.unnamed(told, "predicted change", "/state_1/predicted_change")
        outcome = self.solved.get(self.family.outcome.key)
        said = self.reader.stated_outcomes(self.change)
        if outcome is not None and len(said) == 1 and not set(self.reader.outcomes) & {"left", "right", "up", "down"}:
            claim = said.pop()
            self.add(
                "predicted change",
                claim == outcome,
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
                self.judge("new variable", number, key, pointer)
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
                    None if outcome is None else claim == outcome,
                    pointer,
                    outcome,
                    value,
                    "the outcome that follows from the state",
                )

    def intervention(self) -> None:
        stated = as_dict(self.tr.get("intervention"))
        self.stated_response = response_of(as_text(stated.get("response"))) if stated else None
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
                None,
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
                None,
                "/transition/intervention",
                target,
                "",
                f"{target} cannot be derived: {self.why_open(target)}",
            )
            return
        self.response = (
            "stays the same" if near(before, after) else "increases" if abs(after) > abs(before) else "decreases"
        )
        if self.stated_response is not None:
            self.add(
                "intervention",
                self.stated_response == self.response,
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
                ok,
                "/transition/intervention/new_value",
                f"{after:.4g}",
                new,
                f"{target} solved again with {parameter} times {factor:g}",
            )

    def equations(self) -> None:
        text = as_text(self.tr.get("equation"))[:2000]
        if not text:
            return
        values = _Symbols(self)
        decided = False
        for clause in _CLAUSE.split(text):
            decided = self.clause(clause, values) or decided
        if not decided:
            self.add(
                "equation",
                None,
                "/transition/equation",
                "an equation that can be evaluated",
                text,
                "not read as mathematics",
            )

    def clause(self, clause: str, values: Mapping[str, float]) -> bool:
        """One chain of equalities: every part that has a value must have the same."""
        parts = [part.strip() for part in _EQUALS.split(clause) if part.strip()]
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
            self.add(
                "equation",
                self.agree(first, second, result),
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
                self.add(
                    "formula",
                    self.agree(first, second, result),
                    "/transition/equation",
                    f"{one} = {first[0]:.5g}",
                    f"{other}",
                    "the formula with the values of the state",
                )
                decided = True
                break
        if key is not None and result is not None and self.fits(result, key) is not None:
            self.judge("equation result", result, key, "/transition/equation")
            decided = True
        return decided

    def agree(self, first: Sequence[float], second: Sequence[float], result: Stated | None) -> bool:
        """Whether some reading of one side equals some reading of the other, within the tolerance of the result."""
        pairs = [(a, b) for a in first for b in second]
        if result is not None and result.dimension == "temperature":
            return any(abs(a - b) <= KELVIN for a, b in pairs)
        return any(abs(a - b) <= 0.012 * max(abs(a), abs(b)) + 1e-9 or self.rounded(a, b, result) for a, b in pairs)

    def rounded(self, one: float, other: float, result: Stated | None) -> bool:
        return result is not None and abs(one - other) <= min(result.rounding, ROUNDING_CAP * max(abs(one), abs(other)))
