"""Anthropic's Messages API, version 2023-06-01."""

from __future__ import annotations

from typing import Any

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Png
from tasks.inference.providers.common import Garbage, fragment, json_schema, settle, unwrap


class Anthropic:
    body_mb: float | None = 32.0
    images: int | None = 100

    def url(self, base: str, model: str) -> str:
        return f"{base.removesuffix('/v1')}/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})

    def body(self, spec: JudgeSpec, item: AskedItem, message: Message) -> bytes:
        content = [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": fragment(part.data)}}
            if isinstance(part, Png)
            else {"type": "text", "text": part.text}
            for part in message.parts
        ]
        parameters = dict(item.effective)
        extra = parameters.pop("extra", {})
        output: dict[str, Any] = {}
        if effort := parameters.pop("reasoning_effort", None):
            output["effort"] = effort
        if parameters.pop("structured", None) and item.constraint:
            output["format"] = {"type": "json_schema", "schema": json_schema(item.constraint)}
        if output:
            parameters["output_config"] = output
        if spec.system:
            parameters["system"] = spec.system
        messages = [{"role": "user", "content": content}]
        return orjson.dumps({"model": spec.model, "messages": messages, **parameters, **extra})

    def read(self, spec: JudgeSpec, item: AskedItem, payload: Any) -> Reply:
        try:
            blocks = payload["content"]
            text = "".join(block["text"] for block in blocks if block["type"] == "text")
            thoughts = "".join(block.get("thinking", "") for block in blocks if block["type"] == "thinking")
            finish = payload["stop_reason"]
        except (KeyError, TypeError, AttributeError) as error:
            raise Garbage("a reply without content blocks and stop_reason") from error
        usage = payload.get("usage") or {}
        cached = sum(usage.get(f"cache_{kind}_input_tokens") or 0 for kind in ("creation", "read"))
        return settle(
            spec,
            unwrap(item, text),
            thoughts,
            finish,
            cut=finish in ("max_tokens", "model_context_window_exceeded"),
            refusal=text if finish == "refusal" else None,
            input_tokens=usage["input_tokens"] + cached if "input_tokens" in usage else None,
            output_tokens=usage.get("output_tokens"),
            server=str(payload.get("model") or ""),
        )
