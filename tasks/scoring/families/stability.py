"""Stability under presentation: NS, JCR, Flip (paper 1, equations 21-23), and what a probe does to correctness on
exactly matched items (Appendix D.5, Table 18)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from tasks.scoring.differences import item_differences
from tasks.scoring.family import MetricFamily
from tasks.scoring.graded import CANONICAL, KEYS
from tasks.statistics import parts
from tasks.statistics.metric import Metric


@dataclass(frozen=True)
class ProbeFamily:
    """A probe family: one axis is varied and the other two stay at their baseline."""

    name: str
    axis: str
    probes: tuple[str, ...]

    @property
    def baseline(self) -> str:
        return CANONICAL[self.axis]


PROBE_FAMILIES = (
    ProbeFamily("temporal", "temporal", ("rev",)),
    ProbeFamily("visual", "visual", ("noisy", "style")),
    ProbeFamily("framing", "framing", ("pos", "neg")),
)
KINDS = {"rev": "reversal", "noisy": "noise", "style": "style", "pos": "positive", "neg": "negative"}


def presentations(rows: pl.DataFrame, family: ProbeFamily) -> pl.DataFrame:
    """The rows of `family`: its axis at any level, the others at their baseline.

    Where a task asks its temporal and visual probes without a preamble (framing `none`), that is their baseline framing;
    else it is the neutral one.
    """
    others = [axis for axis in CANONICAL if axis != family.axis]
    chosen = rows.filter(pl.col(family.axis).is_in([family.baseline, *family.probes]))
    for axis in others:
        chosen = chosen.filter(pl.col(axis) == _baseline_of(rows, axis, family))
    return chosen


def _baseline_of(rows: pl.DataFrame, axis: str, family: ProbeFamily) -> str:
    if axis == "framing":
        plain = rows.filter((pl.col("framing") == "none") & pl.col(family.axis).is_in(family.probes))
        if len(plain):
            return "none"
    return CANONICAL[axis]


def matched(rows: pl.DataFrame, family: ProbeFamily) -> pl.DataFrame:
    """Every probe beside its baseline: columns KEYS, variant, `probe`, and `yes`/`correct` of both (`_base`)."""
    shown = presentations(rows, family).select(*KEYS, "variant", family.axis, "yes", "correct", "right")
    base = shown.filter(pl.col(family.axis) == family.baseline).drop(family.axis)
    probes = shown.filter(pl.col(family.axis) != family.baseline).rename({family.axis: "probe"})
    return probes.join(base, on=[*KEYS, "variant"], suffix="_base", maintain_order="left")


def consistency(rows: pl.DataFrame, family: ProbeFamily) -> pl.DataFrame:
    """One row a group, Full only: `same` is whether all presentations of the family got one verdict (null: cannot be
    told), `read` whether all were read. Groups with fewer than two presentations are left out."""
    return (
        presentations(rows, family)
        .filter(pl.col("variant") == "full")
        .group_by(KEYS, maintain_order=True)
        .agg(
            planned=pl.len(),
            answered=pl.col("yes").count(),
            low=pl.col("yes").min(),
            high=pl.col("yes").max(),
        )
        .filter(pl.col("planned") > 1)
        .with_columns(read=pl.col("answered") == pl.col("planned"))
        .with_columns(same=pl.when(pl.col("low") != pl.col("high")).then(False).when(pl.col("read")).then(True))
    )


def stability_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """NS, JCR and Flip a family, degradation and rescue a probe, for the families that the exam has."""
    found = []
    for family in PROBE_FAMILIES:
        compared = matched(rows, family)
        if not len(compared):
            continue
        agree = pl.col("yes") == pl.col("yes_base")
        found.append(parts.means(compared, f"NS_{family.name}", agree, pl.col("variant") == "full"))
        group = consistency(rows, family)
        found.append(parts.rates(group, f"JCR_{family.name}", pl.col("same"), read=pl.col("read")))
        found.append(parts.rates(group, f"Flip_{family.name}", ~pl.col("same"), read=pl.col("read"), missing=True))
        for probe in family.probes:
            one = compared.filter(pl.col("probe") == probe)
            if not len(one):
                continue
            kind = KINDS[probe]
            before, after = pl.col("correct_base"), pl.col("correct")
            read = before.is_not_null() & after.is_not_null()
            wrong_before, wrong_after = ~pl.col("right_base"), ~pl.col("right")
            found += [
                parts.rates(one, f"degradation_{kind}", ~wrong_before & wrong_after, read=read),
                parts.rates(one, f"rescue_{kind}", wrong_before & ~wrong_after, read=read),
                parts.rates(one, f"correctness_flip_{kind}", wrong_before != wrong_after, read=read),
                parts.signed(one, f"delta_acc_{kind}", after, before),
            ]
    return found


def probe_comparisons(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Correctness under every probe against its baseline, by variant."""
    for family in PROBE_FAMILIES:
        compared = matched(rows, family).rename({"right_base": "right_other"})
        if len(compared):
            name = "framing probes" if family.name == "framing" else "probes"
            named = compared.with_columns(probe=pl.col("probe").replace_strict(KINDS))
            yield from item_differences(named, name, ["probe", "variant"], "baseline")


MATCHED = "paper 1, Appendix D.5, Table 18"

FAMILY = MetricFamily(
    name="stability",
    order=20,
    questions=("verdict",),
    metrics=(
        *(
            Metric(
                f"JCR_{probed.name}",
                "groups that keep one verdict under every probe of the family",
                "paper 1, equation 22",
                compared=place,
            )
            for place, probed in enumerate(PROBE_FAMILIES)
        ),
        Metric(
            "NS_*", "probes that get the verdict of the unprobed item, averaged over groups", "paper 1, equation 21"
        ),
        Metric("Flip_*", "groups whose verdict changes under a probe of the family: 1 - JCR", "paper 1, equation 23"),
        Metric("degradation_*", "items that the probe turns from right to wrong", MATCHED, resampled=False),
        Metric("rescue_*", "items that the probe turns from wrong to right", MATCHED, resampled=False),
        Metric("correctness_flip_*", "items that the probe turns either way", MATCHED, resampled=False),
        Metric("delta_acc_*", "accuracy under the probe less that of its baseline", MATCHED, interval="difference"),
    ),
    parts=stability_parts,
    comparisons=probe_comparisons,
)
