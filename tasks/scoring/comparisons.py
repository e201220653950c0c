"""Paired differences on the same groups: between judges, representations, probes and action conditions.

Every row compares a first with a second (`against`): `difference` = first - second, `only_first` and `only_second` count the
pairs that only one of them gets right. Answers that were not read count as wrong (the protocol `all`). p-values are
adjusted by Holm within the named family.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from tasks.scoring.bootstrap import RESAMPLES, Sums, percentile_interval, ratio, resample
from tasks.scoring.exchange import twins
from tasks.scoring.graded import BINARY_TASKS
from tasks.scoring.intervals import difference_interval
from tasks.scoring.judging import judging_parts
from tasks.scoring.leakage import leakage_fits
from tasks.scoring.local import ABLATIONS, ablated, scene_parts, tracking_parts, transition_parts
from tasks.scoring.parts import ALL, MIN_ACTIVE, POOLED, dense, env_percentiles, seed_of
from tasks.scoring.significance import holm, mcnemar, wilcoxon
from tasks.scoring.stability import FAMILIES, KINDS, matched, stability_parts

HEADLINE = (
    *("JAcc_neu", "Acc_nocue", "Acc_cf", "SuccC", "p_active", "IDR_raw", "IDR_cond"),
    *(
        "JCR_temporal",
        "JCR_visual",
        "JCR_framing",
        "Acc_A1",
        "delta_shuffle",
        "delta_mask",
        "B_MeanScore",
        "B_Acc",
        "E_Acc",
    ),
)
MAX_GAP = 0.10  # two judges are not compared where one is read this much more often
TABLE_3 = ("JAcc_neu", "p_active", "IDR_raw", "IDR_cond")


def _row(**values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(
        ("representation", "difference", "ci_low", "ci_high", "ci_method", "env_low", "env_high", "n_pairs", "n_groups")
    )
    more = dict.fromkeys(("only_first", "only_second", "p_value", "p_holm", "test", "reason"))
    return {**empty, **more, "slice": ALL, **values}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def headline_parts(task: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The parts of a task's main metrics, over everything planned."""
    if task in BINARY_TASKS:
        made = [*judging_parts(rows), *stability_parts(rows)]
    elif task == "A":
        made = transition_parts(rows)
    else:
        base = rows.filter(pl.col("companion_of").is_null())
        made = scene_parts(base) if task == "B" else tracking_parts(base)
    return pl.concat(made).filter(
        (pl.col("slice") == ALL) & (pl.col("protocol") == "all") & pl.col("metric").is_in(HEADLINE)
    )


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
        row = _row(
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
    seats = ["judge", "world", "task", "representation", *slices]
    if both["judge"].n_unique() > 1:
        both = pl.concat([both, both.with_columns(judge=pl.lit(POOLED))])
    if "variant" in slices:
        both = pl.concat([both, both.with_columns(variant=pl.lit(ALL))])
    by_group = both.group_by(*seats, "group_id", maintain_order=True).agg(
        change=pl.col("change").sum().cast(pl.Float64),
        pairs=pl.len(),
        only_first=(pl.col("change") > 0).sum(),
        only_second=(pl.col("change") < 0).sum(),
    )
    seat = by_group.select(seats).unique(maintain_order=True).with_row_index("column")
    group = by_group.select("group_id").unique(maintain_order=True).with_row_index("row")
    placed = by_group.join(seat, on=seats, maintain_order="left").join(group, on="group_id", maintain_order="left")
    at = placed["row"].to_numpy(), placed["column"].to_numpy()
    num, den, only_first, only_second = (np.zeros((len(group), len(seat))) for _ in range(4))
    for array, name in ((num, "change"), (den, "pairs"), (only_first, "only_first"), (only_second, "only_second")):
        array[at] = placed[name].to_numpy()
    sums = Sums(num, den)
    value = sums.value()
    low, high, method = difference_interval(sums)
    made = []
    for index, (judge, world, task, representation, *names) in enumerate(seat.select(seats).iter_rows()):
        first, second = int(only_first[:, index].sum()), int(only_second[:, index].sum())
        p_value, test = mcnemar(first, second)
        alone = judge != POOLED and ALL not in names
        made.append(
            _row(
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


def _probes(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for family in FAMILIES:
        compared = matched(rows, family).rename({"right_base": "right_other"})
        if len(compared):
            name = "framing probes" if family.name == "framing" else "probes"
            named = compared.with_columns(probe=pl.col("probe").replace_strict(KINDS))
            yield from item_differences(named, name, ["probe", "variant"], "baseline")


def _representations(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    both = twins(rows, "composite", "split")
    if len(both):
        swapped = both.rename({"right": "right_other", "right_other": "right"})
        yield from item_differences(swapped, "representation", ["variant"], "composite")


def _across_judges(task: str, parts: pl.DataFrame, world: str) -> Iterator[dict[str, Any]]:
    """Table 3: Split - Composite of each judge's metric, tested across judges by Wilcoxon's signed-rank test."""
    sums = parts.group_by("judge", "representation", "metric").agg(pl.col("num").sum(), pl.col("den").sum())
    value = {
        (judge, representation, metric): num / den
        for judge, representation, metric, num, den in sums.iter_rows()
        if den >= (MIN_ACTIVE if metric == "IDR_cond" else 1)  # Appendix A.5: fewer active groups are no evidence
    }
    judges = sorted(parts["judge"].unique())
    for metric in TABLE_3:
        changes = [
            value[judge, "split", metric] - value[judge, "composite", metric]
            for judge in judges
            if (judge, "split", metric) in value and (judge, "composite", metric) in value
        ]
        if not changes:
            continue
        p_value, test = wilcoxon(changes)
        yield _row(
            family=f"representation across judges: {world} {task}",
            judge=POOLED,
            against="composite",
            world=world,
            task=task,
            representation="split",
            metric=metric,
            difference=float(np.mean(changes)),
            n_pairs=len(changes),
            only_first=sum(change > 0 for change in changes),
            only_second=sum(change < 0 for change in changes),
            p_value=p_value,
            test=test,
            reason=None if p_value is not None else "every judge scores the same under both",
        )


def _leakage(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for seat, family, fit, _, _ in leakage_fits(rows):
        yield _row(
            family=f"leakage: {seat['world']} {seat['task']}",
            **{**seat, "representation": seat["representation"] or None},
            against="baseline",
            slice=family.name,
            metric="LES",
            difference=fit.les,
            ci_low=fit.les_low,
            ci_high=fit.les_high,
            ci_method=None if fit.les is None else "profile",
            n_groups=fit.n_groups,
            p_value=fit.p_value,
            test=None if fit.p_value is None else "cochran_q",
            reason=fit.reason or (None if fit.p_value is not None else "no group changes its verdict"),
        )


def compare_all(
    by_task: Sequence[tuple[str, str, pl.DataFrame]], resamples: int = RESAMPLES, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of `comparisons` for every task (see metrics.tasks_of), Holm's correction included."""
    found: list[dict[str, Any]] = []
    for world, task, rows in by_task:
        parts = headline_parts(task, rows)
        judges = sorted(parts["judge"].unique())
        found.extend(differences(parts, list(itertools.combinations(judges, 2)), "judges", resamples, seed))
        if task in BINARY_TASKS:
            found.extend(_probes(rows))
            found.extend(_representations(rows))
            found.extend(_leakage(rows))
            found.extend(_across_judges(task, parts, world))
        if task == "A":
            for condition in ABLATIONS:
                pairs = ablated(rows, condition)
                if len(pairs):
                    found.extend(item_differences(pairs, "action ablation", [], condition, "Acc_A1"))
    return adjusted(found)


def adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`rows` with `p_holm` within each family."""
    families: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        families.setdefault(row["family"], []).append(index)
    for members in families.values():
        for index, p_value in zip(members, holm([rows[index]["p_value"] for index in members]), strict=True):
            rows[index]["p_holm"] = p_value
    return rows
