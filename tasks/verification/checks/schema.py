"""Whether the trace has the form of a trace: the lenient JSON Schema, and no control characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks.traces.schema import problems
from tasks.verification.decode import control_characters
from tasks.verification.verdict import INVALID, Check

LONGEST_COMPLAINT = 200


def is_object(trace: object) -> Iterator[Check]:
    if not isinstance(trace, dict):
        yield _invalid("/", "an object", type(trace).__name__, "a trace is a JSON object")


def form(trace: Mapping[str, Any]) -> Iterator[Check]:
    """One invalid check for each complaint."""
    for text in problems(trace):
        pointer, _, complaint = text.partition(": ")
        yield _invalid(pointer, "the trace schema", complaint[:LONGEST_COMPLAINT], "JSON Schema Draft 7")
    for pointer in control_characters(trace.get("transition", {}), "/transition"):
        yield _invalid(pointer, "text", "control characters", "a backslash was lost in decoding")


def _invalid(pointer: str, expected: str, found: str, rule: str) -> Check:
    return Check("schema", "schema", INVALID, "", pointer, expected, found, rule)
