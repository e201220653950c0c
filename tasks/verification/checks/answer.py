"""The answer: against what the trace itself gives, then against the recomputed truth (paper 2, answer verifier)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tasks.verification.asked import COUNTERFACTUAL, QUALITATIVE
from tasks.verification.checks.faithfulness import Own, answer_in_trace, own_statements
from tasks.verification.judging import fits, reason, why_open
from tasks.verification.quantities import near
from tasks.verification.reading import Reading
from tasks.verification.reference import Reference
from tasks.verification.verdict import Check, check
from tasks.verification.words import response_of


class _Truth(NamedTuple):
    """Whether the answer is right (None: open), and what is."""

    ok: bool | None
    expected: float | str | None = None


def answer(reading: Reading, reference: Reference) -> Iterator[Check]:
    stated = reading.answer
    if stated.value is None:
        yield check("answer", None, "/answer/value", "an answer", "none", "no answer is given")
        return
    target = answered_target(reading, reference)
    own = own_statements(reading, reference, target)
    yield from answer_in_trace(own, reading)
    truth = _truth(reading, reference, target)
    rule = "the answer solved again" if truth.ok is not None else _why_open(reference, target)
    expected = f"{truth.expected:.4g}" if isinstance(truth.expected, float | int) else str(truth.expected)
    found, label = f"{stated.value} {stated.unit or ''}".strip(), _label(reading, reference, target, truth, own)
    yield check("answer", truth.ok, "/answer/value", expected, found, rule, label)


def answered_target(reading: Reading, reference: Reference) -> str | None:
    """The quantity (or outcome) that the answer is one of: what is asked for, else what the trace gives with this value."""
    again, number = reference.counterfactual, reading.answer.number
    target = again.target if again else reference.asked.target
    if target is not None or number is None:
        return target
    alike = (
        key
        for key, result in reading.result_numbers.items()
        if result.dimension == number.dimension and near(result.value, number.value)
    )
    return next(alike, None)


def _truth(reading: Reading, reference: Reference, target: str | None) -> _Truth:
    number, kind = reading.answer.number, reference.asked.kind
    response = reference.counterfactual.response if reference.counterfactual else None
    if kind == COUNTERFACTUAL and (number is None or response):
        said = response_of(reading.answer.word)
        return _Truth(None if said is None or response is None else said == response, response)
    if number is None:
        return _outcome(reading, reference)
    if target is not None and target in reference.family.quantities:
        return _Truth(fits(reference, number, target), reference.solved.get(target))
    if kind != QUALITATIVE and number.dimension:
        dimensions = reference.lexicon.dimensions
        keys = (key for key, d in dimensions.items() if key in reference.solved and d == number.dimension)
        return _Truth(True if any(fits(reference, number, key) for key in keys) else None)
    return _Truth(None)


def _outcome(reading: Reading, reference: Reference) -> _Truth:
    """An answer in words: the outcome, or yes and no to a question that names one."""
    answer, expected = reading.answer, reference.outcome
    said = reference.lexicon.outcome(answer.word)
    if said is not None:
        return _Truth(None if expected is None else said == expected, expected)
    word = answer.word.lower()
    if expected is not None and isinstance(answer.value, bool | str) and word in ("yes", "no"):
        named = reference.lexicon.outcome(reading.question.rsplit(".", 1)[-1])
        if named is not None:
            return _Truth((named == expected) == (word == "yes"), expected)
    return _Truth(None, expected)


def _label(reading: Reading, reference: Reference, target: str | None, truth: _Truth, own: Own) -> str:
    """The failure that a wrong answer stands for: of the trace's reasoning where it follows from the trace, else of its
    faithfulness."""
    if not own.faithful:
        return "faithfulness"
    label = "intervention" if reference.asked.kind == COUNTERFACTUAL else "transition"
    number = reading.answer.number
    is_number = target is not None and isinstance(reference.solved.get(target), float | int)
    if truth.ok is False and number is not None and target is not None and is_number:
        why, _ = reason(reference, number, target, label)
        return why if why == "unit_scale" else label
    return label


def _why_open(reference: Reference, target: str | None) -> str:
    if target is None:
        return "what is asked is not known"
    return f"the answer cannot be derived: {why_open(reference, target)}"
