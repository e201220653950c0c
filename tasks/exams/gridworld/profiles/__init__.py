"""Profiles: how large an exam is, one TOML file each: `<world>-<profile>.toml` here, `profiles/<profile>.toml` in the
folder of a world that is installed beside the project.

world = "minigrid"
prompts = "minigrid-v1"

[shards.doorkey]                      # a shard: one configuration of one environment
env_id = "MiniGrid-DoorKey-8x8-v0"    # `env` where its name is not the shard's
groups = 18                           # clean rollouts to make; what gates reject comes off these
A = { groups = 3, items = 18 }
B = { groups = 12, frames = 2 }
C = { groups = 6 }
D = { references = 1, queries = 2 }
E = { groups = 24, roles = { identity_short = 24, ... } }
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.config import nearest
from tasks.errors import BadInput
from tasks.exams.gridworld.prompts import load as prompt_set
from tasks.worlds import WORLDS

_FOLDER = Path(__file__).parent


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TaskA(_Strict):
    groups: int = Field(gt=0)
    items: int = Field(gt=0)


class TaskB(_Strict):
    groups: int = Field(gt=0)
    frames: int = Field(gt=0)


class TaskC(_Strict):
    groups: int = Field(gt=0)
    probes: bool = True
    framings: tuple[Literal["neu", "pos", "neg"], ...] = ("neu", "pos", "neg")
    split: bool = True
    nocue_framings: tuple[Literal["neu", "pos", "neg"], ...] | None = None


class TaskD(_Strict):
    references: int = Field(gt=0)
    queries: int = Field(gt=0)
    presentations: tuple[tuple[Literal["clean", "noisy", "style"], Literal["neu", "pos", "neg"]], ...] = (
        ("clean", "neu"),
        ("clean", "pos"),
        ("clean", "neg"),
        ("style", "neu"),
    )
    nocue_framings: tuple[Literal["neu", "pos", "neg"], ...] | None = None


class TaskE(_Strict):
    groups: int = Field(gt=0)
    roles: dict[str, int]


class Shard(_Strict):
    env: str = ""
    env_id: str
    groups: int = Field(gt=0)
    first: int = Field(default=0, ge=0)
    quiet_start: int = Field(default=0, ge=0)
    A: TaskA | None = None
    B: TaskB | None = None
    C: TaskC | None = None
    D: TaskD | None = None
    E: TaskE | None = None

    def tasks(self) -> dict[str, Any]:
        """Plain configuration of the tasks that the shard takes part in."""
        return {name: getattr(self, name).model_dump(mode="json") for name in "ABCDE" if getattr(self, name)}


class Profile(_Strict):
    world: str
    prompts: str
    balance: bool = False  # groups in equal parts from each third of the planner's difficulty
    shards: dict[str, Shard]

    def rollouts(self, shard: str, seed: int) -> dict[str, Any]:
        """Configuration of the shard's `rollouts`."""
        plan = self.shards[shard]
        spare = plan.groups + plan.groups // 2 + 2  # not every rollout has a cue to mask and a counterfactual
        begin = {"first": plan.first, "quiet_start": plan.quiet_start}
        return self.place(shard) | {"seed": seed, "groups": spare} | begin

    def variants(self, shard: str) -> dict[str, Any]:
        """Configuration of the shard's `variants`."""
        balance = {"balance": True} if self.balance else {}
        return self.place(shard) | {"groups": self.shards[shard].groups} | balance

    def place(self, shard: str) -> dict[str, Any]:
        """Configuration of the shard's `rendering` and `gates`."""
        plan = self.shards[shard]
        return {"world": self.world, "env": plan.env or shard, "env_id": plan.env_id}

    def exams(self, shard: str, seed: int) -> dict[str, Any]:
        """Configuration of the shard's `exams`; the text of the prompts is part of it by its digest. Raises BadInput where
        the prompt set has no words for a task of the shard."""
        prompts, tasks = prompt_set(self.prompts, self.world), self.shards[shard].tasks()
        if missing := [name for name in tasks if name not in prompts.tasks]:
            raise BadInput(
                f"prompt set {self.prompts} has no [tasks.{missing[0]}], which shard {shard} asks; write it, or take "
                f"{missing[0]} out of the shard"
            )
        words = {"prompts": self.prompts, "prompts_sha256": prompts.sha256}
        return self.place(shard) | words | {"seed": seed, "tasks": tasks}


def _known(world: str) -> dict[str, Path]:
    """The profiles of a world by name. Raises BadInput for a world that there is not."""
    ours = {path.stem.removeprefix(f"{world}-"): path for path in sorted(_FOLDER.glob(f"{world}-*.toml"))}
    return ours | WORLDS[world].profiles


def load(world: str, profile: str) -> Profile:
    """A profile by name, or by the path of a TOML file. Raises BadInput, naming the key or what there is."""
    known = _known(world)
    path = Path(profile) if profile.endswith(".toml") else known.get(profile)
    try:
        if path is None:
            raise FileNotFoundError(profile)
        table = tomllib.loads(path.read_text())
    except FileNotFoundError:
        there = ", ".join(known) or "none"
        raise BadInput(f"no profile {profile!r} of {world}{nearest(profile, known)}; there are {there}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from error
    try:
        return Profile.model_validate(table)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise BadInput(f"{path}: {place}: {problem['msg']}") from error
