"""Traces that somebody else wrote: the lines of a JSON-lines file in, verdicts, checks and named problems out.

A line is a trace, or an object that carries one: `{"id": ..., "raw": "<text of the model>"}` (also `response`, `text`,
`output`), or `{"id": ..., "trace": {...}}`. Where the bank has the trace that `gold_id` (or the id) names, its gold state is
used. Each line stands by itself: what is wrong with one is named, and the others are verified all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.traces.families import FAMILIES
from tasks.verification.checks.faithfulness import answers_agree
from tasks.verification.decode import MAX_CHARS, Decoded, decode
from tasks.verification.rows import NO_VERDICT, check_rows, verdict_row
from tasks.verification.verdict import INVALID, Gold, Verdict
from tasks.verification.verifier import verify

RAW_FIELDS = ("raw", "response", "text", "output")
DEEPEST = 100  # levels of nesting that are read
Known = Mapping[str, tuple[Gold, Mapping[str, Any]]]  # id -> gold state and trace of a bank


class Problem(NamedTuple):
    """What is wrong with a line."""

    number: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.problem}"


@dataclass
class Verified:
    """Rows of the tables `verdicts` and `checks`; `clusters` names the question behind each verdict."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class _NotVerified(ValueError):
    """Why a line gets no verdict."""


@dataclass(frozen=True)
class _Submission:
    """What a line carries. `place` is the field that the trace was in; empty where the line is the trace."""

    record: Mapping[str, Any]
    trace_id: str
    gold_id: str
    decoded: Decoded
    place: str


def verify_lines(lines: Iterable[tuple[int, str]], gold: Known | None = None, question: bool = True) -> Verified:
    """Verdicts for the traces of (number, line). `gold` holds what is known of some of them; `question=False` leaves the text
    of the question out of the evidence. Never raises on the content of a line."""
    verified, first_line = Verified(), dict[str, int]()
    for number, line in lines:
        if not line.strip():
            continue
        complaints: list[str] = []
        try:
            submission = _read(number, line, complaints)
            if (earlier := first_line.setdefault(submission.trace_id, number)) != number:
                raise _NotVerified(f"/id {submission.trace_id!r} was on line {earlier} already; not verified")
            _verify(submission, (gold or {}).get(submission.gold_id), question, verified, complaints)
        except _NotVerified as error:
            complaints.append(str(error))
        except Exception as error:  # a slip of the verifier costs one line, and is named
            complaints.append(f"unexpected {type(error).__name__}: {error}; not verified")
        verified.problems += [Problem(number, _storable(complaint)) for complaint in complaints]
    return verified


def _read(number: int, line: str, complaints: list[str]) -> _Submission:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _NotVerified(f"not JSON ({error})") from None
    if not isinstance(record, dict):
        raise _NotVerified(f"a {type(record).__name__}, not an object")
    if unfit := _unfit(record):
        raise _NotVerified(f"{unfit}; not verified")
    decoded, place = _carried(record)
    given = record.get("id", record.get("trace_id"))
    if given is None and decoded.trace is not None:
        given = decoded.trace.get("id")
    if given is not None and not isinstance(given, str | int):
        complaints.append(f"/id is a {type(given).__name__}, not a text")
        given = None
    trace_id = str(given) if given is not None else f"line-{number}"
    return _Submission(record, trace_id, str(record.get("gold_id") or trace_id), decoded, place)


def _carried(record: Mapping[str, Any]) -> tuple[Decoded, str]:
    """The trace that a line carries, and the field that it was in."""
    for name in RAW_FIELDS:
        if isinstance(record.get(name), str) and "state_0" not in record:
            decoded = decode(record[name])
            unfit = _unfit(decoded.trace) if decoded.trace is not None else ""
            return (Decoded(None, "none", decoded.repairs, unfit) if unfit else decoded), name
    if isinstance(record.get("trace"), dict):
        return Decoded(record["trace"], "ok"), "trace"
    return Decoded(dict(record), "ok"), ""


def _unfit(value: Any) -> str:
    """Why a JSON value cannot be read or stored, with the place; empty where it can."""
    rest: list[tuple[Any, str, int]] = [(value, "", 0)]
    while rest:
        part, path, depth = rest.pop()
        if depth > DEEPEST:
            return f"{path[:80]} is nested more than {DEEPEST} levels deep"
        if isinstance(part, str):
            if len(part) > MAX_CHARS:
                return f"{path or '/'} holds {len(part):,} characters, more than {MAX_CHARS:,}"
            if _storable(part) is not part:
                return f"{path or '/'} holds half of a character (a lone surrogate)"
        elif isinstance(part, dict):
            if odd := next((key for key in part if _storable(key) is not key), None):
                return _storable(f"{path}/{odd} names a field by half of a character (a lone surrogate)")
            rest += [(inner, f"{path}/{key}", depth + 1) for key, inner in reversed(part.items())]
        elif isinstance(part, list):
            rest += [(inner, f"{path}/{i}", depth + 1) for i, inner in reversed(list(enumerate(part)))]
    return ""


def _storable(text: str) -> str:
    """The text itself; with lone surrogates written out where it has some, which no UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def _verify(
    submission: _Submission,
    known: tuple[Gold, Mapping[str, Any]] | None,
    question: bool,
    verified: Verified,
    complaints: list[str],
) -> None:
    """Add the verdict on one submission to `verified`, and what is wrong with its form to `complaints`."""
    decoded, place = submission.decoded, submission.place
    verdict: Verdict = NO_VERDICT
    matches: bool | None = None
    if decoded.trace is None:
        complaints.append(f"/{place}: {decoded.reason}")
    else:
        trace = _completed(decoded.trace, submission, known)
        complaints += _unknown_family(trace)
        verdict = verify(trace, known[0] if known else None, question=question)
        matches = answers_agree(trace, known[1] if known else submission.record.get("gold_answer"))
        prefix = f"/{place}" if place and place != "trace" else ""
        for check in verdict.checks:
            if check.area == "schema" and check.status == INVALID:
                complaints.append(f"{prefix}{check.pointer}: {check.found}")
    setting = "gold" if known else "trace" if question else "no_question"
    verdict_made = verdict_row(submission.trace_id, setting, verdict, decoded, matches)
    checks_made = check_rows(submission.trace_id, setting, verdict)
    verified.verdicts.append(verdict_made)
    verified.checks += checks_made
    verified.clusters.append(submission.gold_id)


def _completed(
    trace: Mapping[str, Any], submission: _Submission, known: tuple[Gold, Mapping[str, Any]] | None
) -> dict[str, Any]:
    """The trace with the question and the family that it was written for: the bank's where it is known, else the line's."""
    taken_over = ("question", "scenario_family")
    if known:
        return {**trace, **{key: known[1][key] for key in taken_over}}
    if submission.place and "question" not in trace:
        return {**{key: submission.record[key] for key in taken_over if key in submission.record}, **trace}
    return dict(trace)


def _unknown_family(trace: Mapping[str, Any]) -> list[str]:
    family = trace.get("scenario_family")
    if family is None or (isinstance(family, str) and family in FAMILIES):
        return []
    return [f"/scenario_family {family!r:.80} is not known; there are {', '.join(FAMILIES)}"]
