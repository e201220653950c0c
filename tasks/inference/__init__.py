"""Judges: hosted APIs, vLLM, embedded baselines, any Python callable. See docs/judges.md.

What is named here is imported when it is first asked for, so that reading a judge's table costs no HTTP client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.inference.answered import journal_state
    from tasks.inference.config import JudgeSpec, embedded, load_judges, parse_judge, resolve
    from tasks.inference.message import Judge, Message, Png, Text
    from tasks.inference.plan import Plan
    from tasks.inference.stage import INFERENCE, stage_config

_MODULES = {
    "tasks.inference.answered": ("journal_state",),
    "tasks.inference.config": ("JudgeSpec", "embedded", "load_judges", "parse_judge", "resolve"),
    "tasks.inference.plan": ("Plan",),
    "tasks.inference.stage": ("INFERENCE", "stage_config"),
    "tasks.judges": ("Judge", "Message", "Png", "Text"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


__all__ = [
    "INFERENCE",
    "Judge",
    "JudgeSpec",
    "Message",
    "Plan",
    "Png",
    "Text",
    "embedded",
    "journal_state",
    "load_judges",
    "parse_judge",
    "resolve",
    "stage_config",
]
