"""What a metric is made of: for every group, its part of the numerator and of the denominator.

A metric module turns graded rows into parts; `summarize` turns parts into rows of the table `metrics`, in one way for
all. Each metric is given in two protocols (paper 1, Appendix A.3, "Task-specific eligibility"):

    all        over everything planned; what was not read counts against the judge
    eligible   over what was read
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from tasks.statistics.bootstrap import ENUMERABLE, RESAMPLES, Sums, exact_percentiles, percentile_interval, resample
from tasks.statistics.intervals import difference_interval, rate_interval
from tasks.statistics.metric import Metric

KEYS = ["judge", "world", "task", "representation", "group_id", "env"]
POOLED = "(all judges)"
ALL = "all"
COLUMN = ["judge", "representation", "metric", "protocol"]
PART = {
    **dict.fromkeys(KEYS, pl.String),
    **dict.fromkeys(("planned", "ok"), pl.Float64),
    **dict.fromkeys(("metric", "slice", "protocol"), pl.String),
    **dict.fromkeys(("num", "den", "best"), pl.Float64),
}  # the columns of parts


def rates(
    rows: pl.DataFrame,
    metric: str,
    outcome: pl.Expr,
    where: pl.Expr | None = None,
    read: pl.Expr | None = None,
    slice_name: str = ALL,
    missing: bool = False,
) -> pl.DataFrame:
    """Parts of a rate. `outcome` is a nullable boolean a row (null: not read); `read` says which rows the eligible
    protocol takes, where a null outcome alone does not say it; `where` picks the planned rows; `missing` is what a null
    outcome counts as when everything planned is counted."""
    rows = rows if where is None else rows.filter(where)
    read = outcome.is_not_null() if read is None else read
    frame = rows.select(
        *KEYS,
        counted=outcome.fill_null(missing).cast(pl.Float64),
        best=outcome.fill_null(not missing).cast(pl.Float64),
        read=read.fill_null(False),
    )
    grouped = frame.group_by(KEYS, maintain_order=True).agg(
        planned=pl.len().cast(pl.Float64),
        ok=pl.col("read").sum().cast(pl.Float64),
        num_all=pl.col("counted").sum(),
        num_eligible=pl.col("counted").filter("read").sum(),
        best=pl.col("best").sum(),
    )
    return _protocols(grouped, metric, slice_name, pl.col("planned"), pl.col("ok"))


def means(rows: pl.DataFrame, metric: str, outcome: pl.Expr, where: pl.Expr | None = None) -> pl.DataFrame:
    """Parts of a mean of per-group means, as NS is counted: `outcome` nullable boolean a row."""
    rows = rows if where is None else rows.filter(where)
    grouped = (
        rows.select(*KEYS, outcome=outcome.cast(pl.Float64))
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len().cast(pl.Float64),
            ok=pl.col("outcome").count().cast(pl.Float64),
            num_all=pl.col("outcome").fill_null(0.0).mean(),
            num_eligible=pl.col("outcome").mean().fill_null(0.0),
            best=pl.col("outcome").fill_null(1.0).mean(),
        )
    )
    return _protocols(grouped, metric, ALL, pl.lit(1.0), (pl.col("ok") > 0).cast(pl.Float64))


def given(rows: pl.DataFrame, metric: str, outcome: pl.Expr, condition: pl.Expr) -> pl.DataFrame:
    """Parts of a conditional rate: `outcome` among the rows where `condition` holds (both nullable booleans)."""
    grouped = (
        rows.select(
            *KEYS,
            holds=condition.fill_null(False),
            outcome=outcome.fill_null(False),
            read=(condition.is_not_null() & outcome.is_not_null()),
        )
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len().cast(pl.Float64),
            ok=pl.col("read").sum().cast(pl.Float64),
            num_all=(pl.col("holds") & pl.col("outcome")).sum().cast(pl.Float64),
            num_eligible=(pl.col("holds") & pl.col("outcome")).filter("read").sum().cast(pl.Float64),
            den_all=pl.col("holds").sum().cast(pl.Float64),
            den_eligible=pl.col("holds").filter("read").sum().cast(pl.Float64),
            best=pl.lit(None, pl.Float64),
        )
    )
    return _protocols(grouped, metric, ALL, pl.col("den_all"), pl.col("den_eligible"))


def signed(rows: pl.DataFrame, metric: str, first: pl.Expr, second: pl.Expr, slice_name: str = ALL) -> pl.DataFrame:
    """Parts of a paired difference `first - second` of two nullable booleans or scores a row."""
    one, two = first.cast(pl.Float64), second.cast(pl.Float64)
    read = one.is_not_null() & two.is_not_null()
    grouped = (
        rows.select(*KEYS, difference=one.fill_null(0.0) - two.fill_null(0.0), read=read)
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len().cast(pl.Float64),
            ok=pl.col("read").sum().cast(pl.Float64),
            num_all=pl.col("difference").sum(),
            num_eligible=pl.col("difference").filter("read").sum(),
            best=pl.lit(None, pl.Float64),
        )
    )
    return _protocols(grouped, metric, slice_name, pl.col("planned"), pl.col("ok"))


def scores(rows: pl.DataFrame, metric: str, score: pl.Expr, slice_name: str = ALL) -> pl.DataFrame:
    """Parts of a mean score in [0, 1]; null where not read."""
    grouped = (
        rows.select(*KEYS, score=score.cast(pl.Float64))
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len().cast(pl.Float64),
            ok=pl.col("score").count().cast(pl.Float64),
            num_all=pl.col("score").sum(),
            num_eligible=pl.col("score").sum(),
            best=pl.col("score").fill_null(1.0).sum(),
        )
    )
    return _protocols(grouped, metric, slice_name, pl.col("planned"), pl.col("ok"))


def shares(rows: pl.DataFrame, metric: str, outcome: pl.Expr, among: pl.Expr, slice_name: str = ALL) -> pl.DataFrame:
    """Parts of the share of rows with `outcome` among those of `among` (both booleans, never null), in the protocol `all`
    alone. Every row is planned; those of `among` count as answered."""
    return (
        rows.select(*KEYS, outcome=outcome & among, among=among)
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len().cast(pl.Float64),
            ok=pl.col("among").sum().cast(pl.Float64),
            metric=pl.lit(metric),
            slice=pl.lit(slice_name),
            protocol=pl.lit("all"),
            num=pl.col("outcome").sum().cast(pl.Float64),
            den=pl.col("among").sum().cast(pl.Float64),
            best=pl.lit(None, pl.Float64),
        )
    )


def together(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """All `parts` in one frame; a frame without rows where there are none."""
    return pl.concat([pl.DataFrame(schema=PART), *parts])


def _protocols(
    grouped: pl.DataFrame, metric: str, slice_name: str, den_all: pl.Expr, den_eligible: pl.Expr
) -> pl.DataFrame:
    common = [*KEYS, "planned", "ok"]
    named = [pl.lit(metric).alias("metric"), pl.lit(slice_name).alias("slice")]
    return pl.concat(
        [
            grouped.select(
                *common,
                *named,
                protocol=pl.lit("all"),
                num="num_all",
                den=den_all.cast(pl.Float64),
                best=pl.col("best"),
            ),
            grouped.select(
                *common,
                *named,
                protocol=pl.lit("eligible"),
                num="num_eligible",
                den=den_eligible.cast(pl.Float64),
                best=pl.lit(None, pl.Float64),
            ),
        ]
    )


def with_slices(parts: pl.DataFrame) -> pl.DataFrame:
    """`parts` and, for everything that is over all environments, the same by environment and pooled over judges."""
    if parts["judge"].n_unique() > 1:
        sums = [pl.col(name).sum() for name in ("planned", "ok", "num", "den")]
        pooled = (
            parts.group_by(*[key for key in KEYS if key != "judge"], "metric", "slice", "protocol", maintain_order=True)
            .agg(*sums, best=pl.lit(None, pl.Float64))
            .with_columns(judge=pl.lit(POOLED))
        )
        parts = pl.concat([parts, pooled.select(parts.columns)])
    by_env = parts.filter(pl.col("slice") == ALL).with_columns(slice=pl.concat_str(pl.lit("env="), "env"))
    return pl.concat([parts, by_env])


def dense(parts: pl.DataFrame, values: Iterable[str]) -> tuple[pl.DataFrame, pl.DataFrame, list[np.ndarray]]:
    """(clusters, columns, arrays): the groups of `parts` (group_id, env) in order, its distinct metric columns
    (`COLUMN`) in order, and for each of `values` an array (clusters, columns) with 0 where a group has no part."""
    groups = parts.select("group_id", "env").unique().sort("env", "group_id").with_row_index("row")
    columns = parts.select(COLUMN).unique().sort(COLUMN).with_row_index("column")
    placed = parts.join(groups, on=["group_id", "env"]).join(columns, on=COLUMN)
    at = placed["row"].to_numpy(), placed["column"].to_numpy()
    arrays = []
    for name in values:
        array = np.zeros((len(groups), len(columns)))
        np.add.at(array, at, placed[name].fill_null(0.0).to_numpy())
        arrays.append(array)
    return groups, columns, arrays


def seed_of(seed: int, *names: str) -> int:
    """A seed of its own for each set of groups, the same on every machine."""
    return zlib.crc32("/".join((str(seed), *names)).encode())


def summarize(
    parts: pl.DataFrame, record_of: Callable[[str], Metric], resamples: int = RESAMPLES, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Rows of `metrics` for parts of any worlds, tasks and slices. `record_of`: see metric.by_name.

    Intervals: see tasks/statistics/intervals.py; the bootstrap percentiles over groups and over environments stand beside
    them for the slice `all`, where the metric's record asks for them.
    """
    for (world, task, slice_name), some in parts.group_by("world", "task", "slice", maintain_order=True):
        groups, columns, (num, den, planned, ok, best) = dense(some, ("num", "den", "planned", "ok", "best"))
        sums = Sums(num, den)
        records = [record_of(name) for name in columns["metric"]]
        low, high, method = _intervals(sums, records)
        boot, env = np.full((2, len(columns)), np.nan), np.full((2, len(columns)), np.nan)
        chosen = np.array([record.resampled for record in records])
        if slice_name == ALL and len(groups) > 1 and chosen.any():
            some_sums = Sums(num[:, chosen], den[:, chosen])
            boot[:, chosen] = _percentiles(some_sums, resamples, seed_of(seed, str(world), str(task)))
            env[:, chosen] = env_percentiles(some_sums, groups)
        value, best_value = sums.value(), _best(some, columns, best, planned, den)
        n_groups = (den > 0).sum(0)
        n_envs = (sums.by(_environments(groups)).den > 0).sum(0)
        for index, (judge, representation, metric, protocol) in enumerate(columns.select(COLUMN).iter_rows()):
            one_group = n_groups[index] == 1
            has_bounds = not np.isnan(best_value[index])
            row = {
                "judge": judge,
                "world": world,
                "task": task,
                "representation": representation or None,
                "slice": slice_name,
                "metric": metric,
                "protocol": protocol,
                "value": _number(value[index]),
                "n_planned": int(planned[:, index].sum()),
                "n_ok": int(ok[:, index].sum()),
                "n_groups": int(n_groups[index]),
                "n_envs": int(n_envs[index]),
                "ci_low": None if one_group else _number(low[index]),
                "ci_high": None if one_group else _number(high[index]),
                "ci_method": None if one_group else method[index] or None,
                "bound_low": _number(min(value[index], best_value[index])) if has_bounds else None,
                "bound_high": _number(max(value[index], best_value[index])) if has_bounds else None,
                "boot_low": None if one_group else _number(boot[0][index]),
                "boot_high": None if one_group else _number(boot[1][index]),
                "env_low": _number(env[0][index]),
                "env_high": _number(env[1][index]),
                "flag": None,
                "reason": None,
            }
            yield with_reason(row, records[index])


def _intervals(sums: Sums, records: list[Metric]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The closed-form interval of every metric, of the kind that its record names; NaN and "" for those that name none."""
    kinds = np.array([record.interval or "" for record in records])
    low, high, method = rate_interval(sums)
    if (kinds == "difference").any():
        signed_low, signed_high, signed_method = difference_interval(sums)
        signed = kinds == "difference"
        low, high = np.where(signed, signed_low, low), np.where(signed, signed_high, high)
        method = [
            two if kind == "difference" else one for one, two, kind in zip(method, signed_method, kinds, strict=True)
        ]
    low, high = np.where(kinds == "", np.nan, low), np.where(kinds == "", np.nan, high)
    return low, high, [name if kind else "" for name, kind in zip(method, kinds, strict=True)]


def _best(
    some: pl.DataFrame, columns: pl.DataFrame, best: np.ndarray, planned: np.ndarray, den: np.ndarray
) -> np.ndarray:
    """Each metric's value if everything that was not read had been right; NaN for metrics that have no such bound."""
    bounded = some.filter(pl.col("best").is_not_null()).select(COLUMN).unique().join(columns, on=COLUMN)["column"]
    has_bounds = np.zeros(len(columns), bool)
    has_bounds[bounded.to_numpy()] = True
    total = den.sum(0)
    return np.where(has_bounds & (planned.sum(0) > 0), best.sum(0) / np.where(total > 0, total, 1), np.nan)


def _environments(groups: pl.DataFrame) -> np.ndarray:
    """(clusters,) which environment each group of `dense` is of, 0 ... k-1."""
    return groups["env"].rank("dense").to_numpy().astype(np.int64) - 1


def distinct(sums: Sums) -> tuple[Sums, np.ndarray]:
    """`sums` without repeated columns, and for each column where it went: equal columns are resampled once."""
    stacked = np.vstack([sums.num, sums.den])
    _, first, inverse = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
    return Sums(sums.num[:, first], sums.den[:, first]), inverse.ravel()


def _percentiles(sums: Sums, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    few, back = distinct(sums)
    low, high = percentile_interval(resample(few, resamples, seed))
    return low[back], high[back]


def env_percentiles(sums: Sums, groups: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval over environments (all of a group's rows go with its environment); NaN where there is one."""
    codes = _environments(groups)
    if codes.max() == 0:
        nothing = np.full(sums.num.shape[1], np.nan)
        return nothing, nothing
    by_env, back = distinct(sums.by(codes))
    if codes.max() < ENUMERABLE:
        low, high = exact_percentiles(by_env)
    else:
        low, high = percentile_interval(resample(by_env))
    return low[back], high[back]


def _number(value: float) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def with_reason(row: dict[str, Any], record: Metric) -> dict[str, Any]:
    """`row` with `flag` and `reason` where the number is missing or weak."""
    if row["value"] is None:
        if row["n_planned"] == 0:
            reason = "nothing planned"
        elif row["n_ok"] == 0:
            reason = f"none of {row['n_planned']} answers could be read"
        else:
            reason = record.undefined
        return {**row, "flag": "undefined", "reason": reason}
    if (few := record.few) and row["slice"] == ALL and row["n_groups"] < few.below:
        reason = f"{row['n_groups']} {few.groups}, fewer than {few.below}: descriptive only"
        return {**row, "flag": few.flag, "reason": reason}
    if row["n_groups"] == 1:
        return {**row, "flag": "one_group", "reason": "one group only: no interval"}
    return row
