"""The sections of a report as plain values for the template: what ran, what was generated, how each judge did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.reports import words
from tasks.reports.material import Material

BASE = pl.col("companion_of").is_null()
UNREAD = "unparsed"
UNANSWERED = ("truncated", "refused", "api_error", "pending")


# --- what ran ---------------------------------------------------------------------------------------------------------


def incomplete(material: Material) -> list[str]:
    """What is missing from this run, a sentence each; empty for a complete one."""
    run, said = material.run, []
    for stage in run.get("stages", []):
        if stage["state"] == "failed":
            mend = f" Go on with: {stage['mend']}" if stage.get("mend") else ""
            said.append(f"Stage {stage['name']} failed: {stage.get('error') or 'no reason recorded'}.{mend}")
    said += [f"{name} is named by this run and is not whole in the store; rerun its stage." for name in material.lost]
    planned = len(material.items)
    status = material.responses.group_by("judge", "status").len()
    for judge in material.judges:
        counts = dict(status.filter(pl.col("judge") == judge).select("status", "len").iter_rows())
        if not counts:
            said.append(f"{judge}: no answers; 0 of {planned:,} items.")
            continue
        missing = {name: counts[name] for name in ("pending", "api_error") if counts.get(name)}
        if missing:
            total = sum(counts.values())
            reasons = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in missing.items())
            said.append(f"{judge}: {total - sum(missing.values()):,} of {total:,} answered ({reasons}).")
    return said


def stages(material: Material) -> list[dict[str, Any]]:
    """Every stage that has ended, with its shards by state."""
    rows = []
    for stage in material.run.get("stages", []):
        states: dict[str, int] = {}
        for shard in stage["shards"].values():
            states[shard["state"]] = states.get(shard["state"], 0) + 1
        if stage["seconds"] is not None:
            rows.append(stage | {"states": ", ".join(f"{count} {name}" for name, count in states.items())})
    return rows


def exam_counts(material: Material) -> dict[str, Any]:
    """Base items and companions by task."""
    answers = material.answers
    base = dict(answers.filter(BASE).group_by("task").len().sort("task").iter_rows())
    rest = dict(answers.filter(~BASE).group_by("task").len().sort("task").iter_rows())
    return {"base": base, "companions": rest, "total": sum(base.values()), "total_companions": sum(rest.values())}


# --- what was generated -----------------------------------------------------------------------------------------------


def environments(material: Material) -> list[dict[str, Any]]:
    """One row an environment: candidates, why groups were refused, how many the exam uses."""
    used = (
        pl.concat([material.answers["group_id"], material.answers["reference_group_id"].drop_nulls()])
        .unique()
        .to_list()
    )
    items = dict(material.answers.group_by("env").len().iter_rows())
    rows = []
    for (env,), some in material.groups.sort("env", "group_id").group_by("env", maintain_order=True):
        refused = some.filter(~pl.col("accepted").fill_null(False))
        reasons = (
            refused.group_by(pl.col("reject_reason").fill_null("no reason recorded").str.replace_all(r"\d+", "…"))
            .agg(pl.len(), pl.col("group_id").first())
            .sort("len", "reject_reason", descending=[True, False])
        )
        rows.append(
            {
                "env": env,
                "env_id": some["env_id"][0],
                "candidates": len(some),
                "accepted": len(some) - len(refused),
                "refused": len(refused),
                "used": len(some.filter(pl.col("group_id").is_in(used))),
                "items": items.get(env, 0),
                "reasons": [
                    {"reason": reason, "count": count, "first": first} for reason, count, first in reasons.iter_rows()
                ],
            }
        )
    return rows


@dataclass(frozen=True)
class Gates:
    """`cells[gate]` holds for each of `envs` (checks passed, checks made), or None where the gate does not apply."""

    envs: list[str]
    cells: dict[str, list[tuple[int, int] | None]]
    failures: list[dict[str, Any]]
    checks: int
    failed_accepted: int  # failures among groups that entered the exam: must be 0


def gates(material: Material) -> Gates:
    results = material.gate_results
    counted = results.group_by("gate", "env").agg(pl.col("passed").sum(), pl.len())
    found = {(gate, env): (passed, made) for gate, env, passed, made in counted.iter_rows()}
    envs = sorted(results["env"].unique())
    names = results["gate"].unique(maintain_order=True).to_list()
    failures = results.filter(~pl.col("passed")).sort("env", "group_id", "gate")
    used = material.answers["group_id"].unique().implode()
    return Gates(
        envs,
        {name: [found.get((name, env)) for env in envs] for name in names},
        failures.select("env", "group_id", "variant", "gate", "detail").to_dicts(),
        len(results),
        len(failures.filter(pl.col("group_id").is_in(used))),
    )


# --- how each judge did -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """One number of the headline table: where it comes from and what it is called there."""

    over: str  # the heading that columns of one seat share
    title: str
    metric: str
    task: str
    representation: str | None = None


COLUMNS = (
    *(
        Column(over, title, metric, task, representation)
        for over, task, representation in (
            ("C · storyboard", "C", "composite"),
            ("C · separate pictures", "C", "split"),
            ("D · with reference", "D", None),
        )
        for title, metric in (("accepts Full", "p_active"), ("rejects CF", "Acc_cf"), ("both: IDR_raw", "IDR_raw"))
    ),
    Column("C · both", "same verdict", "VCC_rep", "C", "composite/split"),
    Column("A · next state", "Acc", "Acc_A1", "A"),
    Column("A · next state", "Δ shuffle", "delta_shuffle", "A"),
    Column("B · scene", "Acc", "B_Acc", "B"),
    Column("E · tracking", "Acc", "E_Acc", "E"),
)


def glance(material: Material) -> dict[str, Any]:
    """The headline table: `heads` (title, span) over `columns`, and a cell or None a column for every judge."""
    metrics = material.metrics.filter((pl.col("slice") == "all") & (pl.col("protocol") == "all"))
    place: dict[tuple[str, str, str | None, str], dict[str, Any]] = {}
    for row in metrics.iter_rows(named=True):
        kind = row["representation"] if row["task"] == "C" else None  # the other tasks have one, whatever its name
        place.setdefault((row["judge"], row["task"], kind, row["metric"]), row)
    columns = [column for column in COLUMNS if any(key[1:] == _key(column) for key in place)]
    heads: list[list[Any]] = []
    for column in columns:
        if heads and heads[-1][0] == column.over:
            heads[-1][1] += 1
        else:
            heads.append([column.over, 1])
    judges = {judge: [place.get((judge, *_key(column))) for column in columns] for judge in material.judges}
    worlds = metrics["world"].unique().to_list()
    return {"heads": heads, "columns": columns, "judges": judges if columns else {}, "worlds": worlds}


def _key(column: Column) -> tuple[str, str | None, str]:
    return column.task, column.representation, column.metric


def outcomes(material: Material) -> dict[str, Any]:
    """How many items of each kind every judge has right, wrong, unread and unanswered, first replicate.

    `kinds`: what the columns are (title, and the viewer's filters); `cells[judge]`: counts in the same order.
    """
    scored = (
        material.scores.filter(pl.col("replicate") == pl.col("replicate").min().over("judge"))
        .join(material.answers.select("uid", "task", "representation", "condition", "companion_of"), on="uid")
        .with_columns(
            kind=pl.when(pl.col("task") == "A")
            .then(pl.concat_str(pl.lit("A "), pl.col("condition").fill_null("true")))
            .when(pl.col("task") == "C")
            .then(pl.concat_str(pl.lit("C "), pl.col("representation")))
            .otherwise("task"),
            outcome=pl.when(pl.col("status") == "ok")
            .then(pl.when("correct").then(pl.lit("right")).otherwise(pl.lit("wrong")))
            .when(pl.col("status") == UNREAD)
            .then(pl.lit("unparsed"))
            .otherwise(pl.lit("unanswered")),
        )
    )
    counts = scored.group_by("judge", "kind", "outcome").len()
    kinds = [{"title": kind, "filters": _filters(kind)} for kind in sorted(scored["kind"].unique(), key=_kind_order)]
    found = {(judge, kind, outcome): count for judge, kind, outcome, count in counts.iter_rows()}
    cells = {
        judge: [
            {name: found.get((judge, kind["title"], name), 0) for name in ("right", "wrong", "unparsed", "unanswered")}
            for kind in kinds
        ]
        for judge in material.judges
    }
    return {"kinds": kinds, "cells": cells if kinds else {}}


def _kind_order(kind: str) -> tuple[str, int]:
    task, _, rest = kind.partition(" ")
    return task, ("true", "shuffle", "mask", "composite", "split").index(rest) if rest else 0


def _filters(kind: str) -> str:
    task, _, rest = kind.partition(" ")
    return f"task={task}" + (f"&{'condition' if task == 'A' else 'representation'}={rest}" if rest else "")


def modes(material: Material) -> dict[str, Any]:
    """The failure modes of every judge in one table: for each mode its worst verdict and where it is present."""
    findings = material.findings
    names = [name for name in words.NAMES if name in set(findings["finding"])]
    cells: dict[str, list[dict[str, Any]]] = {}
    for judge in material.judges:
        of_judge = findings.filter(pl.col("judge") == judge)
        cells[judge] = []
        for name in names:
            some = of_judge.filter(pl.col("finding") == name)
            verdicts = set(some["verdict"])
            worst = next((verdict for verdict in words.VERDICTS if verdict in verdicts), None)
            places = (
                some.filter(pl.col("verdict") == pl.lit(worst, pl.String))
                .sort("task", "representation")
                .select("task", "representation")
                .iter_rows()
            )
            cells[judge].append(
                {
                    "verdict": worst,
                    "mark": words.VERDICTS.get(worst or "", "–"),
                    "places": [words.seat(*place) for place in places] if worst == "present" else [],
                }
            )
    return {"names": [words.NAMES[name] for name in names], "cells": cells if names else {}}


def judges(material: Material) -> Iterator[dict[str, Any]]:
    """Every judge: in a sentence, how it was asked, what became of its answers, and the evidence for each mode."""
    statuses = _statuses(material)
    for judge in material.judges:
        findings = material.findings.filter(pl.col("judge") == judge)
        responses = material.responses.filter(pl.col("judge") == judge)
        yield {
            "name": judge,
            "sentence": words.described(findings),
            "configured": words.configured(material.spec(judge), *_sent(responses)) if len(responses) else "no answers",
            "statuses": statuses.get(judge, {}),
            "modes": _evidence(findings),
            "canaries": material.canaries.filter(pl.col("judge") == judge).to_dicts(),
            "servers": sorted(responses["server"].drop_nulls().unique()),
            "input_tokens": responses["input_tokens"].sum(),
            "output_tokens": responses["output_tokens"].sum(),
            "latency_ms": responses["latency_ms"].median(),
            "cost": material.run.get("cost", {}).get(judge),
        }


def coverage(material: Material) -> dict[str, str]:
    """For each judge of which not everything was read: how much was."""
    said = {}
    for judge, counts in _statuses(material).items():
        read, total = counts.get("strict", 0) + counts.get("recovered", 0), sum(counts.values())
        if read < total:
            said[judge] = f"{read:,} of {total:,} read"
    return said


def _evidence(findings: pl.DataFrame) -> list[dict[str, Any]]:
    """Every failure mode with its rule and, for each place where it was looked for, verdict and evidence; those that are
    present somewhere come first."""
    found = []
    for name, title in words.NAMES.items():
        rows = findings.filter(pl.col("finding") == name).sort("task", "representation").to_dicts()
        seats = [
            {
                "seat": words.seat(row["task"], row["representation"]),
                "verdict": row["verdict"],
                "mark": words.VERDICTS.get(row["verdict"], "?"),
                "evidence": row["evidence"],
            }
            for row in rows
        ]
        if rows:
            found.append({"name": title, "rule": rows[0]["rule"], "seats": seats})
    return sorted(found, key=lambda mode: all(seat["verdict"] != "present" for seat in mode["seats"]))


def _statuses(material: Material) -> dict[str, dict[str, int]]:
    """judge -> what became of its answers: strict, recovered, and every reason why there is no verdict."""
    keys = ["uid", "judge", "replicate"]
    rows = material.responses.select(*keys, "status").join(
        material.parsed.select(*keys, "parse_mode"), on=keys, how="left"
    )
    ended = rows.with_columns(
        outcome=pl.when(pl.col("status") != "ok")
        .then("status")
        .when(pl.col("parse_mode").fill_null("none") == "none")
        .then(pl.lit(UNREAD))
        .otherwise("parse_mode")
    )
    order = ("strict", "recovered", UNREAD, *UNANSWERED)
    found: dict[str, dict[str, int]] = {}
    for judge, outcome, count in ended.group_by("judge", "outcome").len().iter_rows():
        found.setdefault(judge, {})[outcome] = count
    return {judge: {name: counts[name] for name in order if name in counts} for judge, counts in found.items()}


def _sent(responses: pl.DataFrame) -> tuple[dict[str, Any] | None, list[str]]:
    """The parameters that were really sent, from the first answer, and the names that were asked for in vain."""
    rows = responses.filter(pl.col("effective").is_not_null()).select("requested", "effective").head(1).rows()
    if not rows:
        return None, []
    requested, effective = (json.loads(text) if text else {} for text in rows[0])
    plain = {name: value for name, value in effective.items() if not isinstance(value, dict | list)}
    values = [repr(value) for value in effective.values()]
    return plain, [name for name, value in requested.items() if name not in effective and repr(value) not in values]
