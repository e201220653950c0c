"""Stages through the runner: the same artifacts for any number of processes; the release that comes out."""

from __future__ import annotations

import json

import orjson
import polars as pl
import pytest

from flows.operations.launch import execute
from flows.request import Request
from storage import Store, digest
from tasks.traces.export import release_files
from tasks.traces.stages import DIAGRAMS, PAIRS, TRACES, configs


def parts(store: str, record: dict) -> dict[str, dict[str, str]]:
    """SHA-256 of every part of every artifact of a run."""
    opened = Store(store)
    return {
        name: {part["name"]: part["sha256"] for part in opened.get(name.partition("[")[0], key).manifest["parts"]}
        for name, key in record["artifacts"].items()
    }


def make(store: str, processes: int) -> dict:
    """The record of a run that made a bank of 34 traces."""
    parameters = {"traces": 34, "pictures": False}
    return execute(Request(store, "traces generate", "bank", parameters, {"run": {"processes": processes}}))


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("one"))
    return store, make(store, processes=0)


def read(bank, stage, table):
    store, record = bank
    keys = [key for name, key in sorted(record["artifacts"].items()) if name.startswith(f"{stage}[")]
    return pl.concat([Store(store).get(stage, key).read(table) for key in keys])


def test_equal_bytes_for_any_process_count(bank, tmp_path):
    store, record = bank
    other = make(str(tmp_path), processes=2)
    assert parts(store, record) == parts(str(tmp_path), other)
    again = make(store, processes=0)
    assert {shard["state"] for stage in again["stages"] for shard in stage["shards"].values()} == {"reused"}


def test_tables(bank):
    table, pairs = read(bank, "trace-bank", "traces"), read(bank, "trace-pairs", "pairs")
    assert (table.height, pairs.height) == (34, 544)
    assert read(bank, "trace-bank", "diagnostics").height == read(bank, "trace-pairs", "diagnostics").height == 0
    assert set(pairs["trace_id"]) == set(table["trace_id"])
    merged = pairs.join(table.select("trace_id", theirs="split"), on="trace_id")
    assert (merged["split"] == merged["theirs"]).all()


def test_a_trace_that_fails_a_gate_is_a_diagnostic(tmp_path, monkeypatch):
    from tasks.stage import produce
    from tasks.traces import gates

    recomputed = gates.recomputation
    monkeypatch.setattr(
        gates, "recomputation", lambda record, trace: "broken" if record.index == 1 else recomputed(record, trace)
    )
    outcome = produce(str(tmp_path), TRACES, "lever", {"family": "lever", "traces": 34, "seed": 2026}, {})
    artifact = Store(tmp_path).get(TRACES.name, outcome.ref.key)
    assert artifact.read("traces")["index"].to_list() == [0]
    assert artifact.read("diagnostics").select("gate", "detail").rows() == [("recomputation", "broken")]


def test_diagrams(tmp_path):
    from flows.runner import Runner

    made = configs(17, 2026, 1)
    with Runner(str(tmp_path), processes=0) as runner:
        ref = runner.one(TRACES, made[TRACES.name]["lever"], {})
        drawn = runner.one(DIAGRAMS, made[DIAGRAMS.name]["lever"], {"traces": ref})
    artifact = Store(tmp_path).get(DIAGRAMS.name, drawn.key)
    row = artifact.read("images").row(0, named=True)
    assert row["png_sha256"] == digest(row["png"])
    assert artifact.read("diagrams")["image_id"].to_list() == [row["image_id"]]
    assert artifact.read("diagnostics").height == 0


def test_release(bank):
    table, pairs = read(bank, "trace-bank", "traces"), read(bank, "trace-pairs", "pairs")
    files = release_files(table, pairs, {"seed": 2026})
    assert files == release_files(table.reverse(), pairs, {"seed": 2026})
    stats = json.loads(files["generation_stats.json"])
    assert all(stats["sha256"][name] == digest(files[name]) for name in stats["sha256"])
    assert stats["counts"]["traces"] == 34
    assert "license: apache-2.0" in files["README.md"].decode()
    splits = json.loads(files["splits.json"])
    assert sum(map(len, splits.values())) == 34
    rows = [orjson.loads(line) for line in files["trl/train.jsonl"].splitlines()]
    assert rows
    for row in rows:
        assert [m["role"] for m in row["prompt"]] == ["user"]
        assert [m["role"] for m in row["chosen"]] == [m["role"] for m in row["rejected"]] == ["assistant"]
        assert row["chosen"] != row["rejected"]
        assert list(json.loads(row["chosen"][0]["content"])) == list(json.loads(row["rejected"][0]["content"]))
    held = {
        row["perturbation"]
        for row in map(orjson.loads, files["preference_pairs_seed.jsonl"].splitlines())
        if row["split"] == "train"
    }
    assert not held & set(stats["counts"]["held_out_perturbations"])


def test_stage_names_are_their_own():
    assert len({TRACES.name, PAIRS.name, DIAGRAMS.name}) == 3
