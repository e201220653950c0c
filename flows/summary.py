"""A run as values: what it did, in numbers, and what it would do. Printing is the commands'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from flows.record import artifact_of, computed
from flows.run import Planned, Run
from flows.runner import refreshes
from storage import Store
from tasks.exams import ANSWERS
from tasks.gates import GATES
from tasks.scoring import SCORING, metrics_at_a_glance
from tasks.stage import lookup
from tasks.statistics.parts import POOLED


def summary(store: Store, record: Mapping[str, Any]) -> dict[str, Any]:
    """Steps, counts, gates, headline metrics of a run, as far as it has them, and where its report is."""
    value: dict[str, Any] = {
        "run": record["id"],
        "kind": record["kind"],
        "state": record["state"],
        "command": record["command"],
        "exam": record["exam"],
        "seconds": record["seconds"],
        "stages": [
            {key: entry[key] for key in ("name", "stage", "state", "seconds", "rows", "mend")}
            | {"shards": _states(entry)}
            for entry in record["stages"]
        ],
        "computed": computed(record),
        "artifacts": record["artifacts"],
        "cost": record["cost"],
        "error": record["error"],
        "mend": record["mend"],
    }
    if answers := artifact_of(record, ANSWERS.name).get("all"):
        value["items"] = counts_by_task(store, answers)
    if gates := artifact_of(record, GATES.name):
        value["gates"] = gate_counts(store, gates)
    if metrics := artifact_of(record, SCORING.name).get("all"):
        value["metrics"] = at_a_glance(store.get(SCORING.name, metrics).read("metrics"))
    if record["report"]:
        value["report"] = store.files.url(f"runs/{record['id']}/report.html")
    return value


def _states(entry: Mapping[str, Any]) -> dict[str, int]:
    states = [shard["state"] for shard in entry["shards"].values()]
    return {state: states.count(state) for state in ("done", "reused", "failed") if state in states}


def counts_by_task(store: Store, answers: str) -> dict[str, int]:
    """Base items by task; companion rows (Task A's other conditions, C's split pictures) apart, as `A companions`."""
    rows = store.get(ANSWERS.name, answers).read("answers")
    base = pl.col("companion_of").is_null()
    counts: dict[str, int] = {}
    for task, n in rows.filter(base).group_by("task").len().sort("task").iter_rows():
        counts[task] = n
    counts["all"] = sum(counts.values())
    for task, n in rows.filter(~base).group_by("task").len().sort("task").iter_rows():
        counts[f"{task} companions"] = n
    return counts


def gate_counts(store: Store, gates: Mapping[str, str]) -> dict[str, int]:
    """Accepted and rejected groups, and failed gate results among the accepted ones (0, or the exam is wrong)."""
    accepted = rejected = failures = 0
    for key in gates.values():
        artifact = store.get(GATES.name, key)
        groups = artifact.read("groups")
        ids = groups.filter(pl.col("accepted"))["group_id"]
        results = artifact.read("gate_results").filter(pl.col("group_id").is_in(ids.implode()))
        accepted += len(ids)
        rejected += len(groups) - len(ids)
        failures += results.filter(~pl.col("passed")).height
    return {"accepted": accepted, "rejected": rejected, "failures": failures}


def at_a_glance(metrics: pl.DataFrame) -> list[dict[str, Any]]:
    """The metrics that one looks at first: a judge, task and metric a row, over all items of the main representation."""
    rows = metrics.filter(
        (pl.col("slice") == "all")
        & (pl.col("protocol") == "all")
        & (pl.col("judge") != POOLED)
        & (pl.col("representation").is_null() | (pl.col("representation") != "split"))
    )
    order = [
        (task, metric, place)
        for task in rows["task"].unique()
        for place, metric in enumerate(metrics_at_a_glance(task))
    ]
    schema = {"task": pl.String, "metric": pl.String, "place": pl.Int64}
    places = pl.DataFrame(order, schema=schema, orient="row")
    return rows.join(places, on=["task", "metric"]).sort("judge", "task", "place").drop("place").to_dicts()


# --- what a run would do ---------------------------------------------------------------------------------------------


def dry_run(run: Run) -> dict[str, Any]:
    """Which shards are in the store, which would be computed, and what judges would be asked; sends nothing.

    `judges`: what each judge would be sent, None where that is known only once the exam is generated.
    """
    plan: list[dict[str, Any]] = []
    judges: dict[str, Any] = {}
    for step in run.plan():
        todo = _to_compute(run, step)
        reused = [name for name in step.shards if name not in todo]
        plan.append({"stage": step.name, "reuse": reused, "compute": todo})
        if spending := step.stage.spending:
            named = {name: name if step.name == step.stage.name else f"{step.name}[{name}]" for name in todo}
            judges |= {named[name]: spending.plan(run.store, *step.shards[name]) for name in todo}
    return {"command": run.request.command, "plan": plan, "judges": judges}


def _to_compute(run: Run, step: Planned) -> list[str]:
    return [
        name
        for name, (config, inputs) in step.shards.items()
        if refreshes(run.runner.refresh, step.name, name)
        or lookup(run.store.location, step.stage, name, config, inputs) is None
    ]
