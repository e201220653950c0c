"""OneRoom: go to the red box in a room of its own.

Causal chain  see the box -> reach it
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            the box is moved off the path, removed, or replaced by one of another color
"""

from __future__ import annotations

from tasks.worlds.base import Episode, Interventions
from tasks.worlds.miniworld.edits import recolor, relocate, remove
from tasks.worlds.miniworld.environment import MiniWorldEnvironment
from tasks.worlds.miniworld.planner import Planner


class OneRoom(MiniWorldEnvironment):
    name = "oneroom"
    default_id = "MiniWorld-OneRoom-v0"
    mission = "walk up to the red box until it is right in front of you"
    causal_chain = ("see goal", "reach goal")
    final_event = "reach goal"
    nocue_target = "the red box"

    def plan(self, planner: Planner) -> None:
        planner.approach(planner.state.goal)

    def interventions(self, full: Episode) -> Interventions:
        box = full.states[0].goal
        return [
            ("relocate box", lambda: relocate(self, full, box)),
            ("remove box", lambda: remove(box)),
            ("replace box", lambda: recolor(full.states[0], box)),
        ]
