"""BlockedUnlockPickup: move the ball that blocks the door, fetch the key, unlock the door, pick up the box behind it.

Causal chain  pick up the ball -> put it down -> pick up the key -> unlock the door -> pick up the box
Success       the agent carries the box that the mission names
NoCue         the ball, before it is first faced (at most 5 frames)
CF            the box is removed, or moved within its room
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.minigrid.environment import Cell
from tasks.worlds.minigrid.planner import Planner, places_of
from tasks.worlds.minigrid.simulator import GridState
from tasks.worlds.minigrid.unlockpickup import UnlockPickup


class BlockedUnlockPickup(UnlockPickup):
    name = "blockedunlockpickup"
    default_id = "MiniGrid-BlockedUnlockPickup-v0"
    causal_chain = ("pickup ball", "drop ball", "pickup key", "unlock door", "pickup box")
    nocue_target = "the ball before the door"

    def plan(self, planner: Planner) -> None:
        ball = planner.find("ball")
        planner.face(ball)
        planner.do("pickup")
        planner.drop(keep_clear=[ball])
        super().plan(planner)

    def targets(self, states: Sequence[GridState]) -> list[Cell]:
        return places_of(states[0], "ball")
