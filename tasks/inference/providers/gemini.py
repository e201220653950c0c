"""Google's Gemini API, `generateContent`."""

from __future__ import annotations

import urllib.parse
from typing import Any

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Png
from tasks.inference.providers.common import fragment, p_success, settle
from tasks.inference.providers.fields import Garbage, candidates, count, items, joined, member, word

TOP_LOGPROBS = 20
_NAMES = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
}
_REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "MODEL_ARMOR"}
)


class Gemini:
    body_mb: float | None = 20.0  # of inline data
    images: int | None = 3000

    def url(self, base: str, model: str) -> str:
        return f"{base}/models/{urllib.parse.quote(model.removeprefix('models/'))}:generateContent"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}  # never in the URL, which ends up in logs

    def body(self, spec: JudgeSpec, item: AskedItem, message: Message) -> bytes:
        parts = [
            {"inline_data": {"mime_type": "image/png", "data": fragment(part.data)}}
            if isinstance(part, Png)
            else {"text": part.text}
            for part in message.parts
        ]
        parameters = dict(item.effective)
        extra = parameters.pop("extra", {})
        config: dict[str, Any] = {}
        if effort := parameters.pop("reasoning_effort", None):
            config["thinkingConfig"] = {"thinkingLevel": effort}
        if parameters.pop("logprobs", None):
            config |= {"responseLogprobs": True, "logprobs": TOP_LOGPROBS}
        if parameters.pop("structured", None) and (constraint := item.constraint):
            if constraint.choice:
                config |= {
                    "responseMimeType": "text/x.enum",
                    "responseSchema": {"type": "STRING", "enum": list(constraint.choice)},
                }
            else:
                config |= {"responseMimeType": "application/json", "responseJsonSchema": constraint.schema}
        config |= {_NAMES.get(name, name): value for name, value in parameters.items()}
        request: dict[str, Any] = {"contents": [{"role": "user", "parts": parts}], "generationConfig": config, **extra}
        if spec.system:
            request["systemInstruction"] = {"parts": [{"text": spec.system}]}
        return orjson.dumps(request)

    def read(self, spec: JudgeSpec, item: AskedItem, payload: Any) -> Reply:
        usage = member(payload, "usageMetadata")
        output, thinking = (count(member(usage, name)) for name in ("candidatesTokenCount", "thoughtsTokenCount"))
        rest: dict[str, Any] = {
            "input_tokens": count(member(usage, "promptTokenCount")),
            "output_tokens": None if output is None and not thinking else (output or 0) + (thinking or 0),
            "server": word(member(payload, "modelVersion")) or "",
        }
        offered = items(member(payload, "candidates"))
        if not offered:
            if not (blocked := member(member(payload, "promptFeedback"), "blockReason")):
                raise Garbage("a reply without candidates")
            return settle(spec, None, None, word(blocked), cut=False, refusal="", **rest)
        candidate = offered[0]
        if not isinstance(candidate, dict):
            raise Garbage("candidates[0] is not what this API sends")
        parts = items(member(candidate.get("content"), "parts"))
        said = joined(part for part in parts if not member(part, "thought"))
        finish = word(candidate.get("finishReason"))
        logs = items(member(candidate.get("logprobsResult"), "topCandidates"))
        positions = [candidates(items(member(position, "candidates")), "logProbability") for position in logs]
        return settle(
            spec,
            said,
            joined(part for part in parts if member(part, "thought")),
            finish,
            cut=finish == "MAX_TOKENS",
            refusal=said if finish in _REFUSALS else None,
            p_success=p_success(positions, item.outcomes) if item.outcomes else None,
            **rest,
        )
