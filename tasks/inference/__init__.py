"""Judges: hosted APIs, vLLM, embedded baselines, any Python callable. See docs/judges.md."""

from tasks.inference.answered import journal_state
from tasks.inference.config import JudgeSpec, embedded, load_judges, parse_judge, resolve
from tasks.inference.message import Judge, Message, Png, Text
from tasks.inference.plan import Plan, plan
from tasks.inference.stage import INFERENCE, forget, stage_config
from tasks.judges import embedded_judges

__all__ = [
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
