"""What the scene is taken to be, and how a number is judged against it.

The reference state is the gold state where there is one, else what the question says, else what most of the trace's own
statements say. The family solves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tasks.traces.family import Family, State
from tasks.traces.record import snake
from tasks.traces.units import from_canonical
from tasks.verification.case import Case, as_dict, as_list, as_text, as_unit, as_word, first_mentions, near, same
from tasks.verification.reading import Reader, Stated, Told, occurrences, quantity, reader_of
from tasks.verification.verdict import CHECKS, Expected, Gold

FACTOR_WORDS = {"doubled": 2.0, "twice": 2.0, "tripled": 3.0, "quadrupled": 4.0, "halved": 0.5, "half": 0.5}
_IF = re.compile(
    r"\bif (?:the |its )?(.+?) (?:were|was|is|are|had been) (doubled|tripled|quadrupled|halved|twice|half)", re.I
)
_WOULD = re.compile(r"would (?:the |its )?(.+?) (?:increase|decrease|change|be\b|rise|grow|stay)", re.I)
_WOULD_BE = re.compile(r"(?:^|, )(?:the )?([^,;]+?) would be\b", re.I)
_EQUALS = re.compile(r"^(?:the )?([^,;=]+?) (?:equals|is|=)\b", re.I)


class Reference(Case):
    """A trace of a known family, read into statements, with its reference state solved."""

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

    def assign_roles(self) -> dict[str, str]:
        """Which object plays which role: by the names that the family gives, in the order in which the question mentions
        them; else by the words that people use for that role."""
        free = [name for name in self.objects if name]
        roles: dict[str, str] = {}
        if self.question:
            text, order = self.question.lower(), self.reader.role_order
            rank = first_mentions(text, free)
        else:  # the effect is told of the subject; what takes part is spoken of more often than what stands by
            text, subject = self.effect.lower(), self.family.subject
            order = [subject, *(role for role in self.reader.role_order if role != subject)]
            told = [self.change, self.derivation, *self.evidence]
            told += [as_text(as_dict(force).get("target")) for force in as_list(self.s0.get("forces"))]
            counts = [name for _, _, name in occurrences(" ; ".join(told).lower(), free)]
            keys = " ; ".join(self.variables).replace("_", " ").lower()
            rank = {name: (at, -counts.count(name)) for name, (at, _) in first_mentions(keys, free).items()}
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
                self.add("unit known", None, pointer, "a unit", value.get("unit"), "the unit is not known")
            else:
                self.unread.append(label)
        for i, item in enumerate(as_list(self.s0.get("objects"))):
            name = as_text(as_dict(item).get("name"))
            attributes = as_dict(as_dict(item).get("attributes"))
            role = self.role_of.get(name.lower())
            for label, value in attributes.items():
                pointer = f"/state_0/objects/{i}/attributes/{label}"
                number = quantity(value, as_unit(attributes.get(f"{label}_unit")))
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
        if not told.keys:
            return None
        dimensions, dimension = self.reader.dimensions, told.stated.dimension
        keys = [k for k in told.keys if (not dimension or dimensions[k] == dimension) and (among is None or k in among)]
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
        question = self.question.strip()
        sentence = question[max(question.rfind(mark) for mark in (". ", "! ", "; ")) + 1 :].strip()
        found: dict[str, Any] = {
            "type": None,
            "target": None,
            "parameter": None,
            "factor": 1.0,
            "objects": self.mentioned(sentence),
        }
        if not sentence:
            stated = as_dict(self.tr.get("intervention"))
            if stated:
                word = next((w for w in FACTOR_WORDS if w in as_text(stated.get("change")).lower()), None)
                found |= {"type": "counterfactual", "parameter": self.named(as_text(stated.get("variable")))}
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
        numeric = quantity(self.answer.get("value"), as_unit(self.answer.get("unit"))) is not None
        if (found["target"] is None and not numeric) or (
            not numeric and self.outcome_of(as_word(self.answer.get("value"))) is not None
        ):
            found["target"] = self.family.outcome.key
        found["type"] = "numeric" if numeric else "qualitative"
        return found

    def mentioned(self, text: str) -> set[str]:
        return {name for _, _, name in occurrences(text.lower(), self.objects)}

    def named(self, text: str) -> str | None:
        """The quantity that a phrase names, by its longest name and its owner."""
        matches = self.reader.name_pattern.findall(text.lower())
        if not matches:
            return None
        keys = self.reader.names[max(matches, key=len)]
        owners = {self.role_of.get(name.lower()) for name in self.mentioned(text)}
        mine = [key for key in keys if self.family.quantities[key].owner in owners]
        return mine[0] if mine else keys[0] if len(keys) == 1 else None

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
                    if key not in state
                    and key not in family.constants
                    and told.stated.dimension
                    and self.reader.dimensions[key] == told.stated.dimension
                ]
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
            if ratio > 0 and any(near(ratio, 10.0**k) for k in (-6, -4, -3, -2, -1, 1, 2, 3, 4, 6)):
                return "unit_scale", "off by a power of ten"
            if near(ratio, -1.0):
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

    def judge(self, name: str, stated: Stated, key: str, pointer: str) -> bool | None:
        """Hold a stated number against the recomputed quantity `key`."""
        ok = self.fits(stated, key)
        if ok is None:
            self.add(name, None, pointer, key, stated, f"{key} cannot be derived: {self.why_open(key)}")
            return None
        label, rule = (None, "equals the recomputed value") if ok else self.reason(stated, key, CHECKS[name][1])
        self.add(name, ok, pointer, self.truth(key), stated, rule, label=label)
        return ok

    def truth(self, key: str) -> Expected:
        """The recomputed quantity, as a check shows it."""
        return Expected(key, float(self.solved[key]), self.family.quantities[key].unit)

    def why_open(self, key: str) -> str:
        missing = self.family.missing(self.reference, key)
        return f"{', '.join(missing)} not given" if missing else "no solution"
