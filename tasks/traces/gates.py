"""Release gates of a trace (paper 2, section 5.1): schema, recomputation, canonical keys. The fourth, human review, is the
stratified sample of `verification.human`.

Recomputation takes the numbers out of the *rendered* trace and goes two ways that do not share code: the family's `solve`
and the equation that the trace states. Both must give the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.traces.bank import RESPONSES
from tasks.traces.equations import NotMath, evaluate
from tasks.traces.family import State
from tasks.traces.pairs import Gate
from tasks.traces.record import Record, key_name, snake
from tasks.traces.schema import problems
from tasks.traces.units import dimension, to_canonical

GATES = ("schema", "recomputation", "keys")


def stated_state(record: Record, trace: Mapping[str, Any]) -> State:
    """The initial state as the rendered trace states it, by canonical key and in canonical units."""
    family, state = record.family, dict[str, float | str]()
    labels = {key_name(family, key, record.names): key for key in (*family.givens, *family.constants)}
    labels |= {snake(key): key for key in family.conditions}
    for label, value in trace["state_0"]["variables"].items():
        if label in labels:
            state[labels[label]] = to_canonical(value["value"], value["unit"]) if isinstance(value, dict) else value
    return state


def _near(one: float, other: float, kind: str) -> bool:
    return abs(one - other) <= (0.8 if kind == "temperature" else 0.012 * max(abs(one), abs(other)))


def schema(record: Record, trace: Mapping[str, Any]) -> str:
    """What the release schema objects to; empty where nothing."""
    return "; ".join(problems(trace, strict=True))


def recomputation(record: Record, trace: Mapping[str, Any]) -> str:
    """Why the answer does not follow from the stated variables; empty where it does."""
    family = record.family
    solved = family.solve(stated_state(record, trace))
    key = record.target if record.target in family.quantities else family.headline
    if key not in solved:
        return f"{key} cannot be derived from the stated variables"
    value, kind = float(solved[key]), dimension(family.quantities[key].unit)
    try:
        by_equation = evaluate(str(trace["transition"]["equation"]).split(" = ")[2], {})
    except NotMath as error:
        return f"the equation cannot be evaluated: {error}"
    if not _near(value, by_equation, kind):
        return f"solve gives {key} = {value:.5g}, the equation gives {by_equation:.5g}"
    answer = trace["answer"]
    if record.question_type == "numeric":
        stated = to_canonical(answer["value"], answer["unit"])
        return "" if _near(stated, value, kind) else f"the answer is {stated:.5g}, {key} is {value:.5g}"
    if record.question_type == "qualitative":
        outcome = solved.get(family.outcome.key)
        return "" if answer["value"] == outcome else f"the answer is {answer['value']}, the outcome is {outcome}"
    assert record.intervened is not None
    parameter, factor = record.intervened
    after = float(family.solve({**stated_state(record, trace), parameter: float(solved[parameter]) * factor})[key])
    alike = abs(after - value) <= 1e-9 * max(abs(after), abs(value))
    truth = RESPONSES[2] if alike else RESPONSES[0] if abs(after) > abs(value) else RESPONSES[1]
    return "" if answer["value"] == truth else f"the answer is {answer['value']}, {key} {truth}"


def keys(record: Record, trace: Mapping[str, Any]) -> str:
    """Parameters on which question, variables and answer do not agree; empty where they do. What the picture shows is
    checked when it is drawn (`diagrams.draw`)."""
    family, complaints = record.family, []
    stated = stated_state(record, trace)
    for key in family.givens:
        text = str(record.value(key))
        if key not in stated:
            complaints.append(f"{key} is not among the variables")
        if f" {text}" not in trace["question"]:
            complaints.append(f"{key} = {text} is not in the question")
    for key in family.conditions:
        if key not in stated:
            complaints.append(f"the condition {key} is not among the variables")
        elif str(stated[key]) not in str(trace["question"]):
            complaints.append(f"{key} = {stated[key]} is not in the question")
    if record.question_type == "numeric":
        if family.quantities[record.target].name not in str(trace["question"]):
            complaints.append(f"the question does not ask for the {family.quantities[record.target].name}")
        if key_name(family, record.target, record.names) not in trace["state_1"]["new_variables"]:
            complaints.append(f"{record.target} is not among the new variables")
    return "; ".join(complaints)


def check_trace(record: Record, trace: Mapping[str, Any]) -> list[Gate]:
    """All automated gates of one trace."""
    results = (
        ("schema", schema(record, trace)),
        ("recomputation", recomputation(record, trace)),
        ("keys", keys(record, trace)),
    )
    return [Gate(record.trace_id, name, not detail, detail) for name, detail in results]
