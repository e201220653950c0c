"""What a store no longer needs."""

from __future__ import annotations

from typing import Any

from flows.record import examined, state_of
from storage import Store
from storage.catalog import write_catalog
from storage.runs import artifacts_of
from tasks.errors import BadInput
from tasks.exams import ANSWERS


def collect(store: Store, keep_runs: int | None = None, dry_run: bool = False) -> dict[str, Any]:
    """Drop all but the newest `keep_runs` runs, then every artifact that no run uses, directly or as an input of one, and what
    writers that died have left.

    The answers of a release that is kept are kept. A damaged run.json keeps nothing and is named. BadInput while a run is
    going on: it may be about to use what looks unused.
    """
    records, damaged = examined(store)
    kept = [state_of(record) for record in records]
    running = [record["id"] for record in kept if record["state"] == "running"]
    if running:
        raise BadInput(
            f"run {running[0]} is going on; wait for it, or delete runs/{running[0]} where its machine is gone"
        )
    dropped_runs = kept[keep_runs:] if keep_runs else []
    kept = kept[:keep_runs] if keep_runs else kept
    manifests = {stage: store.manifests(stage) for stage in store.files.list("artifacts")}
    by_key = {key: manifest for of_stage in manifests.values() for key, manifest in of_stage.items()}
    needed = {used.key for record in kept for used in artifacts_of(record)}
    waiting = list(needed)
    while waiting:
        inputs = by_key.get(waiting.pop(), {}).get("inputs", {}).values()
        waiting += [key for key in inputs if key not in needed]
        needed.update(inputs)
    for key, manifest in manifests.get(ANSWERS.name, {}).items():
        if manifest["inputs"].get("release") in needed:
            needed |= {key, *manifest["inputs"].values()}
    unused = [(stage, key) for stage, key in store.artifacts() if key not in needed]
    size = sum(part["bytes"] for _, key in unused for part in by_key.get(key, {}).get("parts", []))
    if not dry_run:
        for record in dropped_runs:
            store.files.delete(f"runs/{record['id']}")
        for folder in [f"artifacts/{stage}/{key}" for stage, key in unused] + store.drafts():
            store.files.delete(folder)
        write_catalog(store)
    return {
        "runs": [record["id"] for record in reversed(dropped_runs)],
        "artifacts": [f"{stage}/{key}" for stage, key in unused],
        "bytes": size,
        "damaged_runs": damaged,
    }
