"""The Chat Completions API: OpenAI and the many servers that speak it, vLLM among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from tasks.inference.config import JudgeSpec
from tasks.inference.engine import Reply
from tasks.inference.exam import AskedItem
from tasks.inference.message import Message, Png
from tasks.inference.providers.common import data_url, json_schema, p_success, settle, unwrap, wrapped
from tasks.inference.providers.fields import Garbage, candidates, count, items, joined, member, text, word
from tasks.questions import Constraint, Outcomes

TOP_LOGPROBS = 20  # the most that OpenAI and vLLM allow


class OpenAI:
    body_mb: float | None = 50.0
    images: int | None = 500

    def url(self, base: str, model: str) -> str:
        return f"{base}/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, spec: JudgeSpec, item: AskedItem, message: Message) -> bytes:
        content = [
            {"type": "image_url", "image_url": {"url": data_url(part.data)}}
            if isinstance(part, Png)
            else {"type": "text", "text": part.text}
            for part in message.parts
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if spec.system:
            messages.insert(0, {"role": "system", "content": spec.system})
        parameters = dict(item.effective)
        extra = parameters.pop("extra", {})
        if parameters.pop("structured", None) and item.constraint:
            parameters |= self.structured(item.constraint)
        if parameters.get("logprobs"):
            parameters["top_logprobs"] = TOP_LOGPROBS
        return orjson.dumps({"model": spec.model, "messages": messages, **parameters, **extra})

    def structured(self, constraint: Constraint) -> dict[str, Any]:
        """The fields that enforce a constraint."""
        schema = {"name": "answer", "schema": json_schema(constraint)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def unwrap(self, item: AskedItem, text: str | None) -> str | None:
        return unwrap(item, text)

    def read(self, spec: JudgeSpec, item: AskedItem, payload: Any) -> Reply:
        choice: Any = next(iter(items(member(payload, "choices"))), None)
        message = member(choice, "message")
        if not isinstance(message, dict):
            raise Garbage("a reply without choices[0].message")
        content = message.get("content")
        if isinstance(content, list):  # some servers give parts
            content = joined(content)
        if content is not None and not isinstance(content, str):
            raise Garbage("message.content is neither text nor null")
        finish = word(choice.get("finish_reason"))
        usage, refusal = payload.get("usage"), message.get("refusal")
        declined = bool(refusal) and (isinstance(refusal, str) or not content)
        outcomes, fingerprint = self.rated(item), word(payload.get("system_fingerprint"))
        return settle(
            spec,
            self.unwrap(item, content),
            text(message.get("reasoning")) or text(message.get("reasoning_content")),
            finish,
            cut=finish == "length",
            refusal=(text(refusal) or content or "") if declined or finish == "content_filter" else None,
            input_tokens=count(member(usage, "prompt_tokens")),
            output_tokens=count(member(usage, "completion_tokens")),
            server=" ".join(filter(None, (word(payload.get("model")), fingerprint))),
            p_success=p_success(_candidates(choice), outcomes) if outcomes else None,
            seeded=self.seeded(item, fingerprint),
        )

    def rated(self, item: AskedItem) -> Outcomes | None:
        """The words of the verdict that the answer's first token begins; None where that is an object's brace."""
        return None if wrapped(item) else item.outcomes

    def seeded(self, item: AskedItem, fingerprint: str | None) -> bool | None:
        """A server that honors a seed names its fingerprint; one that does not may have ignored the seed in silence."""
        return fingerprint is not None if "seed" in item.effective else None


class VLLM(OpenAI):
    """vLLM's own fields. Unknown fields are ignored in silence there, so that preflight checks whether they worked."""

    body_mb: float | None = None
    images: int | None = None

    def url(self, base: str, model: str) -> str:
        return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"

    def structured(self, constraint: Constraint) -> dict[str, Any]:
        if constraint.choice:
            return {"structured_outputs": {"choice": list(constraint.choice)}}
        return {"structured_outputs": {"json": constraint.schema}}

    def unwrap(self, item: AskedItem, text: str | None) -> str | None:
        return text

    def rated(self, item: AskedItem) -> Outcomes | None:
        return item.outcomes

    def seeded(self, item: AskedItem, fingerprint: str | None) -> bool | None:
        return True if "seed" in item.effective else None


def _candidates(choice: Any) -> list[Mapping[str, float]]:
    positions = items(member(member(choice, "logprobs"), "content"))
    return [candidates([position, *items(member(position, "top_logprobs"))], "logprob") for position in positions]
