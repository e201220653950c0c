"""Answers, responses and parsed answers -> `scores`, `metrics`, `comparisons`, `findings`."""

from __future__ import annotations

from typing import Any

import polars as pl

from storage.store import ArtifactWriter
from storage.tables import SCHEMAS
from tasks.errors import BadInput
from tasks.scoring.bootstrap import RESAMPLES
from tasks.scoring.graded import grade
from tasks.scoring.metrics import measure
from tasks.stage import Inputs, Stage


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


def _run(inputs: Inputs, config: dict[str, Any], writer: ArtifactWriter) -> None:
    graded = graded_from(inputs)
    writer.add("scores", graded.select(SCHEMAS["scores"].names).sort("judge", "uid", "replicate"))
    writer.add("metrics", measure(graded, config.get("resamples", RESAMPLES), config.get("seed", 0)))


SCORING = Stage("scoring", 1, _run)
