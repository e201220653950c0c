"""The verifier: V(trace) = (z_schema, z_state, z_trans, z_ans, z_faith, labels), with one row for each check.

The trace is read into statements; a reference state is taken from the gold state where there is one, else from the
question, else from what most of the trace's own statements say; the family solves the reference, and every statement is
held against the result. What cannot be decided abstains and says why (paper 2, sections 3 and 4, appendix on the
verifier; the recomputation goes beyond it).
"""

from __future__ import annotations

from typing import Any

from tasks.traces.families import FAMILIES
from tasks.traces.schema import problems
from tasks.verification.answer_checks import AnswerChecks
from tasks.verification.case import Case
from tasks.verification.decode import control_characters
from tasks.verification.verdict import ABSTAIN, AREAS, INVALID, LABELS, VALID, Check, Gold, Verdict

_SUBSTANTIAL = frozenset(
    (
        "variable",
        "attribute",
        "condition",
        "relation",
        "force direction",
        "force magnitude",
        "force body",
        "effect",
        "effect value",
        "equation",
        "formula",
        "equation result",
        "new variable",
        "predicted change",
        "answer",
        "answer in trace",
        "conclusion",
        "intervention",
        "entity",
    )
)


def _zs(checks: list[Check]) -> dict[str, str]:
    """z of every area: invalid where a check is, else valid where a check that says something substantial is."""
    found = dict.fromkeys(AREAS, ABSTAIN)
    for check in checks:
        if check.status == INVALID:
            found[check.area] = INVALID
        elif check.status == VALID and found[check.area] == ABSTAIN and check.name in _SUBSTANTIAL:
            found[check.area] = VALID
    return found


def _schema(pointer: str, expected: str, found: str, rule: str) -> Check:
    return Check("schema", "schema", INVALID, "", pointer, expected, found, rule)


def verify(trace: Any, gold: Gold | None = None, *, question: bool = True) -> Verdict:
    """The verdict on one trace (a JSON object). `question=False` leaves the question text out of the evidence.

    Never raises on content: what cannot be read abstains, what breaks the schema is z_schema invalid.
    """
    if not isinstance(trace, dict):
        check = _schema("/", "an object", type(trace).__name__, "a trace is a JSON object")
        return Verdict(INVALID, ABSTAIN, ABSTAIN, ABSTAIN, ABSTAIN, (), (check,))
    name = trace.get("scenario_family")
    family = FAMILIES.get(name) if isinstance(name, str) else None
    checks = []
    for text in problems(trace):
        pointer, _, complaint = text.partition(": ")
        checks.append(_schema(pointer, "the trace schema", complaint[:200], "JSON Schema Draft 7"))
    for pointer in control_characters(trace.get("transition", {}), "/transition"):
        checks.append(_schema(pointer, "text", "control characters", "a backslash was lost in decoding"))
    z_schema = INVALID if checks else VALID
    case: Case
    if family is not None:
        case = physics = AnswerChecks(trace, gold, family, question)
        physics.state()
        physics.transition()
        physics.faith_words()
        physics.answers()
    else:
        case = Case(trace, None, None, question)
        case.entities()
        case.relations(())
        case.temporal_words()
        case.faith_words()
        rule = "the physics of an unknown family is not recomputed"
        for area in AREAS:
            case.checks.append(Check("family", area, ABSTAIN, "", "/scenario_family", "a known family", name, rule))
    zs = _zs(case.checks)
    found = {check.label for check in case.checks if check.status == INVALID}
    labels = tuple(label for label in LABELS if label in found)
    known = family.name if family else None
    z = (zs["state"], zs["trans"], zs["ans"], zs["faith"])
    return Verdict(z_schema, *z, labels, (*checks, *case.checks), known)
