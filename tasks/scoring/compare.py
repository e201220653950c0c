"""Two judges, two runs or two prompt sets on the same items: paired differences, which items changed, and whether a metric
fell by more than is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tasks.errors import BadInput
from tasks.scoring.comparisons import adjusted, headline_parts
from tasks.scoring.differences import MAX_GAP, differences
from tasks.scoring.metrics import tasks_of
from tasks.statistics.bootstrap import RESAMPLES


@dataclass(frozen=True)
class Gate:
    """One regression rule: `metric` (of `task`, or of all) may not fall by more than `drop`. `verdict` is `fell` (its 95%
    interval lies below -drop), `held` (above), `cannot_tell`, or `not_comparable`."""

    task: str
    representation: str | None
    metric: str
    drop: float
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """`rows`: differences second - first, as in the table `comparisons`. `changed`: items whose answer differs. `read`: by
    task, the share of items that was read of first and second. `gates`: the regression rules that were asked for."""

    first: str
    second: str
    rows: list[dict[str, Any]]
    changed: pl.DataFrame
    read: dict[str, tuple[float, float]]
    gates: list[Gate] = field(default_factory=list)

    @property
    def regressed(self) -> bool:
        return any(gate.verdict in ("fell", "not_comparable") for gate in self.gates)


def compare(
    first: pl.DataFrame,
    second: pl.DataFrame,
    names: tuple[str, str],
    limits: Mapping[str, float] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    max_gap: float = MAX_GAP,
) -> Comparison:
    """Compare two graded frames of one judge each (see graded.grade) on the items that both plan.

    `limits` maps a metric, or TASK.METRIC, to the largest fall from first to second that is let pass. Raises BadInput
    where no item is shared, and for limits on metrics that are not compared.
    """
    one, two = (frame.filter(pl.col("replicate") == pl.col("replicate").min()) for frame in (first, second))
    one = one.join(two, on=["uid", "gold"], how="semi").with_columns(judge=pl.lit("first"))
    two = two.join(one, on=["uid", "gold"], how="semi").with_columns(judge=pl.lit("second"))
    if not len(one):
        raise BadInput(f"{names[0]} and {names[1]} have no item in common; compare answers to the same exam")
    rows: list[dict[str, Any]] = []
    read = {}
    for world, task, some in tasks_of(pl.concat([one, two])):
        parts = headline_parts(task, some)
        rows += differences(parts, [("second", "first")], "compare", resamples, seed, max_gap)
        shares = dict(some.group_by("judge").agg(pl.col("ok").mean()).iter_rows())
        read[f"{world} {task}"] = (shares["first"], shares["second"])
    named = [{**row, "family": "compare", "judge": names[1], "against": names[0]} for row in rows]
    changed = (
        one.select("uid", "task", "gold", first="value", first_right="right", first_status="status")
        .join(two.select("uid", second="value", second_right="right", second_status="status"), on="uid")
        .filter(pl.col("first").ne_missing(pl.col("second")))
        .sort("uid")
    )
    gates = [gate for name, drop in (limits or {}).items() for gate in _gates(name, drop, named)]
    return Comparison(*names, adjusted(named), changed, read, gates)


def _gates(name: str, drop: float, rows: list[dict[str, Any]]) -> list[Gate]:
    task, _, metric = name.rpartition(".")
    chosen = [row for row in rows if row["metric"] == metric and task in ("", row["task"])]
    if not chosen:
        known = ", ".join(sorted({f"{row['task']}.{row['metric']}" for row in rows}))
        raise BadInput(f"no metric {name!r} is compared here; there are {known}")
    return [
        Gate(
            row["task"],
            row["representation"],
            metric,
            drop,
            row["difference"],
            row["ci_low"],
            row["ci_high"],
            _verdict(row, drop),
        )
        for row in chosen
    ]


def _verdict(row: dict[str, Any], drop: float) -> str:
    if row["reason"] and row["reason"].startswith("not comparable"):
        return "not_comparable"
    if row["ci_high"] is None:
        return "cannot_tell"
    return "fell" if row["ci_high"] < -drop else "held" if row["ci_low"] > -drop else "cannot_tell"
