"""What was picked up, and what became of it (Task E; paper 1, equation 39)."""

from __future__ import annotations

import polars as pl

from tasks.scoring.family import MetricFamily
from tasks.statistics import parts
from tasks.statistics.metric import Metric


def tracking_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """E_Acc over all items, by query type (identity, status) and by checkpoint."""
    rows = rows.filter(pl.col("companion_of").is_null())
    found = [
        parts.rates(rows, "E_Acc", pl.col("correct")),
        parts.scores(rows, "E_MeanScore", pl.col("score")),
    ]
    for condition in sorted(rows["condition"].drop_nulls().unique()):
        at = pl.col("condition") == condition
        found.append(parts.rates(rows, "E_Acc", pl.col("correct"), at, slice_name=f"condition={condition}"))
    for query in ("identity", "status"):
        asked = pl.col("condition").str.starts_with(query)
        if len(rows.filter(asked)):
            found.append(parts.rates(rows, "E_Acc", pl.col("correct"), asked, slice_name=f"query={query}"))
    return found


FAMILY = MetricFamily(
    name="tracking",
    order=70,
    questions=("label",),
    metrics=(
        Metric(
            "E_Acc",
            "questions about the first object picked up that are answered rightly",
            "paper 1, equation 39",
            compared=1,
            glance=1,
        ),
        Metric("E_MeanScore", "mean score of those answers", "paper 1, equation 39"),
    ),
    parts=tracking_parts,
)
