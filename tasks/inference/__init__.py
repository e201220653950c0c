"""Judges: hosted APIs, vLLM, embedded baselines, any Python callable. See docs/judges.md."""

from tasks.inference.config import JudgeSpec, embedded, load_judges, parse_judge, resolve
from tasks.inference.judges import EMBEDDED, embedded_judges
from tasks.inference.message import Judge, Message, Png, Text
from tasks.inference.plan import Plan, plan
from tasks.inference.stage import INFERENCE, forget, journal_state, stage_config

__all__ = [
    "EMBEDDED",
    "INFERENCE",
    "Judge",
    "JudgeSpec",
    "Message",
    "Plan",
    "Png",
    "Text",
    "embedded",
    "embedded_judges",
    "forget",
    "journal_state",
    "load_judges",
    "parse_judge",
    "plan",
    "resolve",
    "stage_config",
]
