"""What a kind of question is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from tasks.questions._answer import Parse
from tasks.questions._contract import Constraint

Parser = Callable[[str | None, str, str, tuple[str, ...]], Parse]


@dataclass(frozen=True)
class Outcomes:
    """The words, in lower case, that state success and failure."""

    success: frozenset[str]
    failure: frozenset[str]

    def both_in(self, choice: tuple[str, ...]) -> bool:
        """Whether a choice of answers lets one state either."""
        words = {word.lower() for word in choice}
        return bool(words & self.success) and bool(words & self.failure)


def no_defaults(task: str, gold: str) -> Mapping[str, str]:
    return {}


def no_task(gold: str) -> str | None:
    return None


def same_gold(task: str, gold: str) -> str:
    return gold


@dataclass(frozen=True)
class Question:
    """One kind of question: what an answer looks like, how it is read out of a text, and what it is worth.

    `formats`: the values of an item's `answer_format` that ask it, each with the constraint that a server can enforce
        (None: it constrains nothing).
    `exam_tasks`: the exam tasks (values of the column `task`) that are asked as this kind, each with the answer format of
        its items where an index of a foreign exam does not say.
    `parse(text, answer_format, policy, think_tags)`: what a text answers; never raises. Policies: see tasks.parsing.
    `grade(rows)`: distinct `task`, `gold`, `value` of answers that were read -> the same rows with `score` (Float64, in
        [0, 1]), `correct` (Boolean) and `components` (String: JSON of partial scores, or null).
    `wrong`: says of a wrong answer in a word how it is wrong, from `value` and the columns of the table `answers`.
    `columns`: further columns that the kind's metrics read, from `value` and the columns of `answers`; whoever adds them
        leaves them null where no answer was read.
    `outcomes`: the words of a verdict, where p(success) of an answer means something.
    `gold(task, gold)`: the gold answer of a foreign exam, spelled as `parse` spells answers. BadInput where it is none.
    `defaults(task, gold)`: columns of `answers` that an index of a foreign exam may leave out.
    `task_of_gold(gold)`: the exam task that such a gold answer is one of, where it alone tells.
    """

    name: str
    formats: Mapping[str, Constraint | None]
    exam_tasks: Mapping[str, str]
    parse: Parser
    grade: Callable[[pl.DataFrame], pl.DataFrame]
    wrong: pl.Expr
    columns: Mapping[str, pl.Expr] = field(default_factory=dict)
    outcomes: Outcomes | None = None
    gold: Callable[[str, str], str] = same_gold
    defaults: Callable[[str, str], Mapping[str, str]] = no_defaults
    task_of_gold: Callable[[str], str | None] = no_task


def grade_equal(rows: pl.DataFrame) -> pl.DataFrame:
    """Right is what is spelled as gold is. `rows` and the result: see Question.grade."""
    same = pl.col("value") == pl.col("gold")
    return rows.with_columns(score=same.cast(pl.Float64), correct=same, components=pl.lit(None, pl.String))
