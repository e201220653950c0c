"""Worldaudit in Python: what a notebook reads, and what a package that adds something builds on.

    import worldaudit

    if __name__ == "__main__":                           # a run starts processes, which import this file
        store = worldaudit.open_store("worldaudit-store")
        run = worldaudit.run(store, "audit", world="minigrid", profile="smoke", judges=["coin"])
        print(worldaudit.table(store, run, "metrics"))   # a polars frame

Whoever adds a world, an environment, a kind of question, a metric family, an embedded judge or a chain finds the records that it is
made of here as well, under the names below; the packages behind them may move. docs/contributor.md says how each is written.
Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from storage import Store

_PLACES = {
    "storage": ("Artifact", "ArtifactError", "Store", "StoreError"),
    "tasks.errors": ("BadInput", "StageFailed", "WorldauditError"),
    "tasks.stage": ("Inputs", "Ref", "Stage"),
    "tasks.worlds.base": (
        "Branch",
        "Environment",
        "Episode",
        "Event",
        "Intervention",
        "MaskBox",
        "Rejected",
        "Witness",
        "World",
    ),
    "tasks.worlds.process": ("ChildProcess",),
    "tasks.worlds.minigrid.environment": ("MiniGridEnvironment",),
    "tasks.worlds.miniworld.environment": ("MiniWorldEnvironment",),
    "tasks.pictures.png": ("Picture",),
    "tasks.questions": ("Constraint", "Parse", "Question", "final_text", "grade_equal", "unreadable"),
    "tasks.statistics.parts": ("given", "means", "rates", "scores", "signed"),
    "tasks.scoring.family": ("MetricFamily",),
    "tasks.statistics.metric": ("Metric",),
    "tasks.judges": ("Message", "Png", "Text"),
    "tasks.exams": ("ANSWERS", "RELEASE"),
    "flows.judging": ("ask", "judge_specs", "read", "report", "score", "tags_of"),
    "flows.request": ("Chain", "ChainParameters", "Request"),
    "flows.run": ("Run", "Step"),
}
_PLACE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = sorted([*_PLACE_OF, "open_store", "run", "runs", "table"])


def __getattr__(name: str) -> Any:
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'worldaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__


def open_store(location: str) -> Store:
    """The store in a folder or at an URI such as `s3://bucket/prefix`. StoreError where it cannot be opened."""
    from storage import Store

    return Store(location)


def runs(store: Store, kind: str | None = None) -> list[dict[str, Any]]:
    """The records of a store's runs, newest first; of one kind (audit, score, bank, ...) where it is named."""
    from flows.record import records

    return [record for record in records(store) if kind in (None, record["kind"])]


def run(store: Store, chain: str, configuration: Mapping[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """Run a chain in this process, without Prefect; the run's record. `configuration` is what the configuration file would
    say, `parameters` are the chain's own.

    Raises BadInput for parameters that the chain does not take, and whatever a step raises.
    """
    from flows.operations.launch import execute
    from flows.request import CHAINS, Request

    given = CHAINS[chain].parse(parameters).model_dump(mode="json")
    return execute(Request(store.location, f"worldaudit.run({chain!r})", chain, given, dict(configuration or {})))


def table(store: Store, record: str | Mapping[str, Any], name: str) -> pl.DataFrame:
    """All rows of a table that a run's artifacts hold, over all its shards; where a stage handed rows of another on, the last stands.
    `record` is a run's record, its id or `latest`.

    Raises BadInput for a table that there is not, and StoreError for a run that there is not.
    """
    import polars as pl

    from flows.record import read_record
    from storage.runs import artifacts_of
    from storage.tables import SCHEMAS, UNIQUE_KEYS
    from tasks.errors import BadInput

    if name not in SCHEMAS:
        raise BadInput(f"there is no table {name!r}; there are {', '.join(SCHEMAS)}")
    found = read_record(store, record) if isinstance(record, str) else record
    artifacts = [store.get(used.stage, used.key) for used in artifacts_of(found)]
    holding = [artifact for artifact in artifacts if artifact.parts(name)]
    empty = pl.DataFrame(pl.from_arrow(SCHEMAS[name].empty_table()))
    every = pl.concat([empty, *(artifact.read(name) for artifact in holding)])
    handed_on = len({artifact.stage for artifact in holding}) > 1 and name in UNIQUE_KEYS
    return every.unique(UNIQUE_KEYS[name], keep="last", maintain_order=True) if handed_on else every
