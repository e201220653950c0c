"""The automated audit of the verifier on a bank: false positives on gold and on rewritten gold, detection on rejected
traces by label and by perturbation (seen and held out), the confusion of injected against found label."""

from __future__ import annotations

import random
from typing import Any

import orjson
import polars as pl

from storage.store import ArtifactWriter
from tasks.stage import Config, Inputs, Stage
from tasks.traces.perturbations import LABELS
from tasks.verification.rewrites import REWRITES, rewrite
from tasks.verification.rows import check_rows, gold_from_row, verdict_row
from tasks.verification.verifier import verify

SETTINGS = ("gold", "trace", "no_question")


def write_verdicts(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: traces and pairs of one family. Verdicts on chosen, rewritten and rejected traces in every setting; of the
    checks those that are not valid. A rewritten trace has the id `<trace id>/<rewrite>`."""
    traces = inputs["traces"].read("traces")
    golds = {row["trace_id"]: gold_from_row(row) for row in traces.iter_rows(named=True)}
    subjects: list[tuple[str, str, Any]] = []
    for trace_id, text in traces.select("trace_id", "trace").iter_rows():
        trace = orjson.loads(text)
        subjects.append((trace_id, trace_id, trace))
        for name in REWRITES:
            rng = random.Random(f"{trace_id}/{name}")
            subjects.append((f"{trace_id}/{name}", trace_id, rewrite(trace, name, rng)))
    for pair_id, trace_id, text in inputs["pairs"].read("pairs").select("pair_id", "trace_id", "rejected").iter_rows():
        subjects.append((pair_id, trace_id, orjson.loads(text)))
    for setting in SETTINGS:
        verdicts, checks = [], []
        for subject_id, trace_id, trace in subjects:
            gold = golds[trace_id] if setting == "gold" else None
            verdict = verify(trace, gold, question=setting != "no_question")
            verdicts.append(verdict_row(subject_id, setting, verdict))
            checks += check_rows(subject_id, setting, verdict, all_of_them=False)
        writer.add("verdicts", verdicts)
        writer.add("checks", checks)


def _row(setting: str, where: str, metric: str, hits: int, total: int) -> dict[str, Any]:
    return {
        "judge": "verifier",
        "world": "traces",
        "task": "audit",
        "representation": setting,
        "slice": where,
        "metric": metric,
        "protocol": "all",
        "value": hits / total if total else None,
        "n_planned": total,
        "n_ok": total,
        "n_groups": total,
        "flag": None,
        "reason": None if total else "none of these",
    }


def audit_rows(traces: pl.DataFrame, pairs: pl.DataFrame, verdicts: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows of `metrics`: `FalsePositive` by label on gold and by rewrite, `Detection` and `RightLabel` by label,
    perturbation and pool, `Confusion` of injected against found label, `Abstention` by z."""
    rows: list[dict[str, Any]] = []
    flagged = pl.col("labels").list.len() > 0
    for (setting,), part in sorted(verdicts.group_by("setting")):
        name = str(setting)
        gold = part.filter(pl.col("trace_id").is_in(traces["trace_id"].implode()))
        rows.append(_row(name, "all", "FalsePositive", gold.filter(flagged).height, gold.height))
        for label in LABELS:
            hits = gold.filter(pl.col("labels").list.contains(label)).height
            rows.append(_row(name, f"label={label}", "FalsePositive", hits, gold.height))
        for z in ("z_state", "z_trans", "z_ans", "z_faith"):
            rows.append(_row(name, z, "Abstention", gold.filter(pl.col(z) == "abstain").height, gold.height))
        for rewritten in REWRITES:
            told = part.filter(pl.col("trace_id").str.ends_with(f"/{rewritten}"))
            rows.append(_row(name, f"rewrite={rewritten}", "FalsePositive", told.filter(flagged).height, told.height))
        rejected = pairs.select("pair_id", "perturbation", "held_out", injected="label").join(
            part, left_on="pair_id", right_on="trace_id", how="inner"
        )
        rejected = rejected.with_columns(
            pool=pl.when("held_out").then(pl.lit("held_out")).otherwise(pl.lit("seen")),
            found=flagged,
            right=pl.col("labels").list.contains(pl.col("injected")),
        )
        for keys in (["pool"], ["injected"], ["pool", "injected"], ["pool", "perturbation"]):
            for values, group in sorted(rejected.group_by(keys)):
                where = ",".join(f"{k.replace('injected', 'label')}={v}" for k, v in zip(keys, values, strict=True))
                rows.append(_row(name, where, "Detection", int(group["found"].sum()), group.height))
                rows.append(_row(name, where, "RightLabel", int(group["right"].sum()), group.height))
        for (injected,), group in sorted(rejected.group_by("injected")):
            for label in LABELS:
                hits = group.filter(pl.col("labels").list.contains(label)).height
                rows.append(_row(name, f"injected={injected},found={label}", "Confusion", hits, group.height))
    return rows


def surface_rows(traces: pl.DataFrame, pairs: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Rows of `metrics`: `SurfaceAUC` over all pairs, by perturbation, and `SurfacePairwise`."""
    from tasks.traces.surface import surface_auc

    chosen = {trace_id: orjson.loads(text) for trace_id, text in traces.select("trace_id", "trace").iter_rows()}
    rejected = [
        (trace_id, name, orjson.loads(text))
        for trace_id, name, text in pairs.select("trace_id", "perturbation", "rejected").iter_rows()
    ]
    surface = surface_auc(chosen, rejected, seed)
    base = _row("text", "all", "SurfaceAUC", 0, 0) | {
        "reason": None,
        "n_planned": surface.n_train + surface.n_test,
        "n_ok": surface.n_test,
    }
    rows = [base | {"value": surface.auc}, base | {"metric": "SurfacePairwise", "value": surface.pairwise}]
    rows += [
        base | {"slice": f"perturbation={name}", "value": value} for name, value in surface.by_perturbation.items()
    ]
    return rows


def write_audit(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: traces.*, pairs.*, verdicts.*. config: surface (bool), seed."""

    def whole(role: str, table: str) -> pl.DataFrame:
        return pl.concat([artifact.read(table) for artifact in inputs.all(role).values()])

    traces, pairs = whole("traces", "traces"), whole("pairs", "pairs")
    writer.add("metrics", audit_rows(traces, pairs, whole("verdicts", "verdicts")))
    if config["surface"]:
        writer.add("metrics", surface_rows(traces, pairs, config["seed"]))


VERDICTS = Stage("trace-verdicts", 1, write_verdicts)
AUDIT = Stage("trace-audit", 1, write_audit)
