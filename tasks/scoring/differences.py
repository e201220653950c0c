"""Paired differences on the same groups, as rows of the table `comparisons`.

Every row compares a first with a second (`against`): `difference` = first - second, `only_first` and `only_second` count the
pairs that only one of them gets right. Answers that were not read count as wrong (the protocol `all`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.statistics.bootstrap import RESAMPLES, Floats, Sums, percentile_interval, ratio, resample
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
    place = {key: index for index, key in enumerate(columns.select("judge", "representation", "metric").iter_rows())}
    measured = columns.select("representation", "metric").unique(maintain_order=True).rows()
    compared = [
        (judge, against, *what)
        for (judge, against), what in itertools.product(couples, measured)
        if (judge, *what) in place and (against, *what) in place
    ]
    if not compared:
        return []
    world, task = parts["world"][0], parts["task"][0]
    firsts = np.array([place[judge, *what] for judge, _, *what in compared])
    seconds = np.array([place[against, *what] for _, against, *what in compared])
    numbers = _paired(Sums(num, den), firsts, seconds, groups, resamples, seed_of(seed, world, task))
    share_read = ratio(ok.sum(0), planned.sum(0))
    gaps = np.abs(share_read[firsts] - share_read[seconds])
    made = []
    for (judge, against, representation, metric), number, gap in zip(compared, numbers, gaps, strict=True):
        row = comparison_row(
            family=f"{family}: {world} {task} {representation or 'base'} {metric}",
            judge=judge,
            against=against,
            world=world,
            task=task,
            representation=representation or None,
            metric=metric,
        )
        if gap > max_gap and number["difference"] is not None:
            row["reason"] = f"not comparable: the shares of answers that were read differ by {gap:.2f}"
        made.append({**row, **number})
    return made


def _paired(
    sums: Sums, firsts: NDArray[np.int64], seconds: NDArray[np.int64], groups: pl.DataFrame, resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """The numbers of `sums` in the columns `firsts` against those in `seconds`, a row of `comparisons` a couple."""
    num, den = sums.num, sums.den
    value = sums.value()
    single = np.all(den[:, firsts] == den[:, seconds], axis=0) & np.all(np.isin(den[:, firsts], (0, 1)), axis=0)
    binary = single & np.all(np.isin(num[:, firsts], (0, 1)) & np.isin(num[:, seconds], (0, 1)), axis=0)
    change = Sums(num[:, firsts] - num[:, seconds], den[:, firsts])
    low, high, _ = difference_interval(change)
    draws = resample(sums, resamples, seed)
    low[~single], high[~single] = percentile_interval(draws[:, firsts[~single]] - draws[:, seconds[~single]])
    env_low, env_high = env_percentiles(change, groups)
    only_first, only_second = (change.num > 0).sum(0), (change.num < 0).sum(0)
    shared = ((den[:, firsts] > 0) & (den[:, seconds] > 0)).sum(0)
    for index, (one, two) in enumerate(zip(firsts, seconds, strict=True)):
        row: dict[str, Any] = {"difference": None, "n_groups": int(shared[index])}
        if np.isnan(value[one]) or np.isnan(value[two]):
            yield {**row, "reason": "undefined for one of the two"}
            continue
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
        yield row


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
    cells, num, den, only_first, only_second = _by_group(both, columns)
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


def _by_group(both: pl.DataFrame, columns: list[str]) -> tuple[pl.DataFrame, Floats, Floats, Floats, Floats]:
    """The distinct `columns` of matched items, and for each of them and each group (rows) the sum of changes, the pairs, and
    the pairs that only the first, and only the second, gets right."""
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
    return cells, num, den, only_first, only_second
