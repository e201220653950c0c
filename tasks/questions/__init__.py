"""Kinds of questions: contract, parser, grade; one file each, found by being here.

    letter   one of A, B, C, D            verdict  yes or no, success or fail
    scene    JSON of what is to be seen   label    JSON with one label

Inference asks a kind for the contract, parsing for the reading, scoring for the grade; none of them knows a world. An
installed package offers a kind of its own by an entry point of the group `worldaudit.questions`: a Question.
"""

from __future__ import annotations

from collections.abc import Iterator

from tasks.errors import BadInput
from tasks.questions._answer import THINK_TAGS, Parse, final_text, unreadable
from tasks.questions._base import Outcomes, Question, grade_equal
from tasks.questions._contract import Constraint, described
from tasks.questions._objects import Broken, only_object
from tasks.registry import Registry

QUESTIONS: Registry[Question] = Registry("question", "tasks.questions", "QUESTION", "worldaudit.questions")


def question_of_format(answer_format: str) -> Question:
    """The kind of question that an item of this `answer_format` asks. BadInput names the formats that there are."""
    if question := _only(answer_format, [each for each in QUESTIONS.values() if answer_format in each.formats]):
        return question
    known = ", ".join(name for question in QUESTIONS.values() for name in question.formats)
    raise BadInput(f"answer format {answer_format!r} is unknown; there are {known}")


def question_of_task(task: str) -> Question:
    """The kind of question that an exam task is asked as. BadInput names the tasks that there are."""
    if question := _only(task, [each for each in QUESTIONS.values() if task in each.exam_tasks]):
        return question
    raise BadInput(f"exam task {task!r} is asked as no kind of question; there are {', '.join(exam_tasks())}")


def _only(name: str, claiming: list[Question]) -> Question | None:
    if len(claiming) > 1:
        kinds = " and ".join(question.name for question in claiming)
        raise BadInput(
            f"{name!r} is claimed by the kinds of question {kinds}; one of them has to leave it to the other"
        )
    return claiming[0] if claiming else None


def exam_tasks() -> list[str]:
    """Every exam task that is asked as some kind of question, in alphabetical order."""
    return sorted(task for question in QUESTIONS.values() for task in question.exam_tasks)


def constraint_of(answer_format: str) -> Constraint | None:
    """What a server can enforce of an answer: by the name of a format, or as the format itself says, where it is a JSON
    object `{"choice": [...]}` or `{"json_schema": {...}}`. None where nothing can be."""
    for question in QUESTIONS.values():
        if answer_format in question.formats:
            return question.formats[answer_format]
    return described(answer_format)


def outcomes_of(answer_format: str) -> Outcomes | None:
    """The words of success and failure, where answers of this format are a verdict of either; else None."""
    constraint = constraint_of(answer_format)
    if constraint is None or constraint.choice is None:
        return None
    return next((words for words in _outcomes() if words.both_in(constraint.choice)), None)


def _outcomes() -> Iterator[Outcomes]:
    return (question.outcomes for question in QUESTIONS.values() if question.outcomes)


__all__ = [
    "QUESTIONS",
    "THINK_TAGS",
    "Broken",
    "Constraint",
    "Outcomes",
    "Parse",
    "Question",
    "constraint_of",
    "exam_tasks",
    "final_text",
    "grade_equal",
    "only_object",
    "outcomes_of",
    "question_of_format",
    "question_of_task",
    "unreadable",
]
