"""Traces that somebody else wrote: a JSON-lines file in, verdicts, checks and metrics out.

A line is a trace, or an object that carries one: `{"id": ..., "raw": "<text of the model>"}` (also `response`, `text`,
`output`), or `{"id": ..., "trace": {...}}`. Where the bank has the trace that `gold_id` (or the id) names, its gold state is
used. What is wrong with the file is collected, by line and field; the rest is verified all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.traces.families import FAMILIES
from tasks.verification.decode import MAX_CHARS, Decoded, decode
from tasks.verification.rows import NO_VERDICT, check_rows, verdict_row
from tasks.verification.verdict import Gold, Verdict
from tasks.verification.verifier import verify

RAW_FIELDS = ("raw", "response", "text", "output")


@dataclass
class Verified:
    """`problems` are complaints about the file, each naming its line; `clusters` the question behind each verdict."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _too_long(value: Any, path: str = "") -> Iterator[str]:
    """Fields whose text is longer than is read."""
    if isinstance(value, str) and len(value) > MAX_CHARS:
        yield f"{path or '/'} holds {len(value):,} characters, more than {MAX_CHARS:,}"
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _too_long(part, f"{path}/{key}")
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _too_long(part, f"{path}/{i}")


def _trace_of(record: Mapping[str, Any]) -> tuple[Decoded, str | None]:
    """The trace that a line carries, and the field it was in (None: the line itself)."""
    for name in RAW_FIELDS:
        if isinstance(record.get(name), str) and "state_0" not in record:
            return decode(record[name]), name
    if isinstance(record.get("trace"), dict):
        return Decoded(record["trace"], "ok"), "trace"
    return Decoded(dict(record), "ok"), None


def verify_lines(
    lines: Iterable[str], gold: Mapping[str, tuple[Gold, Mapping[str, Any]]] | None = None, question: bool = True
) -> Verified:
    """Verdicts for the traces of a file's lines. `gold` maps ids to gold states and their traces."""
    found, first_line = Verified(), dict[str, int]()
    gold = gold or {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name = f"line-{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            found.problems.append(f"line {number}: not JSON ({error})")
            continue
        if not isinstance(record, dict):
            found.problems.append(f"line {number}: a {type(record).__name__}, not an object")
            continue
        if long := next(_too_long(record), None):
            found.problems.append(f"line {number}: {long}; not verified")
            continue
        decoded, where = _trace_of(record)
        given = record.get("id", record.get("trace_id"))
        if given is None and decoded.trace is not None:
            given = decoded.trace.get("id")
        if given is not None and not isinstance(given, str | int):
            found.problems.append(f"line {number}: /id is a {type(given).__name__}, not a text")
            given = None
        trace_id = str(given) if given is not None else name
        if trace_id in first_line:
            found.problems.append(
                f"line {number}: /id {trace_id!r} was on line {first_line[trace_id]} already; not verified"
            )
            continue
        first_line[trace_id] = number
        gold_id = str(record.get("gold_id") or trace_id)
        known = gold.get(gold_id)
        trace = decoded.trace
        if trace is None:
            verdict: Verdict = NO_VERDICT
            found.problems.append(f"line {number}: /{where}: {decoded.reason}")
        else:
            if known:  # a model writes the trace; question and family are the bank's
                trace = {**trace, **{key: known[1][key] for key in ("question", "scenario_family")}}
            elif where and "question" not in trace:
                trace = {**{key: record[key] for key in ("question", "scenario_family") if key in record}, **trace}
            family = trace.get("scenario_family")
            if family is not None and family not in FAMILIES:
                found.problems.append(
                    f"line {number}: /scenario_family {family!r} is not known; there are {', '.join(FAMILIES)}"
                )
            verdict = verify(trace, known[0] if known else None, question=question)
            for check in verdict.checks:
                if check.area == "schema" and check.status == "invalid":
                    prefix = f"/{where}" if where and where != "trace" else ""
                    found.problems.append(f"line {number}: {prefix}{check.pointer}: {check.found}")
        setting = "gold" if known else "trace" if question else "no_question"
        found.verdicts.append(verdict_row(trace_id, setting, verdict, decoded))
        found.checks += check_rows(trace_id, setting, verdict)
        found.clusters.append(gold_id)
    return found
