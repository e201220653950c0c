"""A kind of question: on which side of a thing another is."""

import polars as pl

from worldaudit import Constraint, Parse, Question, final_text, grade_equal, unreadable

SIDES = ("left", "right")


def parse(text, answer_format, policy, think_tags):
    """`left` or `right`; under any policy but `strict` also with case, a full stop or a label ("Answer: left")."""
    final = final_text(text, think_tags)
    if final.reason:
        return unreadable(final.reason)
    if final.text in SIDES:
        return Parse("strict", final.text, final.text)
    word = final.text.rpartition(":")[2].strip(" .*\n").lower()
    if policy == "strict" or word not in SIDES:
        return unreadable("no_answer", final.text[:40])
    return Parse("recovered", word, final.text, recovery="trimmed")


QUESTION = Question(
    name="side",
    formats={"side": Constraint(choice=SIDES)},
    exam_tasks={"side": "side"},
    parse=parse,
    grade=grade_equal,
    wrong=pl.lit("wrong_side"),
)
