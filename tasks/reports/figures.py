"""The figures of paper 1 for whatever judges a run has: Figures 3, 4, 5 and 13, as PNG.

Nothing is told by color alone: judges are numbered, representations are filled and hollow, families have their own markers,
and every cell of a heat map carries its number.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.reports.tables import Numbers

REPRESENTATIONS = (("composite", "Composite"), ("split", "Split"))
FAMILIES = (("temporal", "Temporal", "o"), ("visual", "Visual", "s"), ("framing", "Framing", "^"))
INK, GREY, PALE = "#1a1a1a", "#7a7a7a", "#d9d9d9"
STYLE: Any = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
}


def _height(judges: int, base: float = 1.6) -> float:
    return max(3.2, base + 0.32 * judges)


def _unit(axis: Axes, label_x: str, label_y: str) -> None:
    axis.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xlabel=label_x, ylabel=label_y)
    axis.set_aspect("equal")
    axis.grid(color=PALE, linewidth=0.6)
    axis.set_axisbelow(True)


def _spread(points: Sequence[tuple[float, float]], apart: float = 0.052) -> list[tuple[float, float]]:
    """The same points pushed apart until none hides another."""
    at = np.array(points, float) + 1e-4 * np.array([[np.cos(i), np.sin(i)] for i in range(len(points))])
    for _ in range(200):
        gap = at[:, None] - at[None]
        distance = np.linalg.norm(gap, axis=2) + np.eye(len(at))
        close = (distance < apart) & ~np.eye(len(at), dtype=bool)
        if not close.any():
            break
        at += (np.where(close, (apart - distance) / distance, 0.0)[:, :, None] * gap).sum(1) / 2
    return [(float(x), float(y)) for x, y in at]


def figure_3(numbers: Numbers) -> Figure | None:
    """(a) p_active against IDR_raw, (b) what Split changes in JAcc_neu and IDR_raw; Task C."""
    judges = numbers.judges
    points, marks = [], []
    for number, judge in enumerate(judges, start=1):
        for representation, _ in REPRESENTATIONS:
            x = numbers.value(judge, "C", "p_active", representation, "eligible")
            y = numbers.value(judge, "C", "IDR_raw", representation, "eligible")
            if x is not None and y is not None:
                points.append((x, y))
                marks.append((number, representation))
    if not points:
        return None
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, _height(len(judges), 2.6)), width_ratios=(1.15, 1), layout="constrained"
    )
    _unit(left, "p_active (accepts the Full trajectory)", "IDR_raw (tells Full from CF)")
    left.plot([0, 1], [0, 1], color=PALE, linewidth=1, linestyle="--")
    for (x, y), (number, representation) in zip(_spread(points), marks, strict=True):
        hollow = representation == "split"
        face = "white" if hollow else INK
        left.scatter(x, y, s=150, facecolor=face, edgecolor=INK, linewidth=1.1, zorder=3, clip_on=False)
        left.text(x, y, str(number), ha="center", va="center", fontsize=7, color=INK if hollow else "white", zorder=4)
    for label, face in (("Composite", INK), ("Split", "white")):
        left.scatter([], [], s=70, facecolor=face, edgecolor=INK, label=label)
    left.legend(loc="upper left", frameon=False)
    left.set_title("(a) Causal sensitivity")

    for number, judge in enumerate(judges, start=1):
        for metric, offset, marker in (("JAcc_neu", 0.17, "o"), ("IDR_raw", -0.17, "s")):
            ends = [numbers.value(judge, "C", metric, representation) for representation, _ in REPRESENTATIONS]
            if None in ends:
                continue
            y = -number + offset
            right.annotate("", (ends[1], y), (ends[0], y), arrowprops={"arrowstyle": "->", "color": GREY, "lw": 1})
            right.scatter(ends[0], y, s=32, marker=marker, facecolor=INK, edgecolor=INK, zorder=3)
            right.scatter(ends[1], y, s=75, marker=marker, facecolor="none", edgecolor=INK, zorder=3)
    for label, marker in (("JAcc_neu", "o"), ("IDR_raw", "s")):
        right.scatter([], [], marker=marker, facecolor=INK, edgecolor=INK, s=32, label=label)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
    right.set(xlim=(-0.04, 1.04), ylim=(-len(judges) - 0.6, -0.4), xlabel="filled: Composite, hollow: Split")
    right.set_yticks(-np.arange(1, len(judges) + 1), [f"{judge}  {n}" for n, judge in enumerate(judges, start=1)])
    right.grid(axis="x", color=PALE, linewidth=0.6)
    right.set_title("(b) From Composite to Split")
    return figure


def figure_4(numbers: Numbers) -> Figure | None:
    """(a) NS and JCR of each judge and probe family, (b) JCR over judges; Task C, Composite."""
    judges = numbers.judges
    found = {
        (judge, family, metric): numbers.value(judge, "C", f"{metric}_{family}", "composite", "eligible")
        for judge in judges
        for family, _, _ in FAMILIES
        for metric in ("NS", "JCR")
    }
    if all(value is None for value in found.values()):
        return None
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, _height(len(judges), 2.2)), width_ratios=(1.7, 1), layout="constrained"
    )
    for number, judge in enumerate(judges, start=1):
        for place, (family, _, marker) in enumerate(FAMILIES):
            y = -number + 0.24 * (1 - place)
            ns, jcr = found[judge, family, "NS"], found[judge, family, "JCR"]
            if ns is not None and jcr is not None:
                left.plot([jcr, ns], [y, y], color=GREY, linewidth=1, zorder=2)
            for value, face, size in ((ns, "none", 62), (jcr, INK, 22)):
                if value is not None:
                    left.scatter(value, y, s=size, marker=marker, facecolor=face, edgecolor=INK, zorder=3)
    for _, label, marker in FAMILIES:
        left.scatter([], [], marker=marker, facecolor=INK, edgecolor=INK, s=28, label=label)
    left.set(xlim=(-0.04, 1.04), ylim=(-len(judges) - 0.6, -0.4), xlabel="filled: JCR, hollow: NS")
    left.set_yticks(-np.arange(1, len(judges) + 1), judges)
    left.grid(axis="x", color=PALE, linewidth=0.6)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False)
    left.set_title("(a) Stability by judge and probe family")

    for place, (family, _label, marker) in enumerate(FAMILIES):
        values = [value for judge in judges if (value := found[judge, family, "JCR"]) is not None]
        if not values:
            continue
        right.boxplot(
            values, positions=[place], widths=0.5, showfliers=False, medianprops={"color": INK, "linewidth": 2},
            boxprops={"color": GREY}, whiskerprops={"color": GREY}, capprops={"color": GREY},
        )  # fmt: skip
        shifts = np.linspace(-0.16, 0.16, len(values)) if len(values) > 1 else [0.0]
        right.scatter(
            place + np.asarray(shifts), values, s=20, marker=marker, facecolor="white", edgecolor=INK, zorder=3
        )
    right.set_xticks(range(len(FAMILIES)), [label for _, label, _ in FAMILIES])
    right.set(ylim=(-0.04, 1.04), xlim=(-0.6, len(FAMILIES) - 0.4), ylabel="JCR")
    right.grid(axis="y", color=PALE, linewidth=0.6)
    right.set_title("(b) JCR over judges")
    return figure


def _heat(
    axis: Axes, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], limits: Any = (0.0, 1.0)
) -> None:
    """Grey cells with their numbers; `n/a` where there is none."""
    low, high = limits
    shade = np.where(np.isnan(values), low, values)
    axis.imshow(shade, cmap="Greys", vmin=low, vmax=high * 1.35 - low * 0.35, aspect="auto")
    for (y, x), value in np.ndenumerate(values):
        dark = not np.isnan(value) and (value - low) / (high - low) > 0.72
        text = "n/a" if np.isnan(value) else f"{value:.2f}"
        axis.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if dark else INK)
    axis.set_xticks(range(len(columns)), columns, rotation=30 if max(map(len, columns)) > 8 else 0, ha="right" if max(map(len, columns)) > 8 else "center")  # fmt: skip
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _array(rows: Sequence[Sequence[float | None]]) -> np.ndarray:
    return np.array([[np.nan if value is None else value for value in row] for row in rows], float)


def figure_5(numbers: Numbers) -> Figure | None:
    """(a) local controls of each judge beside its judging, (b) Full acceptance and discrimination; C under Composite."""
    judges = numbers.judges
    columns = (
        ("B", "B_MeanScore", "B mean", ""),
        ("B", "B_Acc", "B Acc", ""),
        ("E", "E_Acc", "E Acc", ""),
        ("A", "Acc_A1", "Acc_A1", ""),
        ("A", "delta_shuffle", "Δ shuf.", ""),
        ("A", "delta_mask", "Δ mask", ""),
        ("C", "JAcc_neu", "JAcc", "composite"),
        ("C", "IDR_raw", "IDR_raw", "composite"),
    )
    values = _array(
        [[numbers.value(judge, task, metric, kind) for task, metric, _, kind in columns] for judge in judges]
    )
    if np.isnan(values).all():
        return None
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10.4, _height(len(judges), 1.9)), width_ratios=(1.8, 1), layout="constrained"
    )
    _heat(left, values, judges, [label for _, _, label, _ in columns])
    left.set_title("(a) Local controls and judging")
    for place in (2.5, 5.5):
        left.axvline(place, color="white", linewidth=4)
    at = np.arange(len(judges))
    for metric, offset, hatch, face in (("JAcc_neu", -0.2, "", GREY), ("IDR_raw", 0.2, "////", "white")):
        bars = _array([[numbers.value(judge, "C", metric, "composite")] for judge in judges]).ravel()
        right.barh(
            at + offset,
            np.nan_to_num(bars),
            height=0.36,
            color=face,
            edgecolor=INK,
            hatch=hatch,
            linewidth=0.8,
            label=metric,
        )
        for y, value in zip(at + offset, bars, strict=True):
            right.text(
                (0 if np.isnan(value) else value) + 0.015,
                y,
                "n/a" if np.isnan(value) else f"{value:.2f}",
                va="center",
                fontsize=7,
            )
    right.set_ylim(len(judges) - 0.5, -0.5)
    right.set_yticks(at, [""] * len(judges))
    right.set(xlim=(0, 1.14), xlabel="score (Task C, Composite)")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    right.set_title("(b) Acceptance and discrimination")
    return figure


def figure_13(numbers: Numbers) -> Figure | None:
    """p_active and IDR_raw of Task C by environment, averaged over Composite and Split, all groups."""
    judges, envs = numbers.judges, numbers.envs("C")
    panels = []
    for metric in ("p_active", "IDR_raw"):
        rows = []
        for judge in judges:
            row: list[float | None] = []
            for env in envs:
                both = [
                    value
                    for kind, _ in REPRESENTATIONS
                    if (value := numbers.value(judge, "C", metric, kind, slice_name=f"env={env}")) is not None
                ]
                row.append(float(np.mean(both)) if both else None)
            rows.append(row)
        panels.append(_array(rows) if envs else np.zeros((0, 0)))
    if not envs or all(np.isnan(panel).all() for panel in panels):
        return None
    figure, axes = plt.subplots(
        1, 2, figsize=(3.4 + 1.3 * len(envs), _height(len(judges), 1.4)), sharey=True, layout="constrained"
    )
    for axis, panel, title in zip(axes, panels, ("(a) p_active", "(b) IDR_raw"), strict=True):
        _heat(axis, panel, judges, envs)
        axis.set_title(title)
    return figure


BUILDERS: dict[str, Callable[[Numbers], Figure | None]] = {
    "figure_3": figure_3,
    "figure_4": figure_4,
    "figure_5": figure_5,
    "figure_13": figure_13,
}
CAPTIONS = {
    "figure_3": "Task C: activation against paired discrimination, and what the split representation changes.",
    "figure_4": "Task C: stability under temporal, visual and framing probes.",
    "figure_5": "Local controls beside judging: do they fail together?",
    "figure_13": "Task C by environment: activation and paired discrimination.",
}


def paper_figures(metrics: pl.DataFrame, comparisons: pl.DataFrame, world: str, dpi: int = 150) -> dict[str, bytes]:
    """Name -> PNG of the paper's figures for one world, without those for which there are no numbers."""
    numbers = Numbers(metrics, comparisons, world)
    made = {}
    with plt.rc_context(STYLE):
        for name, build in BUILDERS.items():
            figure = build(numbers) if numbers.judges else None
            if figure is None:
                continue
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
            plt.close(figure)
            made[name] = buffer.getvalue()
    return made
