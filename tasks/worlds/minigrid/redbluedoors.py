"""RedBlueDoors: open the red door, then the blue door.

Causal chain  open the red door -> open the blue door (the blue one first is a failure)
Success       the blue door stands open while the red one is open
NoCue         the red door, before it is first faced (at most 5 frames); the blue door stays in sight
CF            the blue door is replaced by wall, or the cell before it is blocked by a ball
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Interventions, Rejected
from tasks.worlds.minigrid.environment import Cell, Edits, MiniGridEnvironment
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import EMPTY, WALL, GridState, cell


class RedBlueDoors(MiniGridEnvironment):
    name = "redbluedoors"
    default_id = "MiniGrid-RedBlueDoors-8x8-v0"
    causal_chain = ("open red door", "open blue door")
    final_event = "open blue door"
    nocue_target = "the red door"
    nocue_budget = 5

    def plan(self, planner: Planner) -> None:
        planner.face(planner.find("door", "red"))
        planner.do("toggle")
        planner.face(planner.find("door", "blue"))
        planner.do("toggle")

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "door", "red")

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        ((x, y),) = places_of(start, "door", "blue")

        def block() -> Edits:
            before = (x - 1, y)
            if start.at(before) != EMPTY or before == start.position:
                raise Rejected("the cell before the blue door is not free")
            return [[*before, cell("ball", "grey")]]

        return [("replace blue door", lambda: [[x, y, WALL]]), ("block blue door", block)]
