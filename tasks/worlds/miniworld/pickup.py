"""PickUp: pick up one of the things that lie about in MiniWorld's three rooms.

ThreeRooms has no reward of its own; here an episode ends with one when the agent carries what its mission names: the thing
that the configuration names (`...?thing=green_ball`), so that a reference and its query have the same mission.

Causal chain  see the thing -> pick it up
Success       the agent carries the thing that the mission names
NoCue         that thing, before it is close (at most 12 frames)
CF            the thing changes places with another one, is moved off the path, or is removed
"""

from __future__ import annotations

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.miniworld.edits import relocate, remove, swap
from tasks.worlds.miniworld.environment import MiniWorldEnvironment
from tasks.worlds.miniworld.planner import Planner


class PickUp(MiniWorldEnvironment):
    name = "pickup"
    simulator = "pickup:PickUp"
    default_id = "MiniWorld-ThreeRooms-v0?thing=green_ball"
    mission = "pick up the {thing}"
    causal_chain = ("see goal", "pickup goal")
    final_event = "pickup goal"
    nocue_target = "the thing to pick up"

    def plan(self, planner: Planner) -> None:
        planner.take(planner.state.goal)

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        others = [
            index
            for index, thing in enumerate(start.things)
            if thing.kind in ("box", "ball", "key") and index != start.goal
        ]
        return [
            ("swap things", lambda: swap(start, start.goal, others[start.seed % len(others)])),
            ("relocate thing", lambda: relocate(self, full, start.goal)),
            ("remove thing", lambda: remove(start.goal)),
        ]
