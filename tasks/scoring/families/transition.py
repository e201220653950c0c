"""Does the next state follow from the action? Accuracy with the true action and what is lost without it (Task A; paper 1,
equations 36-37)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tasks.questions.letter import LETTERS
from tasks.scoring.differences import item_differences
from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import KEYS
from tasks.statistics import parts
from tasks.statistics.metric import Metric

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


def ablation_comparisons(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Accuracy with the true action against that under each ablation."""
    for condition in ABLATIONS:
        pairs = ablated(rows, condition)
        if len(pairs):
            yield from item_differences(pairs, "action ablation", [], condition, "Acc_A1")


FAMILY = MetricFamily(
    name="transition",
    order=50,
    questions=("letter",),
    metrics=(
        Metric(
            "Acc_A1",
            "next states that are picked rightly; chance is 0.25",
            "paper 1, equation 36",
            compared=1,
            glance=1,
        ),
        *(
            Metric(
                f"delta_{condition}",
                f"what of Acc_A1 is lost when the action is {lost}",
                "paper 1, equation 37",
                interval="difference",
                compared=place,
                glance=place,
            )
            for place, condition, lost in ((2, "shuffle", "replaced by another"), (3, "mask", "withheld"))
        ),
        *(
            Metric(f"Acc_A1_{condition}", "the same under that ablation", "paper 1, equation 37")
            for condition in ABLATIONS
        ),
        Metric(
            "chose_*", "answers that choose that letter, right or not: a bias", "paper 1, Appendix A.3", resampled=False
        ),
    ),
    parts=transition_parts,
    comparisons=ablation_comparisons,
)
