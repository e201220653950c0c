"""A trace as a record of typed statements, and its one rendering to JSON.

A text is a `Sentence`: a template and its slots. A perturbation replaces slots or fields of the record; chosen and
rejected traces then go through the same rendering, so that neither grammar nor number format nor field order can tell
them apart.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tasks.traces.family import Family, State
from tasks.traces.units import from_canonical, to_canonical


class Value(NamedTuple):
    """A number as a trace states it: three significant digits, in `unit`."""

    number: float
    unit: str

    def __str__(self) -> str:
        number = plain(self.number)
        if not self.unit:
            return number
        return f"{number}{self.unit}" if self.unit == "°" else f"{number} {self.unit}"


def significant(number: float, digits: int = 3) -> float:
    """`number` to so many significant digits."""
    return float(f"{number:.{digits}g}")


def plain(number: float, digits: int = 3) -> str:
    """As people write it: no exponent, no trailing zeros."""
    text = f"{number:.{digits}g}"
    if "e" in text:
        text = f"{float(text):.12f}".rstrip("0").rstrip(".")
    return text


def stated(canonical: float, unit: str) -> Value:
    """A canonical number as a trace states it."""
    return Value(significant(from_canonical(canonical, unit)), unit)


def canonical(value: Value) -> float:
    return to_canonical(value.number, value.unit)


Slot = Value | str


@dataclass(frozen=True)
class Sentence:
    template: str
    slots: tuple[tuple[str, Slot], ...] = ()

    @functools.cached_property
    def text(self) -> str:
        text = self.template.format_map({key: str(value) for key, value in self.slots}) if self.slots else self.template
        return _ARTICLE.sub(r"\1n", text)

    def __str__(self) -> str:
        return self.text

    def get(self, key: str) -> Slot | None:
        return next((value for name, value in self.slots if name == key), None)

    def put(self, **values: Slot) -> Sentence:
        return replace(self, slots=tuple((key, values.get(key, value)) for key, value in self.slots))


_ARTICLE = re.compile(r"\b(a|(?<!\d )A)(?= [aeio])")


class Thing(NamedTuple):
    name: str
    attributes: tuple[tuple[str, Slot], ...]


class Relation(NamedTuple):
    type: str
    first: str
    second: str


class Force(NamedTuple):
    name: str
    target: str
    direction: str
    magnitude: Value
    reversible: bool


class Intervention(NamedTuple):
    variable: str
    change: str
    response: str
    new_value: Value


@dataclass(frozen=True)
class Record:
    """One trace. `names` maps roles to object names; `state` is what the scene really is, in canonical units; `target`
    is the quantity (or the outcome) that the question asks for."""

    trace_id: str
    family: Family
    index: int
    question_type: str  # numeric, qualitative, counterfactual
    level: str  # easy, medium, hard
    state: State
    names: dict[str, str]
    units: dict[str, str]
    target: str
    intervened: tuple[str, float] | None  # (parameter, factor)
    question: Sentence
    objects: tuple[Thing, ...]
    relations: tuple[Relation, ...]
    forces: tuple[Force, ...]
    variables: tuple[tuple[str, Slot], ...]
    assumptions: tuple[str, ...]
    rule: str
    effect: Sentence
    equation: Sentence
    evidence: tuple[Sentence, ...]
    change: Sentence
    new_variables: tuple[tuple[str, Slot], ...]
    derivation: Sentence
    answer: Slot
    explanation: Sentence
    intervention: Intervention | None

    def value(self, key: str) -> Value:
        """How this trace states the quantity `key`, which may be given or derived."""
        number = self.state[key] if key in self.state else self.family.solve(self.state)[key]
        return stated(float(number), self.units[key])


def snake(text: str) -> str:
    return text.replace(" ", "_").replace("-", "_")


def key_name(family: Family, key: str, names: dict[str, str]) -> str:
    """The JSON key of a quantity: its name, with its owner where two bodies have a quantity of that name."""
    quantity = family.quantities.get(key)
    if quantity is None:
        return snake(key)
    label = snake(quantity.name)
    twins = [other for other in family.quantities.values() if other.name == quantity.name]
    return f"{label}_of_{snake(names[quantity.owner])}" if len(twins) > 1 and quantity.owner else label


def _json(value: Slot) -> Any:
    if isinstance(value, Value):
        number = int(value.number) if float(value.number).is_integer() else value.number
        return {"value": number, "unit": value.unit}
    return value


def render(record: Record) -> dict[str, Any]:
    """The trace as the JSON object that `traces.schema` describes."""
    transition: dict[str, Any] = {
        "rule": record.rule,
        "effect": str(record.effect),
        "equation": str(record.equation),
        "evidence": [str(fact) for fact in record.evidence],
    }
    if record.intervention is not None:
        transition["intervention"] = {
            "variable": record.intervention.variable,
            "change": record.intervention.change,
            "response": record.intervention.response,
            "new_value": _json(record.intervention.new_value),
        }
    answer = _json(record.answer)
    if not isinstance(answer, dict):
        answer = {"value": answer, "unit": None}
    return {
        "id": record.trace_id,
        "scenario_family": record.family.name,
        "question": str(record.question),
        "state_0": {
            "objects": [
                {"name": thing.name, "attributes": {key: _json(value) for key, value in thing.attributes}}
                for thing in record.objects
            ],
            "relations": [
                {"type": relation.type, "args": [relation.first, relation.second]} for relation in record.relations
            ],
            "forces": [
                {
                    "name": force.name,
                    "target": force.target,
                    "direction": force.direction,
                    "magnitude": _json(force.magnitude)["value"],
                    "unit": force.magnitude.unit,
                }
                for force in record.forces
            ],
            "variables": {key: _json(value) for key, value in record.variables},
            "assumptions": list(record.assumptions),
        },
        "transition": transition,
        "state_1": {
            "predicted_change": str(record.change),
            "new_variables": {key: _json(value) for key, value in record.new_variables},
        },
        "derivation": str(record.derivation),
        "answer": {**answer, "explanation": str(record.explanation)},
        "metadata": {"difficulty": record.level, "task_type": record.question_type, "source": "synthetic"},
    }


def pointers(before: Any, after: Any, path: str = "") -> list[str]:
    """JSON pointers (RFC 6901) at which two JSON values differ, down to the smallest part."""
    if before == after:
        return []
    if type(before) is type(after):
        if isinstance(before, dict):
            places = []
            for key in [*before, *(key for key in after if key not in before)]:
                here = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
                if key in before and key in after:
                    places += pointers(before[key], after[key], here)
                else:
                    places.append(here)
            return places
        if isinstance(before, list) and len(before) == len(after):
            return [p for i, pair in enumerate(zip(before, after, strict=True)) for p in pointers(*pair, f"{path}/{i}")]
    return [path]
