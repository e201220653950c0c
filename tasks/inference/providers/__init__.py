"""How each API is spoken: where a request goes, what its body is, what its reply says. No waiting, no retrying.

URL, headers and body for a question       Provider.url, .headers, .body
what a 200 says                            Provider.read -> Reply; Garbage where it is no reply of this API
what any other status says                 common.fault -> Fault
"""

from __future__ import annotations

from tasks.inference.config import JudgeSpec
from tasks.inference.providers.anthropic import Anthropic
from tasks.inference.providers.common import Fault, Provider, fault
from tasks.inference.providers.fields import Garbage, payload_of
from tasks.inference.providers.gemini import Gemini
from tasks.inference.providers.openai import VLLM, OpenAI

PROVIDERS: dict[str, type[Provider]] = {"openai": OpenAI, "vllm": VLLM, "anthropic": Anthropic, "gemini": Gemini}


def provider_of(spec: JudgeSpec) -> Provider:
    return PROVIDERS[spec.api]()


__all__ = ["Fault", "Garbage", "Provider", "fault", "payload_of", "provider_of"]
