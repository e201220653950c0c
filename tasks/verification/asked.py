"""What a question asks for: gold knows it; else the question's last sentence, else the trace's own words say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tasks.verification.binding import Binding
from tasks.verification.fields import as_text
from tasks.verification.reading import Reading
from tasks.verification.verdict import Gold

NUMERIC, QUALITATIVE, COUNTERFACTUAL = "numeric", "qualitative", "counterfactual"
FACTORS = {"doubled": 2.0, "twice": 2.0, "tripled": 3.0, "quadrupled": 4.0, "halved": 0.5, "half": 0.5}
_IF = re.compile(
    r"\bif (?:the |its )?(.+?) (?:were|was|is|are|had been) (doubled|tripled|quadrupled|halved|twice|half)", re.I
)
_WOULD = re.compile(r"would (?:the |its )?(.+?) (?:increase|decrease|change|be\b|rise|grow|stay)", re.I)
_WOULD_BE = re.compile(r"(?:^|, )(?:the )?([^,;]+?) would be\b", re.I)
_EQUALS = re.compile(r"^(?:the )?([^,;=]+?) (?:equals|is|=)\b", re.I)


@dataclass(frozen=True)
class Asked:
    """`kind` is one of the three above, or None; `target` a quantity or the outcome's key; a counterfactual multiplies
    `parameter` by `factor`; `objects` are those that the asking sentence names."""

    kind: str | None = None
    target: str | None = None
    parameter: str | None = None
    factor: float = 1.0
    objects: frozenset[str] = frozenset()


def asked_of(reading: Reading, binding: Binding, gold: Gold | None) -> Asked:
    """What the trace was asked."""
    if gold is not None:
        parameter, factor = gold.intervened or (None, 1.0)
        return Asked(gold.question_type, gold.target, parameter, factor)
    question = reading.question.strip()
    sentence = question[max(question.rfind(mark) for mark in (". ", "! ", "; ")) + 1 :].strip()
    return _by_question(sentence, reading, binding) if sentence else _by_trace(reading, binding)


def _by_trace(reading: Reading, binding: Binding) -> Asked:
    match = _WOULD_BE.search(reading.explanation.text) or _EQUALS.search(reading.explanation.text)
    target = binding.phrase(match[1]) if match else None
    stated = reading.intervention
    if stated is None:
        return Asked(target=target)
    word = next((word for word in FACTORS if word in stated.change.lower()), None)
    factor = FACTORS[word] if word else 1.0
    return Asked(COUNTERFACTUAL, target, binding.phrase(as_text(stated.variable)), factor)


def _by_question(sentence: str, reading: Reading, binding: Binding) -> Asked:
    objects = frozenset(binding.mentioned(sentence))
    if change := _IF.search(sentence):
        would = _WOULD.search(sentence)
        target = binding.phrase(would[1]) if would else None
        return Asked(COUNTERFACTUAL, target, binding.phrase(change[1]), FACTORS[change[2].lower()], objects)
    target = binding.phrase(sentence)
    if reading.answer.number is not None:
        return Asked(NUMERIC, target, objects=objects)
    if target is None or binding.lexicon.outcome(reading.answer.word) is not None:
        target = binding.family.outcome.key
    return Asked(QUALITATIVE, target, objects=objects)
