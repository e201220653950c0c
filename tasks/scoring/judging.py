"""Correctness and causal sensitivity of binary verdicts, Tasks C and D (paper 1, Appendix A.3, equations 16-20, 30-35)."""

from __future__ import annotations

import polars as pl

from tasks.scoring import parts
from tasks.scoring.graded import CANONICAL, KEYS

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
