"""Exchangeability of representations: VCC (paper 1, equations 27-29) and Composite/Split transitions (Table 19)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tasks.scoring.differences import item_differences
from tasks.scoring.families.judging import VARIANTS
from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import KEYS
from tasks.statistics import parts
from tasks.statistics.metric import Metric

ORACLES = ("oracle", "state")  # representations that give the state in words
PRESENTATION = ["variant", "temporal", "visual", "framing"]


def twins(rows: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Items of representation `first` beside the same item in `second`: `yes`, `right`, `correct`, and the same with
    `_other`. `representation` becomes "first/second"."""
    on = [*[key for key in KEYS if key != "representation"], *PRESENTATION]
    values = ["yes", "correct", "right"]
    one = rows.filter(pl.col("representation") == first).select(*on, *values)
    two = rows.filter(pl.col("representation") == second).select(*on, *values)
    return one.join(two, on=on, suffix="_other", maintain_order="left").with_columns(
        representation=pl.lit(f"{first}/{second}")
    )


def exchange_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """VCC_rep (all matched items; by variant; Full and CF together as in Table 12; given the composite verdict), verdict
    flips, gains and losses a variant, and VCC_oracle where items state the state in words."""
    found: list[pl.DataFrame] = []
    present = set(rows["representation"].unique())
    both = twins(rows, "composite", "split")
    same = pl.col("yes") == pl.col("yes_other")
    if len(both):
        variant = pl.col("variant")
        found.append(parts.rates(both, "VCC_rep", same))
        found.append(parts.rates(both, "VCC_rep_full_cf", same, variant.is_in(["full", "cf"])))
        found.append(parts.given(both, "VCC_rep_given_success", same, pl.col("yes")))
        found.append(parts.given(both, "VCC_rep_given_fail", same, ~pl.col("yes")))
        read = pl.col("yes").is_not_null() & pl.col("yes_other").is_not_null()
        for name in VARIANTS:
            some = both.filter(variant == name)
            if not len(some):
                continue
            gain, loss = ~pl.col("right") & pl.col("right_other"), pl.col("right") & ~pl.col("right_other")
            found += [
                parts.rates(some, f"VCC_rep_{name}", same),
                parts.rates(some, f"verdict_flip_{name}", ~same, missing=True),
                parts.rates(some, f"gain_{name}", gain, read=read),
                parts.rates(some, f"loss_{name}", loss, read=read),
                parts.signed(some, f"delta_acc_split_{name}", pl.col("correct_other"), pl.col("correct")),
            ]
    for oracle in ORACLES:
        if oracle in present:
            pixel = "composite" if "composite" in present else ""
            found.append(parts.rates(twins(rows, pixel, oracle), "VCC_oracle", same))
    return found


def representation_comparisons(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Correctness as separate pictures against as one storyboard, by variant."""
    both = twins(rows, "composite", "split")
    if len(both):
        swapped = both.rename({"right": "right_other", "right_other": "right"})
        yield from item_differences(swapped, "representation", ["variant"], "composite")


EXCHANGE, TRANSITIONS = "paper 1, equations 27-29", "paper 1, Table 19"

FAMILY = MetricFamily(
    name="exchange",
    order=30,
    questions=("verdict",),
    metrics=(
        Metric(
            "VCC_rep",
            "items that get one verdict as a storyboard and as separate pictures",
            EXCHANGE,
            glance=7,
            glance_tasks=("C",),
        ),
        Metric("VCC_rep_full_cf", "the same, of Full and CF together", "paper 1, Table 12"),
        Metric("VCC_rep_given_*", "the same, of the items that get that verdict as a storyboard", EXCHANGE),
        Metric("VCC_rep_*", "the same, of one variant", EXCHANGE),
        Metric("VCC_oracle", "items that get one verdict as pictures and with the state in words", EXCHANGE),
        Metric(
            "verdict_flip_*",
            "items of the variant whose verdict differs as separate pictures",
            TRANSITIONS,
            resampled=False,
        ),
        Metric("gain_*", "items of the variant that are right as separate pictures only", TRANSITIONS, resampled=False),
        Metric("loss_*", "items of the variant that are right as a storyboard only", TRANSITIONS, resampled=False),
        Metric(
            "delta_acc_split_*",
            "accuracy as separate pictures less that as a storyboard, of the variant",
            TRANSITIONS,
            interval="difference",
        ),
    ),
    parts=exchange_parts,
    comparisons=representation_comparisons,
)
