"""An environment from outside the project goes through the whole chain."""

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from flows.runner import Runner
from tasks.errors import BadInput, StageFailed
from tasks.inference.message import Pictures, build
from tasks.judges import make
from tasks.rollouts import ROLLOUTS
from tasks.stage import ShardResult
from tasks.worlds import environment
from tests.conftest import generate

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def ferry(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield generate(tmp_path, profile=str(EXAMPLES / "ferry.toml"))
    sys.modules.pop("ferry", None)


def test_it_is_gated_examined_and_answered_from_its_pixels(ferry):
    rows = ferry.artifact("gates", "ferry").read("gate_results")
    assert rows["passed"].all() and rows["group_id"].n_unique() == 4
    gold = dict(
        ferry.artifact("answers").read("answers").filter(pl.col("task").is_in(["C", "D"]))["uid", "gold"].rows()
    )
    judge, release = make("tile-reader"), ferry.artifact("release")
    with Pictures(release) as pictures:
        for uid, prompt, image_ids in release.read("items").select("uid", "prompt", "image_ids").iter_rows():
            if uid in gold:
                assert judge.answer(build(prompt, image_ids, pictures)).lower() == gold[uid], uid
    assert len(gold) == 132 and json.dumps(sorted(set(gold.values()))) == '["fail", "no", "success", "yes"]'


def test_places_that_hold_no_environment_are_bad_input(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for place, said in (
        ("nowhere:Ferry", "is its folder in PYTHONPATH"),
        ("ferry:Freight", "has no attribute 'Freight'"),
        ("ferry:FerryWorld", "is no minigrid environment"),
    ):
        with pytest.raises(BadInput, match=said):
            environment("minigrid", place)


def test_a_reset_that_raises_fails_its_shard_and_leaves_the_rest_done(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = sys.modules.get("ferry") or __import__("ferry")
    monkeypatch.setattr(module.FerryWorld, "_gen_grid", lambda self, width, height: 1 / 0)
    shared = {"world": "minigrid", "seed": 3, "groups": 2}
    shards = {
        "ferry": ({**shared, "env": "ferry:Ferry", "env_id": "Ferry-v0"}, {}),
        "doorkey": ({**shared, "env": "doorkey", "env_id": "MiniGrid-DoorKey-6x6-v0"}, {}),
    }
    with (
        Runner(str(tmp_path), processes=0) as runner,
        pytest.raises(StageFailed, match=r"Ferry-v0.* raised ZeroDivisionError: division by zero"),
    ):
        runner.map(ROLLOUTS, shards)
    assert [s for s, result in runner.results["rollouts"].items() if isinstance(result, ShardResult)] == ["doorkey"]


def test_more_groups_than_there_are_is_said(tmp_path):
    config = {"world": "minigrid", "seed": 3, "env": "memory", "env_id": "MiniGrid-MemoryS7-v0", "groups": 60}
    with (
        Runner(str(tmp_path), processes=0) as runner,
        pytest.raises(StageFailed, match=r"MiniGrid-MemoryS7-v0 gives \d+ distinct clean rollouts .* 60 are wanted"),
    ):
        runner.map(ROLLOUTS, {"memory": (config, {})})
