"""A trace out of a model's raw text: fences, chatter, LaTeX in strings, cut-off objects (user reports PA5 and PA8).

The text is tried as it is, then the inside of a fence around the whole, then every `{` that could open the object, then the
repair of an object that was cut off. Each step that was needed is named in `repairs`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 1_000_000
_FENCE = re.compile(r"^\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_INNER_FENCE = re.compile(r"```(?:json|JSON)?\s*\n(.*?)(?:\n\s*```|\Z)", re.DOTALL)
# a backslash that JSON knows, but that begins a LaTeX command: \frac, \theta, \nu, \beta, \rho
_LATEX_COMMAND = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?=(?:frac|theta|times|text|tan|tau|nu|neq|nabla|beta|bar|begin|rho|right|rm|phi|pi)(?![a-z]))"
)
_LONE = re.compile(r'(?<!\\)((?:\\\\)*)\\(?!["\\/bfnrtu])')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True)
class Decoded:
    """`status`: ok, truncated (an object that was cut off and completed), none. `reason` says why there is no trace."""

    trace: dict[str, Any] | None
    status: str
    repairs: tuple[str, ...] = ()
    reason: str = ""


class _Refused(ValueError):
    pass


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is no number in JSON")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"the key {twin!r} occurs twice in one object")
    return members


_decoder = json.JSONDecoder(object_pairs_hook=_no_twins, parse_constant=_no_constant, strict=False)


def _load(text: str) -> tuple[Any, tuple[str, ...]]:
    """JSON with its backslashes mended where they are LaTeX. ValueError where it is no JSON."""
    repairs: list[str] = []
    if "\\" in text:
        mended = _LATEX_COMMAND.sub(r"\1\\\\", text)
        mended = _LONE.sub(r"\1\\\\", mended)
        if mended != text:
            repairs.append("backslashes of LaTeX doubled")
            text = mended
    return _decoder.decode(text), tuple(repairs)


def _completed(text: str) -> str | None:
    """An object that stops in the middle, closed at the last complete member; None where nothing can be kept."""
    stack: list[str] = []
    in_string = escaped = False
    safe: tuple[int, tuple[str, ...]] | None = None
    for i, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
            continue
        if char == '"':
            in_string = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]":
            if not stack or stack.pop() != char:
                return None
            safe = (i + 1, tuple(stack))
            if not stack:
                return None  # it was complete
        elif char == ",":
            safe = (i, tuple(stack))
    if safe is None:
        return None
    end, open_brackets = safe
    return text[:end] + "".join(reversed(open_brackets))


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in ("state_0", "transition", "answer", "state_1"))


def decode(raw: str) -> Decoded:
    """The trace in `raw`. Never raises; see `Decoded` for what can be wrong."""
    if len(raw) > MAX_CHARS:
        return Decoded(None, "none", reason=f"{len(raw)} characters, more than {MAX_CHARS}")
    candidates: list[tuple[str, tuple[str, ...]]] = [(raw, ())]
    if match := _FENCE.match(raw):
        candidates.append((match[1], ("fence removed",)))
    candidates += [(match[1], ("text around the object removed",)) for match in _INNER_FENCE.finditer(raw)]
    reason = "no JSON object"
    for text, steps in candidates:
        try:
            value, repairs = _load(text)
        except _Refused as error:
            return Decoded(None, "none", steps, str(error))
        except (ValueError, RecursionError) as error:
            reason = f"no JSON: {error}"
            continue
        if _is_trace(value):
            return Decoded(value, "ok", steps + repairs)
        if isinstance(value, dict):
            return Decoded(value, "ok", steps + repairs)
        reason = f"the JSON is {type(value).__name__}, not an object"
    for start in [match.start() for match in re.finditer(r"\{", raw)][:40]:
        text = raw[start:]
        mended = _LONE.sub(r"\1\\\\", _LATEX_COMMAND.sub(r"\1\\\\", text)) if "\\" in text else text
        steps = ("text around the object removed",) if start else ()
        repairs = ("backslashes of LaTeX doubled",) if mended != text else ()
        try:
            value, _ = _decoder.raw_decode(mended)
        except _Refused as error:
            return Decoded(None, "none", steps, str(error))
        except (ValueError, RecursionError):
            closed = _completed(mended)
            if closed is None:
                continue
            try:
                value = _decoder.decode(closed)
            except (ValueError, RecursionError):
                continue
            if _is_trace(value):
                return Decoded(value, "truncated", (*steps, *repairs, "a cut-off object closed"))
            continue
        if _is_trace(value):
            return Decoded(value, "ok", steps + repairs)
    return Decoded(None, "none", reason=reason)


def control_characters(trace: Any, path: str = "") -> list[str]:
    """JSON pointers of texts that hold control characters, as `\\f` does where `\\frac` lost its backslash."""
    if isinstance(trace, str):
        return [path] if not trace.isprintable() and _CONTROL.search(trace) else []
    if isinstance(trace, dict):
        return [p for key, value in trace.items() for p in control_characters(value, f"{path}/{key}")]
    if isinstance(trace, list):
        return [p for i, value in enumerate(trace) for p in control_characters(value, f"{path}/{i}")]
    return []
