"""The flows that a Prefect server schedules and its UI starts. Each is one call; `deployments/prefect.yaml` lists them.

A worker starts them in the project's folder, with WORLDAUDIT_STORE naming the store that all workers share. Descriptions
of parameters, which the UI shows, are the `Args` of the docstrings.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from prefect import flow

from flows.find import exam as exam_named
from flows.location import store_location
from flows.operations.launch import launch
from flows.operations.notify import told_of_failure
from flows.operations.placement import compute_shards, stages
from flows.operations.rerun import again, asked_again
from flows.request import Request
from storage import Store
from tasks.config import Configuration, load
from tasks.worlds import WORLDS

if TYPE_CHECKING:
    from typing import TypeAlias

    World: TypeAlias = str
    StageName: TypeAlias = str
else:  # so that Prefect's UI offers what there is
    World, StageName = Literal[tuple(WORLDS)], Literal[tuple(stages())]
FIRST = next(iter(WORLDS))
Shard = dict[str, Any]  # {"config": {...}, "inputs": {role: [stage, key]}}


def _store(store: str | None) -> str:
    return store_location(store or os.environ.get("WORLDAUDIT_STORE"))


def _configuration(path: str | None) -> Configuration:
    given = path or os.environ.get("WORLDAUDIT_CONFIG")
    return load(given) if given else Configuration()


def _audit(
    world: str, profile: str, judges: list[str] | None, seed: int | None, config: str | None, store: str | None
) -> Request:
    configuration = _configuration(config)
    named = "".join(f" --judge {name}" for name in judges or [])
    return Request(
        store=_store(store),
        command=f"worldaudit run {world} --profile {profile}{named}",
        chain="audit",
        parameters={
            "world": world,
            "profile": profile,
            "seed": configuration.run.seed if seed is None else seed,
            "judges": judges or list(WORLDS[world].judges),
        },
        configuration=configuration.model_dump(mode="json"),
    )


def _launched(request: Request) -> str:
    return str(launch(request)["id"])


@flow(name="audit", flow_run_name="audit {world} {profile}", persist_result=False)
def audit(
    world: World = FIRST,
    profile: str = "base",
    judges: list[str] | None = None,
    seed: int | None = None,
    config: str | None = None,
    store: str | None = None,
) -> str:
    """The whole chain, from seeds to a report.

    Args:
        world: Which simulator the exam comes from.
        profile: How large the exam is: smoke, base or scale2, or the path of a profile's file.
        judges: Names of judges, embedded or of the configuration file; the embedded ones where none is named.
        seed: What everything that is drawn is drawn from.
        config: The configuration file on the worker; WORLDAUDIT_CONFIG where empty.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    return _launched(_audit(world, profile, judges, seed, config, store))


@flow(name="infer", flow_run_name="infer {judges}", persist_result=False, on_failure=[told_of_failure])
def infer(exam: str, judges: list[str], config: str | None = None, store: str | None = None) -> str:
    """Ask judges about an exam. What they have answered already is not asked again.

    Args:
        exam: The first letters of the exam's key, a run's id, or `latest`.
        judges: Names of judges, embedded or of the configuration file.
        config: The configuration file on the worker; WORLDAUDIT_CONFIG where empty.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    place = _store(store)
    request = Request(
        store=place,
        command=" ".join(["worldaudit", "infer", exam, *(f"--judge {name}" for name in judges)]),
        chain="infer",
        parameters={"release": exam_named(Store(place), exam).release, "judges": judges},
        configuration=_configuration(config).model_dump(mode="json"),
    )
    return _launched(request)


@flow(name="refresh", flow_run_name="refresh {judges}", persist_result=False, on_failure=[told_of_failure])
def refresh(
    judges: list[str],
    world: World = FIRST,
    profile: str = "base",
    config: str | None = None,
    store: str | None = None,
) -> str:
    """Ask judges again about an exam that they have sat, score them and write a report: does a model still answer alike?

    Args:
        judges: Names of judges of the configuration file. Every item is asked again.
        world: Which simulator the exam comes from.
        profile: How large the exam is.
        config: The configuration file on the worker; WORLDAUDIT_CONFIG where empty.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    return _launched(asked_again(_audit(world, profile, judges, None, config, store)))


@flow(name="rerun", flow_run_name="rerun {run} from {start}", persist_result=False, on_failure=[told_of_failure])
def rerun(
    start: str,
    run: str = "latest",
    judges: list[str] | None = None,
    only_failed: bool = False,
    store: str | None = None,
) -> str:
    """Recompute one step of a run and what follows it; everything before it is reused.

    Args:
        start: The first step to recompute, by the name that `worldaudit show` gives it.
        run: The run's id, its first letters, or `latest`.
        judges: With a step that has a shard a judge: only these judges; all where empty.
        only_failed: Only what failed: shards without a result, items whose request failed.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    place = Store(_store(store))
    command = f"worldaudit rerun {run} --from {start}" + " --only-failed" * only_failed
    return _launched(again(place, run, start, judges or (), only_failed, command))


@flow(name="shards", flow_run_name="{stage}", persist_result=False)
def shards(
    stage: StageName,
    shards: dict[str, Shard],
    store: str | None = None,
    refresh: list[str] | None = None,
    processes: int | None = None,
    asked_by: str | None = None,
) -> None:
    """Shards of one stage for a run that goes on elsewhere; a run that is configured so starts this by itself.

    Args:
        stage: The stage whose shards these are.
        shards: Name of a shard -> its configuration and the keys of its inputs.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
        refresh: Shards to compute even where they are in the store.
        processes: How many at a time; one a core where empty.
        asked_by: The version of the run that this is for; refused where this worker has another.
    """
    compute_shards(_store(store), stage, shards, refresh or [], processes or os.cpu_count() or 1, asked_by)
