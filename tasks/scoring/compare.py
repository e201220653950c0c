"""Two judges, two runs or two prompt sets on the same items: paired differences, which items changed, and whether a metric
fell by more than is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from storage import Artifact
from storage.store import ArtifactWriter
from storage.tables import SCHEMAS
from tasks.errors import BadInput
from tasks.scoring.comparisons import adjusted, headline_parts
from tasks.scoring.differences import MAX_GAP, differences
from tasks.scoring.graded import grade
from tasks.scoring.metrics import tasks_of
from tasks.stage import Config, Inputs, Stage
from tasks.statistics.bootstrap import RESAMPLES

Row = dict[str, Any]


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
    """`rows`: differences second - first, as in the table `comparisons`. `changed`: items whose answer differs, as in the
    table `changes`. `read`: by world and task, the share of items that was read of first and second. `gates`: the regression
    rules that were asked for."""

    first: str
    second: str
    rows: list[Row]
    changed: pl.DataFrame
    read: dict[str, tuple[float, float]]
    gates: list[Gate] = field(default_factory=list)

    @property
    def regressed(self) -> bool:
        return any(gate.verdict in ("fell", "not_comparable") for gate in self.gates)

    @classmethod
    def from_artifact(cls, artifact: Artifact, limits: Mapping[str, float] | None = None) -> Comparison:
        """What COMPARISON wrote, with the verdicts on `limits` (see `gates`)."""
        first, second = artifact.manifest["config"]["names"]
        rows = artifact.read("comparisons").to_dicts()
        read = {
            f"{world} {task}": (one, two)
            for world, task, one, two in artifact.read("read_shares")
            .select("world", "task", "first", "second")
            .iter_rows()
        }
        return cls(first, second, rows, artifact.read("changes"), read, gates(limits or {}, rows))


def compare(
    first: pl.DataFrame,
    second: pl.DataFrame,
    names: tuple[str, str],
    limits: Mapping[str, float] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    max_gap: float = MAX_GAP,
) -> Comparison:
    """Compare two graded frames of one judge each (see graded.grade) on the items that both plan; of each the first
    replicate.

    `limits`: see `gates`. `max_gap`: how much more often one may have been read than the other. Raises BadInput where no
    item is shared, and for limits on metrics that are not compared.
    """
    one, two = (frame.filter(pl.col("replicate") == pl.col("replicate").min()) for frame in (first, second))
    one = one.join(two, on=["uid", "gold"], how="semi").with_columns(judge=pl.lit("first"))
    two = two.join(one, on=["uid", "gold"], how="semi").with_columns(judge=pl.lit("second"))
    if not len(one):
        silent = [name for name, frame in zip(names, (first, second), strict=True) if not len(frame)]
        why = f"{' and '.join(silent)} answered nothing" if silent else "compare answers to the same exam"
        raise BadInput(f"{names[0]} and {names[1]} have no item in common; {why}")
    rows: list[Row] = []
    read = {}
    for world, task, some in tasks_of(pl.concat([one, two], how="diagonal")):
        parts = headline_parts(task, some)
        rows += differences(parts, [("second", "first")], "compare", resamples, seed, max_gap)
        shares = dict(some.group_by("judge").agg(pl.col("ok").mean()).iter_rows())
        read[f"{world} {task}"] = (shares["first"], shares["second"])
    rows = adjusted([{**row, "family": "compare", "judge": names[1], "against": names[0]} for row in rows])
    return Comparison(*names, rows, _changes(one, two), read, gates(limits or {}, rows))


def _changes(one: pl.DataFrame, two: pl.DataFrame) -> pl.DataFrame:
    """Rows of `changes`: the items that the two answer differently."""
    return (
        one.select("uid", "task", "gold", first="value", first_right="right", first_status="status")
        .join(two.select("uid", second="value", second_right="right", second_status="status"), on="uid")
        .filter(pl.col("first").ne_missing(pl.col("second")))
        .sort("uid")
        .select(SCHEMAS["changes"].names)
    )


def gates(limits: Mapping[str, float], rows: list[Row]) -> list[Gate]:
    """The verdicts on rows of `comparisons` (second - first). `limits` maps a metric, or TASK.METRIC, to the largest fall from
    first to second that is let pass; BadInput for a metric that `rows` do not compare."""
    return [gate for name, drop in limits.items() for gate in _gates(name, drop, rows)]


def _gates(name: str, drop: float, rows: list[Row]) -> list[Gate]:
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


def _verdict(row: Row, drop: float) -> str:
    if row["reason"] and row["reason"].startswith("not comparable"):
        return "not_comparable"
    if row["ci_high"] is None:
        return "cannot_tell"
    return "fell" if row["ci_high"] < -drop else "held" if row["ci_low"] > -drop else "cannot_tell"


def _run(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: answers, responses and parsed, each of `first` and `second`. config: names (of first and second), resamples,
    seed, max_gap. Writes `comparisons`, `changes` and `read_shares`; limits are decided on afterwards, by `gates`."""
    first, second = (
        grade(
            inputs[f"answers.{side}"].read("answers"),
            inputs[f"responses.{side}"].read("responses"),
            inputs[f"parsed.{side}"].read("parsed"),
        )
        for side in ("first", "second")
    )
    names = (config["names"][0], config["names"][1])
    made = compare(
        first,
        second,
        names,
        resamples=config.get("resamples", RESAMPLES),
        seed=config.get("seed", 0),
        max_gap=config.get("max_gap", MAX_GAP),
    )
    writer.add("comparisons", made.rows)
    writer.add("changes", made.changed)
    read = ((*where.rsplit(" ", 1), *shares) for where, shares in made.read.items())
    writer.add("read_shares", [dict(zip(("world", "task", "first", "second"), row, strict=True)) for row in read])


COMPARISON = Stage("comparison", 1, _run)
