"""MiniWorld through the stages: counts, gates, the same pixels whatever the processes, a shard that cannot draw."""

import polars as pl
import pytest

from flows.runner import Runner
from tasks.errors import StageFailed
from tasks.exams.gridworld.keyframes import MOST_FRAMES
from tasks.exams.gridworld.profiles import load
from tasks.gates import GATES_BY_NAME
from tasks.inference.message import Pictures, build
from tasks.judges import make
from tasks.rollouts import ROLLOUTS
from tasks.stage import ShardResult
from tasks.worlds.miniworld import check
from tests.conftest import SEED, generate

MISSING = [f"{name}: {message}" for name, works, message in check() if not works]
pytestmark = pytest.mark.skipif(bool(MISSING), reason="; ".join(MISSING))

TINY = """
world = "miniworld"
prompts = "miniworld-v1"
[shards.oneroom]
env_id = "MiniWorld-OneRoom-v0"
groups = 2
A = { groups = 1, items = 3 }
C = { groups = 1, probes = false, framings = ["neu", "pos"], nocue_framings = ["neu"] }
D = { references = 1, queries = 1, presentations = [["clean", "neu"], ["clean", "pos"]], nocue_framings = ["neu"] }
"""
DEAD = "tests.worlds.test_miniworld:Dies"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY)
    return folder, generate(folder / "one", profile=str(folder / "tiny.toml"), world="miniworld")


def test_counts_and_gates(tiny):
    _, made = tiny
    answers = made.artifact("answers").read("answers")
    base = answers.filter(pl.col("companion_of").is_null())
    assert dict(base["task"].value_counts().rows()) == {"A": 3, "C": 5, "D": 5}
    assert answers["steps"].list.len().max() <= MOST_FRAMES
    gates = made.artifact("gates", "oneroom").read("gate_results")
    assert gates["passed"].all() and set(gates["gate"]) == set(GATES_BY_NAME)
    sizes = set(made.artifact("rendering", "oneroom").read("images").select("width", "height").rows())
    assert sizes == {(256, 192)}


def test_other_processes_make_the_same_bytes(tiny):
    folder, made = tiny
    again = generate(folder / "two", profile=str(folder / "tiny.toml"), world="miniworld", processes=1)
    for stage, shards in made.refs.items():
        for shard, ref in shards.items():
            assert again.refs[stage][shard] == ref
            assert again.artifact(stage, shard).manifest["parts"] == made.artifact(stage, shard).manifest["parts"]


def test_the_reader_answers_it(tiny):
    _, made = tiny
    release = made.artifact("release")
    answers = (
        made.artifact("answers")
        .read("answers")
        .filter(~pl.col("condition").is_in(["shuffle", "mask"]).fill_null(False))
    )
    gold, judge = dict(answers["uid", "gold"].rows()), make("scene-reader")
    with Pictures(release) as pictures:
        for uid, prompt, image_ids in release.read("items").select("uid", "prompt", "image_ids").iter_rows():
            if uid in gold:
                assert judge.answer(build(prompt, image_ids, pictures)).lower() == gold[uid].lower(), uid


def test_an_environment_that_cannot_draw_fails_its_own_shard(tmp_path):
    shared = {"world": "miniworld", "env_id": "MiniWorld-OneRoom-v0", "seed": SEED, "groups": 1}
    shards = {"dead": ({**shared, "env": DEAD}, {}), "oneroom": ({**shared, "env": "oneroom"}, {})}
    with Runner(str(tmp_path), processes=1) as runner, pytest.raises(StageFailed, match="killed by SIGABRT"):
        runner.map(ROLLOUTS, shards)
    assert [s for s, result in runner.results["rollouts"].items() if isinstance(result, ShardResult)] == ["oneroom"]


def test_the_profiles_have_the_papers_counts():
    for profile, wanted in (("base", {"A": 64, "C": 100, "D": 50}),):
        shards = load("miniworld", profile).shards.values()
        assert {
            "A": sum(shard.A.items for shard in shards),
            "C": sum(shard.C.groups * (2 * len(shard.C.framings) + len(shard.C.nocue_framings)) for shard in shards),
            "D": sum(
                shard.D.queries * (2 * len(shard.D.presentations) + len(shard.D.nocue_framings)) for shard in shards
            ),
        } == wanted
    shards = load("minigrid", "scale2").shards.values()
    assert sum(shard.A.items for shard in shards if shard.A) == 1030
    assert sum(shard.A.groups for shard in shards if shard.A) == 76
    assert sum(shard.C.groups for shard in shards) == 442 and len(shards) == 10
    assert sum(shard.D.queries for shard in shards if shard.D) == 432
