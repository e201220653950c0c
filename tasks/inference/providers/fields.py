"""The fields of a reply, each read by itself: a server may send anything anywhere.

What does not fit is an empty optional field; only what carries the answer makes a reply Garbage.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

LONGEST_WORD = 200
MOST_TOKENS = 2**53


class Garbage(ValueError):
    """A 200 that is no reply."""


def payload_of(raw: bytes) -> Any:
    """What the body of a reply says. Garbage where it is no JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:  # which takes what orjson refuses: half a surrogate pair, NaN
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Garbage("not JSON") from error


def member(value: Any, name: str) -> Any:
    """A member of an object; None where there is none, or no object."""
    return value.get(name) if isinstance(value, dict) else None


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def word(value: Any) -> str | None:
    """A short text such as a finish reason or a model's name."""
    return value[:LONGEST_WORD] if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """A number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_TOKENS:
        return None
    return int(value)


def joined(parts: Iterable[Any]) -> str:
    """The text of content parts; other parts say nothing."""
    return "".join(
        part if isinstance(part, str) else text(member(part, "text"))
        for part in parts
        if isinstance(part, str) or member(part, "type") in (None, "text", "output_text")
    )


def candidates(entries: Iterable[Any], log: str) -> Mapping[str, float]:
    """Token -> log-probability of one position; `log` names the member that holds the number."""
    found: dict[str, float] = {}
    for entry in entries:
        token, value = member(entry, "token"), member(entry, log)
        if isinstance(token, str) and isinstance(value, int | float) and not isinstance(value, bool):
            found[token] = min(float(value), 0.0) if math.isfinite(value) else -math.inf
    return found
