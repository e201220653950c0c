"""A finished or failed run, again from one stage on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from flows.find import artifact_of
from flows.run import Request
from storage import Store
from tasks.errors import BadInput

BY_JUDGE = ("inference", "parsing")


def again(
    store: Store,
    run_id: str,
    start: str,
    judges: Iterable[str],
    only_failed: bool,
    command: str,
    dry_run: bool = False,
) -> Request:
    """The request that redoes `run_id` from stage `start` on, for some judges or all. Everything before is reused.

    From inference on, what the judges had answered is dropped, so that they are asked again; with `only_failed` their
    answers are kept and only missing and failed requests are sent. Raises BadInput where the run has no such stage or
    judge, or where one judge alone is asked for a stage that all judges share.
    """
    record = store.read_run(run_id)
    stages = [entry["name"] for entry in record["stages"]]
    if start not in stages:
        raise BadInput(f"run {record['id']} has no stage {start!r}; it has {', '.join(stages)}")
    judges = tuple(judges)
    known = list(record["judges"]) or list(record["given"].get("inference", {}))
    if unknown := [name for name in judges if name not in known]:
        raise BadInput(f"run {record['id']} has no judge {unknown[0]!r}; it has {', '.join(known)}")
    if judges and start not in BY_JUDGE:
        raise BadInput(f"--judge goes with --from inference or parsing; {start} is shared by all judges")
    if start == "inference" and not only_failed and not dry_run:
        _forget(store, record, judges or known)
    refresh: list[str] = []
    for entry in record["stages"][stages.index(start) :]:
        name, whole = entry["name"], f"{entry['name']}[%s]"
        if only_failed and name == start and start != "inference":
            continue  # what failed has no artifact, and what has one did not fail
        if name in BY_JUDGE:
            refresh += [whole % judge for judge in (judges or known)]
        elif name != "reports":
            refresh.append(name)
    fields = ("chain", "world", "profile", "seed", "configuration", "given")
    return Request(
        store=store.location,
        command=command,
        judges=tuple(record["judges"]),
        refresh=tuple(refresh),
        **{name: record[name] for name in fields},
    )


def asked_again(request: Request) -> Request:
    """`request`, with its judges' answers dropped so that they are asked again; only their shards are recomputed."""
    from flows.launch import build

    run, chain = build(request)
    for stage, shards in run.plan(chain):
        if stage.name == "inference":
            _, inputs = next(iter(shards.values()))
            _forget(run.store, {**run.record, "exam": inputs["release"].key}, request.judges)
    refresh = [f"{stage}[{judge}]" for stage in BY_JUDGE for judge in request.judges]
    return dataclasses.replace(request, refresh=(*refresh, "scoring"))


def _forget(store: Store, record: dict[str, Any], judges: Iterable[str]) -> None:
    from flows.launch import judge_specs
    from tasks.config import parse
    from tasks.inference.answered import journal_of

    release = record.get("exam") or artifact_of(record, "release").get("all")
    if release is None:
        return
    for spec in judge_specs(judges, parse(record["configuration"], "configuration")).values():
        store.files.delete(journal_of(store, release, spec).folder)
