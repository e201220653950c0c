"""Stage `rollouts`: seeds -> successful Full trajectories by the planner.

Candidate k of an environment has a seed derived from the run's seed and k alone, so that a group is the same whichever
process makes it and however many come before it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from storage import digest
from storage.store import ArtifactWriter
from tasks.errors import StageFailed
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import trajectory_row
from tasks.worlds import environment
from tasks.worlds.base import Environment, Episode, Rejected

TRIES = 4  # candidates tried for each group that is wanted, before the shard gives up


def derived_seed(run_seed: int, env_id: str, candidate: int) -> int:
    """31 bits out of (run seed, configuration, number of the candidate)."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}/{env_id}/{candidate}".encode()).digest()[:4]) >> 1


def start_identity(env: Environment, episode: Episode) -> str:
    """Equal for two rollouts with the same layout, start and mission: they would be the same group twice."""
    return digest(json.dumps([episode.mission, env.encode(episode.states[0])]))


def roll_out(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """-> `groups` (one row a candidate, rejected ones with their reason) and `trajectories` (Full).

    Configuration: world, env, env_id, seed, groups (how many clean rollouts are wanted), first (number of the first
    candidate, which numbers the group), quiet_start (steps before anything happens). Raises
    StageFailed where TRIES times as many candidates do not suffice.
    """
    env = environment(config["world"], config["env"], config["env_id"])
    wanted, first = config["groups"], config.get("first", 0)
    found = 0
    starts: set[str] = set()
    for candidate in range(first, first + wanted * TRIES + TRIES):
        if found == wanted:
            break
        seed = derived_seed(config["seed"], env.env_id, candidate)
        group_id = f"{env.name}_s{candidate:06d}"
        row: dict[str, Any] = {
            "group_id": group_id,
            "world": env.world,
            "env": env.name,
            "env_id": env.env_id,
            "seed": seed,
        }
        try:
            episode = env.rollout(seed)
            begins = min((event.step for event in episode.events), default=len(episode.actions))
            if begins < config.get("quiet_start", 0):
                raise Rejected(f"something happens at step {begins} already")
            start = start_identity(env, episode)
            if start in starts:
                raise Rejected("the layout and start of an earlier group")
        except Rejected as error:
            writer.add("groups", [row | {"accepted": False, "reject_reason": f"rollouts: {error}"}])
            continue
        starts.add(start)
        found += 1
        row |= {"mission": episode.mission, "actions": episode.actions, "steps": len(episode.actions)}
        writer.add("groups", [row])
        writer.add("trajectories", [trajectory_row(group_id, "full", episode, env)])
    if found < wanted:
        raise StageFailed(
            f"{env.env_id} gives {found} distinct clean rollouts in {wanted * TRIES + TRIES} candidates, "
            f"{wanted} are wanted; ask for fewer groups or another configuration"
        )


ROLLOUTS = Stage("rollouts", 3, roll_out)
