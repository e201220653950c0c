"""What was planned, what was answered, and what each answer is worth: the frame that every metric reads.

This module is the only place that says what a group is (`group_id`), what counts as read (`ok`), which presentation is
the canonical one (`CANONICAL`) and what an answer scores.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from tasks.errors import BadInput

CANONICAL = {"temporal": "orig", "visual": "clean", "framing": "neu"}  # the presentation phi_0 of paper 1, Appendix A.1
BINARY_TASKS = ("C", "D")
POSITIVE = ("yes", "success")
KEYS = ["judge", "world", "task", "representation", "group_id", "env"]

# Task B: the component weights of the scene score, and the score from which a scene counts as right.
SCENE_WEIGHTS = {"position": 0.1, "carrying": 0.2, "front_cell": 0.3, "objects": 0.4}
SCENE_THRESHOLD = 0.90


def score_scene(gold: dict[str, Any], stated: dict[str, Any]) -> dict[str, float]:
    """Component scores of Task B in [0, 1] (paper 1, Table 15): position and heading, carried object and front cell are
    right or wrong; objects are a Jaccard index over (type, color, state, position)."""

    def things(scene: dict[str, Any]) -> set[str]:
        return {
            json.dumps([thing.get(name) for name in ("type", "color", "state", "pos")])
            for thing in scene.get("objects") or []
        }

    def front(scene: dict[str, Any]) -> tuple[Any, ...]:
        cell = scene.get("front_cell") or {}
        return tuple(cell.get(name) for name in ("type", "color", "state"))

    one, other = gold.get("agent") or {}, stated.get("agent") or {}
    union = things(gold) | things(stated)
    return {
        "position": float(one.get("pos") == other.get("pos") and one.get("dir") == other.get("dir")),
        "carrying": float(one.get("carrying") == other.get("carrying")),
        "front_cell": float(front(gold) == front(stated)),
        "objects": len(things(gold) & things(stated)) / len(union) if union else 1.0,
    }


def _scene_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Distinct (gold, value) pairs of Task B with `score` and `components`. A loop: JSON is compared, not columns."""
    pairs = rows.filter((pl.col("task") == "B") & pl.col("ok")).select("gold", "value").unique(maintain_order=True)
    scored = []
    for gold, value in pairs.iter_rows():
        parts = score_scene(json.loads(gold), json.loads(value))
        scored.append(
            {
                "gold": gold,
                "value": value,
                "scene_score": sum(SCENE_WEIGHTS[name] * part for name, part in parts.items()),
                "components": json.dumps(parts),
            }
        )
    schema = {"gold": pl.String, "value": pl.String, "scene_score": pl.Float64, "components": pl.String}
    return pl.DataFrame(scored, schema=schema)


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
    `ok` (answered and read), `correct` and `score` (null unless ok), `right` (correct, with what was not read as wrong),
    `yes` (the verdict of C and D; null unless ok), `p_success`, `components`, `failure`. Raises BadInput for responses to unknown
    items and for repeated keys. Where an environment occurs in several configurations, `env` names the configuration: what
    is resampled and shown is a configuration (paper 1, D.7).
    """
    _only_known("responses", responses, answers)
    _only_known("parsed answers", parsed, answers)
    keys = ["uid", "judge", "replicate"]
    rated = pl.col("p_success") if "p_success" in responses.columns else pl.lit(None, pl.Float64).alias("p_success")
    seats = responses.select("judge", "replicate").unique().sort("judge", "replicate")
    several = pl.col("env_id").n_unique().over("env") > 1
    rows = (
        answers.with_columns(
            pl.when(several).then("env_id").otherwise("env").alias("env"),
            pl.col("representation").fill_null(""),
            *(pl.col(name).fill_null(value) for name, value in CANONICAL.items()),
        )
        .join(seats, how="cross")
        .join(responses.select(*keys, pl.col("status").alias("answered"), rated), on=keys, how="left")
        .join(parsed.select(*keys, "parse_mode", "value", pl.col("reason").alias("unread")), on=keys, how="left")
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
    rows = rows.join(_scene_scores(rows), on=["gold", "value"], how="left")
    score = (
        pl.when(pl.col("task") == "B")
        .then("scene_score")
        .otherwise((pl.col("value") == pl.col("gold")).cast(pl.Float64))
    )
    rows = rows.with_columns(score=pl.when("ok").then(score))
    threshold = pl.when(pl.col("task") == "B").then(SCENE_THRESHOLD - 1e-9).otherwise(1.0)
    rows = rows.with_columns(
        correct=pl.col("score") >= threshold,
        yes=pl.when(pl.col("ok") & pl.col("task").is_in(BINARY_TASKS)).then(pl.col("value").is_in(POSITIVE)),
    ).with_columns(right=pl.col("correct").fill_null(False))
    return rows.with_columns(failure=_failure(rows)).drop("scene_score", "answered", "unread")


def _failure(rows: pl.DataFrame) -> pl.Expr:
    """Why an item earned nothing, in a word: a status, why the text could not be read, or how the answer is wrong."""
    chosen = (
        pl.col("options").list.get(
            pl.col("value").replace_strict({"A": 0, "B": 1, "C": 2, "D": 3}, default=0), null_on_oob=True
        )
        if rows.schema["options"] == pl.List(pl.String)
        else pl.lit(None, pl.String)
    )
    wrong = (
        pl.when(pl.col("task").is_in(BINARY_TASKS))
        .then(pl.when("yes").then(pl.lit("false_success")).otherwise(pl.lit("false_fail")))
        .when(pl.col("task") == "A")
        .then(pl.concat_str(pl.lit("chose "), chosen.fill_null("another candidate")))
        .when(pl.col("task") == "B")
        .then(pl.lit("scene_below_threshold"))
        .otherwise(pl.lit("wrong_label"))
    )
    return (
        pl.when(pl.col("status") == "unparsed")
        .then(pl.concat_str(pl.lit("unparsed: "), pl.col("unread").fill_null("no answer")))
        .when(~pl.col("ok"))
        .then(pl.col("status"))
        .when(~pl.col("right"))
        .then(wrong)
    )
