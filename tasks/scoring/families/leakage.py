"""LES of every judge, family and representation as rows of `metrics` and `comparisons`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from tasks.scoring.differences import comparison_row
from tasks.scoring.families.stability import KINDS, PROBE_FAMILIES, ProbeFamily, presentations
from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import KEYS
from tasks.scoring.les import LOGISTIC_SD, Leakage, leakage
from tasks.statistics.metric import Metric
from tasks.statistics.parts import ALL

JUDGED = ["judge", "world", "task", "representation"]


def verdict_table(rows: pl.DataFrame, family: ProbeFamily) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Full verdicts of one family, wide: one row a group with KEYS and a column a level (the baseline first)."""
    shown = presentations(rows, family).filter(pl.col("variant") == "full")
    probes = tuple(probe for probe in family.probes if probe in set(shown[family.axis]))
    levels = [family.baseline, *probes]
    wide = shown.group_by(KEYS, maintain_order=True).agg(
        pl.col("yes").filter(pl.col(family.axis) == level).first().cast(pl.Float64).alias(level) for level in levels
    )
    return wide, probes


def leakage_fits(rows: pl.DataFrame) -> Iterator[tuple[dict[str, Any], ProbeFamily, Leakage, int, int]]:
    """(what was judged, family, fit, verdicts planned, verdicts read) of every judge and representation of one task."""
    for family in PROBE_FAMILIES:
        wide, probes = verdict_table(rows, family)
        if not probes:
            continue
        for judged, some in wide.group_by(JUDGED, maintain_order=True):
            table = some.select(family.baseline, *probes).to_numpy()
            yield (
                dict(zip(JUDGED, judged, strict=True)),
                family,
                leakage(table, probes),
                table.size,
                int((~np.isnan(table)).sum()),
            )


def leakage_rows(
    judged: dict[str, Any], family: ProbeFamily, fit: Leakage, planned: int, read: int
) -> Iterator[dict[str, Any]]:
    """LES, d_logit, and effect and odds ratio of each probe, as rows of `metrics`."""
    flag = "separated" if fit.separated else "no_change" if fit.les is not None and not fit.n_changed else None
    reason = {
        "separated": f"{', '.join(fit.separated)}: every changed verdict changes in one direction, so the data bound the "
        "effect on one side only; the other side is bounded by the prior",
        "no_change": "no group changes its verdict; the interval is bounded by the prior",
        None: None,
    }[flag]
    common = {
        **judged,
        "representation": judged["representation"] or None,
        "slice": ALL,
        "protocol": "eligible",
        "n_planned": planned,
        "n_ok": read,
        "n_groups": fit.n_groups,
        "n_envs": None,
        "flag": flag,
        "reason": reason,
        **dict.fromkeys(("bound_low", "bound_high", "boot_low", "boot_high", "env_low", "env_high")),
    }

    def row(metric: str, value: float | None, low: float | None, high: float | None) -> dict[str, Any]:
        made = {**common, "metric": metric, "value": value, "ci_low": low, "ci_high": high}
        made["ci_method"] = None if value is None else "profile"
        return {**made, "flag": "undefined", "reason": fit.reason} if fit.reason else made

    def scaled(value: float | None, by: float) -> float | None:
        return None if value is None else value / by

    yield row(f"LES_{family.name}", fit.les, fit.les_low, fit.les_high)
    yield row(
        f"d_logit_{family.name}", fit.d_logit, scaled(fit.les_low, LOGISTIC_SD), scaled(fit.les_high, LOGISTIC_SD)
    )
    for index, probe in enumerate(fit.probes):
        if fit.reason:
            yield row(f"effect_{KINDS[probe]}", None, None, None)
            continue
        effect, low, high = float(fit.effects[index]), float(fit.low[index]), float(fit.high[index])
        yield row(f"effect_{KINDS[probe]}", effect, low, high)
        yield row(f"odds_ratio_{KINDS[probe]}", *(math.exp(min(bound, 700.0)) for bound in (effect, low, high)))


def metric_rows(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of `metrics` of every fit."""
    for judged, family, fit, planned, read in leakage_fits(rows):
        yield from leakage_rows(judged, family, fit, planned, read)


def leakage_comparisons(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """LES of every fit with Cochran's Q over the presentations of the family."""
    for judged, family, fit, _, _ in leakage_fits(rows):
        yield comparison_row(
            family=f"leakage: {judged['world']} {judged['task']}",
            **{**judged, "representation": judged["representation"] or None},
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


FAMILY = MetricFamily(
    name="leakage",
    order=40,
    questions=("verdict",),
    metrics=(
        Metric(
            "LES_*",
            "largest shift of the log-odds of a success verdict by a probe of the family",
            "paper 1, equation 25",
            interval=None,
        ),
        Metric(
            "d_logit_*",
            "LES in standard deviations of the logistic distribution",
            "paper 1, equation 26",
            interval=None,
        ),
        Metric(
            "effect_*", "shift of the log-odds of a success verdict by the probe", "paper 1, equation 24", interval=None
        ),
        Metric(
            "odds_ratio_*",
            "factor on the odds of a success verdict by the probe",
            "paper 1, equation 24",
            interval=None,
        ),
    ),
    rows=metric_rows,
    comparisons=leakage_comparisons,
)
