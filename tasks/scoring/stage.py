"""Answers, responses and parsed answers -> `scores`, `metrics`, `comparisons`, `findings`."""

from __future__ import annotations

from typing import Any

import polars as pl

from storage.store import ArtifactWriter
from storage.tables import SCHEMAS
from tasks.errors import BadInput
from tasks.scoring.comparisons import compare_all
from tasks.scoring.graded import grade
from tasks.scoring.metrics import measure, tasks_of
from tasks.scoring.modes import findings, flagged
from tasks.stage import Inputs, Stage
from tasks.statistics.bootstrap import RESAMPLES


def graded_from(inputs: Inputs) -> pl.DataFrame:
    """The graded frame of a run's artifacts: `answers`, and `responses.<judge>` with `parsed.<judge>` for every judge."""
    answers = inputs["answers"].read("answers")
    responses, parsed = inputs.all("responses"), inputs.all("parsed")
    if set(responses) != set(parsed):
        odd = ", ".join(sorted(set(responses) ^ set(parsed)))
        raise BadInput(f"responses and parsed answers are not of the same judges: {odd}")
    if not responses:
        raise BadInput("no judge has answered; run inference or import answers first")
    return grade(
        answers,
        pl.concat([artifact.read("responses") for artifact in responses.values()]),
        pl.concat([artifact.read("parsed") for artifact in parsed.values()]),
    )


def assess(graded: pl.DataFrame, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """`metrics`, `comparisons` and `findings` of a graded frame."""
    by_task = list(tasks_of(graded))
    metrics = measure(graded, resamples, seed)
    found = findings(metrics)
    return {
        "metrics": flagged(metrics, found),
        "comparisons": compare_all(by_task, resamples, seed),
        "findings": found,
    }


def _run(inputs: Inputs, config: dict[str, Any], writer: ArtifactWriter) -> None:
    graded = graded_from(inputs)
    writer.add("scores", graded.select(SCHEMAS["scores"].names).sort("judge", "uid", "replicate"))
    for table, rows in assess(graded, config.get("resamples", RESAMPLES), config.get("seed", 0)).items():
        writer.add(table, rows)


SCORING = Stage("scoring", 3, _run)
