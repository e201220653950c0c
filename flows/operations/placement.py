"""Shards that are computed elsewhere: by a Prefect deployment on a work pool of its own, over the same store.

The parent names the shards; a worker computes them into the store; the parent reads the outcome from the store, so that
nothing but keys crosses the server. A worker that dies takes its flow run along: the run's pulse stops, the parent marks
it crashed and starts another, which finds in the store what its predecessor had finished.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import threading
import time
from dataclasses import replace
from typing import Any

from flows.request import CHAINS, Request
from flows.runner import Place, Results, Runner, refreshes
from storage import Store
from tasks.errors import BadInput, StageFailed
from tasks.stage import Ref, Shards, Stage, lookup

PULSE_SECONDS = 5.0
SILENCE_SECONDS = float(os.environ.get("WORLDAUDIT_SILENCE_SECONDS", 60))  # without a pulse, a run counts as dead
ATTEMPTS = 4


@functools.cache
def stages() -> dict[str, Stage]:
    """Every stage that a worker can compute, by name: those that the chains declare."""
    return {stage.name: stage for chain in CHAINS.values() for stage in chain.stages}


def edition(stage: Stage) -> str:
    """What parent and worker have to agree in: the keys of what a worker computes hang on it."""
    return (
        f"worldaudit {importlib.metadata.version('worldaudit')} with version {stage.version} of the stage {stage.name}"
    )


def place(deployment: str, request: Request) -> Place:
    """For a Runner: what is in the store is reused, the rest is computed by `deployment`."""

    def compute(step: str, stage: Stage, shards: Shards) -> Results:
        refreshed = [name for name in shards if refreshes(request.refresh, step, name)]
        missing = dict(shards)
        for name, (config, inputs) in shards.items():
            if name not in refreshed and (reused := lookup(request.store, stage, name, config, inputs)):
                del missing[name]
                yield name, reused
        if not missing:
            return
        started = time.perf_counter()
        failure = run_elsewhere(deployment, request.store, stage, missing, refreshed)
        for name, (config, inputs) in missing.items():
            result = lookup(request.store, stage, name, config, inputs)
            if result is None:
                yield (
                    name,
                    failure or StageFailed(f"{deployment} completed, but its artifact is not in {request.store}"),
                )
            else:
                yield name, replace(result, reused=False, seconds=time.perf_counter() - started)

    return compute


def run_elsewhere(
    deployment: str, store: str, stage: Stage, shards: Shards, refreshed: list[str]
) -> StageFailed | None:
    """Run `deployment` over `shards` until it ends; what went wrong, or None."""
    from prefect.client.orchestration import get_client
    from prefect.deployments import run_deployment
    from prefect.exceptions import ObjectNotFound
    from prefect.states import Crashed

    parameters = {
        "store": store,
        "stage": stage.name,
        "shards": {
            name: {"config": config, "inputs": {role: [ref.stage, ref.key] for role, ref in inputs.items()}}
            for name, (config, inputs) in shards.items()
        },
        "refresh": refreshed,
        "asked_by": edition(stage),
    }
    for _ in range(ATTEMPTS):
        try:
            flow_run: Any = run_deployment(name=deployment, parameters=parameters, timeout=0, as_subflow=True)
        except ObjectNotFound:
            return StageFailed(f"the Prefect server has no deployment {deployment!r}: make -C deployments deploy")
        with get_client(sync_client=True) as client:
            last_sign, seen = time.monotonic(), None
            while not (flow_run.state and flow_run.state.is_final()):
                time.sleep(1)
                flow_run = client.read_flow_run(flow_run.id)
                sign = (flow_run.state_name, flow_run.labels.get("worldaudit.pulse"))
                waiting = flow_run.state is None or flow_run.state.is_scheduled()
                if sign != seen or waiting:  # a run that no worker has taken yet may wait as long as it likes
                    last_sign, seen = time.monotonic(), sign
                elif time.monotonic() - last_sign > SILENCE_SECONDS:
                    client.set_flow_run_state(flow_run.id, Crashed(message="no pulse: its worker died"), force=True)
                    flow_run = client.read_flow_run(flow_run.id)
        state = flow_run.state
        if state.is_completed():
            return None
        if not state.is_crashed():
            return StageFailed(f"{deployment} ended {state.name}: {state.message}")
    return StageFailed(f"{deployment} crashed {ATTEMPTS} times, the last: {state.message}; look at its workers")


class Pulse:
    """While this flow run lives, a label on it changes every few seconds."""

    def __enter__(self) -> Pulse:
        from prefect.client.orchestration import get_client
        from prefect.context import FlowRunContext

        context = FlowRunContext.get()
        assert context is not None and context.flow_run is not None
        flow_run_id = context.flow_run.id
        self._stop = threading.Event()

        def beat() -> None:
            with get_client(sync_client=True) as client:
                number = 0
                while not self._stop.wait(PULSE_SECONDS if number else 0):
                    number += 1
                    try:
                        client.update_flow_run_labels(flow_run_id, {"worldaudit.pulse": number})
                    except Exception:  # the server may be restarting: the next beat tells
                        continue

        self._thread = threading.Thread(target=beat, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()


def compute_shards(
    store: str,
    stage_name: str,
    shards: dict[str, dict[str, Any]],
    refresh: list[str],
    processes: int,
    asked_by: str | None = None,
) -> None:
    """What the deployment does: the named shards of one stage, into the store. BadInput for a stage that no chain
    declares, and for one that is another version than that of the run, `asked_by`: its artifacts would have other keys."""
    if stage_name not in stages():
        raise BadInput(f"no chain declares a stage {stage_name!r}; this worker knows {', '.join(stages())}")
    stage = stages()[stage_name]
    if asked_by not in (None, edition(stage)):
        raise BadInput(
            f"the run is computed by {asked_by}, this worker has {edition(stage)}: install the same on both, then "
            "`make -C deployments deploy` and start the worker again"
        )
    named = {
        name: (shard["config"], {role: Ref(*ref) for role, ref in shard["inputs"].items()})
        for name, shard in shards.items()
    }
    with Pulse(), Runner(Store(store).location, processes, [f"{stage.name}[{name}]" for name in refresh]) as runner:
        runner.map(stage, named)
