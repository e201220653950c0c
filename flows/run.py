"""A run: the steps of a chain, computed or reused, and the record that an operator reads.

A chain calls `envs`, `judges`, `one` and `report` of a Run, and names the inputs of each step by role. It is called twice:
first only to learn what there is to do (keys follow from configuration and inputs alone), then to do it. `run.json` says
at every moment which stage is where; it is written before the first stage, after each, and at the end, however it ends.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from storage import Store
from storage.store import code_commit, now, package_versions
from tasks.errors import BadInput, StageFailed, WorldauditError
from tasks.stage import Config, Outcome, Ref, Runner, Shards, Stage, describe

# A stage is pending, running, done, reused or failed.


@dataclass(frozen=True)
class Request:
    """What is asked for: plain values, so that it travels through a Prefect server and into run.json."""

    store: str
    command: str
    chain: str = "audit"
    world: str = "minigrid"
    profile: str = "base"
    seed: int = 7
    judges: tuple[str, ...] = ()
    given: dict[str, dict[str, str]] = field(default_factory=dict)  # stage -> shard -> key of an artifact to start from
    configuration: dict[str, Any] = field(default_factory=dict)  # the configuration file, as tasks.config reads it
    refresh: tuple[str, ...] = ()  # stages, or stage[shard], to recompute even where they are in the store


Configs = Mapping[str, Mapping[str, Config]]  # stage -> shard -> configuration


@dataclass(frozen=True)
class Step:
    """A stage that was planned or done: its artifacts by shard."""

    stage: Stage
    refs: dict[str, Ref]
    single: bool = False

    def of(self, shard: str) -> Ref | None:
        """What a shard of that name reads of this step; None where it has none."""
        return self.refs["all"] if self.single else self.refs.get(shard)


def run_id() -> str:
    """UTC start time and four random letters: sorts by time, unique among runs that start together."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    return f"{stamp}Z-{secrets.token_hex(2)}"


class Run:
    """One run of a chain on a store. `configs` holds what each shard of each stage reads."""

    def __init__(
        self,
        request: Request,
        configs: Configs,
        runner: Runner,
        on_stage: Callable[[str, int], None] = lambda stage, shards: None,
    ):
        self.request, self.configs, self.runner, self.on_stage = request, configs, runner, on_stage
        self.store = Store(request.store)
        self.planning = True
        self.steps: list[tuple[Stage, Shards]] = []
        self.incomplete: list[str] = []
        self._started = time.perf_counter()
        self.record: dict[str, Any] = {
            "id": run_id(),
            **asdict(request),
            "state": "running",
            "started": now(),
            "ended": None,
            "seconds": None,
            "stages": [],
            "artifacts": {},
            "exam": request.given.get("release", {}).get("all"),
            "cost": {},
            "error": None,
            "mend": None,
            "commit": code_commit(),
            "packages": package_versions(),
            "python": sys.version.split()[0],
            "process": {"host": platform.node(), "pid": os.getpid()},  # tells whether a run that says running still is
        }

    @property
    def id(self) -> str:
        return self.record["id"]

    # --- what a chain calls ---------------------------------------------------------------------------------------

    def envs(self, stage: Stage, **inputs: Step) -> Step:
        """One shard an environment; each reads the same environment's shard of its inputs."""
        return self._each(stage, inputs)

    def judges(self, stage: Stage, **inputs: Step) -> Step:
        """One shard a judge; each reads that judge's shard of its inputs, or all of an input that is not by judge."""
        return self._each(stage, inputs)

    def _each(self, stage: Stage, inputs: Mapping[str, Step]) -> Step:
        shards: dict[str, tuple[Config, Mapping[str, Ref]]] = {}
        for name, config in self.configs[stage.name].items():
            refs = {role: ref for role, step in inputs.items() if (ref := step.of(name)) is not None}
            if len(refs) == len(inputs):
                shards[name] = (config, refs)
        return self._step(stage, shards)

    def one(self, stage: Stage, **inputs: Step) -> Step:
        """A single shard that reads all shards of its inputs, as `role` or `role.shard`."""
        refs = {
            role if step.single else f"{role}.{name}": ref
            for role, step in inputs.items()
            for name, ref in step.refs.items()
        }
        return self._step(stage, {"all": (self.configs[stage.name]["all"], refs)}, single=True)

    def given(self, stage: Stage) -> Step:
        """What the request starts from; ArtifactError where it is not whole."""
        keys = self.request.given[stage.name]
        for name, key in keys.items():
            self.store.get(stage.name, key)
            self.record["artifacts"][f"{stage.name}[{name}]"] = key
        return Step(stage, {name: Ref(stage.name, key) for name, key in keys.items()}, single=list(keys) == ["all"])

    def report(self, write: Callable[[Store, dict[str, Any]], object]) -> None:
        """The last step: `write(store, run record)` puts the report into the run's folder."""
        if self.planning:
            self._plan_stage("reports", {"all": None})
            return
        self.record["cost"] = self._cost()
        with self._stage("reports") as entry:
            started = time.perf_counter()
            write(self.store, self.record)
            entry["shards"]["all"] |= {"state": "done", "seconds": round(time.perf_counter() - started, 3)}

    # --- around the chain -----------------------------------------------------------------------------------------

    def plan(self, chain: Callable[[Run], object]) -> list[tuple[Stage, Shards]]:
        """Every stage of `chain` with its shards, in order; computes nothing."""
        self.planning, self.steps, self.record["stages"] = True, [], []
        chain(self)
        self.planning = False
        return self.steps

    def execute(self, chain: Callable[[Run], object]) -> dict[str, Any]:
        """Plan, then do; the final record. Raises what a stage raised, after it was written down."""
        self.plan(chain)
        self._write()
        try:
            chain(self)
        except BaseException as error:
            self._end("failed", error)
            raise
        if self.incomplete:
            failure = StageFailed("\n".join(self.incomplete))
            self._end("incomplete", failure)
            raise failure
        self._end("complete")
        return self.record

    def _step(self, stage: Stage, shards: Shards, single: bool = False) -> Step:
        if self.planning:
            self.steps.append((stage, shards))
            self._plan_stage(stage.name, shards)
            return Step(stage, {name: Ref(stage.name, stage.key(*shard)) for name, shard in shards.items()}, single)
        with self._stage(stage.name) as entry:
            self.on_stage(stage.name, len(shards))
            try:
                refs = self.runner.map(stage, shards)
            except WorldauditError as error:
                if stage.name != "inference" or isinstance(error, BadInput):
                    raise
                refs = self._partial(stage, shards, error)
            finally:
                self._note(stage.name, entry)
            return Step(stage, refs, single)

    def _partial(self, stage: Stage, shards: Shards, error: WorldauditError) -> dict[str, Ref]:
        """What unfinished judges have answered so far, so that it is scored and reported as unfinished. A judge that
        answered nothing is left out; where none answered anything, `error` stands."""
        from tasks.inference import JudgeSpec, journal_state

        done = {o.shard: o.ref for o in self.runner.outcomes if o.ref.stage == stage.name and o.shard in shards}
        partial: dict[str, tuple[Config, Mapping[str, Ref]]] = {}
        for name, (config, inputs) in shards.items():
            if name in done:
                continue
            state = journal_state(self.store, inputs["release"].key, JudgeSpec.model_validate(config["spec"]))
            partial[name] = ({**config, "snapshot": state}, inputs)
        snapshots = Runner(self.runner.location, processes=0)
        kept = {}
        for name, ref in snapshots.map(stage, partial).items():
            statuses = self.store.get(ref.stage, ref.key).read("responses")["status"]
            if not statuses.is_in(["pending", "api_error"]).all():
                kept[name] = ref
        if not done and not kept:
            raise error
        self.incomplete.append(str(error))
        return done | kept

    # --- the record -----------------------------------------------------------------------------------------------

    def _plan_stage(self, name: str, shards: Mapping[str, Any]) -> None:
        entry: dict[str, Any] = {
            "name": name,
            "state": "pending",
            "seconds": None,
            "rows": {},
            "error": None,
            "mend": None,
        }
        self.record["stages"].append(entry | {"shards": {shard: {"state": "pending"} for shard in shards}})

    @contextlib.contextmanager
    def _stage(self, name: str) -> Iterator[dict[str, Any]]:
        entry = next(entry for entry in self.record["stages"] if entry["name"] == name)
        entry["state"], started = "running", time.perf_counter()
        self._write()
        try:
            yield entry
        except BaseException as error:
            entry |= {"state": "failed", "error": _message(error), "mend": self.mending(name, error)}
            raise
        finally:
            states = {shard["state"] for shard in entry["shards"].values()}
            if entry["state"] == "running":
                entry["state"] = next(
                    s for s in ("failed", "done", "reused", "pending") if s in states or s == "pending"
                )
            if entry["state"] == "failed" and entry["mend"] is None:
                entry |= {"error": self.incomplete[-1] if self.incomplete else None, "mend": self.mending(name)}
            entry["seconds"] = round(time.perf_counter() - started, 3)
            self._write()

    def _note(self, stage: str, entry: dict[str, Any]) -> None:
        """Copy what the runner knows of a stage's shards into the record."""
        for outcome in self.runner.outcomes:
            if outcome.ref.stage != stage or outcome.shard not in entry["shards"]:
                continue
            entry["shards"][outcome.shard] = {
                "state": "reused" if outcome.reused else "done",
                "seconds": round(outcome.seconds, 3),
                "rows": outcome.rows,
                "key": outcome.ref.key,
            }
            self.record["artifacts"][name_of(outcome)] = outcome.ref.key
            if stage == "release":
                self.record["exam"] = outcome.ref.key
        for name, message in self.runner.failures.items():
            shard = name.partition("[")[2].rstrip("]")
            if name.startswith(f"{stage}["):
                entry["shards"][shard] |= {"state": "failed", "error": message}
        rows: dict[str, int] = {}
        for shard in entry["shards"].values():
            for table, count in shard.get("rows", {}).items():
                rows[table] = rows.get(table, 0) + count
        entry["rows"] = rows

    def mending(self, stage: str, error: BaseException | None = None) -> str:
        """The command that goes on where `stage` failed; what is finished is reused."""
        if isinstance(error, BadInput):
            return f"mend what the message names, then: {self.request.command}"
        return f"worldaudit rerun {self.id} --from {stage} --only-failed" + self._store_option()

    def _store_option(self) -> str:
        return "" if self.request.store.endswith("/worldaudit-store") else f" --store {self.request.store}"

    def _cost(self) -> dict[str, Any]:
        """Tokens and money by judge, of judges that have prices."""
        import polars as pl

        from tasks.inference import JudgeSpec
        from tasks.inference.engine import cost_of

        cost: dict[str, Any] = {}
        for name, config in self.configs.get("inference", {}).items():
            spec = JudgeSpec.model_validate(config["spec"])
            key = self.record["artifacts"].get(f"inference[{name}]")
            if key is None or spec.prices is None:
                continue
            used = self.store.get("inference", key).read("responses")
            tokens = used.select(pl.col("input_tokens", "output_tokens").sum()).row(0)
            cost[name] = {
                "input_tokens": tokens[0],
                "output_tokens": tokens[1],
                "amount": cost_of(spec, tokens[0], tokens[1], 0),
                "currency": spec.prices.currency,
            }
        return cost

    def _end(self, state: str, error: BaseException | None = None) -> None:
        self.record |= {"state": state, "ended": now(), "seconds": round(time.perf_counter() - self._started, 3)}
        if error is not None:
            failed = next((entry for entry in self.record["stages"] if entry["state"] == "failed"), None)
            self.record |= {
                "error": _message(error),
                "mend": failed["mend"] if failed else f"again: {self.request.command}",
            }
        self._write()
        if state == "complete":
            from storage.catalog import write_catalog

            write_catalog(self.store)

    def _write(self) -> None:
        self.store.write_run(self.record)


def name_of(outcome: Outcome) -> str:
    return f"{outcome.ref.stage}[{outcome.shard}]"


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return describe(error) if isinstance(error, Exception) else type(error).__name__
