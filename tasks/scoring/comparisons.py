"""Every comparison of an exam: between judges in the headline metrics, and those that the metric families make.

p-values are adjusted by Holm within the named family (see differences.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tasks.scoring.differences import comparison_row, differences
from tasks.scoring.families import compared_families, families_of, headline_metrics, metrics_of
from tasks.statistics.bootstrap import RESAMPLES
from tasks.statistics.parts import ALL, POOLED, together
from tasks.statistics.significance import holm, wilcoxon


def headline_parts(task: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The parts of a task's headline metrics, over everything planned."""
    made = together(part for family in compared_families(task) for part in family.parts(rows))
    return made.filter(
        (pl.col("slice") == ALL) & (pl.col("protocol") == "all") & pl.col("metric").is_in(headline_metrics(task))
    )


def _across_judges(world: str, task: str, parts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Table 3: Split - Composite of each judge's metric, tested across judges by Wilcoxon's signed-rank test. A judge in whom
    the metric has too few groups to count is left out."""
    sums = parts.group_by("judge", "representation", "metric").agg(pl.col("num").sum(), pl.col("den").sum())
    sums_of = {(judge, shown, metric): (num, den) for judge, shown, metric, num, den in sums.iter_rows()}
    judges = sorted(parts["judge"].unique())
    for metric in metrics_of(compared_families(task)):
        if not metric.across_judges:
            continue
        least = metric.few.below if metric.few else 1
        value = {
            (judge, shown): num / den
            for (judge, shown, name), (num, den) in sums_of.items()
            if name == metric.name and den >= least
        }
        changes = [
            value[judge, "split"] - value[judge, "composite"]
            for judge in judges
            if (judge, "split") in value and (judge, "composite") in value
        ]
        if not changes:
            continue
        p_value, test = wilcoxon(changes)
        yield comparison_row(
            family=f"representation across judges: {world} {task}",
            judge=POOLED,
            against="composite",
            world=world,
            task=task,
            representation="split",
            metric=metric.name,
            difference=float(np.mean(changes)),
            n_pairs=len(changes),
            only_first=sum(change > 0 for change in changes),
            only_second=sum(change < 0 for change in changes),
            p_value=p_value,
            test=test,
            reason=None if p_value is not None else "every judge scores the same under both",
        )


def compare_all(
    by_task: Sequence[tuple[str, str, pl.DataFrame]], resamples: int = RESAMPLES, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of `comparisons` for every task (see metrics.tasks_of), Holm's correction included."""
    found: list[dict[str, Any]] = []
    for world, task, rows in by_task:
        parts = headline_parts(task, rows)
        judges = sorted(parts["judge"].unique())
        found.extend(differences(parts, list(itertools.combinations(judges, 2)), "judges", resamples, seed))
        for family in families_of(task):
            found.extend(family.comparisons(rows))
        found.extend(_across_judges(world, task, parts))
    return adjusted(found)


def adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`rows` with `p_holm` within each family."""
    families: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        families.setdefault(row["family"], []).append(index)
    for members in families.values():
        for index, p_value in zip(members, holm([rows[index]["p_value"] for index in members]), strict=True):
            rows[index]["p_holm"] = p_value
    return rows
