"""The artifact store: immutable, content-keyed folders of Parquet parts.

    STORE/artifacts/<stage>/<key>/   part-<table>-NNNNN.parquet, manifest.json (written last: it is the commit)
    STORE/runs/<run id>/             run.json, report.html, figures

An artifact exists when its manifest is there and every part has the size and the SHA-256 that the manifest states.
Anything else (a deleted part, a truncated file, a folder without manifest) reads as "not there", and the stage
that owns it recomputes.

One that exists never changes. A writer works in a draft beside it and publishes the draft when it commits; where the
artifact has come into being meanwhile, or was there before, the draft is dropped and the artifact stays as it is.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib.metadata
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from storage.files import Files, draft_of, open_files
from storage.keys import digest
from storage.runs import is_record
from storage.tables import SCHEMAS, UNIQUE_KEYS, TableError, check_unique, conform

COMPRESSED = frozenset({"png"})  # columns that hold compressed bytes already
PART_ROWS = 100_000
PART_BYTES = 8 * 2**20  # bounds a part's largest column, its row group, and with them the memory of a writer


MANIFEST = "manifest.json"
_PART = re.compile(r"part-[a-z_]+-\d+\.parquet")


def is_manifest(value: Any, key: str) -> bool:
    """Whether what a manifest.json holds is the manifest of the artifact with that key."""
    return (
        isinstance(value, dict)
        and value.get("key") == key
        and isinstance(value.get("inputs"), dict)
        and isinstance(value.get("config"), dict)
        and isinstance(value.get("parts"), list)
        and all(_is_part(part) for part in value["parts"])
    )


def _is_part(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("bytes"), int)
        and isinstance(value.get("sha256"), str)
        and isinstance(value.get("table"), str)
        and bool(_PART.fullmatch(str(value.get("name"))))
    )


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
    """Versions of the packages that the project names as its dependencies, extras included, as far as they are installed."""
    versions = {}
    for requirement in importlib.metadata.requires("worldaudit") or []:
        name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _arrow_owned(data: bytes) -> pa.Buffer:
    """The same bytes as memory of Arrow's own, which its threads may free at any time: to free Python's they need an
    interpreter, and one that is ending aborts (https://github.com/apache/arrow/issues/34314)."""
    buffer = pa.allocate_buffer(len(data))
    memoryview(buffer).cast("B")[:] = data
    return buffer


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
            rows = pq.read_table(pa.BufferReader(_arrow_owned(self.store.files.read(path))))
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
        self.draft = draft_of(self.folder)
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
        self.store.files.delete(self.draft)
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
        self.store.write(f"{self.draft}/{name}", data)
        self.parts.append({"name": name, "table": table, "rows": len(rows), "bytes": len(data), "sha256": digest(data)})

    def commit(self, version: int, config: Mapping[str, Any], inputs: Mapping[str, str]) -> Artifact:
        """The artifact of this key: what was added, or the one that is there already, which stays as it is.

        Raises TableError where a unique key occurs twice; nothing is published then.
        """
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
        self.store.write_json(f"{self.draft}/{MANIFEST}", manifest)
        while not self.store.publish(self.draft, self.folder):
            if there := self.store.find(self.stage, self.key):
                self.store.files.delete(self.draft)
                return there
            self.store.files.delete(self.folder)  # what is left of one that was harmed
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
        with self._writing(path):
            self.files.write(path, data)

    def publish(self, draft: str, folder: str) -> bool:
        """See Files.publish."""
        with self._writing(folder):
            return self.files.publish(draft, folder, MANIFEST)

    @contextlib.contextmanager
    def _writing(self, path: str) -> Iterator[None]:
        try:
            yield
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
            manifest = self.read_json(f"{folder}/{MANIFEST}")
        except FileNotFoundError:
            return "not there"
        except ArtifactError as error:
            return str(error)
        if isinstance(manifest, dict) and manifest.get("key", key) != key:
            return "its manifest speaks of another key"
        if not is_manifest(manifest, key):
            return "its manifest is damaged"
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

    def manifests(self, stage: str) -> dict[str, dict[str, Any]]:
        """The manifests of a stage by key, of artifacts that have one; their parts are not read."""
        found = {key: self.manifest(stage, key) for key in self.files.list(f"artifacts/{stage}")}
        return {key: manifest for key, manifest in found.items() if manifest is not None}

    def manifest(self, stage: str, key: str) -> dict[str, Any] | None:
        """The manifest of an artifact whose parts are not read; None where there is none that can be used."""
        try:
            manifest = self.read_json(f"artifacts/{stage}/{key}/{MANIFEST}")
        except (OSError, ArtifactError):
            return None
        return manifest if is_manifest(manifest, key) else None

    def drafts(self) -> list[str]:
        """Folders of writers that are at work, or that died at it."""
        return [path for stage in self.files.list("artifacts") for path in self.files.leftovers(f"artifacts/{stage}")]

    def artifacts(self) -> Iterator[tuple[str, str]]:
        """(stage, key) of every artifact folder, complete or not."""
        for stage in self.files.list("artifacts"):
            for key in self.files.list(f"artifacts/{stage}"):
                yield stage, key

    # --- runs ---------------------------------------------------------------------------------------------------

    def runs(self) -> list[str]:
        """Run ids, oldest first (an id begins with its start time)."""
        return [name for name in self.files.list("runs") if self.files.exists(f"runs/{name}/run.json")]

    def examined_runs(self) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """(id, record) of all runs, newest first; None for a run whose run.json is no record of its own."""
        for run_id in reversed(self.runs()):
            try:
                record = self.read_json(f"runs/{run_id}/run.json")
            except FileNotFoundError:  # deleted meanwhile
                continue
            except ArtifactError:
                record = None
            yield run_id, record if is_record(record, run_id) else None

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of all runs, newest first, without damaged ones."""
        return (record for _, record in self.examined_runs() if record is not None)

    def read_run(
        self, run_id: str, having: Callable[[dict[str, Any]], bool] = lambda record: True, what: str = "run"
    ) -> dict[str, Any]:
        """The record of a run by its id or the first letters of it; `latest` is the newest one `having` what is needed,
        which `what` names. StoreError names the runs that there are."""
        if run_id == "latest":
            for newest in self.records():
                if having(newest):
                    return newest
        runs = self.runs()
        matches = [run for run in runs if run == run_id] or [run for run in runs if run_id and run.startswith(run_id)]
        if len(matches) != 1:
            known = ", ".join(runs[-5:]) or "none yet: `worldaudit run minigrid` makes one"
            wanted = what if run_id == "latest" else f"{what} {run_id!r}"
            raise StoreError(f"there is no {wanted} in {self.location}; the newest runs are: {known}")
        record: dict[str, Any] = self.read_json(f"runs/{matches[0]}/run.json")
        if not is_record(record, matches[0]):
            raise ArtifactError(f"{self.files.url(f'runs/{matches[0]}')} holds no run's record; delete that folder")
        if not having(record):
            raise StoreError(f"run {matches[0]} is no {what}; `worldaudit show {matches[0]}` says what it is")
        return record

    def write_run(self, run: Mapping[str, Any]) -> None:
        self.write_json(f"runs/{run['id']}/run.json", run)
