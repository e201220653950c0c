"""What the APIs share: the shape of a provider, reasoning apart from the answer, faults by kind."""

from __future__ import annotations

import base64
import email.utils
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message
from tasks.inference.providers.fields import Garbage, items, member, payload_of
from tasks.questions import Constraint, Outcomes

FaultKind = Literal["wait", "passing", "refused", "permanent", "key", "quota"]


class Provider(Protocol):
    """One API. `body_mb` and `images` are the documented limits of a request, None where there is none to know."""

    body_mb: float | None
    images: int | None

    def url(self, base: str, model: str) -> str: ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, spec: JudgeSpec, item: AskedItem, message: Message) -> bytes:
        """The request, in full. `question.effective` are the parameters to send."""
        ...

    def read(self, spec: JudgeSpec, item: AskedItem, payload: Any) -> Reply:
        """What a reply with status 200 says. Garbage where it is not a reply of this API."""
        ...


@dataclass(frozen=True)
class Fault:
    """Why there is no answer. `wait`: too many requests, try later; `passing`: may go away; `permanent`: this request
    will never do; `key`: no request will, with this key; `quota`: nor while the account is empty."""

    kind: FaultKind
    message: str
    retry_after: float | None = None


def data_url(png: bytes) -> orjson.Fragment:
    """The picture as a data URL, spelled as JSON already: base64 holds nothing that JSON would escape."""
    return orjson.Fragment(b'"data:image/png;base64,' + base64.b64encode(png) + b'"')


def fragment(png: bytes) -> orjson.Fragment:
    """The same, base64 alone."""
    return orjson.Fragment(b'"' + base64.b64encode(png) + b'"')


def json_schema(constraint: Constraint) -> dict[str, Any]:
    """The schema of a constraint, for APIs that know nothing else: a choice becomes an object's only member."""
    if not constraint.choice:
        return constraint.schema or {}
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(constraint.choice)}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def wrapped(item: AskedItem) -> bool:
    """Whether the answer to a question was asked for as such an object."""
    return bool(item.constraint and item.constraint.choice and "structured" in item.effective)


def unwrap(item: AskedItem, text: str | None) -> str | None:
    """The choice out of the object that `json_schema` asked for; other text as it is."""
    if not text or not wrapped(item):
        return text
    try:
        answer = orjson.loads(text)["answer"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return text
    return answer if isinstance(answer, str) else text


# --- what an answer says ------------------------------------------------------------------------------------------------


def settle(
    spec: JudgeSpec,
    text: str | None,
    reasoning: str | None,
    finish_reason: str | None,
    *,
    cut: bool,
    refusal: str | None = None,
    **rest: Any,
) -> Reply:
    """A Reply by the rules that hold for every API.

    `cut`: the token budget ended it: `truncated`, whatever it says. Reasoning is what the API calls so, and everything up
    to the last closing reasoning tag; a tag that is opened after that and never closed means that the answer was never
    reached: `truncated`. No verdict is ever read out of reasoning.
    """
    if refusal is not None:
        return Reply("refused", text=refusal or text, reasoning=reasoning or None, finish_reason=finish_reason, **rest)
    names = "|".join(map(re.escape, spec.reasoning_tags))
    answer, thoughts = text or "", [reasoning] if reasoning else []
    if names and "<" in answer:
        closings = list(re.finditer(rf"</(?:{names})\s*>", answer, re.IGNORECASE))
        if closings:
            thoughts.append(answer[: closings[-1].end()])
            answer = answer[closings[-1].end() :].lstrip()
        if re.search(rf"<(?:{names})\s*>", answer, re.IGNORECASE):
            thoughts.append(answer)
            answer, cut = "", True
    return Reply(
        "truncated" if cut else "ok",
        text=answer,
        reasoning="\n".join(thoughts) or None,
        finish_reason=finish_reason,
        **rest,
    )


def p_success(tokens: Iterable[Mapping[str, float]], outcomes: Outcomes) -> float | None:
    """p(success) out of a verdict's log-probabilities: `tokens` gives, a position, the candidates and their logs.

    `outcomes` are the words of a verdict. The first position that holds more than blanks and marks decides. A candidate speaks for every verdict word that it is
    the beginning of, so that `S`, `Suc` and `Success` are added up (a grammar may split a word anywhere). None where no
    candidate begins a verdict. 0.5 means undecided; probabilities of other words are left out of the ratio.
    """
    for candidates in tokens:
        best = max(candidates, key=lambda token: candidates[token], default="")
        if not re.sub(r"\W", "", best):
            continue
        success = sum(math.exp(log) for token, log in candidates.items() if _begins(token, outcomes.success))
        failure = sum(math.exp(log) for token, log in candidates.items() if _begins(token, outcomes.failure))
        return success / (success + failure) if success + failure > 0 else None
    return None


def _begins(token: str, words: frozenset[str]) -> bool:
    bare = re.sub(r"\W", "", token).lower()
    return bool(bare) and any(word.startswith(bare) for word in words)


# --- what a fault says --------------------------------------------------------------------------------------------------

_FILTERED = ("content_filter", "content_policy", "responsibleaipolicyviolation", "content management policy")


def fault(status: int, headers: Mapping[str, str], body: bytes, mask: Callable[[str], str] = str) -> Fault:
    """The fault that a status other than 200 stands for, for any of the APIs. `mask` takes the key out of what it says,
    before anything is cut."""
    message, code = _explain(body)
    message = mask(message)[:500]
    text = f"HTTP {status}: {message}" if message else f"HTTP {status}"
    if 300 <= status < 400:
        where = mask(headers.get("Location", "elsewhere"))[:200]
        return Fault("permanent", f"HTTP {status}: it redirects to {where}, and no redirect is followed")
    lowered = (code + " " + message).lower()
    if status == 401 or "api_key_invalid" in lowered or "api key not valid" in lowered:
        return Fault("key", text)
    if "insufficient_quota" in lowered or status == 402:
        return Fault("quota", text)
    if status == 429:
        return Fault("wait", text, _retry_after(headers, body))
    if status in (408, 409, 425) or (status >= 500 and status != 501):
        return Fault("passing", text, _retry_after(headers, body))
    if status in (400, 403, 422) and any(word in lowered for word in _FILTERED):
        return Fault("refused", text)
    return Fault("permanent", text)


def _explain(body: bytes) -> tuple[str, str]:
    """(message, code) out of an error body; its first words where it is a page or plain text."""
    try:
        payload = payload_of(body)
    except Garbage:
        words = re.sub(r"<style.*?</style>|<[^>]*>", " ", body[:4000].decode("utf-8", "replace"), flags=re.DOTALL)
        return " ".join(words.split()), ""
    error = payload.get("error", payload) if isinstance(payload, dict) else payload
    if not isinstance(error, dict):
        return _said(error), ""
    message = error.get("message") or error.get("detail") or error
    reasons = [member(detail, "reason") for detail in items(error.get("details"))]
    codes = [
        error.get("code"),
        error.get("type"),
        error.get("status"),
        member(error.get("innererror"), "code"),
        *reasons,
    ]
    return _said(message), " ".join(str(code) for code in codes if isinstance(code, str | int))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _retry_after(headers: Mapping[str, str], body: bytes) -> float | None:
    """Seconds that the server asks for: a number, a date, milliseconds, or Google's `retryDelay`; None where it says
    nothing that can be waited for."""
    stated = [(headers.get("retry-after-ms"), 0.001), (headers.get("Retry-After"), 1.0)]
    found = re.search(rb'"retryDelay"\s*:\s*"([0-9.]{1,20})s"', body)
    stated.append((found[1].decode() if found else None, 1.0))
    for value, unit in stated:
        seconds = _seconds(value)
        if seconds is not None:
            return seconds * unit
    return None


def _seconds(value: str | None) -> float | None:
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = email.utils.parsedate_tz(value)
            seconds = math.nan if date is None else email.utils.mktime_tz(date) - time.time()
        except (ValueError, TypeError, IndexError, OverflowError):  # a day that no calendar has
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
