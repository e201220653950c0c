"""What the key of a judge's answers depends on, where else pictures may lie, and what a stage that spends says of itself."""

from __future__ import annotations

import pytest

from storage import Store, digest
from tasks.errors import StageFailed
from tasks.inference import INFERENCE, embedded, journal_state, parse_judge, stage_config
from tasks.inference.exam import asked_items, journal_key
from tasks.inference.message import Pictures
from tasks.stage import Ref, produce

from .release import infer, judge, make_release
from .scripted_server import Fail, Say, ScriptedServer

RELEASE = {"release": Ref("release", "r" * 64)}
HOSTED = parse_judge(
    "g",
    {
        "api": "openai",
        "model": "m",
        "base_url": "http://127.0.0.1:9/v1",
        "structured": True,
        "logprobs": True,
        "replicates": 3,
    },
)
SERVED = parse_judge("v", {"api": "vllm", "model": "m", "serve": {"dtype": "half"}})

# Keys of artifacts and journals that stores are full of: whatever changes in the code, these may not.
KEYS = {
    "always-success": (
        "c0b3e98c3aedf1c72adfb490ecc045c11a1e67d334001121f22f2fc0ac39a21c",
        "5b21c263f3ddcd531a15ebca841d207ba7631b2dbeb01ef60ebd45472fc471e9",
    ),
    "always-fail": (
        "fb98a3ed0940dc896f258e642e682d21802608e0200f3e8df4f873d8db98a163",
        "4a461885131066226aa7bf880852afec424eb3019bb00fbfe109ad8f2397b238",
    ),
    "coin": (
        "3b355f8be1989dc6b89fabeeecdcbe48bc8f4878b435778ad499a718e823c650",
        "3c3e8ce419244b8914ae3664ac5896e0d9c2a21240924844d994196e1cc0bc47",
    ),
    "last-frame": (
        "ad1ec32152f56d51188ea81dec1c36c1fe813faaed44ff477e3f6f9af9640e79",
        "56277686c18fe46b6750e7614fa6795a7150dd7d60baa6b67068a93aa0c86301",
    ),
    "tile-reader": (
        "14a950843b282d14a099795c1e7abed6047d6659b34700447f06922c46cef7d5",
        "33749820233aac6f821869105a59e35563ed802d4cc03bd8bb18c6748c1d5f9d",
    ),
    "scene-reader": (
        "887f3d216775aff6f0c62af961b2247105e2f34c30b5f178b1400055093025dc",
        "8d190837321d94c4e4c4b7aa87b51d8ca78172ebdbdd9b1f9364c37008cb468f",
    ),
    "g": (
        "8dcbd5defa6b1221eb9c3d28302796f04211fa68425c8dd601c8e1089edd4dd3",
        "0acd95d098ceb7403abbeed4fb6ab983a8741dddf081473b2242ff707c954701",
    ),
    "v": (
        "17769dfc4a96c2921cb3f01e082a1f38a34638a8062998b5670ac1e873fee9b3",
        "c5b0b7bcfdc4dc9bd1cfff1c0b8c0364cf291b9db3df0346349e6095158a30d6",
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_plain_asking_has_the_key_that_it_always_had(name):
    spec = {"g": HOSTED, "v": SERVED}.get(name) or embedded(name)
    assert (INFERENCE.key(stage_config(name, spec), RELEASE), journal_key(spec, "r" * 64)) == KEYS[name]


def test_a_snapshot_has_the_key_that_it_always_had():
    key = INFERENCE.key(stage_config("g", HOSTED, "abc"), RELEASE)
    assert key == "4d0523059094964bf6dcdbba980167aa4d9348242ace29ff3ec9fac841ddb114"


def test_requests_have_the_digests_that_they_always_had(store):
    release = Store(store).get("release", make_release(store, 5).key)
    with Pictures(release) as pictures:
        asked = asked_items(release, HOSTED, pictures)
    assert digest("".join(item.sha256 for item in asked)) == (
        "3f45c3d0d6ee31ee184471d5118b7df3e59d2fe86c49e941a59a766f5d0bde64"
    )


def test_an_asking_has_a_journal_and_an_artifact_of_its_own_and_a_retry_an_artifact_alone():
    def key(**how):
        return INFERENCE.key(stage_config("g", HOSTED, **how), RELEASE)

    keys = [key(), key(asking="a"), key(asking="b"), key(retried="a"), key(asking="a", retried="a")]
    assert len(set(keys)) == len(keys)
    assert journal_key(HOSTED, "r" * 64, "a") not in (journal_key(HOSTED, "r" * 64), journal_key(HOSTED, "r" * 64, "b"))


def test_how_far_a_judge_has_come_is_told_of_each_asking_apart(store):
    release = make_release(store, 5)
    spec = embedded("coin")
    before = journal_state(Store(store), release.key, spec, "second")
    infer(store, release, spec)
    assert journal_state(Store(store), release.key, spec) != before
    assert journal_state(Store(store), release.key, spec, "second") == before
    infer(store, release, spec, asking="second")
    assert journal_state(Store(store), release.key, spec, "second") == journal_state(Store(store), release.key, spec)


# --- pictures elsewhere -------------------------------------------------------------------------------------------------


def without_pictures(location: str, release: Ref, shards: int) -> dict[str, Ref]:
    """The same items in a release without pictures, and the pictures in artifacts of their own."""
    store = Store(location)
    whole = store.get("release", release.key)
    bare = store.writer("release", digest("bare"))
    bare.add("items", whole.read("items"))
    bare.commit(1, {}, {})
    refs = {"release": Ref("release", bare.key)}
    shown = whole.read("images")
    for number in range(shards):
        writer = store.writer("pictures", digest(f"shard {number}"))
        writer.add("images", shown[number::shards])
        writer.commit(1, {}, {})
        refs["images" if shards == 1 else f"images.{number}"] = Ref("pictures", writer.key)
    return refs


@pytest.mark.parametrize("shards", [1, 3])
def test_pictures_may_lie_in_other_artifacts(store, shards):
    release = make_release(store, 10, images=2)
    refs = without_pictures(store, release, shards)
    config = stage_config("coin", embedded("coin"))
    outcome = produce(store, INFERENCE, "coin", config, refs)
    rows = Store(store).get("inference", outcome.ref.key).read("responses")
    assert rows.equals(infer(store, release, embedded("coin"), name="coin"))
    assert INFERENCE.spending.plan(Store(store), stage_config("last-frame", embedded("last-frame")), refs).images == 20


def test_a_picture_that_lies_nowhere_is_named(store):
    refs = without_pictures(store, make_release(store, 10), 3)
    del refs["images.1"]
    with pytest.raises(StageFailed, match="is named by an item and is not in the release, nor among other pictures"):
        produce(store, INFERENCE, "coin", stage_config("coin", embedded("coin")), refs)


# --- a stage that spends ------------------------------------------------------------------------------------------------


def test_what_there_is_so_far_of_an_unfinished_judge(store):
    release = make_release(store, 40)
    inputs, spending = {"release": release}, INFERENCE.spending
    spent = Fail(429, {"error": {"code": "insufficient_quota", "message": "empty"}})
    with ScriptedServer(lambda seen: Say("Yes") if seen.number < 15 else spent) as server:
        spec = judge(server.url, limits={"concurrency": 1})
        config = stage_config("g", spec, asking="a")
        assert spending.so_far(Store(store), config, inputs) is None
        with pytest.raises(StageFailed, match="--only-failed` asks only what is missing"):
            produce(store, INFERENCE, "g", config, inputs)
    assert spending.so_far(Store(store), stage_config("g", spec), inputs) is None  # another asking
    told = spending.plan(Store(store), config, inputs)
    assert (told.judge, told.cached, told.calls) == ("g", 15, 25)
    snapshot = spending.so_far(Store(store), config, inputs)
    outcome = produce(store, INFERENCE, "g", snapshot, inputs)
    statuses = Store(store).get("inference", outcome.ref.key).read("responses")["status"].to_list()
    assert (statuses.count("ok"), statuses.count("pending")) == (15, 25)


def broken(message):
    raise RuntimeError("never")


def test_failures_are_nothing_so_far(store):
    inputs = {"release": make_release(store, 5)}
    config = stage_config("g", parse_judge("g", {"api": "python", "entry_point": f"{__name__}:broken"}))
    with pytest.raises(StageFailed, match="5 of 5 requests failed"):
        produce(store, INFERENCE, "g", config, inputs)
    assert INFERENCE.spending.so_far(Store(store), config, inputs) is None


def test_nothing_is_planned_before_the_release_is_there(store):
    assert INFERENCE.spending.plan(Store(store), stage_config("g", judge()), RELEASE) is None


def test_what_a_finished_judge_has_cost(store):
    release = make_release(store, 10)
    with ScriptedServer(lambda seen: Say("Yes")) as server:
        config = stage_config("g", judge(server.url, prices={"input": 2.0, "output": 10.0, "currency": "EUR"}))
        outcome = produce(store, INFERENCE, "g", config, {"release": release})
    artifact = Store(store).get("inference", outcome.ref.key)
    sums = artifact.read("responses").select("input_tokens", "output_tokens").sum().row(0)
    told = INFERENCE.spending.cost(artifact, config)
    assert told == {
        "input_tokens": sums[0],
        "output_tokens": sums[1],
        "amount": pytest.approx((sums[0] * 2.0 + sums[1] * 10.0) / 1e6),
        "currency": "EUR",
    }
    assert told["amount"] > 0
    assert INFERENCE.spending.cost(artifact, stage_config("g", judge(server.url))) is None
