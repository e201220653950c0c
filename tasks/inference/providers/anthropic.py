"""Anthropic's Messages API, version 2023-06-01."""

from __future__ import annotations

from typing import Any

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Png
from tasks.inference.providers.common import fragment, json_schema, settle, unwrap
from tasks.inference.providers.fields import Garbage, count, joined, member, text, word


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
        blocks = member(payload, "content")
        if not isinstance(blocks, list) or "stop_reason" not in payload:
            raise Garbage("a reply without content blocks and stop_reason")
        said = joined(block for block in blocks if member(block, "type") == "text")
        thoughts = "".join(text(member(block, "thinking")) for block in blocks if member(block, "type") == "thinking")
        finish, usage = word(payload["stop_reason"]), payload.get("usage")
        used, *cached = (
            count(member(usage, name))
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        return settle(
            spec,
            unwrap(item, said),
            thoughts,
            finish,
            cut=finish in ("max_tokens", "model_context_window_exceeded"),
            refusal=said if finish == "refusal" else None,
            input_tokens=None if used is None else used + sum(filter(None, cached)),
            output_tokens=count(member(usage, "output_tokens")),
            server=word(payload.get("model")) or "",
        )
