"""Paired differences on the same groups, as rows of the table `comparisons`.

Every row compares a first with a second (`against`): `difference` = first - second, `only_first` and `only_second` count the
pairs that only one of them gets right. Answers that were not read count as wrong (the protocol `all`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from tasks.statistics.bootstrap import RESAMPLES, Sums, percentile_interval, ratio, resample
from tasks.statistics.intervals import difference_interval
from tasks.statistics.parts import ALL, POOLED, dense, env_percentiles, seed_of
from tasks.statistics.significance import mcnemar

MAX_GAP = 0.10  # two judges are not compared where one is read this much more often


def comparison_row(**values: Any) -> dict[str, Any]:
    """A row of `comparisons`, null in the columns that `values` does not name."""
    empty = dict.fromkeys(
        ("representation", "difference", "ci_low", "ci_high", "ci_method", "env_low", "env_high", "n_pairs", "n_groups")
    )
    more = dict.fromkeys(("only_first", "only_second", "p_value", "p_holm", "test", "reason"))
    return {**empty, **more, "slice": ALL, **values}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def differences(
    parts: pl.DataFrame,
    couples: Sequence[tuple[str, str]],
    family: str,
    resamples: int = RESAMPLES,
    seed: int = 0,
    max_gap: float = MAX_GAP,
) -> list[dict[str, Any]]:
    """Every metric of `parts` (one world and task) for each couple of judges.

    All judges are resampled on the same draws of groups. Where both metrics count every group once, the interval is
    `adjusted` and the test McNemar's over groups; else the interval is the bootstrap's and there is no test. A row whose
    `reason` begins "not comparable" has its numbers, for the record, and supports no conclusion.
    """
    groups, columns, (num, den, planned, ok) = dense(parts, ("num", "den", "planned", "ok"))
    share_read = ratio(ok.sum(0), planned.sum(0))
    place = {key: index for index, key in enumerate(columns.select("judge", "representation", "metric").iter_rows())}
    measured = columns.select("representation", "metric").unique(maintain_order=True).rows()
    found = [
        (judge, against, *what, place[judge, *what], place[against, *what])
        for (judge, against), what in itertools.product(couples, measured)
        if (judge, *what) in place and (against, *what) in place
    ]
    if not found:
        return []
    world, task = parts["world"][0], parts["task"][0]
    firsts, seconds = np.array([row[4] for row in found]), np.array([row[5] for row in found])
    value = Sums(num, den).value()
    single = np.all(den[:, firsts] == den[:, seconds], axis=0) & np.all(np.isin(den[:, firsts], (0, 1)), axis=0)
    binary = single & np.all(np.isin(num[:, firsts], (0, 1)) & np.isin(num[:, seconds], (0, 1)), axis=0)
    change = Sums(num[:, firsts] - num[:, seconds], den[:, firsts])
    low, high, _ = difference_interval(change)
    draws = resample(Sums(num, den), resamples, seed_of(seed, world, task))
    boot = percentile_interval(draws[:, firsts[~single]] - draws[:, seconds[~single]])
    low[~single], high[~single] = boot
    env_low, env_high = env_percentiles(change, groups)
    only_first, only_second = (change.num > 0).sum(0), (change.num < 0).sum(0)
    shared = ((den[:, firsts] > 0) & (den[:, seconds] > 0)).sum(0)
    made = []
    for index, (judge, against, representation, metric, one, two) in enumerate(found):
        row = comparison_row(
            family=f"{family}: {world} {task} {representation or 'base'} {metric}",
            judge=judge,
            against=against,
            world=world,
            task=task,
            representation=representation or None,
            metric=metric,
            n_groups=int(shared[index]),
        )
        if np.isnan(value[one]) or np.isnan(value[two]):
            made.append({**row, "reason": "undefined for one of the two"})
            continue
        if (gap := abs(share_read[one] - share_read[two])) > max_gap:
            row["reason"] = f"not comparable: the shares of answers that were read differ by {gap:.2f}"
        row |= {
            "difference": float(value[one] - value[two]),
            "ci_low": _number(low[index]),
            "ci_high": _number(high[index]),
            "ci_method": "adjusted" if single[index] else "percentile",
            "env_low": _number(env_low[index]) if single[index] else None,
            "env_high": _number(env_high[index]) if single[index] else None,
        }
        if binary[index]:
            counts = int(only_first[index]), int(only_second[index])
            p_value, test = mcnemar(*counts)
            row |= {"only_first": counts[0], "only_second": counts[1], "n_pairs": int(shared[index])}
            row |= {"p_value": p_value, "test": test}
        made.append(row)
    return made


def item_differences(
    pairs: pl.DataFrame, family: str, slices: Sequence[str], against: str, metric: str = "Acc"
) -> list[dict[str, Any]]:
    """Correctness on exactly matched items: `right` of the first and `right_other` of the second, by judge,
    representation and the columns `slices`; and the same pooled over judges and over variants."""
    both = pairs.with_columns(change=pl.col("right").cast(pl.Int8) - pl.col("right_other").cast(pl.Int8))
    columns = ["judge", "world", "task", "representation", *slices]
    if both["judge"].n_unique() > 1:
        both = pl.concat([both, both.with_columns(judge=pl.lit(POOLED))])
    if "variant" in slices:
        both = pl.concat([both, both.with_columns(variant=pl.lit(ALL))])
    by_group = both.group_by(*columns, "group_id", maintain_order=True).agg(
        change=pl.col("change").sum().cast(pl.Float64),
        pairs=pl.len(),
        only_first=(pl.col("change") > 0).sum(),
        only_second=(pl.col("change") < 0).sum(),
    )
    cells = by_group.select(columns).unique(maintain_order=True).with_row_index("column")
    group = by_group.select("group_id").unique(maintain_order=True).with_row_index("row")
    placed = by_group.join(cells, on=columns, maintain_order="left").join(group, on="group_id", maintain_order="left")
    at = placed["row"].to_numpy(), placed["column"].to_numpy()
    num, den, only_first, only_second = (np.zeros((len(group), len(cells))) for _ in range(4))
    for array, name in ((num, "change"), (den, "pairs"), (only_first, "only_first"), (only_second, "only_second")):
        array[at] = placed[name].to_numpy()
    sums = Sums(num, den)
    value = sums.value()
    low, high, method = difference_interval(sums)
    made = []
    for index, (judge, world, task, representation, *names) in enumerate(cells.select(columns).iter_rows()):
        first, second = int(only_first[:, index].sum()), int(only_second[:, index].sum())
        p_value, test = mcnemar(first, second)
        alone = judge != POOLED and ALL not in names
        made.append(
            comparison_row(
                family=f"{family}: {world} {task}",
                judge=judge,
                against=against,
                world=world,
                task=task,
                representation=representation or None,
                slice=" ".join(names) or ALL,
                metric=metric,
                difference=float(value[index]),
                ci_low=float(low[index]),
                ci_high=float(high[index]),
                ci_method=method[index],
                n_pairs=int(den[:, index].sum()),
                n_groups=int((den[:, index] > 0).sum()),
                only_first=first,
                only_second=second,
                p_value=p_value if alone else None,
                test=test if alone else None,
            )
        )
    return made
