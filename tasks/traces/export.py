"""A release of a bank that others can load: schema, traces, pairs (also in the TRL preference format), splits, digests and a
data card, with the pictures where they were drawn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from storage import digest
from tasks.traces.schema import RELEASE

VERSION = "1.0.0"
INSTRUCTION = (
    "Look at the scene and answer the question. State the world first, as one JSON object: state_0 (objects, relations, "
    "forces, variables, assumptions), transition (rule, effect, equation, evidence), state_1 (predicted_change, "
    "new_variables), derivation, answer (value, unit, explanation)."
)


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(dict(row)) + b"\n" for row in rows)


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def preference(
    question: str, chosen: Mapping[str, Any], rejected: Mapping[str, Any], images: list[str]
) -> dict[str, Any]:
    """One row of TRL's conversational preference format (`prompt`, `chosen`, `rejected`); ids and metadata stay out, since
    they are no part of what a model writes."""

    def said(trace: Mapping[str, Any]) -> list[dict[str, str]]:
        skipped = ("id", "metadata", "question", "scenario_family")
        content = {key: value for key, value in trace.items() if key not in skipped}
        return [{"role": "assistant", "content": json.dumps(content, ensure_ascii=False)}]

    row: dict[str, Any] = {
        "prompt": [{"role": "user", "content": f"{INSTRUCTION}\n\n{question}"}],
        "chosen": said(chosen),
        "rejected": said(rejected),
    }
    return row | ({"images": images} if images else {})


def release_files(
    traces: pl.DataFrame,
    pairs: pl.DataFrame,
    config: Mapping[str, Any],
    diagrams: Mapping[str, list[str]] | None = None,
) -> dict[str, bytes]:
    """Every text file of the release by name. `diagrams` maps trace ids to picture file names."""
    diagrams = diagrams or {}
    traces = traces.sort("family", "index")
    rank = traces.select("trace_id").with_row_index("rank")
    pairs = pairs.join(rank, on="trace_id").sort("rank", maintain_order=True)
    by_id = {row["trace_id"]: row for row in traces.iter_rows(named=True)}
    trace_rows, pair_rows = [], []
    preferences: dict[str, list[dict[str, Any]]] = {"train": [], "val": [], "test": []}
    for row in by_id.values():
        trace = orjson.loads(row["trace"])
        gold = {"gold_answer": row["answer"], "gold_state": orjson.loads(row["state"]), "split": row["split"]}
        trace["metadata"] = trace["metadata"] | gold | {"diagrams": diagrams.get(row["trace_id"], [])}
        trace_rows.append(trace)
    for row in pairs.iter_rows(named=True):
        chosen, rejected = orjson.loads(by_id[row["trace_id"]]["trace"]), orjson.loads(row["rejected"])
        facts = ("pair_id", "trace_id", "family", "perturbation", "label", "held_out", "split", "changed")
        pair_rows.append({key: row[key] for key in facts} | {"chosen": chosen, "rejected": rejected})
        images = diagrams.get(row["trace_id"], [])
        preferences[row["split"]].append(preference(chosen["question"], chosen, rejected, images))
    files = {
        "trace_schema.json": _pretty(RELEASE),
        "trace_examples_seed.jsonl": _lines(trace_rows),
        "preference_pairs_seed.jsonl": _lines(pair_rows),
        "splits.json": _pretty(
            {split: [i for i, row in by_id.items() if row["split"] == split] for split in preferences}
        ),
    }
    files |= {f"trl/{split}.jsonl": _lines(rows) for split, rows in preferences.items()}
    counts = {
        "traces": traces.height,
        "pairs": pairs.height,
        "families": dict(traces.group_by("family").len().sort("family").iter_rows()),
        "question_types": dict(traces.group_by("question_type").len().sort("question_type").iter_rows()),
        "pairs_by_label": dict(pairs.group_by("label").len().sort("label").iter_rows()),
        "pairs_by_perturbation": dict(pairs.group_by("perturbation").len().sort("perturbation").iter_rows()),
        "pairs_by_split": dict(pairs.group_by("split").len().sort("split").iter_rows()),
        "held_out_perturbations": sorted(pairs.filter("held_out")["perturbation"].unique()),
    }
    stats = {
        "version": VERSION,
        "config": dict(config),
        "counts": counts,
        "sha256": {name: digest(data) for name, data in sorted(files.items())},
    }
    files["generation_stats.json"] = _pretty(stats)
    files["README.md"] = _card(counts, config).encode()
    return files


def _card(counts: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    families = ", ".join(counts["families"])
    return f"""---
license: apache-2.0
task_categories: [visual-question-answering]
tags: [physics, preference, world-model]
configs:
- config_name: preferences
  data_files:
  - {{split: train, path: trl/train.jsonl}}
  - {{split: validation, path: trl/val.jsonl}}
  - {{split: test, path: trl/test.jsonl}}
---

# Stated worlds: a bank of physical state-transition traces

{counts["traces"]} traces over {len(counts["families"])} families ({families}) and {counts["pairs"]} preference pairs, made from seed
{config.get("seed")}. A trace states a scene, the change that follows, the resulting state and an answer; the rejected trace of a
pair holds one typed physical violation.

- `trace_examples_seed.jsonl`: the traces, as `trace_schema.json` (JSON Schema Draft 7) describes them.
- `preference_pairs_seed.jsonl`: chosen, rejected, perturbation, label, changed JSON pointers, split.
- `trl/*.jsonl`: the same pairs as prompt, chosen and rejected conversations (TRL's preference format).
- `splits.json`: 60/20/20 by trace. Perturbations that are held out ({", ".join(counts["held_out_perturbations"])}) are in
  no training pair.
- `generation_stats.json`: configuration, counts, SHA-256 of every file.

Made by templates from drawn parameters: no personal data, no text from elsewhere. Every answer was recomputed in two ways.
What it is not: a certificate of safety, a leaderboard of final answers, a physics curriculum. Rejected traces hold single
violations; the errors of models may be more diffuse. License: Apache-2.0.
"""


def write_release(folder: Path, files: Mapping[str, bytes], pictures: Mapping[str, bytes]) -> None:
    """Write everything under `folder`, which is made where it is missing."""
    for name, data in {**files, **{f"diagrams/{name}": png for name, png in pictures.items()}}.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
