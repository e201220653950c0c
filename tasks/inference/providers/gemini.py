"""Google's Gemini API, `generateContent`."""

from __future__ import annotations

import urllib.parse
from typing import Any

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Png
from tasks.inference.providers.common import Garbage, fragment, p_success, settle

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
        if not isinstance(payload, dict) or not ("candidates" in payload or "promptFeedback" in payload):
            raise Garbage("a reply without candidates")
        usage = payload.get("usageMetadata") or {}
        thoughts_tokens = usage.get("thoughtsTokenCount") or 0
        output = usage.get("candidatesTokenCount")
        rest: dict[str, Any] = {
            "input_tokens": usage.get("promptTokenCount"),
            "output_tokens": None if output is None and not thoughts_tokens else (output or 0) + thoughts_tokens,
            "server": str(payload.get("modelVersion") or ""),
        }
        blocked = (payload.get("promptFeedback") or {}).get("blockReason")
        candidates = payload.get("candidates") or []
        if not candidates:
            if not blocked:
                raise Garbage("a reply without candidates")
            return settle(spec, None, None, blocked, cut=False, refusal="", **rest)
        try:
            candidate = candidates[0]
            parts = (candidate.get("content") or {}).get("parts") or []
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
            thoughts = "".join(part.get("text", "") for part in parts if part.get("thought"))
            finish = candidate.get("finishReason")
        except (AttributeError, TypeError) as error:
            raise Garbage("candidates[0] is not what this API sends") from error
        logs = (candidate.get("logprobsResult") or {}).get("topCandidates") or []
        positions = [
            {entry["token"]: float(entry["logProbability"]) for entry in position.get("candidates", [])}
            for position in logs
        ]
        return settle(
            spec,
            text,
            thoughts,
            finish,
            cut=finish == "MAX_TOKENS",
            refusal=text if finish in _REFUSALS else None,
            p_success=p_success(positions, item.outcomes) if item.outcomes else None,
            **rest,
        )
