"""Stage `variants`: Full -> NoCue (same states, early evidence masked) and CF (same actions, made to fail).

A group that cannot have a variant is a rejected row with its reason, and keeps no trajectories. Candidates beyond the
last that is needed are left out.
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
    made: list[str] = []
    for group in groups(inputs["rollouts"], world):
        if len(made) == config["groups"]:
            break
        full = group.traces["full"]
        try:
            mask = world.nocue(full)
            cf = world.counterfactual(group.seed, full)
        except Rejected as error:
            rejected[group.group_id] = f"variants: {error}"
            continue
        made.append(group.group_id)
        rows = [("full", full, ()), ("nocue", replace(full), mask), ("cf", cf, ())]
        writer.add("trajectories", [trajectory_row(group.group_id, name, trace, world, m) for name, trace, m in rows])
    if len(made) < config["groups"]:
        reasons = "; ".join(sorted(set(rejected.values()))[:3])
        raise StageFailed(
            f"{world.env_id}: {len(made)} of {config['groups']} groups can have their variants ({reasons}); "
            "ask for fewer groups or another configuration"
        )
    heads = inputs["rollouts"].arrow("groups").to_pylist()
    tried = next(place for place, row in enumerate(heads, 1) if row["group_id"] == made[-1])
    for row in heads[:tried]:
        if row["group_id"] in rejected:
            row |= {"accepted": False, "reject_reason": rejected[row["group_id"]]}
    writer.add("groups", heads[:tried])


VARIANTS = Stage("variants", 2, vary)
