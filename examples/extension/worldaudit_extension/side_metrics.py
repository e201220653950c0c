"""A metric family: how often the side is named rightly, near and far from the flag."""

import polars as pl

from worldaudit import Metric, MetricFamily, rates


def parts(rows):
    own = rows.filter(pl.col("companion_of").is_null())
    return [
        rates(own, "Side_Acc", pl.col("correct")),
        rates(own, "Side_Acc_far", pl.col("correct"), where=pl.col("condition") == "far"),
    ]


FAMILY = MetricFamily(
    name="side",
    order=80,
    questions=("side",),
    metrics=(
        Metric("Side_Acc", "sides that are named rightly", "worldaudit_extension", compared=1, glance=1),
        Metric("Side_Acc_far", "the same where the flag is three cells away or more", "worldaudit_extension"),
    ),
    parts=parts,
)
