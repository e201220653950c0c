"""Runs: what is reused, what is recomputed, and what the record says at every moment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.record import artifact_of, computed, upgraded
from storage import Store
from tasks.errors import BadInput, StageFailed
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

    def steps(run, asked) -> None:
        run.one(
            toy.ACCEPT, {}, seeds=run.each(Stage("seeds", 1, look), {name: {"env": name, "n": 3} for name in "abc"})
        )

    toy.run(tmp_path / "store", chain=toy.with_steps(steps))
    during, after = seen[0], Store(tmp_path / "store").read_run("latest")
    assert during["state"] == "running"
    assert {entry["name"]: entry["state"] for entry in during["stages"]} == {"seeds": "running", "accept": "pending"}
    assert after["state"] == "complete"
    assert after["stages"][0]["rows"] == {"groups": 9}


def test_keys_are_known_before_anything_is_computed(tmp_path: Path) -> None:
    made = toy.start(tmp_path / "store")
    planned = {
        f"{step.name}[{name}]": step.stage.key(*shard) for step in made.plan() for name, shard in step.shards.items()
    }
    assert not (tmp_path / "store").exists()
    assert toy.run(tmp_path / "store")["artifacts"] == planned


def test_a_raised_version_recomputes_its_stage_and_what_follows(tmp_path: Path, log: Path) -> None:
    toy.run(tmp_path / "store")
    log.write_text("")

    def steps(run, asked) -> None:
        seeds = run.each(toy.SEEDS, {name: {"env": name, "n": 3} for name in toy.SHARDS})
        run.one(Stage("accept", 2, toy.accept), {}, seeds=seeds)

    toy.run(tmp_path / "store", chain=toy.with_steps(steps))
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


# --- named steps -----------------------------------------------------------------------------------------------------


def twice(run, asked) -> None:
    """The same stage under two names; the second with a configuration of its own."""
    first = run.each(toy.SEEDS, {name: {"env": name, "n": 2} for name in "ab"})
    run.each(toy.SEEDS, {name: {"env": name, "n": 4} for name in "ab"}, step="more")
    run.one(toy.ACCEPT, {}, seeds=first)


def test_a_stage_may_be_used_twice_under_two_names(tmp_path: Path, log: Path) -> None:
    chain = toy.with_steps(twice)
    record = toy.run(tmp_path / "store", chain=chain)
    assert [(entry["name"], entry["stage"]) for entry in record["stages"]] == [
        ("seeds", "seeds"),
        ("more", "seeds"),
        ("accept", "accept"),
    ]
    assert record["stage_of"] == {"more": "seeds"}
    store = Store(tmp_path / "store")
    assert store.get("seeds", record["artifacts"]["more[a]"]).manifest["rows"] == {"groups": 4}
    log.write_text("")
    again = toy.run(tmp_path / "store", chain=chain, refresh=("more[b]",))
    assert (log.read_text().split(), computed(again)) == (["seeds[b]"], ["more[b]"])


def test_two_steps_of_one_name_are_refused(tmp_path: Path) -> None:
    def steps(run, asked) -> None:
        run.each(toy.SEEDS, {"a": {"env": "a", "n": 1}})
        run.each(toy.SEEDS, {"a": {"env": "a", "n": 2}})

    with pytest.raises(BadInput, match="two steps are named 'seeds'"):
        toy.start(tmp_path / "store", chain=toy.with_steps(steps)).plan()


def test_a_step_that_is_not_there_cannot_be_refreshed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no step 'sedes' to refresh.*seeds, accept"):
        toy.start(tmp_path / "store", refresh=("sedes",)).plan()


@pytest.mark.parametrize("shard", ["seeds[north]", "seeds[a", "seeds[]", "accept[a]"])
def test_a_shard_that_is_not_there_cannot_be_refreshed(tmp_path: Path, shard: str) -> None:
    there = "all" if shard.startswith("accept") else "a, b, c"
    with pytest.raises(BadInput, match=f"{re.escape(shard)}: step .* has no such shard; it has {there}"):
        toy.start(tmp_path / "store", refresh=(shard,)).plan()


def test_parameters_that_a_chain_does_not_know_are_named() -> None:
    with pytest.raises(BadInput, match=r"chain toy: unknown key .m."):
        toy.CHAIN.parse({"m": 3})
    with pytest.raises(BadInput, match=r"chain toy: .n."):
        toy.CHAIN.parse({"n": 0})


def test_a_record_of_the_first_form_reads_as_todays() -> None:
    old = {
        "id": "20260101T000000.000Z-abcd",
        "chain": "traces pictures",
        "world": "traces",
        "profile": "200x16",
        "seed": 2026,
        "judges": [],
        "given": {},
        "stages": [{"name": "trace-bank", "state": "done", "shards": {}}],
        "artifacts": {},
    }
    new = upgraded(old)
    assert (new["kind"], new["parameters"]) == ("bank", {"traces": 200, "pairs": 16, "seed": 2026, "pictures": True})
    assert new["stages"][0]["stage"] == "trace-bank"
    assert upgraded(new) is new
