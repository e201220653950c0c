"""The one helper that makes a domain function a cached stage.

A stage is a name, a version and a function `(inputs, config, writer) -> None`. `produce` computes its key, returns the
committed artifact where there is one, and otherwise runs the function and commits what it wrote. `flows.runner` does the
same for many shards.

    ROLLOUTS = Stage("rollouts", 1, rollouts)
    result = produce(location, ROLLOUTS, "doorkey", {"env": "doorkey", "seed": 7}, {})
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from storage import Artifact, Store, StoreError, TableError, artifact_key
from storage.store import ArtifactWriter
from tasks.errors import StageFailed, WorldauditError

Config = dict[str, Any]


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
    `failed(artifact)`: whether something that was asked for a finished shard failed, so that there is something to ask again.
    `preflight(config)`: BadInput where something that a shard needs to begin, such as a key, is not at hand.
    """

    so_far: Callable[[Store, Config, Mapping[str, Ref]], Config | None]
    plan: Callable[[Store, Config, Mapping[str, Ref]], Plan | None]
    cost: Callable[[Artifact, Config], dict[str, Any] | None]
    failed: Callable[[Artifact], bool]
    preflight: Callable[[Config], None]


@dataclass(frozen=True)
class Stage:
    """`version` is raised whenever `run` would write something else for the same inputs and configuration.

    `keyed` picks the part of the configuration that decides what `run` writes; how fast it may work is not part of it.
    `spending` is there for a stage whose work costs money.
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
class ShardResult:
    """What became of one shard."""

    ref: Ref
    shard: str
    reused: bool
    seconds: float
    rows: dict[str, int]
    bytes: int  # of its parts
    differs: bool = False  # it was computed anew and came out otherwise than the artifact that is there, which stays

    @classmethod
    def of(cls, artifact: Artifact, shard: str, reused: bool, started: float) -> ShardResult:
        """`started` is a reading of time.perf_counter."""
        ref, manifest = Ref(artifact.stage, artifact.key), artifact.manifest
        size = sum(part["bytes"] for part in manifest["parts"])
        return cls(ref, shard, reused, time.perf_counter() - started, manifest["rows"], size)


def lookup(location: str, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref]) -> ShardResult | None:
    """The outcome of a shard whose artifact is committed and whole; else None."""
    started = time.perf_counter()
    key = stage.key(config, inputs)
    found = Store(location).find(stage.name, key)
    return ShardResult.of(found, shard, True, started) if found else None


def produce(
    location: str, stage: Stage, shard: str, config: Config, inputs: Mapping[str, Ref], refresh: bool = False
) -> ShardResult:
    """The artifact of one shard: the committed one, or a new one. Runs in any process; needs no Prefect.

    Raises ArtifactError where an input is missing or broken, and whatever the stage's function raises; nothing is
    committed then. With `refresh` the work is done again, but a committed artifact never changes.
    """
    if not refresh and (found := lookup(location, stage, shard, config, inputs)):
        return found
    started = time.perf_counter()
    store = Store(location)
    key = stage.key(config, inputs)
    opened = Inputs({role: store.get(ref.stage, ref.key) for role, ref in inputs.items()})
    writer = store.writer(stage.name, key)
    try:
        stage.run(opened, config, writer)
        made = writer.commit(stage.version, stage.keyed(config), {role: ref.key for role, ref in inputs.items()})
    except BaseException as error:
        writer.discard()
        if isinstance(error, SystemExit):  # of somebody's code: it would end the run, as if it were complete
            raise StageFailed(f"{stage.name} called sys.exit({error.code!r})") from error
        raise
    differs = _digests(writer.parts) != _digests(made.manifest["parts"])
    return replace(ShardResult.of(made, shard, False, started), differs=differs)


def _digests(parts: list[dict[str, Any]]) -> set[str]:
    return {part["sha256"] for part in parts}


Shards = Mapping[str, tuple[Config, Mapping[str, Ref]]]


def describe(error: Exception) -> str:
    """Its message; with its type where it is not an error that we expect."""
    known = isinstance(error, WorldauditError | StoreError | TableError)
    return str(error) if known else f"unexpected {type(error).__name__}: {error}"
