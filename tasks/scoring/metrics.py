"""All metrics of an exam: graded rows -> rows of `metrics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tasks.scoring.families import families_of, metrics_of
from tasks.statistics.bootstrap import RESAMPLES
from tasks.statistics.metric import by_name
from tasks.statistics.parts import summarize, together, with_slices


def tasks_of(graded: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(world, task, rows) of every task, with the first replicate only."""
    first = graded.filter(pl.col("replicate") == pl.col("replicate").min().over("judge"))
    for (world, task), rows in first.group_by("world", "task", maintain_order=True):
        yield str(world), str(task), rows


def measure(graded: pl.DataFrame, resamples: int = RESAMPLES, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of `metrics` for every judge, task, representation, slice and protocol of `graded` (see graded.grade).

    BadInput names a task that is asked as no kind of question.
    """
    made: list[dict[str, Any]] = []
    for world, task, rows in tasks_of(graded):
        families = families_of(task)
        every = graded.filter((pl.col("world") == world) & (pl.col("task") == task))
        parts = together(part for family in families for part in family.parts(every if family.replicates else rows))
        made.extend(summarize(with_slices(parts), by_name(metrics_of(families)), resamples, seed))
        for family in families:
            made.extend(family.rows(every if family.replicates else rows))
    return made
