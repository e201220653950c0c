"""A run: the named steps of a chain, computed or reused.

A chain's `steps` function calls `each`, `one`, `given` and `report` of a Run and names the inputs of each step by role. It is
called twice: first only to learn what there is to do (keys follow from configuration and inputs alone), then to do it.

A step is known by its name: in the record, in `--refresh` and `--from`, in the placement, and in the command that mends it. It
is its stage's name unless the chain gives another, so that a chain may use a stage any number of times. The key of an
artifact holds its stage's name, never the step's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from flows.record import REPORTS, Record
from flows.request import Chain, ChainParameters, Request
from flows.runner import Runner
from storage import Store
from tasks.config import Configuration
from tasks.errors import BadInput, StageFailed, WorldauditError
from tasks.stage import Config, Ref, ShardResult, Shards, Spending, Stage


@dataclass(frozen=True)
class Step:
    """A step that was planned or done: its artifacts by shard. `single`: one artifact, which every shard reads."""

    name: str
    stage: Stage
    refs: Mapping[str, Ref]
    single: bool = False

    def of(self, shard: str) -> Ref | None:
        """What a shard of that name reads of this step; None where it has none."""
        return self.refs["all"] if self.single else self.refs.get(shard)

    def only(self, shard: str) -> Step:
        """One shard of it, as a single artifact: for a step that reads it whatever its own shards are called."""
        return Step(self.name, self.stage, {"all": self.refs[shard]}, single=True)


@dataclass(frozen=True)
class Planned:
    """A step with what each of its shards reads."""

    name: str
    stage: Stage
    shards: Shards


class Run:
    """One run of a chain on a store."""

    def __init__(
        self,
        request: Request,
        chain: Chain,
        parameters: ChainParameters,
        configuration: Configuration,
        runner: Runner,
        on_step: Callable[[str, int], None] = lambda step, shards: None,
    ):
        self.request, self.chain, self.parameters, self.configuration = request, chain, parameters, configuration
        self.runner, self.on_step = runner, on_step
        self.store = Store(request.store)
        self.record = Record(self.store, request)
        self.planning = True
        self.planned: list[Planned] = []
        self.incomplete: list[str] = []

    # --- what a chain calls ---------------------------------------------------------------------------------------

    def each(
        self,
        stage: Stage,
        configs: Mapping[str, Config],
        step: str | None = None,
        inputs: Mapping[str, Step] = MappingProxyType({}),
        **roles: Step,
    ) -> Step:
        """A shard for each of `configs`; each reads the shard of its own name of its inputs, or all of an input that is
        a single artifact. A shard that finds no such shard of an input is left out. Roles that are no Python names stand in
        `inputs`."""
        inputs = {**inputs, **roles}
        shards: dict[str, tuple[Config, Mapping[str, Ref]]] = {}
        for name, config in configs.items():
            refs = {role: ref for role, source in inputs.items() if (ref := source.of(name)) is not None}
            if len(refs) == len(inputs):
                shards[name] = (config, refs)
        return self._step(step or stage.name, stage, shards)

    def one(
        self,
        stage: Stage,
        config: Config,
        step: str | None = None,
        inputs: Mapping[str, Step] = MappingProxyType({}),
        **roles: Step,
    ) -> Step:
        """A single shard that reads all shards of its inputs, as `role` or `role.shard`."""
        refs = {
            role if source.single else f"{role}.{name}": ref
            for role, source in {**inputs, **roles}.items()
            for name, ref in source.refs.items()
        }
        return self._step(step or stage.name, stage, {"all": (config, refs)}, single=True)

    def given(self, stage: Stage, keys: str | Mapping[str, str], step: str | None = None) -> Step:
        """What the run starts from: an artifact, or several by shard. ArtifactError where one is not whole."""
        name, by_shard = step or stage.name, {"all": keys} if isinstance(keys, str) else dict(keys)
        for shard, key in by_shard.items():
            self.store.get(stage.name, key)
            self.record.artifact(name, shard, Ref(stage.name, key))
        refs = {shard: Ref(stage.name, key) for shard, key in by_shard.items()}
        return Step(name, stage, refs, single=isinstance(keys, str))

    def exam(self, release: Step) -> None:
        """Say that the run is about this exam."""
        if not self.planning or all(step.name != release.name for step in self.planned):  # given: it is there already
            self.record.value["exam"] = release.refs["all"].key

    def report(self, write: Callable[[Store, dict[str, Any]], str]) -> None:
        """The last step: `write(store, run record)` puts the report into the run's folder and returns its path."""
        if self.planning:
            self.record.plan(REPORTS, None, {"all": None})
            return
        with self.record.running(REPORTS) as entry:
            started = time.perf_counter()
            self.record.value["report"] = write(self.store, self.record.value)
            entry["shards"]["all"] |= {"state": "done", "seconds": round(time.perf_counter() - started, 3)}

    # --- around the chain -----------------------------------------------------------------------------------------

    def plan(self) -> list[Planned]:
        """Every step with its shards, in order; computes nothing."""
        self.planning, self.planned, self.record.value["stages"] = True, [], []
        self.chain.steps(self, self.parameters)
        self.planning = False
        known = {step.name: step for step in self.planned}
        for name in self.request.refresh:
            of, _, shard = name.partition("[")
            step = known.get(of)
            if step is None:
                raise BadInput(f"there is no step {of!r} to refresh; chain {self.chain.name} has {', '.join(known)}")
            if name != of and (not shard.endswith("]") or shard[:-1] not in step.shards):
                raise BadInput(f"--refresh {name}: step {of} has no such shard; it has {', '.join(step.shards)}")
            if step.stage.spending is not None:
                raise BadInput(
                    f"{step.name} asks judges, and what they have answered is never replaced; `worldaudit rerun RUN --from "
                    f"{step.name}` asks them anew beside it"
                )
        return self.planned

    def preflight(self) -> None:
        """BadInput where a planned step that would spend lacks what it needs; what is in the store needs nothing."""
        for step in self.planned:
            if (spending := step.stage.spending) is None:
                continue
            for config, inputs in step.shards.values():
                if self.store.manifest(step.stage.name, step.stage.key(config, inputs)) is None:
                    spending.preflight(config)

    def execute(self) -> dict[str, Any]:
        """Plan, then do; the final record. Raises what a step raised, after it was written down."""
        self.plan()
        self.record.write()
        try:
            self.chain.steps(self, self.parameters)
        except BaseException as error:
            self.record.end("failed", error)
            raise
        if self.incomplete:
            failure = StageFailed("\n".join(self.incomplete))
            self.record.end("incomplete", failure)
            raise failure
        self.record.end("complete")
        from storage.catalog import write_catalog

        write_catalog(self.store)
        return self.record.value

    def _step(self, name: str, stage: Stage, shards: Shards, single: bool = False) -> Step:
        if self.planning:
            self.planned.append(Planned(name, stage, shards))
            self.record.plan(name, stage.name, shards)
            return Step(
                name, stage, {shard: Ref(stage.name, stage.key(*read)) for shard, read in shards.items()}, single
            )
        with self.record.running(name) as entry:
            self.on_step(name, len(shards))
            try:
                refs = self.runner.map(stage, shards, name)
            except WorldauditError as error:
                if stage.spending is None or isinstance(error, BadInput):
                    raise
                refs = self._so_far(name, stage, shards, error)
                self.record.unfinished(entry, error)
                for shard, ref in refs.items():
                    self.record.artifact(name, shard, ref)
            finally:
                self.record.note(entry, self._results(name, shards))
            if stage.spending is not None:
                self._count_cost(stage.spending, shards, refs)
            return Step(name, stage, refs, single)

    def _results(self, name: str, shards: Shards) -> dict[str, ShardResult | Exception]:
        known = self.runner.results.get(name, {})
        return {shard: known[shard] for shard in shards if shard in known}

    def _so_far(self, name: str, stage: Stage, shards: Shards, error: WorldauditError) -> dict[str, Ref]:
        """What unfinished shards have so far, so that it is scored and reported as unfinished. A shard that has nothing
        is left out; where none has anything, `error` stands."""
        assert stage.spending is not None
        results = self._results(name, shards)
        done = {shard: result.ref for shard, result in results.items() if isinstance(result, ShardResult)}
        partial = {
            shard: (config, inputs)
            for shard, (whole, inputs) in shards.items()
            if shard not in done and (config := stage.spending.so_far(self.store, whole, inputs)) is not None
        }
        kept = Runner(self.runner.location, processes=0).map(stage, partial, name)
        if not done and not kept:
            raise error
        self.incomplete.append(str(error))
        return done | kept

    def _count_cost(self, spending: Spending, shards: Shards, refs: Mapping[str, Ref]) -> None:
        for shard, ref in refs.items():
            cost = spending.cost(self.store.get(ref.stage, ref.key), shards[shard][0])
            if cost is not None:
                self.record.spent(shard, cost)
