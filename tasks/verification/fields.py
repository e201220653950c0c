"""The parts of a trace, each of the type that it should have: what has another type counts as missing.

Reading starts from here, so that nothing below asks again whether a list is a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.traces import latex
from tasks.verification.quantities import point_for_comma

LONGEST = 20_000  # characters of one field that are read


_PLAIN = frozenset("\\${,").isdisjoint


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """A text as it is read: without LaTeX, with decimal points."""
    if not isinstance(value, str):
        return ""
    return value if _PLAIN(value) and len(value) <= LONGEST else point_for_comma(latex.plain(value[:LONGEST]))


def as_unit(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_word(value: Any) -> str:
    """A value as a word of an answer."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Fields:
    """A trace's parts. `answer` is an object even where the trace gives a bare value; `question` is empty where it is left
    out of the evidence."""

    question: str
    objects: tuple[tuple[str, dict[str, Any]], ...]  # (name, attributes)
    relations: tuple[tuple[str, tuple[str, ...]], ...]  # (type, arguments)
    forces: tuple[dict[str, Any], ...]
    variables: dict[str, Any]
    assumptions: tuple[str, ...]
    rule: str
    effect: str
    equation: str
    evidence: tuple[str, ...]
    intervention: dict[str, Any]
    change: str
    new_variables: dict[str, Any]
    derivation: str
    answer: dict[str, Any]
    explanation: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the objects, as they are listed."""
        return tuple(name for name, _ in self.objects)


def _attributes(item: dict[str, Any]) -> dict[str, Any]:
    """What is said of an object, under `attributes` or beside its name."""
    attributes = as_dict(item.get("attributes"))
    if len(item) <= 2 and "attributes" in item:
        return attributes
    beside = {key: value for key, value in item.items() if key not in ("name", "attributes")}
    return {**beside, **attributes}


def fields_of(trace: Mapping[str, Any], use_question: bool) -> Fields:
    before, transition, after = (as_dict(trace.get(part)) for part in ("state_0", "transition", "state_1"))
    answer = trace.get("answer")
    answer = answer if isinstance(answer, dict) else {"value": answer}
    evidence = transition.get("evidence")
    objects = [as_dict(item) for item in as_list(before.get("objects"))]
    relations = [as_dict(item) for item in as_list(before.get("relations"))]
    return Fields(
        question=as_text(trace.get("question")) if use_question else "",
        objects=tuple((as_text(item.get("name")), _attributes(item)) for item in objects),
        relations=tuple(
            (as_text(item.get("type")), tuple(map(as_text, as_list(item.get("args"))))) for item in relations
        ),
        forces=tuple(map(as_dict, as_list(before.get("forces")))),
        variables=as_dict(before.get("variables")),
        assumptions=tuple(map(as_text, as_list(before.get("assumptions")))),
        rule=as_text(transition.get("rule")),
        effect=as_text(transition.get("effect")),
        equation=as_text(transition.get("equation")),
        evidence=tuple(map(as_text, evidence if isinstance(evidence, list) else [evidence])),
        intervention=as_dict(transition.get("intervention")),
        change=as_text(after.get("predicted_change")),
        new_variables=as_dict(after.get("new_variables")),
        derivation=as_text(trace.get("derivation")),
        answer=answer,
        explanation=as_text(answer.get("explanation")),
    )
