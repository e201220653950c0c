"""Output compliance (paper 1, Table 14): what became of every planned item."""

from __future__ import annotations

import polars as pl

from tasks.scoring import parts
from tasks.scoring.graded import KEYS

OUTCOMES = ("strict", "recovered", "unparsed", "truncated", "refused", "api_error", "pending")


def compliance_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The share of planned items that were parsed (strictly, after a recovery), and that failed in each way."""
    became = pl.when("ok").then("parse_mode").otherwise("status")
    told = rows.select(*KEYS, became=became)
    found = [parts.rates(told, f"share_{name}", pl.col("became") == name) for name in OUTCOMES]
    found.append(parts.rates(told, "share_parsed", pl.col("became").is_in(["strict", "recovered"])))
    # One reading only: every planned item has an outcome.
    return [part.filter(pl.col("protocol") == "all").with_columns(best=pl.lit(None, pl.Float64)) for part in found]


def retest_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """How often two replicates of an item agree; nothing where there is one replicate."""
    if rows["replicate"].n_unique() < 2:
        return []
    on = ["judge", "uid"]
    first, *others = sorted(rows["replicate"].unique())
    base = rows.filter(pl.col("replicate") == first).select(*KEYS, "uid", pl.col("value").alias("first"))
    again = rows.filter(pl.col("replicate").is_in(others)).select(*on, pl.col("value").alias("again"))
    return [parts.rates(base.join(again, on=on), "retest_agreement", pl.col("first") == pl.col("again"))]
