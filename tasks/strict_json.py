"""JSON, strictly: what `json` takes beyond the standard, and what would be guessed at, is refused."""

from __future__ import annotations

from typing import Any


class Refused(ValueError):
    """JSON that must not be guessed at; the message says why."""


def _no_constant(name: str) -> Any:
    raise Refused(f"{name} is no number in JSON")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise Refused(f"the key {twin!r} occurs twice in one object")
    return members


STRICT: dict[str, Any] = {
    "object_pairs_hook": _no_twins,
    "parse_constant": _no_constant,
}  # for json.loads and JSONDecoder
