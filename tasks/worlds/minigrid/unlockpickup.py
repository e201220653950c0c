"""UnlockPickup: pick up the key, unlock the door, put the key down, pick up the box behind the door.

Causal chain  pick up the key -> unlock the door -> pick up the box
Success       the agent carries the box that the mission names
NoCue         the key, before it is first faced (at most 5 frames)
CF            the box is removed, or moved within its room
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.minigrid.environment import Cell, MiniGridEnvironment, relocate, remove
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState


class UnlockPickup(MiniGridEnvironment):
    name = "unlockpickup"
    default_id = "MiniGrid-UnlockPickup-v0"
    causal_chain: ClassVar[tuple[str, ...]] = ("pickup key", "unlock door", "pickup box")
    final_event = "pickup box"
    nocue_target = "the key"
    nocue_budget = 5

    def plan(self, planner: Planner) -> None:
        box = planner.find("box")
        planner.face(planner.find("key"))
        planner.do("pickup")
        planner.face(planner.find("door"))
        planner.do("toggle")
        planner.drop(keep_clear=[box])
        planner.face(box)
        planner.do("pickup")

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "key")

    def interventions(self, full: Episode) -> Interventions:
        (box,) = places_of(full.states[0], "box")
        return [("remove box", lambda: remove(full, box)), ("relocate box", lambda: relocate(full, box))]
