"""The answer against what the trace itself says (paper 2, appendix on the verifier: faithfulness)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tasks.traces.families import FAMILIES
from tasks.verification.asked import COUNTERFACTUAL
from tasks.verification.fields import as_word
from tasks.verification.lexicon import Lexicon, lexicon_of
from tasks.verification.quantities import Stated, near, quantity, same
from tasks.verification.reading import Reading, StatedAnswer, read_answer
from tasks.verification.reference import Reference
from tasks.verification.verdict import Check, check
from tasks.verification.words import response_of

Statement = tuple[Any, str | None]  # (value, unit)


def conclusion(reading: Reading, reference: Reference | None) -> Iterator[Check]:
    """The derivation concludes the answer."""
    if reading.conclusion is None or reading.answer.value is None:
        return
    ok = agrees((reading.conclusion, None), reading.answer, reference.lexicon if reference else None)
    rule = "the derivation concludes the answer"
    yield check("conclusion", ok, "/answer/value", reading.conclusion, reading.answer.value, rule)


class Own(NamedTuple):
    """What the trace itself gives as the quantity asked for, and whether at least half of what can be compared agrees with
    its answer (None where nothing can)."""

    statements: tuple[Statement, ...]
    faithful: bool | None


def own_statements(reading: Reading, reference: Reference, target: str | None) -> Own:
    """The trace's own statements of `target`, compared with its answer."""
    statements = _own(reading, reference, target)
    item = reference.family.quantities.get(target or "")
    sizes = item is not None and item.either_sign
    agree = [agrees(statement, reading.answer, reference.lexicon, sizes) for statement in statements]
    yes, no = agree.count(True), agree.count(False)
    return Own(tuple(statements), yes >= no if yes or no else None)


def answer_in_trace(own: Own, reading: Reading) -> Iterator[Check]:
    """Most of what the trace gives as the quantity asked for is the answer."""
    if own.statements:
        shown = ", ".join(f"{value} {unit or ''}".strip() for value, unit in own.statements[:3])
        rule = "what most of the trace says"
        yield check("answer in trace", own.faithful, "/answer/value", shown, reading.answer.value, rule)


def _own(reading: Reading, reference: Reference, target: str | None) -> list[Statement]:
    """Result, explanation, conclusion; or response or outcome."""
    statements: list[Statement] = []
    if reference.asked.kind == COUNTERFACTUAL:
        if reading.intervention is not None and reading.intervention.response is not None:
            statements.append((reading.intervention.response, None))
    elif target is not None and target in reference.family.quantities:
        dimension = reference.lexicon.dimensions[target]
        own = (stated for stated in _own_numbers(reading, target) if stated.dimension in ("", dimension))
        statements += [(stated.raw, stated.unit or None) for stated in own]
    else:
        claims = (reading.result_outcome, reference.lexicon.outcome(reading.effect.text))
        statements += [(claim, None) for claim in claims if claim]
    if reading.conclusion is not None:
        statements.append((reading.conclusion, None))
    return statements


def _own_numbers(reading: Reading, target: str) -> Iterator[Stated]:
    """What the new variables, and last the explanation and the derivation, give as the quantity."""
    if target in reading.result_numbers:
        yield reading.result_numbers[target]
    for text in (reading.explanation, reading.derivation):
        named = (number for _, number in reversed(text.numbers) if target in number.candidates)
        if (number := next(named, None)) is not None:
            yield number.stated


def agrees(statement: Statement, answer: StatedAnswer, lexicon: Lexicon | None, sizes: bool = False) -> bool | None:
    """Whether a statement says the same as the answer; None where that cannot be told. `sizes`: signs are a convention."""
    first, second = quantity(*statement), answer.number
    if first and second:
        if sizes:
            first, second = (one._replace(value=abs(one.value), raw=abs(one.raw)) for one in (first, second))
        if first.dimension and second.dimension and first.dimension != second.dimension:
            return False
        if not first.dimension or not second.dimension:
            return near(first.raw, second.raw) or near(first.value, second.value)
        return same(first, second.value, second.dimension) or same(second, first.value, first.dimension)
    if (first is None) != (second is None):
        return None
    return _words_agree(as_word(statement[0]), answer.word, lexicon)


def answers_agree(trace: Mapping[str, Any], gold: Any) -> bool | None:
    """Whether a trace gives the answer of a gold trace (or a bare gold answer); None where there is none, or it cannot be told."""
    if gold is None:
        return None
    family = trace.get("scenario_family")
    known = isinstance(family, str) and family in FAMILIES
    own, due = (read_answer(one) for one in (trace, gold if isinstance(gold, dict) else {"answer": gold}))
    if own.value is None or due.value is None:
        return None
    return agrees((due.value, due.unit), own, lexicon_of(str(family)) if known else None)


def _words_agree(one: str, other: str, lexicon: Lexicon | None) -> bool | None:
    if one.strip(" .\"'").lower() == other.strip(" .\"'").lower():
        return True
    for read in (lexicon.outcome, response_of) if lexicon else (response_of,):
        first, second = read(one), read(other)
        if first and second:
            return first == second
    return None
