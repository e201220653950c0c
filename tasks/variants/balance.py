"""Groups in an order in which every beginning of the list is balanced over the planner's difficulty."""

from __future__ import annotations

import polars as pl

STRATA = 3


def difficulty(trajectories: pl.DataFrame) -> pl.DataFrame:
    """group_id, steps, turns and doors (or gaps and doorways) passed of each Full trajectory, in the table's order."""
    turns = pl.element().str.contains("left|right")
    doors = pl.element().struct.field("name").str.starts_with("pass ")
    return trajectories.filter(pl.col("variant") == "full").select(
        "group_id",
        steps=pl.col("actions").list.len(),
        turns=pl.col("actions").list.eval(turns).list.sum(),
        doors=pl.col("events").list.eval(doors).list.sum(),
    )


def strata(measured: pl.DataFrame) -> pl.DataFrame:
    """`measured` with `stratum`: 0 for the easiest third, by the mean of the ranks in steps, turns and doors."""
    rank = pl.mean_horizontal(pl.col("steps", "turns", "doors").rank("average"))
    return measured.with_columns(stratum=(rank.rank("ordinal") - 1) * STRATA // pl.len())


def balanced_order(trajectories: pl.DataFrame) -> list[str]:
    """Every group once: one of each third in turn, within a third in the table's order."""
    turn = pl.int_range(pl.len()).over("stratum")
    return strata(difficulty(trajectories)).with_columns(turn=turn).sort("turn", "stratum")["group_id"].to_list()
