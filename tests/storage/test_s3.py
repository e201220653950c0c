"""The store on an object store: a real S3 protocol server on this machine."""

import boto3
import pytest
from moto.server import ThreadedMotoServer

from storage import ArtifactError, Store
from storage.catalog import write_catalog
from tests.conftest import generate


@pytest.fixture(scope="module")
def bucket():
    """The URI of an empty bucket, with the environment that reaches it."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1").create_bucket(Bucket="audit")
        yield "s3://audit/store"
    server.stop()


def test_the_same_artifacts_as_in_a_folder(bucket, smoke):
    made = generate(bucket, processes=1)
    for stage, shards in smoke.refs.items():
        for shard, ref in shards.items():
            assert made.refs[stage][shard] == ref
            assert made.artifact(stage, shard).manifest["parts"] == smoke.artifact(stage, shard).manifest["parts"]
    assert made.artifact("release").read("items").equals(smoke.artifact("release").read("items"))


def test_a_harmed_object_reads_as_not_there_and_runs_are_found(bucket):
    store = Store(bucket)
    writer = store.writer("release", "k")
    row = {"uid": "a", "task": "A", "prompt": "p", "image_ids": ["i"], "answer_format": "letter", "max_tokens": 5}
    writer.add("items", [row])
    (part,) = writer.commit(1, {}, {}).parts("items")
    store.files.write(part, store.files.read(part)[:-20])
    with pytest.raises(ArtifactError, match="is not what its manifest says"):
        store.get("release", "k")
    store.files.delete("artifacts/release/k")
    assert store.find("release", "k") is None and "k" not in store.files.list("artifacts/release")
    store.write_run({"id": "20991130T000000.000Z-aaaa", "state": "complete", "command": "x", "artifacts": {}})
    assert store.read_run("latest")["id"].startswith("20991130")
    assert "CREATE" in write_catalog(store)


def test_a_commit_onto_an_object_that_is_there_changes_nothing(bucket):
    store = Store(bucket)
    row = {"uid": "a", "task": "A", "prompt": "p", "image_ids": ["i"], "answer_format": "letter", "max_tokens": 5}

    def commit(prompt):
        writer = store.writer("release", "kept")
        writer.add("items", [row | {"prompt": prompt}])
        return writer.commit(1, {}, {})

    first, second = commit("first"), commit("second")
    assert first.manifest == second.manifest
    assert store.get("release", "kept").read("items")["prompt"].to_list() == ["first"]
    assert not store.drafts()
    store.files.delete(first.parts("items")[0])
    assert commit("third").read("items")["prompt"].to_list() == ["third"]
