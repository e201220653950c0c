"""The one helper that makes a domain function a cached stage.

A stage is a name, a version and a function `(inputs, config, writer) -> None`. `produce` computes its key, returns the
committed artifact where there is one, and otherwise runs the function and commits what it wrote. `Runner` does the
same for many shards: each is a Prefect task run whose body is handed to a pool of processes.

    ROLLOUTS = Stage("rollouts", 1, rollouts)

    with Runner(location, processes=2) as runner:
        refs = runner.map(ROLLOUTS, {"doorkey": ({"env": "doorkey", "seed": 7}, {}), ...})
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol

from storage import Artifact, Store, StoreError, TableError, artifact_key
from storage.store import ArtifactWriter
from tasks.errors import StageFailed, WorldauditError

Config = dict[str, Any]

# For the processes of a pool: one thread each for linear algebra, since there is a process a core; and memory of large
# pictures kept for the next ones instead of given back and cleared again.
CHILD_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(256 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
}


@dataclass(frozen=True)
class Ref:
    """The name of an artifact: small, plain, and what travels between tasks instead of data."""

    stage: str
    key: str


class Inputs(dict[str, Artifact]):
    """The input artifacts of a shard by role. A role may carry a shard's name after a dot: `frames.doorkey`."""

    def all(self, role: str) -> dict[str, Artifact]:
        """Every shard that plays `role`, by shard name, in name order."""
        prefix = role + "."
        return {name.removeprefix(prefix): self[name] for name in sorted(self) if name.startswith(prefix)}


class Plan(Protocol):
    """What a stage would spend; `str` of it is the line that a person reads."""

    def as_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Spending:
    """What a stage says of itself whose work costs money and is kept as it lands, such as asking a judge.

    `so_far(store, config, inputs)`: the configuration of a snapshot of what there is so far; None where there is nothing.
    `plan(store, config, inputs)`: what the shard would spend; None while its inputs are not in the store.
    `cost(artifact, config)`: tokens and money of a finished shard; None where no prices are known.
    """

    so_far: Callable[[Store, Config, Mapping[str, Ref]], Config | None]
    plan: Callable[[Store, Config, Mapping[str, Ref]], Plan | None]
    cost: Callable[[Artifact, Config], dict[str, Any] | None]


@dataclass(frozen=True)
class Stage:
    """`version` is raised whenever `run` would write something else for the same inputs and configuration.

    `keyed` picks the part of the configuration that decides what `run` writes; how fast it may work is not part of it.
    """

    name: str
    version: int
    run: Callable[[Inputs, Config, ArtifactWriter], None] = field(compare=False)
    keyed: Callable[[Config], Config] = field(default=dict, compare=False)
    spending: Spending | None = field(default=None, compare=False)

    def key(self, config: Config, inputs: Mapping[str, Ref]) -> str:
        keys = {role: ref.key for role, ref in inputs.items()}
        return artifact_key(self.name, self.version, self.keyed(config), keys)


@dataclass(frozen=True)
class Outcome:
    """What became of one shard."""

    ref: Ref
    shard: str
    reused: bool
    seconds: float
    rows: dict[str, int]
    bytes: int  # of its parts

    @classmethod
    def of(cls, artifact: Artifact, shard: str, reused: bool, started: float) -> Outcome:
        """`started` is a reading of time.perf_counter."""
        ref, manifest = Ref(artifact.stage, artifact.key), artifact.manifest
        size = sum(part["bytes"] for part in manifest["parts"])
        return cls(ref, shard, reused, time.perf_counter() - started, manifest["rows"], size)


def lookup(location: str, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]) -> Outcome | None:
    """The outcome of a shard whose artifact is committed and whole; else None."""
    started = time.perf_counter()
    key = stage.key(config, inputs)
    found = Store(location).find(stage.name, key)
    return Outcome.of(found, shard, True, started) if found else None


def produce(
    location: str, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref], refresh: bool = False
) -> Outcome:
    """The artifact of one shard: the committed one, or a new one. Runs in any process; needs no Prefect.

    Raises ArtifactError where an input is missing or broken, and whatever the stage's function raises; nothing is
    committed then.
    """
    if not refresh and (found := lookup(location, stage, shard, config, inputs)):
        return found
    started = time.perf_counter()
    store = Store(location)
    key = stage.key(config, inputs)
    opened = Inputs({role: store.get(ref.stage, ref.key) for role, ref in inputs.items()})
    writer = store.writer(stage.name, key)
    stage.run(opened, config, writer)
    made = writer.commit(stage.version, stage.keyed(config), {role: ref.key for role, ref in inputs.items()})
    return Outcome.of(made, shard, False, started)


Shards = Mapping[str, tuple[Config, Mapping[str, Ref]]]
Results = Iterable[tuple[str, "Outcome | Exception"]]


class Runner:
    """Runs shards in a pool of processes, through Prefect where a flow is running, and remembers every outcome.

    `processes` = 0 computes in the calling process. `refresh` names stages, or single shards as `stage[shard]`, to
    recompute even where their artifact exists. `placed` says for a stage by name who computes its shards elsewhere.
    `on_outcome` is told of each shard as it ends. A failed shard does not stop its siblings: the others finish, then
    StageFailed names all that failed.
    """

    def __init__(
        self,
        location: str,
        processes: int = 1,
        refresh: Iterable[str] = (),
        on_outcome: Callable[[Outcome], None] | None = None,
        placed: Mapping[str, Callable[[Stage, Shards], Results]] | None = None,
    ):
        self.location = location
        self.processes = processes
        self.refresh = frozenset(refresh)
        self.on_outcome = on_outcome
        self.placed = dict(placed or {})
        self.outcomes: list[Outcome] = []
        self.failures: dict[str, str] = {}
        self._pool: Executor | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    @property
    def pool(self) -> Executor:
        """Started on first use, so that a run that reuses everything starts no process. Spawned rather than forked:
        the parent has threads."""
        if self._pool is None:
            for name, value in CHILD_ENVIRONMENT.items():
                os.environ.setdefault(name, value)  # a process reads these when it starts
            self._pool = ProcessPoolExecutor(
                self.processes, mp_context=multiprocessing.get_context("spawn"), initializer=_end_on_interrupt
            )
        return self._pool

    def refreshes(self, stage: Stage, shard: str) -> bool:
        return stage.name in self.refresh or f"{stage.name}[{shard}]" in self.refresh

    def one(self, stage: Stage, config: Config, inputs: Mapping[str, Ref], shard: str = "all") -> Ref:
        return self.map(stage, {shard: (config, inputs)})[shard]

    def map(self, stage: Stage, shards: Shards) -> dict[str, Ref]:
        """Every shard's artifact, by shard name. Raises StageFailed after the others are done."""
        results: dict[str, Outcome | Exception] = {}
        for name, result in self.placed.get(stage.name, self._dispatch)(stage, shards):
            results[name] = result
            if isinstance(result, Outcome):
                self.outcomes.append(result)
                if self.on_outcome:
                    self.on_outcome(result)
        results = {name: results[name] for name in shards}
        failed = {name: result for name, result in results.items() if isinstance(result, Exception)}
        said = {f"{stage.name}[{name}]": describe(error) for name, error in failed.items()}
        self.failures |= said
        if failed:
            lines = [f"{name}: {message}" for name, message in said.items()]
            first = next(iter(failed.values()))
            kind = type(first) if len(failed) == 1 and isinstance(first, WorldauditError) else StageFailed
            raise kind("\n".join(lines)) from first
        return {name: result.ref for name, result in results.items() if isinstance(result, Outcome)}

    def _dispatch(self, stage: Stage, shards: Shards) -> Results:
        from tasks.prefect_task import in_flow, submit

        call = submit if in_flow() else _call
        sizes = {outcome.ref: outcome.bytes for outcome in self.outcomes}
        reads = {name: sum(sizes.get(ref, 0) for ref in inputs.values()) for name, (_, inputs) in shards.items()}
        largest_first = sorted(shards, key=lambda name: -reads[name])  # so that none that takes long starts last
        waiting = {name: call(self, stage, name, *shards[name]) for name in largest_first}
        for name, result in waiting.items():
            try:
                yield name, result()
            except Exception as error:
                yield name, error

    def start(self, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]) -> Callable[[], Outcome]:
        """One shard: looked up here, else started in the pool. The returned call waits for it."""
        refresh = self.refreshes(stage, shard)
        if not refresh and (found := lookup(self.location, stage, shard, config, inputs)):
            return lambda: found
        if self.processes == 0:
            return lambda: produce(self.location, stage, shard, config, inputs, refresh)
        with _deaf_to_interrupts():  # which a process that starts here inherits, until it can end quietly
            future = self.pool.submit(produce, self.location, stage, shard, config, inputs, refresh)

        def wait() -> Outcome:
            try:
                return future.result()
            except BrokenProcessPool as error:
                self._pool = None
                raise StageFailed("its process died (out of memory, interrupted?); run again to resume") from error

        return wait

    def compute(self, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]) -> Outcome:
        return self.start(stage, shard, config, inputs)()


def describe(error: Exception) -> str:
    """Its message; with its type where it is not an error that we expect."""
    known = isinstance(error, WorldauditError | StoreError | TableError)
    return str(error) if known else f"unexpected {type(error).__name__}: {error}"


def _call(runner: Runner, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]) -> Callable[[], Outcome]:
    return runner.start(stage, shard, config, inputs)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_on_interrupt() -> None:
    """A process of the pool ends at Ctrl-C without a traceback of its own; the parent reports."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
