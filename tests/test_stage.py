"""Many shards of a stage in one runner: which starts first, and in which order their results come back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flows.runner import Runner
from storage import Store
from tasks.errors import StageFailed
from tasks.stage import Ref, ShardResult, Stage, produce
from tests.flows.toy import ACCEPT, SEEDS


def accept_one(inputs, config, writer) -> None:
    writer.add("groups", inputs["seeds"].arrow("groups"))


ACCEPT_ONE = Stage("accept-one", 1, accept_one)


def leave(inputs, config, writer) -> None:
    sys.exit(0)


def test_a_stage_that_calls_exit_has_failed(tmp_path: Path) -> None:
    """It would end the run, with exit code 0."""
    with pytest.raises(StageFailed, match=r"leave called sys.exit\(0\)"):
        produce(str(tmp_path), Stage("leave", 1, leave), "all", {}, {})


def _run(store: Path) -> tuple[list[str], dict[str, Ref]]:
    """In which order the shards of the second stage were computed or found, and what they gave."""
    order: list[ShardResult] = []
    with Runner(str(store), processes=0, on_shard=order.append) as runner:
        seeds = runner.map(SEEDS, {name: ({"env": name, "n": n}, {}) for name, n in (("a", 5), ("b", 900), ("c", 200))})
        given = runner.map(ACCEPT_ONE, {name: ({}, {"seeds": ref}) for name, ref in seeds.items()})
        runner.one(ACCEPT, {}, {f"seeds.{name}": ref for name, ref in seeds.items()})
    return [outcome.shard for outcome in order if outcome.ref.stage == "accept-one"], given


def test_the_shard_that_reads_most_starts_first_and_results_keep_their_order(tmp_path: Path) -> None:
    order, given = _run(tmp_path)
    assert order == ["b", "c", "a"] and list(given) == ["a", "b", "c"]
    assert _run(tmp_path) == (order, given)  # found in the store, of the same sizes


def test_what_is_computed_anew_and_comes_out_otherwise_replaces_nothing_and_is_said(tmp_path: Path, capfd) -> None:
    said = iter(["first", "second"])

    def say(inputs, config, writer) -> None:
        writer.add("groups", [{"group_id": next(said), "world": "w", "env": "e", "env_id": "E", "seed": 1}])

    stage = Stage("say", 1, say)
    made = produce(str(tmp_path), stage, "all", {}, {})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = produce(str(tmp_path), stage, "all", {}, {}, refresh=True)
    assert again.ref == made.ref and not again.reused
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert again.differs


def test_a_stage_that_fails_leaves_no_draft(tmp_path: Path) -> None:
    def fail(inputs, config, writer) -> None:
        writer.add("groups", [{"group_id": "g", "world": "w", "env": "e", "env_id": "E", "seed": 1}])
        writer._flush("groups")
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        produce(str(tmp_path), Stage("fail", 1, fail), "all", {}, {})
    assert not Store(tmp_path).drafts() and not list(tmp_path.rglob("*.parquet"))
