"""Stage `variants`: Full -> NoCue (same states, early evidence masked) and CF (same actions, made to fail).

A group that cannot have a variant is a rejected row with its reason, and keeps no trajectories. Candidates beyond the
last that is needed are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from storage.store import ArtifactWriter
from tasks.errors import StageFailed
from tasks.stage import Config, Inputs, Stage
from tasks.trajectories import Group, groups, trajectory_row
from tasks.variants.balance import balanced_order
from tasks.worlds import environment
from tasks.worlds.base import Environment, Rejected


def vary(inputs: Inputs, config: Config, writer: ArtifactWriter) -> None:
    """`groups`, `trajectories` (Full) -> `groups`, `trajectories` (Full, NoCue, CF).

    Configuration: world, env, env_id, groups (how many to make), and balance (true: one of each third of difficulty in
    turn, rather than by number). Raises StageFailed where fewer can be made.
    """
    env = environment(config["world"], config["env"], config["env_id"])
    rejected: dict[str, str] = {}
    made: list[str] = []
    for group in _candidates(inputs, config, env):
        if len(made) == config["groups"]:
            break
        full = group.episodes["full"]
        try:
            mask = env.nocue(full)
            cf = env.counterfactual(group.seed, full)
        except Rejected as error:
            rejected[group.group_id] = f"variants: {error}"
            continue
        made.append(group.group_id)
        rows = [("full", full, ()), ("nocue", replace(full), mask), ("cf", cf, ())]
        writer.add("trajectories", [trajectory_row(group.group_id, name, episode, env, m) for name, episode, m in rows])
    if len(made) < config["groups"]:
        reasons = "; ".join(sorted(set(rejected.values()))[:3])
        raise StageFailed(
            f"{env.env_id}: {len(made)} of {config['groups']} groups can have their variants ({reasons}); "
            "ask for fewer groups or another configuration"
        )
    heads = inputs["rollouts"].arrow("groups").to_pylist()
    tried = set(made) | set(rejected)
    last = max(place for place, row in enumerate(heads) if row["group_id"] in tried)
    for row in heads[: last + 1]:
        if row["group_id"] in rejected:
            row |= {"accepted": False, "reject_reason": rejected[row["group_id"]]}
    writer.add("groups", [row for row in heads[: last + 1] if row["group_id"] in tried or row["accepted"] is False])


def _candidates(inputs: Inputs, config: Config, env: Environment) -> Iterable[Group]:
    by_number = groups(inputs["rollouts"], env)
    if not config.get("balance"):
        return by_number
    order = balanced_order(inputs["rollouts"].read("trajectories"))
    by_id = {group.group_id: group for group in by_number}
    return [by_id[group_id] for group_id in order]


VARIANTS = Stage("variants", 2, vary)
