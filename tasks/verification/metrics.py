"""The metrics of paper 2, section 6.5, that need no model run, with trace-clustered intervals.

A trace counts as valid when nothing in its schema, state, transition or faithfulness is invalid. What abstains is neither
valid nor invalid: the accuracies take it as not valid (as the formulas do) and state the share that abstained. `_decided`,
`_gold` and `_physics` are the same with another denominator or numerator, as METRICS says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from tasks.statistics import Metric, by_name
from tasks.statistics.parts import ALL, shares, summarize, together
from tasks.traces.perturbations import LABELS

AREAS = ("state", "trans", "ans", "faith")
SOURCE = "paper 2, section 6.5"
UNCOUNTED = "nothing to count"

METRICS = tuple(
    Metric(name, counts, SOURCE, resampled=False)
    for name, counts in (
        ("AnswerAcc", "answers that are right, of all"),
        ("AnswerAcc_decided", "answers that are right, of those that could be decided"),
        ("AnswerAcc_gold", "answers that are the gold answer, of those that can be compared with one"),
        ("StateAcc", "traces whose state is valid"),
        ("TransAcc", "traces whose transition is valid"),
        ("TraceAnswerConsistency", "traces that lead to their own answer, of those that could be decided"),
        ("TraceValidity", "traces in which nothing but the answer is invalid"),
        ("HIR_all", "traces that are invalid, in form or in physics, though their answer is right"),
        ("HIR_correct", "the same, of those with a right answer"),
        ("HIR_all_physics", "traces whose physics is invalid though their answer is right, whatever their form"),
        ("HIR_correct_physics", "the same, of those with a right answer"),
        ("Abstention_*", "traces of which the verifier does not decide that part"),
        ("Label_*", "traces that show the failure"),
        ("PrimaryFailure_*", "traces in which the failure comes first, of those that show any"),
    )
)


def metric_rows(
    verdicts: pl.DataFrame, judge: str, setting: str, clusters: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Rows of `metrics` for rows of `verdicts`: overall and by family. `clusters` names the question of each row (its
    trace id where there is none), so that several samples of one question count as one group."""
    table = verdicts.with_columns(
        judge=pl.lit(judge),
        world=pl.lit("traces"),
        task=pl.lit("trace"),
        representation=pl.lit(setting),
        group_id=pl.Series(list(clusters), dtype=pl.String) if clusters is not None else pl.col("trace_id"),
        env=pl.col("family").fill_null(""),
        wrong=pl.any_horizontal(*(pl.col(f"z_{area}") == "invalid" for area in ("state", "trans", "faith"))),
    ).with_columns(broken=pl.col("wrong") | (pl.col("z_schema") == "invalid"))
    slices = [(ALL, table)]
    slices += [(str(name), part) for (name,), part in sorted(table.group_by("family"), key=lambda g: str(g[0])) if name]
    defined = _defined()
    parts = together(
        shares(part, metric, outcome, among, name)
        for name, part in slices
        for metric, (outcome, among) in defined.items()
    )
    rows = {(row["slice"], row["metric"]): row for row in summarize(parts, by_name(METRICS))}
    return [_explained(rows[name, metric]) for name, _ in slices for metric in defined if (name, metric) in rows]


def _defined() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Each metric: what it counts, and among which rows."""
    every = pl.lit(True)
    right, broken, wrong = pl.col("correct").fill_null(False), pl.col("broken"), pl.col("wrong")
    matches = pl.col("matches_gold")
    defined = {
        "AnswerAcc": (right, every),
        "AnswerAcc_decided": (right, pl.col("correct").is_not_null()),
        "AnswerAcc_gold": (matches.fill_null(False), matches.is_not_null()),
        "StateAcc": (pl.col("z_state") == "valid", every),
        "TransAcc": (pl.col("z_trans") == "valid", every),
        "TraceAnswerConsistency": (pl.col("z_faith") == "valid", pl.col("z_faith") != "abstain"),
        "TraceValidity": (~broken, every),
        "HIR_all": (right & broken, every),
        "HIR_correct": (right & broken, right),
        "HIR_all_physics": (right & wrong, every),
        "HIR_correct_physics": (right & wrong, right),
    }
    defined |= {f"Abstention_{area}": (pl.col(f"z_{area}") == "abstain", every) for area in AREAS}
    first = pl.col("labels").list.first()
    for label in LABELS:
        defined[f"Label_{label}"] = (pl.col("labels").list.contains(label), every)
        defined[f"PrimaryFailure_{label}"] = ((first == label).fill_null(False), pl.col("labels").list.len() > 0)
    return defined


def _explained(row: dict[str, Any]) -> dict[str, Any]:
    """What is missing here is not missing because it could not be read."""
    return {**row, "reason": UNCOUNTED} if row["value"] is None else row
