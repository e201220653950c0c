"""Answers out of raw text, by the parser of each kind of question, under a named policy."""

from tasks.parsing.stage import PARSING, POLICIES, parse_answer, parse_responses
from tasks.questions import THINK_TAGS, Parse

__all__ = ["PARSING", "POLICIES", "THINK_TAGS", "Parse", "parse_answer", "parse_responses"]
