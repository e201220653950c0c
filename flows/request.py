"""What is asked for: a chain, and what that chain wants to know.

A chain is one file under `flows/chains/`: its parameters as a model, its steps as a function that reads as their list.

    class Parameters(ChainParameters):
        world: str
        seed: int = Field(default=7, ge=0, description="what everything that is drawn is drawn from")

    def steps(run: Run, asked: Parameters) -> None:
        seeds = run.each(SEEDS, {name: {"env": name, "seed": asked.seed} for name in asked.envs})
        run.one(ACCEPT, {}, seeds=seeds)

    CHAIN = Chain("toy", "What it is for.", Parameters, steps, stages=(SEEDS, ACCEPT))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pydantic

from tasks.config import describe
from tasks.errors import BadInput
from tasks.registry import Registry

if TYPE_CHECKING:
    from tasks.stage import Stage


class ChainParameters(pydantic.BaseModel):
    """What a chain wants to know: plain values, each with a description, so that a command, a Prefect UI and run.json
    can hold them."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Chain:
    """A chain of steps. `name` is also the kind of its runs. `stages` are those that a worker elsewhere may be sent shards
    of. `runnable` chains are commands of their own, `worldaudit run NAME`, with an option for each parameter."""

    name: str
    summary: str
    parameters: type[ChainParameters]
    steps: Callable[[Any, Any], object]  # (run, parameters)
    stages: tuple[Stage, ...] = ()
    runnable: bool = False

    def parse(self, parameters: Mapping[str, Any]) -> ChainParameters:
        """BadInput names every parameter that is missing, unknown or wrong."""
        try:
            return self.parameters.model_validate(dict(parameters))
        except pydantic.ValidationError as error:
            faults = "; ".join(describe(fault, self.parameters) for fault in error.errors())
            raise BadInput(f"chain {self.name}: {faults}") from None


CHAINS: Registry[Chain] = Registry("chain", "flows.chains", "CHAIN", "worldaudit.chains")


@dataclass(frozen=True)
class Request:
    """One run that is asked for: plain values, so that it travels through a Prefect server and into run.json."""

    store: str
    command: str
    chain: str
    parameters: dict[str, Any] = field(default_factory=dict)  # what the chain's model dumps
    configuration: dict[str, Any] = field(default_factory=dict)  # the configuration file, as tasks.config reads it
    refresh: tuple[str, ...] = ()  # steps, or step[shard], to recompute even where they are in the store
    # step[shard] -> {"asking": token} or {"retried": token}: judges that are asked anew, or whose failures are
    askings: dict[str, dict[str, str]] = field(default_factory=dict)
