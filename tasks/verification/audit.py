"""The automated audit of the verifier on a bank: false positives on gold and on rewritten gold, detection on rejected
traces by label and by perturbation (seen and held out), the confusion of injected against found label."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import orjson
import polars as pl

from storage.store import ArtifactWriter
from tasks.stage import Config, Inputs, Stage
from tasks.statistics import Metric, by_name
from tasks.statistics.parts import ALL, shares, summarize, together
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


METRICS = tuple(
    Metric(name, counts, "this project", resampled=False)
    for name, counts in (
        ("FalsePositive", "correct traces that the verifier calls broken, in any way or in the way of the slice"),
        ("Abstention", "correct traces of which the verifier does not decide that part"),
        ("Detection", "perturbed traces that the verifier calls broken"),
        ("RightLabel", "perturbed traces in which the verifier finds the failure that was injected"),
        ("Confusion", "traces with one injected failure in which the verifier finds that failure"),
    )
)
EVERY = pl.lit(True)
FLAGGED = pl.col("labels").list.len() > 0


def audit_rows(traces: pl.DataFrame, pairs: pl.DataFrame, verdicts: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows of `metrics`: `FalsePositive` by label on gold and by rewrite, `Detection` and `RightLabel` by label,
    perturbation and pool, `Confusion` of injected against found label, `Abstention` by z. A group is a gold trace with all
    that was made of it."""
    rows: list[dict[str, Any]] = []
    for (setting,), part in sorted(verdicts.group_by("setting"), key=_by_values):
        judged = part.with_columns(
            judge=pl.lit("verifier"),
            world=pl.lit("traces"),
            task=pl.lit("audit"),
            representation=pl.lit(str(setting)),
            group_id=pl.col("trace_id"),
            env=pl.col("family").fill_null(""),
        )
        gold = judged.filter(pl.col("trace_id").is_in(traces["trace_id"].implode()))
        rejected = pairs.select("pair_id", "perturbation", "held_out", injected="label", group_id="trace_id").join(
            judged.drop("group_id"), left_on="pair_id", right_on="trace_id", how="inner"
        )
        for parts in (_gold_parts(gold, judged), _rejected_parts(rejected)):
            rows += summarize(together(parts), by_name(METRICS))
    return rows


def _by_values(keyed: tuple[tuple[object, ...], pl.DataFrame]) -> list[str]:
    """What groups of rows are sorted by."""
    return [str(value) for value in keyed[0]]


def _gold_parts(gold: pl.DataFrame, judged: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Parts of what is said of gold traces, and of their rewrites among all that was judged in a setting."""
    yield shares(gold, "FalsePositive", FLAGGED, EVERY)
    for label in LABELS:
        yield shares(gold, "FalsePositive", pl.col("labels").list.contains(label), EVERY, f"label={label}")
    for z in ("z_state", "z_trans", "z_ans", "z_faith"):
        yield shares(gold, "Abstention", pl.col(z) == "abstain", EVERY, z)
    for rewritten in REWRITES:
        told = judged.filter(pl.col("trace_id").str.ends_with(f"/{rewritten}"))
        yield shares(told, "FalsePositive", FLAGGED, EVERY, f"rewrite={rewritten}")


def _rejected_parts(rejected: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Parts of what is said of the rejected traces of pairs."""
    rejected = rejected.with_columns(pool=pl.when("held_out").then(pl.lit("held_out")).otherwise(pl.lit("seen")))
    right = pl.col("labels").list.contains(pl.col("injected"))
    for keys in (["pool"], ["injected"], ["pool", "injected"], ["pool", "perturbation"]):
        for values, group in sorted(rejected.group_by(keys), key=_by_values):
            where = ",".join(f"{k.replace('injected', 'label')}={v}" for k, v in zip(keys, values, strict=True))
            yield shares(group, "Detection", FLAGGED, EVERY, where)
            yield shares(group, "RightLabel", right, EVERY, where)
    for (injected,), group in sorted(rejected.group_by("injected"), key=_by_values):
        for label in LABELS:
            found = pl.col("labels").list.contains(label)
            yield shares(group, "Confusion", found, EVERY, f"injected={injected},found={label}")


def surface_rows(traces: pl.DataFrame, pairs: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Rows of `metrics`: `SurfaceAUC` over all pairs, by perturbation, and `SurfacePairwise`; they have no interval."""
    from tasks.traces.surface import surface_auc

    chosen = {trace_id: orjson.loads(text) for trace_id, text in traces.select("trace_id", "trace").iter_rows()}
    rejected = [
        (trace_id, name, orjson.loads(text))
        for trace_id, name, text in pairs.select("trace_id", "perturbation", "rejected").iter_rows()
    ]
    surface = surface_auc(chosen, rejected, seed)

    def row(metric: str, value: float | None, where: str = ALL) -> dict[str, Any]:
        return {
            "judge": "verifier",
            "world": "traces",
            "task": "audit",
            "representation": "text",
            "slice": where,
            "metric": metric,
            "protocol": "all",
            "value": value,
            "n_planned": surface.n_train + surface.n_test,
            "n_ok": surface.n_test,
            "n_groups": 0,
            "flag": None,
            "reason": None,
        }

    rows = [row("SurfaceAUC", surface.auc), row("SurfacePairwise", surface.pairwise)]
    return rows + [row("SurfaceAUC", value, f"perturbation={name}") for name, value in surface.by_perturbation.items()]


def write_audit(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """inputs: traces.*, pairs.*, verdicts.*. config: surface (bool), seed."""

    def whole(role: str, table: str) -> pl.DataFrame:
        return pl.concat([artifact.read(table) for artifact in inputs.all(role).values()])

    traces, pairs = whole("traces", "traces"), whole("pairs", "pairs")
    writer.add("metrics", audit_rows(traces, pairs, whole("verdicts", "verdicts")))
    if config["surface"]:
        writer.add("metrics", surface_rows(traces, pairs, config["seed"]))


VERDICTS = Stage("trace-verdicts", 3, write_verdicts)
AUDIT = Stage("trace-audit", 3, write_audit)
