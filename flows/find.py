"""What is in a store: exams, responses to them, banks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from flows.judging import judge_specs
from flows.record import artifact_of, read_record
from flows.runner import Runner
from storage import Store
from storage.store import ArtifactError, StoreError
from tasks.config import Configuration
from tasks.errors import BadInput
from tasks.exams import ANSWERS, RELEASE
from tasks.inference import INFERENCE, stage_config
from tasks.stage import Ref
from tasks.traces.stages import TRACES as BANK


@dataclass(frozen=True)
class Exam:
    """Keys of an exam's release and of its answers."""

    release: str
    answers: str


def exam(store: Store, name: str) -> Exam:
    """The exam that `name` means: the first letters of an exam's key, a run's id, or `latest`. BadInput names the exams that
    there are."""
    releases = store.manifests(RELEASE.name)
    matches = [key for key in releases if key.startswith(name)] if len(name) >= 4 else []
    if not matches and (name == "latest" or any(run.startswith(name) for run in store.runs())):
        matches = [read_record(store, name, lambda record: record["exam"] in releases, "run with an exam")["exam"]]
    if len(matches) != 1:
        newest = sorted(releases, key=lambda key: str(releases[key]["ended"]))[-5:]
        known = ", ".join(key[:12] for key in newest) or "none yet: `worldaudit generate minigrid` makes one"
        what = f"{len(matches)} exams begin with" if matches else "no exam"
        raise BadInput(f"{what} {name!r} in {store.location}; the newest are: {known}")
    answers = {
        key: manifest
        for key, manifest in store.manifests(ANSWERS.name).items()
        if manifest["inputs"].get("release") == matches[0]
    }
    if not answers:
        raise BadInput(f"exam {matches[0][:12]} in {store.location} has no answers; generate it again")
    return Exam(matches[0], max(answers, key=lambda key: str(answers[key]["ended"])))


def responses_to(
    store: Store, release: str, judges: Iterable[str] = (), configuration: Configuration | None = None
) -> dict[str, str]:
    """judge -> key of its responses to a release: the newest finished ones. BadInput where a judge has none.

    A judge that is named and has not finished is taken as far as it has come, the rest `pending`, so that numbers of an
    unfinished judge say so.
    """
    newest: dict[str, tuple[bool, str, str]] = {}
    for key, manifest in store.manifests(INFERENCE.name).items():
        if manifest["inputs"].get("release") == release:
            name, finished = manifest["config"]["judge"], "snapshot" not in manifest["config"]
            newest[name] = max(newest.get(name, (False, "", "")), (finished, str(manifest["ended"]), key))
    wanted = list(judges) or sorted(newest)
    keys = {name: newest[name][2] for name in wanted if name in newest and (newest[name][0] or not judges)}
    for name in wanted:
        if name not in keys and (so_far := _so_far(store, release, name, configuration or Configuration())):
            keys[name] = so_far
    missing = [name for name in wanted if name not in keys]
    if missing or not wanted:
        who = ", ".join(missing) or "no judge"
        raise BadInput(
            f"{who} has answered nothing of exam {release[:12]}; `worldaudit infer {release[:12]} --judge NAME` asks "
            "one, import-responses brings answers from elsewhere"
        )
    return {name: keys[name] for name in wanted}


def _so_far(store: Store, release: str, judge: str, configuration: Configuration) -> str | None:
    """The key of what an unfinished judge has answered; None where it has answered nothing."""
    (spec,) = judge_specs([judge], configuration).values()
    inputs = {"release": Ref(RELEASE.name, release)}
    assert INFERENCE.spending is not None
    config = INFERENCE.spending.so_far(store, stage_config(judge, spec), inputs)
    if config is None:
        return None
    return Runner(store.location, processes=0).one(INFERENCE, config, inputs, shard=judge).key


# --- stated worlds ----------------------------------------------------------------------------------------------------


def bank(store: Store, name: str) -> dict[str, Any]:
    """The record of the run that made a bank, by id or `latest`. BadInput where there is none."""

    def whole(record: Mapping[str, Any]) -> bool:
        return bool(record["kind"] == "bank" and record["state"] == "complete" and artifact_of(record, BANK.name))

    try:
        return read_record(store, name, whole, "bank")
    except (StoreError, ArtifactError) as error:
        raise BadInput(f"{error}; `worldaudit traces generate` makes a bank") from None


def table_of(store: Store, record: Mapping[str, Any], step: str, table: str) -> pl.DataFrame:
    """All rows of one table over the shards of a step of a run, in the order of their names."""
    from storage.tables import SCHEMAS

    stage = record.get("stage_of", {}).get(step, step)
    empty = pl.DataFrame(pl.from_arrow(SCHEMAS[table].empty_table()))
    return pl.concat(
        [empty, *(store.get(stage, key).read(table) for _, key in sorted(artifact_of(record, step).items()))]
    )
