"""The metrics of paper 2, section 6.5, that need no model run, with trace-clustered intervals.

A trace counts as valid when nothing in its schema, state, transition or faithfulness is invalid. What abstains is neither
valid nor invalid: the accuracies take it as not valid (as the formulas do) and state the share that abstained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from tasks.traces.perturbations import LABELS

RESAMPLES = 4000
AREAS = ("state", "trans", "ans", "faith")


def interval(num: np.ndarray, den: np.ndarray, clusters: np.ndarray, seed: int = 0) -> tuple[float, float] | None:
    """95 % percentile bootstrap of sum(num) / sum(den), resampling clusters; None with fewer than two."""
    _, where = np.unique(clusters, return_inverse=True)
    n = int(where.max()) + 1 if len(where) else 0
    if n < 2:
        return None
    sums = np.column_stack([np.bincount(where, num, n), np.bincount(where, den, n)])
    kinds, counts = np.unique(sums, axis=0, return_counts=True)  # resampling clusters is a multinomial over their kinds
    draws = np.random.default_rng(seed).multinomial(n, counts / n, size=RESAMPLES) @ kinds
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = draws[:, 0] / draws[:, 1]
    ratios = ratios[np.isfinite(ratios)]
    if not len(ratios):
        return None
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def metric_rows(
    verdicts: pl.DataFrame, judge: str, setting: str, clusters: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Rows of `metrics` for rows of `verdicts`: overall and by family. `clusters` names the question of each row (its
    trace id where there is none), so that several samples of one question are resampled together."""
    table = verdicts.with_columns(
        cluster=pl.Series(list(clusters)) if clusters is not None else pl.col("trace_id"),
        broken=pl.any_horizontal(*(pl.col(f"z_{area}") == "invalid" for area in ("schema", "state", "trans", "faith"))),
    )
    rows: list[dict[str, Any]] = []
    slices: list[tuple[str, pl.DataFrame]] = [("all", table)]
    slices += [(str(name), part) for (name,), part in sorted(table.group_by("family"), key=lambda g: str(g[0])) if name]
    for name, part in slices:
        rows += _slice_rows(part, judge, setting, name)
    return rows


def _slice_rows(part: pl.DataFrame, judge: str, setting: str, name: str) -> list[dict[str, Any]]:
    every = pl.lit(True)
    right, broken = pl.col("correct").fill_null(False), pl.col("broken")
    decided = pl.col("correct").is_not_null()
    defined: dict[str, tuple[pl.Expr, pl.Expr]] = {
        "AnswerAcc": (right, decided),
        "StateAcc": (pl.col("z_state") == "valid", every),
        "TransAcc": (pl.col("z_trans") == "valid", every),
        "TraceAnswerConsistency": (pl.col("z_faith") == "valid", pl.col("z_faith") != "abstain"),
        "TraceValidity": (~broken, every),
        "HIR_all": (right & broken, every),
        "HIR_correct": (right & broken, right),
    }
    defined |= {f"Abstention_{area}": (pl.col(f"z_{area}") == "abstain", every) for area in AREAS}
    first = pl.col("labels").list.first()
    for label in LABELS:
        defined[f"Label_{label}"] = (pl.col("labels").list.contains(label), every)
        defined[f"PrimaryFailure_{label}"] = ((first == label).fill_null(False), pl.col("labels").list.len() > 0)
    rows = []
    clusters = part["cluster"].to_numpy()
    for metric, (hit, base) in defined.items():
        columns = part.select(num=(hit & base).cast(pl.Float64), den=base.cast(pl.Float64))
        num, den = columns["num"].to_numpy(), columns["den"].to_numpy()
        total = float(den.sum())
        bounds = interval(num, den, clusters) if total else None
        rows.append(
            {
                "judge": judge,
                "world": "traces",
                "task": "trace",
                "representation": setting,
                "slice": name,
                "metric": metric,
                "protocol": "all",
                "value": float(num.sum()) / total if total else None,
                "n_planned": part.height,
                "n_ok": int(total),
                "n_groups": part["cluster"].n_unique(),
                "ci_low": bounds[0] if bounds else None,
                "ci_high": bounds[1] if bounds else None,
                "ci_method": "trace-clustered percentile bootstrap" if bounds else None,
                "flag": None,
                "reason": None if total else "nothing to count",
            }
        )
    return rows
