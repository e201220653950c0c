"""KeyCorridor: find the key in one of the rooms, unlock the locked room, pick up the ball in it.

Causal chain  pick up the key of the door's color -> unlock the door -> pick up the ball
Success       the agent carries the ball that the mission names
NoCue         the key, before it is first faced (at most 5 frames)
CF            the ball is removed, or moved within its room
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment, relocate, remove
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState


class KeyCorridor(MiniGridEnvironment):
    name = "keycorridor"
    default_id = "MiniGrid-KeyCorridorS4R3-v0"
    causal_chain = ("pickup key", "unlock door", "pickup ball")
    final_event = "pickup ball"
    nocue_target = "the key"
    nocue_budget = 5

    def plan(self, planner: Planner) -> None:
        ball = planner.find("ball")
        planner.face(planner.find("key"))
        planner.do("pickup")
        planner.face(self.locked_door(planner))
        planner.do("toggle")
        planner.drop(keep_clear=[ball])
        planner.face(ball)
        planner.do("pickup")

    @staticmethod
    def locked_door(planner: Planner) -> tuple[int, int]:
        state = planner.state
        (place,) = (place for place in places_of(state, "door") if state.at(place) & 7 == 2)
        return place

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "key")

    def interventions(self, full: Episode) -> Interventions:
        (ball,) = places_of(full.states[0], "ball")
        return [("remove ball", lambda: remove(full, ball)), ("relocate ball", lambda: relocate(full, ball))]
