"""The local controls: Task A's transitions (paper 1, equations 36-37), Task B's scenes (38), Task E's tracking (39)."""

from __future__ import annotations

import polars as pl

from tasks.scoring import parts
from tasks.scoring.graded import KEYS, SCENE_WEIGHTS

LETTERS = ("A", "B", "C", "D")
ABLATIONS = ("shuffle", "mask")


def ablated(rows: pl.DataFrame, condition: str) -> pl.DataFrame:
    """Task A items with the true action beside their companion under `condition`: `correct` and `correct_other`."""
    true = rows.filter(pl.col("condition") == "true").select(*KEYS, "uid", "correct", "right", "replicate")
    other = rows.filter(pl.col("condition") == condition).select(
        "judge", "replicate", pl.col("companion_of").alias("uid"), "correct", "right"
    )
    return true.join(other, on=["judge", "replicate", "uid"], suffix="_other", maintain_order="left")


def transition_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Acc_A1, its accuracy under each ablation, both drops, and how often each letter is chosen (position bias)."""
    true = rows.filter((pl.col("condition") == "true") | pl.col("condition").is_null())
    found = [parts.rates(true, "Acc_A1", pl.col("correct"))]
    for letter in LETTERS:
        chosen = pl.when("ok").then(pl.col("value") == letter)
        found.append(parts.rates(true, f"chose_{letter}", chosen))
    for condition in ABLATIONS:
        pairs = ablated(rows, condition)
        if not len(pairs):
            continue
        found.append(parts.rates(rows, f"Acc_A1_{condition}", pl.col("correct"), pl.col("condition") == condition))
        found.append(parts.signed(pairs, f"delta_{condition}", pl.col("correct"), pl.col("correct_other")))
    return found


def scene_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """B_MeanScore, B_Acc (score of 0.90 or more) and the components of the score (Table 15)."""
    found = [
        parts.scores(rows, "B_MeanScore", pl.col("score")),
        parts.rates(rows, "B_Acc", pl.col("correct")),
    ]
    for name in SCENE_WEIGHTS:
        found.append(
            parts.scores(rows, f"B_{name}", pl.col("components").str.json_path_match(f"$.{name}").cast(pl.Float64))
        )
    return found


def tracking_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """E_Acc over all items, by query type (identity, status) and by checkpoint."""
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
