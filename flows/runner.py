"""Computes the shards of a step: in a pool of processes, as Prefect task runs where a flow is running, or elsewhere.

with Runner(location, processes=2) as runner:
    refs = runner.map(ROLLOUTS, {"doorkey": ({"env": "doorkey", "seed": 7}, {}), ...})
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from flows import prefect_task
from tasks.errors import StageFailed, WorldauditError
from tasks.processes import abandon, pool
from tasks.stage import Config, Ref, ShardResult, Shards, Stage, describe, lookup, produce

# For the processes of a pool: one thread each for linear algebra, since there is a process a core; and memory of large
# pictures kept for the next ones instead of given back and cleared again.
CHILD_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(256 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
}

Results = Iterable[tuple[str, "ShardResult | Exception"]]
Place = Callable[[str, Stage, Shards], Results]  # step, stage, shards -> results as they come


class Runner:
    """Runs shards and remembers what became of each, by step.

    `processes` = 0 computes in the calling process. `refresh` names steps, or single shards as `step[shard]`, to
    recompute even where their artifact exists. `placed` says, by step or by stage, who computes its shards elsewhere.
    `on_shard` is told of each shard as it ends. A failed shard does not stop its siblings: the others finish, then
    StageFailed names all that failed.
    """

    def __init__(
        self,
        location: str,
        processes: int = 1,
        refresh: Iterable[str] = (),
        on_shard: Callable[[ShardResult], None] | None = None,
        placed: Mapping[str, Place] | None = None,
    ):
        self.location = location
        self.processes = processes
        self.refresh = frozenset(refresh)
        self.on_shard = on_shard
        self.placed = dict(placed or {})
        self.results: dict[str, dict[str, ShardResult | Exception]] = {}  # by step and shard
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Runner:
        signal.siginterrupt(signal.SIGINT, True)  # polars, once imported, has Ctrl-C restart what waits
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is None:
            return
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C, of which the pool may not have heard
            abandon(self._pool)
        self._pool.shutdown(cancel_futures=True)

    @property
    def pool(self) -> ProcessPoolExecutor:
        """Started on first use, so that a run that reuses everything starts no process."""
        if self._pool is None:
            for name, value in CHILD_ENVIRONMENT.items():
                os.environ.setdefault(name, value)  # a process reads these when it starts
            self._pool = pool(self.processes, _end_on_interrupt)
        return self._pool

    def one(self, stage: Stage, config: Config, inputs: Mapping[str, Ref], shard: str = "all") -> Ref:
        return self.map(stage, {shard: (config, inputs)})[shard]

    def map(self, stage: Stage, shards: Shards, step: str | None = None) -> dict[str, Ref]:
        """Every shard's artifact, by shard name. `step` is the stage's name by default. Raises StageFailed after the
        others are done."""
        step = step or stage.name
        place = self.placed.get(step) or self.placed.get(stage.name) or self._dispatch
        results = self.results.setdefault(step, {})
        for name, result in place(step, stage, shards):
            results[name] = result
            if isinstance(result, ShardResult) and self.on_shard:
                self.on_shard(result)
        failed = {name: error for name in shards if isinstance(error := results[name], Exception)}
        if failed:
            lines = [f"{step}[{name}]: {describe(error)}" for name, error in failed.items()]
            first = next(iter(failed.values()))
            kind = type(first) if len(failed) == 1 and isinstance(first, WorldauditError) else StageFailed
            raise kind("\n".join(lines)) from first
        return {name: result.ref for name in shards if isinstance(result := results[name], ShardResult)}

    def _dispatch(self, step: str, stage: Stage, shards: Shards) -> Results:
        in_flow = prefect_task.in_flow()
        sizes = {
            result.ref: result.bytes
            for results in self.results.values()
            for result in results.values()
            if isinstance(result, ShardResult)
        }
        reads = {name: sum(sizes.get(ref, 0) for ref in inputs.values()) for name, (_, inputs) in shards.items()}
        largest_first = sorted(shards, key=lambda name: -reads[name])  # so that none that takes long starts last
        waiting: dict[str, Callable[[], ShardResult]] = {}
        for name in largest_first:
            config, inputs = shards[name]
            refresh = refreshes(self.refresh, step, name)
            if in_flow:
                waiting[name] = prefect_task.submit(
                    self.location, step, stage, name, config, inputs, refresh, self.compute
                )
            else:
                waiting[name] = self.start(stage, name, config, inputs, refresh)
        for name, result in waiting.items():
            try:
                yield name, result()
            except Exception as error:
                yield name, error

    def start(
        self, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref], refresh: bool
    ) -> Callable[[], ShardResult]:
        """One shard: looked up here, else started in the pool. The returned call waits for it."""
        if not refresh and (reused := lookup(self.location, stage, shard, config, inputs)):
            return lambda: reused
        if self.processes == 0:
            return lambda: produce(self.location, stage, shard, config, inputs, refresh)
        with _deaf_to_interrupts():  # which a process that starts here inherits, until it can end quietly
            future = self.pool.submit(produce, self.location, stage, shard, config, inputs, refresh)

        def wait() -> ShardResult:
            try:
                return future.result()
            except BrokenProcessPool as error:
                self._pool = None
                raise StageFailed("its process died (out of memory, interrupted?); run again to resume") from error

        return wait

    def compute(
        self, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref], refresh: bool
    ) -> ShardResult:
        return self.start(stage, shard, config, inputs, refresh)()


def refreshes(refresh: Collection[str], step: str, shard: str) -> bool:
    """Whether what is to be computed again, steps or single shards as `step[shard]`, holds this shard."""
    return step in refresh or f"{step}[{shard}]" in refresh


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
