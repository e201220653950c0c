"""All metrics of an exam: graded rows -> rows of `metrics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tasks.scoring import parts
from tasks.scoring.bootstrap import RESAMPLES
from tasks.scoring.compliance import compliance_parts, retest_parts
from tasks.scoring.exchange import exchange_parts
from tasks.scoring.graded import BINARY_TASKS
from tasks.scoring.judging import judging_parts
from tasks.scoring.leakage import leakage_fits, leakage_rows
from tasks.scoring.local import scene_parts, tracking_parts, transition_parts
from tasks.scoring.stability import stability_parts


def tasks_of(graded: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(world, task, rows) of every task, with the first replicate only."""
    first = graded.filter(pl.col("replicate") == pl.col("replicate").min().over("judge"))
    for (world, task), rows in first.group_by("world", "task", maintain_order=True):
        yield str(world), str(task), rows


def task_parts(task: str, rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Parts of every metric of one task of one world."""
    if task in BINARY_TASKS:
        return [*judging_parts(rows), *stability_parts(rows), *exchange_parts(rows), *compliance_parts(rows)]
    if task == "A":
        true = rows.filter(pl.col("companion_of").is_null())
        return [*transition_parts(rows), *compliance_parts(true)]
    base = rows.filter(pl.col("companion_of").is_null())
    local = scene_parts(base) if task == "B" else tracking_parts(base) if task == "E" else []
    return [*local, *compliance_parts(base)]


def measure(graded: pl.DataFrame, resamples: int = RESAMPLES, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of `metrics` for every judge, task, representation, slice and protocol of `graded` (see graded.grade)."""
    found: list[dict[str, Any]] = []
    for world, task, rows in tasks_of(graded):
        again = retest_parts(graded.filter((pl.col("world") == world) & (pl.col("task") == task)))
        made = pl.concat([*task_parts(task, rows), *again])
        found.extend(parts.summarize(parts.with_slices(made), resamples, seed))
        if task in BINARY_TASKS:
            for seat, family, fit, planned, read in leakage_fits(rows):
                found.extend(leakage_rows(seat, family, fit, planned, read))
    return found
