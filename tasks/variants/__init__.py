"""Stage `variants`: Full -> NoCue (same states, early evidence masked) and CF (same actions, made to fail).

A group that cannot have a variant is a rejected row with its reason, and keeps no trajectories; so is one that is spare
when enough have theirs.
"""

from __future__ import annotations

from dataclasses import replace

from storage.store import ArtifactWriter
from tasks.errors import StageFailed
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import groups, trajectory_row
from tasks.worlds import environment
from tasks.worlds.base import Rejected


def vary(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """`groups`, `trajectories` (Full) -> `groups`, `trajectories` (Full, NoCue, CF).

    Configuration: world, env, env_id, groups (how many to make). Raises StageFailed where fewer can be made.
    """
    world = environment(config["world"], config["env"], config["env_id"])
    rejected: dict[str, str] = {}
    made = 0
    for group in groups(inputs["rollouts"], world):
        full = group.traces["full"]
        if made == config["groups"]:
            rejected[group.group_id] = "variants: spare"
            continue
        try:
            mask = world.nocue(full)
            cf = world.counterfactual(group.seed, full)
        except Rejected as error:
            rejected[group.group_id] = f"variants: {error}"
            continue
        made += 1
        rows = [("full", full, ()), ("nocue", replace(full), mask), ("cf", cf, ())]
        writer.add("trajectories", [trajectory_row(group.group_id, name, trace, world, m) for name, trace, m in rows])
    if made < config["groups"]:
        reasons = "; ".join(sorted(set(rejected.values()))[:3])
        raise StageFailed(
            f"{world.env_id}: {made} of {config['groups']} groups can have their variants ({reasons}); "
            "ask for fewer groups or another configuration"
        )
    heads = inputs["rollouts"].arrow("groups").to_pylist()
    for row in heads:
        if row["group_id"] in rejected:
            row |= {"accepted": False, "reject_reason": rejected[row["group_id"]]}
    writer.add("groups", heads)


VARIANTS = Stage("variants", 1, vary)
