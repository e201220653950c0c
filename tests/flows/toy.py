"""A chain of two small stages, to test runs without a simulator. Its stages count how often they are computed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

from pydantic import Field

from flows.request import CHAINS, Chain, ChainParameters, Request
from flows.run import Run
from flows.runner import Runner
from tasks.config import Configuration
from tasks.stage import Config, Inputs, Stage

SHARDS = ("a", "b", "c")


def seeds(inputs: Inputs, config: Config, writer) -> None:
    """`n` groups of one environment; fails for the environment that TOY_FAIL names."""
    count("seeds", config["env"])
    if os.environ.get("TOY_FAIL") == config["env"]:
        raise ValueError("no luck with this one")
    rows = [
        {"group_id": f"{config['env']}{n}", "world": "toy", "env": config["env"], "env_id": "Toy-v0", "seed": n}
        for n in range(config["n"])
    ]
    writer.add("groups", rows)


def accept(inputs: Inputs, config: Config, writer) -> None:
    """All groups of all environments, accepted."""
    count("accept", "all")
    for shard in inputs.all("seeds").values():
        rows = shard.arrow("groups").to_pylist()
        writer.add("groups", [row | {"accepted": True} for row in rows])


def count(stage: str, shard: str) -> None:
    if log := os.environ.get("TOY_LOG"):
        with open(log, "a") as file:
            file.write(f"{stage}[{shard}]\n")


SEEDS = Stage("seeds", 1, seeds)
ACCEPT = Stage("accept", 1, accept)


class Parameters(ChainParameters):
    n: int = Field(default=3, ge=1, description="How many groups an environment.")
    seed: int = Field(default=7, ge=0)


def steps(run: Run, asked: Parameters) -> None:
    first = run.each(SEEDS, {name: {"env": name, "n": asked.n} for name in SHARDS})
    run.one(ACCEPT, {}, seeds=first)


CHAIN = CHAINS.register("toy", Chain("toy", "Two small stages.", Parameters, steps, (SEEDS, ACCEPT), runnable=True))


def start(
    store: Path | str, n: int = 3, processes: int = 0, refresh: tuple[str, ...] = (), chain: Chain = CHAIN
) -> Run:
    """A run of the toy chain, not executed yet."""
    parameters = chain.parse({"n": n}).model_dump()
    request = Request(store=str(store), command="toy", chain=chain.name, parameters=parameters, refresh=refresh)
    runner = Runner(str(store), processes=processes, refresh=refresh)
    return Run(request, chain, chain.parse(request.parameters), Configuration(), runner)


def run(store: Path | str, n: int = 3, processes: int = 0, refresh: tuple[str, ...] = (), chain: Chain = CHAIN) -> dict:
    """The record of a run that has ended."""
    made = start(store, n, processes, refresh, chain)
    with made.runner:
        return made.execute()


def with_steps(steps: Callable[[Run, Parameters], object]) -> Chain:
    """A chain like the toy with other steps."""
    return dataclasses.replace(CHAIN, steps=steps)
