"""What a run was reported from stays as it is: no rerun, refresh, import, race or clean-up changes or drops it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from flows.operations.collect import collect
from flows.record import artifact_of
from storage import Store
from tests.flows.command import RUN, worldaudit
from tests.inference.scripted_server import Fail, Say, ScriptedServer

ROOT = Path(__file__).parents[2]


def contents(store: Path) -> dict[Path, bytes]:
    """Every file that nobody may change: artifacts, and the records of runs that have ended."""
    kept = [*store.glob("artifacts/*/*/*"), *store.glob("runs/*/run.json")]
    return {path: path.read_bytes() for path in kept}


def unchanged(before: dict[Path, bytes]) -> None:
    assert not [str(path) for path, data in before.items() if not path.exists() or path.read_bytes() != data]


def config_of(folder: Path, url: str, **table: Any) -> str:
    lines = ["[judges.g]", 'api = "openai"', 'model = "m"', f'base_url = "{url}"']
    lines += ["limits = { backoff_s = 0.01, retries = 1, concurrency = 1, deadline_s = 60, max_failed = 0.2 }"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    path = folder / "judges.toml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def ask(store: Path, config: str, *more: str) -> str:
    done = worldaudit(
        "infer", "latest", "--judge", "g", "--config", config, "--processes", "0", "--store", str(store), *more
    )
    assert done.code == 0, done.err
    return artifact_of(Store(store).read_run("latest"), "inference")["g"]


def test_no_way_of_asking_again_changes_what_was_answered(store: Path, tmp_path: Path) -> None:
    """A server that answers otherwise each time, and fails now and then, so that there is something to retry."""
    answers = iter(range(10**6))

    def script(seen):
        number = next(answers)
        return Fail(400, {"error": {"message": "no"}}) if number % 17 == 5 and number < 150 else Say(f"Yes {number}")

    with ScriptedServer(script, keep_images=False) as server:
        config = config_of(tmp_path, server.url)
        keys = {ask(store, config)}
        before = contents(store)
        for again in (
            ["rerun", "latest", "--from", "inference"],
            ["rerun", "latest", "--from", "inference", "--only-failed"],
            ["infer", "latest", "--judge", "g"],
        ):
            config_for = ["--config", config] if again[0] == "infer" else []  # a rerun has its run's own
            done = worldaudit(*again, *config_for, "--processes", "0", "--store", str(store))
            assert done.code == 0, (again, done.err)
            unchanged(before)
            keys.add(artifact_of(Store(store).read_run("latest"), "inference")["g"])
            before = contents(store)
        keys.add(ask(store, config_of(tmp_path, server.url, replicates=2)))
        unchanged(before)
        asked = len(server.seen)
        refused = worldaudit(
            "infer", "latest", "--judge", "g", "--refresh", "inference", "--config", config, "--store", str(store)
        )
        assert refused.code == 2 and "rerun RUN --from inference" in refused.err and len(server.seen) == asked
    assert len(keys) == 4  # the first, the second, its retry, and the one with replicates


def test_a_rerun_beside_a_run_that_asks_the_same_judge_takes_nothing_from_it(store: Path, tmp_path: Path) -> None:
    """Two processes, one judge, at once: each asking has its journal, and both end whole."""
    halfway, slow = threading.Event(), [False]

    def script(seen):
        if slow[0] and seen.number >= 130:
            slow[0] = False
            halfway.set()
            return Say("Yes, at last", delay=25)
        return Say(f"Yes {seen.number}")

    with ScriptedServer(script, keep_images=False) as server:
        config = config_of(tmp_path, server.url)
        ask(store, config)
        before = contents(store)
        slow[0] = True
        rerun = [
            sys.executable,
            "-m",
            "flows.commands.cli",
            "rerun",
            "latest",
            "--from",
            "inference",
            "--store",
            str(store),
        ]
        rerun += ["--no-prefect", "--processes", "0"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        first = subprocess.Popen(rerun, env=environ, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert halfway.wait(300)
        run = next(record["id"] for record in Store(store).records() if record["state"] == "complete")
        second = worldaudit("rerun", run, "--from", "inference", "--processes", "0", "--store", str(store))
        assert second.code == 0, second.err
        assert first.poll() is None  # it did not wait for the first
        _, err = first.communicate(timeout=300)
        assert first.returncode == 0, err
    unchanged(before)
    made = {artifact_of(record, "inference").get("g") for record in Store(store).records()} - {None}
    assert len(made) == 3
    for key in made:
        assert set(Store(store).get("inference", key).read("responses")["status"]) == {"ok"}


def test_a_rerun_whose_preflight_fails_has_dropped_nothing(store: Path, tmp_path: Path) -> None:
    alive = [True]
    with ScriptedServer(lambda seen: Say("Yes") if alive[0] else Fail(401), keep_images=False) as server:
        config = config_of(tmp_path, server.url)
        ask(store, config)
        before = contents(store) | {path: path.read_bytes() for path in store.glob("journal/*/*/*.jsonl")}
        alive[0] = False
        done = worldaudit("rerun", "latest", "--from", "inference", "--processes", "0", "--store", str(store))
        assert done.code == 2 and "preflight" in done.err, done
    unchanged(before)


# --- clean-up ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../../precious", "/precious", "..", "a/../../../precious"])
def test_a_record_that_names_a_way_out_of_the_store_drops_nothing_there(store: Path, name: str) -> None:
    precious = store.parent / "precious"
    precious.mkdir(exist_ok=True)
    (precious / "thesis").write_text("years")
    before = contents(store)
    for number, record in enumerate(
        (
            {"id": name, "artifacts": {}},
            {"artifacts": {"release[all]": name}},
            {"artifacts": {}, "stage_of": {"a": name}},
        )
    ):
        folder = store / "runs" / f"20000101T00000{number}.000Z-dead"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"id": folder.name, "state": "complete"} | record))
    dropped = collect(Store(store), keep_runs=1)
    assert (precious / "thesis").read_text() == "years"
    assert len(dropped["damaged_runs"]) == 3 and dropped["runs"] == []
    unchanged(before)


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "{}"])
def test_one_damaged_record_is_named_and_ends_no_command(store: Path, text: str) -> None:
    folder = store / "runs" / "29990101T000000.000Z-dead"
    folder.mkdir()
    (folder / "run.json").write_text(text)
    for command in (["runs"], ["store", "gc"], ["store", "verify"], ["store", "sql"], ["show", "latest"], RUN):
        done = worldaudit(*command, "--store", str(store))
        assert done.code == 0, (command, done.err)
        if command[:1] == ["store"] and command != ["store", "sql"]:
            assert folder.name in done.out, command


def test_gc_keeps_imported_answers_and_drops_what_dead_writers_left(store: Path, tmp_path: Path) -> None:
    place = Store(store)
    uids = place.get("release", place.read_run("latest")["exam"]).read("items")["uid"]
    for judge in ("ann", "bob"):
        (tmp_path / "answers.jsonl").write_text("\n".join(json.dumps({"uid": uid, "text": judge}) for uid in uids))
        done = worldaudit(
            "import-responses",
            str(tmp_path / "answers.jsonl"),
            "--judge",
            judge,
            "--resamples",
            "200",
            "--store",
            str(store),
        )
        assert done.code == 0, done.err
    before = contents(store)
    writer = place.writer("inference", "0" * 64)
    place.write(f"{writer.draft}/part-responses-00000.parquet", b"half")
    dropped = worldaudit("store", "gc", "--json", "--store", str(store)).json
    assert dropped["artifacts"] == []
    unchanged(before)
    assert not list(store.rglob(".tmp-*"))
