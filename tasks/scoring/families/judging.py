"""Correctness and causal sensitivity of binary verdicts, Tasks C and D (paper 1, Appendix A.3, equations 16-20, 30-35)."""

from __future__ import annotations

import polars as pl

from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import CANONICAL, KEYS
from tasks.statistics import parts
from tasks.statistics.metric import MIN_ACTIVE, Few, Metric

VARIANTS = ("full", "nocue", "cf")


def at_canonical() -> pl.Expr:
    return pl.all_horizontal(pl.col(name) == value for name, value in CANONICAL.items())


def pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a group in which Full and CF are both planned at the canonical presentation: `full` and `cf` are the
    verdicts (null: not read)."""
    neutral = rows.filter(at_canonical())
    return (
        neutral.group_by(KEYS, maintain_order=True)
        .agg(
            full=pl.col("yes").filter(pl.col("variant") == "full").first(),
            cf=pl.col("yes").filter(pl.col("variant") == "cf").first(),
            planned=pl.col("variant").filter(pl.col("variant").is_in(["full", "cf"])).n_unique(),
        )
        .filter(pl.col("planned") == 2)
    )


def judging_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """JAcc_neu, Acc by variant, Acc over all items, SuccC, p_active, IDR_raw, IDR_cond, IDR_rev."""
    neutral = rows.filter(at_canonical())
    found = [parts.rates(neutral, "JAcc_neu", pl.col("correct"), pl.col("variant") == "full")]
    for variant in VARIANTS:
        found.append(parts.rates(neutral, f"Acc_{variant}", pl.col("correct"), pl.col("variant") == variant))
        found.append(
            parts.rates(rows, "Acc", pl.col("correct"), pl.col("variant") == variant, slice_name=f"variant={variant}")
        )
    for axis in CANONICAL:
        for level in sorted(rows[axis].unique()):
            found.append(
                parts.rates(rows, "Acc", pl.col("correct"), pl.col(axis) == level, slice_name=f"{axis}={level}")
            )
    found.append(parts.rates(rows, "Acc", pl.col("correct")))
    found.append(parts.rates(rows, "SuccC", pl.col("yes")))
    both = pairs(rows)
    full, cf = pl.col("full"), pl.col("cf")
    read = full.is_not_null() & cf.is_not_null()
    found.append(parts.rates(both, "p_active", full, read=read))
    found.append(parts.rates(both, "IDR_raw", full & ~cf, read=read))
    found.append(parts.rates(both, "IDR_rev", ~full & cf, read=read))
    found.append(parts.given(both, "IDR_cond", ~cf, full))
    return found


CORRECTNESS, SENSITIVITY = "paper 1, equations 16-20", "paper 1, equations 30-35"

FAMILY = MetricFamily(
    name="judging",
    order=10,
    questions=("verdict",),
    metrics=(
        Metric(
            "JAcc_neu",
            "genuine successes (Full) that are accepted, at the neutral presentation",
            CORRECTNESS,
            compared=1,
            glance=1,
            across_judges=True,
        ),
        Metric("Acc_full", "Full that are accepted", CORRECTNESS, glance=2, glance_tasks=("C",)),
        Metric(
            "Acc_nocue",
            "NoCue that are accepted: the decisive objects are hidden, the outcome is still a success",
            CORRECTNESS,
            compared=2,
            glance=3,
            glance_tasks=("C",),
        ),
        Metric(
            "Acc_cf",
            "counterfactual failures (CF) that are rejected",
            CORRECTNESS,
            compared=3,
            glance=4,
            glance_tasks=("C",),
        ),
        Metric("Acc", "verdicts that are right, over all items or a slice of them", CORRECTNESS),
        Metric(
            "SuccC", "items that are called a success, whatever they are: a bias, not a merit", CORRECTNESS, compared=4
        ),
        Metric(
            "p_active",
            "groups whose Full trajectory is accepted; without this, rejecting a CF says nothing",
            SENSITIVITY,
            compared=5,
            glance=6,
            glance_tasks=("C",),
            across_judges=True,
        ),
        Metric(
            "IDR_raw",
            "groups whose Full is accepted and whose CF is rejected: the main number of causal sensitivity",
            SENSITIVITY,
            compared=6,
            glance=5,
            across_judges=True,
        ),
        Metric(
            "IDR_cond",
            "CF that are rejected, among the groups whose Full is accepted",
            SENSITIVITY,
            compared=7,
            across_judges=True,
            few=Few(MIN_ACTIVE, "low_activation", "active groups"),
            undefined="no group accepts its Full trajectory",
        ),
        Metric("IDR_rev", "groups that are judged exactly the wrong way round", SENSITIVITY),
    ),
    parts=judging_parts,
)
