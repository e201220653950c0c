"""A finished or failed run, again from one step on; and judges asked again."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from flows.operations.launch import build
from flows.record import REPORTS, read_record, run_id, steps_of
from flows.request import Request
from flows.run import Planned
from storage import Store
from tasks.errors import BadInput


def again(store: Store, name: str, start: str, judges: Collection[str], only_failed: bool, command: str) -> Request:
    """The request that redoes a run from the step `start` on, for some judges or all. Everything before is reused.

    A step that asks judges asks them anew: under an identity of its own, so that what they answered before stays as it is.
    With `only_failed` it sends only what is missing or failed. Raises BadInput where the run has no such step or judge.
    """
    record = read_record(
        store, name, lambda record: name != "latest" or start in steps_of(record), f"run with a step {start!r}"
    )
    if start not in steps_of(record):
        raise BadInput(f"run {record['id']} has no step {start!r}; it has {', '.join(steps_of(record))}")
    request = Request(
        store=store.location,
        command=command,
        **{field: record[field] for field in ("chain", "parameters", "configuration", "askings")},
    )
    run = build(request, preflight=False)
    steps = {step.name: step for step in run.planned}
    order = [*steps, REPORTS]
    if start not in order:
        raise BadInput(f"chain {record['chain']} has no step {start!r} any more; it has {', '.join(steps)}")
    _check_judges(record, start, judges)
    refresh: list[str] = []
    askings = dict(request.askings)
    for step in (steps[name] for name in order[order.index(start) :] if name in steps):
        shards = [name for name in step.shards if not judges or name in judges] or list(step.shards)
        if step.stage.spending is not None:
            if step.name == start:
                askings |= _askings(store, step, shards, only_failed)
        elif not only_failed:  # what failed has no artifact, and what follows is found by what it reads
            refresh += [step.name] if len(shards) == len(step.shards) else [f"{step.name}[{name}]" for name in shards]
    return dataclasses.replace(request, refresh=tuple(refresh), askings=askings)


def _check_judges(record: dict[str, Any], start: str, judges: Collection[str]) -> None:
    (entry,) = (entry for entry in record["stages"] if entry["name"] == start)
    if judges and "all" in entry["shards"]:
        raise BadInput(f"--judge goes with a step that has a shard a judge; {start} is shared by all judges")
    if unknown := [name for name in judges if name not in entry["shards"]]:
        raise BadInput(
            f"step {start} of run {record['id']} has no judge {unknown[0]!r}; it has {', '.join(entry['shards'])}"
        )


def _askings(store: Store, step: Planned, shards: Collection[str], only_failed: bool) -> dict[str, dict[str, str]]:
    """What tells this asking from those before. Failures are retried under a token only where the shard was finished with
    them: an unfinished one has no artifact that could change, and one without failures stays, with all that reads it."""
    token = run_id()
    if only_failed:
        shards = [name for name in shards if _failed(store, step, name)]
    kind = "retried" if only_failed else "asking"
    kept = {name: {k: v for k, v in step.shards[name][0].items() if only_failed and k == "asking"} for name in shards}
    return {f"{step.name}[{name}]": kept[name] | {kind: token} for name in shards}


def _failed(store: Store, step: Planned, shard: str) -> bool:
    artifact = store.find(step.stage.name, step.stage.key(*step.shards[shard]))
    return artifact is not None and step.stage.spending is not None and step.stage.spending.failed(artifact)


def asked_again(request: Request) -> Request:
    """`request`, with every judge of its steps that ask asked anew."""
    askings = {
        name: value
        for step in build(request, preflight=False).planned
        if step.stage.spending is not None
        for name, value in _askings(Store(request.store), step, list(step.shards), only_failed=False).items()
    }
    return dataclasses.replace(request, askings=request.askings | askings)
