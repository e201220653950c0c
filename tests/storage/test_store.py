"""The store: keys, schemas, commits, and what happens when something is cut off."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import ArtifactError, Store, StoreError, TableError, artifact_key, canonical_json, conform
from storage.files import LocalFiles

ROW = {"uid": "a", "task": "A", "prompt": "p", "image_ids": ["i"], "answer_format": "letter", "max_tokens": 5}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def written(folder, rows=(ROW,), key="k"):
    store = Store(folder)
    writer = store.writer("exams", key)
    writer.add("items", list(rows))
    writer.commit(1, {"a": 1}, {})
    return store


def test_what_threads_of_arrow_read_is_no_memory_of_python(tmp_path, monkeypatch):
    """One that frees a Python buffer while the interpreter ends aborts the process."""
    buffers, opened = [], pa.BufferReader
    monkeypatch.setattr(pa, "BufferReader", lambda buffer: buffers.append(buffer) or opened(buffer))
    assert written(tmp_path).get("exams", "k").read("items").to_dicts() == [ROW]
    assert [pa.py_buffer(buffer).is_mutable for buffer in buffers] == [True]  # Python's bytes never are


@given(st.dictionaries(st.text(), JSON))
@settings(max_examples=60, deadline=None)
def test_a_key_does_not_depend_on_the_order_of_a_configuration(config):
    backwards = dict(reversed(list(config.items())))
    assert artifact_key("s", 1, config, {}) == artifact_key("s", 1, backwards, {})
    assert artifact_key("s", 1, config, {}) != artifact_key("s", 2, config, {})


def test_a_key_is_the_same_in_every_process():
    """OC2: nothing in a key hangs on the hash seed."""
    code = "from storage import artifact_key as k; print(k('s', 1, {'b': [1, 'x'], 'a': {'d': 2.5, 'c': None}}, {'i': 'z'}))"
    keys = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(keys) == 1
    with pytest.raises(TypeError):
        artifact_key("s", 1, {"a": {1, 2}}, {})
    with pytest.raises(ValueError):
        canonical_json(float("nan"))


def test_types_never_follow_the_data():
    """SE1: an all-null column has the type of a full one, so that shards can be read together."""
    base = {"uid": "u", "judge": "j", "replicate": 0, "status": "ok"}
    empty, full = conform("responses", [base | {"error": None}]), conform("responses", [base | {"error": "429"}])
    assert empty.schema == full.schema
    assert len(pl.concat([pl.from_arrow(empty), pl.from_arrow(full)])) == 2
    with pytest.raises(TableError, match="gold"):
        conform("items", [ROW | {"gold": "yes"}])
    with pytest.raises(TableError, match="do not fit table 'items'"):
        conform("items", [ROW | {"max_tokens": "many"}])
    with pytest.raises(TableError, match="'prompt' may not be null"):
        conform("items", [ROW | {"prompt": None}])
    with pytest.raises(TableError, match="no table is named 'itens'"):
        conform("itens", [])


def test_a_key_that_occurs_twice_is_refused_and_nothing_is_committed(tmp_path):
    """SE3."""
    store = Store(tmp_path)
    writer = store.writer("exams", "k")
    writer.add("items", [ROW])
    writer.add("items", [ROW | {"prompt": "other"}])
    with pytest.raises(TableError, match=r"1 keys occur twice, the first is \{'uid': 'a'\}"):
        writer.commit(1, {}, {})
    assert store.find("exams", "k") is None


@pytest.mark.parametrize("harm", ["truncate", "delete part", "delete manifest", "flip a byte", "garbage manifest"])
def test_an_artifact_that_was_harmed_reads_as_not_there(tmp_path, harm):
    store = written(tmp_path)
    (part,) = tmp_path.rglob("*.parquet")
    manifest = part.with_name("manifest.json")
    data = part.read_bytes()
    match harm:
        case "truncate":
            part.write_bytes(data[:-20])
        case "delete part":
            part.unlink()
        case "delete manifest":
            manifest.unlink()
        case "flip a byte":
            part.write_bytes(data[:10] + bytes([data[10] ^ 1]) + data[11:])
        case "garbage manifest":
            manifest.write_text("{")
    assert store.find("exams", "k") is None
    with pytest.raises(ArtifactError, match="run its stage again"):
        store.get("exams", "k")
    assert written(tmp_path).find("exams", "k") is not None


def committed(store, texts, key="k"):
    """A writer that has said `texts`, a part each, and has committed."""
    writer = store.writer("exams", key)
    for number, text in enumerate(texts):
        writer.add("items", [ROW | {"uid": str(number), "prompt": text}])
        writer._flush("items")
    writer.commit(1, {}, {})
    return writer


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_recomputed_artifact_leaves_no_stale_part(tmp_path):
    store = Store(tmp_path)
    committed(store, "abc")
    next(tmp_path.rglob("part-items-00001.parquet")).unlink()
    committed(store, "d")
    assert store.get("exams", "k").read("items")["prompt"].to_list() == ["d"]
    assert len(list(tmp_path.rglob("*.parquet"))) == 1 and not store.drafts()


def test_a_commit_onto_an_artifact_that_is_there_changes_no_byte(tmp_path):
    """Neither the parts nor the manifest, and not for a moment while the second one is written."""
    store = Store(tmp_path)
    committed(store, "abc")
    before = content(tmp_path)
    writer = store.writer("exams", "k")
    for number, text in enumerate("xyz"):
        writer.add("items", [ROW | {"uid": str(number), "prompt": text}])
        writer._flush("items")
        assert store.get("exams", "k").read("items")["prompt"].to_list() == ["a", "b", "c"]
    kept = writer.commit(2, {"other": 1}, {})
    assert content(tmp_path) == before and not store.drafts()
    assert kept.manifest["version"] == 1 and kept.read("items")["prompt"].to_list() == ["a", "b", "c"]


@pytest.mark.parametrize("writers", [8])
def test_of_many_that_commit_one_key_at_once_one_stands_whole(tmp_path, writers):
    for turn in range(5):
        store, gate = Store(tmp_path / str(turn)), threading.Barrier(writers)
        kept = []

        def race(name, store=store, gate=gate, kept=kept):
            writer = store.writer("exams", "k")
            for number in range(3):
                writer.add("items", [ROW | {"uid": str(number), "prompt": name}])
                writer._flush("items")
            gate.wait()
            artifact = writer.commit(1, {}, {})
            kept.append(set(artifact.read("items")["prompt"]))

        threads = [threading.Thread(target=race, args=(str(number),)) for number in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(kept) == writers and len(set(map(frozenset, kept))) == 1 and len(kept[0]) == 1
        assert not store.drafts() and store.get("exams", "k").read("items").height == 3


def _write_and_wait(folder, ready):
    writer = Store(folder).writer("exams", "k")
    writer.add("items", [ROW])
    writer._flush("items")
    ready.set()
    time.sleep(600)


def test_what_a_killed_writer_leaves_is_no_artifact_and_is_found(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_write_and_wait, args=(str(tmp_path), ready))
    process.start()
    assert ready.wait(120)
    process.kill()
    process.join()
    store = Store(tmp_path)
    assert store.find("exams", "k") is None and list(store.artifacts()) == []
    (draft,) = store.drafts()
    store.files.delete(draft)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_reader_checks_the_schema(tmp_path):
    store = written(tmp_path)
    import json

    import pyarrow.parquet as pq

    from storage import digest

    (part,) = tmp_path.rglob("*.parquet")
    pq.write_table(pa.table({"uid": ["a"]}), part)
    manifest = part.with_name("manifest.json")
    content = json.loads(manifest.read_text())
    content["parts"][0] |= {"bytes": part.stat().st_size, "sha256": digest(part.read_bytes())}
    manifest.write_text(json.dumps(content))
    with pytest.raises(TableError, match="does not have the schema of table 'items'"):
        store.get("exams", "k").read("items")


def _write_for_ever(folder):
    files = LocalFiles(folder)
    number = 0
    while True:
        files.write("table", bytes([number % 256]) * 200_000)
        number += 1


def test_a_killed_writer_leaves_the_previous_version_and_readers_never_see_a_half(tmp_path):
    """SE4."""
    LocalFiles(tmp_path).write("table", b"\0" * 200_000)
    writer = multiprocessing.get_context("spawn").Process(target=_write_for_ever, args=(str(tmp_path),))
    writer.start()
    wrong: list[int] = []

    def read():
        for _ in range(300):
            data = LocalFiles(tmp_path).read("table")
            if len(data) != 200_000 or len(set(data)) != 1:
                wrong.append(len(data))

    reader = threading.Thread(target=read)
    reader.start()
    reader.join()
    time.sleep(0.2)
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    assert not wrong
    assert len(LocalFiles(tmp_path).read("table")) == 200_000
    assert LocalFiles(tmp_path).list(".") == ["table"]


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="choose another place with --store"):
        Store(tmp_path / "file").check_writable()


def test_runs_are_found_by_prefix_and_by_latest(tmp_path):
    store = Store(tmp_path)
    for run in ("20261129-aa", "20261130-bb"):
        store.write_run({"id": run})
    assert store.read_run("latest")["id"] == "20261130-bb"
    assert store.read_run("20261129")["id"] == "20261129-aa"
    with pytest.raises(StoreError, match="no run 'x'"):
        store.read_run("x")


def test_locations_are_resolved_at_entry(tmp_path, monkeypatch):
    """OC8: a relative store means the same from wherever the work is done."""
    monkeypatch.chdir(tmp_path)
    store = Store("here")
    monkeypatch.chdir("/")
    store.write("a/b", b"1")
    assert (tmp_path / "here/a/b").read_bytes() == b"1"
    assert Path(store.location).is_absolute()
