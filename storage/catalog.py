"""`catalog.sql`: DuckDB views over the newest complete runs, for dashboards.

One view a table, the rows of every run that is covered, with the run's id in a column `run`. A view names the Parquet
parts that the manifests of its runs name and nothing else: never a glob, so that a rerun or a half-written artifact can
neither double nor break a number. Where several artifacts of a run hold a row with the same unique key, because one
stage passes on another's rows, the row that is furthest from the run's beginning stands.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from storage.runs import artifacts_of
from storage.store import Store
from storage.tables import SCHEMAS, UNIQUE_KEYS

NEWEST = 20  # complete runs of each kind that the views cover
SEARCHED = 500  # runs that are looked at for them

_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "BLOB",
}


def write_catalog(store: Store, newest: int = NEWEST) -> str:
    """Rewrite STORE/catalog.sql; its text."""
    text = catalog_sql(store, newest)
    store.write("catalog.sql", text.encode())
    return text


def catalog_sql(store: Store, newest: int = NEWEST) -> str:
    """The views, as SQL for DuckDB. A table that no run has written is an empty view with the table's columns."""
    runs = complete_runs(store, newest)
    parts: dict[str, list[tuple[str, str, int]]] = {table: [] for table in SCHEMAS}  # table -> (part, run, depth)
    manifests: dict[tuple[str, str], dict[str, Any] | None] = {}
    for run in runs:
        named = sorted({(used.stage, used.key) for used in artifacts_of(run)})
        for artifact in named:
            if artifact not in manifests:
                manifests[artifact] = store.manifest(*artifact)
        there = {artifact: manifest for artifact in named if (manifest := manifests[artifact]) is not None}
        inputs = {key: manifest["inputs"].values() for (_, key), manifest in there.items()}
        for (stage, key), manifest in there.items():
            for part in manifest["parts"]:
                path = store.files.url(f"artifacts/{stage}/{key}/{part['name']}")
                if part["table"] in parts:
                    parts[part["table"]].append((path, run["id"], _depth(key, inputs)))
    lines = [
        f"-- Views over {len(runs)} complete runs of {_line(store.location)}, the newest {newest} of each kind, newest first:",
        *(f"--   {_line(run['id'])}  {_line(run.get('command'))}" for run in runs),
        "-- Load them with: duckdb -init catalog.sql",
        "",
        _runs_view(runs),
    ]
    lines += [_view(table, found) for table, found in parts.items()]
    return "\n".join(lines) + "\n"


def complete_runs(store: Store, newest: int) -> list[dict[str, Any]]:
    """The records of the newest runs of each kind that ended well, newest first."""
    kinds: Counter[str] = Counter()
    kept = []
    for record in itertools.islice(store.records(), SEARCHED):
        kind = str(record.get("kind") or record.get("chain"))
        if record.get("state") == "complete" and kinds[kind] < newest:
            kinds[kind] += 1
            kept.append(record)
    return kept


def _line(value: object) -> str:
    """For a comment, which ends where its line ends."""
    return " ".join(str(value).split())


def _depth(key: str, inputs: Mapping[str, Iterable[str]]) -> int:
    """How many artifacts of its run lie between an artifact and the run's beginning."""
    return 1 + max((_depth(parent, inputs) for parent in inputs.get(key, ())), default=0)


def _literal(value: object) -> str:
    if value is None or isinstance(value, int | float):
        return "NULL" if value is None else repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def _runs_view(runs: list[dict[str, Any]]) -> str:
    columns = {
        name: "VARCHAR" for name in ("id", "kind", "command", "world", "profile", "exam", "started", "ended", "commit")
    }
    columns |= {"seed": "BIGINT", "seconds": "DOUBLE"}
    if not runs:
        return f"CREATE OR REPLACE VIEW runs AS {_empty(columns)};"
    rows = ",\n  ".join("(" + ", ".join(_literal(run.get(name)) for name in columns) + ")" for run in runs)
    names = ", ".join(f'"{name}"' for name in columns)
    casts = ", ".join(f'"{name}"::{kind} AS "{name}"' for name, kind in columns.items())
    return f"CREATE OR REPLACE VIEW runs AS SELECT {casts} FROM (VALUES\n  {rows}\n) AS runs({names});"


def _view(table: str, parts: list[tuple[str, str, int]]) -> str:
    if not parts:
        columns = {"run": "VARCHAR"} | {field.name: _sql_type(field.type) for field in SCHEMAS[table]}
        return f"CREATE OR REPLACE VIEW {table} AS {_empty(columns)};"
    files = ",\n    ".join(dict.fromkeys(_literal(path) for path, _, _ in parts))
    used = ",\n    ".join("(" + ", ".join(map(_literal, part)) + ")" for part in parts)
    last = ""
    if table in UNIQUE_KEYS:
        keys = ", ".join(f'rows."{name}"' for name in UNIQUE_KEYS[table])
        last = f"\n  QUALIFY row_number() OVER (PARTITION BY used.run, {keys} ORDER BY used.depth DESC) = 1"
    return (
        f"CREATE OR REPLACE VIEW {table} AS\n"
        f"  SELECT used.run, rows.* EXCLUDE (filename)\n"
        f"  FROM read_parquet([\n    {files}\n  ], filename = true) AS rows\n"
        f"  JOIN (VALUES\n    {used}\n  ) AS used(file, run, depth) ON rows.filename = used.file{last};"
    )


def _empty(columns: dict[str, str]) -> str:
    return "SELECT " + ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in columns.items()) + " WHERE false"


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in kind) + ")"
    return _SQL_TYPES.get(kind, "VARCHAR")
