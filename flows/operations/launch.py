"""Start a run: check what was asked for, resolve it, and run it, inside a Prefect flow or without Prefect."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from flows.operations.placement import place
from flows.operations.server import configured_server
from flows.prefect_task import in_flow
from flows.request import CHAINS, Request
from flows.run import Run
from flows.runner import Runner
from storage import Store
from tasks.config import Configuration, parse
from tasks.errors import BadInput
from tasks.stage import ShardResult


class Reporter:
    """Is told how a run goes on; this one keeps it to itself."""

    def step(self, name: str, shards: int) -> None:
        """A step begins."""

    def shard(self, result: ShardResult) -> None:
        """A shard has ended."""

    def warn(self, text: str) -> None:
        """Something that the user should know."""


def named_server() -> bool:
    """Whether the Prefect server, if any, is one that somebody runs, with deployments and workers."""
    return configured_server() is not None and "WORLDAUDIT_OWN_SERVER" not in os.environ


def build(request: Request, reporter: Reporter | None = None, preflight: bool = True) -> Run:
    """The run, checked and planned; nothing is computed or written yet. Without `preflight` it may lack what it needs to
    begin, such as a judge's key."""
    reporter = reporter or Reporter()
    chain = CHAINS[request.chain]
    configuration = parse(request.configuration, "configuration")
    settings = configuration.run
    runner = Runner(
        Store(request.store).location,
        processes=os.cpu_count() or 1 if settings.processes is None else settings.processes,
        refresh=request.refresh,
        on_shard=reporter.shard,
        placed={name: place(deployment, request) for name, deployment in settings.placement.items()},
    )
    run = Run(request, chain, chain.parse(request.parameters), configuration, runner, reporter.step)
    placed = {step.name for step in run.plan() if {step.name, step.stage.name} & set(settings.placement)}
    if placed and not named_server():
        raise BadInput(
            f"[run.placement] sends {', '.join(sorted(placed))} to deployments of a Prefect server: name it with "
            "PREFECT_API_URL (docs/operator.md), or take the placement out"
        )
    if preflight:
        run.preflight()
    return run


def execute(request: Request, reporter: Reporter | None = None) -> dict[str, Any]:
    """Run the chain to its end in this process; the run's record. Uses Prefect where a flow is running already."""
    run = build(request, reporter)
    run.store.check_writable()
    with run.runner:
        return run.execute()


def launch(request: Request, prefect: bool = True, reporter: Reporter | None = None) -> dict[str, Any]:
    """`execute` inside a Prefect flow with the task runner that the configuration chooses, or (`prefect` false) plainly.

    Called from a flow that suits already, it stays in that flow.
    """
    wants_dask = request.configuration.get("run", {}).get("runner") == "dask"
    if not prefect or (in_flow() and not wants_dask):
        if wants_dask and not prefect:
            raise BadInput('runner = "dask" works through Prefect; leave --no-prefect out or set runner = "process"')
        return execute(request, reporter)
    import prefect as _prefect
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    record: dict[str, Any] = {}

    def chain(request: dict[str, Any]) -> None:
        record.update(execute(Request(**request), reporter))

    flow = _prefect.Flow(
        chain,
        name=str(request.parameters.get("world") or request.chain) if request.chain == "audit" else request.chain,
        task_runner=_dask(parse(request.configuration, "configuration")) if wants_dask else None,
        persist_result=False,
        validate_parameters=False,
    )
    # A heartbeat would hold up the end of the flow by a second; nobody waits for it here.
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        try:
            flow(dataclasses.asdict(request))
        except Exception as error:
            if not record:
                raise
            if reporter:
                reporter.warn(f"the run is complete, but the Prefect server was lost meanwhile ({error})")
    return record


def _dask(configuration: Configuration) -> Any:
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        raise BadInput('runner = "dask" needs prefect-dask: pip install "worldaudit[dask]"') from None
    dask, processes = configuration.run.dask, configuration.run.processes
    if dask.address:
        return DaskTaskRunner(address=dask.address)
    workers = dask.workers or processes or os.cpu_count()
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 40}
    )
