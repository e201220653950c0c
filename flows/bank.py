"""A bank as values: what a run made of it, its release, and the kit of its human audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from flows.find import table_of
from storage import Store
from tasks.traces.bank import trace
from tasks.traces.diagrams import draw
from tasks.traces.export import release_files
from tasks.traces.families import FAMILIES
from tasks.traces.stages import DIAGRAMS, PAIRS, TRACES
from tasks.verification import human
from tasks.verification.audit import VERDICTS


class Release(NamedTuple):
    """The text files and the pictures of a release by name, and how many rows there are of each table."""

    files: dict[str, bytes]
    pictures: dict[str, bytes]
    rows: dict[str, int]


def rows_by_table(record: Mapping[str, Any]) -> dict[str, int]:
    """How many rows of each table a run's steps wrote."""
    rows: Counter[str] = Counter()
    for entry in record["stages"]:
        rows.update(entry["rows"])
    return dict(rows)


def release(store: Store, record: Mapping[str, Any]) -> Release:
    """What `traces export` writes of a bank."""
    traces, pairs = table_of(store, record, TRACES.name, "traces"), table_of(store, record, PAIRS.name, "pairs")
    diagrams = table_of(store, record, DIAGRAMS.name, "diagrams").select("trace_id", "moment", "image_id")
    png = dict(table_of(store, record, DIAGRAMS.name, "images").select("image_id", "png").iter_rows())
    names: dict[str, list[str]] = {}
    pictures: dict[str, bytes] = {}
    for trace_id, moment, image in diagrams.iter_rows():
        names.setdefault(trace_id, []).append(f"diagrams/{trace_id}-{moment}.png")
        pictures[f"{trace_id}-{moment}.png"] = png[image]
    size = record["parameters"]
    config = {"seed": size["seed"], "traces": size["traces"], "pairs_per_trace": size["pairs"]}
    rows = {"traces": traces.height, "pairs": pairs.height, "pictures": diagrams.height}
    return Release(release_files(traces, pairs, config, names), pictures, rows)


def write_human_audit(store: Store, record: Mapping[str, Any], folder: Path, size: int) -> int:
    """Write the human-audit kit of a verifier's audit; how many items it has. BadInput where the bank is too small."""
    bank, pairs = table_of(store, record, TRACES.name, "traces"), table_of(store, record, PAIRS.name, "pairs")
    verdicts, seed = table_of(store, record, VERDICTS.name, "verdicts"), record["parameters"]["seed"]
    items = human.sample(bank, pairs, verdicts, size, min(human.GOLD_CHECKS, size // 8), seed)
    wanted = {item["trace_id"] for item in items}
    human.write_kit(folder, items, _pictures(bank.filter(pl.col("trace_id").is_in(wanted)), seed))
    return len(items)


def _pictures(traces: pl.DataFrame, seed: int) -> dict[str, list[tuple[str, bytes]]]:
    """(moment, PNG) of each trace, drawn anew: a bank may have been made without pictures."""
    return {
        trace_id: [(picture.moment, picture.png) for picture in draw(trace(FAMILIES[family], index, seed))]
        for trace_id, family, index in traces.select("trace_id", "family", "index").iter_rows()
    }
