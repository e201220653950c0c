"""A shard as a Prefect task run: the only place where shards and Prefect meet.

A task run is named `step[shard]`, takes small plain parameters (the shard's configuration and the keys of its inputs)
and keeps no Prefect result: what it computed lies in the store under its key, and that key is the cache. Prefect's own
caching is off; a shard that was found in the store ends in a state named "Reused".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from tasks.stage import Config, Ref, ShardResult, Stage, produce

Compute = Callable[[Stage, str, Config, Mapping[str, Ref], bool], ShardResult]


def in_flow() -> bool:
    """Whether a Prefect flow is running around the caller. Imports nothing: a flow that runs has imported Prefect."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def submit(
    location: str,
    step: str,
    stage: Stage,
    shard: str,
    config: Config,
    inputs: Mapping[str, Ref],
    refresh: bool,
    compute: Compute,
) -> Callable[[], ShardResult]:
    """Start one task run; the returned call waits for it and gives its result or raises what it raised.

    On a thread-pool task runner the body hands the work to `compute`, which has processes. On any other (Dask) the body
    is pickled, so it takes along what `produce` needs and computes where it lands.
    """
    from prefect import Task
    from prefect.cache_policies import NO_CACHE
    from prefect.context import FlowRunContext
    from prefect.states import Completed
    from prefect.task_runners import ThreadPoolTaskRunner

    flow_run = FlowRunContext.get()
    assert flow_run is not None
    here = compute if isinstance(flow_run.task_runner, ThreadPoolTaskRunner) else None
    refs = dict(inputs)

    def body(config: Config, inputs: Mapping[str, str]) -> Any:
        if here is not None:
            result = here(stage, shard, config, refs, refresh)
        else:
            result = produce(location, stage, shard, config, refs, refresh)
        counts = ", ".join(f"{rows:,} {table}" for table, rows in result.rows.items())
        message = f"{'found in the store' if result.reused else 'computed'}: {counts}"
        return Completed(name="Reused" if result.reused else "Completed", message=message, data=result)

    task: Task[..., Any] = Task(
        body,
        name=step,
        task_run_name=f"{step}[{shard}]",  # no tags: each would cost a request to the server, for its limits
        cache_policy=NO_CACHE,
        persist_result=False,
        cache_result_in_memory=False,
        retries=0,
        log_prints=False,
    )
    future = task.submit(config, {role: ref.key for role, ref in refs.items()})
    return future.result
