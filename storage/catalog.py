"""`catalog.sql`: DuckDB views over the newest complete runs, for dashboards.

One view a table, the rows of every run that is covered, with the run's id in a column `run`. A view names the Parquet
parts that the manifests of its runs name and nothing else: never a glob, so that a rerun or a half-written artifact can
neither double nor break a number.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from storage.store import Artifact, Store
from storage.tables import SCHEMAS

NEWEST = 20  # complete runs that the views cover

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
    parts: dict[str, dict[str, list[str]]] = {table: {} for table in SCHEMAS}  # table -> part -> runs that have it
    for run in runs:
        for stage, key in sorted(_artifacts(run)):
            for part, table in _parts(store, stage, key):
                parts[table].setdefault(part, []).append(run["id"])
    lines = [
        f"-- Views over the {len(runs)} newest complete runs of {store.location}, newest first:",
        *(f"--   {run['id']}  {run['command']}" for run in runs),
        "-- Load them with: duckdb -init catalog.sql",
        "",
        _runs_view(runs),
    ]
    lines += [_view(store, table, found) for table, found in parts.items()]
    return "\n".join(lines) + "\n"


def complete_runs(store: Store, newest: int) -> list[dict]:
    """The records of the newest runs that ended well, newest first."""
    found = []
    for run_id in reversed(store.runs()):
        run = store.read_run(run_id)
        if run.get("state") == "complete":
            found.append(run)
            if len(found) == newest:
                break
    return found


def _artifacts(run: dict) -> Iterable[tuple[str, str]]:
    return {(name.partition("[")[0], key) for name, key in run["artifacts"].items()}


def _parts(store: Store, stage: str, key: str) -> Iterable[tuple[str, str]]:
    try:
        manifest = store.read_json(f"artifacts/{stage}/{key}/manifest.json")
    except (FileNotFoundError, ValueError):
        return []
    artifact = Artifact(store, stage, key, manifest)
    return [(path, table) for table in SCHEMAS for path in artifact.parts(table)]


def _text(value: object) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def _runs_view(runs: list[dict]) -> str:
    columns = ("id", "command", "world", "profile", "seed", "exam", "started", "ended", "seconds", "commit")
    rows = ",\n  ".join("(" + ", ".join(_text(run.get(name)) for name in columns) + ")" for run in runs)
    names = ", ".join(f'"{name}"' for name in columns)
    body = (
        f"SELECT * FROM (VALUES\n  {rows}\n) AS runs({names})"
        if runs
        else _empty({name: "VARCHAR" for name in columns})
    )
    return f"CREATE OR REPLACE VIEW runs AS {body};"


def _view(store: Store, table: str, parts: dict[str, list[str]]) -> str:
    if not parts:
        columns = {"run": "VARCHAR"} | {field.name: _sql_type(field.type) for field in SCHEMAS[table]}
        return f"CREATE OR REPLACE VIEW {table} AS {_empty(columns)};"
    urls = {part: store.files.url(part) for part in parts}
    files = ",\n    ".join(_text(url) for url in urls.values())
    used = ",\n    ".join(f"({_text(urls[part])}, {_text(run)})" for part, runs in parts.items() for run in runs)
    return (
        f"CREATE OR REPLACE VIEW {table} AS\n"
        f"  SELECT used.run, rows.* EXCLUDE (filename)\n"
        f"  FROM read_parquet([\n    {files}\n  ], filename = true) AS rows\n"
        f"  JOIN (VALUES\n    {used}\n  ) AS used(file, run) ON rows.filename = used.file;"
    )


def _empty(columns: dict[str, str]) -> str:
    return "SELECT " + ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in columns.items()) + " WHERE false"


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in kind) + ")"
    return _SQL_TYPES.get(kind, "VARCHAR")
