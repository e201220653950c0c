"""What a family of metrics is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.statistics.metric import Metric


def nothing(rows: pl.DataFrame) -> list[Any]:
    return []


@dataclass(frozen=True)
class MetricFamily:
    """Metrics that are made together from the graded rows of one task of one world (see graded.grade).

    `order`: where its metrics and comparisons stand among those of other families.
    `questions`: the kinds of question whose tasks it reads; None: every kind.
    `metrics`: the record of every metric that it makes.
    `parts(rows)`: the parts of its metrics by group (see tasks/statistics/parts.py), of which intervals and rows are made.
    `rows(rows)`: rows of the table `metrics` for numbers that are no ratio of sums over groups, such as fits.
    `comparisons(rows)`: rows of the table `comparisons` (see differences.py) other than those between judges.
    `replicates`: whether it reads every replicate of an answer; else only the first.
    """

    name: str
    order: int
    questions: tuple[str, ...] | None
    metrics: tuple[Metric, ...]
    parts: Callable[[pl.DataFrame], list[pl.DataFrame]] = nothing
    rows: Callable[[pl.DataFrame], Iterable[dict[str, Any]]] = nothing
    comparisons: Callable[[pl.DataFrame], Iterable[dict[str, Any]]] = nothing
    replicates: bool = False

    def reads(self, question: str) -> bool:
        return self.questions is None or question in self.questions
