"""Output compliance (paper 1, Table 14): what became of every planned item."""

from __future__ import annotations

import polars as pl

from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import KEYS
from tasks.statistics import parts
from tasks.statistics.metric import Metric

OUTCOMES = ("strict", "recovered", "unparsed", "truncated", "refused", "api_error", "pending")


def once(rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` without the companions that stand in the same representation as the item that they accompany: the same question
    under another condition, which counts for paired numbers only."""
    main = rows.select(companion_of="uid", beside="representation").unique()
    same = (pl.col("representation") == pl.col("beside")).fill_null(False)
    return rows.join(main, on="companion_of", how="left", maintain_order="left").filter(~same).drop("beside")


def compliance_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """The share of planned items that were parsed (strictly, after a recovery), and that failed in each way."""
    became = pl.when("ok").then("parse_mode").otherwise("status")
    told = once(rows).select(*KEYS, became=became)
    found = [parts.rates(told, f"share_{name}", pl.col("became") == name) for name in OUTCOMES]
    found.append(parts.rates(told, "share_parsed", pl.col("became").is_in(["strict", "recovered"])))
    # One reading only: every planned item has an outcome.
    return [part.filter(pl.col("protocol") == "all").with_columns(best=pl.lit(None, pl.Float64)) for part in found]


FAMILY = MetricFamily(
    name="compliance",
    order=80,
    questions=None,
    metrics=(
        Metric(
            "share_*",
            "planned items that became that: strict, recovered, unparsed, ...",
            "paper 1, Table 14",
            resampled=False,
        ),
    ),
    parts=compliance_parts,
)
