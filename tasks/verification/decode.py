"""A trace out of a model's raw text: reasoning, fences, chatter, drafts, LaTeX in strings, JSON with liberties, cut-off objects.

The last complete object outside of reasoning that tells a trace is the answer; where there is none, an object that was cut off is
closed. Each step that was needed is named in `repairs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tasks.strict_json import STRICT, Refused
from tasks.verification.loose import Loose, NotLoose
from tasks.verification.shape import parts_in, unwrapped

MAX_CHARS = 1_000_000
_MOST_TRIES = 40  # opening braces that are tried
_REASONING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
# a backslash that JSON knows, but that begins a LaTeX command: \frac, \theta, \nu, \beta, \rho
_LATEX_COMMAND = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?=(?:frac|forall|theta|times|text|textbf|textrm|tan|tau|tfrac|to|therefore|nu|ne|neq|nabla|not|beta|bar|begin"
    r"|big|bigl|bigr|boxed|bullet|rho|right|rightarrow|rangle|rm|phi|pi)(?![a-z]))"
)
_LONE = re.compile(r'(?<!\\)((?:\\\\)*)\\(?!["\\/bfnrtu])')
_LONE_U = re.compile(r"(?<!\\)((?:\\\\)*)\\(?=u(?![0-9a-fA-F]{4}))")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ENDS = frozenset("\"'}]")  # of a value that is complete
_BACKSLASHES = "backslashes of LaTeX doubled"
_AROUND = "text around the object removed"


@dataclass(frozen=True)
class Decoded:
    """`status`: ok, truncated (an object that was cut off and completed), none. `reason` says why there is no trace."""

    trace: dict[str, Any] | None
    status: str
    repairs: tuple[str, ...] = ()
    reason: str = ""


class _Found(NamedTuple):
    """An object in a text, out of its wrapper, what was needed to read it, and where it lies."""

    value: dict[str, Any]
    liberties: tuple[str, ...]
    start: int
    end: int


_decoder = json.JSONDecoder(**STRICT, strict=False)


def decode(raw: str) -> Decoded:
    """The trace in `raw`. Never raises; see `Decoded` for what can be wrong."""
    if len(raw) > MAX_CHARS:
        return Decoded(None, "none", reason=f"{len(raw)} characters, more than {MAX_CHARS}")
    steps: list[str] = []
    text = _REASONING.sub("", raw)
    if text != raw:
        steps.append("reasoning removed")
    if match := _FENCE.match(text):
        text = match[1]
        steps.append("fence removed")
    mended = _doubled(text)
    if mended != text:
        steps.append(_BACKSLASHES)
    return _whole(mended, tuple(steps)) or _among(mended, tuple(steps))


def _doubled(text: str) -> str:
    """The text with the backslashes doubled that are LaTeX."""
    if "\\" not in text:
        return text
    return _LONE_U.sub(r"\1\\\\", _LONE.sub(r"\1\\\\", _LATEX_COMMAND.sub(r"\1\\\\", text)))


def _whole(text: str, steps: tuple[str, ...]) -> Decoded | None:
    """The text as one JSON object; None where it is none."""
    try:
        value = _decoder.decode(text)
    except Refused as error:
        return Decoded(None, "none", steps, str(error))
    except (ValueError, RecursionError):
        return None
    return Decoded(unwrapped(value), "ok", steps) if isinstance(value, dict) else None


def _among(text: str, steps: tuple[str, ...]) -> Decoded:
    """The last object of the text that tells a trace; else one that was cut off."""
    complaints: list[str] = []
    found = list(_objects(text, complaints))
    parts = [parts_in(one.value) for one in found]
    if most := min(2, max(parts, default=0)):
        last = [one for one, count in zip(found, parts, strict=True) if count >= most][-1]
        around = text[: last.start].strip() or text[last.end :].strip()
        order = (*((_AROUND,) if around else ()), *steps, *last.liberties)
        return Decoded(last.value, "ok", order)
    if complaints:
        return Decoded(None, "none", steps, complaints[-1])
    return _cut_off(text, steps) or Decoded(None, "none", steps, _why_none(text))


def _objects(text: str, complaints: list[str]) -> Iterator[_Found]:
    """The complete objects of a text, in order, none within another; `complaints` say why one is refused."""
    at = 0
    for _ in range(_MOST_TRIES):
        start = text.find("{", at)
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
            liberties: tuple[str, ...] = ()
        except Refused as error:
            complaints.append(str(error))
            return
        except (ValueError, RecursionError):
            reader = Loose(text)
            try:
                value = reader.read(start)
            except NotLoose as error:
                if error.refused:
                    complaints.append(str(error))
                    return
                at = start + 1
                continue
            end, liberties = reader.at, tuple(reader.liberties)
        if isinstance(value, dict):
            yield _Found(unwrapped(value), liberties, start, end)
        at = end


def _cut_off(text: str, steps: tuple[str, ...]) -> Decoded | None:
    """An object that stops in the middle, closed; None where there is none."""
    for start in [match.start() for match in re.finditer(r"\{", text)][:_MOST_TRIES]:
        for closed in _completed(text[start:].rstrip()):
            try:
                value = _decoder.decode(closed)
            except (ValueError, RecursionError):
                try:
                    value = Loose(closed).read(0)
                except NotLoose:
                    continue
            if isinstance(value, dict) and parts_in(value):
                return Decoded(value, "truncated", (*((_AROUND,) if start else ()), *steps, "a cut-off object closed"))
    return None


def _why_none(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"no JSON object: {error}"
    return f"the JSON is {type(value).__name__}, not an object"


def _completed(text: str) -> tuple[str, ...]:
    """An object that stops in the middle, closed: behind its last text, where it ends with one, else at the last complete member.
    Empty where nothing can be kept."""
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
            if len(stack) > 100:
                return ()
        elif char in "}]":
            if not stack or stack.pop() != char:
                return ()
            safe = (i + 1, tuple(stack))
            if not stack:
                return ()  # it was complete
        elif char == ",":
            safe = (i, tuple(stack))
    kept = [(len(text), tuple(stack))] if text[-1:] in _ENDS and not in_string else []
    kept += [safe] if safe is not None else []
    return tuple(text[:end] + "".join(reversed(open_brackets)) for end, open_brackets in kept)


def control_characters(trace: Any, path: str = "") -> list[str]:
    """JSON pointers of texts that hold control characters, as `\\f` does where `\\frac` lost its backslash."""
    if isinstance(trace, str):
        return [path] if not trace.isprintable() and _CONTROL.search(trace) else []
    if isinstance(trace, dict):
        return [p for key, value in trace.items() for p in control_characters(value, f"{path}/{key}")]
    if isinstance(trace, list):
        return [p for i, value in enumerate(trace) for p in control_characters(value, f"{path}/{i}")]
    return []
