"""Exams: items and answers. A package here makes the items of a kind of exam; `release` gathers any kind's."""

from tasks.exams.gridworld import EXAMS
from tasks.exams.release import ANSWERS, RELEASE

__all__ = ["ANSWERS", "EXAMS", "RELEASE"]
