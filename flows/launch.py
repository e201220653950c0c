"""Start a chain: check what was asked for, resolve it, and run it, inside a Prefect flow or without Prefect."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flows.run import Configs, Request, Run
from storage import Store
from tasks.config import Configuration, parse
from tasks.errors import BadInput
from tasks.inference import JudgeSpec, parse_judge, resolve, stage_config
from tasks.prefect_task import in_flow
from tasks.stage import Config, Outcome, Runner

Chain = Callable[[Run], object]


class Reporter:
    """Is told how a run goes on; this one keeps it to itself."""

    def stage(self, name: str, shards: int) -> None:
        """A stage begins."""

    def outcome(self, outcome: Outcome) -> None:
        """A shard has ended."""


def judge_specs(names: Iterable[str], configuration: Configuration) -> dict[str, JudgeSpec]:
    """The judges asked for, each with its key at hand. BadInput otherwise, before anything is computed."""
    known = {name: parse_judge(name, table, "configuration") for name, table in configuration.judges.items()}
    specs = resolve(names, known)
    for name, spec in specs.items():
        try:
            if spec.hosted:
                spec.api_key()
        except BadInput as error:
            raise BadInput(f"judge {name}: {error}") from None
    return specs


def configs(request: Request, configuration: Configuration) -> Configs:
    """What each shard of each stage reads. BadInput where the request names something that there is not."""
    from tasks.exams.gridworld import profiles

    specs = judge_specs(request.judges, configuration)
    made: dict[str, dict[str, Config]] = {
        "inference": {name: stage_config(name, spec) for name, spec in specs.items()},
        "parsing": {name: _parsing(spec.model_dump()) for name, spec in specs.items()},
        "scoring": {"all": {"seed": request.seed}},
    }
    store = Store(request.store)
    for name, key in request.given.get("inference", {}).items():
        made["parsing"][name] = _parsing(store.get("inference", key).manifest["config"].get("spec") or {})
    if request.chain in ("audit", "generate"):
        profile, seed = profiles.load(request.world, request.profile), request.seed
        place = {shard: profile.place(shard) for shard in profile.shards}
        made |= {
            "rollouts": {shard: profile.rollouts(shard, seed) for shard in profile.shards},
            "variants": {shard: profile.variants(shard) for shard in profile.shards},
            "rendering": place,
            "gates": place,
            "exams": {shard: profile.exams(shard, seed) for shard in profile.shards},
            "release": {"all": {}},
            "answers": {"all": {}},
        }
    return made


def named_server() -> bool:
    """Whether the Prefect server, if any, is one that somebody runs, with deployments and workers."""
    from flows.server import configured_server

    return configured_server() is not None and "WORLDAUDIT_OWN_SERVER" not in os.environ


def _parsing(spec: Mapping[str, Any]) -> Config:
    tags = spec.get("reasoning_tags")
    return {} if tags is None else {"think_tags": list(tags)}


def build(
    request: Request, reporter: Reporter | None = None, chains: Mapping[str, Chain] | None = None
) -> tuple[Run, Chain]:
    """The run and its chain, checked and planned; nothing is computed or written yet."""
    from flows.placement import place

    if chains is None:
        from flows.chain import CHAINS

        chains = CHAINS
    reporter = reporter or Reporter()
    configuration = parse(request.configuration, "configuration")
    settings = configuration.run
    processes = os.cpu_count() or 1 if settings.processes is None else settings.processes
    if settings.placement and request.chain != "score" and not named_server():
        raise BadInput(
            f"[run.placement] sends {', '.join(settings.placement)} to deployments of a Prefect server: name it with "
            "PREFECT_API_URL (docs/operator.md), or take the placement out"
        )
    runner = Runner(
        Store(request.store).location,
        processes=processes,
        refresh=request.refresh,
        on_outcome=reporter.outcome,
        placed={stage: place(deployment, request) for stage, deployment in settings.placement.items()},
    )
    return Run(request, configs(request, configuration), runner, reporter.stage), chains[request.chain]


def execute(
    request: Request, reporter: Reporter | None = None, chains: Mapping[str, Chain] | None = None
) -> dict[str, Any]:
    """Run the chain to its end in this process; the run's record. Uses Prefect where a flow is running already."""
    run, chain = build(request, reporter, chains)
    run.store.check_writable()
    with run.runner:
        return run.execute(chain)


def launch(
    request: Request, prefect: bool = True, reporter: Reporter | None = None, chains: Mapping[str, Chain] | None = None
) -> dict[str, Any]:
    """`execute` inside a Prefect flow with the task runner that the configuration chooses, or (`prefect` false) plainly.

    Called from a flow that suits already, it stays in that flow.
    """
    wants_dask = request.configuration.get("run", {}).get("runner") == "dask"
    if not prefect or (in_flow() and not wants_dask):
        if wants_dask and not prefect:
            raise BadInput('runner = "dask" works through Prefect; leave --no-prefect out or set runner = "process"')
        return execute(request, reporter, chains)
    import prefect as _prefect
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    result: dict[str, Any] = {}

    def chain(request: dict[str, Any]) -> None:
        result.update(execute(Request(**request), reporter, chains))

    flow = _prefect.Flow(
        chain,
        name=request.world if request.chain == "audit" else request.chain,
        task_runner=_dask(parse(request.configuration, "configuration")) if wants_dask else None,
        persist_result=False,
        validate_parameters=False,
    )
    # A heartbeat would hold up the end of the flow by a second; nobody waits for it here.
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        try:
            flow(dataclasses.asdict(request))
        except Exception as error:
            if not result:
                raise
            say(f"the run is complete, but the Prefect server was lost meanwhile ({error})")
    return result


def _dask(configuration: Configuration) -> Any:
    try:
        from prefect_dask import DaskTaskRunner
    except ImportError:
        raise BadInput('runner = "dask" needs prefect-dask: pip install "worldaudit[dask]"') from None
    dask, processes = configuration.run.dask, configuration.run.processes
    if dask.address:
        return DaskTaskRunner(address=dask.address)
    workers = dask.workers or processes or os.cpu_count()
    return DaskTaskRunner(
        cluster_kwargs={"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 40}
    )


def say(text: str) -> None:
    """Progress and logs go to stderr; stdout belongs to the result."""
    print(text, file=sys.stderr, flush=True)
