"""The verifier: V(trace) = (z_schema, z_state, z_trans, z_ans, z_faith, labels), with one row for each check.

The trace is read into statements; a reference is taken from the gold state where there is one, else from the question, else
from what most of the trace's own statements say; the family solves the reference, and every statement is held against the
result. What cannot be decided abstains and says why (paper 2, sections 3 and 4, appendix on the verifier; the
recomputation goes beyond it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.traces.families import FAMILIES
from tasks.traces.family import FIRST, SECOND, Family
from tasks.verification.binding import Binding
from tasks.verification.checks import ANY, FAMILY, schema
from tasks.verification.reading import read
from tasks.verification.reference import refer
from tasks.verification.shape import mend
from tasks.verification.verdict import ABSTAIN, AREAS, INVALID, Check, Gold, Verdict, verdict_of


def verify(trace: Any, gold: Gold | None = None, *, question: bool = True) -> Verdict:
    """The verdict on one trace (a JSON object). `question=False` leaves the question text out of the evidence.

    Never raises on content: what cannot be read abstains, what breaks the schema is brought into the shape of a trace
    (`repairs` says how), and is z_schema invalid where that does not do.
    """
    if not isinstance(trace, dict):
        return verdict_of(list(schema.is_object(trace)), None)
    made, repairs = list(schema.form(trace)), tuple[str, ...]()
    if made:
        trace, repairs = mend(trace)
        made = list(schema.form(trace))
    family = _family(trace)
    made += _unknown(trace, question) if family is None else _known(trace, family, gold, question)
    return verdict_of(made, family.name if family else None, repairs)


def _family(trace: Mapping[str, Any]) -> Family | None:
    name = trace.get("scenario_family")
    return FAMILIES.get(name) if isinstance(name, str) else None


def _known(trace: Mapping[str, Any], family: Family, gold: Gold | None, question: bool) -> list[Check]:
    """The checks; where it is open which of two bodies is the first, under the reading that leaves least wrong."""
    names = gold.names if gold else None
    made, binding = _checked(trace, family, gold, question, names)
    if binding.sure or not {FIRST, SECOND} <= binding.names.keys():
        return made
    exchanged = {**binding.names, FIRST: binding.names[SECOND], SECOND: binding.names[FIRST]}
    other, _ = _checked(trace, family, gold, question, exchanged)
    return min(made, other, key=lambda checks: sum(one.status == INVALID for one in checks))


def _checked(
    trace: Mapping[str, Any], family: Family, gold: Gold | None, question: bool, names: Mapping[str, str] | None
) -> tuple[list[Check], Binding]:
    reading, binding = read(trace, family, names, question)
    assert binding is not None
    reference = refer(reading, binding, gold)
    return [made for checker in FAMILY for made in checker(reading, reference)], binding


def _unknown(trace: Mapping[str, Any], question: bool) -> list[Check]:
    reading, _ = read(trace, None, use_question=question)
    made = [one for checker in ANY for one in checker(reading, None)]
    name, rule = trace.get("scenario_family"), "the physics of an unknown family is not recomputed"
    return made + [
        Check("family", area, ABSTAIN, "", "/scenario_family", "a known family", name, rule) for area in AREAS
    ]
