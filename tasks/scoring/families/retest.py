"""Does a judge say the same when it is asked again?"""

from __future__ import annotations

import polars as pl

from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import KEYS
from tasks.statistics import parts
from tasks.statistics.metric import Metric


def retest_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """How often two replicates of an item agree; nothing where there is one replicate."""
    if rows["replicate"].n_unique() < 2:
        return []
    on = ["judge", "uid"]
    first, *others = sorted(rows["replicate"].unique())
    base = rows.filter(pl.col("replicate") == first).select(*KEYS, "uid", pl.col("value").alias("first"))
    again = rows.filter(pl.col("replicate").is_in(others)).select(*on, pl.col("value").alias("again"))
    return [parts.rates(base.join(again, on=on), "retest_agreement", pl.col("first") == pl.col("again"))]


FAMILY = MetricFamily(
    name="retest",
    order=90,
    questions=None,
    metrics=(Metric("retest_agreement", "items that get the same answer in two replicates", "this project"),),
    parts=retest_parts,
    replicates=True,
)
