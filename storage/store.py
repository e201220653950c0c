"""The artifact store: immutable, content-keyed folders of Parquet parts.

    STORE/artifacts/<stage>/<key>/   part-<table>-NNNNN.parquet, manifest.json (written last: it is the commit)
    STORE/runs/<run id>/             run.json, report.html, figures

An artifact exists when its manifest is there and every part has the size and the SHA-256 that the manifest states.
Anything else (a deleted part, a truncated file, a folder without manifest) reads as "not there", and the stage
that owns it recomputes.
"""

from __future__ import annotations

import datetime
import functools
import importlib.metadata
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from storage.files import Files, open_files
from storage.keys import digest
from storage.tables import SCHEMAS, UNIQUE_KEYS, TableError, check_unique, conform

PACKAGES = ("minigrid", "miniworld", "gymnasium", "numpy", "pillow", "isal", "pyarrow", "polars", "scipy", "prefect")
COMPRESSED = frozenset({"png"})  # columns that hold compressed bytes already
PART_ROWS = 100_000
PART_BYTES = 8 * 2**20  # bounds a part's largest column, its row group, and with them the memory of a writer


class StoreError(Exception):
    """The store cannot be used: unreachable, unwritable. Carries its location."""


class ArtifactError(StoreError):
    """An artifact that was expected is missing or broken. Names stage, key and what would mend it."""


@functools.cache
def code_commit() -> str | None:
    """The commit that the running code is at, with `+` where the tree is changed; None outside a checkout."""
    here = Path(__file__).resolve().parent
    try:
        run = functools.partial(subprocess.run, cwd=here, capture_output=True, text=True, timeout=10)
        head = run(["git", "rev-parse", "HEAD"])
        changed = run(["git", "status", "--porcelain", "--untracked-files=no"])
    except (OSError, subprocess.SubprocessError):
        return None
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "") if head.returncode == 0 else None


@functools.cache
def package_versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Artifact:
    """A committed artifact. `manifest` is what its manifest.json says."""

    store: Store
    stage: str
    key: str
    manifest: dict[str, Any]

    @property
    def folder(self) -> str:
        return f"artifacts/{self.stage}/{self.key}"

    def parts(self, table: str) -> list[str]:
        """Paths of the parts of `table`, relative to the store, in order."""
        return [f"{self.folder}/{part['name']}" for part in self.manifest["parts"] if part["table"] == table]

    def batches(self, table: str) -> Iterator[pa.Table]:
        """`table`, a part at a time. Raises TableError where a part does not have the table's schema."""
        schema = SCHEMAS[table]
        for path in self.parts(table):
            rows = pq.read_table(pa.BufferReader(self.store.files.read(path)))
            if not rows.schema.equals(schema):
                raise TableError(f"{path} does not have the schema of table {table!r}; recompute its stage")
            yield rows

    def arrow(self, table: str) -> pa.Table:
        """All rows of `table`, checked against its schema."""
        parts = list(self.batches(table))
        return pa.concat_tables(parts) if parts else SCHEMAS[table].empty_table()

    def read(self, table: str) -> pl.DataFrame:
        """All rows of `table` as a polars frame."""
        return pl.from_arrow(self.arrow(table))  # type: ignore[return-value]


class ArtifactWriter:
    """Collects the parts of one artifact; `commit` makes it exist. Rows may come in any number of `add` calls."""

    def __init__(self, store: Store, stage: str, key: str):
        self.store, self.stage, self.key = store, stage, key
        self.folder = f"artifacts/{stage}/{key}"
        self.parts: list[dict[str, Any]] = []
        self.pending: dict[str, list[pa.Table]] = {}
        self.waiting: dict[str, tuple[int, int]] = {}  # rows and bytes of what is pending
        self.seen: dict[str, list[pa.Table]] = {}
        self.started = now()

    def add(self, table: str, rows: pa.Table | pl.DataFrame | Iterable[Mapping[str, Any]]) -> None:
        """Rows for `table`, checked against its schema (TableError)."""
        checked = conform(table, rows.to_arrow() if isinstance(rows, pl.DataFrame) else rows)
        self.pending.setdefault(table, []).append(checked)
        if table in UNIQUE_KEYS:
            self.seen.setdefault(table, []).append(checked.select(list(UNIQUE_KEYS[table])))
        rows, size = self.waiting.get(table, (0, 0))
        self.waiting[table] = (rows + len(checked), size + checked.nbytes)
        if rows + len(checked) >= PART_ROWS or size + checked.nbytes >= PART_BYTES:
            self._flush(table)

    def discard(self) -> None:
        """Forget everything that was added."""
        for part in self.parts:
            self.store.files.delete(f"{self.folder}/{part['name']}")
        self.parts, self.pending, self.waiting, self.seen = [], {}, {}, {}

    def _flush(self, table: str) -> None:
        rows = pa.concat_tables(self.pending.pop(table)).combine_chunks()
        self.waiting.pop(table)
        buffer = pa.BufferOutputStream()
        plain = [name for name in rows.schema.names if name not in COMPRESSED]
        pq.write_table(
            rows,
            buffer,
            compression={name: "zstd" if name in plain else "none" for name in rows.schema.names},
            use_dictionary=plain,
            write_statistics=plain,
        )
        data = memoryview(buffer.getvalue())
        number = sum(part["table"] == table for part in self.parts)
        name = f"part-{table}-{number:05d}.parquet"
        self.store.write(f"{self.folder}/{name}", data)
        self.parts.append({"name": name, "table": table, "rows": len(rows), "bytes": len(data), "sha256": digest(data)})

    def commit(self, version: int, config: Mapping[str, Any], inputs: Mapping[str, str]) -> Artifact:
        """Write the manifest. Raises TableError where a unique key occurs twice; nothing exists then."""
        for table, keys in self.seen.items():
            check_unique(table, pa.concat_tables(keys))
        for table in list(self.pending):
            self._flush(table)
        counts: dict[str, int] = {}
        for part in self.parts:
            counts[part["table"]] = counts.get(part["table"], 0) + part["rows"]
        manifest = {
            "key": self.key,
            "stage": self.stage,
            "version": version,
            "config": dict(config),
            "inputs": dict(inputs),
            "rows": counts,
            "parts": sorted(self.parts, key=lambda part: part["name"]),
            "packages": package_versions(),
            "commit": code_commit(),
            "started": self.started,
            "ended": now(),
        }
        self.store.write_json(f"{self.folder}/manifest.json", manifest)
        names = {part["name"] for part in self.parts} | {"manifest.json"}
        for stale in set(self.store.files.list(self.folder)) - names:
            if stale.startswith("part-"):
                self.store.files.delete(f"{self.folder}/{stale}")
        return Artifact(self.store, self.stage, self.key, manifest)


class Store:
    """A place for artifacts and runs: a local folder or an object store URI such as `s3://bucket/prefix`."""

    def __init__(self, location: str | Path):
        try:
            self.files: Files = open_files(location)
        except Exception as error:
            raise StoreError(f"store {location}: {error}") from error
        self.location = self.files.location

    def check_writable(self) -> None:
        """StoreError unless a file can be written and removed here."""
        probe = "runs/.probe"
        self.write(probe, b"")
        self.files.delete(probe)

    def write(self, path: str, data: bytes | memoryview) -> None:
        """All of `data` at `path` or nothing; StoreError names the path where it cannot be written."""
        try:
            self.files.write(path, data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"cannot write {self.files.url(path)}: {reason}; choose another place with --store or WORLDAUDIT_STORE"
            ) from error

    def write_json(self, path: str, value: Any) -> None:
        self.write(path, (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())

    def read_json(self, path: str) -> Any:
        """FileNotFoundError where there is none; ArtifactError where it is not JSON."""
        try:
            return json.loads(self.files.read(path))
        except ValueError as error:
            raise ArtifactError(f"{self.files.url(path)} is not JSON ({error}); delete it and run again") from error

    # --- artifacts ----------------------------------------------------------------------------------------------

    def find(self, stage: str, key: str) -> Artifact | None:
        """The artifact, if its manifest is there and every digest holds; else None."""
        return None if isinstance(found := self.inspect(stage, key), str) else found

    def get(self, stage: str, key: str) -> Artifact:
        """The artifact; ArtifactError says what is wrong with it."""
        if isinstance(found := self.inspect(stage, key), str):
            raise ArtifactError(f"{stage} {key[:12]} in {self.location}: {found}; run its stage again")
        return found

    def inspect(self, stage: str, key: str) -> Artifact | str:
        """The artifact, or the reason why there is none."""
        folder = f"artifacts/{stage}/{key}"
        try:
            manifest = self.read_json(f"{folder}/manifest.json")
        except FileNotFoundError:
            return "not there"
        except ArtifactError as error:
            return str(error)
        if manifest.get("key") != key:
            return "its manifest speaks of another key"
        for part in manifest["parts"]:
            try:
                data = self.files.read(f"{folder}/{part['name']}")
            except FileNotFoundError:
                return f"{part['name']} is missing"
            if len(data) != part["bytes"] or digest(data) != part["sha256"]:
                return f"{part['name']} is not what its manifest says"
        return Artifact(self, stage, key, manifest)

    def writer(self, stage: str, key: str) -> ArtifactWriter:
        return ArtifactWriter(self, stage, key)

    def artifacts(self) -> Iterator[tuple[str, str]]:
        """(stage, key) of every artifact folder, complete or not."""
        for stage in self.files.list("artifacts"):
            for key in self.files.list(f"artifacts/{stage}"):
                yield stage, key

    # --- runs ---------------------------------------------------------------------------------------------------

    def runs(self) -> list[str]:
        """Run ids, oldest first (an id begins with its start time)."""
        return [name for name in self.files.list("runs") if self.files.exists(f"runs/{name}/run.json")]

    def read_run(self, run_id: str) -> dict[str, Any]:
        """run.json of a run; `latest` is the newest. StoreError names the runs that there are."""
        runs = self.runs()
        if run_id == "latest" and runs:
            run_id = runs[-1]
        matches = [run for run in runs if run == run_id] or [run for run in runs if run.startswith(run_id)]
        if len(matches) != 1:
            known = ", ".join(runs[-5:]) or "none yet: `worldaudit run minigrid` makes one"
            raise StoreError(f"no run {run_id!r} in {self.location}; the newest are: {known}")
        return self.read_json(f"runs/{matches[0]}/run.json")

    def write_run(self, run: Mapping[str, Any]) -> None:
        self.write_json(f"runs/{run['id']}/run.json", run)
