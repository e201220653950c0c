"""A shard as a Prefect task run: the only place where stages and Prefect meet.

A task run is named `stage[shard]`, takes small plain parameters (the shard's configuration and the keys of its inputs)
and keeps no Prefect result: what it computed lies in the store under its key, and that key is the cache. Prefect's own
caching is off; a shard that was found in the store ends in a state named "Reused".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.stage import Config, Outcome, Ref, Runner, Stage


def in_flow() -> bool:
    """Whether a Prefect flow is running around the caller. Imports nothing: a flow that runs has imported Prefect."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def submit(
    runner: Runner, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]
) -> Callable[[], Outcome]:
    """Start one task run; the returned call waits for it and gives its outcome or raises what it raised.

    On a thread-pool task runner the body hands the work to `runner`'s processes. On any other (Dask) the body is
    pickled, so it takes along what `produce` needs and computes where it lands.
    """
    from prefect import Task
    from prefect.cache_policies import NO_CACHE
    from prefect.context import FlowRunContext
    from prefect.states import Completed
    from prefect.task_runners import ThreadPoolTaskRunner

    from tasks.stage import produce

    flow_run = FlowRunContext.get()
    assert flow_run is not None
    local = isinstance(flow_run.task_runner, ThreadPoolTaskRunner)
    compute = runner.compute if local else None
    location, refresh = runner.location, runner.refreshes(stage, shard)

    def body(config: Config, inputs: Mapping[str, str]) -> Any:
        if compute is not None:
            outcome = compute(stage, shard, config, refs)
        else:
            outcome = produce(location, stage, shard, config, refs, refresh)
        counts = ", ".join(f"{rows:,} {table}" for table, rows in outcome.rows.items())
        message = f"{'found in the store' if outcome.reused else 'computed'}: {counts}"
        return Completed(name="Reused" if outcome.reused else "Completed", message=message, data=outcome)

    refs = dict(inputs)
    task: Task[..., Any] = Task(
        body,
        name=stage.name,
        task_run_name=f"{stage.name}[{shard}]",  # no tags: each would cost a request to the server, for its limits
        cache_policy=NO_CACHE,
        persist_result=False,
        cache_result_in_memory=False,
        retries=0,
        log_prints=False,
    )
    future = task.submit(config, {role: ref.key for role, ref in refs.items()})
    return future.result
