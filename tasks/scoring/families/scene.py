"""How well one frame is described (Task B; paper 1, equation 38 and Table 15)."""

from __future__ import annotations

import polars as pl

from tasks.questions.scene import SCENE_WEIGHTS
from tasks.scoring.family import MetricFamily
from tasks.statistics import parts
from tasks.statistics.metric import Metric


def scene_parts(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """B_MeanScore, B_Acc (score of 0.90 or more) and the components of the score (Table 15)."""
    rows = rows.filter(pl.col("companion_of").is_null())
    found = [
        parts.scores(rows, "B_MeanScore", pl.col("score")),
        parts.rates(rows, "B_Acc", pl.col("correct")),
    ]
    for name in SCENE_WEIGHTS:
        found.append(
            parts.scores(rows, f"B_{name}", pl.col("components").str.json_path_match(f"$.{name}").cast(pl.Float64))
        )
    return found


FAMILY = MetricFamily(
    name="scene",
    order=60,
    questions=("scene",),
    metrics=(
        Metric("B_MeanScore", "mean score of a described frame", "paper 1, equation 38", compared=1, glance=1),
        Metric(
            "B_Acc",
            "frames that are described with a score of 0.90 or more",
            "paper 1, equation 38",
            compared=2,
            glance=2,
        ),
        *(Metric(f"B_{name}", f"mean score of the component {name}", "paper 1, Table 15") for name in SCENE_WEIGHTS),
    ),
    parts=scene_parts,
)
