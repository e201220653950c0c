"""Answers out of raw text: one parser a task, under a named policy."""

from tasks.parsing.answer import THINK_TAGS, Parse
from tasks.parsing.stage import PARSING, POLICIES, parse_answer, parse_responses

__all__ = ["PARSING", "POLICIES", "THINK_TAGS", "Parse", "parse_answer", "parse_responses"]
