"""The paper's tables and figures of a run as files: `tables/<world>/table_2.md`, `figures/<world>/figure_3.png`, ..."""

from __future__ import annotations

import polars as pl

from tasks.reports.figures import paper_figures
from tasks.reports.tables import paper_tables, table_files


def paper_files(metrics: pl.DataFrame, comparisons: pl.DataFrame) -> dict[str, bytes]:
    """Relative path -> content, for every world of `metrics`."""
    files: dict[str, bytes] = {}
    for world in sorted(metrics["world"].unique()):
        tables = table_files(paper_tables(metrics, comparisons, world))
        figures = paper_figures(metrics, comparisons, world)
        files |= {f"tables/{world}/{name}": content for name, content in tables.items()}
        files |= {f"figures/{world}/{name}.png": content for name, content in figures.items()}
    return files
