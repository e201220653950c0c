"""The flows that a Prefect server schedules and its UI starts. Each is one call; `deployments/prefect.yaml` lists them.

A worker starts them in the project's folder, with WORLDAUDIT_STORE naming the store that all workers share. Descriptions
of parameters, which the UI shows, are the `Args` of the docstrings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from prefect import flow

from flows.find import exam_given
from flows.launch import launch
from flows.notify import told_of_failure
from flows.placement import compute_shards, stages
from flows.rerun import again
from flows.run import Request
from storage import Store
from tasks.config import Configuration, load

World = Literal["minigrid", "miniworld"]
StageName = Literal[
    "rollouts",
    "variants",
    "rendering",
    "gates",
    "exams",
    "release",
    "answers",
    "inference",
    "parsing",
    "scoring",
    "reports",
]
Shard = dict[str, Any]  # {"config": {...}, "inputs": {role: [stage, key]}}


def _store(store: str | None) -> str:
    given = store or os.environ.get("WORLDAUDIT_STORE") or "worldaudit-store"
    return given if "://" in given else str(Path(given).expanduser().resolve())


def _configuration(path: str | None) -> Configuration:
    given = path or os.environ.get("WORLDAUDIT_CONFIG")
    return load(given) if given else Configuration()


@flow(name="audit", flow_run_name="audit {world} {profile}", persist_result=False)
def audit(
    world: World = "minigrid",
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
    from tasks.inference import embedded_judges

    configuration = _configuration(config)
    request = Request(
        store=_store(store),
        command=f"worldaudit run {world} --profile {profile}",
        world=world,
        profile=profile,
        judges=tuple(judges or embedded_judges(world)),
        seed=configuration.run.seed if seed is None else seed,
        configuration=configuration.model_dump(mode="json"),
    )
    return launch(request)["id"]


@flow(name="infer", flow_run_name="infer {judges}", persist_result=False, on_failure=[told_of_failure])
def infer(exam: str, judges: list[str], config: str | None = None, store: str | None = None) -> str:
    """Ask judges about an exam. What they have answered already is not asked again.

    Args:
        exam: The first letters of the exam's key, a run's id, or `latest`.
        judges: Names of judges, embedded or of the configuration file.
        config: The configuration file on the worker; WORLDAUDIT_CONFIG where empty.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    place, configuration = _store(store), _configuration(config)
    request = Request(
        store=place,
        command=" ".join(["worldaudit", "infer", exam, *(f"--judge {name}" for name in judges)]),
        chain="infer",
        judges=tuple(judges),
        given={"release": exam_given(place, exam)["release"]},
        configuration=configuration.model_dump(mode="json"),
    )
    return launch(request)["id"]


@flow(name="refresh", flow_run_name="refresh {judges}", persist_result=False, on_failure=[told_of_failure])
def refresh(
    judges: list[str],
    world: World = "minigrid",
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
    from flows.rerun import asked_again

    configuration = _configuration(config)
    request = Request(
        store=_store(store),
        command=" ".join(["worldaudit run", world, "--profile", profile, *(f"--judge {name}" for name in judges)]),
        world=world,
        profile=profile,
        judges=tuple(judges),
        seed=configuration.run.seed,
        configuration=configuration.model_dump(mode="json"),
    )
    return launch(asked_again(request))["id"]


@flow(name="rerun", flow_run_name="rerun {run} from {start}", persist_result=False, on_failure=[told_of_failure])
def rerun(
    start: StageName,
    run: str = "latest",
    judges: list[str] | None = None,
    only_failed: bool = False,
    store: str | None = None,
) -> str:
    """Recompute one stage of a run and what follows it; everything before it is reused.

    Args:
        start: The first stage to recompute.
        run: The run's id, its first letters, or `latest`.
        judges: With inference or parsing: only these judges; all where empty.
        only_failed: Only what failed: shards without a result, items whose request failed.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
    """
    place = Store(_store(store))
    command = f"worldaudit rerun {run} --from {start}" + " --only-failed" * only_failed
    return launch(again(place, run, start, judges or (), only_failed, command))["id"]


@flow(name="shards", flow_run_name="{stage}", persist_result=False)
def shards(
    stage: StageName,
    shards: dict[str, Shard],
    store: str | None = None,
    refresh: list[str] | None = None,
    processes: int | None = None,
) -> None:
    """Shards of one stage for a run that goes on elsewhere; a run that is configured so starts this by itself.

    Args:
        stage: The stage whose shards these are.
        shards: Name of a shard -> its configuration and the keys of its inputs.
        store: Where everything lies; WORLDAUDIT_STORE where empty.
        refresh: Shards to compute even where they are in the store.
        processes: How many at a time; one a core where empty.
    """
    compute_shards(_store(store), stages()[stage], shards, refresh or [], processes or os.cpu_count() or 1)
