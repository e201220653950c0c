"""A chain of two small stages, to test runs without a simulator. Its stages count how often they are computed."""

from __future__ import annotations

import os
from pathlib import Path

from flows.run import Request, Run
from tasks.stage import Config, Inputs, Runner, Stage

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


def chain(run: Run) -> None:
    first = run.envs(SEEDS)
    run.one(ACCEPT, seeds=first)


def configs(n: int = 3) -> dict:
    return {"seeds": {name: {"env": name, "n": n} for name in SHARDS}, "accept": {"all": {}}}


def start(store: Path | str, n: int = 3, processes: int = 0, refresh: tuple[str, ...] = ()) -> Run:
    """A run of the toy chain, not executed yet."""
    request = Request(store=str(store), command="toy", refresh=refresh)
    return Run(request, configs(n), Runner(str(store), processes=processes, refresh=refresh))


def run(store: Path | str, n: int = 3, processes: int = 0, refresh: tuple[str, ...] = ()) -> dict:
    """The record of a run that has ended."""
    made = start(store, n, processes, refresh)
    with made.runner:
        return made.execute(chain)
