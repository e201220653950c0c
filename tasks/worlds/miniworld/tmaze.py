"""TMaze: go to the red box in one of the two arms of a T-shaped hallway.

Causal chain  enter the arm -> reach the box
Success       the agent stands right before the red box
NoCue         the red box, before it is close (at most 12 frames)
CF            the box is in the other arm, is removed, or is replaced by one of another color
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.worlds.base import Episode, Event, Interventions
from tasks.worlds.miniworld.child.state import RoomState
from tasks.worlds.miniworld.edits import recolor, remove
from tasks.worlds.miniworld.oneroom import OneRoom

CROSSING = 8.0  # x at which the stem of the T ends, in meters


class TMaze(OneRoom):
    name = "tmaze"
    default_id = "MiniWorld-TMaze-v0"
    causal_chain = ("enter arm", "reach goal")

    def extra_events(self, states: Sequence[RoomState]) -> list[Event]:
        inside = (step for step, state in enumerate(states) if state.x > CROSSING)
        return [Event(step, "enter arm") for step in list(inside)[:1]]

    def interventions(self, full: Episode) -> Interventions:
        start = full.states[0]
        box = start.things[start.goal]
        return [
            ("other arm", lambda: [{"move": start.goal, "to": [box.x, box.y, -box.z]}]),
            ("replace box", lambda: recolor(start, start.goal)),
            ("remove box", lambda: remove(start.goal)),
        ]
