"""Runs: what is reused, what is recomputed, and what the record says at every moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.find import artifact_of, computed
from storage import Store
from tasks.errors import StageFailed
from tasks.stage import Stage
from tests.flows import toy


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "computed.log"
    path.touch()
    monkeypatch.setenv("TOY_LOG", str(path))
    return path


def test_a_second_run_computes_nothing_and_says_so(tmp_path: Path, log: Path) -> None:
    first = toy.run(tmp_path / "store")
    assert sorted(log.read_text().split()) == ["accept[all]", "seeds[a]", "seeds[b]", "seeds[c]"]
    log.write_text("")
    second = toy.run(tmp_path / "store")
    assert log.read_text() == ""
    assert computed(second) == []
    assert {entry["state"] for entry in second["stages"]} == {"reused"}
    assert second["artifacts"] == first["artifacts"]
    assert second["id"] > first["id"]


@pytest.mark.parametrize("harm", ["delete", "truncate", "flip"])
def test_a_broken_artifact_is_recomputed_and_nothing_else(tmp_path: Path, log: Path, harm: str) -> None:
    record = toy.run(tmp_path / "store")
    folder = tmp_path / "store" / "artifacts" / "seeds" / artifact_of(record, "seeds")["b"]
    part = next(folder.glob("part-*.parquet"))
    data = part.read_bytes()
    if harm == "delete":
        part.unlink()
    else:
        part.write_bytes(data[:-20] if harm == "truncate" else data[:40] + bytes([data[40] ^ 1]) + data[41:])
    log.write_text("")
    again = toy.run(tmp_path / "store")
    assert log.read_text().split() == ["seeds[b]"]
    assert computed(again) == ["seeds[b]"]
    assert part.read_bytes() == data


def test_a_failed_shard_lets_its_siblings_finish_and_is_all_that_the_next_run_computes(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAIL", "b")
    with pytest.raises(StageFailed, match=r"seeds\[b\]: unexpected ValueError: no luck"):
        toy.run(tmp_path / "store")
    record = Store(tmp_path / "store").read_run("latest")
    assert record["state"] == "failed"
    states = {entry["name"]: entry["state"] for entry in record["stages"]}
    assert states == {"seeds": "failed", "accept": "pending"}
    assert {name: shard["state"] for name, shard in record["stages"][0]["shards"].items()} == {
        "a": "done",
        "b": "failed",
        "c": "done",
    }
    assert f"worldaudit rerun {record['id']} --from seeds --only-failed" in record["mend"]
    assert not list((tmp_path / "store" / "artifacts" / "seeds").glob("*/part-*b*"))
    monkeypatch.delenv("TOY_FAIL")
    log.write_text("")
    toy.run(tmp_path / "store")
    assert sorted(log.read_text().split()) == ["accept[all]", "seeds[b]"]


def test_the_record_exists_before_the_first_stage_and_says_what_is_to_come(tmp_path: Path) -> None:
    seen = []

    def look(inputs, config, writer) -> None:
        seen.append(Store(tmp_path / "store").read_run("latest"))
        toy.seeds(inputs, config, writer)

    made = toy.start(tmp_path / "store")
    with made.runner:
        made.execute(lambda run: run.one(toy.ACCEPT, seeds=run.envs(Stage("seeds", 1, look))))
    during, after = seen[0], Store(tmp_path / "store").read_run("latest")
    assert during["state"] == "running"
    assert {entry["name"]: entry["state"] for entry in during["stages"]} == {"seeds": "running", "accept": "pending"}
    assert after["state"] == "complete"
    assert after["stages"][0]["rows"] == {"groups": 9}


def test_keys_are_known_before_anything_is_computed(tmp_path: Path) -> None:
    made = toy.start(tmp_path / "store")
    planned = {
        f"{stage.name}[{name}]": stage.key(*shard)
        for stage, shards in made.plan(toy.chain)
        for name, shard in shards.items()
    }
    assert not (tmp_path / "store").exists()
    assert toy.run(tmp_path / "store")["artifacts"] == planned


def test_a_raised_version_recomputes_its_stage_and_what_follows(tmp_path: Path, log: Path) -> None:
    toy.run(tmp_path / "store")
    log.write_text("")
    made = toy.start(tmp_path / "store")
    with made.runner:
        made.execute(lambda run: run.one(Stage("accept", 2, toy.accept), seeds=run.envs(toy.SEEDS)))
    assert log.read_text().split() == ["accept[all]"]


def test_fewer_rows_the_second_time_leave_fewer_rows(tmp_path: Path) -> None:
    toy.run(tmp_path / "store", n=5)
    record = toy.run(tmp_path / "store", n=2)
    artifact = Store(tmp_path / "store").get("accept", record["artifacts"]["accept[all]"])
    assert len(artifact.read("groups")) == 6


def test_refresh_of_one_shard_recomputes_that_one(tmp_path: Path, log: Path) -> None:
    toy.run(tmp_path / "store")
    log.write_text("")
    toy.run(tmp_path / "store", refresh=("seeds[c]",))
    assert log.read_text().split() == ["seeds[c]"]


def test_processes_change_no_key_and_no_byte(tmp_path: Path) -> None:
    one, two = toy.run(tmp_path / "one", processes=0), toy.run(tmp_path / "two", processes=2)
    assert one["artifacts"] == two["artifacts"]
    parts = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.parquet"))
    assert parts
    for part in parts:
        assert (tmp_path / "one" / part).read_bytes() == (tmp_path / "two" / part).read_bytes()
