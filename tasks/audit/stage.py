"""An exam, and what judges answered to it -> the table `shortcuts`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from storage import Artifact
from storage.store import ArtifactWriter
from storage.tables import SCHEMAS
from tasks.audit.actions import action_need
from tasks.audit.record import Audit, Reached
from tasks.errors import BadInput
from tasks.parsing import parse_responses
from tasks.scoring import grade
from tasks.stage import Config, Inputs, Stage
from tasks.statistics.bootstrap import Sums
from tasks.statistics.intervals import rate_interval


def audit_release(
    release: Artifact,
    answers: pl.DataFrame,
    responses: Mapping[str, pl.DataFrame] | None = None,
    seed: int = 0,
    parsed: Mapping[str, pl.DataFrame] | None = None,
) -> Audit:
    """Audit an exam from its artifact `release` (items, images) and the table `answers`. `responses`, `parsed`: by judge, the
    tables of judges that have sat it; where only the responses are given they are read by the robust rule."""
    from tasks.audit.shortcuts import shortcuts_of  # scikit-learn: not for who only names the stage

    responses = responses or {}
    if parsed is None and responses:
        items = release.read("items")
        parsed = {judge: _read(items, given) for judge, given in responses.items()}
    judges = {judge: _reached(answers, given, (parsed or {})[judge]) for judge, given in responses.items()}
    return Audit(release.key, shortcuts_of(release, answers, seed), action_need(answers), judges)


def _read(items: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    schema = pl.DataFrame(pl.from_arrow(SCHEMAS["parsed"].empty_table())).schema
    return pl.DataFrame(list(parse_responses(items, responses)), schema=schema)


def _reached(answers: pl.DataFrame, responses: pl.DataFrame, parsed: pl.DataFrame) -> dict[str, Reached]:
    """What a judge reached, by task. A task of which nothing was read has no number."""
    base = pl.col("companion_of").is_null()
    graded = grade(answers, responses, parsed).filter(base)
    reached = {}
    for (task,), planned in sorted(answers.filter(base).group_by("task"), key=lambda keyed: str(keyed[0])):
        rows = graded.filter(pl.col("task") == task)
        groups = planned["group_id"].n_unique()
        if not rows["ok"].any():
            answers_given = (rows["status"] != "pending").sum()
            reason = f"none of {answers_given} answers could be read" if answers_given else "it answered nothing"
            reached[str(task)] = Reached(len(planned), groups, None, reason=reason)
            continue
        by_group = rows.group_by("group_id").agg(pl.col("right").sum(), items=pl.len())
        num, den = (by_group[name].to_numpy().astype(float)[:, None] for name in ("right", "items"))
        low, high, _ = rate_interval(Sums(num, den))
        bounds = (float(low[0]), float(high[0])) if groups > 1 else (None, None)
        reached[str(task)] = Reached(len(rows), groups, float(np.sum(num) / np.sum(den)), *bounds)
    return reached


def _run(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: release, answers; and responses.<judge> with parsed.<judge> of every judge that has sat the exam. config:
    seed."""
    responses, parsed = inputs.all("responses"), inputs.all("parsed")
    if set(responses) != set(parsed):
        odd = ", ".join(sorted(set(responses) ^ set(parsed)))
        raise BadInput(f"responses and parsed answers are not of the same judges: {odd}")
    audit = audit_release(
        inputs["release"],
        inputs["answers"].read("answers"),
        {name: artifact.read("responses") for name, artifact in responses.items()},
        config.get("seed", 0),
        {name: artifact.read("parsed") for name, artifact in parsed.items()},
    )
    writer.add("shortcuts", audit.rows())


SHORTCUTS = Stage("shortcuts", 1, _run)
