"""JSON objects out of a text that may say more than the object."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tasks.strict_json import STRICT

MAX_CANDIDATES = 64
MAX_LITERAL = 20_000


class Broken(Exception):
    """No usable object. `reason` is `no_object`, `bad_json` (something that begins as one), `cut_off` or `conflict`."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Found:
    """`value`, the text it was read from, and what had to be done to that text."""

    value: dict[str, Any]
    span: str
    recovery: str | None


def load(text: str) -> Any:
    """JSON, strictly: no NaN, no key twice. ValueError otherwise."""
    try:
        return json.loads(text, **STRICT)
    except RecursionError:
        raise ValueError("nested too deeply") from None


_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])')


def _read(text: str) -> tuple[Any, str | None]:
    try:
        return load(text), None
    except ValueError:
        pass
    mended = _TRAILING_COMMA.sub(lambda match: "" if match.group(0) == "," else match.group(0), text)
    try:
        return load(mended), "trailing comma"
    except ValueError:
        pass
    if len(text) > MAX_LITERAL:
        raise ValueError("not JSON")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [ast.dump(key) for key in node.keys if key is not None]
                if len(keys) != len(set(keys)):
                    raise ValueError("a key occurs twice")
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise ValueError("not JSON") from None
    json.dumps(value, allow_nan=False)  # sets, bytes and complex numbers are no answer
    return value, "Python literal"


def spans(text: str) -> tuple[list[str], bool]:
    """The outermost {...} of `text` in order, and whether the last one is never closed. Linear in the text."""
    found: list[str] = []
    depth = start = 0
    quoted = False
    for match in re.finditer(r'\\.|[{}"]', text):
        mark = match.group(0)
        if depth and mark == '"':
            quoted = not quoted
        elif quoted or mark not in "{}":
            continue
        elif mark == "{":
            if not depth:
                start = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found.append(text[start : match.end()])
    return found, depth > 0


def only_object(text: str, wanted: Callable[[dict[str, Any]], bool]) -> Found:
    """The one object of `text` that is `wanted`: the whole text, a fenced block, or an object within prose.

    Raises Broken: two different wanted objects are a conflict, an object that is never closed is cut off.
    """
    try:
        value = load(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        if wanted(value):
            return Found(value, text, None)
        raise Broken("missing_fields")
    candidates, cut = spans(text)
    found: list[Found] = []
    unread = 0
    missing = False
    for candidate in candidates[-MAX_CANDIDATES:]:
        try:
            value, note = _read(candidate)
        except (ValueError, TypeError):
            unread += 1
            continue
        if isinstance(value, dict) and wanted(value):
            around = text.replace(candidate, "", 1).strip()
            place = None if not around else "fence" if re.fullmatch(r"```\w*\s*```", around) else "surrounding text"
            found.append(Found(value, candidate, "; ".join(part for part in (place, note) if part) or None))
        else:
            missing = True
    if not found:
        raise Broken("cut_off" if cut else "bad_json" if unread else "missing_fields" if missing else "no_object")
    if any(other.value != found[0].value for other in found[1:]):
        raise Broken("conflict")
    return found[-1]
