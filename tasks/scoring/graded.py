"""What was planned, what was answered, and what each answer is worth: the frame that every metric reads.

This module is the only place that says what a group is (`group_id`), what counts as read (`ok`) and which presentation stands
where none is named. What an answer scores is said by its kind of question.
"""

from __future__ import annotations

import polars as pl

from tasks.errors import BadInput
from tasks.questions import Question, question_of_task
from tasks.questions.verdict import CANONICAL
from tasks.statistics.parts import KEYS

ANSWER = ["task", "gold", "value"]  # what decides what an answer is worth


def _only_known(name: str, rows: pl.DataFrame, answers: pl.DataFrame) -> None:
    unknown = rows.join(answers, on="uid", how="anti")
    if len(unknown):
        raise BadInput(
            f"{len(unknown)} {name} are about items that this exam does not have, the first is {unknown['uid'][0]!r}"
        )
    keys = ["uid", "judge", "replicate"]
    twice = rows.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)
    if len(twice):
        raise BadInput(
            f"{name}: {len(twice)} keys occur twice, the first is {dict(twice.select(keys).row(0, named=True))}"
        )


def grade(answers: pl.DataFrame, responses: pl.DataFrame, parsed: pl.DataFrame) -> pl.DataFrame:
    """Every planned item of every judge and replicate, answered or not.

    `answers`, `responses`, `parsed`: the tables of those names. The result has the columns of `answers` and `judge`,
    `replicate`, `status` (a response status, or `unparsed`, or `pending` where nothing came), `parse_mode`, `value`,
    `ok` (answered and read), `correct`, `score` and `components` (null unless ok), `right` (correct, with what was not read
    as wrong), `p_success`, `failure`, and the columns that the kinds of question in it add (null unless ok), such as `yes`,
    the verdict. Raises BadInput for responses to unknown items, for repeated keys and for tasks that are asked as no kind of
    question. Where an environment occurs in several configurations, `env` names the configuration: what is resampled and
    shown is a configuration (paper 1, D.7).
    """
    _only_known("responses", responses, answers)
    _only_known("parsed answers", parsed, answers)
    keys = ["uid", "judge", "replicate"]
    rated = pl.col("p_success") if "p_success" in responses.columns else pl.lit(None, pl.Float64).alias("p_success")
    judges = responses.select("judge", "replicate").unique().sort("judge", "replicate")
    read = parsed.select(*keys, "parse_mode", pl.col("value").cast(pl.String), pl.col("reason").alias("unread"))
    several = pl.col("env_id").n_unique().over("env") > 1
    rows = (
        answers.with_columns(
            pl.when(several).then("env_id").otherwise("env").alias("env"),
            pl.col("representation").fill_null(""),
            *(pl.col(name).fill_null(value) for name, value in CANONICAL.items()),
        )
        .join(judges, how="cross")
        .join(responses.select(*keys, pl.col("status").alias("answered"), rated), on=keys, how="left")
        .join(read, on=keys, how="left")
        .with_columns(
            pl.col("answered").fill_null("pending"),
            pl.col("parse_mode").fill_null("none"),
        )
        .with_columns(
            ok=(pl.col("answered") == "ok") & (pl.col("parse_mode") != "none") & pl.col("value").is_not_null()
        )
        .with_columns(
            status=pl.when((pl.col("answered") == "ok") & ~pl.col("ok")).then(pl.lit("unparsed")).otherwise("answered")
        )
    )
    return _worth(rows).drop("answered", "unread")


def _worth(rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` with what each answer is worth, by the kind of question that its task is asked as."""
    kinds = [(question_of_task(task), pl.col("task") == task) for task in rows["task"].unique(maintain_order=True)]
    answered = rows.filter("ok").select(ANSWER).unique(maintain_order=True)
    worth = [
        question.grade(answered.filter(asked)).select(
            *ANSWER, pl.col("score").cast(pl.Float64), "correct", pl.col("components").cast(pl.String)
        )
        for question, asked in kinds
    ]
    nothing = answered.clear().with_columns(
        score=pl.lit(None, pl.Float64), correct=pl.lit(None, pl.Boolean), components=pl.lit(None, pl.String)
    )
    rows = rows.join(pl.concat([nothing, *worth]), on=ANSWER, how="left", maintain_order="left")
    rows = rows.with_columns(pl.when("ok").then(pl.col("score", "correct", "components")), *_columns(kinds))
    rows = rows.with_columns(right=pl.col("correct").fill_null(False))
    return rows.with_columns(failure=_failure(kinds))


Kinds = list[tuple[Question, pl.Expr]]  # each kind of question with the condition that a row's task is asked as it


def _columns(kinds: Kinds) -> list[pl.Expr]:
    """The columns that the kinds add."""
    values: dict[str, list[pl.Expr]] = {}
    for question, asked in kinds:
        for name, value in question.columns.items():
            values.setdefault(name, []).append(pl.when(asked & pl.col("ok")).then(value))
    return [pl.coalesce(of_kind).alias(name) for name, of_kind in values.items()]


def _failure(kinds: Kinds) -> pl.Expr:
    """Why an item earned nothing, in a word: a status, why the text could not be read, or how the answer is wrong."""
    wrong = pl.coalesce([*(pl.when(asked).then(question.wrong) for question, asked in kinds), pl.lit(None, pl.String)])
    return (
        pl.when(pl.col("status") == "unparsed")
        .then(pl.concat_str(pl.lit("unparsed: "), pl.col("unread").fill_null("no answer")))
        .when(~pl.col("ok"))
        .then(pl.col("status"))
        .when(~pl.col("right"))
        .then(wrong)
    )


__all__ = ["CANONICAL", "KEYS", "grade"]
