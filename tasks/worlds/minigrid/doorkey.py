"""DoorKey: use the key to open the door and then get to the goal.

Causal chain  pick up the key -> open the door -> reach the goal
Success       the agent stands on the goal
NoCue         the key, before it is first faced (at most 5 frames)
CF            the goal is moved off the path, or removed
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment, relocate, remove
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState


class DoorKey(MiniGridEnvironment):
    name = "doorkey"
    default_id = "MiniGrid-DoorKey-8x8-v0"
    causal_chain = ("pickup key", "open door", "reach goal")
    final_event = "reach goal"
    nocue_target = "the key"
    nocue_budget = 5

    def plan(self, planner: Planner) -> None:
        planner.face(planner.find("key"))
        planner.do("pickup")
        planner.face(planner.find("door"))
        planner.do("toggle")
        planner.reach(planner.find("goal"))

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "key")

    def interventions(self, full: Episode) -> Interventions:
        (goal,) = places_of(full.states[0], "goal")
        return [("relocate goal", lambda: relocate(full, goal)), ("remove goal", lambda: remove(full, goal))]
